"""Router: the destination of an input, by its role and its English words alone. Pure; no model is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engrain.domain.memories.routing import Routing
from engrain.domain.text.analysis import terms

if TYPE_CHECKING:
    from engrain.domain.records import Role

# A fact takes the place of what was true of the same before: only what somebody has one of becomes one unasked.
_OWN = re.compile(
    r"(?:my|our) (?P<predicate>[\w' -]{1,60}?) (?:is|are) (?:now )?(?P<content>.+)"
    r"|i (?:now )?(?P<verb>live in|live at|work at|work for|work as|am called) (?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MOVE = re.compile(
    r"(?:i|we)(?: have|['\u2019]ve)?(?: just| recently| now)? (?:moved|relocated)(?: from [\w' -]{1,40}?)?"
    r"(?: back)? to (?P<place>.+)",
    re.IGNORECASE,
)
_DIET = re.compile(
    r"(?:i am|i['\u2019]m)(?: now| actually| a)* (?P<diet>(?:(?:not|no longer) )?(?:a )?(?:strictly )?"
    r"(?:vegetarian|vegan|pescatarian|flexitarian|omnivore|lactose[- ]intolerant|gluten[- ]free|kosher|halal)"
    r"(?: now| any ?more| again| since .+)?)",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"(?P<subject>[^\W\d_][\w.'-]*(?: [A-Z][\w.'-]*){0,3}) "
    r"(?P<predicate>lives in|lives at|works at|works for|works as|is called|is) (?P<content>.+)",
    re.DOTALL,
)
_OPENING = re.compile(
    r"(?:(?:actually|correction|sorry|no|well|oh|by the way|btw|fyi|i mean|to be exact)\b[,:;]? +)+", re.IGNORECASE
)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# What stands behind a place, and is no part of it.
_AFTERTHOUGHT = re.compile(
    rf"(?:,| (?:on|in|at) (?={_WEEKDAY}|{_MONTH}|the (?:spring|summer|autumn|winter)|\d{{4}})"
    r"| (?:last|this|next|since|yesterday|today|now|recently|and|but|because|with|for|a (?:week|month|year|few))\b).*",
    re.IGNORECASE | re.DOTALL,
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

_POLITE = r"(?:(?:and|so|ok|okay|now|please|kindly|(?:can|could|would|will) you|you can|i want you to)[, ]+)*"
# "Delete" and "erase" may be about a file: they need to say that a memory is meant.
_FORGET = re.compile(
    rf"{_POLITE}(?:forget|(?:delete|erase|remove|drop)(?=.*\b(?:from (?:your |the )?memory|you (?:know|remember)|"
    r"i (?:just )?(?:said|told|mentioned))\b))\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LAST_SAID = re.compile(
    r"(?:about )?(?:that|this|it|the last (?:thing|message)|my last (?:message|words)|(?:what|the (?:last )?(?:thing|"
    r"message)s?)(?: that)?(?: i)?(?: have)?(?: just)? (?:said|told you|wrote))(?: again)?",
    re.IGNORECASE,
)
_SAID = r"(?: that)? (?P<who>i|we|you|he|she|they)(?: have|['\u2019]ve|ever| just)* (?:\w+)(?: (?:to )?(?:you|me))?"
_ABOUT = re.compile(
    rf"(?:(?:what|all|everything|anything|whatever|the (?:thing|part|bit|story|message)s?)(?:{_SAID})? )?"
    r"(?:about|of|on|regarding|concerning|with) (?P<topic>.+)",
    re.IGNORECASE | re.DOTALL,
)
_FROM_MEMORY = re.compile(r"\s+from (?:your |the )?memory\b|[,\s]*\bplease$|\bany ?more$", re.IGNORECASE)
_NO_TOPIC = re.compile(r"(?: to)? ?(?:you|me)\b.*|to .*", re.IGNORECASE)

_BELIEF = re.compile(
    r"\bdid (?:you|we) (?:believe|think|know|assume)\b|\b(?:was|were) (?:believed|known|assumed)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"\b(?:about|of) (?P<topic>[^?]+)", re.IGNORECASE)
_WHEN = re.compile(
    r",?\s*\b(?:(?:in|on|at|by|before|until|back in|during)\s+)?"
    r"(?:(?:last|this|the previous) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|yesterday"
    r"|(?:a|an|one|two|three|four|five|six|\d+) (?:day|week|month|year)s? ago"
    rf"|(?:in|on) (?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?"
    r"|(?:in|on) \d{4}(?:-\d\d(?:-\d\d)?)?)\b",
    re.IGNORECASE,
)


def route(content: str, *, role: Role = "user", speaker: str | None = None) -> Routing:
    """The destination of cleaned text, the first that holds of working, note, rule, forget, past, recall and fact.

    What is none of them is an episode: what happened, word for word. A fact in the first person is about `speaker`, or
    else about "user"; only a user's or a system's words become rules, facts and notes, or forget something.
    """
    if role == "tool":
        return Routing(route="working", content=content, reasons=("a tool's result is for the work at hand",))
    if _SCRATCH.match(content):
        return Routing(route="working", content=content, reasons=("it begins as a thought or a plan does",))
    if role == "assistant":
        return _episode(content, "what the assistant said is what happened")
    return _explicit(content) or _removal(content) or _question(content) or _statement(content, speaker or role)


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


def _removal(content: str) -> Routing | None:
    """Routes a request to forget something."""
    asked = _FORGET.fullmatch(content.rstrip(" .!?"))
    if asked is None:
        return None
    rest = _FROM_MEMORY.sub("", asked["rest"]).strip(" ,:")
    if _LAST_SAID.fullmatch(rest):
        reasons = ("it asks to forget what was said last",)
        return Routing(route="forget", content=content, topic="", speaker_alone=True, reasons=reasons)
    about = _ABOUT.fullmatch(rest)
    topic = about["topic"] if about else rest
    if not topic or _NO_TOPIC.fullmatch(topic):
        return None
    is_own = about is not None and (about["who"] or "").lower() in ("i", "we")
    reasons = ("it asks to forget something",)
    return Routing(route="forget", content=content, topic=topic, speaker_alone=is_own, reasons=reasons)


def _question(content: str) -> Routing | None:
    is_marked = content.endswith("?")
    if not is_marked and not _QUESTION.match(content):
        return None
    believed = _BELIEF.search(content)
    if believed and _WHEN.search(content):
        reasons = ("it asks what was believed at another time",)
        return Routing(route="past", content=content, topic=_find_topic(content, believed), reasons=reasons)
    reason = "it ends with a question mark" if is_marked else "it begins as a question does"
    return Routing(route="recall", content=content, reasons=(reason,))


def _find_topic(content: str, believed: re.Match[str]) -> str:
    """What a question about a belief is about: behind "about", or all of it but for the belief and the time."""
    topic = _TOPIC.search(content)
    left = topic["topic"] if topic else f"{content[: believed.start()]} {content[believed.end() :]}"
    plain = " ".join(_WHEN.sub(" ", left).split()).strip(" ,?")
    return plain if terms(plain) else ""


def _statement(content: str, subject: str) -> Routing:
    if _RULE.fullmatch(content):
        return Routing(route="rule", content=content, reasons=("it says how to go about something from now on",))
    request = _REMEMBER.fullmatch(content)
    statement = (request["content"] if request else content).rstrip(" .!")
    opening = _OPENING.match(statement)
    statement = statement[opening.end() :] if opening else statement
    own = _parse_own(statement)
    if own is not None:
        predicate, value = own
        reasons = ("somebody says of themselves what there is one of",)
        return Routing(route="fact", content=value, subject=subject, predicate=predicate, reasons=reasons)
    other = _OF_ANOTHER.fullmatch(statement) if request else None
    if other:
        reasons = ("it asks to be remembered, and says what is true of whom",)
        subject, predicate = other["subject"], other["predicate"].lower()
        return Routing(route="fact", content=other["content"], subject=subject, predicate=predicate, reasons=reasons)
    if request:
        return _episode(content, "it asks to be remembered, and is no fact that one place could hold")
    return _episode(content, "it is none of the others: what was said is kept word for word")


def _parse_own(statement: str) -> tuple[str, str] | None:
    """The predicate and the content of what somebody says of themselves; None for what one place could not hold."""
    own = _OWN.fullmatch(statement)
    if own:
        return (own["predicate"] or own["verb"]).lower(), own["content"] or own["value"]
    move = _MOVE.fullmatch(statement)
    if move:
        place = _AFTERTHOUGHT.sub("", move["place"]).strip()
        return ("live in", place) if place[:1].isupper() else None
    diet = _DIET.fullmatch(statement)
    return ("diet", diet["diet"]) if diet else None


def _episode(content: str, reason: str) -> Routing:
    return Routing(route="episode", content=content, reasons=(reason,))
