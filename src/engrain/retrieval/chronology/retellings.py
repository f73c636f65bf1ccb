"""Answers to questions for what was said, or for what is known of the user: the newest of it; nothing is compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain.memories.fact_keys import USER
from engrain.domain.records import Episode
from engrain.domain.text.analysis import is_foreign
from engrain.domain.text.dialogue.chronology import (
    asks_about_user,
    asks_for_last_conversation,
    asks_what_assistant_said,
    asks_what_was_said,
    asks_what_was_said_ever,
)
from engrain.domain.text.small_talk import is_about_speaker
from engrain.retrieval.chronology.newest import load_newest, make_hits
from engrain.retrieval.chronology.time_expressions import split_spans
from engrain.retrieval.repeats import is_statement
from engrain.retrieval.speakers import list_named, remove_speaker_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engrain.domain.records import Hit, MemoryRecord
    from engrain.domain.requests import Request
    from engrain.retrieval.search_query import SearchQuery
    from engrain.storage.unit_of_work import Snapshot

    Load = Callable[..., Sequence[MemoryRecord]]  # the newest that match a request

_MOST = 200  # memories are looked at, the newest


def list_retelling(snapshot: Snapshot, request: Request, query: SearchQuery, known: Sequence[str]) -> tuple[Hit, ...]:
    """List what a question for what was said, or is known of the user, asks for; nothing for any other.

    What users state comes first, or what assistants do where it asks for that, each the newest first; of one of the
    `known` speakers that is named alone. Of the last conversation the end comes first, whoever said it.
    """

    def load(narrowed: Request, limit: int = _MOST) -> Sequence[MemoryRecord]:
        return load_newest(snapshot, narrowed, query, limit)

    if asks_about_user(query.text):
        return make_hits(query, list(_load_about_user(request, query.text, load)))
    is_last = asks_for_last_conversation(query.text)
    narrowed = _narrow_to_last_session(request, load) if is_last else _narrow(request, query, known)
    stated = [] if narrowed is None else _list_statements(load(narrowed), query.text)
    if is_last:
        return make_hits(query, stated)
    is_assistants = asks_what_assistant_said(query.text)
    return make_hits(query, sorted(stated, key=lambda memory: _is_of_assistant(memory) != is_assistants))


def _narrow(request: Request, query: SearchQuery, known: Sequence[str]) -> Request | None:
    """Narrow the request to what a question asks to hear again; None where it asks for something else."""
    given, text = request.filter, query.text
    named = list_named(text, known)
    anybody = remove_speaker_names(text, known) if named else text
    spans, rest = split_spans(anybody, request.now.astimezone(query.time_zone))
    if len(spans) > 1 or not (asks_what_was_said(rest) if spans else asks_what_was_said_ever(rest)):
        return None
    if named and not given.speakers:
        given = replace(given, speakers=tuple(named))
    for span in spans:
        since = span.start if given.since is None else max(given.since, span.start)
        until = span.end if given.until is None else min(given.until, span.end)
        given = replace(given, since=since, until=until)
    return replace(request, filter=given)


def _narrow_to_last_session(request: Request, load: Load) -> Request | None:
    """Narrow the request to the newest session but the caller's own."""
    given, own = request.filter, request.caller.session
    others = given.exclude_sessions if own is None else tuple({*given.exclude_sessions, own})
    criteria = replace(given, kinds=("episode",), exclude_sessions=others, exclude_from_turn=0)
    newest = next(iter(load(replace(request, filter=criteria), 1)), None)
    if not isinstance(newest, Episode) or newest.session is None:
        return None
    return replace(request, filter=replace(given, kinds=("episode",), sessions=(newest.session,)))


def _load_about_user(request: Request, text: str, load: Load) -> Iterator[MemoryRecord]:
    """Load the facts about the user, then what users say of themselves."""
    given, caller = request.filter, request.caller
    if "fact" in given.kinds and not given.subjects:
        about = (USER,) if caller.user is None else (USER, caller.user)
        facts = replace(given, kinds=("fact",), subjects=about)
        yield from load(replace(request, filter=facts))
    if "episode" in given.kinds:
        turns = replace(given, kinds=("episode",), roles=given.roles or ("user",))
        said = load(replace(request, filter=turns))
        yield from (turn for turn in _list_statements(said, text) if _is_of_user(turn.content))


def _list_statements(memories: Sequence[MemoryRecord], text: str) -> list[MemoryRecord]:
    return [memory for memory in memories if is_statement(memory, text)]


def _is_of_user(text: str) -> bool:
    """True for a text about its speaker; who speaks another language than English often leaves out the pronoun."""
    return is_about_speaker(text) or is_foreign(text)


def _is_of_assistant(memory: MemoryRecord) -> bool:
    return isinstance(memory, Episode) and memory.role != "user"
