"""Converter from records of other systems to memories of the importing agent; it reads the store, and adds entities."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of
from engrain.domain.entities.graph import known_type
from engrain.domain.entities.registry import merged_into, parse_metadata
from engrain.domain.ids import derived_id, is_id, keyed_id, moment_of
from engrain.domain.items import MOST_TTL_S, StoredItem, check_address, parse_fields, parse_namespace
from engrain.domain.logs import LogAddress, NewEntry
from engrain.domain.memories import importance
from engrain.domain.memories.notes import NOTE_DECAY_RATE
from engrain.domain.memories.predicates import free_text_predicate, is_free_text
from engrain.domain.memories.secret_fields import apply_policy_to_record
from engrain.domain.memories.turn_columns import import_metadata
from engrain.domain.records import (
    DECAY_RATES,
    RULE_CONFIDENCE,
    Caller,
    Entity,
    Episode,
    Fact,
    Kind,
    MemoryRecord,
    Record,
    Rule,
)
from engrain.domain.text.categories import fact_category
from engrain.domain.text.secrets import SecretPolicy, apply_policy, apply_policy_to_value
from engrain.errors import InvalidInput
from engrain.portability.exports import UNEXPORTED
from engrain.portability.formats.records import (
    ImportedEntity,
    ImportedFact,
    ImportedItem,
    ImportedLogEntry,
    ImportedRule,
    ImportedTurn,
    user_of_record,
)
from engrain.storage import selection
from engrain.storage.entities import lookup, registry
from engrain.storage.exact import items, logs
from engrain.storage.rows import KIND_RECORDS, ColumnType, column_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import UnitOfWork


@dataclass(kw_only=True)
class RecordConverter:
    """Converter of the records that one unit of work stores, with the entities of the file so far."""

    work: UnitOfWork
    entities: dict[str, str] = field(default_factory=dict)  # ids by name
    pending: dict[str, str] = field(default_factory=dict)  # contents of the memories that this unit stores, by id
    stored: dict[str, str] = field(default_factory=dict)  # contents of memories of an export that are there, by id
    erased: set[str] = field(default_factory=set)  # ids of the file, or derived from them, that were erased
    secrets: SecretPolicy = "mask"
    undated: int = 0  # records of this unit without a time of their own
    names: dict[str, str] = field(default_factory=dict)  # of sessions and speakers, as they are stored
    plain: tuple[object, Mapping[str, Any]] = (None, {})  # the metadata of a format, and as its turns have them

    @property
    def act(self) -> Act:
        return self.work.act

    def find_known(self, records: Iterable[object]) -> None:
        """Find which records of an export are there, and which were erased since, or after an earlier import."""
        memories = (record for record in records if isinstance(record, _STORED))
        had = {id_: self._derived_id(id_) for record in memories if (id_ := _exported_id(record.fields)) is not None}
        ids = [*had, *had.values()]
        self.erased |= selection.find_erased(self.work, ids)
        self.stored |= {memory.id: memory.content for memory in selection.load_memories(self.work, ids)}

    def is_erased(self, record: object) -> bool:
        """Tell whether a record is one that `find_known` found erased."""
        if not self.erased or not isinstance(record, _STORED):
            return False
        had = _exported_id(record.fields)
        return had is not None and not self.erased.isdisjoint({had, self._derived_id(had)})

    def convert(self, record: ImportedTurn | ImportedFact | ImportedRule) -> MemoryRecord:
        """Convert a record to a memory of the importing agent, and of its user.

        Raises:
            InvalidInput: a value that no memory can have, or the id of one with other content.
        """
        memory: MemoryRecord
        _check_user(record, self.act.caller)
        match record:
            case ImportedTurn():
                memory = apply_policy_to_record(self._episode(record), self.secrets)
            case ImportedFact():
                memory = self._resolve_slot(apply_policy_to_record(self._fact(record), self.secrets))
            case ImportedRule():
                memory = apply_policy_to_record(self._rule(record), self.secrets)
        if self.pending.get(memory.id, self.stored.get(memory.id, memory.content)) != memory.content:
            raise InvalidInput(f"the memory {memory.id} has other content; leave out the id to add this as another")
        self.pending[memory.id] = memory.content
        return memory

    def add_log_entry(self, record: ImportedLogEntry) -> bool:
        """Add an entry to its log, begun if it is missing; returns whether it was added.

        Raises:
            InvalidInput: a name or an entry that no log can have, one of another user, or one whose number or key
                another entry has.
        """
        _check_user(record, self.act.caller)
        names = {name: checks.exact_name(getattr(record, name), name=name) for name in ("log", "session")}
        address = LogAddress(**names, subkey=record.subkey and checks.exact_name(record.subkey, name="subkey"))
        text = _parse_object(record.entry, name="entry")
        key = None if record.key is None else checks.exact_name(record.key, name="key")
        had = _exported_id(record.fields)
        session_id = derived_id(*address, at=None) if had is None else self._derived_id(had)
        at = min(record.stored_at or self.act.at, self.act.at)
        entry = NewEntry(text, key)
        is_new = logs.insert(self.work, address, record.sequence, entry, session_id=session_id, at=at)
        if not is_new and not logs.has_entry(self.work, address, record.sequence, entry):
            raise InvalidInput(f"another entry of this session has the number {record.sequence}, or the key")
        return is_new

    def add_item(self, record: ImportedItem) -> bool:
        """Add an item where its key is free; returns whether it was added.

        Raises:
            InvalidInput: a name or a value that no item can have, one of another user, or one whose key has another
                value.
        """
        _check_user(record, self.act.caller)
        address = check_address(parse_namespace(record.namespace), record.key)
        had, now = _exported_id(record.fields), self.act.at
        times = {name: checks.moment(record.fields.get(name), name=name) for name in ("created_at", "updated_at")}
        ttl_s = record.fields.get("ttl_s")
        item = StoredItem(
            **address._asdict(),
            value={},
            version=checks.count(record.fields.get("version", 1), name="version", high=2**53 - 1),
            created_at=min(times["created_at"] or now, now),
            updated_at=min(times["updated_at"] or now, now),
            expires_at=checks.moment(record.fields.get("expires_at"), name="expires_at"),
        )
        text = _parse_object(record.value, name="value")
        is_new = items.insert(
            self.work,
            item,
            text,
            id_=derived_id(repr(address), at=None) if had is None else self._derived_id(had),
            fields=parse_fields(record.fields.get("index")),
            ttl_s=None if ttl_s is None else checks.number(ttl_s, name="ttl_s", low=0, high=MOST_TTL_S),
        )
        found = None if is_new else items.find(self.work, address, now=now)
        if found is not None and json.dumps(found.item.value) != text:
            raise InvalidInput(f"the item {record.key!r:.80} has another value; delete it to import this one")
        return is_new

    def ensure_entity(self, named: ImportedEntity) -> bool:
        """Add an entity to the registry unless one has that name and type; returns whether it was added.

        Raises:
            InvalidInput: an invalid name, or the entity of another user.
        """
        _check_user(named, self.act.caller)
        name, kind = apply_policy_to_value(checks.name(named.name, name="name"), self.secrets), known_type(named.type)
        known = self._find_entities(name)
        same = next((entity for entity in known if (entity.canonical_name, entity.entity_type) == (name, kind)), None)
        if same is not None:
            self.entities[named.name] = same.id
            return False
        caller = self.act.caller
        id_ = derived_id(caller.tenant_id, "entity", name, kind, *filter(None, [caller.user]), at=None)
        if not lookup.load_entities(self.work, [id_]):
            aliases, created_at = checks.names(named.aliases, name="alias"), self._next_moment()
            entity = Entity(
                id=id_,
                tenant_id=caller.tenant_id,
                user_id=caller.user_id,
                canonical_name=name,
                entity_type=kind,
                aliases=aliases,
                created_at=created_at,
                updated_at=created_at,
                metadata=parse_metadata(named.metadata),
            )
            registry.put_entity(self.work, apply_policy_to_record(entity, self.secrets))
            self.entities[named.name] = id_
            return True
        self.entities[named.name] = id_ if any(entity.id == id_ for entity in known) else (known[0].id if known else "")
        return False

    def _next_moment(self) -> datetime:
        """Return the time of storage of a record without one: up to that of the act, in the order of the file.

        Ids are derived from what a record says, so that without a time of its own it would stand anywhere among others.
        """
        self.undated += 1
        return self.act.at - timedelta(microseconds=max(0, _MOST_UNDATED - self.undated))

    def _resolve_slot(self, fact: Fact) -> Fact:
        """Supersede a fact where its slot holds one that was learned later."""
        if not fact.is_live(self.act.at) or fact.entity_id is not None:
            return fact
        current = selection.find_active_fact(
            self.work,
            scope=fact.scope,
            subject=fact.subject,
            predicate=fact.predicate,
            content=fact.content,
            tags=fact.tags,
            at=self.act.at,
        )
        if current is None or current.id == fact.id or current.created_at <= fact.created_at:
            return fact
        end = max(current.happened_at, fact.happened_at)
        return replace(fact, validity="superseded", invalidated_at=current.created_at, valid_to=end)

    def _text(self, content: object) -> str:
        return apply_policy(checks.content(content), self.secrets)

    def _episode(self, turn: ImportedTurn) -> Episode:
        caller, fields = self.act.caller, turn.fields
        content = self._text(turn.content)
        session = None if turn.session is None else self._name(turn.session, name="session")
        scope = caller.own_scope
        parts = (caller.tenant_id, scope, session or "", turn.source_id, turn.role, content)
        given = _parse_columns("episode", fields) if fields else {}
        if "importance" not in given:
            given["importance"] = importance.importance_of(content, role=turn.role)
        return Episode(
            id=self._id(fields, *parts, at=turn.event_time)
            if turn.key is None
            else keyed_id(turn.key, tenant_id=caller.tenant_id, scope=scope),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=scope,
            session=session,
            role=turn.role,
            speaker=None if turn.speaker is None else self._name(turn.speaker, name="speaker"),
            content=content,
            event_time=turn.event_time or self.act.at,
            created_at=self.act.at,
            tags=checks.names(turn.tags, name="tag") if turn.tags else (),
            metadata=self._metadata(turn),
            **given,
        )

    def _name(self, value: str, *, name: str) -> str:
        """Return a name as it is stored; a file has few of them, again and again."""
        if value not in self.names:
            self.names[value] = checks.name(value, name=name)
        return self.names[value]

    def _metadata(self, turn: ImportedTurn) -> Mapping[str, Any]:
        """Return the metadata of an imported turn; those that many turns have in common are checked once."""
        if turn.title:
            return import_metadata({**turn.metadata, "title": turn.title})
        if turn.metadata is not self.plain[0]:
            self.plain = turn.metadata, import_metadata(turn.metadata)
        return self.plain[1]

    def _fact(self, statement: ImportedFact) -> Fact:
        caller, fields = self.act.caller, statement.fields
        subject = caller.agent if statement.subject is None else checks.name(statement.subject, name="subject")
        predicate, content = checks.name(statement.predicate, name="predicate"), self._text(statement.content)
        if predicate == free_text_predicate(checks.content(statement.content)):
            predicate = free_text_predicate(content)
        created_at = min(statement.stored_at or self._next_moment(), self.act.at)
        start, end = statement.valid_from, statement.valid_to
        if start is not None and end is not None and end < start:
            raise InvalidInput(f"valid_to {end.isoformat()} lies before valid_from {start.isoformat()}")
        parts = (caller.tenant_id, caller.own_scope, "statement", subject, statement.source_id)
        given = _parse_columns("fact", fields)
        is_note = statement.subject is None and not is_free_text(predicate)
        derived = {
            "category": fact_category(predicate, content),
            "importance": importance.importance_of(content),
            "decay_rate": NOTE_DECAY_RATE if is_note else DECAY_RATES[given.get("permanence", "standard")],
        }
        return Fact(
            id=self._id(fields, *parts, at=statement.stored_at),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=caller.own_scope if statement.subject is None else _scope(fields, caller),
            subject=subject,
            predicate=predicate,
            entity_id=None if statement.about is None else self._entity_id(statement.about),
            content=content,
            valid_from=start,
            valid_to=end,
            created_at=created_at,
            supersedes_id=self._referenced_id(fields.get("supersedes_id")),
            source_episode_id=self._referenced_id(fields.get("source_episode_id")),
            last_confirmed_at=min(statement.confirmed_at or created_at, self.act.at),
            tags=checks.names(statement.tags, name="tag"),
            metadata=import_metadata(statement.metadata),
            **{**derived, **given},
        )

    def _rule(self, rule: ImportedRule) -> Rule:
        caller, fields = self.act.caller, rule.fields
        created_at = min(rule.stored_at or self._next_moment(), self.act.at)
        confirmed_at = checks.moment(fields.get("last_confirmed_at"), name="last_confirmed_at") or created_at
        given = _parse_columns("rule", fields)
        given["confidence"] = min(given.get("confidence", RULE_CONFIDENCE), RULE_CONFIDENCE)
        return Rule(
            id=self._id(fields, caller.tenant_id, caller.own_scope, "guidance", rule.source_id, at=rule.stored_at),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=_scope(fields, caller),
            content=self._text(rule.content),
            source_episode_id=self._referenced_id(fields.get("source_episode_id")),
            created_at=created_at,
            last_confirmed_at=min(confirmed_at, self.act.at),
            tags=checks.names(rule.tags, name="tag"),
            metadata=import_metadata(rule.metadata),
            **given,
        )

    def _id(self, fields: Mapping[str, object], *parts: str, at: datetime | None) -> str:
        """The id of a record: the exported one if it still exists, or one derived from it or from the record."""
        had = _exported_id(fields) if fields else None
        if had is None:
            return derived_id(*parts, at=at)
        return had if had in self.stored else self._derived_id(had)

    def _derived_id(self, had: str) -> str:
        caller = self.act.caller
        return derived_id(caller.tenant_id, caller.own_scope, "imported", had, at=moment_of(had))

    def _referenced_id(self, had: object) -> str | None:
        """The id that a memory of the file refers to, if that memory exists by now."""
        if not isinstance(had, str) or not is_id(had):
            return None
        id_ = had if selection.load_memories(self.work, [had]) else self._derived_id(had)
        return id_ if id_ in self.pending or selection.load_memories(self.work, [id_]) else None

    def _entity_id(self, name: str) -> str | None:
        if name not in self.entities:
            known = self._find_entities(apply_policy_to_value(checks.name(name, name="about"), self.secrets))
            self.entities[name] = known[0].id if known else ""
        return self.entities[name] or None

    def _find_entities(self, name: str) -> list[Entity]:
        """The entities of a name that were not merged, those with that canonical name first."""
        found = lookup.find_named(self.work, [name])
        unmerged = [entity for entity in found if merged_into(entity) is None]
        return sorted(unmerged, key=lambda entity: (entity.canonical_name != name, entity.id))


def _exported_id(fields: Mapping[str, object]) -> str | None:
    """The id that a memory had when it was exported."""
    had = fields.get("id")
    return had if isinstance(had, str) and is_id(had) else None


def _check_user(record: object, caller: Caller) -> None:
    """Check that the record of a user is imported for this user."""
    user = user_of_record(record)
    if user is not None and checks.clean(user) != caller.user:
        raise InvalidInput(f"the record is of user {user!r:.80}; import it with an agent that acts for this user")


def _scope(fields: Mapping[str, object], caller: Caller) -> str:
    """The scope of the importing agent, unless an engrain export says `global`; all of them its user's."""
    scope = fields.get("scope")
    is_shared = isinstance(scope, str) and audience_of(scope) == GLOBAL_SCOPE
    return caller.shared_scope if is_shared else caller.own_scope


