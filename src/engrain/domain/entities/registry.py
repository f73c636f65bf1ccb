"""Entities: names in texts, comparison of names, matches, merges and profiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain import checks
from engrain.domain.records import Entity, Episode, Fact, MemoryRecord, Record, Rule
from engrain.domain.text.names import name_key
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

NameKind = Literal["mention", "hashtag", "email", "url", "date", "person", "organization", "place", "project", "other"]
NameMatch = Literal["exact", "alias", "prefix", "fuzzy"]

NAME_KINDS: tuple[NameKind, ...] = get_args(NameKind)
# Key of an entity's metadata with the entity that it was merged into: such an entity is a tombstone.
MERGED_INTO = "merged_into"


def new_names(known: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Names whose key is neither empty nor that of a known name, without repeats, in their order."""
    seen = {name_key(name) for name in known} | {""}
    added: dict[str, str] = {}
    for name in names:
        if name_key(name) not in seen:
            added.setdefault(name_key(name), name)
    return tuple(added.values())


def merged_into(entity: Entity) -> str | None:
    """Id of the entity that this one was merged into; None if it was not merged."""
    return entity.metadata.get(MERGED_INTO)


def parse_metadata(value: object) -> dict[str, Any]:
    """Return metadata of a host, without the key by which the registry knows a tombstone.

    Raises:
        InvalidInput: it has that key, or is no metadata.
    """
    metadata = checks.metadata(value)
    if MERGED_INTO in metadata:
        raise InvalidInput(f"metadata key {MERGED_INTO!r} is kept for merges; use entities.merge, or another key")
    return metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Record):
    """A name in a text, at `text[start:end]`."""

    text: str
    kind: NameKind
    start: int
    end: int
    confidence: float  # in [0, 1]
    source: str  # who found it: regex, spacy:<model>, ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch(Record):
    """One entity that a name may mean."""

    entity_id: str
    canonical_name: str
    entity_type: str
    score: float  # 100, 80, 50 or 20 by `name_match`, and what hints add; four decimals
    name_match: NameMatch
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge(Record):
    """Result of a merge of two entities, or of its reversal, with the facts that the caller sees."""

    source: Entity
    target: Entity
    facts_repointed: tuple[str, ...] = ()
    facts_superseded: tuple[str, ...] = ()
    aliases_added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions(Record):
    """Memories that mention an entity, as far as the caller sees them: the newest, and the time span of all."""

    memories: tuple[MemoryRecord, ...] = ()  # newest (happened_at, id) first
    mentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)  # memory id: ids of entities
    first_at: datetime | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedEntity(Record):
    """An entity that the same memories mention."""

    entity_id: str
    canonical_name: str
    entity_type: str
    memories: int  # memories of those looked at that mention both


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProfile(Record):
    """Profile of an entity: everything about it that a caller sees."""

    entity: Entity
    facts: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict, hash=False)  # by predicate; oldest first
    episodes: tuple[Episode, ...] = ()  # newest first
    rules: tuple[Rule, ...] = ()
    related: tuple[RelatedEntity, ...] = ()  # who is mentioned with it most comes first
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment(Record):
    """Result of an enrichment: a second, slower search of memories for names."""

    enriched: int = 0  # memories looked at and stamped
    links: int = 0  # mentions noted that were not noted before
    created: int = 0  # entities that the registry did not know
    skipped: str | None = None  # why nothing was looked at
