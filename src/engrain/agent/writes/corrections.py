"""Corrections: what some words say, in the place of a memory of any kind."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.agent.reads.lookups import get_memory
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_text
from engrain.agent.writes.episodes import new_episode
from engrain.agent.writes.handling import fact_arguments, new_statement
from engrain.agent.writes.memories import default_subject, new_rule, replace_fact, replace_memory
from engrain.domain.memories.fact_keys import USER
from engrain.domain.memories.predicates import free_text_predicate, is_free_text, predicate_key
from engrain.domain.records import Caller, Fact, MemoryRecord, Rule
from engrain.domain.text.names import name_key
from engrain.domain.text.patterns import lazy_pattern
from engrain.routing.router import route

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.requests import Act

_ABOUT_USER = lazy_pattern(r"(?:the )?user(?P<of>['\u2019]s)? (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_FIRST_PERSON: Mapping[str, str] = {"lives": "live", "works": "work", "resides": "reside", "is": "am", "has": "have"}
_TRUE_NOW: Mapping[str, Any] = {
    "confidence": 1.0,
    "valid_from": None,
    "valid_to": None,
    "source": None,
    "source_episode_id": None,
    "metadata": {},
}


def correct_memory(parts: Parts, caller: Caller, id_: str, content: str) -> MemoryRecord:
    """Put what some words say in the place of a memory, in one transaction; return what stands there now.

    A fact is superseded. A rule is forgotten for another one, and an episode for the fact or rule that the words are.
    Its tags stay, that of a project among them; its metadata does not.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: the caller may not change it, it is a fact that is no longer active, or the words are refused;
            nothing was written.
    """
    wrong, text = parts.store.read(caller, get_memory, id_), parse_text(parts, content)
    act = new_act(parts, caller)
    if isinstance(wrong, Fact):
        value = text if is_free_text(wrong.predicate) else _find_value(wrong, text, caller)
        return replace_fact(parts, act, id_, content=value, **_TRUE_NOW)
    if isinstance(wrong, Rule):
        right: Sequence[MemoryRecord] = [new_rule(parts, act, content=text, scope=wrong.scope, tags=wrong.tags)]
    else:
        right = _read(parts, act, text, tags=wrong.tags)
    return replace_memory(parts, act, id_, right)


def _find_value(wrong: Fact, text: str, caller: Caller) -> str:
    """Return the value that a text gives a fact of the user: Milan of "The user lives in Milan"; else the text."""
    value = text.removeprefix(f"{wrong.about}: ")
    if wrong.key.subject not in {USER, name_key(caller.user or USER)}:
        return value
    for words in (value, _in_first_person(value)):
        routing = route(words)
        if (
            routing.route == "fact"
            and routing.subject == USER
            and predicate_key(routing.predicate or "") == wrong.key.predicate
        ):
            return words[words.index(routing.content) :].strip(" .") if routing.is_part else routing.content
    return value


def _in_first_person(text: str) -> str:
    """Return a sentence about the user as they say it, as that is how a fact is read."""
    about = _ABOUT_USER.fullmatch(text)
    if about is None:
        return text
    first, _, rest = about["rest"].partition(" ")
    return f"My {about['rest']}" if about["of"] else f"I {_FIRST_PERSON.get(first, first)} {rest}"


def _read(parts: Parts, act: Act, text: str, *, tags: tuple[str, ...]) -> Sequence[MemoryRecord]:
    """Return the memories that a text is: a rule, or a fact and before it the episode of words that say more."""
    caller, routing = act.caller, route(text)
    match routing.route:
        case "rule":
            return [new_rule(parts, act, content=routing.content, scope=caller.own_scope, tags=tags)]
        case "fact":
            fact = new_statement(parts, act, **fact_arguments(routing, caller), tags=tags)
            if not routing.is_part:
                return [fact]
            turn = new_episode(parts, caller, at=act.at, content=text, tags=tags)
            return [turn, replace(fact, source_episode_id=turn.id)]
        case _:
            place, predicate = caller.own_scope, free_text_predicate(text)
            about = default_subject(caller, scope=place, predicate=predicate, content=text)
            named = {"predicate": predicate, "subject": about, "scope": place}
            return [new_statement(parts, act, content=text, **named, tags=tags)]