def _parse_columns(kind: Kind, fields: Mapping[str, object]) -> dict[str, Any]:
    """Parse the columns of an export that a memory takes as they are; those that a line lacks are left out."""
    if not fields:
        return {}
    return {name: parse(fields[name]) for name, parse in _COLUMNS[kind].items() if fields.get(name) is not None}


def _parsers(record: type[Record]) -> Mapping[str, Callable[[object], Any]]:
    columns = {name: type_ for name, type_ in column_types(record).items() if name not in _OWN | _EARNED | UNEXPORTED}
    return {name: _SPECIAL.get(name) or partial(_PARSERS[type_], name=name) for name, type_ in columns.items()}


def imported_columns(kind: Kind) -> frozenset[str]:
    """Return the columns of an export that an import takes over, or leaves to be earned again."""
    return _OWN | _EARNED | _COLUMNS[kind].keys()


def _parse_number(value: object, *, name: str) -> float:
    return checks.number(value, name=name, low=0, high=_LARGEST.get(name, 1))


def _parse_object(text: str, *, name: str) -> str:
    """Return the text of a JSON object in ASCII.

    Raises:
        InvalidInput: it is none.
    """
    try:
        return checks.json_object(json.loads(text), name=name)[1]
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the {name} is no JSON: {error}") from error


