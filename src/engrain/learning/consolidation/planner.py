"""Planner: turns proven proposals of a model into actions, each once, within bounds, on known memories only. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.checks import MAX_NAME_LENGTH
from engrain.domain.ids import derived_id
from engrain.domain.memories.fact_keys import project_of, subject_key
from engrain.domain.memories.lineage import inherit_project
from engrain.domain.memories.predicates import is_in_vocabulary, predicate_key
from engrain.domain.memories.statement_times import SAID_AT
from engrain.domain.memories.trust import (
    PENDING_LEVELS,
    TRUST_LEVELS,
    TrustLevel,
    levels_from,
    lowest_trust,
    with_trust,
)
from engrain.domain.records import Caller, Episode, Fact, Rule
from engrain.domain.runs.plans import Action, Plan, Rejection
from engrain.learning.consolidation.equivalence import are_equivalent, fold, is_same_name, is_same_statement
from engrain.learning.consolidation.evidence import (
    FLAWS,
    Proof,
    is_caption,
    is_instruction,
    list_sentences,
    prove,
    prove_by_words,
)
from engrain.learning.consolidation.learned_facts import (
    build_fact,
    describe,
    list_conflicting,
    read_project,
    read_statement_time,
)
from engrain.learning.consolidation.proposals import ConsolidationResult, Guidance, Proposal, Statement
from engrain.learning.grounding import Unsupported, Words, find_unsupported, is_about, share_most_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from engrain.learning.consolidation.echoes import EpisodeText

# A reply that was talked into it cannot flood a memory: so many actions of a batch, whatever it proposes.
ACTIONS_AN_EPISODE, LEAST_ACTIONS = 3, 10
# A statement that only an assistant or a tool has made is believed a little less.
HEARSAY_CONFIDENCE = 0.8
# What only the caption of a photo shows.
PHOTO_CONFIDENCE = 0.6
RULE_EPISODES = 2
# The key of a fact's metadata for why it took the place of another.
UPDATE_REASON = "update_reason"
_MOST_SOURCE = 300

_REASONS: Mapping[str, str] = {
    **FLAWS,
    "duplicate": "the same reply says it already",
    "too_many": "the batch has its most actions already",
    "unknown_target": "its target was not shown, or is of another kind",
    "other_scope": "its target is not in the scope that is learned into, and was left alone; a new fact stands there",
    "too_little_evidence": "a rule needs two episodes that bear it out, or an explicit instruction of a user's",
    "anti_pattern": "following it did harm before",
    "other_subject": "only a correction may be about another subject; a new fact stands beside its target",
    "other_project": "its target is of another project, and was left alone; a new fact stands beside it",
    "hearsay": "only an assistant, a tool or the model itself says it, which makes no rule",
    "unsupported_name": "its quotes do not say a name or an address that it has",
    "unsupported_number": "its quotes do not say a number that it has",
    "unsupported_date": "its quotes do not say a date that it has, and none follows from them",
    "outdated": "something that was said later holds its place",
    "forgotten": "somebody forgot it after it was said",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemories:
    """Facts and rules known already: `shown` in the prompt, in its order, and `related`, found for the proposals.

    What was `forgotten` since the batch was said is not learned from it again.
    """

    shown: tuple[Fact | Rule, ...] = ()
    related: tuple[Fact | Rule, ...] = ()
    forgotten: tuple[Fact | Rule, ...] = ()

    def find_shown(self, name: str | None) -> Fact | Rule | None:
        """Find a memory by its name in the prompt (k1 is the first that was shown), or by its id."""
        for number, memory in enumerate(self.shown, 1):
            if name in {f"k{number}", memory.id}:
                return memory
        return None

    @property
    def facts(self) -> list[Fact]:
        return [memory for memory in (*self.shown, *self.related) if isinstance(memory, Fact)]

    @property
    def rules(self) -> list[Rule]:
        return [memory for memory in (*self.shown, *self.related) if isinstance(memory, Rule)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """The batch that proposals are judged by: caller, scope, time, its episodes by their names in the prompt."""

    caller: Caller
    scope: str
    episodes: Mapping[str, EpisodeText]
    known: KnownMemories
    now: datetime
    earlier: tuple[Episode, ...] = ()  # turns before the batch, which name who is meant

    @property
    def most_actions(self) -> int:
        return max(LEAST_ACTIONS, ACTIONS_AN_EPISODE * len(self.episodes))


class _Refused(Exception):
    """One proposal is not done, for a reason of `_REASONS`; never leaves this module."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def make_plan(result: ConsolidationResult, context: BatchContext) -> Plan:
    """The actions for a batch of episodes: facts in the order of their statements, then rules, confirmations.

    A proposal is done where its quotes hold. A known statement is confirmed; the fact in its slot is left to the store,
    which supersedes it, unless the model knew it and states the new one beside it (`_stand_beside`); facts elsewhere in
    the scope that it speaks against are doubted. Only memories that were shown
    can be updated or confirmed. All ids are derived, so the same reply to the same episodes adds nothing.
    """
    draft = _Draft(context)
    for proposal in result:
        try:
            draft.add(proposal)
        except _Refused as refusal:
            draft.reject(proposal, refusal.reason)
    return Plan(
        episode_ids=tuple(text.episode.id for text in context.episodes.values()),
        actions=tuple(sorted(draft.actions, key=_order)),
        rejected=tuple(draft.rejected),
        parse_errors=result.parse_errors,
    )


