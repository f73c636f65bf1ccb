"""Whom a name may mean: candidates in four tiers, raised by what is known of them. Pure; a store only proposes.

Tiers and numbers are those of the entity resolution that agents already use: an exact name 100, an alias 80, a name
that begins with or holds the text 50, one that is alike by trigrams 20, and up to 20 for shared words with hints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain import checks
from engrain.domain.entities.names import name_key
from engrain.domain.entities.registry import EntityMatch, NameMatch, merged_into
from engrain.domain.text.analysis import terms
from engrain.domain.text.likeness import jaccard
from engrain.domain.text.trigrams import similarity
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.domain.records import Entity, Fact

BASE_SCORES: Mapping[NameMatch, float] = {"exact": 100.0, "alias": 80.0, "prefix": 50.0, "fuzzy": 20.0}
SIMILAR_ENOUGH = 0.3
MOST_BOOST = 20.0
# A name of two letters is like half of all names.
_SHORTEST_FUZZY = 3
_HINTS = ("topic", "mentioned_with", "domain_scores")


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of whoever is meant: words of the matter, who else is there, and scores of somebody else's."""

    terms: frozenset[str] = frozenset()
    domain_scores: Mapping[str, float] = field(default_factory=dict)


def hints_of(value: object) -> Hints:
    """Hints as they are given: `topic` a text, `mentioned_with` names, `domain_scores` numbers by entity id.

    Raises:
        InvalidInput: an unknown hint, or one of the wrong type.
    """
    if value is None:
        return Hints()
    if not isinstance(value, Mapping):
        raise InvalidInput(f"hints must be a mapping with {', '.join(_HINTS)}, not {value!r:.80}")
    unknown = sorted(str(name) for name in value if name not in _HINTS)
    if unknown:
        raise InvalidInput(f"hint {unknown[0]!r:.80} is unknown; known are: {', '.join(_HINTS)}")
    topic = value.get("topic")
    said = [] if topic is None else [checks.query(topic)]
    said += checks.names(value.get("mentioned_with"), name="mentioned_with")
    scores = value.get("domain_scores") or {}
    if not isinstance(scores, Mapping):
        raise InvalidInput(f"domain_scores must map entity ids to numbers, not {scores!r:.80}")
    return Hints(
        frozenset(terms(" ".join(said))),
        {
            checks.name(id_, name="entity id"): checks.number(score, name="domain score", low=-1e6, high=1e6)
            for id_, score in scores.items()
        },
    )


def name_match(entity: Entity, name: str, *, fuzzy: bool) -> NameMatch | None:
    """The best tier in which an entity answers to a name; None for none, and for a tombstone."""
    asked = name_key(name)
    if not asked or merged_into(entity) is not None:
        return None
    canonical, *aliases = (name_key(each) for each in (entity.canonical_name, *entity.aliases))
    if asked == canonical:
        return "exact"
    if asked in aliases:
        return "alias"
    if any(asked in each for each in (canonical, *aliases)):
        return "prefix"
    alike = fuzzy and is_long_enough(name) and max(similarity(asked, each) for each in (canonical, *aliases))
    return "fuzzy" if alike >= SIMILAR_ENOUGH and alike is not False else None


def is_long_enough(name: str) -> bool:
    """Whether a name says enough to look for what is merely like it."""
    return len(name_key(name)) >= _SHORTEST_FUZZY


def ranked(
    name: str,
    proposed: Iterable[Entity],
    *,
    fuzzy: bool = False,
    hints: Hints | None = None,
    facts: Mapping[str, Collection[Fact]] | None = None,
) -> list[EntityMatch]:
    """Those of the proposed that answer to the name, by score, then canonical name, then id.

    `facts` are those known of each entity, by its id.
    """
    hints, facts = hints or Hints(), facts or {}
    found = []
    for entity in {each.id: each for each in proposed}.values():
        tier = name_match(entity, name, fuzzy=fuzzy)
        if tier is not None:
            score = BASE_SCORES[tier] + boost(hints.terms, facts.get(entity.id, ()))
            found.append(_match(entity, tier, score + hints.domain_scores.get(entity.id, 0.0)))
    return sorted(found, key=lambda each: (-each.score, each.canonical_name, each.entity_id))


def boost(asked: Collection[str], facts: Iterable[Fact]) -> float:
    """0-20: the share that hint terms and the words of facts, predicates and contents, have in common (Jaccard)."""
    said = {term for fact in facts for term in terms(f"{fact.predicate} {fact.content}")}
    return MOST_BOOST * jaccard(said, set(asked))


def _match(entity: Entity, tier: NameMatch, score: float) -> EntityMatch:
    return EntityMatch(
        entity_id=entity.id,
        canonical_name=entity.canonical_name,
        entity_type=entity.entity_type,
        score=round(score, 4),
        name_match=tier,
        aliases=entity.aliases,
    )


def best(matches: Sequence[EntityMatch]) -> EntityMatch | None:
    """The one match that stands above all others; None where there is none, or the first two are equal."""
    if not matches or (len(matches) > 1 and matches[0].score == matches[1].score):
        return None
    return matches[0]
