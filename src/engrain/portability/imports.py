"""Imports of files of other systems, in bounded transactions; a repeat adds nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain import checks
from engrain.domain.memories.turn_columns import NewTurns, Turns, import_metadata, prepare_turns
from engrain.domain.records import Caller, Episode, Fact, MemoryRecord, Record, Rule
from engrain.domain.requests import Act
from engrain.domain.text.secrets import SecretPolicy, apply_policy_to_value
from engrain.errors import InvalidInput, UnreadableImport
from engrain.portability.formats import detect, read
from engrain.portability.formats.records import (
    BrokenRecord,
    IgnoredKeys,
    ImportedEntity,
    ImportedFact,
    ImportedItem,
    ImportedLogEntry,
    ImportedRecord,
    ImportedRule,
    ImportedTurn,
    agent_of_record,
    user_of_record,
)
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals, batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime
    from pathlib import Path

    from engrain.domain.ports import Clock
    from engrain.portability.record_converter import RecordConverter
    from engrain.storage.store import SqlStore
    from engrain.storage.unit_of_work import UnitOfWork

# Twice as many in a transaction write a sixth less of the log: pages of indexes and segments of words change once.
_BATCH = 1_000
_BATCH_CHARACTERS = 2_000_000  # a few long messages are a batch, too
_MOST_AGENTS = 100  # named in a report; a hostile file has a new one on every line
_MOST_BROKEN = 1_000  # listed in a report; a file may be nothing else
_MOST_USERS = 1_000  # named in a report
_MOST_ENTITIES = 20_000  # remembered by name; more are looked up again


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(Record):
    """A record that an import skipped: its position, and the reason."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(Record):
    """Report of an import: `added` memories, `present` and `erased` ones that stay so, and `broken` records.

    `broken` lists the first thousand; `broken_count` counts all. `ignored_keys` names up to a hundred keys that were
    not read, `other_agents` counts the records of up to a hundred, and `users` the memories of up to a thousand.
    """

    path: str
    format: str
    sessions: int
    added: int
    present: int
    erased: int
    kinds: Mapping[str, int]  # of added memories, by kind
    users: Mapping[str, int]  # of added memories that are a user's, where the importing agent acts for nobody
    entities: int  # added to the registry
    broken: tuple[Broken, ...]
    broken_count: int
    ignored_keys: tuple[str, ...]  # of JSON lines, in order
    other_agents: Mapping[str, int]  # records that were left out, by the agent that they name


