"""Commands that add: conversations, turns, facts."""

import sys
from typing import Annotated

import typer

from engrain.domain.records import DECAY_RATES, ROLES
from engrain.errors import InvalidInput
from engrain.interfaces.cli import rendering
from engrain.interfaces.cli.arguments import (
    Confidence,
    IdempotencyKey,
    Importance,
    Metadata,
    Scope,
    Source,
    SourceEpisode,
    Tags,
    ToolCalls,
    ValidFrom,
    ValidTo,
    json_object,
    one_of,
    parsed,
)
from engrain.interfaces.cli.invocation import Invocation, command
from engrain.portability.formats import FORMATS

app = typer.Typer()


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
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=one_of(ROLES))] = "user",
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Conversation it belongs to.")
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="TIME", help="When it happened, ISO 8601; now if left out.")
    ] = None,
    importance: Importance = None,
    ttl_days: Annotated[
        float | None,
        typer.Option(
            "--ttl-days", metavar="DAYS", help="Forgotten so many days after now (ENGRAIN_EPISODES__TTL_DAYS)."
        ),
    ] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", metavar="N", help="How many tokens it took.")] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Model that wrote it.")] = None,
    tool_call: ToolCalls = None,
    tag: Tags = None,
    metadata: Metadata = None,
    idempotency_key: IdempotencyKey = None,
) -> None:
    """Remember what happened: one turn of a conversation."""
    said = _stdin() if text == "-" else text
    with invocation.adding() as memory:
        episode = memory.agent().observe(
            said,
            role=role,
            speaker=speaker,
            session=session,
            event_time=time,
            importance=importance,
            ttl_days=ttl_days,
            tokens=tokens,
            model=model,
            tool_calls=parsed(tool_call, what="tool call"),
            tags=tag,
            metadata=json_object(metadata, what="metadata"),
            idempotency_key=idempotency_key,
        )
        place = f" in session {episode.session}, turn {episode.turn}" if episode.session else ""
        invocation.answer(episode.to_dict(), f"observed {episode.id}{place}")


@command(app, "remember")
def remember(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is true of the subject and predicate.")],
    *,
    subject: Annotated[str, typer.Option("--subject", metavar="NAME", help="Whom or what it is about.")],
    predicate: Annotated[str, typer.Option("--predicate", metavar="WORDS", help='Such as "lives in".')],
    entity: Annotated[str | None, typer.Option("--entity", metavar="ID", help="Entity the subject names.")] = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="WORD", help="What sort of fact it is; its words tell.")
    ] = None,
    permanence: Annotated[
        str, typer.Option("--permanence", metavar="WORD", help=f"How slowly it fades. {one_of(DECAY_RATES)}")
    ] = "standard",
    importance: Importance = None,
    confidence: Confidence = 1.0,
    scope: Scope = None,
    source: Source = None,
    source_episode: SourceEpisode = None,
    tag: Tags = None,
    metadata: Metadata = None,
    idempotency_key: IdempotencyKey = None,
) -> None:
    """Remember what is true.

    It supersedes what was true of the same subject and predicate before.
    """
    with invocation.adding() as memory:
        fact = memory.agent().remember(
            text,
            subject=subject,
            predicate=predicate,
            entity_id=entity,
            valid_from=valid_from,
            valid_to=valid_to,
            category=category,
            permanence=permanence,
            importance=importance,
            confidence=confidence,
            scope=scope,
            source=source,
            source_episode_id=source_episode,
            tags=tag,
            metadata=json_object(metadata, what="metadata"),
            idempotency_key=idempotency_key,
        )
        invocation.answer(fact.to_dict(), rendering.remembered(fact))


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"stdin is not UTF-8 text ({error.reason} at byte {error.start:,})") from error
