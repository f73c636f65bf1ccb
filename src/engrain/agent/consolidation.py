"""Consolidation, step by step, for a consolidator outside: its own model reads, and says what to store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from engrain.agent.learning import consolidation_runs
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import get_active_fact, memory_not_found, read_all
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import mask_secrets, parse_label, parse_scope, parse_text, parse_time
from engrain.agent.wiring.view import View
from engrain.agent.writes import linking
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.records import DECAY_RATES, Episode, Fact
from engrain.domain.requests import Request
from engrain.errors import InvalidInput
from engrain.storage.runs.actions import doubt_fact
from engrain.storage.runs.claims import is_session_consolidated
from engrain.storage.selection import load_memories

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.learning.consolidation.extracted_facts import ExtractedFact, SavedFacts
    from engrain.storage.unit_of_work import UnitOfWork
    from engrain.verbs import words

_MOST_PAGES = 1_000_000
_MOST_FACTS = 1_000
_FIELDS = (
    *("subject", "predicate", "content", "importance", "confidence", "permanence"),
    *("valid_from", "tags", "source_ids"),
)


@instrument("consolidation")
class Consolidation(View):
    """Consolidation step by step, for a consolidator of one's own."""

    __slots__ = ()

    def is_session_consolidated(self, session: words.OneSession) -> bool:
        """Check whether this agent has episodes in a session and none of them waits for consolidation."""
        parts, name = self._parts(), checks.name(session, name="session")
        return parts.store.read(self._caller, is_session_consolidated, name, parts.clock())

    def episodes(
        self, session: words.OneSession, *, page: words.PageNumber = 0, limit: words.PageLimit = 30
    ) -> list[Episode]:
        """Read a page of the episodes of a session, in their order; empty past the last one.

        Reads the whole session, 500 turns a statement.

        Raises:
            InvalidInput: a page or limit out of its range.
        """
        most = checks.count(limit, name="limit")
        start = checks.count(page, name="page", high=_MOST_PAGES) * most
        narrowed = Filter(kinds=("episode",), sessions=(checks.name(session, name="session"),))
        parts = self._parts()
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        memories = parts.store.read(self._caller, lambda snapshot: list(read_all(snapshot, request)))
        turns = [memory for memory in memories if isinstance(memory, Episode)]
        return sorted(turns, key=lambda turn: (turn.turn, turn.created_at, turn.id))[start : start + most]

    def save_facts(self, facts: words.ExtractedFacts, *, scope: words.Scope | None = None) -> SavedFacts:
        """Store extracted facts, each once: repeats are dropped, and known facts confirmed.

        A known fact has the same subject and shares 3/4 of its words. Ids come from sources and words, so saving a
        batch again adds nothing. The default `scope` is this agent's own. A fact whose sources a user has not said, or
        that they do not say, is pending: it waits for `confirm`.

        Raises:
            InvalidInput: a value is refused; nothing was written.
            NotFound: a source that this agent does not see; nothing was written.
        """
        from engrain.learning.consolidation import extracted_facts

        parts = self._parts()
        now = parts.clock()
        batch = []
        for index, fact in enumerate(_parse_list(facts)):
            with checks.locate(f"facts[{index}]"):
                batch.append(_parse_fact(parts, fact, now))
        search = consolidation_runs.search_of(parts)(self._caller, extracted_facts.list_questions(batch))

        def save(work: UnitOfWork) -> SavedFacts:
            where = work.own_scope
            if scope is not None:
                where = checks.choice(parse_scope(work.caller, scope), work.caller.scopes, name="scope")
            saved = extracted_facts.save_extracted(work, batch, scope=where, search=search)
            for fact in saved.saved:
                linking.link(work, parts, fact)
            return saved

        try:
            return parts.store.write(new_act(parts, self._caller), save)
        finally:
            consolidation_runs.announce(parts, self._caller)

    def detect_conflicts(self, fact_id: words.FactId) -> list[Fact]:
        """Find active facts of the same subject that may contradict one, by a hybrid search.

        The fact that was in its slot before was superseded when it was stored, and is in its `history`.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is no fact, or no longer active.
        """
        from engrain.learning.consolidation import extracted_facts
        from engrain.learning.consolidation.learned_facts import describe

        parts = self._parts()
        fact = parts.store.read(self._caller, get_active_fact, checks.name(fact_id, name="fact_id"))
        search = consolidation_runs.search_of(parts)(self._caller, [describe(fact)])
        return parts.store.search(self._caller, extracted_facts.find_conflicts, fact, search=search)

    def resolve_conflict(self, old_id: words.DoubtedFact, new_id: words.StandingFact) -> Fact:
        """Lower the confidence of an older fact to 0.3 at most, as a newer one contradicts it.

        The new one is linked `supersedes` to it. The old one stays active, and fades the sooner; twice is once.

        Raises:
            NotFound: this agent does not see both.
            InvalidInput: one of them is no fact, or both are one.
        """
        old, new = checks.name(old_id, name="old_id"), checks.name(new_id, name="new_id")
        parts = self._parts()
        try:
            return parts.store.write(new_act(parts, self._caller), _doubt, old, new)
        finally:
            parts.note_cache.drop_agent(self._caller)

    def mark_session(self, session: words.OneSession) -> int:
        """Mark all of a session as consolidated; give the number of episodes that waited.

        Episodes that wait for a retry wait on.

        Raises:
            InvalidInput: the agent's episodes are being consolidated just now; mark the session again later.
        """
        parts, name = self._parts(), checks.name(session, name="session")
        return consolidation_runs.mark_consolidated(parts, self._caller, name)


def _doubt(work: UnitOfWork, old_id: str, new_id: str) -> Fact:
    doubted = doubt_fact(work, old_id, new_id)
    if doubted is not None:
        return doubted
    visible = {memory.id for memory in load_memories(work, [old_id, new_id])}
    raise memory_not_found(work.caller, old_id if new_id in visible or old_id not in visible else new_id)


def _parse_list(facts: object) -> list[object]:
    if isinstance(facts, str | bytes | Mapping) or not isinstance(facts, Iterable):
        raise InvalidInput(f"facts must be a list of objects, not {type(facts).__name__}")
    listed = list(facts)
    checks.count(len(listed), name="number of facts", high=_MOST_FACTS)
    return listed


def _parse_fact(parts: Parts, fact: object, now: datetime) -> ExtractedFact:
    from engrain.learning.consolidation.extracted_facts import ExtractedFact
    from engrain.learning.consolidation.proposals import Statement

    if not isinstance(fact, Mapping):
        raise InvalidInput(f"a fact must be an object, not {type(fact).__name__}")
    for name in fact:
        checks.choice(name, _FIELDS, name="field")
    predicate = parse_label(parts, fact.get("predicate"), name="predicate")
    says = Statement(
        subject=parse_label(parts, fact.get("subject"), name="subject"),
        predicate=predicate,
        content=mask_secrets(parts, parse_text(parts, fact.get("content")), context=f"{predicate} is "),
        importance=checks.number(fact.get("importance", 5.0), name="importance", low=0, high=10),
        confidence=checks.number(fact.get("confidence", 1.0), name="confidence", low=0, high=1),
        permanence=checks.choice(fact.get("permanence", "standard"), DECAY_RATES, name="permanence"),
        valid_from=parse_time(fact.get("valid_from"), name="valid_from", now=now),
        tags=checks.names(fact.get("tags"), name="tag"),
    )
    return ExtractedFact(says=says, source_ids=checks.names(fact.get("source_ids"), name="source_id"))
