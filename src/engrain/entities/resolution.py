"""Resolution of a name to entities: four tiers of matches, with a boost by their facts. Pure; a store only proposes.

Tiers and numbers are those of the entity resolution that agents already use: an exact name 100, an alias 80, a name
that begins with or holds the text 50, one that is alike by trigrams 20, and up to 20 for shared words with hints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engrain.domain import checks
from engrain.domain.entities.registry import EntityMatch, NameMatch, merged_into
from engrain.domain.text.analysis import terms
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import jaccard, similarity
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.domain.records import Entity, Fact

BASE_SCORES: Mapping[NameMatch, float] = {"exact": 100.0, "alias": 80.0, "prefix": 50.0, "fuzzy": 20.0}
MIN_SIMILARITY = 0.3
MAX_BOOST = 20.0
# A name of two letters is like half of all names.
_MIN_FUZZY_LENGTH = 3
_HINTS = ("topic", "mentioned_with", "domain_scores")


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints on the wanted entity: words of the topic and of names beside it, and scores from elsewhere."""

    terms: frozenset[str] = frozenset()
    domain_scores: Mapping[str, float] = field(default_factory=dict)


def parse_hints(value: object) -> Hints:
    """Parse hints: `topic` a text, `mentioned_with` names, `domain_scores` numbers by entity id.

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
    texts = [] if topic is None else [checks.query(topic)]
    texts += checks.names(value.get("mentioned_with"), name="mentioned_with")
    scores = value.get("domain_scores") or {}
    if not isinstance(scores, Mapping):
        raise InvalidInput(f"domain_scores must map entity ids to numbers, not {scores!r:.80}")
    return Hints(
        frozenset(terms(" ".join(texts))),
        {
            checks.name(id_, name="entity id"): checks.number(score, name="domain score", low=-1e6, high=1e6)
            for id_, score in scores.items()
        },
    )


def match_name(entity: Entity, name: str, *, fuzzy: bool) -> NameMatch | None:
    """The best tier in which a name matches an entity; None for no match, and for a merged entity."""
    wanted = name_key(name)
    if not wanted or merged_into(entity) is not None:
        return None
    canonical, *aliases = (name_key(known) for known in (entity.canonical_name, *entity.aliases))
    if wanted == canonical:
        return "exact"
    if wanted in aliases:
        return "alias"
    if any(wanted in known for known in (canonical, *aliases)):
        return "prefix"
    alike = fuzzy and is_long_enough(name) and max(similarity(wanted, known) for known in (canonical, *aliases))
    return "fuzzy" if alike >= MIN_SIMILARITY and alike is not False else None


def is_long_enough(name: str) -> bool:
    """True if a name is long enough for a fuzzy match."""
    return len(name_key(name)) >= _MIN_FUZZY_LENGTH


def rank_matches(
    name: str,
    proposed: Iterable[Entity],
    *,
    fuzzy: bool = False,
    hints: Hints | None = None,
    facts: Mapping[str, Collection[Fact]] | None = None,
) -> list[EntityMatch]:
    """Rank the proposed entities that match the name, by score, then canonical name, then id.

    `facts` are those about each entity, by its id.
    """
    hints, facts = hints or Hints(), facts or {}
    matches = []
    for entity in {entity.id: entity for entity in proposed}.values():
        tier = match_name(entity, name, fuzzy=fuzzy)
        if tier is not None:
            score = BASE_SCORES[tier] + boost(hints.terms, facts.get(entity.id, ()))
            matches.append(_match(entity, tier, score + hints.domain_scores.get(entity.id, 0.0)))
    return sorted(matches, key=lambda match: (-match.score, match.canonical_name, match.entity_id))


def boost(hint_terms: Collection[str], facts: Iterable[Fact]) -> float:
    """0-20: the share that hint terms and the words of facts, predicates and contents, have in common (Jaccard)."""
    known = {term for fact in facts for term in terms(f"{fact.predicate} {fact.content}")}
    return MAX_BOOST * jaccard(known, set(hint_terms))


def _match(entity: Entity, tier: NameMatch, score: float) -> EntityMatch:
    return EntityMatch(
        entity_id=entity.id,
        canonical_name=entity.canonical_name,
        entity_type=entity.entity_type,
        score=round(score, 4),
        name_match=tier,
        aliases=entity.aliases,
    )
