"""What an answer says, word for word, and what of it its reader should not have been told."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from itertools import groupby
from types import NoneType
from typing import Any

from engrain.domain.pagination import Page
from engrain.domain.records import Caller, Event, MemoryRecord
from engrain.domain.requests import Candidate, Ref
from engrain.domain.rules.maturity import Application
from engrain.domain.runs.runs import Run
from engrain.errors import EngrainError
from tests.servers.leaks.world import CANARY, ID, World, sees

Refs = Mapping[Ref, str]
# Most of what an answer is made of, and nothing in it: to look for what else it may be takes most of the time.
_PLAIN = frozenset({str, int, float, bool, NoneType, datetime})


def said(answer: object, refs: Refs) -> str:  # noqa: PLR0911  # one for each kind of answer
    """Everything an answer holds, but a store's refs and the ids it gives itself: they mean nothing outside of it."""
    if type(answer) in _PLAIN:
        return repr(answer)
    match answer:
        case BaseException():
            more = getattr(answer, "code", ""), vars(answer), answer.__cause__
            return f"{type(answer).__name__}{answer.args!r} {more!r}"
        case Candidate(ref=ref, raw=raw):
            return f"{refs.get(ref, ref)} {raw!r}"
        case Event() | Application() | Run():
            own = {"id", "run_id", "memory_id"} if getattr(answer, "run_id", None) else {"id"}
            return repr({each.name: getattr(answer, each.name) for each in fields(answer) if each.name not in own})
        case Mapping():
            return "\n".join(sorted(f"{refs.get(key, key)}: {said(value, refs)}" for key, value in answer.items()))
        case Page():  # a cursor holds the id of the last item, which an answer gives itself
            return f"{said(list(answer.items), refs)}\nmore: {answer.next is not None}"
        case list() if answer and all(isinstance(each, Event) for each in answer):
            # The port leaves the order of one act's events open.
            acts = [
                sorted(said(each, refs) for each in act) for _, act in groupby(answer, lambda each: each.created_at)
            ]
            return "\n".join(line for act in acts for line in act)
        case list() | tuple() | set() | frozenset():
            return "\n".join(said(each, refs) for each in answer)
        case _:
            return repr(answer)


def told(ask: Callable[[], object], refs: Refs) -> str:
    """What is said when something is asked: the answer, or the error that stands for it."""
    try:
        return said(ask(), refs)
    except EngrainError as error:
        return said(error, refs)


def secrets_in(text: str, world: World, caller: Caller, *, echoes: Collection[str] = ()) -> set[str]:
    """The canaries and ids in a text that its reader may not know; what it said itself may be said back to it."""
    known = world.known_to(caller) | set(CANARY.findall(repr(echoes))) | set(ID.findall(repr(echoes)))
    return ({*CANARY.findall(text)} | ({*ID.findall(text)} & world.ids)) - known


def strangers_in(answer: Any, caller: Caller) -> list[MemoryRecord]:
    """The memories anywhere in an answer that its reader may not see, however they got there."""
    if type(answer) in _PLAIN:
        return []
    if isinstance(answer, MemoryRecord):
        return [] if sees(caller, answer) else [answer]
    if isinstance(answer, Mapping):
        return [found for value in answer.values() for found in strangers_in(value, caller)]
    if isinstance(answer, list | tuple | set | frozenset):
        return [found for value in answer for found in strangers_in(value, caller)]
    return [found for name in _field_names(type(answer)) for found in strangers_in(getattr(answer, name), caller)]


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
