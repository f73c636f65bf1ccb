"""Facts that an outside consolidator has extracted: each stored once, with its sources; and what contradicts them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, Fact, Link, Record
from engrain.errors import InvalidInput, NotFound
from engrain.learning.consolidation.equivalence import fold, is_same_statement
from engrain.learning.consolidation.learned_facts import build_fact, list_conflicting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.learning.consolidation.known_memories import HybridSearch
    from engrain.learning.consolidation.proposals import Statement

_NEAR = 20
# Another writer may come between our read and our write; the next try sees what it wrote.
_MOST_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A statement, and the ids of the episodes that it was extracted from."""

    says: Statement
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFacts(Record):
    """The outcome of a batch: new facts, ids of known ones that say the same, and the number of exact repeats."""

    saved: tuple[Fact, ...] = ()
    confirmed: tuple[str, ...] = ()
    repeated: int = 0


def save_extracted(
    store: Store, act: Act, batch: Sequence[ExtractedFact], *, scope: str, search: HybridSearch
) -> SavedFacts:
    """Store each statement once: exact repeats are dropped, one that shares 3/4 with a known one confirms it.

    The new facts are one transaction, their links and the confirmations follow; ids are derived from sources and words,
    so saving a batch again does what was left and adds nothing else. A statement that says the same as a fact that is
    no longer active when it is to be confirmed is judged anew. What is erased meanwhile is linked to nothing.

    Raises:
        NotFound: the caller sees no such episode; nothing was written.
    """
    sources = _load_sources(store, act, batch)
    distinct = {tuple(map(fold, (e.says.subject, e.says.predicate, e.says.content))): e for e in reversed(batch)}
    left = list(reversed(distinct.values()))
    saved: list[Fact] = []
    confirmed: dict[str, None] = {}
    for _ in range(_MOST_TRIES):
        fresh, known = _divide(store, act, left, sources, scope=scope, search=search)
        saved += [fact for fact in store.put(act, [fact for fact, _ in fresh]) if isinstance(fact, Fact)]
        for fact, extracted in fresh:
            _link(store, act, fact, extracted)
        is_active = {id_: _confirm(store, act, id_) for id_ in dict.fromkeys(id_ for id_, _ in known)}
        confirmed |= dict.fromkeys(id_ for id_ in is_active if is_active[id_])
        left = [extracted for id_, extracted in known if not is_active[id_]]
        if not left:
            break
    return SavedFacts(saved=tuple(saved), confirmed=tuple(confirmed), repeated=len(batch) - len(distinct))


def find_conflicts(caller: Caller, fact: Fact, *, search: HybridSearch) -> list[Fact]:
    """Active facts that a hybrid search finds and that say otherwise of the same: its subject, an alike predicate."""
    near = search(caller, f"{fact.subject} {fact.predicate} {fact.content}", ("fact",), _NEAR)
    return list_conflicting(fact, [memory for memory in near if isinstance(memory, Fact)])


def _divide(
    store: Store,
    act: Act,
    batch: Iterable[ExtractedFact],
    sources: Mapping[str, Episode],
    *,
    scope: str,
    search: HybridSearch,
) -> tuple[list[tuple[Fact, ExtractedFact]], list[tuple[str, ExtractedFact]]]:
    """The new statements of a batch, as facts, and the known ones, with the ids of the facts that say the same."""
    fresh: list[tuple[Fact, ExtractedFact]] = []
    known: list[tuple[str, ExtractedFact]] = []
    for extracted in batch:
        episodes = [sources[id_] for id_ in extracted.source_ids]
        episodes.sort(key=lambda episode: (episode.event_time, episode.id))
        fact = build_fact(extracted.says, episodes, act.caller, scope=scope, origin="extracted fact", at=act.at)
        near = _load_near(store, act, extracted.says, scope=scope, search=search)
        same = next((other for other in near if is_same_statement(other, extracted.says)), None)
        if same is None or same.id == fact.id:
            fresh.append((fact, extracted))
        else:
            known.append((same.id, extracted))
    return fresh, known


def _link(store: Store, act: Act, fact: Fact, extracted: ExtractedFact) -> None:
    """Link a fact to its sources, as far as both are there."""
    for source_id in extracted.source_ids:
        with suppress(NotFound):
            store.link(act, Link(source_id=fact.id, target_id=source_id, relation="derived_from", created_at=act.at))


def _confirm(store: Store, act: Act, id_: str) -> bool:
    """Confirm a fact, and say whether it still holds."""
    try:
        return store.confirm(act, id_) is not None
    except InvalidInput:
        return False


def _load_sources(store: Store, act: Act, batch: Iterable[ExtractedFact]) -> Mapping[str, Episode]:
    ids = list(dict.fromkeys(id_ for extracted in batch for id_ in extracted.source_ids))
    memories = store.get(act.caller, ids) if ids else []
    sources = {memory.id: memory for memory in memories if isinstance(memory, Episode)}
    for id_ in ids:
        if id_ not in sources:
            raise NotFound(f"no episode {id_} is visible to agent {act.caller.agent}; nothing was saved")
    return sources


def _load_near(store: Store, act: Act, statement: Statement, *, scope: str, search: HybridSearch) -> list[Fact]:
    """Active facts near a statement, those of its own scope first."""
    subject, predicate = statement.subject, statement.predicate
    holder = store.find_active_fact(act.caller, scope=scope, subject=subject, predicate=predicate)
    near = search(act.caller, f"{subject} {predicate} {statement.content}", ("fact",), _NEAR)
    facts = [memory for memory in near if isinstance(memory, Fact) and memory.validity == "active"]
    return sorted([*([] if holder is None else [holder]), *facts], key=lambda fact: fact.scope != scope)
