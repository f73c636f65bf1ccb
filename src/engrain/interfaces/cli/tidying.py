"""Commands that time asks for: what decays, and what is cleaned away."""

from typing import Annotated

import typer

from engrain.interfaces.cli import output
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say only what would be done; nothing is written.")]


@command(app, "decay")
def decay(invocation: Invocation, *, dry_run: DryRun = False) -> None:
    """Let facts and rules fade and expire that nobody confirmed for too long.

    Of all tenants, or of the one that --tenant names. Nothing is deleted. Made to be run once a day.
    """
    with invocation.memory() as memory:
        report = memory.decay(invocation.tenant, dry_run=dry_run)
        lines = [
            f"{kind}: {aged.looked_at:,} looked at, {aged.fading:,} fading, {aged.recovered:,} recovered, "
            f"{aged.expired:,} expired"
            for kind, aged in (("facts", report.facts), ("rules", report.rules))
        ]
        said = ["dry run: nothing was written"] if dry_run else []
        invocation.answer(report.to_dict(), "\n".join([*lines, *said]))


@command(app, "cleanup")
def cleanup(
    invocation: Invocation,
    *,
    max_entries: Annotated[
        int | None,
        typer.Option("--max-entries", metavar="N", help="Episodes of a tenant to keep (ENGRAIN_CLEANUP__MAX_ENTRIES)."),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Remove episodes that ran out, and of too many the oldest consolidated ones.

    Of all tenants, or of the one that --tenant names. This cannot be undone; --dry-run says what would go.
    """
    with invocation.memory() as memory:
        report = memory.cleanup(invocation.tenant, max_entries=max_entries, dry_run=dry_run)
        expired = output.counted(report.expired_deleted, "episode")
        done = "would remove" if dry_run else "removed"
        gone = f"{done} {expired} that ran out and {report.capacity_deleted:,} of too many"
        invocation.answer(report.to_dict(), f"{gone}; {report.remaining:,} remain")