_STORED = ImportedTurn | ImportedFact | ImportedRule | ImportedLogEntry | ImportedItem  # what leaves a tombstone
_MOST_UNDATED = 2_000  # twice what one unit stores
# Columns that belong to the importing agent, refer to others, or depend on them.
_OWN = frozenset(
    "id session role speaker content created_at subject predicate valid_from valid_to supersedes_id source_episode_id "
    "last_confirmed_at tags metadata".split()
)
# Columns that outcomes earned where the memory comes from: a file may say anything, so it begins anew.
_EARNED = frozenset(
    "maturity effectiveness_score applied_count success_count harmful_count last_applied_at last_evaluated_at "
    "decay_rate".split()
)
_LARGEST = {"importance": 10}
_SPECIAL: Mapping[str, Callable[[object], Any]] = {
    "permanence": partial(checks.choice, known=DECAY_RATES, name="permanence"),
    "validity": checks.validity,
}
_PARSERS: Mapping[ColumnType, Callable[..., Any]] = {
    "text": checks.optional_name,
    "whole": partial(checks.count, high=2**63 - 1),
    "number": _parse_number,
    "time": checks.moment,
    "names": checks.names,
    "list": checks.json_values,
    "object": checks.metadata,
}
_COLUMNS = {kind: _parsers(record) for kind, record in KIND_RECORDS.items()}
