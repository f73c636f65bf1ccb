"""Snapshot and unit of work: one transaction with its caller, whose pools are looked up inside it."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.events import EPISODE_CREATED
from engrain.storage.dialects import as_json
from engrain.storage.transaction import Connection, Transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ids import IdSource
    from engrain.domain.records import Caller, Episode, Event, Fact, Kind
    from engrain.domain.requests import Act, Request
    from engrain.storage.search.candidates import RankedDocs
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.search.turn_cache import TurnCache
    from engrain.storage.statements import Statements

_Result = TypeVar("_Result")


class Forecasts(Protocol):
    """Forecasts of what searches read, by which they take few round trips; they change no answer."""

    def start(
        self,
        snapshot: Snapshot,
        request: Request,
        terms: Collection[str],
        find_vector: Callable[[Sequence[str]], NDArray[np.float32] | None],
    ) -> None:
        """Start the statements of a search, as far as the last one tells which these are.

        `find_vector` returns the query's vector, if it is at hand, were these the speakers.
        """

    def note(self, snapshot: Snapshot, request: Request, speakers: Sequence[str]) -> None:
        """Note what a search has read, for the `start` of the caller's next one."""

    def end_with_next(self, snapshot: Snapshot) -> None:
        """End a snapshot with the statements that were started last: nothing is read after them."""


class Database(Protocol):
    """Locks and searches of one database, inside a transaction."""

    statements: Statements
    turns: TurnCache
    forecasts: Forecasts | None  # None where a statement takes no round trip

    def search_words(self, snapshot: Snapshot, request: Request, terms: Collection[str], limit: int) -> RankedDocs:
        """Find matches of any of the terms, by BM25 (own words 1.0, neighbours' words 0.5), raw > 0.

        Best first, ties newest ref first, at most `limit`; all must match the request's filter.
        """

    def search_vectors(
        self,
        snapshot: Snapshot,
        request: Request,
        vector: NDArray[np.float32],
        limit: int,
        *,
        also: NDArray[np.int64],
    ) -> RankedDocs:
        """Find memories by cosine to the unit-norm `vector`: the `limit` best, and those of `also` that have a vector.

        Best first, ties newest ref first; memories without a vector are absent; all match the request's filter.

        Raises:
            EngineUnavailable: another embedder became active since this store's `use_embedder`, in whatever process.
        """

    def lock(self, work: UnitOfWork, episode_ids: Sequence[str], facts: Sequence[Fact]) -> None:
        """Lock the sessions of episodes, then the slots of facts, before anything else; nothing with one writer."""

    def lock_removal(self, work: UnitOfWork, episode_ids: Sequence[str], *, everywhere: bool) -> None:
        """Lock the sessions and speakers of episodes that go, in the caller's scopes or in all of the tenant's."""

    def number_docs(self, tx: Transaction, kind: Kind, count: int) -> list[int]:
        """Return the docs of new memories of a kind, ascending: above those of earlier ones, where clocks agree."""

    def clear_log(self, work: UnitOfWork) -> None:
        """Clear a file's log and keyword index of what this unit removes, once it is committed; a server vacuums."""


class Snapshot(Transaction):
    """One transaction of one caller: what it reads is what this caller sees.

    `backend` searches by words and vectors. One that only reads remembers in `known` what it is asked again and again.
    """

    __slots__ = ("_bound", "_caller", "agent", "backend", "identity", "index_is_behind", "tenant_id", "user_id")

    def __init__(
        self,
        db: Connection,
        identity: Caller,
        backend: Database,
        known: dict[Hashable, Any] | None = None,
    ) -> None:
        super().__init__(db, backend.statements, known)
        self.backend = backend
        self.index_is_behind = False  # whether the newest memories are found by their own words alone
        self.identity = identity  # with whatever pools the request named
        self.tenant_id = identity.tenant_id
        self.agent = identity.agent
        self.user_id = identity.user or ""  # as rows name it: empty for none
        self._caller: Caller | None = None
        self._bound: dict[str, Any] = {}  # of `bindings`, once they are known

    @property
    def own_scope(self) -> str:
        """The scope that the caller's agent alone sees, of its user."""
        return self.identity.own_scope

    @property
    def caller(self) -> Caller:
        """The caller with the pools it is in: one statement, the first time they are needed."""
        if self._caller is None:
            self._caller = self.look_up_pools()
        return self._caller

    def look_up_pools(self) -> Caller:
        """Look up the pools that the caller is in by now; a transaction that only reads does so once."""
        member = {"tenant_id": self.tenant_id, "agent": self.agent}
        pools = self.once(("pools", self.tenant_id, self.agent), lambda: self.rows("pools_of", **member))
        self._bound = {}
        self._caller = replace(self.identity, pools=tuple([name for (name,) in pools]))
        return self._caller

    def sees(self, scope: str) -> bool:
        """Tell whether the caller sees a scope; its pools are looked up only where they decide."""
        identity = self.identity
        return (
            scope in {GLOBAL_SCOPE, identity.agent, identity.shared_scope, identity.own_scope}
            or scope in self.caller.scopes
        )

    def search_words(self, request: Request, terms: Collection[str], limit: int) -> RankedDocs:
        """Find memories with any of the terms, as `Database.search_words` does."""
        return self.backend.search_words(self, request, terms, limit)

    def search_vectors(
        self, request: Request, vector: NDArray[np.float32], limit: int, *, also: NDArray[np.int64]
    ) -> RankedDocs:
        """Find memories by their vectors, as `Database.search_vectors` does; one of a rounded vector can exceed 1."""
        return self.backend.search_vectors(self, request, vector, limit, also=also).at_most(1.0)

    def bindings(self) -> dict[str, Any]:
        """Return the bindings of `filters.SEEN`: the caller's tenant and scopes, which say the user too."""
        if not self._bound:
            self._bound = {"tenant_id": self.tenant_id, "scopes": self.dialect.listed(self.caller.scopes)}
        return self._bound.copy()

    def written_bindings(self) -> dict[str, Any]:
        """Return the bindings of the scopes of the caller's user alone: what it learns from, and what it erases."""
        return {"tenant_id": self.tenant_id, "scopes": self.dialect.listed(self.caller.written_scopes)}

    def identity_bindings(self) -> dict[str, Any]:
        """Return the bindings of rows that are an agent's for a user: its runs."""
        identity = self.identity
        return {"tenant_id": identity.tenant_id, "agent": identity.agent, "user_id": identity.user_id}

    def registry_bindings(self) -> dict[str, Any]:
        """Return the bindings of the registries that the caller sees: its tenant's and its user's."""
        return {"tenant_id": self.tenant_id, "users": self.dialect.listed(dict.fromkeys(("", self.identity.user_id)))}


