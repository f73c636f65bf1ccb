"""Memory: the facade, which opens, wires and closes; the verbs of its agents are in `agent`."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from engrain.agent.agent import Agent
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.operations.owners import Owners
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_agent
from engrain.domain import checks
from engrain.domain.ids import IdSource, fresh_id
from engrain.domain.records import Caller, Degraded
from engrain.errors import InvalidInput, MemoryClosed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from engrain.agent.jobs import Jobs
    from engrain.agent.keys import Keys
    from engrain.agent.wiring.parts import Parts
    from engrain.config.tree import Settings
    from engrain.domain.maintenance.readiness import Readiness
    from engrain.domain.ports import LLM, Clock, Embedder, Ids, NameFinder, Reranker
    from engrain.domain.requests import Health
    from engrain.domain.runs.completions import Usage
    from engrain.metrics import Measured
    from engrain.retrieval.embeddings.reembedding import ReembedReport
    from engrain.storage.store import SqlStore
    from engrain.verbs import words


_PARTS_OF = attrgetter("parts")


def utc_now() -> datetime:
    """Return the time now; the default clock."""
    return datetime.now(UTC)


def _check_parts(store: object, clock: Clock) -> None:
    if isinstance(store, str | os.PathLike):
        raise InvalidInput(f"Memory(...) wires parts of your own; to open a location: Memory.open({str(store)!r:.200})")
    now: Any = utc_now() if clock is utc_now else clock()
    if not isinstance(now, datetime) or now.utcoffset() != timedelta(0):
        raise InvalidInput(f"clock gave {now!r:.80}, which is no time in UTC; try lambda: datetime.now(UTC)")


@instrument()
class Memory(Owners):
    """A long-term memory: owns the database, the engines and the background work. Thread-safe; close it when done."""

    def __init__(
        self,
        store: SqlStore,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        name_finder: NameFinder | None = None,
        llm: LLM | None = None,
        settings: Settings | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
    ) -> None:
        """Wire parts of your own; most callers use `Memory.open`.

        Raises:
            InvalidInput: a location in place of a store, or a clock that gives no aware time in UTC.
        """
        _check_parts(store, clock)
        from engrain.agent.wiring.assembly import assemble
        from engrain.agent.wiring.engines import Engines
        from engrain.config import load

        settings = settings or load()
        self._settings = settings
        self._process = os.getpid()
        self._changing = threading.Lock()
        self._parts: Parts | None = assemble(
            store,
            Engines(embedder, reranker, name_finder, llm),
            settings=settings,
            clock=clock,
            ids=ids or (fresh_id if clock is utc_now else IdSource(clock)),
        )

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | Settings | None = None,
        config: str | Path | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        name_finder: NameFinder | str | None = None,
        llm: LLM | str | None = None,
        clock: Clock = utc_now,
        ids: Ids | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Self:
        """Open the memory at a location, made if missing.

        `location` is a path, `postgresql://...` or ":memory:", else the setting `db`. Or it is the `https://...` of a
        server, which then does all work (`http://` on this machine alone): `key` is the access key, by default that of
        the settings (ENGRAIN_KEY), `timeout_s` (60) bounds a call with its retries, and whatever else is set is set
        there. `settings` are nested by section, over the environment and the TOML file `config` (ENGRAIN_CONFIG, else
        the engrain.toml of the working folder), which may be a host's with a table `[modules.memory]`; or they are
        those that `engrain.config.load` made of all that before.

        `embedder`, `reranker` (for deep searches), `name_finder` (for `entities.enrich`) and `llm` are a
        `provider:model`, an object of your own, or None for the settings' choice. `clock` and `ids` give the time
        (aware, UTC) and fresh ids; tests inject them.

        Raises:
            InvalidInput: an unknown setting or engine, a file that is no TOML, a location that is no path, or a clock
                that gives no aware time in UTC.
            NotAnEngrainFile, SchemaTooNew, DatabaseReadOnly, DatabaseDamaged: the file was left as it is.
            DatabaseUnreachable, Unauthenticated: the server cannot be reached, or refuses the key.
        """
        if isinstance(location, str) and checks.is_address(location):
            own = (settings, config, embedder, reranker, name_finder, llm, ids)
            if clock is not utc_now or any(part is not None for part in own):
                raise InvalidInput(f"{location:.80} is a server's: settings, engines, clock and ids are set there")
            # The client is made of this class, and so comes after it.
            return import_module("engrain.client.memory").open_remote(  # type: ignore[no-any-return]
                location, key=_find_key() if key is None else key, timeout_s=timeout_s
            )
        if key is not None or timeout_s is not None:
            raise InvalidInput("key and timeout_s are for the memory of a server; give its https://... as location")
        from engrain.agent.wiring.engines import choose_engines, load_settings
        from engrain.storage import open_store

        chosen = load_settings(settings, config)
        engines = choose_engines(chosen, embedder=embedder, reranker=reranker, name_finder=name_finder, llm=llm)
        store = open_store(
            chosen.db if location is None else location,
            busy_timeout_s=chosen.storage.busy_timeout_s,
            synchronous=chosen.storage.synchronous,
            pool_size=chosen.storage.pool_size,
            cache_mb=chosen.storage.cache_mb,
            shards={name: url.get_secret_value() for name, url in chosen.storage.shards.items()},
        )
        try:
            return cls(store, **engines._asdict(), settings=chosen, clock=clock, ids=ids)
        except BaseException:
            store.close()
            raise

    def agent(
        self,
        name: str | None = None,
        *,
        user: str | None = None,
        session: str | None = None,
        tenant: str | None = None,
        request_id: str | None = None,
        is_user_bound: bool = False,
        may_publish: bool = True,
    ) -> Agent:
        """Return the memory as one agent sees it; cheap, make one for each request.

        With `user` it acts for this end user: it sees their memories beside those of no user, and what it writes is
        theirs. With `is_user_bound` it may write nothing else, not even with `scope="global"`. Without `may_publish` it
        may change neither what that scope holds nor the tenant's registry of entities.

        Raises:
            InvalidInput: a name is empty, too long or would be cleaned to another, or bound without a user.
        """
        acting_for = self.settings.user if user is None else user
        if is_user_bound and acting_for is None:
            raise InvalidInput("is_user_bound needs a user; name the one that this agent speaks for")
        caller = Caller(
            tenant_id=checks.identity(self.settings.tenant if tenant is None else tenant, name="tenant"),
            agent=parse_agent(self.settings.agent if name is None else name),
            user=checks.optional_identity(acting_for, name="user"),
            is_user_bound=is_user_bound,
            may_publish=may_publish,
            session=checks.optional_name(session, name="session"),
            request_id=checks.optional_name(request_id, name="request_id"),
        )
        return Agent(partial(_PARTS_OF, self), caller)

    @property
    def keys(self) -> Keys:
        """Access keys: create, rotate, list and revoke them."""
        from engrain.agent.keys import Keys

        return Keys(lambda: self.parts, self.agent().caller)

    @property
    def jobs(self) -> Jobs:
        """Background jobs: list, run and retry them."""
        from engrain.agent.jobs import Jobs

        return Jobs(self, lambda: self.parts, self.agent().caller)

    def flush(self, progress: words.Progress | None = None) -> None:
        """Make the vectors of all memories that wait for one; `progress` gets the number after each batch.

        Raises:
            EngineUnavailable: the embedder cannot work, or refuses the texts that the message names once all others
                have their vectors; what is left stays queued.
        """
        self.parts.queue.drain(progress)

    def reembed(self, progress: words.Progress | None = None) -> ReembedReport:
        """Make new vectors of all memories, every tenant's, with the configured embedder, and search by them.

        For a database whose vectors are of another embedder. Its searches go on all the while, and change over at once
        when every memory has its new vector; other processes search by words alone from then on until they open it with
        this embedder. A call after one that was stopped does the rest. `progress` gets the number embedded after each
        batch.

        Raises:
            InvalidInput: no embedder is configured, or the vectors of yet another one are being made.
            EngineUnavailable: the embedder cannot work, or refuses the texts that the message names; nothing is lost,
                and searches are as before.
        """
        from engrain.agent.wiring.engines import with_cache
        from engrain.retrieval.embeddings.reembedding import reembed

        parts = self.parts
        embedder = parts.configured_embedder
        if embedder is None:
            raise InvalidInput("no embedder is configured; open the memory with the one whose vectors you want")
        report = reembed(parts.store, embedder, new_act(parts, self.agent().caller), progress=progress)
        if parts.embedder is None:
            cached = with_cache(embedder, parts.settings)
            with self._changing:
                if self._parts is parts:  # or it was closed meanwhile
                    self._parts = replace(parts, embedder=cached, without_vectors=None)
            parts.queue.use_embedder(embedder)
        return report

    def health(self, *, thorough: bool = False) -> Health:
        """Check the database, as `engrain doctor` shows it: schema, indexes, row-level security, vectors, and totals.

        A `thorough` check also compares rows, index and file: it reads everything, so seconds for a million memories.
        """
        health = self.parts.store.health(thorough=thorough)
        missing = self.parts.without_vectors
        return replace(health, problems=(*health.problems, str(missing))) if missing else health

    def readiness(self) -> Readiness:
        """Check in a few short statements whether this memory can serve: database, schema, embedder, backlog, jobs.

        Within the setting `monitoring.timeout_s`, also where the database hangs.
        """
        from engrain.agent.operations import monitoring

        return monitoring.read_readiness(self.parts)

    def metrics(self) -> Measured:
        """Read the counters, timers and gauges of this process and database, as `/metrics` shows them."""
        from engrain.agent.operations import monitoring

        return monitoring.read_metrics(self.parts)

    @property
    def llm_usage(self) -> Usage:
        """The calls, tokens and cost of the language model in this Memory so far; zeros without one."""
        from engrain.domain.runs.completions import Usage

        llm = self.parts.llm
        return Usage() if llm is None else llm.usage

    def close(self, *, flush: bool = True, wait_s: float = 0.0) -> None:
        """Close the memory: count the last references, make the waiting vectors, release the database.

        With `flush=False` vectors are left to the next process, but those being made have `wait_s` to become ready. The
        file or the connections are released when it returns, and so are engines. A second call does nothing. An engine
        that is named, not given, stays loaded for the next memory.
        """
        if self._is_inherited:
            return
        with self._changing:
            parts, self._parts = self._parts, None
        if parts is None:
            return
        try:
            if wait_s:
                parts.queue.wait(wait_s)
            parts.learner.close()
            parts.workers.close()
            if not parts.buffers.is_empty:
                from engrain.agent.writes import fail_open

                fail_open.store_buffered(parts)
            parts.buffers.close()
            parts.references.close()
            parts.key_uses.close()
            parts.queue.close(flush=flush)
        finally:
            parts.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(flush=error is None)

    def _caller_of(self, agent: str | None, tenant: str | None, *, user: str | None = None) -> Caller:
        return self.agent(agent, user=user, tenant=tenant).caller

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def now(self) -> datetime:
        """The time by the clock of this memory: aware, UTC."""
        return self.parts.clock()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder in force; None where searches use keywords alone."""
        return self.parts.embedder

    @property
    def without_vectors(self) -> Degraded | None:
        """The reason why a configured embedder is not used; None where it is, or none is configured."""
        return self.parts.without_vectors

    @property
    def is_reembedding(self) -> bool:
        """True while the vectors of another embedder are being made (`reembed`)."""
        from engrain.storage.write.embedding_versions import load_versions

        return any(version.state == "building" for version in self.parts.store.inspect(None, load_versions))

    @property
    def parts(self) -> Parts:
        """The parts that the agents of this memory work with.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
        """
        parts = self._parts
        if parts is None:
            raise MemoryClosed("this Memory is closed; open it again with Memory.open")
        if os.getpid() != self._process:  # `_is_inherited`, without a call
            raise MemoryClosed(
                f"this Memory belongs to process {self._process}, and this is {os.getpid()}: open one after each fork"
            )
        return parts

    @property
    def _is_inherited(self) -> bool:
        """True in a fork: SQLite's locks stay with the parent, and what a child writes can be lost.

        https://www.sqlite.org/howtocorrupt.html §2.6
        """
        return os.getpid() != self._process


def _find_key() -> str | None:
    """Return the access key of a server that the settings have, or None."""
    from engrain.agent.wiring.engines import load_settings

    key = load_settings(None, None).key
    return None if key is None else key.get_secret_value()
