"""Commands that change what is there: correct, confirm, forget, erase, link."""

import sys
from typing import Annotated

import typer

from engrain.domain.records import RELATIONS, Episode, Fact
from engrain.errors import InvalidInput, NotFound
from engrain.interfaces.cli import output, rendering
from engrain.interfaces.cli.arguments import (
    Confidence,
    Id,
    Metadata,
    Source,
    SourceEpisode,
    ValidFrom,
    ValidTo,
    json_object,
    one_of,
)
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()


@command(app, "correct")
def correct(
    invocation: Invocation,
    id_: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is true in place of what the fact says.")],
    *,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    confidence: Confidence = 1.0,
    source: Source = None,
    source_episode: SourceEpisode = None,
    metadata: Metadata = None,
) -> None:
    """Put a new fact in the place of an active one.

    Subject, predicate and all else that is not said here stay.
    """
    with invocation.adding() as memory:
        fact = memory.agent().correct(
            id_,
            text,
            valid_from=valid_from,
            valid_to=valid_to,
            confidence=confidence,
            source=source,
            source_episode_id=source_episode,
            metadata=json_object(metadata, what="metadata"),
        )
        invocation.answer(fact.to_dict(), rendering.remembered(fact))


@command(app, "confirm")
def confirm(invocation: Invocation, id_: Id) -> None:
    """Say that a fact or a rule still holds: it fades from now on."""
    with invocation.memory() as memory:
        confirmed = memory.agent().confirm(id_)
        invocation.answer(confirmed.to_dict(), f"confirmed ({confirmed.kind}): {rendering.summary(confirmed)}")


@command(app, "forget")
def forget(invocation: Invocation, id_: Id) -> None:
    """Forget one memory.

    It leaves every search at once, and stays readable by its id.
    """
    with invocation.memory() as memory:
        gone = memory.agent().forget(id_)
        match gone:
            case Episode():
                done = "expired"
            case Fact():
                done = "retracted"
            case _:
                done = "withdrawn"
        invocation.answer(gone.to_dict(), f"forgotten ({gone.kind}, {done}): {rendering.summary(gone)}")


@command(app, "erase")
def erase(
    invocation: Invocation,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories, as recall shows them.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove memories for good.

    Rows, vectors, words and links go, and what events say of them. This cannot be undone; forget can be looked up.
    """
    if not yes and not _agreed(len(ids)):
        output.note("nothing was erased")
        raise typer.Exit(ExitCode.PROBLEM)
    with invocation.memory() as memory:
        agent = memory.agent()
        gone = agent.erase(ids)
        missing = [each for each in ids if each not in gone]
        if not gone:
            raise NotFound(f"no memory {', '.join(missing)} is visible to agent {agent.caller.agent}; recall shows ids")
        invocation.answer({"erased": gone}, "\n".join(f"erased {each}" for each in gone))
        for each in missing:
            invocation.note(f"note: no memory {each} is visible to agent {agent.caller.agent}")


@command(app, "link")
def link(
    invocation: Invocation,
    source_id: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the memory that bears on the other.")],
    relation: Annotated[str, typer.Argument(metavar="RELATION", help=one_of(RELATIONS))],
    target_id: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the other.")],
    *,
    weight: Annotated[float, typer.Option("--weight", metavar="X", help="How strongly, 0-1.")] = 1.0,
) -> None:
    """Say how one memory bears on another.

    A link that is there stays as it is.
    """
    with invocation.memory() as memory:
        made = memory.agent().link(source_id, target_id, relation, weight=weight)
        invocation.answer(made.to_dict(), f"linked: {made.source_id} {made.relation} {made.target_id}")


def _agreed(count: int) -> bool:
    """Whether the person at the terminal says yes.

    Raises:
        InvalidInput: nobody is there to be asked.
    """
    if not sys.stdin.isatty():
        raise InvalidInput("erase cannot be undone and nobody is here to be asked; say --yes")
    output.prompt(f"erase {output.counted(count, 'memory', 'memories')} for good? [y/N] ")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