def list_slot_facts(result: ConsolidationResult, context: BatchContext) -> list[Fact]:
    """List facts in the slots that statements may come to be in, to be locked before they are judged, not stored."""
    caller, facts = context.caller, list[Fact]()
    for statement in [proposal.says for proposal in result if isinstance(proposal.says, Statement)]:
        subject, predicate, entity_id = _spelling(statement, context)
        said = Fact(
            id="",
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=context.scope,
            subject=statement.subject,
            predicate=statement.predicate,
            content="",
            created_at=context.now,
        )
        spelled = replace(said, subject=subject, predicate=predicate, entity_id=entity_id)
        facts += [said, spelled, replace(spelled, predicate=_with_date(statement, context).predicate)]
    episodes = [text.episode for text in context.episodes.values()]
    projects = {inherit_project((), [episode]) for episode in episodes}
    projects = projects if len(projects) == 1 else {(), *projects}
    return [replace(fact, tags=tags) for fact in facts[: 3 * context.most_actions] for tags in sorted(projects)]


@dataclass(slots=True)
class _Draft:
    """A plan in the making."""

    context: BatchContext
    actions: list[Action] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    _done: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, proposal: Proposal) -> None:
        """Add the actions of a proposal.

        Raises:
            _Refused: it is not done.
        """
        if len(self.actions) >= self.context.most_actions:
            raise _Refused("too_many")
        match proposal.says:
            case Statement() as statement:
                self._add_fact(proposal, statement)
            case Guidance() as guidance:
                self._add_rule(proposal, guidance)
            case None:
                self._add_confirmation(proposal)

    def reject(self, proposal: Proposal, reason: str) -> None:
        self.rejected.append(Rejection(kind=proposal.kind, reason=reason, said=_REASONS[reason]))

    def _add_fact(self, proposal: Proposal, statement: Statement) -> None:
        context = self.context
        target = self._target(proposal) if proposal.kind == "updated_fact" else None
        if isinstance(target, Rule):
            raise _Refused("unknown_target")
        proof, trust = self._support(self._prove(proposal), statement.content, subject=statement.subject, target=target)
        statement = replace(statement, tags=inherit_project(statement.tags, proof.episodes))
        self._do_once(statement.subject, statement.predicate, statement.content, read_project(statement))
        self._check_forgotten(proof, lambda fact: isinstance(fact, Fact) and is_same_statement(fact, statement))
        target = self._choose_target(proposal, statement, target, trust)
        if target is not None:
            statement = replace(statement, tags=inherit_project(statement.tags, [target]))
        active = [fact for fact in context.known.facts if fact.validity == "active"]
        of_project = [fact for fact in active if read_project(fact) == read_project(statement)]
        same = [fact for fact in of_project if is_same_statement(fact, statement)]
        if trust not in PENDING_LEVELS and same and all(fact.is_pending for fact in same):
            target, same = same[0], []  # a user says now what only others have said
        if target is not None:  # a model that updates a fact says that it differs, if by one word
            same = [fact for fact in same if fold(fact.content) == fold(statement.content)]
        if same:
            # Where both scopes know it, one's own is what fades.
            self._confirm(min(same, key=lambda fact: (fact.scope != context.scope, fact.created_at, fact.id)), proof)
            return
        fact, beside = _build_fact(statement, proof, trust, context), list[Fact]()
        if target is None:
            fact, beside = self._stand_beside(fact, statement, proof)
        else:
            fact = _as_update(fact, target, proposal)
        holder = next((other for other in active if other.slot == fact.slot), None)
        before = [other for other in (holder, target) if other is not None]
        if any(read_statement_time(other) > read_statement_time(fact) for other in before):
            raise _Refused("outdated")
        others = [other for other in active if other not in (*before, *beside)]
        self.actions.append(
            Action(
                kind="new_fact" if target is None else "updated_fact",
                memory=fact,
                target_id=None if target is None else target.id,
                sources=_ids(proof),
                doubts=_list_doubts(fact, others),
            )
        )

    def _stand_beside(self, fact: Fact, statement: Statement, proof: Proof) -> tuple[Fact, list[Fact]]:
        """The fact in a slot of its own beside those that the model knew when it stated it as new, and these.

        That is so for predicates of which nobody knows how many values they have; it would have updated what it denies.
        """
        if is_in_vocabulary(fact.key.predicate):
            return fact, []
        stated = [action.memory for action in self.actions]
        beside = [
            memory
            for memory in (*self.context.known.shown, *stated)
            if isinstance(memory, Fact) and not is_in_vocabulary(memory.key.predicate)
        ]
        if any(other.slot == fact.slot for other in beside):
            fact = _build_fact(_with_date(statement, self.context), proof, fact.trust, self.context)
        return fact, beside

    def _choose_target(
        self, proposal: Proposal, statement: Statement, target: Fact | None, trust: TrustLevel
    ) -> Fact | None:
        """The fact that an update takes the place of; None where the new fact is to stand beside it."""
        if target is None:
            return None
        if target.scope != self.context.scope:
            self.reject(proposal, "other_scope")
            return None
        if proposal.reason != "corrected" and not is_same_name(target.subject, statement.subject):
            self.reject(proposal, "other_subject")
            return None
        if read_project(statement) and read_project(target) not in {"", read_project(statement)}:
            self.reject(proposal, "other_project")
            return None
        return None if trust in PENDING_LEVELS and not target.is_pending else target  # it waits beside a user's

    def _add_rule(self, proposal: Proposal, guidance: Guidance) -> None:
        context = self.context
        proof, trust = self._support(self._prove(proposal), guidance.content)
        guidance = replace(guidance, tags=inherit_project(guidance.tags, proof.episodes))
        self._do_once("rule", guidance.content, project_of(guidance.tags))
        self._check_forgotten(proof, lambda rule: are_equivalent(rule.content, guidance.content))
        if len(proof.episodes) < RULE_EPISODES and not is_instruction(proof, context.episodes):
            raise _Refused("too_little_evidence")
        if proof.trust in PENDING_LEVELS:
            raise _Refused("hearsay")
        for known in context.known.rules:
            if known.maturity == "anti_pattern":
                if are_equivalent(str(known.metadata.get("original_content", "")), guidance.content):
                    raise _Refused("anti_pattern")
            elif (
                not known.is_forgotten
                and project_of(known.tags) == project_of(guidance.tags)
                and are_equivalent(known.content, guidance.content)
            ):
                self._confirm(known, proof)
                return
        if trust in PENDING_LEVELS:
            raise _Refused("hearsay")
        self.actions.append(Action(kind="new_rule", memory=_build_rule(guidance, proof, context), sources=_ids(proof)))

    def _add_confirmation(self, proposal: Proposal) -> None:
        target = self._target(proposal)
        if isinstance(target, Rule) and target.maturity == "anti_pattern":
            raise _Refused("unknown_target")
        self._confirm(target, self._prove(proposal, target=target))

    def _confirm(self, memory: Fact | Rule, proof: Proof) -> None:
        self._do_once("confirmed", memory.id)
        self.actions.append(Action(kind="confirmation", target_id=memory.id, sources=_ids(proof)))

    def _check_forgotten(self, proof: Proof, says_same: Callable[[Fact | Rule], bool]) -> None:
        """Refuse what somebody has forgotten since all of the proof was said."""
        said_at = max(episode.created_at for episode in proof.episodes)
        for memory in self.context.known.forgotten:
            if memory.invalidated_at is not None and memory.invalidated_at >= said_at and says_same(memory):
                raise _Refused("forgotten")

    def _do_once(self, *words: str) -> None:
        """Note what is done, the first time."""
        key = tuple(map(fold, words))
        if key in self._done:
            raise _Refused("duplicate")
        self._done.add(key)

    def _target(self, proposal: Proposal) -> Fact | Rule:
        """The memory that was shown under the name; no other may be changed, whatever its id."""
        memory = self.context.known.find_shown(proposal.target_id)
        if memory is None:
            raise _Refused("unknown_target")
        return memory

    def _support(
        self, proof: Proof, content: str, *, subject: str | None = None, target: Fact | None = None
    ) -> tuple[Proof, TrustLevel]:
        """The most trusted of the quotes that say all that a content has, and how far it is trusted.

        Where they speak of something else, or its subject is nobody who was named, the content is the model's own; and
        that of a rule, which has no subject, where they have not most of its words.

        Raises:
            _Refused: not even all of them together do.
        """
        flaw: Unsupported | None = None
        loose: tuple[Proof, TrustLevel] | None = None
        levels = sorted({episode.trust for episode in proof.episodes}, key=TRUST_LEVELS.index, reverse=True)
        for level in levels:
            part = _restrict(proof, levels_from(level), self.context)
            if not part.quotes and proof.quotes:
                continue
            said = _read_quotes(part, self.context, target)
            names = _list_names(levels_from(level), self.context)
            flaw = find_unsupported(content, said, names=names)
            is_meant = (
                share_most_words(content, said) if subject is None else is_about(subject, content, said, names=names)
            )
            if flaw is None and is_meant:
                return part, level
            if flaw is None and loose is None:
                loose = part, lowest_trust((level, "assistant"))
        if loose is None:
            raise _Refused(flaw or "no_evidence")
        return loose

    def _prove(self, proposal: Proposal, *, target: Fact | Rule | None = None) -> Proof:
        if proposal.evidence is not None:
            proof = prove(proposal.evidence, self.context.episodes)
        elif target is not None:
            proof = prove_by_words(describe(target), self.context.episodes.values())
        else:
            raise _Refused("no_evidence")
        if proof.flaw is not None:
            raise _Refused(proof.flaw)
        return proof


