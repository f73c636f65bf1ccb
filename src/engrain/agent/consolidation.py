"""Consolidation step by step, for a consolidator outside: its own model reads, and says what is to be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from engrain.agent.learning import consolidation_runs
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import get_active_fact, memory_not_found
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_scope
from engrain.agent.wiring.view import View, enter
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.records import DECAY_RATES, Episode, Fact
from engrain.domain.requests import Request
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.learning.consolidation.extracted_facts import ExtractedFact, SavedFacts
    from engrain.verbs import words

_MOST_PAGES = 1_000_000
_MOST_FACTS = 1_000
_READ = 500
_FIELDS = (
    *("subject", "predicate", "content", "importance", "confidence", "permanence"),
    *("valid_from", "tags", "source_ids"),
)


@instrument("consolidation")
class Consolidation(View):
    """Consolidation step by step, for one's own consolidator."""

    __slots__ = ()

    def is_session_consolidated(self, session: words.OneSession) -> bool:
        """Whether this agent has episodes in a session and none waits: what a consolidator asks first."""
        parts = self._parts()
        return parts.store.is_session_consolidated(self._caller, checks.name(session, name="session"), parts.clock())

    def episodes(
        self, session: words.OneSession, *, page: words.PageNumber = 0, limit: words.PageLimit = 30
    ) -> list[Episode]:
        """A page of what was said in a session, in its order, from page 0 on; empty past the last one.

        Reads the session, 500 turns a statement.

        Raises:
            InvalidInput: a page or limit out of its range.
        """
        most = checks.count(limit, name="limit")
        start = checks.count(page, name="page", high=_MOST_PAGES) * most
        return self._turns(checks.name(session, name="session"))[start : start + most]

    def save_facts(self, facts: words.ExtractedFacts, *, scope: words.Scope | None = None) -> SavedFacts:
        """Keep what was extracted, each thing once: repeats in the batch are dropped, what is known confirmed.

        A fact has `subject`, `predicate` and `content`, and may have `importance`, `confidence`, `permanence`,
        `valid_from`, `tags`, and `source_ids` of the episodes it is derived from. Known is what shares 3/4 of its words
        with a fact of the same subject. Ids come from sources and words, so saving a batch again adds nothing. `scope`
        is this agent's own (the default) or "global".

        Raises:
            InvalidInput: a value is refused; nothing was written.
            NotFound: a source that this agent does not see; nothing was written.
        """
        from engrain.learning.consolidation import extracted_facts

        parts, caller = enter(self)
        where = caller.agent if scope is None else parse_scope(caller, scope)
        batch = [_extracted(each, place) for place, each in enumerate(_listed(facts))]
        act = new_act(parts, caller)
        saved = extracted_facts.save_extracted(
            parts.store, act, batch, scope=where, search=consolidation_runs.search_of(parts)
        )
        consolidation_runs.follow_up_all(parts, act, [each.id for each in saved.saved])
        return saved

    def detect_conflicts(self, fact_id: words.FactId) -> list[Fact]:
        """Active facts that may contradict one: of its subject, saying otherwise elsewhere, by a hybrid search.

        What stood in the very place of the fact was superseded when it was stored, and is in its `history`.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is no fact, or no longer active.
        """
        from engrain.learning.consolidation import extracted_facts

        parts, caller = enter(self)
        fact = get_active_fact(parts.store, caller, checks.name(fact_id, name="fact_id"))
        return extracted_facts.find_conflicts(caller, fact, search=consolidation_runs.search_of(parts))

    def resolve_conflict(self, old_id: words.DoubtedFact, new_id: words.StandingFact) -> Fact:
        """Let a newer fact stand against an old one: the old one's confidence falls to 0.3 at most; as it is now.

        The new one is linked `supersedes` to it. The old one stays active, and fades the sooner; twice is once.

        Raises:
            NotFound: this agent does not see both.
            InvalidInput: one of them is no fact, or both are one.
        """
        old, new = checks.name(old_id, name="old_id"), checks.name(new_id, name="new_id")
        parts, caller = enter(self)
        try:
            doubted = parts.store.doubt(new_act(parts, caller), old, new)
        finally:
            parts.note_cache.drop_agent(caller)
        if doubted is None:
            seen = {each.id for each in parts.store.get(caller, [old, new])}
            raise memory_not_found(caller, next((each for each in (old, new) if each not in seen), old))
        return doubted

    def mark_session(self, session: words.OneSession) -> int:
        """Say that all of a session has been learned from; how many of its episodes waited until now.

        What waits for its retry waits on.

        Raises:
            InvalidInput: the agent's episodes are being consolidated just now; mark the session again later.
        """
        parts, name = self._parts(), checks.name(session, name="session")
        return consolidation_runs.mark_consolidated(parts, self._caller, name)

    def _turns(self, session: str) -> list[Episode]:
        parts = self._parts()
        narrowed = Filter(kinds=("episode",), sessions=(session,))
        request = Request(caller=self._caller, filter=narrowed, now=parts.clock())
        turns: list[Episode] = []
        before: str | None = None
        while True:
            page = parts.store.page(request, before=before, limit=_READ)
            turns += [each for each in page if isinstance(each, Episode)]
            if len(page) < _READ:
                return sorted(turns, key=lambda each: (each.turn, each.created_at, each.id))
            before = page[-1].id


def _listed(facts: object) -> list[object]:
    if isinstance(facts, str | bytes | Mapping) or not isinstance(facts, Iterable):
        raise InvalidInput(f"facts must be a list of objects, not {type(facts).__name__}")
    listed = list(facts)
    checks.count(len(listed), name="number of facts", high=_MOST_FACTS)
    return listed


def _extracted(given: object, place: int) -> ExtractedFact:
    """One fact of a batch.

    Raises:
        InvalidInput: with its place in the batch.
    """
    try:
        return _checked(given)
    except InvalidInput as error:
        raise InvalidInput(f"facts[{place}]: {error}; nothing was saved") from error


def _checked(given: object) -> ExtractedFact:
    from engrain.learning.consolidation.extracted_facts import ExtractedFact
    from engrain.learning.consolidation.proposals import Statement

    if not isinstance(given, Mapping):
        raise InvalidInput(f"a fact must be an object, not {type(given).__name__}")
    for name in given:
        checks.choice(name, _FIELDS, name="field")
    says = Statement(
        subject=checks.name(given.get("subject"), name="subject"),
        predicate=checks.name(given.get("predicate"), name="predicate"),
        content=checks.content(given.get("content")),
        importance=checks.number(given.get("importance", 5.0), name="importance", low=0, high=10),
        confidence=checks.number(given.get("confidence", 1.0), name="confidence", low=0, high=1),
        permanence=checks.choice(given.get("permanence", "standard"), DECAY_RATES, name="permanence"),
        valid_from=checks.moment(given.get("valid_from"), name="valid_from"),
        tags=checks.names(given.get("tags"), name="tag"),
    )
    return ExtractedFact(says=says, source_ids=checks.names(given.get("source_ids"), name="source_id"))
