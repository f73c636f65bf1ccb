"""Commands of notes: what an agent keeps for itself under keys."""

from typing import Annotated

import typer

from engrain.domain.memories.notes import Note
from engrain.domain.text.categories import CATEGORIES
from engrain.errors import NotFound
from engrain.interfaces.cli import output
from engrain.interfaces.cli.arguments import After, Limit, Query, one_of
from engrain.interfaces.cli.invocation import Invocation, command

notes = typer.Typer(help="What an agent keeps for itself under keys.")

Key = Annotated[str, typer.Argument(metavar="KEY", help='What the note is kept under, such as "project:alpha".')]
OfCategory = Annotated[
    str | None,
    typer.Option("--category", metavar="WORD", help=f"Of this category alone. {one_of(CATEGORIES)}"),
]


@command(notes, "save")
def save(
    invocation: Invocation,
    key: Key,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it says.")],
) -> None:
    """Keep a note under a key.

    It takes the place of the one that was there, and gets a category by its words.
    """
    with invocation.adding() as memory:
        note = memory.agent().notes.save(key, text)
        invocation.answer(note.to_dict(), f"saved {note.id}\n{_line(note)}")


@command(notes, "get")
def get(invocation: Invocation, key: Key) -> None:
    """The note under a key."""
    with invocation.memory() as memory:
        agent = memory.agent()
        note = agent.notes.recall(key)
        if note is None:
            raise NotFound(f"agent {agent.caller.agent} has no note {key!r}; notes list shows the keys")
        values = note.to_dict()
        content = values.pop("content")
        invocation.answer(note.to_dict(), f"{output.pairs(values)}\n\n{content}")


@command(notes, "list")
def list_(invocation: Invocation, *, category: OfCategory = None, limit: Limit = 100, after: After = None) -> None:
    """The notes, the newest first."""
    with invocation.memory() as memory:
        own = memory.agent().notes
        found = own.list(limit, after=after) if category is None else own.list_by_category(category, limit, after=after)
        invocation.answer_list(found, "\n".join(map(_line, found)))


@command(notes, "search")
def search(
    invocation: Invocation,
    query: Query,
    *,
    deep: Annotated[
        bool, typer.Option("--deep", help="Let the re-ranker put the best in order (ENGRAIN_RERANKING__MODEL).")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="How many notes at most, 0-1000 (ENGRAIN_RETRIEVAL__LIMIT)."),
    ] = None,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="WORD", help="Of this category, unless that would leave none."),
    ] = None,
    min_similarity: Annotated[
        float, typer.Option("--min-similarity", metavar="X", help="Least score before age counts, 0-1; 0 if left out.")
    ] = 0.0,
) -> None:
    """The best notes for a question, best first."""
    with invocation.memory() as memory:
        answer = memory.agent().notes.search(
            query,
            mode="deep" if deep else "fast",
            limit=limit,
            category=category,
            min_similarity=min_similarity,
        )
        if invocation.as_json:
            output.document(answer.to_dict())
            return
        for hit in answer.hits:
            output.say(f"{hit.score:.3f}  {hit.source:<8}  {_line(hit.note)}")
        invocation.degraded(answer.degraded)
        if not answer.hits:
            invocation.note("nothing found")


@command(notes, "related")
def related(
    invocation: Invocation,
    note: Annotated[str, typer.Argument(metavar="KEY", help="Key or id of a note.")],
    *,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many notes at most, 0-1000; 10 if left out.")
    ] = 10,
) -> None:
    """Notes that share words with one, the most alike first."""
    with invocation.memory() as memory:
        found = memory.agent().notes.related(note, limit)
        invocation.answer_list(found, "\n".join(f"{each.score:.3f}  {_line(each.note)}" for each in found))


@command(notes, "forget")
def forget(invocation: Invocation, key: Key) -> None:
    """Forget the note under a key.

    It leaves every search at once, and stays readable by its id.
    """
    with invocation.memory() as memory:
        gone = memory.agent().notes.forget(key)
        invocation.answer(gone.to_dict(), f"forgotten {gone.id}\n{_line(gone)}")


@command(notes, "summarize")
def summarize(
    invocation: Invocation,
    *,
    older_than_days: Annotated[
        float,
        typer.Option("--older-than-days", metavar="N", help="Notes not saved for so many days; 30 if left out."),
    ] = 30,
) -> None:
    """Put one summary in the place of old notes whose keys begin alike.

    Two notes or more of one prefix, before the first colon. They are archived: readable by their ids.
    """
    with invocation.adding() as memory:
        archived = memory.agent().notes.summarize_old(older_than_days)
        invocation.answer({"archived": archived}, f"archived {output.counted(archived, 'note')}")


def _line(note: Note) -> str:
    """A note in one line."""
    return output.one_line(f"{note.updated_at:%Y-%m-%d} {note.category} {note.key}: {note.content}")
