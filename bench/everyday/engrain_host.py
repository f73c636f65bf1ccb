"""Host of engrain: each step through the public library, with the clock of the script."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bench.everyday.judging import Reply
from bench.everyday.parsing import labels, split_parts
from bench.everyday.runner import describe_error
from bench.everyday.script import ASPECTS, BUDGET_TOKENS, MOST_HITS, Aspect
from engrain import Fact, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from types import TracebackType

    from bench.everyday.script import Script, Step
    from engrain import Agent, Answer
    from engrain.domain.ports import Embedder

_TIMES = {"as of": "as_of", "valid at": "valid_at"}
_PERIOD = {"from": "valid_from", "to": "valid_to"}

Result = TypeVar("Result")


class EngrainHost:
    """Host of engrain, in a tenant of the script's name."""

    aspects: frozenset[Aspect] = frozenset(ASPECTS)

    def __init__(self, script: Script, *, embedder: Embedder | None, location: str = ":memory:") -> None:
        """Open the memory at a location, as of the first step."""
        self._now: datetime = script.steps[0].at
        self._ids: dict[str, str] = {}
        self._tenant = script.id
        self._memory = Memory.open(location, embedder=embedder, clock=lambda: self._now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._memory.close(flush=False)

    def store(self, step: Step) -> None:
        """Store a message through the hooks, as a chat does."""
        receipt = self._agent(step).hooks.message(step.text, role=step.role, speaker=step.speaker)
        if step.label is not None and receipt.episode is not None:
            self._ids[step.label] = receipt.episode.id

    def ask(self, step: Step) -> Reply:
        """Recall, and build the block; each of the two may fail for itself.

        All that was stored has its vectors first: a slow machine would answer a conversation's first questions without.
        """
        self._memory.flush()
        agent, settings = self._agent(step), step.settings
        times = _chosen(step, _TIMES)
        narrowed: dict[str, Any] = {name: settings[name] for name in ("since", "until", "preset") if name in settings}
        budget = int(settings.get("budget", BUDGET_TOKENS))
        answer = _attempt(lambda: agent.recall(step.text, limit=MOST_HITS, **times, **narrowed))
        block = _attempt(lambda: agent.context(step.text, budget_tokens=budget, **times).text)
        errors: dict[Aspect, str] = {}
        if isinstance(answer, Exception):
            errors["hits"] = errors["evidence"] = describe_error(answer)
            reply = Reply()
        else:
            reply = _show_answer(answer)
        if isinstance(block, Exception):
            errors["block"] = describe_error(block)
            return replace(reply, errors=errors)
        return replace(reply, block=block, errors=errors)

    def perform(self, step: Step) -> Reply:
        """Do any other verb."""
        agent = self._agent(step)
        match step.verb:
            case "remember":
                self._label(step, self._remember(agent, step).id)
            case "correct":
                assert step.label is not None
                fact = agent.correct(self._ids[step.label], step.text, **_chosen(step, _PERIOD))
                self._label(step, fact.id)
            case "confirm":
                self._each(step, agent.confirm)
            case "forget":
                self._each(step, agent.forget)
            case "handle":
                return self._handle(agent, step)
            case "facts":
                subject, *predicate = split_parts(step.text)
                found = agent.facts(subject, *predicate, **_chosen(step, _TIMES))
                return Reply(facts=_statements(found.items))
            case "profile":
                profile = agent.entities.profile(step.text)
                facts = (fact for history in profile.facts.values() for fact in history if fact.validity == "active")
                return Reply(facts=_statements(facts))
            case "entity":
                self._create_entity(agent, step)
            case "say" | "again" | "ask":
                raise AssertionError(step.verb)
        return Reply()

    def _agent(self, step: Step) -> Agent:
        """Return the agent of a step at its time, acting for its user."""
        self._now = step.at
        return self._memory.agent(step.agent, user=step.user, session=step.session, tenant=self._tenant)

    def _remember(self, agent: Agent, step: Step) -> Fact:
        subject, predicate, content = [*[None] * 2, *split_parts(step.text)][-3:]
        assert content is not None
        arguments = _chosen(step, _PERIOD | {"scope": "scope", "permanence": "permanence"})
        if "learned from" in step.settings:
            arguments["source_episode_id"] = self._ids[step.settings["learned from"]]
        return agent.remember(content, subject=subject, predicate=predicate, **arguments)

    def _handle(self, agent: Agent, step: Step) -> Reply:
        handled = agent.handle(step.text, speaker=step.settings.get("speaker"))
        kept = handled.kept
        if kept is not None:
            self._label(step, kept.id)
        shown = json.dumps(handled.to_dict())
        named = frozenset(label for label, id_ in self._ids.items() if id_ in shown)
        if handled.answer is None:
            return Reply(handled=named)
        return replace(_show_answer(handled.answer), handled=named)

    def _create_entity(self, agent: Agent, step: Step) -> None:
        name, kind = split_parts(step.text)
        aliases = labels(step.settings["aliases"]) if "aliases" in step.settings else ()
        create: Callable[..., object] = agent.entities.create
        create(name, kind, aliases=aliases)

    def _label(self, step: Step, id_: str) -> None:
        if step.label is not None:
            self._ids[step.label] = id_

    def _each(self, step: Step, verb: Callable[[str], object]) -> None:
        for label in labels(step.text):
            verb(self._ids[label])


def _attempt(call: Callable[[], Result]) -> Result | Exception:
    """Return the result of a call, or what it raised."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # whatever it raises is judged
        return error


def _show_answer(answer: Answer) -> Reply:
    """Return the hits and the evidence of an answer; a fact's text is its statement."""
    hits = (hit.memory.statement if isinstance(hit.memory, Fact) else hit.memory.content for hit in answer)
    return Reply(hits=tuple(hits), evidence=answer.evidence, evidence_score=answer.evidence_score)


def _statements(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(fact.statement for fact in facts)


def _chosen(step: Step, names: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a verb for those settings that a step has."""
    return {argument: step.settings[name] for name, argument in names.items() if name in step.settings}
