"""What is said of entities besides the entity itself: names in a text, candidates for a name, a merge, a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from engrain.domain.records import Entity, Episode, Fact, MemoryRecord, Record, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

NameKind = Literal["mention", "hashtag", "email", "url", "date", "person", "organization", "place", "project", "other"]
NameMatch = Literal["exact", "alias", "prefix", "fuzzy"]

NAME_KINDS: tuple[NameKind, ...] = get_args(NameKind)
# The key of an entity's metadata that says which entity has taken it in: such an entity is a tombstone.
MERGED_INTO = "merged_into"


def merged_into(entity: Entity) -> str | None:
    """The id of the entity that this one was merged into; None where it stands for itself."""
    return entity.metadata.get(MERGED_INTO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Record):
    """A name as it stands in a text, in `text[start:end]`."""

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
    """What a merge, or its reverse, did; of facts those that the caller sees."""

    source: Entity
    target: Entity
    facts_repointed: tuple[str, ...] = ()
    facts_superseded: tuple[str, ...] = ()
    aliases_added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions(Record):
    """Where an entity was seen, as far as the caller sees: the newest memories, and the span of all of them."""

    memories: tuple[MemoryRecord, ...] = ()  # newest (happened_at, id) first
    mentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)  # memory id: ids of entities
    first_at: datetime | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedEntity(Record):
    """Somebody who is mentioned where another is."""

    entity_id: str
    canonical_name: str
    entity_type: str
    memories: int  # how many of the memories looked at mention both


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProfile(Record):
    """Everything that a caller may know of one entity."""

    entity: Entity
    facts: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict, hash=False)  # by predicate; oldest first
    episodes: tuple[Episode, ...] = ()  # newest first
    rules: tuple[Rule, ...] = ()
    related: tuple[RelatedEntity, ...] = ()  # who is mentioned with it most comes first
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment(Record):
    """What a second, slower look at some memories found."""

    enriched: int = 0  # memories looked at and stamped
    links: int = 0  # mentions noted that were not noted before
    created: int = 0  # entities that the registry did not know
    skipped: str | None = None  # why nothing was looked at
