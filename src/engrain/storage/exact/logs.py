"""Logs: sessions of exact entries, appended, read, popped and removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.logs import LogAddress, LogAppend, LogEntry, LogSession, NewEntry, digest_log
from engrain.storage.filters import position_bindings
from engrain.storage.transaction import repeatable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.filters import TimePosition
    from engrain.domain.records import Episode, MemoryRecord
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

_EVERY = 2**62


@repeatable
def append(
    work: UnitOfWork,
    address: LogAddress,
    entries: Sequence[NewEntry],
    *,
    session_id: str,
    episodes: Mapping[int, Episode],
    put: Callable[[UnitOfWork, Sequence[MemoryRecord]], Sequence[MemoryRecord]],
) -> LogAppend:
    """Append entries to a session, all or none, but those whose key is there; begin the session if it is missing.

    `session_id` is its id then. `episodes` are the turns among the entries, by index; `put` stores the new ones.
    """
    [head] = work.rows("open_log", **_named(work, address), id=session_id, at=work.at)
    id_, last = head[0], head[2]
    new = _choose_new(work, id_, entries)
    named = {"tenant_id": work.tenant_id, "session_id": id_, "scope": work.own_scope, "at": work.at}
    work.run_each(
        "add_log_entry",
        [
            {**named, "sequence": last + number, "entry_key": entries[index].key, "entry": entries[index].text}
            for number, index in enumerate(new, start=1)
        ],
    )
    count = {"added": len(new), "numbered": len(new)}
    [[total]] = work.rows("count_log", tenant_id=work.tenant_id, session_id=id_, **count)
    if new:
        work.record(events.log_changed(work.act, "log_appended", address, work.ids, entries=len(new)))
    stored = put(work, [episodes[index] for index in new if index in episodes])
    return LogAppend(
        **address._asdict(),
        added=len(new),
        skipped=len(entries) - len(new),
        entries=total,
        episode_ids=tuple(memory.id for memory in stored),
    )


def insert(
    work: UnitOfWork, address: LogAddress, sequence: int, entry: NewEntry, *, session_id: str, at: datetime
) -> bool:
    """Insert an entry under its number, where neither the number nor its key is taken; return whether it was."""
    [head] = work.rows("open_log", **_named(work, address), id=session_id, at=work.dialect.time(at))
    named = {"tenant_id": work.tenant_id, "session_id": head[0]}
    values = {"scope": work.own_scope, "sequence": sequence, "entry_key": entry.key, "entry": entry.text}
    added = work.one("insert_log_entry", **named, **values, at=work.dialect.time(at)) is not None
    if added:
        work.run("count_log", **named, added=1, numbered=max(sequence - head[2], 0))
    return added


def has_entry(work: UnitOfWork, address: LogAddress, sequence: int, entry: NewEntry) -> bool:
    """Tell whether a session has an entry of this text under its number, or under its key."""
    found = work.one("log_session", **_named(work, address))
    if found is None:
        return False
    named = {"tenant_id": work.tenant_id, "session_id": found[0], "sequence": sequence, "entry_key": entry.key}
    return any(text == entry.text for (text,) in work.rows("log_entries_like", **named))


def _choose_new(work: UnitOfWork, session_id: str, entries: Sequence[NewEntry]) -> list[int]:
    """Return the indexes of the entries without a key, and the first of each key that the session has not."""
    keys = {entry.key for entry in entries if entry.key is not None}
    names = work.dialect.listed(keys)
    rows = work.rows("known_log_keys", tenant_id=work.tenant_id, session_id=session_id, names=names) if keys else []
    known = {key for (key,) in rows}
    new = []
    for index, entry in enumerate(entries):
        if entry.key is None or entry.key not in known:
            new.append(index)
            known.add(entry.key)
    return new


def read(snapshot: Snapshot, address: LogAddress, *, last: int | None = None) -> list[LogEntry]:
    """Read the last entries of a session, or all, oldest first."""
    found = snapshot.one("log_session", **_named(snapshot, address))
    if found is None:
        return []
    named = {"tenant_id": snapshot.tenant_id, "scope": snapshot.own_scope, "session_id": found[0]}
    rows = snapshot.rows("log_entries", **named, limit=_EVERY if last is None else last)
    return [_read_entry(snapshot, row) for row in reversed(rows)]


def _read_entry(snapshot: Snapshot, row: Sequence[Any]) -> LogEntry:
    sequence, text, created_at = row
    return LogEntry(sequence=sequence, entry=json.loads(text), created_at=snapshot.dialect.moment(created_at))


def count_entries(snapshot: Snapshot, address: LogAddress) -> int:
    """Count the entries of a session; 0 where there is no such session."""
    found = snapshot.one("log_session", **_named(snapshot, address))
    return 0 if found is None else int(found[1])


@repeatable
def pop(work: UnitOfWork, address: LogAddress) -> LogEntry | None:
    """Take the last entry off a session and return it; None where there is none."""
    head = work.one("hold_log", **_named(work, address), at=work.at)
    if head is None:
        return None
    named = {"tenant_id": work.tenant_id, "session_id": head[0]}
    found = work.one("pop_log_entry", **named)
    if found is None:
        return None
    work.run("count_log", **named, added=-1, numbered=0)
    work.record(events.log_changed(work.act, "log_popped", address, work.ids, entries=1))
    return _read_entry(work, found)


@repeatable
def delete(work: UnitOfWork, address: LogAddress, *, with_subkeys: bool) -> int:
    """Remove a session, with all its subkeys or without; return how many entries went. Its tombstone stays."""
    named = _named(work, address)
    subkey = named.pop("subkey")
    parts = [row for row in work.rows("log_parts", **named) if with_subkeys or row[1] == subkey]
    if not parts:
        return 0
    work.backend.clear_log(work)
    entries = sum(int(count) for _, _, count in parts)
    digests = {id_: digest_log(address._replace(subkey=part), count) for id_, part, count in parts}
    remove(work, digests)
    work.record(events.log_changed(work.act, "log_deleted", address, work.ids, entries=entries))
    return entries


def remove(work: UnitOfWork, digests: Mapping[str, str]) -> None:
    """Remove sessions by id with their entries; each leaves a tombstone with its digest."""
    named = {"tenant_id": work.tenant_id, "ids": work.dialect.listed(digests)}
    gone = work.rows("drop_logs", **named)
    work.run("drop_log_entries", **named)
    work.run_each(
        "add_tombstone",
        [
            {"tenant_id": work.tenant_id, "id": id_, "kind": "log", "scope": scope}
            | {"digest": digests[id_], "erased_at": work.at}
            for id_, scope in sorted(map(tuple, gone))
        ],
    )


def list_sessions(snapshot: Snapshot, log: str, limit: int, *, after: TimePosition | None = None) -> list[LogSession]:
    """List the sessions of a log, last written first, then the larger name; `after` a position in that order."""
    named = {"tenant_id": snapshot.tenant_id, "scope": snapshot.own_scope, "log": log, "limit": limit}
    if after is None:
        rows = snapshot.rows("log_sessions", **named)
    else:
        rows = snapshot.rows("more_log_sessions", **named, **position_bindings(after, snapshot.dialect))
    moment = snapshot.dialect.moment
    return [
        LogSession(log=log, session=name, entries=entries, created_at=moment(first), updated_at=moment(last))
        for name, entries, first, last in rows
    ]


def list_subkeys(snapshot: Snapshot, log: str, session: str) -> list[str]:
    """List the subkeys of a session, sorted, without the main one."""
    named = _named(snapshot, LogAddress(log, session))
    del named["subkey"]
    return sorted(subkey for _, subkey, _ in snapshot.rows("log_parts", **named) if subkey)


def _named(snapshot: Snapshot, address: LogAddress) -> dict[str, Any]:
    """Return the bindings of a session: the caller's own, whatever the log is called."""
    return {"tenant_id": snapshot.tenant_id, "scope": snapshot.own_scope, **address._asdict()}
