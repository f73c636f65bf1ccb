"""Logs of an agent: exact JSON entries in order, by session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain import metrics
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.view import View
from engrain.agent.writes import linking
from engrain.agent.writes.episodes import new_episode
from engrain.domain import checks, pagination
from engrain.domain.logs import (
    DEFAULT_LOG,
    MOST_ADDRESS_BYTES,
    MOST_ENTRIES,
    LogAddress,
    LogAppend,
    LogEntry,
    LogSession,
    NewEntry,
    find_turn,
)
from engrain.errors import InvalidInput
from engrain.log_events import get_logger
from engrain.storage.exact import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.pagination import Page
    from engrain.domain.records import Caller, Episode, MemoryRecord
    from engrain.storage.unit_of_work import UnitOfWork
    from engrain.verbs import exact_words, words

_LOG = get_logger(__name__)

_MOST_READ = 2**31
_LIST = "log.sessions"


@instrument("log")
class Log(View):
    """Exact JSON entries in order, by session, which this agent alone sees, for its user.

    `agent.log("chat")` has the verbs of one log; those of `agent.log` name it in `log`. What comes back is what was
    given: no text of it is cleaned, masked, searched or learned from, unless its turns are remembered.
    """

    __slots__ = ("_name",)

    def __init__(self, parts: Callable[[], Parts], caller: Caller, name: str = DEFAULT_LOG) -> None:
        """Made by `Agent.log`."""
        super().__init__(parts, caller)
        self._name = name

    def __call__(self, name: str) -> Log:
        """Return the verbs of the log of that name.

        Raises:
            InvalidInput: it is empty, too long, or no text that both databases have.
        """
        return type(self)(self._parts, self._caller, checks.exact_name(name, name="log"))

    @property
    def _defaults(self) -> Mapping[str, Any]:
        return {"log": self._name}

    def append(
        self,
        entries: exact_words.LogEntries,
        *,
        session: exact_words.LogSessionName | None = None,
        subkey: exact_words.Subkey = "",
        id_field: exact_words.IdField | None = None,
        remember: exact_words.RememberTurns = False,
        log: exact_words.LogName | None = None,
    ) -> LogAppend:
        """Append entries to a session in their order, all or none; a missing session begins with them.

        An entry whose value of `id_field` the session has already is skipped; one without a name there is always added.
        With `remember` the messages of a user or assistant among the new ones are remembered as episodes of the
        session in the same transaction: those with `role` and `content`, in the entry or in its `message`. One that is
        refused, such as a text with a secret, stays an entry alone.

        Raises:
            InvalidInput: no list of JSON objects, one that is deeper than 100 levels or longer than 10 MB, more than
                10,000, or no session; nothing was written.
        """
        parts, caller, address = self._parts(), self._caller, self._address(log, session, subkey)
        objects = checks.json_objects(entries, name="entries", most=MOST_ENTRIES)
        field = None if id_field is None else checks.exact_name(id_field, name="id_field")
        keyed = [NewEntry(text, _find_key(entry, field)) for entry, text in objects]
        turns = checks.flag(remember, name="remember")
        act = new_act(parts, caller)
        if not keyed:
            count = parts.store.read(caller, logs.count_entries, address)
            return LogAppend(**address._asdict(), added=0, skipped=0, entries=count)
        episodes = _make_episodes(parts, caller, address, [entry for entry, _ in objects], at=act.at) if turns else {}
        stored: list[MemoryRecord] = []

        def put(work: UnitOfWork, memories: Sequence[MemoryRecord]) -> Sequence[MemoryRecord]:
            stored[:] = linking.put(work, parts, memories) if memories else []
            return stored

        appended = parts.store.write(
            act, logs.append, address, keyed, session_id=parts.ids(), episodes=episodes, put=put
        )
        if stored:
            parts.queue.announce()
            parts.buffers.add_recent(stored)
        return appended

    def read(
        self,
        *,
        session: exact_words.LogSessionName | None = None,
        subkey: exact_words.Subkey = "",
        last: exact_words.LastEntries | None = None,
        log: exact_words.LogName | None = None,
    ) -> list[LogEntry]:
        """Read all entries of a session, or the last ones, oldest first; none where it was never written."""
        most = None if last is None else checks.count(last, name="last", high=_MOST_READ)
        return self._parts().store.read(self._caller, logs.read, self._address(log, session, subkey), last=most)

    def pop(
        self,
        *,
        session: exact_words.LogSessionName | None = None,
        subkey: exact_words.Subkey = "",
        log: exact_words.LogName | None = None,
    ) -> LogEntry | None:
        """Take the last entry off a session and give it; None where there is none. Episodes made of it stay."""
        parts, address = self._parts(), self._address(log, session, subkey)
        return parts.store.write(new_act(parts, self._caller), logs.pop, address)

    def delete(
        self,
        *,
        session: exact_words.LogSessionName | None = None,
        subkey: exact_words.OnlySubkey | None = None,
        log: exact_words.LogName | None = None,
    ) -> int:
        """Delete a session with all its subkeys, or one subkey alone; give the number of entries that went.

        Episodes that were made of its turns stay. A restored backup does not bring it back.
        """
        parts, address = self._parts(), self._address(log, session, "" if subkey is None else subkey)
        return parts.store.write(new_act(parts, self._caller), logs.delete, address, with_subkeys=subkey is None)

    def sessions(
        self, *, log: exact_words.LogName | None = None, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[LogSession]:
        """List the sessions of a log, last written first; those that have subkeys alone are left out."""
        most = checks.count(limit, name="limit")
        position = pagination.decode_moment(_LIST, after)
        chosen = self._chosen(log)
        found = self._parts().store.read(self._caller, logs.list_sessions, chosen, most + 1, after=position)
        return pagination.cut(_LIST, found, most, lambda row: (row.updated_at, row.session))

    def subkeys(
        self, *, session: exact_words.LogSessionName | None = None, log: exact_words.LogName | None = None
    ) -> list[str]:
        """List the subkeys of a session, sorted."""
        address = self._address(log, session, "")
        return self._parts().store.read(self._caller, logs.list_subkeys, address.log, address.session)

    def _address(self, log: str | None, session: str | None, subkey: str) -> LogAddress:
        """Return the session that the arguments name, or the caller's own.

        Raises:
            InvalidInput: a name that is none, names that are too long together, or no session at all.
        """
        named = self._caller.session if session is None else checks.exact_name(session, name="session")
        if named is None:
            raise InvalidInput("no session is named, and the agent is in none; pass session")
        part = "" if subkey == "" else checks.exact_name(subkey, name="subkey")
        address = LogAddress(self._chosen(log), named, part)
        if (size := sum(len(name.encode()) for name in address)) > MOST_ADDRESS_BYTES:
            raise InvalidInput(
                f"log, session and subkey have {size:,} bytes together; at most {MOST_ADDRESS_BYTES:,}: shorten them"
            )
        return address

    def _chosen(self, log: str | None) -> str:
        return self._name if log is None else checks.exact_name(log, name="log")


def _find_key(entry: Mapping[str, Any], field: str | None) -> str | None:
    """Return the value that identifies an entry, if it can be a name."""
    key = None if field is None else entry.get(field)
    is_name = isinstance(key, str) and 0 < len(key) <= checks.MAX_NAME_LENGTH and checks.is_storable(key)
    return key if is_name else None


def _make_episodes(
    parts: Parts, caller: Caller, address: LogAddress, entries: Sequence[Mapping[str, Any]], *, at: datetime
) -> dict[int, Episode]:
    """Return the episodes of the turns among entries, by index; one that is refused is logged and left out."""
    episodes = {}
    for index, entry in enumerate(entries):
        turn = find_turn(entry)
        if turn is not None:
            told: dict[str, Any] = {"content": turn.content, "role": turn.role, "event_time": turn.time}
            try:
                episodes[index] = new_episode(parts, caller, at=at, session=address.session, **told)
            except InvalidInput as error:
                metrics.count("messages_refused")
                _LOG.warning("turn not remembered", extra={"error": type(error).__name__})
    return episodes
