"""Commands about rules: how to go about something, and what came of it."""

from typing import Annotated

import typer

from engrain.domain.records import Rule
from engrain.interfaces.cli import rendering
from engrain.interfaces.cli.arguments import (
    After,
    Id,
    IdempotencyKey,
    Limit,
    Metadata,
    Scope,
    SourceEpisode,
    Tags,
    json_object,
)
from engrain.interfaces.cli.invocation import Invocation, command

rules = typer.Typer(help="Guidance learned from what worked and what did not.")


@command(rules, "add")
def add_rule(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="How to go about something.")],
    *,
    scope: Scope = None,
    source_episode: SourceEpisode = None,
    tag: Tags = None,
    metadata: Metadata = None,
    idempotency_key: IdempotencyKey = None,
) -> None:
    """Remember how to go about something.

    A candidate, until outcomes speak for or against it.
    """
    with invocation.adding() as memory:
        rule = memory.agent().rules.add(
            text,
            scope=scope,
            source_episode_id=source_episode,
            tags=tag,
            metadata=json_object(metadata, what="metadata"),
            idempotency_key=idempotency_key,
        )
        invocation.answer(rule.to_dict(), f"added rule {rule.id} ({rule.maturity})")


@command(rules, "helpful")
def mark_helpful(invocation: Invocation, id_: Id) -> None:
    """Say that following a rule helped."""
    with invocation.memory() as memory:
        rule = memory.agent().rules.mark_helpful(id_)
        invocation.answer(rule.to_dict(), _marked(rule))


@command(rules, "harmful")
def mark_harmful(
    invocation: Invocation,
    id_: Id,
    *,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="What went wrong.")] = None,
) -> None:
    """Say that following a rule did harm.

    It weighs as much as four helps; a rule that keeps doing harm becomes a warning.
    """
    with invocation.adding() as memory:
        rule = memory.agent().rules.mark_harmful(id_, reason)
        invocation.answer(rule.to_dict(), _marked(rule))


@command(rules, "applications")
def applications(invocation: Invocation, id_: Id, *, limit: Limit = 100, after: After = None) -> None:
    """How a rule fared each time somebody marked it, the newest first."""
    with invocation.memory() as memory:
        found = memory.agent().rules.applications(id_, limit=limit, after=after)
        invocation.answer_list(found, rendering.applications(found))


def _marked(rule: Rule) -> str:
    counts = f"helped {rule.success_count:,} of {rule.applied_count:,} times, harmed {rule.harmful_count:,}"
    return f"{rule.maturity} (effectiveness {rule.effectiveness_score:.2f}: {counts}): {rule.content}"
