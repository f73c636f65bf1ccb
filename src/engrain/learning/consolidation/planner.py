"""What of a model's proposals is done: proven ones, each once, within bounds, and never beyond what was shown. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from engrain.domain.ids import derived_id
from engrain.domain.records import DECAY_RATES, Fact, Rule
from engrain.domain.runs.plans import Action, Plan, Rejection
from engrain.domain.text.categories import fact_category
from engrain.learning.consolidation.equivalence import (
    are_equivalent,
    are_similar_predicates,
    is_same_name,
    is_same_statement,
)
from engrain.learning.consolidation.evidence import FLAWS, instructs, prove, recognise
from engrain.learning.consolidation.folding import fold
from engrain.learning.consolidation.proposals import Guidance, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.records import Caller, Permanence
    from engrain.learning.consolidation.echoes import EpisodeText
    from engrain.learning.consolidation.evidence import Proof
    from engrain.learning.consolidation.proposals import ConsolidationResult, Proposal

# A reply that was talked into it cannot flood a memory: so many actions of a batch, whatever it proposes.
ACTIONS_AN_EPISODE, LEAST_ACTIONS = 3, 10
# What only an assistant or a tool has said is believed a little less.
HEARSAY_CONFIDENCE = 0.8
RULE_EPISODES = 2
# Where a learned fact's metadata says when the newest of its sources was said.
SAID_AT = "said_at"
_MOST_SOURCE = 300

_REASONS: Mapping[str, str] = {
    **FLAWS,
    "duplicate": "the same reply says it already",
    "too_many": "the batch has its most actions already",
    "unknown_target": "its target was not shown, or is of another kind",
    "other_scope": "its target is not in the scope that is learned into, and was left alone; a new fact stands there",
    "too_little_evidence": "a rule needs two episodes that bear it out, or an explicit instruction of a user's",
    "anti_pattern": "following it did harm before",
    "outdated": "something that was said later holds its place",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemories:
    """What is known already: `shown` in the prompt, in its order, and what else searches found for the proposals."""

    shown: tuple[Fact | Rule, ...] = ()
    found: tuple[Fact | Rule, ...] = ()

    @property
    def facts(self) -> list[Fact]:
        return [each for each in (*self.shown, *self.found) if isinstance(each, Fact)]

    @property
    def rules(self) -> list[Rule]:
        return [each for each in (*self.shown, *self.found) if isinstance(each, Rule)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """Who learns from what, into which scope, and when. `heard`: the episodes by their names in the prompt."""

    caller: Caller
    scope: str
    heard: Mapping[str, EpisodeText]
    known: KnownMemories
    now: datetime

    @property
    def most_actions(self) -> int:
        return max(LEAST_ACTIONS, ACTIONS_AN_EPISODE * len(self.heard))


class _Refused(Exception):
    """One proposal is not done, for a reason of `_REASONS`; never leaves this module."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class _Draft:
    """A plan in the making."""

    actions: list[Action] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    said: set[tuple[str, ...]] = field(default_factory=set)

    def once(self, *words: str) -> None:
        """Note what is said, the first time."""
        key = tuple(map(fold, words))
        if key in self.said:
            raise _Refused("duplicate")
        self.said.add(key)

    def reject(self, proposal: Proposal, reason: str) -> None:
        self.rejected.append(Rejection(kind=proposal.kind, reason=reason, said=_REASONS[reason]))


def make_plan(result: ConsolidationResult, lesson: BatchContext) -> Plan:
    """The actions for a batch of episodes: facts in the order in which they were said, then rules, confirmations.

    A proposal is done where its quotes hold. What is known already is confirmed; what stands in its place is left to
    the store, which supersedes it; facts elsewhere in the scope that it speaks against are doubted. Only what was shown
    can be updated or confirmed. All ids are derived, so the same reply to the same episodes adds nothing.
    """
    draft = _Draft()
    for proposal in result:
        try:
            _consider(proposal, lesson, draft)
        except _Refused as refusal:
            draft.reject(proposal, refusal.reason)
    return Plan(
        episode_ids=tuple(heard.episode.id for heard in lesson.heard.values()),
        actions=tuple(sorted(draft.actions, key=_order)),
        rejected=tuple(draft.rejected),
        parse_errors=result.parse_errors,
    )


