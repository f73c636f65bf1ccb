"""Runner: goes through a script step by step with one memory, and judges every reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from bench.everyday.judging import Reply, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.everyday.script import Aspect, Expectation, Script, Step


class Host(Protocol):
    """Host of one memory: does what a step says, as a program that uses the memory would."""

    aspects: frozenset[Aspect]  # those it can be judged by

    def store(self, step: Step) -> None:
        """Store the message of a step."""

    def ask(self, step: Step) -> Reply:
        """Search for the text of a step, and make the context block for it."""

    def perform(self, step: Step) -> Reply:
        """Do any other verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Judgement of one expectation of one memory; without an expectation, of a step that raised."""

    script: Script
    step: Step
    expectation: Expectation | None
    problem: str | None  # None where it holds

    @property
    def holds(self) -> bool:
        return self.problem is None


def judge_script(script: Script, host: Host) -> Iterator[Verdict]:
    """Yield a verdict for each expectation that the host can be judged by, and for each step that raised."""
    for step in script.steps:
        try:
            reply = _perform(step, host)
        except Exception as error:  # noqa: BLE001  # whatever it raises is judged
            problem = describe_error(error)
            reply = Reply(errors={expectation.aspect: problem for expectation in step.expectations})
            if not step.expectations:
                yield Verdict(script=script, step=step, expectation=None, problem=problem)
        for expectation in step.expectations:
            if expectation.aspect in host.aspects:
                yield Verdict(script=script, step=step, expectation=expectation, problem=judge(expectation, reply))


def describe_error(error: Exception) -> str:
    """Return the kind and the first line of an error."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _perform(step: Step, host: Host) -> Reply:
    match step.verb:
        case "ask":
            return host.ask(step)
        case "say":
            return _say(step, host)
        case "again":
            for number in range(step.times):
                _ask_again(step, host, number)
            return Reply()
        case _:
            return host.perform(step)


def _say(step: Step, host: Host) -> Reply:
    """Ask the memory about a message where something is expected, and store the message after or before."""
    if not step.expectations:
        host.store(step)
        return Reply()
    if "store" in step.settings:
        host.store(step)
        return host.ask(step)
    reply = host.ask(step)
    host.store(step)
    return reply


def _ask_again(step: Step, host: Host, number: int) -> None:
    """Ask a question in a session of its own, as a chat does: search, then store the question and the answer."""
    question = replace(step, session=f"{step.session}-{number + 1}", at=step.at + timedelta(days=number))
    host.ask(question)
    host.store(question)
    if step.answer:
        host.store(replace(question, role="assistant", speaker=None, text=step.answer))