def _restrict(proof: Proof, levels: Collection[TrustLevel], context: BatchContext) -> Proof:
    """The part of a proof that episodes of some trust levels give."""
    quotes = tuple(quote for quote in proof.quotes if context.episodes[quote.episode].episode.trust in levels)
    return Proof(tuple(episode for episode in proof.episodes if episode.trust in levels), quotes)


def _read_quotes(proof: Proof, context: BatchContext, target: Fact | None) -> list[Words]:
    """The sentences in which the quotes of a proof stand; what an update refines is proven already."""
    said = [
        Words(sentence, context.episodes[quote.episode].episode.event_time)
        for quote in proof.quotes
        for sentence in list_sentences(quote, context.episodes)
    ]
    proven = [] if target is None else [Words(fold(target.content), read_statement_time(target))]
    return [*said, *proven]


def _list_names(levels: Collection[TrustLevel], context: BatchContext) -> str:
    """Words in which a name may stand: of turns and known facts of some trust levels, and of who speaks there."""
    caller = context.caller
    turns = [*context.earlier, *(text.episode for text in context.episodes.values())]
    said = [f"{turn.speaker or ''} {turn.content}" for turn in turns if turn.trust in levels]
    known = [f"{fact.subject} {fact.content}" for fact in context.known.facts if fact.trust in levels]
    return " ".join(["user assistant", caller.agent, caller.user or "", *said, *known])


