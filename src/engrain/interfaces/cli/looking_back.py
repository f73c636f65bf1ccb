"""Commands that make something of memories: summaries, and reflections."""

from typing import Annotated

import typer

from engrain.domain.runs.summaries import STRATEGIES
from engrain.errors import NotFound
from engrain.interfaces.cli import rendering
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, command
from engrain.interfaces.cli.tidying import DryRun

app = typer.Typer()


@command(app, "summarize")
def summarize(
    invocation: Invocation,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="Summarise what a search for this finds.")
    ] = None,
    *,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Summarise the turns of this session.")
    ] = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Summarise this memory; may be repeated.")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help=f"How (ENGRAIN_SUMMARIZATION__STRATEGY). {one_of(STRATEGIES)}"),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option("--tokens", metavar="N", help="The most it may have (ENGRAIN_SUMMARIZATION__TARGET_TOKENS)."),
    ] = None,
    store: Annotated[bool, typer.Option("--store", help="Keep it as a fact, derived from its sources.")] = False,
) -> None:
    """Say in one text what several memories say.

    With a language model by it, else in the memories' own sentences.
    """
    with invocation.memory() as memory:
        summary = memory.agent().summarize(
            query, session=session, ids=id_, strategy=strategy, target_tokens=tokens, store=store
        )
        invocation.answer(summary.to_dict(), summary.text or "nothing to summarise")
        for each in summary.degraded:
            invocation.note(f"note: {each}")
        if summary.memory_id is not None:
            invocation.note(f"note: kept as {summary.memory_id} by run {summary.run_id}")


@command(app, "reflect")
def reflect(
    invocation: Invocation,
    *,
    force: Annotated[bool, typer.Option("--force", help="Also where the last reflection is not six days old.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Look back on the week: what an agent learned and heard becomes one reflection.

    Of every agent that learned something of late, or of those that --tenant and --agent name. Made to be run once a
    day: it does nothing until one is due.
    """
    with invocation.memory() as memory:
        report = memory.reflect(invocation.tenant, agent=invocation.agent, dry_run=dry_run, force=force)
        lines = [
            f"{each.tenant_id}/{each.agent}: {each.outcome.replace('_', ' ')}, {each.said}"
            + ("" if each.reflection is None else f"\n{each.reflection.content}")
            for each in report.agents
        ]
        said = ["dry run: nothing was written"] if dry_run else []
        invocation.answer(report.to_dict(), "\n".join([*lines, *said]) or "nobody learned anything of late")
        if any(each.outcome == "failed" for each in report.agents):
            raise typer.Exit(ExitCode.PROBLEM)


@command(app, "reflection")
def reflection(invocation: Invocation) -> None:
    """The latest reflection: what the agent carries on from its last weeks."""
    with invocation.memory() as memory:
        agent = memory.agent()
        found = agent.latest_reflection()
        if found is None:
            said = f"no reflection is there for agent {agent.caller.agent} yet"
            raise NotFound(f"{said}; reflect makes one where enough was learned")
        invocation.answer(found.to_dict(), rendering.record(found))
