"""The command line as a whole: what every command takes, and the commands in the order that help shows."""

import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command

from engrain import __version__
from engrain.interfaces.cli import (
    auditing,
    curation,
    entities,
    jobs,
    keys,
    learning,
    looking_back,
    notes,
    output,
    pools,
    prompting,
    reading,
    rules,
    safekeeping,
    serving,
    tidying,
    upkeep,
    writing,
)
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import AgentName, AsJson, ConfigFile, Db, TenantName, options

app = typer.Typer(
    rich_markup_mode=None,  # plain help takes half the time and is the same in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _each in (writing, reading, prompting, curation, learning, looking_back, tidying, auditing, upkeep, safekeeping):
    app.add_typer(_each.app)
app.add_typer(serving.app)
app.add_typer(jobs.app)
app.add_typer(notes.notes, name="notes")
app.add_typer(entities.entities, name="entities")
app.add_typer(rules.rules, name="rules")
app.add_typer(pools.pools, name="pools")
app.add_typer(keys.keys, name="keys")
app.add_typer(jobs.jobs, name="jobs")


@app.callback(invoke_without_command=True)
def engrain(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    db: Db = None,
    agent: AgentName = None,
    tenant: TenantName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Long-term memory for AI agents: remembers what happened and what is true, finds it again, and says why."""
    context.obj = options(db=db, agent=agent, tenant=tenant, config=config, as_json=as_json)
    if version:
        output.say(f"engrain {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        output.note(context.get_help())
        raise typer.Exit(ExitCode.INVALID)


@functools.cache
def parser() -> Callable[..., Any]:
    """What reads a command line and runs it; making it takes typer 70 ms, so a process makes one."""
    return get_command(app)
