"""Facts that a consolidator outside has extracted: each kept once, with its sources; and what they contradict."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.ids import derived_id
from engrain.domain.records import DECAY_RATES, Episode, Fact, Link, Record
from engrain.domain.text.categories import fact_category
from engrain.errors import InvalidInput, NotFound
from engrain.learning.consolidation.equivalence import is_same_statement
from engrain.learning.consolidation.folding import fold
from engrain.learning.consolidation.planner import SAID_AT, list_conflicting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.learning.consolidation.known_memories import HybridSearch
    from engrain.learning.consolidation.proposals import Statement

_NEAR = 20
# Somebody else may write between our look and our write; the next try sees what they did.
_MOST_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A statement, and the ids of the episodes that it was extracted from."""

    says: Statement
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFacts(Record):
    """What became of a batch: new facts, ids of known ones that say the same, how often the batch repeats itself."""

    saved: tuple[Fact, ...] = ()
    confirmed: tuple[str, ...] = ()
    repeated: int = 0


def save_extracted(
    store: Store, act: Act, batch: Sequence[ExtractedFact], *, scope: str, search: HybridSearch
) -> SavedFacts:
    """Keep each statement once: exact repeats in the batch are dropped, what shares 3/4 with a known one confirms it.

    The new facts are one transaction, their links and the confirmations follow; ids are derived from sources and words,
    so saving a batch again does what was left and adds nothing else. What says the same as a fact that is no longer
    believed when it is to be confirmed is judged anew. What is erased meanwhile is linked to nothing.

    Raises:
        NotFound: the caller sees no such episode; nothing was written.
    """
    sources = _sources(store, act, batch)
    distinct = {tuple(map(fold, (e.says.subject, e.says.predicate, e.says.content))): e for e in reversed(batch)}
    left = list(reversed(distinct.values()))
    saved: list[Fact] = []
    confirmed: dict[str, None] = {}
    for _ in range(_MOST_TRIES):
        fresh, known = _judged(store, act, left, sources, scope=scope, search=search)
        stored = store.put(act, [fact for fact, _ in fresh])
        saved += [each for each in stored if isinstance(each, Fact)]
        for fact, each in fresh:
            _link(store, act, fact, each)
        stands = {id_: _confirmed(store, act, id_) for id_ in dict.fromkeys(id_ for id_, _ in known)}
        confirmed |= dict.fromkeys(id_ for id_, is_so in stands.items() if is_so)
        left = [each for id_, each in known if not stands[id_]]
        if not left:
            break
    return SavedFacts(saved=tuple(saved), confirmed=tuple(confirmed), repeated=len(batch) - len(distinct))


def _judged(
    store: Store,
    act: Act,
    batch: Iterable[ExtractedFact],
    sources: Mapping[str, Episode],
    *,
    scope: str,
    search: HybridSearch,
) -> tuple[list[tuple[Fact, ExtractedFact]], list[tuple[str, ExtractedFact]]]:
    """What of a batch is new, as facts, and what is known, with the ids of the facts that say the same."""
    fresh: list[tuple[Fact, ExtractedFact]] = []
    there: list[tuple[str, ExtractedFact]] = []
    for each in batch:
        fact = _fact(act, each, [sources[id_] for id_ in each.source_ids], scope)
        known = next(
            (
                near
                for near in _near(store, act, each.says, scope=scope, search=search)
                if is_same_statement(near, each.says)
            ),
            None,
        )
        if known is None or known.id == fact.id:
            fresh.append((fact, each))
        else:
            there.append((known.id, each))
    return fresh, there


def _link(store: Store, act: Act, fact: Fact, extracted: ExtractedFact) -> None:
    """Say what a fact is derived from, as far as both are there."""
    for source_id in extracted.source_ids:
        with suppress(NotFound):
            store.link(act, Link(source_id=fact.id, target_id=source_id, relation="derived_from", created_at=act.at))


def _confirmed(store: Store, act: Act, id_: str) -> bool:
    """Whether a fact was confirmed: it still holds."""
    try:
        return store.confirm(act, id_) is not None
    except InvalidInput:
        return False


def find_conflicts(caller: Caller, fact: Fact, *, search: HybridSearch) -> list[Fact]:
    """Active facts that a hybrid search finds and that say otherwise of the same: its subject, an alike predicate."""
    found = search(caller, f"{fact.subject} {fact.predicate} {fact.content}", ("fact",), _NEAR)
    return list_conflicting(fact, [each for each in found if isinstance(each, Fact)])


def _sources(store: Store, act: Act, batch: Iterable[ExtractedFact]) -> Mapping[str, Episode]:
    asked = list(dict.fromkeys(id_ for each in batch for id_ in each.source_ids))
    found = {each.id: each for each in store.get(act.caller, asked) if isinstance(each, Episode)} if asked else {}
    for id_ in asked:
        if id_ not in found:
            raise NotFound(f"no episode {id_} is visible to agent {act.caller.agent}; nothing was saved")
    return found


def _near(store: Store, act: Act, says: Statement, *, scope: str, search: HybridSearch) -> list[Fact]:
    """Active facts of its own scope first."""
    holder = store.held(act.caller, scope=scope, subject=says.subject, predicate=says.predicate)
    found = search(act.caller, f"{says.subject} {says.predicate} {says.content}", ("fact",), _NEAR)
    facts = [each for each in found if isinstance(each, Fact) and each.validity == "active"]
    return sorted([*([] if holder is None else [holder]), *facts], key=lambda each: each.scope != scope)


def _fact(act: Act, extracted: ExtractedFact, sources: Sequence[Episode], scope: str) -> Fact:
    caller, says = act.caller, extracted.says
    words = map(fold, (says.subject, says.predicate, says.content))
    newest = max(sources, key=lambda each: (each.event_time, each.id), default=None)
    return Fact(
        id=derived_id(
            *(caller.tenant_id, caller.agent, "extracted fact", scope, *sorted(extracted.source_ids), *words),
            at=max((each.created_at for each in sources), default=None),
        ),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=scope,
        subject=says.subject,
        predicate=says.predicate,
        content=says.content,
        category=fact_category(says.predicate, says.content),
        confidence=says.confidence,
        importance=says.importance,
        permanence=says.permanence,
        decay_rate=DECAY_RATES[says.permanence],
        valid_from=says.valid_from or min((each.event_time for each in sources), default=None),
        created_at=act.at,
        source_episode_id=None if newest is None else newest.id,
        last_confirmed_at=act.at,
        tags=says.tags,
        metadata={} if newest is None else {SAID_AT: newest.event_time.isoformat()},
    )