def _list_doubts(fact: Fact, others: Sequence[Fact]) -> tuple[str, ...]:
    """List the facts that a new one speaks against; what waits itself speaks against others that wait alone."""
    doubted = list_conflicting(fact, [other for other in others if other.is_pending or not fact.is_pending])
    said_at = read_statement_time(fact)
    earlier = [other for other in doubted if other.scope == fact.scope and read_statement_time(other) <= said_at]
    return tuple(dict.fromkeys(other.id for other in earlier))


def _build_fact(statement: Statement, proof: Proof, trust: TrustLevel, context: BatchContext) -> Fact:
    """The fact of a proven statement, in the spelling and with the entity of the fact in its slot."""
    subject, predicate, entity_id = _spelling(statement, context)
    changes: dict[str, Any] = {"subject": subject, "predicate": predicate}
    if trust in PENDING_LEVELS:
        changes["confidence"] = min(statement.confidence, HEARSAY_CONFIDENCE)
        if statement.permanence == "permanent":
            changes["permanence"] = "stable"
    if all(is_caption(quote, context.episodes) for quote in proof.quotes):
        changes["confidence"] = min(changes.get("confidence", statement.confidence), PHOTO_CONFIDENCE)
    fact = build_fact(
        replace(statement, **changes),
        proof.episodes,
        context.caller,
        scope=context.scope,
        origin="consolidated fact",
        at=context.now,
    )
    metadata = with_trust(fact.metadata, trust)
    # The source stays when the episode is gone.
    return replace(fact, entity_id=entity_id, source=proof.quotes[0].quote[:_MOST_SOURCE], metadata=metadata)


