"""Entity linking: from names in a text to entities of the registry, existing ones or new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.entities.registry import Name, NameKind, merged_into, new_names
from engrain.domain.text.names import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.domain.records import Entity, EntityType

# The type of entity that a name becomes; a date becomes none.
_TYPES: Mapping[NameKind, EntityType | None] = {
    "mention": "person",
    "hashtag": "other",
    "email": "email",
    "url": "url",
    "date": None,
    "person": "person",
    "organization": "organization",
    "place": "place",
    "project": "project",
    "other": "other",
}


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as a text names it, with its spellings there."""

    canonical_name: str
    entity_type: EntityType
    spellings: tuple[str, ...] = ()


def extract_entities(names: Iterable[Name]) -> list[NamedEntity]:
    """Make entities of the names of a text, each once, in the order of their first position; dates are left out.

    A mention loses its @, a hashtag its #, an address is written in small letters; "Ana's" is Ana.
    """
    entities: dict[tuple[str, EntityType], NamedEntity] = {}
    for name in names:
        entity_type = _TYPES[name.kind]
        canonical = _canonical(name)
        if entity_type is None or not name_key(canonical):
            continue
        key = (name_key(canonical), entity_type)
        before = entities.get(key, NamedEntity(canonical, entity_type))
        spellings = dict.fromkeys((*before.spellings, name.text))
        entities[key] = replace(
            before, spellings=tuple(spelling for spelling in spellings if spelling != before.canonical_name)
        )
    return list(entities.values())


def match_entity(named: NamedEntity, known: Iterable[Entity]) -> Entity | None:
    """Find the known entity of a name: one of its type by canonical name, then by alias; None where there is none.

    A merged entity stands for the one it was merged into. Of several the oldest is chosen. A name of type "other" (a
    hashtag) may match an entity of any type, where none of its own matches.
    """
    by_id = {entity.id: entity for entity in known}
    key = name_key(named.canonical_name)
    matches = [entity for entity in by_id.values() if key in {name_key(name) for name in _names(entity)}]
    if named.entity_type != "other":
        matches = [entity for entity in matches if entity.entity_type == named.entity_type]
    matches.sort(
        key=lambda entity: (entity.entity_type != named.entity_type, name_key(entity.canonical_name) != key, entity.id)
    )
    return next((survivor for entity in matches if (survivor := _survivor(entity, by_id)) is not None), None)


def all_spellings(named: NamedEntity) -> tuple[str, ...]:
    """All spellings of a name, its canonical form first."""
    return (named.canonical_name, *other_spellings(named))


def other_spellings(named: NamedEntity) -> tuple[str, ...]:
    """The spellings of a name besides its canonical form, each once regardless of case."""
    return new_names([named.canonical_name], named.spellings)


def _canonical(name: Name) -> str:
    match name.kind:
        case "mention" | "hashtag":
            return name.text[1:] if name.text[:1] in "@#" else name.text
        case "email":
            return name.text.lower()
        case "url":
            return name.text.rstrip("/")
        case _:
            text = " ".join(name.text.split())
            return text.removesuffix("'s").removesuffix("\u2019s")


def _names(entity: Entity) -> tuple[str, ...]:
    return (entity.canonical_name, *entity.aliases)


def _survivor(entity: Entity, by_id: Mapping[str, Entity]) -> Entity | None:
    """The entity at the end of an entity's merges; None where that one is not known here."""
    into = merged_into(entity)
    while into is not None:
        if into not in by_id:
            return None
        entity = by_id[into]
        into = merged_into(entity)
    return entity
