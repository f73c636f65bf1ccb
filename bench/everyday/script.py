"""Values of a script: its steps in order, and what each expects of the memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Verb = Literal[
    "say", "again", "ask", "remember", "correct", "confirm", "forget", "handle", "facts", "profile", "entity"
]
Aspect = Literal["hits", "evidence", "block", "facts", "handled"]
MOST_HITS = 10  # of each question
BUDGET_TOKENS = 500  # of a context block, where a script names no other
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)

TOPICS: Mapping[str, str] = {
    "plain": "something that was said once",
    "asked-before": "the same question again in new sessions",
    "unknown-answers": 'an assistant that said "I don\'t know"',
    "near-identical": "turns that say nearly the same",
    "corrections": "what was said wrong and put right",
    "moves": "what was true, and what is true now",
    "lists": "things of which a person has several",
    "preferences": "likes, dislikes and habits",
    "names": "people and things with several names",
    "users": "many users with facts of the same kind",
    "dates": "when something is true, was said or was believed",
    "small-talk": "greetings and thanks",
    "nothing-known": "questions that nothing in the memory answers",
    "forgetting": "what a user asks to forget",
    "one-place": "one statement in several words, by several ways",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Condition on the reply to one step: a name such as `first`, and the texts or the number it is about."""

    name: str
    aspect: Aspect
    line: int
    text: str  # as the script has it
    wanted: tuple[str, ...] = ()  # alternatives: one of them is enough
    before: tuple[str, ...] = ()  # alternatives of what has to come later
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One act of a host: a message to store, a question, or another verb of the library."""

    verb: Verb
    text: str
    line: int
    at: datetime
    session: str
    topic: str
    agent: str
    user: str | None = None
    role: Literal["user", "assistant", "tool"] = "user"
    speaker: str | None = None
    label: str | None = None
    times: int = 1  # of `again`: so many sessions, one a day
    answer: str = ""  # of `again`: the assistant's answer in each of them
    settings: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One scripted conversation."""

    kind: str
    name: str
    title: str
    steps: tuple[Step, ...]

    @property
    def id(self) -> str:
        """Kind and name, as they stand in a report and on the command line."""
        return f"{self.kind}/{self.name}"