def read_statement_time(fact: Fact) -> datetime:
    """When what a fact says was said, as far as is known: by the newest of its sources, else when it was stored."""
    told = fact.metadata.get(SAID_AT)
    if not isinstance(told, str):
        return fact.created_at
    try:
        moment = datetime.fromisoformat(told)
    except ValueError:
        return fact.created_at
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def list_conflicting(said: Fact, known: Sequence[Fact]) -> list[Fact]:
    """Active facts that say otherwise of the same from another place: of its subject, with an alike predicate."""
    return [
        each
        for each in known
        if each.id != said.id
        and each.validity == "active"
        and each.place != said.place
        and (is_same_name(each.subject, said.subject) or (said.entity_id and each.entity_id == said.entity_id))
        and are_similar_predicates(each.predicate, said.predicate)
        and not are_equivalent(each.content, said.content)
    ]


def list_contradicted(said: Fact, known: Sequence[Fact]) -> list[Fact]:
    """What a fact casts doubt on: what conflicts with it in its own scope, unless that was said later."""
    found = list_conflicting(said, known)
    return [
        each for each in found if each.scope == said.scope and read_statement_time(each) <= read_statement_time(said)
    ]


def _consider(proposal: Proposal, lesson: BatchContext, draft: _Draft) -> None:
    if len(draft.actions) >= lesson.most_actions:
        raise _Refused("too_many")
    match proposal.says:
        case Statement() as said:
            _fact(proposal, said, lesson, draft)
        case Guidance() as said:
            _rule(proposal, said, lesson, draft)
        case None:
            _confirmation(proposal, lesson, draft)


def _fact(proposal: Proposal, said: Statement, lesson: BatchContext, draft: _Draft) -> None:
    target = _target(proposal, lesson) if proposal.kind == "updated_fact" else None
    proof = _proven(proposal, lesson)
    draft.once(said.subject, said.predicate, said.content)
    if isinstance(target, Rule):
        raise _Refused("unknown_target")
    if target is not None and target.scope != lesson.scope:
        draft.reject(proposal, "other_scope")
        target = None
    same = [each for each in lesson.known.facts if each.validity == "active" and is_same_statement(each, said)]
    if same:
        # Where both scopes know it, one's own is what fades.
        known = min(same, key=lambda each: (each.scope != lesson.scope, each.created_at, each.id))
        draft.once("confirmed", known.id)
        draft.actions.append(Action(kind="confirmation", target_id=known.id, sources=_ids(proof)))
        return
    fact = _made(said, proof, lesson)
    holder = next((each for each in lesson.known.facts if each.validity == "active" and each.place == fact.place), None)
    before = [each for each in (holder, target) if each is not None]
    if any(read_statement_time(each) > read_statement_time(fact) for each in before):
        raise _Refused("outdated")
    doubts = [each.id for each in list_contradicted(fact, lesson.known.facts) if each not in before]
    draft.actions.append(
        Action(
            kind="new_fact" if target is None else "updated_fact",
            memory=fact,
            target_id=None if target is None else target.id,
            sources=_ids(proof),
            doubts=tuple(dict.fromkeys(doubts)),
        )
    )


def _made(said: Statement, proof: Proof, lesson: BatchContext) -> Fact:
    """The fact of a proven statement, in the spelling of whatever holds its place."""
    caller, latest = lesson.caller, proof.episodes[-1]
    subject, predicate, entity_id = _spelled(said, lesson)
    is_first_hand = any(each.role in {"user", "system"} for each in proof.episodes)
    permanence = said.permanence if is_first_hand or said.permanence != "permanent" else _LESS_THAN_PERMANENT
    words = (fold(subject), fold(predicate), fold(said.content))
    return Fact(
        id=derived_id(
            *(caller.tenant_id, caller.agent, "consolidated fact", lesson.scope, *sorted(_ids(proof)), *words),
            at=max(each.created_at for each in proof.episodes),
        ),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=lesson.scope,
        subject=subject,
        predicate=predicate,
        entity_id=entity_id,
        content=said.content,
        category=fact_category(predicate, said.content),
        source=proof.quotes[0].quote[:_MOST_SOURCE],  # it stays when the episode is gone
        confidence=said.confidence if is_first_hand else min(said.confidence, HEARSAY_CONFIDENCE),
        importance=said.importance,
        permanence=permanence,
        decay_rate=DECAY_RATES[permanence],
        valid_from=said.valid_from or proof.episodes[0].event_time,
        created_at=lesson.now,
        source_episode_id=latest.id,
        last_confirmed_at=lesson.now,
        tags=said.tags,
        metadata={SAID_AT: latest.event_time.isoformat()},
    )


