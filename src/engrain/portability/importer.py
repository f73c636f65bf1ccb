"""Files of other systems into memory: in bounded transactions, and any number of times."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, Record, Rule
from engrain.domain.requests import Act
from engrain.errors import InvalidInput, UnreadableImport
from engrain.portability.formats import BrokenRecord, Named, Turn, detect, read
from engrain.portability.taking_over import TakingOver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from engrain.domain.ports import Clock, Store
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.portability.formats import Found

_RECORDS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Record):
    """A record of an import that was passed over: where it stands, and what is wrong with it."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Record):
    """What an import did: `added` memories, `present` ones that were there before, and what was passed over."""

    path: str
    format: str
    sessions: int
    added: int
    present: int
    kinds: Mapping[str, int]  # what was added, by kind
    entities: int  # who was added to the registry
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
    """Add what a file holds: turns as episodes of their sessions, statements as facts and notes, names as entities.

    An id is made of what a record is, so a repeat adds nothing. Each transaction holds a few hundred records: whatever
    stops the import leaves whole ones behind, and running it again adds the rest. `progress` is told how many it read.

    Raises:
        UnreadableImport: the file is of no known format, or `strict` and a record is broken; earlier ones stay.
    """
    sessions: set[str] = set()
    broken: list[Broken] = []
    kinds: Counter[str] = Counter()
    seen = entities = 0
    name = format_name
    taking = TakingOver(store=store, act=Act(caller=caller, at=clock()))
    for batch in _batches(read(path, format_name)):
        taking.begin(Act(caller=caller, at=clock()))
        parsed = [_taken(taking, record) for record in batch]
        refused = next((each for each in parsed if isinstance(each, Broken)), None) if strict else None
        whole = parsed if refused is None else parsed[: parsed.index(refused)]
        memories = _distinct(each for each in whole if isinstance(each, Episode | Fact | Rule))
        seen += sum(isinstance(each, Episode | Fact | Rule) for each in whole)
        entities += sum(each is _NEW for each in whole)
        kinds.update(each.kind for each in store.put(taking.act, memories))
        if refused is not None:
            raise UnreadableImport(f"{path}, {refused.position}: {refused.reason}")
        broken.extend(each for each in parsed if isinstance(each, Broken))
        sessions.update(each.session for each in memories if isinstance(each, Episode) and each.session)
        name = next((str(each.metadata["format"]) for each in memories if "format" in each.metadata), name)
        if progress is not None:
            progress(seen)
    added = sum(kinds.values())
    return ImportReport(
        path=str(path),
        format=detect(path) if name == "auto" else name,
        sessions=len(sessions),
        added=added,
        present=seen - added,
        kinds=dict(kinds),
        entities=entities,
        broken=tuple(broken),
    )


class _Person(Enum):
    """What became of a name."""

    NEW = 0
    KNOWN = 1


_NEW = _Person.NEW


def _batches(records: Iterator[Found | BrokenRecord]) -> Iterator[list[Found | BrokenRecord]]:
    while batch := list(itertools.islice(records, _RECORDS_AT_ONCE)):
        yield batch


def _distinct(memories: Iterable[MemoryRecord]) -> list[MemoryRecord]:
    return list({each.id: each for each in memories}.values())


def _taken(taking: TakingOver, record: Found | BrokenRecord) -> MemoryRecord | _Person | Broken:
    if isinstance(record, BrokenRecord):
        return Broken(position=record.position, reason=record.reason)
    try:
        if isinstance(record, Named):
            return _Person.NEW if taking.known(record)[1] else _Person.KNOWN
        return taking.memory(record)
    except InvalidInput as error:
        where = f"session {record.session}" if isinstance(record, Turn) else type(record).__name__.lower()
        return Broken(position=f"{where}, {record.source_id}", reason=str(error))
