"""Commands that learn from episodes, show what was learned when, and take it back."""

from typing import Annotated

import typer

from engrain.domain.runs.runs import RUN_KINDS
from engrain.interfaces.cli import learned, progress
from engrain.interfaces.cli.arguments import After, one_of
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()


@command(app, "consolidate")
def consolidate(
    invocation: Invocation,
    *,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Learn from this session alone.")
    ] = None,
    exclude_session: Annotated[
        str | None, typer.Option("--exclude-session", metavar="NAME", help="Leave this session for later.")
    ] = None,
    max_batches: Annotated[
        int | None, typer.Option("--max-batches", metavar="N", help="Ask the language model about so many batches.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say only what is due; nothing is asked or written.")
    ] = False,
) -> None:
    """Learn facts and rules from the episodes that wait for it, with a language model.

    Of all tenants and agents, or of those that --tenant and --agent name. The exit code is 1 where a batch failed.
    """
    with (
        invocation.adding() as memory,
        progress.counting("episodes", total=None, visible=not invocation.as_json) as tell,
    ):
        done = 0

        def counted(episodes: int) -> None:
            nonlocal done
            done += episodes
            tell(done)

        report = memory.consolidate(
            invocation.tenant,
            agent=invocation.agent,
            session=session,
            exclude_session=exclude_session,
            dry_run=dry_run,
            max_batches=max_batches,
            progress=counted,
        )
    if report.dry_run and not dry_run:
        invocation.note("note: no language model is configured, so what is due was only counted; set llm.model")
    invocation.answer(report.to_dict(), learned.report(report))
    if report.failures:
        raise typer.Exit(ExitCode.PROBLEM)


@command(app, "runs")
def runs(
    invocation: Invocation,
    *,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help=f"Of this kind alone. {one_of(RUN_KINDS)}")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.")] = 20,
    after: After = None,
) -> None:
    """What the agent learned when, and how it ended, newest first."""
    with invocation.memory() as memory:
        found = memory.runs(kind=kind, limit=limit, after=after)
        invocation.answer_list(found, learned.runs(found))


@command(app, "undo")
def undo(
    invocation: Invocation,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, as runs shows it.")],
) -> None:
    """Take back what one run of the agent learned.

    Its episodes wait again. What somebody has changed since stays, and is told.
    """
    with invocation.adding() as memory:
        undone = memory.undo(run)
        invocation.answer(undone.to_dict(), learned.undone(undone))
