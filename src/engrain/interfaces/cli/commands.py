"""The commands: each one call of the facade, its answer shown."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from engrain import __version__
from engrain.domain.records import DECAY_RATES, GLOBAL_SCOPE, KINDS, ROLES, Fact
from engrain.errors import InvalidInput, NotFound
from engrain.interfaces.cli import output, rendering
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import AgentName, AsJson, Db, Invocation, TenantName, command, options
from engrain.portability.formats import FORMATS
from engrain.retrieval.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterable

app = typer.Typer(
    rich_markup_mode=None,  # plain help takes half the time and is the same in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _one_of(words: "Iterable[str]") -> str:
    return f"One of: {', '.join(words)}."


Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a memory, as recall shows it.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: any text.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag to file it under; may be repeated.")]


@app.callback(invoke_without_command=True)
def engrain(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    db: Db = None,
    agent: AgentName = None,
    tenant: TenantName = None,
    as_json: AsJson = False,
) -> None:
    """Long-term memory for AI agents: remembers what happened and what is true, finds it again, and says why."""
    context.obj = options(db=db, agent=agent, tenant=tenant, as_json=as_json)
    if version:
        output.say(f"engrain {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        output.note(context.get_help())
        raise typer.Exit(ExitCode.INVALID)


@command(app, "import")
def import_(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File, zip archive or folder of an export.")],
    *,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help=f"auto (see what it is) or one of: {', '.join(FORMATS)}.")
    ] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first broken record.")] = False,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave the vectors to the next command that adds something.")
    ] = False,
) -> None:
    """Add the conversations of an export.

    Importing a file again adds only what is new in it.
    """
    from engrain.interfaces.cli import importing

    importing.run(invocation, file, form=form, strict=strict, embed=not no_embed)


@command(app, "observe")
def observe(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help='What was said or happened; "-" reads it from stdin.')],
    *,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=_one_of(ROLES))] = "user",
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Conversation it belongs to.")
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="TIME", help="When it happened, ISO 8601; now if left out.")
    ] = None,
    tag: Tags = None,
) -> None:
    """Remember what happened: one turn of a conversation."""
    said = _stdin() if text == "-" else text
    with invocation.adding() as memory:
        episode = memory.agent().observe(said, role=role, speaker=speaker, session=session, event_time=time, tags=tag)
        place = f" in session {episode.session}, turn {episode.turn}" if episode.session else ""
        invocation.answer(episode.to_dict(), f"observed {episode.id}{place}")


@command(app, "remember")
def remember(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is true of the subject and predicate.")],
    *,
    subject: Annotated[str, typer.Option("--subject", metavar="NAME", help="Whom or what it is about.")],
    predicate: Annotated[str, typer.Option("--predicate", metavar="WORDS", help='Such as "lives in".')],
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Since when it is true, ISO 8601.")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Until when it is true, ISO 8601.")
    ] = None,
    permanence: Annotated[
        str, typer.Option("--permanence", metavar="WORD", help=f"How slowly it fades. {_one_of(DECAY_RATES)}")
    ] = "standard",
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="NAME", help=f"{GLOBAL_SCOPE} (every agent) or the agent's name.")
    ] = None,
    tag: Tags = None,
) -> None:
    """Remember what is true.

    It supersedes what was true of the same subject and predicate before.
    """
    with invocation.adding() as memory:
        fact = memory.agent().remember(
            text,
            subject=subject,
            predicate=predicate,
            valid_from=valid_from,
            valid_to=valid_to,
            permanence=permanence,
            scope=scope,
            tags=tag,
        )
        before = f"\nsupersedes {fact.supersedes_id}" if fact.supersedes_id else ""
        invocation.answer(fact.to_dict(), f"remembered {fact.id}\n{rendering.statement(fact)}{before}")


@command(app, "recall")
def recall(
    invocation: Invocation,
    query: Query,
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="How many hits at most, 0-1000 (ENGRAIN_LIMIT).")
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help=f"How to rank (ENGRAIN_PRESET). {_one_of(PRESETS)}")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help=f"{_one_of(KINDS)} May be repeated.")
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="NAME", help="Of this session; repeated, of any of them.")
    ] = None,
    exclude_session: Annotated[
        list[str] | None,
        typer.Option("--exclude-session", metavar="NAME", help="Not of this session; may be repeated."),
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help=f"{_one_of(ROLES)} May be repeated.")
    ] = None,
    speaker: Annotated[
        list[str] | None, typer.Option("--speaker", metavar="NAME", help="Said by this one; repeated, by any of them.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="With this tag; repeated, with all of them.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before, ISO 8601.")] = None,
) -> None:
    """The best memories for a question, best first, each saying why."""
    with invocation.memory() as memory:
        answer = memory.agent().recall(
            query,
            limit=limit,
            preset=preset,
            kinds=kind,
            sessions=session,
            exclude_sessions=exclude_session,
            roles=role,
            speakers=speaker,
            tags=tag,
            since=since,
            until=until,
        )
        if invocation.as_json:
            output.document(answer.to_dict())
            return
        rendering.show_hits(answer.hits)
        invocation.degraded(answer.degraded)
        if not answer.hits:
            invocation.note("nothing found")


@command(app, "context")
def context_block(
    invocation: Invocation,
    query: Query,
    *,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", metavar="TOKENS", help="Most tokens, of four characters each (ENGRAIN_BUDGET_TOKENS)."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="The conversation going on: it is left out.")
    ] = None,
) -> None:
    """A Markdown block for a prompt.

    What is known, then what was said, the best for the query within a budget.
    """
    with invocation.memory() as memory:
        block = memory.agent(session=session).context(query, budget_tokens=budget)
        invocation.answer(block.to_dict(), block.text)
        invocation.degraded(block.degraded)


@command(app, "get")
def get(invocation: Invocation, id_: Id) -> None:
    """One memory by id, live or not."""
    with invocation.memory() as memory:
        agent = memory.agent()
        found = agent.get(id_)
        if found is None:
            raise NotFound(f"no memory {id_} is visible to agent {agent.caller.agent}; recall shows ids")
        invocation.answer(found.to_dict(), rendering.record(found))


@command(app, "forget")
def forget(invocation: Invocation, id_: Id) -> None:
    """Forget one memory.

    It leaves every search at once, and stays readable by its id.
    """
    with invocation.memory() as memory:
        gone = memory.agent().forget(id_)
        done = "retracted" if isinstance(gone, Fact) else "expired"
        invocation.answer(gone.to_dict(), f"forgotten ({gone.kind}, {done}): {rendering.summary(gone)}")


@command(app, "stats")
def stats(invocation: Invocation) -> None:
    """How much the agent remembers."""
    with invocation.memory() as memory:
        counted = memory.agent().stats().to_dict()
        invocation.answer(counted, output.pairs(counted))


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


@command(app, "bench")
def bench(invocation: Invocation) -> None:
    """Measure this machine, in under 20 seconds.

    Embeddings, writes and searches over 2,000 made-up memories in a temporary file.
    """
    from engrain.interfaces.cli import measurement

    measured = measurement.measure(invocation)
    invocation.answer(measured, output.pairs(measured))


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"stdin is not UTF-8 text ({error.reason} at byte {error.start:,})") from error