def _as_update(fact: Fact, target: Fact, proposal: Proposal) -> Fact:
    """The fact with the reason of the update; one that is only more exact holds since its target did."""
    kept_since = target.valid_from if proposal.reason == "refined" else None
    reason = {} if proposal.reason is None else {UPDATE_REASON: proposal.reason}
    return replace(fact, valid_from=fact.valid_from or kept_since, metadata={**fact.metadata, **reason})


def _with_date(statement: Statement, context: BatchContext) -> Statement:
    """The statement in a slot of its own, by when it began or was said: two events or beliefs do not share one."""
    *_, last = context.episodes.values()
    since = statement.valid_from or last.episode.event_time
    return replace(statement, predicate=f"{statement.predicate} ({since.date()})"[:MAX_NAME_LENGTH])


def _spelling(statement: Statement, context: BatchContext) -> tuple[str, str, str | None]:
    """Subject, predicate and entity as facts about the same have them, so that one slot has one spelling."""
    about = [fact for fact in context.known.facts if subject_key(fact.subject) == subject_key(statement.subject)]
    for fact in about:
        if fact.scope == context.scope and predicate_key(fact.predicate) == predicate_key(statement.predicate):
            return fact.subject, fact.predicate, fact.entity_id
    entities = {fact.entity_id for fact in about if fact.entity_id is not None}
    return statement.subject, statement.predicate, entities.pop() if len(entities) == 1 else None


def _build_rule(guidance: Guidance, proof: Proof, context: BatchContext) -> Rule:
    caller, scope = context.caller, context.scope
    return Rule(
        id=derived_id(
            *(caller.tenant_id, caller.agent, "consolidated rule", scope, *sorted(_ids(proof)), fold(guidance.content)),
            at=max(episode.created_at for episode in proof.episodes),
        ),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=scope,
        content=guidance.content,
        source_episode_id=proof.episodes[-1].id,
        created_at=context.now,
        last_confirmed_at=context.now,
        tags=guidance.tags,
        metadata=with_trust({SAID_AT: proof.episodes[-1].event_time.isoformat()}, proof.trust),
    )


def _ids(proof: Proof) -> tuple[str, ...]:
    return tuple(episode.id for episode in proof.episodes)


def _order(action: Action) -> tuple[int, Any]:
    """Sort key: facts by statement time, so that of two in one slot the later one stands; the rest as proposed."""
    if isinstance(action.memory, Fact):
        return 0, read_statement_time(action.memory)
    return (1 if action.kind == "new_rule" else 2), 0