def import_file(
    store: SqlStore,
    caller: Caller,
    path: Path,
    *,
    clock: Clock,
    format_name: str = "auto",
    strict: bool = False,
    secrets: SecretPolicy = "mask",
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import a file: turns as episodes of their sessions, statements as facts and notes, names as entities.

    A record of an end user becomes this user's; a caller that acts for a user takes no other's. One that names another
    agent is left out.

    An id is derived from its record, so a repeat adds nothing. What was erased since it was exported stays erased, and
    what only use can earn (maturity, counts, a rule's confidence) begins anew. Each transaction holds up to a thousand
    records: a stopped import leaves whole ones, and a repeat adds the rest. `progress` gets the number of memories
    read. Whatever the size of the file, one batch of it is in memory, and a hash of each session for their number.

    Raises:
        UnreadableImport: the file is of no known format, or `strict` and a record is broken; earlier ones stay.
    """
    sessions: set[int] = set()
    broken: list[Broken] = []
    kinds: Counter[str] = Counter()
    users: Counter[str] = Counter()
    known: dict[str | None, dict[str, str]] = {}  # by user
    skipped = _Skipped(agent=caller.agent)
    seen = entities = erased = broken_count = 0
    name = format_name
    for user, records in _batches(read(path, format_name), skipped):
        act = Act(caller=_act_for(caller, user), at=clock())
        batch = store.write(act, _store_batch, records, known.get(user, {}), is_strict=strict, secrets=secrets)
        known[user] = batch.known
        seen += batch.seen
        entities += batch.entities
        erased += batch.erased
        kinds.update(batch.added)
        if act.caller.user is not None and caller.user is None:
            users[act.caller.user] += sum(batch.added.values())
        if strict and batch.broken:
            raise UnreadableImport(f"{path}, {batch.broken[0].position}: {batch.broken[0].reason}")
        broken.extend(batch.broken[: _MOST_BROKEN - len(broken)])
        broken_count += len(batch.broken)
        sessions.update([hash(session) for session in batch.sessions if session])
        name = batch.format or name
        if progress is not None:
            progress(seen)
    added = sum(kinds.values())
    return ImportReport(
        path=str(path),
        format=detect(path) if name == "auto" else name,
        sessions=len(sessions),
        added=added,
        present=seen - added,
        erased=erased,
        kinds=dict(+kinds),
        users=dict((+users).most_common(_MOST_USERS)),
        entities=entities,
        broken=tuple(broken),
        broken_count=broken_count,
        ignored_keys=tuple(sorted(skipped.keys)),
        other_agents=dict(skipped.agents),
    )


_kind_of = attrgetter("kind")
_EXACT: Mapping[type, str] = {ImportedLogEntry: "log", ImportedItem: "item"}


@dataclass(slots=True)
class _Skipped:
    """Parts of a file that are not stored: keys that are not read, and the records of other agents, counted."""

    agent: str  # that imports
    keys: set[str] = field(default_factory=set)
    agents: Counter[str] = field(default_factory=Counter)

    def leaves_out(self, record: object) -> bool:
        """Tell whether a record names another agent, and count it then."""
        agent = checks.clean(agent_of_record(record) or "") or self.agent
        if agent == self.agent:
            return False
        name = agent[: checks.MAX_NAME_LENGTH]
        if name in self.agents or len(self.agents) < _MOST_AGENTS:
            self.agents[name] += 1
        return True


class _Batch(NamedTuple):
    """Result of the records that were stored together."""

    seen: int  # records that are memories, entries of logs or items
    sessions: AbstractSet[str | None]  # of turns
    format: str | None  # that its memories name
    added: Mapping[str, int]  # how many, by kind
    entities: int  # added to the registry
    erased: int
    broken: Sequence[Broken]
    known: dict[str, str]  # ids of the entities of the file so far, by name


@repeatable
def _store_batch(
    work: UnitOfWork,
    records: Sequence[ImportedRecord | BrokenRecord],
    known: Mapping[str, str],
    *,
    is_strict: bool,
    secrets: SecretPolicy,
) -> _Batch:
    """Store records; with `is_strict` those before the first that is broken."""
    turns = prepare_plain_turns(records, work.act, secrets=secrets)
    if turns is not None:
        return _Batch(
            seen=len(records),
            sessions=set(turns.sessions),
            format=turns.metadata.get("format"),
            added={"episode": batches.insert_turns(work, turns)},
            entities=0,
            erased=0,
            broken=(),
            known=dict(known),
        )
    return _store_each(work, records, known, is_strict=is_strict, secrets=secrets)


def prepare_plain_turns(records: Sequence[object], act: Act, *, secrets: SecretPolicy) -> NewTurns | None:
    """Prepare records at once for storage; None where one is more than a plain turn, or has something wrong.

    They refer to nothing, and nothing of the same unit refers to them.
    """
    if set(map(type, records)) != {ImportedTurn}:
        return None
    columns = dict(zip(ImportedTurn._fields, zip(*records, strict=True), strict=True))
    metadata, *others = {id(value): value for value in columns["metadata"]}.values()
    if others or any(columns["title"]) or any(columns["tags"]) or any(columns["fields"]) or any(columns["key"]):
        return None
    try:
        turns = Turns(
            sessions=columns["session"],
            roles=columns["role"],
            speakers=columns["speaker"],
            contents=columns["content"],
            event_times=columns["event_time"],
            source_ids=columns["source_id"],
            metadata=apply_policy_to_value(import_metadata(metadata), secrets),
        )
        return prepare_turns(turns, act, secrets=secrets)
    except InvalidInput:
        return None


def _store_each(
    work: UnitOfWork,
    records: Sequence[ImportedRecord | BrokenRecord],
    known: Mapping[str, str],
    *,
    is_strict: bool,
    secrets: SecretPolicy,
) -> _Batch:
    """Store records of any kind, each converted by itself."""
    from engrain.portability.record_converter import RecordConverter  # few imports need it, with all that it loads

    converter = RecordConverter(work=work, entities=dict(known), secrets=secrets)
    converter.find_known(records)
    results: list[MemoryRecord | bool | Broken] = []
    alive = [record for record in records if not converter.is_erased(record)]
    for record in alive:
        results.append(_convert(converter, record))
        if is_strict and isinstance(results[-1], Broken):
            break
    converted = [result for result in results if isinstance(result, Episode | Fact | Rule)]
    memories = list({memory.id: memory for memory in converted}.values())
    pairs = zip(alive, results, strict=False)
    exact = [
        (_EXACT[type(record)], result)
        for record, result in pairs
        if type(record) in _EXACT and isinstance(result, bool)
    ]
    of_kind = Counter(kind for kind, is_new in exact if is_new)
    return _Batch(
        seen=len(converted) + len(exact),
        sessions={memory.session for memory in memories if isinstance(memory, Episode)},
        format=next((str(memory.metadata["format"]) for memory in memories if "format" in memory.metadata), None),
        added=of_kind + Counter(map(_kind_of, arrivals.put(work, _with_facts_in_order(memories)))),
        entities=sum(result is True for result in results) - of_kind.total(),
        erased=len(records) - len(alive),
        broken=[result for result in results if isinstance(result, Broken)],
        known=dict(list(converter.entities.items())[-_MOST_ENTITIES:]),
    )


def _with_facts_in_order(memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Put facts after all else, the oldest first, so that the newest of a slot is in force in any order of a file.

    None comes before one that it supersedes.
    """
    moments: dict[str | None, datetime] = {}
    for memory in memories:
        if isinstance(memory, Fact):
            moments[memory.id] = max(memory.created_at, moments.get(memory.supersedes_id, memory.created_at))
    others = [memory for memory in memories if memory.id not in moments]
    facts = [memory for memory in memories if memory.id in moments]
    return [*others, *sorted(facts, key=lambda fact: moments[fact.id])]


def _act_for(caller: Caller, user: str | None) -> Caller:
    """Return the caller that acts for the user of some records; one that acts for a user acts for no other."""
    if caller.user is not None or user is None or not 0 < len(user.strip()) <= checks.MAX_NAME_LENGTH:
        return caller
    return replace(caller, user=checks.name(user, name="user"))


def _batches(
    records: Iterator[ImportedRecord | BrokenRecord | IgnoredKeys], skipped: _Skipped
) -> Iterator[tuple[str | None, list[ImportedRecord | BrokenRecord]]]:
    """Yield records that are stored together, in their order: those of one user, or of none."""
    batch: list[ImportedRecord | BrokenRecord] = []
    last: str | None = None
    characters = 0
    for record in records:
        if type(record) is ImportedTurn and not record.fields:  # as nearly all are, in two calls less
            user, length = None, len(record.content)
        elif isinstance(record, IgnoredKeys):
            skipped.keys.update(record.keys)
            continue
        elif skipped.leaves_out(record):
            continue
        else:
            user, length = user_of_record(record), _length_of(record)
        if batch and (user != last or len(batch) == _BATCH or characters > _BATCH_CHARACTERS):
            yield last, batch
            batch, characters = [], 0
        batch.append(record)
        last, characters = user, characters + length
    if batch:
        yield last, batch


def _length_of(record: ImportedRecord | BrokenRecord) -> int:
    """Return the number of characters of a record, as far as they may be many."""
    match record:
        case ImportedTurn() | ImportedFact():
            return len(record.content)
        case ImportedLogEntry():
            return len(record.entry)
        case ImportedItem():
            return len(record.value)
        case _:
            return 0


def _convert(converter: RecordConverter, record: ImportedRecord | BrokenRecord) -> MemoryRecord | bool | Broken:
    """Convert a record to a memory, or add an entity an entry of a log or an item: True where it is new."""
    if isinstance(record, BrokenRecord):
        return Broken(position=record.position, reason=record.reason)
    try:
        match record:
            case ImportedTurn() | ImportedFact() | ImportedRule():
                return converter.convert(record)
            case ImportedEntity():
                return converter.ensure_entity(record)
            case ImportedLogEntry():
                return converter.add_log_entry(record)
            case ImportedItem():
                return converter.add_item(record)
    except InvalidInput as error:
        match record:
            case ImportedTurn():
                position = f"session {record.session}, {record.source_id}"
            case _:
                position = record.position
        return Broken(position=position, reason=str(error))
