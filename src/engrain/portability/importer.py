"""Conversations of other systems into memory: in bounded transactions, and any number of times."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain import checks, importance
from engrain.domain.ids import derived_id
from engrain.domain.records import Episode, Record
from engrain.domain.requests import Act
from engrain.errors import InvalidInput, UnreadableImport
from engrain.portability.formats import BrokenRecord, Turn, detect, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engrain.domain.ports import Clock, Store
    from engrain.domain.records import Caller

_TURNS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Record):
    """A record of an import that was passed over: where it stands, and what is wrong with it."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Record):
    """What an import did: `added` episodes, `present` ones that were there before, and what was passed over."""

    path: str
    format: str
    sessions: int
    added: int
    present: int
    broken: tuple[Broken, ...]


def import_file(  # what an import is made of
    store: Store,
    caller: Caller,
    path: Path,
    *,
    clock: Clock,
    format_name: str = "auto",
    strict: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Add a file's turns as episodes of their sessions; a turn's id is made of what it is, so a repeat adds nothing.

    Each transaction holds a few hundred turns: whatever stops the import leaves whole turns behind, and running it
    again adds the rest. `progress` is told how many turns were read so far.

    Raises:
        UnreadableImport: the file is of no known format, or `strict` and a record is broken; earlier turns stay.
    """
    sessions: set[str] = set()
    broken: list[Broken] = []
    seen = added = 0
    name = format_name
    for batch in _batches(read(path, format_name)):
        act = Act(caller=caller, at=clock())
        parsed = [_episode(record, act) for record in batch]
        refused = next((each for each in parsed if isinstance(each, Broken)), None) if strict else None
        whole = parsed if refused is None else parsed[: parsed.index(refused)]
        episodes = [each for each in whole if isinstance(each, Episode)]
        seen += len(episodes)
        added += len(store.put(act, episodes))
        if refused is not None:
            raise UnreadableImport(f"{path}, {refused.position}: {refused.reason}")
        broken.extend(each for each in parsed if isinstance(each, Broken))
        sessions.update(episode.session or "" for episode in episodes)
        name = next((str(episode.metadata["format"]) for episode in episodes), name)
        if progress is not None:
            progress(seen)
    return ImportReport(
        path=str(path),
        format=detect(path) if name == "auto" else name,
        sessions=len(sessions),
        added=added,
        present=seen - added,
        broken=tuple(broken),
    )


def _batches(records: Iterator[Turn | BrokenRecord]) -> Iterator[list[Turn | BrokenRecord]]:
    while batch := list(itertools.islice(records, _TURNS_AT_ONCE)):
        yield batch


def _episode(record: Turn | BrokenRecord, act: Act) -> Episode | Broken:
    if isinstance(record, BrokenRecord):
        return Broken(position=record.position, reason=record.reason)
    try:
        content = checks.content(record.content)
        session = checks.name(record.session, what="session")
        speaker = checks.optional_name(record.speaker, what="speaker")
    except InvalidInput as error:
        return Broken(position=f"session {record.session}, {record.source_id}", reason=str(error))
    caller = act.caller
    parts = (caller.tenant_id, caller.agent, session, record.source_id, record.role, content)
    return Episode(
        id=derived_id(*parts, at=record.event_time),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.agent,
        session=session,
        role=record.role,
        speaker=speaker,
        content=content,
        event_time=record.event_time or act.at,
        created_at=act.at,
        importance=importance.said(content, role=record.role),
        metadata=checks.metadata({**record.metadata, **({"title": record.title} if record.title else {})}),
    )
