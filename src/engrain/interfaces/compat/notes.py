"""The profile `notes`: what an agent keeps for itself under keys."""

from typing import Annotated, Literal

from pydantic import Field

from engrain.agent.agent import Agent
from engrain.interfaces.mcp import argument_types as types
from engrain.interfaces.mcp.results import FoundNote, FoundNotes, NoteList, RelatedNotes, SavedNote, reason_texts
from engrain.interfaces.mcp.tools import READS, REMOVES, REPLACES, ToolDefinition, catch_not_found


def save_note(agent: Agent, key: types.NoteKey, content: types.Content) -> SavedNote:
    """Keep a note under a key, in the place of the one that was there. Only this agent sees its notes."""
    return SavedNote(note=agent.notes.save(key, content))


def recall_note(agent: Agent, key: types.NoteKey) -> FoundNote:
    """The note under a key."""
    return FoundNote.of(agent.notes.recall(key))


def list_notes(
    agent: Agent,
    *,
    category: Annotated[str | None, Field(description="Of this category alone, such as project.")] = None,
    limit: types.Limit = 20,
) -> NoteList:
    """The notes, the newest first."""
    notes = agent.notes.list(limit) if category is None else agent.notes.list_by_category(category, limit)
    return NoteList(notes=list(notes))


def search_notes(
    agent: Agent,
    query: Annotated[str, Field(description="What to look for: any text.")],
    *,
    mode: Annotated[
        Literal["fast", "deep"], Field(description="deep lets the server's re-ranker order them, if it has one.")
    ] = "fast",
    category: Annotated[str | None, Field(description="Of this category, unless there is none.")] = None,
    limit: types.Limit = 10,
) -> FoundNotes:
    """Find notes by their words, the best first."""
    answer = agent.notes.search(query, mode=mode, category=category, limit=limit)
    return FoundNotes(mode=answer.mode, hits=list(answer.hits), degraded=reason_texts(answer.degraded))


def related_notes(agent: Agent, key: types.NoteKey, *, limit: types.Limit = 10) -> RelatedNotes:
    """Notes that share words with the one under a key, the most alike first."""
    return RelatedNotes(related=list(agent.notes.related(key, limit)))


def forget_note(agent: Agent, key: types.NoteKey) -> FoundNote:
    """Forget the note under a key; the answer has what it said."""
    return FoundNote.of(catch_not_found(lambda: agent.notes.forget(key)))


TOOLS = (
    ToolDefinition(save_note, REPLACES),
    ToolDefinition(recall_note, READS),
    ToolDefinition(list_notes, READS),
    ToolDefinition(search_notes, READS),
    ToolDefinition(related_notes, READS),
    ToolDefinition(forget_note, REMOVES),
)
