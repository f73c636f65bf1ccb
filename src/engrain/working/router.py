"""Router: the destination of an input, by its role and its English words alone. Pure; no model is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.memories.routing import Routing

if TYPE_CHECKING:
    from engrain.domain.records import Role

# A fact takes the place of what was true of the same before: only what somebody has one of becomes one unasked.
_OWN = re.compile(
    r"(?:my|our) (?P<predicate>[\w' -]{1,60}?) (?:is|are) (?:now )?(?P<content>.+)"
    r"|i (?:now )?(?P<verb>live in|live at|work at|work for|work as|am called) (?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_OF_ANOTHER = re.compile(
    r"(?P<subject>[^\W\d_][\w.'-]*(?: [A-Z][\w.'-]*){0,3}) "
    r"(?P<predicate>lives in|lives at|works at|works for|works as|is called|is) (?P<content>.+)",
    re.DOTALL,
)
_REMEMBER = re.compile(r"(?:please )?(?:remember|fact)(?: that|:) (?P<content>.+)", re.IGNORECASE | re.DOTALL)
_NOTE = re.compile(
    r"(?:please )?(?:note|save) (?:as )?(?P<key>[\w./-]+(?::[\w./-]+)*)(?:: | = )(?P<content>.+)",
    re.IGNORECASE | re.DOTALL,
)
_RULE = re.compile(
    r"(?:rule: (?P<content>.+)|(?:please )?(?:always|never|from now on|whenever|make sure (?:to|that)|every time)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION = re.compile(
    r"(?:who|whom|whose|what|what's|when|where|where's|why|how|which|do you (?:remember|know|recall)|recall|tell me)\b",
    re.IGNORECASE,
)
_SCRATCH = re.compile(r"(?:thinking|scratch|scratchpad|plan|todo): ", re.IGNORECASE)


def route(content: str, *, role: Role = "user", speaker: str | None = None) -> Routing:
    """The destination of cleaned text; the first that holds: working, note, rule said to be one, recall, rule, fact.

    What is none of them is an episode: what happened, word for word. A fact in the first person is about `speaker`, or
    else about "user"; only a user's or a system's words become rules, facts and notes.
    """
    if role == "tool":
        return Routing(route="working", content=content, reasons=("a tool's result is for the work at hand",))
    if _SCRATCH.match(content):
        return Routing(route="working", content=content, reasons=("it begins as a thought or a plan does",))
    if role == "assistant":
        return _episode(content, "what the assistant said is what happened")
    return _explicit(content) or _question(content) or _statement(content, speaker or role)


def _explicit(content: str) -> Routing | None:
    """Routes a text that names its destination."""
    note = _NOTE.fullmatch(content)
    if note:
        reason = f"it asks for a note under the key {note['key']}"
        return Routing(route="note", content=note["content"], key=note["key"], reasons=(reason,))
    rule = _RULE.fullmatch(content)
    if rule and rule["content"]:
        return Routing(route="rule", content=rule["content"], reasons=("it says that it is a rule",))
    return None


def _question(content: str) -> Routing | None:
    if content.endswith("?"):
        return Routing(route="recall", content=content, reasons=("it ends with a question mark",))
    if _QUESTION.match(content):
        return Routing(route="recall", content=content, reasons=("it begins as a question does",))
    return None


def _statement(content: str, subject: str) -> Routing:
    if _RULE.fullmatch(content):
        return Routing(route="rule", content=content, reasons=("it says how to go about something from now on",))
    request = _REMEMBER.fullmatch(content)
    statement = (request["content"] if request else content).rstrip(" .!")
    own = _OWN.fullmatch(statement)
    if own:
        predicate, value = (own["predicate"] or own["verb"]).lower(), own["content"] or own["value"]
        reasons = ("somebody says of themselves what there is one of",)
        return Routing(route="fact", content=value, subject=subject, predicate=predicate, reasons=reasons)
    other = _OF_ANOTHER.fullmatch(statement) if request else None
    if other:
        reasons = ("it asks to be remembered, and says what is true of whom",)
        parts = {"subject": other["subject"], "predicate": other["predicate"].lower()}
        return Routing(route="fact", content=other["content"], reasons=reasons, **parts)
    if request:
        return _episode(content, "it asks to be remembered, and is no fact that one place could hold")
    return _episode(content, "it is none of the others: what was said is kept word for word")


def _episode(content: str, reason: str) -> Routing:
    return Routing(route="episode", content=content, reasons=(reason,))
