"""Commands about the memory as a whole: how much, how sound, how fast, and into another shape."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from engrain.interfaces.cli import output
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()


@command(app, "stats")
def stats(
    invocation: Invocation,
    *,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="NAME", help="Of facts and rules count this scope and global.")
    ] = None,
) -> None:
    """How much the agent remembers, and how it stands."""
    with invocation.memory() as memory:
        counted = memory.agent().stats(scope=scope).to_dict()
        invocation.answer(counted, output.pairs(_flat(counted)))


@command(app, "overview")
def overview(
    invocation: Invocation,
    *,
    days: Annotated[int, typer.Option("--days", metavar="N", help="How many days back, 0-366 (14).")] = 14,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many of each at most, 0-100 (5).")] = 5,
) -> None:
    """What the agent remembers, at a glance.

    Counts, the last days, what is newest and most asked for, whom it knows most about, runs, and what waits.
    """
    from engrain.interfaces.cli import glance

    with invocation.memory() as memory:
        found = memory.agent().overview(days=days, limit=limit)
        invocation.answer(found.to_dict(), glance.shown(found))


@command(app, "doctor")
def doctor(invocation: Invocation) -> None:
    """Whether everything works, and what to do if not.

    Looks at versions, file, index, vectors, embedder and settings; reads the whole file.
    """
    from engrain.interfaces.cli import diagnosis

    found = diagnosis.examine(invocation)
    invocation.answer(found, diagnosis.shown(found))
    if found["problems"]:
        raise typer.Exit(ExitCode.PROBLEM)


@command(app, "config")
def config(invocation: Invocation) -> None:
    """Every setting in force, and who gave it.

    An option, a variable, a file, or nobody: then it is the default. Of a key only whether it is set.
    """
    from engrain.interfaces.cli import configuration

    found = configuration.in_force(invocation)
    invocation.answer({"settings": found}, configuration.shown(found))


@command(app, "bench")
def bench(invocation: Invocation) -> None:
    """Measure this machine, in under 20 seconds.

    Embeddings, writes and searches over 2,000 made-up memories in a temporary file.
    """
    from engrain.interfaces.cli import measurement

    measured = measurement.measure(invocation)
    invocation.answer(measured, output.pairs(measured))


@command(app, "reembed")
def reembed(
    invocation: Invocation,
    *,
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="NAME", help="Embedder to change to (ENGRAIN_EMBEDDING__MODEL).")
    ] = None,
) -> None:
    """Make the vectors of all memories with another embedder, and search by them.

    Searches go on meanwhile. Stopped anywhere, the same command goes on.
    """
    from engrain.interfaces.cli import relocation

    relocation.reembed(invocation, embedder)


@command(app, "copy")
def copy(
    invocation: Invocation,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="File or PostgreSQL URL to copy from.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="New file or empty PostgreSQL database.")],
) -> None:
    """Copy a whole memory into another database, and compare the two.

    Every tenant, vectors included. Stopped anywhere, the same command goes on.
    """
    from engrain.interfaces.cli import relocation

    relocation.copy(invocation, source, target)


@command(app, "migrate")
def migrate(
    invocation: Invocation,
    location: Annotated[
        str | None, typer.Argument(metavar="LOCATION", help="File or PostgreSQL URL; ENGRAIN_DB if left out.")
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Say only whether it is up to date; nothing is written.")
    ] = False,
) -> None:
    """Bring a database to the newest schema, as opening it does."""
    from engrain.interfaces.cli import relocation

    relocation.migrate(invocation, location, check=check)


def _flat(counted: Mapping[str, Any]) -> dict[str, Any]:
    """What is counted of each kind under its own name: `facts active`."""
    return {
        f"{name} {each.replace('_', ' ')}".strip(): count
        for name, value in counted.items()
        for each, count in (value.items() if isinstance(value, dict) else [("", value)])
    }
