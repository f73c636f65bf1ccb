"""The profile `notes`: what an agent keeps for itself under keys."""

from typing import Annotated, Literal

from pydantic import Field

from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity, RequestContextArgument
from engrain.interfaces.mcp.offers import READS, REMOVES, REPLACES, Offer, unless_absent
from engrain.interfaces.mcp.results import FoundNote, FoundNotes, NoteList, RelatedNotes, SavedNote, texts_of


def save_note(
    who: Identity,
    key: given.NoteKey,
    content: given.Content,
    *,
    request_context: RequestContextArgument = None,
) -> SavedNote:
    """Keep a note under a key, in the place of the one that was there. Only this agent sees its notes."""
    agent = who.agent(request_context)
    return SavedNote(note=agent.notes.save(key, content), request_id=agent.caller.request_id)


def recall_note(who: Identity, key: given.NoteKey, *, request_context: RequestContextArgument = None) -> FoundNote:
    """The note under a key."""
    agent = who.agent(request_context)
    return FoundNote.of(agent, agent.notes.recall(key))


def list_notes(
    who: Identity,
    *,
    category: Annotated[str | None, Field(description="Of this category alone, such as project.")] = None,
    limit: given.Limit = 20,
    request_context: RequestContextArgument = None,
) -> NoteList:
    """The notes, the newest first."""
    agent = who.agent(request_context)
    found = agent.notes.list(limit) if category is None else agent.notes.list_by_category(category, limit)
    return NoteList(notes=list(found), request_id=agent.caller.request_id)


def search_notes(
    who: Identity,
    query: Annotated[str, Field(description="What to look for: any text.")],
    *,
    mode: Annotated[
        Literal["fast", "deep"], Field(description="deep lets the server's re-ranker order them, if it has one.")
    ] = "fast",
    category: Annotated[str | None, Field(description="Of this category, unless there is none.")] = None,
    limit: given.Limit = 10,
    request_context: RequestContextArgument = None,
) -> FoundNotes:
    """Find notes by their words, the best first."""
    agent = who.agent(request_context)
    answer = agent.notes.search(query, mode=mode, category=category, limit=limit)
    return FoundNotes(
        mode=answer.mode,
        hits=list(answer.hits),
        degraded=texts_of(answer.degraded),
        request_id=agent.caller.request_id,
    )


def related_notes(
    who: Identity,
    key: given.NoteKey,
    *,
    limit: given.Limit = 10,
    request_context: RequestContextArgument = None,
) -> RelatedNotes:
    """Notes that share words with the one under a key, the most alike first."""
    agent = who.agent(request_context)
    return RelatedNotes(related=list(agent.notes.related(key, limit)), request_id=agent.caller.request_id)


def forget_note(who: Identity, key: given.NoteKey, *, request_context: RequestContextArgument = None) -> FoundNote:
    """Forget the note under a key; the answer has what it said."""
    agent = who.agent(request_context)
    return FoundNote.of(agent, unless_absent(lambda: agent.notes.forget(key)))


OFFERS = (
    Offer(save_note, REPLACES),
    Offer(recall_note, READS),
    Offer(list_notes, READS),
    Offer(search_notes, READS),
    Offer(related_notes, READS),
    Offer(forget_note, REMOVES),
)