class UnitOfWork(Snapshot):
    """One transaction that writes: who acts when, a source of ids, the search index and the audit record.

    `proof` is the id of an event that it recorded, if any: where that is there, the unit is committed.
    """

    __slots__ = ("act", "ids", "index", "proof")

    def __init__(self, db: Connection, act: Act, backend: Database, *, index: SearchIndex, ids: IdSource) -> None:
        # As `Snapshot` and `Transaction` begin, without two more calls for every write.
        statements = backend.statements
        self.db = db
        self._run = getattr(db, "run", None) or db.execute
        self.statements = statements
        self.composed = statements.composed
        self.dialect = statements.dialect
        self.known = self._started = self._caller = None
        self.backend = backend
        self.index_is_behind = False
        self.identity = caller = act.caller
        self.tenant_id, self.agent, self.user_id = caller.tenant_id, caller.agent, caller.user or ""
        self._bound = {}
        self.act = act
        self.index = index
        self.ids = ids
        self.proof: str | None = None

    @property
    def at(self) -> Any:
        """The time of the act as the driver takes it."""
        return self.dialect.time(self.act.at)

    def within_run(self, run_id: str) -> UnitOfWork:
        """Return this unit as part of a run: its events carry the id of the run."""
        part = copy(self)
        part.act = replace(self.act, run_id=run_id)
        return part

    def savepoint(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns; where it fails nothing of it is left, and the rest of the transaction goes on."""
        mark = self.index.mark()
        try:
            return super().savepoint(work)
        except BaseException:
            self.index.go_back(mark)
            raise

    def record(self, event: Event) -> None:
        """Write an audit event in the transaction of the change that it describes."""
        self.proof = event.id
        self.add(self.statements.records.events, "memory_events", event)

    def add_episode(self, episode: Episode, doc: int, asking: float) -> None:
        """Insert an episode, `asking` with that share of its words, and its event without a record of it."""
        act, records = self.act, self.statements.records
        rows = records.kinds["episode"]
        self._run(rows.insertions["episodes", "doc", "asking"], [*rows.values(episode), doc, asking])
        self.proof = id_ = self.ids()
        values = (
            id_,
            self.tenant_id,
            EPISODE_CREATED,
            episode.scope,
            self.agent,
            self.identity.request_id,
            episode.id,
            act.run_id,
            _encode_session(self.dialect.json, episode.session),
            self.dialect.time(act.at),
        )
        self._run(records.events.insertions["memory_events",], values)  # by the order of its fields

    def record_each(self, several: Sequence[Event]) -> None:
        """Write audit events as `record` does, in one statement."""
        self.proof = several[0].id
        self.add_each(self.statements.records.events, "memory_events", several)

    def record_all(self, event_type: str, changes: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Write an audit event of one type for each of some memories, by scope, id and payload, in one statement."""
        ids = self.ids.several(len(changes))
        self.proof = ids[0]
        self.run(
            "add_events",
            tenant_id=self.tenant_id,
            event_type=event_type,
            actor=self.agent,
            request_id=self.act.caller.request_id,
            run_id=self.act.run_id,
            rows=as_json([(id_, *change) for id_, change in zip(ids, changes, strict=True)]),
            at=self.at,
        )

    def has_event(self, id_: str | None) -> bool:
        """Tell whether an audit event is there."""
        return id_ is not None and self.one("has_event", tenant_id=self.tenant_id, id=id_) is not None


@lru_cache(maxsize=1_024)
def _encode_session(encode: Callable[[Any], Any], session: str | None) -> Any:
    """Encode the payload of an event: turns come from few sessions at a time."""
    return encode({"session": session})