_LESS_THAN_PERMANENT: Permanence = "stable"


def _spelled(said: Statement, lesson: BatchContext) -> tuple[str, str, str | None]:
    """Subject, predicate and entity as facts about the same have them, so that one place has one spelling."""
    about = [each for each in lesson.known.facts if is_same_name(each.subject, said.subject)]
    here = [each for each in about if each.scope == lesson.scope and is_same_name(each.predicate, said.predicate)]
    if here:
        return here[0].subject, here[0].predicate, here[0].entity_id
    entities = {each.entity_id for each in about if each.entity_id is not None}
    return said.subject, said.predicate, entities.pop() if len(entities) == 1 else None


def _rule(proposal: Proposal, said: Guidance, lesson: BatchContext, draft: _Draft) -> None:
    proof = _proven(proposal, lesson)
    draft.once("rule", said.content)
    if len(proof.episodes) < RULE_EPISODES and not instructs(proof, lesson.heard):
        raise _Refused("too_little_evidence")
    for known in lesson.known.rules:
        if known.maturity == "anti_pattern":
            if are_equivalent(str(known.metadata.get("original_content", "")), said.content):
                raise _Refused("anti_pattern")
        elif not known.is_forgotten and are_equivalent(known.content, said.content):
            draft.once("confirmed", known.id)
            draft.actions.append(Action(kind="confirmation", target_id=known.id, sources=_ids(proof)))
            return
    caller = lesson.caller
    rule = Rule(
        id=derived_id(
            *(caller.tenant_id, caller.agent, "consolidated rule", lesson.scope, *sorted(_ids(proof))),
            fold(said.content),
            at=max(each.created_at for each in proof.episodes),
        ),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=lesson.scope,
        content=said.content,
        source_episode_id=proof.episodes[-1].id,
        created_at=lesson.now,
        last_confirmed_at=lesson.now,
        tags=said.tags,
        metadata={SAID_AT: proof.episodes[-1].event_time.isoformat()},
    )
    draft.actions.append(Action(kind="new_rule", memory=rule, sources=_ids(proof)))


def _confirmation(proposal: Proposal, lesson: BatchContext, draft: _Draft) -> None:
    target = _target(proposal, lesson)
    if isinstance(target, Rule) and target.maturity == "anti_pattern":
        raise _Refused("unknown_target")
    proof = _proven(proposal, lesson, target=target)
    draft.once("confirmed", target.id)
    draft.actions.append(Action(kind="confirmation", target_id=target.id, sources=_ids(proof)))


def _target(proposal: Proposal, lesson: BatchContext) -> Fact | Rule:
    """What was shown under the id; nothing else is one's to change, whatever its id."""
    for each in lesson.known.shown:
        if each.id == proposal.target_id:
            return each
    raise _Refused("unknown_target")


def _proven(proposal: Proposal, lesson: BatchContext, *, target: Fact | Rule | None = None) -> Proof:
    if proposal.evidence is not None:
        proof = prove(proposal.evidence, lesson.heard)
    elif target is not None:
        said = f"{target.subject} {target.predicate} {target.content}" if isinstance(target, Fact) else target.content
        proof = recognise(said, list(lesson.heard.values()))
    else:
        raise _Refused("no_evidence")
    if proof.flaw is not None:
        raise _Refused(proof.flaw)
    return proof


def _ids(proof: Proof) -> tuple[str, ...]:
    return tuple(each.id for each in proof.episodes)


def _order(action: Action) -> tuple[int, Any]:
    """Facts by when they were said, so that of two in one place the later one stands; the rest as proposed."""
    if isinstance(action.memory, Fact):
        return 0, read_statement_time(action.memory)
    return (1 if action.kind == "new_rule" else 2), 0
