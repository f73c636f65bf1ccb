"""Notes: what an agent keeps for itself under keys."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain.agent.notes import Notes
from engrain.domain.memories.notes import Note, NoteAnswer, NoteCacheStats, NoteRelation, SearchMode
from engrain.domain.pagination import Page
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import Archived, Uncached, created, listed, nothing, said, versioned
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("notes", "What an agent keeps for itself under keys.", group="notes")

_Key = Annotated[str, Query(description="Key of the note.", examples=["project:alpha"])]


class NewNote(Body):
    """A note and its key."""

    key: words.NoteKey
    content: words.Content


class NoteNamed(Body):
    """Which note."""

    key: words.NoteKey


class NoteQuestion(Body):
    """What is asked of the notes."""

    query: words.Asked
    mode: Annotated[SearchMode, Field(description="deep lets the re-ranker put them in order.")] = "fast"
    limit: words.Limit = None
    category: Annotated[str | None, Field(description="Of this category, unless that would leave none.")] = None
    min_similarity: Annotated[float, Field(ge=0, le=1, description="Of the score before age counts.")] = 0.0


class Age(Body):
    """How old notes must be."""

    older_than_days: Annotated[float, Field(ge=0, le=36_500, description="Not saved for so many days.")] = 30


@room.verb("POST", "/notes", Notes.save, needs="writer", answers=Note, status=HTTPStatus.CREATED)
def save(asked: Asked, body: NewNote) -> Response:
    """Keep a note under a key, in the place of the one that was there; its history stays."""
    return created(asked.agent().notes.save(**body.given()))


@room.verb("GET", "/notes/recall", Notes.recall, needs="reader", answers=Note)
def recall(asked: Asked, key: _Key, if_none_match: words.IfNoneMatch = None) -> Response:
    """Read the note under a key."""
    return versioned(asked.agent().notes.recall(key), if_none_match, what=f"note {key!r:.80}")


@room.verb("GET", "/notes", Notes.list, needs="reader", answers=Page[Note])
def list_(asked: Asked, limit: words.PageLimit = 100, after: words.After = None) -> Response:
    """List the notes, the newest first."""
    found = asked.agent().notes.list(limit, after=after)
    return listed(found)


@room.verb("GET", "/notes/list_by_category", Notes.list_by_category, needs="reader", answers=Page[Note])
def list_by_category(
    asked: Asked,
    category: Annotated[str, Query(description="Such as project.", examples=["project"])],
    limit: words.PageLimit = 20,
    after: words.After = None,
) -> Response:
    """List the notes of one category, the newest first."""
    found = asked.agent().notes.list_by_category(category, limit, after=after)
    return listed(found)


@room.verb("GET", "/notes/related", Notes.related, needs="reader", answers=Page[NoteRelation])
def related(
    asked: Asked,
    note: Annotated[str, Query(description="Key or id of a note.", examples=["project:alpha"])],
    limit: words.PageLimit = 10,
) -> Response:
    """List notes that share words with one, the most alike first; none where there is no such note."""
    return listed(asked.agent().notes.related(note, limit))


@room.verb("POST", "/notes/search", Notes.search, needs="reader", answers=NoteAnswer)
def search(asked: Asked, body: NoteQuestion) -> Response:
    """Find the best notes for a question, each saying which search it owes its place to."""
    return said(asked.agent().notes.search(**body.given()))


@room.verb("POST", "/notes/forget", Notes.forget, needs="writer", answers=Note)
def forget(asked: Asked, body: NoteNamed) -> Response:
    """Forget the note under a key: it leaves every search at once, and stays readable by its id."""
    return said(asked.agent().notes.forget(body.key))


@room.verb("POST", "/notes/summarize_old", Notes.summarize_old, needs="writer", answers=Archived)
def summarize_old(asked: Asked, body: Age) -> Response:
    """Put a summary in the place of old notes whose keys begin alike; the answer says how many were archived."""
    return said(Archived(notes=asked.agent().notes.summarize_old(**body.given())))


@room.verb("POST", "/notes/invalidate", Notes.invalidate, needs="writer", answers=Uncached)
def invalidate(asked: Asked) -> Response:
    """Drop the agent's notes from the cache of `recall`; the answer says how many it was."""
    return said(Uncached(notes=asked.agent().notes.invalidate()))


@room.verb("POST", "/notes/clear_cache", Notes.clear_cache, needs="admin", answers=None, status=HTTPStatus.NO_CONTENT)
def clear_cache(asked: Asked) -> Response:
    """Drop every agent's notes from the cache of `recall`."""
    asked.agent().notes.clear_cache()
    return nothing()


@room.verb("GET", "/notes/cache_stats", Notes.cache_stats, needs="reader", answers=NoteCacheStats)
def cache_stats(asked: Asked) -> Response:
    """Say how many of the agent's notes are in the cache of `recall`, and how it fared."""
    return said(asked.agent().notes.cache_stats())
