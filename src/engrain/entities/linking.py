"""From names in a text to entities of the registry: which one a name means, and what it becomes where it means none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.entities.names import name_key, new_names
from engrain.domain.entities.registry import merged_into

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.domain.entities.registry import Name, NameKind
    from engrain.domain.records import Entity, EntityType

# What a name becomes in the registry; a date is nobody.
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
class Named:
    """A name as the registry would hold it, with the ways it was written."""

    canonical_name: str
    entity_type: EntityType
    spellings: tuple[str, ...] = ()


def named(names: Iterable[Name]) -> list[Named]:
    """Whom the names of a text name, each once, in the order of their first place; dates are nobody.

    A mention loses its @, a hashtag its #, an address is written in small letters; "Ana's" is Ana.
    """
    found: dict[tuple[str, EntityType], Named] = {}
    for name in names:
        entity_type = _TYPES[name.kind]
        canonical = _canonical(name)
        if entity_type is None or not name_key(canonical):
            continue
        key = (name_key(canonical), entity_type)
        before = found.get(key, Named(canonical, entity_type))
        spellings = dict.fromkeys((*before.spellings, name.text))
        found[key] = replace(before, spellings=tuple(each for each in spellings if each != before.canonical_name))
    return list(found.values())


def meant(one: Named, known: Iterable[Entity]) -> Entity | None:
    """Which of the known a name means: one of its type by canonical name, then by alias; None where there is none.

    An entity that was merged stands for whom it was merged into. Of several the oldest is meant. What is merely "other"
    (a hashtag) may mean somebody of any type, where none of its own does.
    """
    by_id = {entity.id: entity for entity in known}
    key = name_key(one.canonical_name)
    called = [entity for entity in by_id.values() if key in {name_key(name) for name in _names(entity)}]
    if one.entity_type != "other":
        called = [entity for entity in called if entity.entity_type == one.entity_type]
    called.sort(key=lambda each: (each.entity_type != one.entity_type, name_key(each.canonical_name) != key, each.id))
    return next((there for each in called if (there := _standing(each, by_id)) is not None), None)


def spellings(one: Named) -> tuple[str, ...]:
    """Every way in which a name was written, its canonical form first."""
    return (one.canonical_name, *spellings_beside(one))


def spellings_beside(one: Named) -> tuple[str, ...]:
    """How a name was written besides its canonical form, each once whatever its case."""
    return new_names([one.canonical_name], one.spellings)


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


def _standing(entity: Entity, by_id: Mapping[str, Entity]) -> Entity | None:
    """Whom an entity stands for, along its merges; None where that one is not known here."""
    into = merged_into(entity)
    while into is not None:
        if into not in by_id:
            return None
        entity = by_id[into]
        into = merged_into(entity)
    return entity
