"""The command that looks for what is wrong with a memory, and changes nothing."""

from typing import Annotated

import typer

from engrain.domain.maintenance.findings import FINDING_KINDS
from engrain.interfaces.cli import progress, rendering
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()


@command(app, "audit")
def audit(
    invocation: Invocation,
    *,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help=f"Look for this alone; may be repeated. {one_of(FINDING_KINDS)}"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many findings of each kind.")] = 100,
    skip: Annotated[int, typer.Option("--skip", metavar="N", help="Leave out the first so many of each kind.")] = 0,
    unused_days: Annotated[
        float, typer.Option("--unused-days", metavar="DAYS", help="Never recalled in so many days is a finding.")
    ] = 30.0,
) -> None:
    """Look for what is wrong: secrets, contradictions, duplicates, what is stale, orphaned or never used.

    Nothing is changed. Each finding comes with its evidence, and with what to run.
    """
    with (
        invocation.memory() as memory,
        progress.counting("reading", total=None, visible=not invocation.as_json) as tell,
    ):
        found = memory.agent().audit(kinds=kind, limit=limit, skip=skip, unused_days=unused_days, progress=tell)
    invocation.answer(found.to_dict(), rendering.audit(found))
