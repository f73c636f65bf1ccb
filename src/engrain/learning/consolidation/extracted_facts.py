"""Facts that an outside consolidator has extracted: each stored once, with its sources; and what contradicts them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engrain.domain.filters import is_hidden
from engrain.domain.memories.trust import TrustLevel, lowest_trust, with_trust
from engrain.domain.records import Episode, Fact, Link, MemoryRecord, Record
from engrain.errors import NotFound
from engrain.learning.consolidation.equivalence import fold, is_same_statement
from engrain.learning.consolidation.known_memories import load_holders
from engrain.learning.consolidation.learned_facts import build_fact, describe, list_conflicting, read_project
from engrain.learning.grounding import Words, find_unsupported, is_about
from engrain.storage.selection import load_visible
from engrain.storage.write.arrivals import put_unlocked
from engrain.storage.write.changes import confirm, link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.learning.consolidation.known_memories import NearSearch
    from engrain.learning.consolidation.proposals import Statement
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork

_NEAR = 20


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


def list_questions(batch: Iterable[ExtractedFact]) -> list[str]:
    """List what `save_extracted` searches for."""
    return [_question(extracted.says) for extracted in batch]


def save_extracted(work: UnitOfWork, batch: Sequence[ExtractedFact], *, scope: str, search: NearSearch) -> SavedFacts:
    """Store each statement once: exact repeats are dropped, one that shares 3/4 with a known one confirms it.

    Ids are derived from sources and words, so saving a batch again adds nothing. A fact is pending where a source is a
    tool's or an assistant's turn, or its sources do not say what it says.

    Raises:
        NotFound: the caller sees no such episode; nothing was written.
    """
    sources = _load_sources(work, batch)
    distinct = {tuple(map(fold, (e.says.subject, e.says.predicate, e.says.content))): e for e in reversed(batch)}
    new = [(_build_fact(work, extracted, sources, scope=scope), extracted) for extracted in reversed(distinct.values())]
    near = [search(work, _question(extracted.says), ("fact",), _NEAR) for _, extracted in new]
    work.backend.lock(work, (), [fact for fact, _ in new])
    _load_sources(work, batch, lock=work.dialect.hold)
    known = _find_known(work, new, near)
    stored = put_unlocked(work, [fact for fact, _ in new if fact.id not in known])
    saved = {memory.id: memory for memory in stored if isinstance(memory, Fact)}
    for fact, extracted in new:
        for source_id in extracted.source_ids if fact.id in saved else ():
            link(work, Link(source_id=fact.id, target_id=source_id, relation="derived_from", created_at=work.act.at))
    confirmed = dict.fromkeys(known.values())
    for id_ in confirmed:
        confirm(work, id_)
    return SavedFacts(saved=tuple(saved.values()), confirmed=tuple(confirmed), repeated=len(batch) - len(distinct))


def find_conflicts(snapshot: Snapshot, fact: Fact, *, search: NearSearch) -> list[Fact]:
    """Find active facts that say otherwise of the same: its subject, an alike predicate, by a hybrid search."""
    near = search(snapshot, describe(fact), ("fact",), _NEAR)
    return list_conflicting(fact, [memory for memory in near if isinstance(memory, Fact)])


def _build_fact(work: UnitOfWork, extracted: ExtractedFact, sources: Mapping[str, Episode], *, scope: str) -> Fact:
    episodes = [sources[id_] for id_ in extracted.source_ids]
    episodes.sort(key=lambda episode: (episode.event_time, episode.id))
    at, trust = work.act.at, _judge(work, extracted.says, episodes)
    fact = build_fact(extracted.says, episodes, work.act.caller, scope=scope, origin="extracted fact", at=at)
    return replace(fact, metadata=with_trust(fact.metadata, trust))


def _judge(work: UnitOfWork, statement: Statement, episodes: Sequence[Episode]) -> TrustLevel:
    """Judge the trust of a statement: the least of its sources'; one that is not in them is a model's own word."""
    said = [Words(fold(episode.content), episode.event_time) for episode in episodes]
    speakers = " ".join(episode.speaker or "" for episode in episodes)
    names = f"user {work.agent} {work.act.caller.user or ''} {speakers}"
    is_supported = find_unsupported(statement.content, said, names=names) is None and is_about(
        statement.subject, statement.content, said, names=names
    )
    levels = [episode.trust for episode in episodes]
    return lowest_trust(levels if is_supported else (*levels, "assistant"))


def _find_known(
    work: UnitOfWork, new: Sequence[tuple[Fact, ExtractedFact]], near: Sequence[Sequence[MemoryRecord]]
) -> dict[str, str]:
    """Find and lock active facts that say the same as new ones, those in their scope first; ids by the new ones'."""
    holders = load_holders(work, [fact for fact, _ in new])
    same: dict[str, list[str]] = {}
    for (fact, extracted), memories in zip(new, near, strict=True):
        others = (*holders, *memories)
        facts = [
            other
            for other in others
            if isinstance(other, Fact)
            and is_same_statement(other, extracted.says)
            and read_project(other) == read_project(fact)
        ]
        same[fact.id] = [other.id for other in sorted(facts, key=lambda other: other.scope != fact.scope)]
    ids = sorted({id_ for of_fact in same.values() for id_ in of_fact})
    locked = load_visible(work, ids, lock=work.dialect.lock) if ids else []
    facts = [memory for _, memory in locked if isinstance(memory, Fact) and memory.validity == "active"]
    active = {fact.id for fact in facts if work.act.caller.may_change(fact.scope)}
    first = {new_id: next((id_ for id_ in of_fact if id_ in active), new_id) for new_id, of_fact in same.items()}
    return {new_id: id_ for new_id, id_ in first.items() if id_ != new_id}


def _load_sources(work: UnitOfWork, batch: Iterable[ExtractedFact], *, lock: str = "") -> Mapping[str, Episode]:
    ids = list(dict.fromkeys(id_ for extracted in batch for id_ in extracted.source_ids))
    memories = [memory for _, memory in load_visible(work, ids, lock=lock)] if ids else []
    sources = {memory.id: memory for memory in memories if isinstance(memory, Episode)}
    for id_ in ids:
        if id_ not in sources:
            raise NotFound(f"no episode {id_} is visible to agent {work.agent}; nothing was saved")
        if is_hidden(sources[id_]):
            raise NotFound(f"episode {id_} was forgotten, and nobody learns from it any more; nothing was saved")
    return sources


def _question(statement: Statement) -> str:
    return f"{statement.subject} {statement.predicate} {statement.content}"
