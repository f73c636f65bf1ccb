"""The library's tools of upkeep: what learning did and takes back, and what time asks for."""

from typing import Annotated

from pydantic import Field

from engrain.domain.runs.runs import RunKind
from engrain.interfaces.mcp import arguments as given
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.library import words
from engrain.interfaces.mcp.library.answers import CleanedUp, Decayed, Learned, Runs, UndoneRun
from engrain.interfaces.mcp.offers import CONFIRMS, LEARNS, READS, REMOVES, REPLACES, Offer, unless_absent


def consolidate(
    who: Identity,
    *,
    session_id: Annotated[str | None, Field(description="Of this conversation alone.")] = None,
    exclude_session_id: Annotated[str | None, Field(description="Of all conversations but this one.")] = None,
    max_batches: Annotated[int | None, Field(description="Ask the language model about so many batches.")] = None,
    dry_run: words.DryRun = False,
) -> Learned:
    """Learn facts and rules from this agent's episodes that wait, and say all that came of it.

    Without a language model it only counts what is due.
    """
    report = who.memory.consolidate(
        who.tenant,
        agent=who.agent_name,
        session=session_id,
        exclude_session=exclude_session_id,
        max_batches=max_batches,
        dry_run=dry_run,
    )
    return Learned(report=report)


def runs(
    who: Identity,
    *,
    kind: Annotated[RunKind | None, Field(description="Of this kind alone.")] = None,
    limit: given.Limit = 50,
    after: words.After = None,
) -> Runs:
    """What this agent learned when, and how it ended, the newest first."""
    return Runs.of(who.memory.runs(who.agent_name, tenant=who.tenant, kind=kind, limit=limit, after=after))


def undo(who: Identity, run_id: Annotated[str, Field(description="Id of a run, as runs shows it.")]) -> UndoneRun:
    """Take back what one run of this agent learned; what somebody has changed since stays, and is told."""
    return UndoneRun.of(unless_absent(lambda: who.memory.undo(run_id, agent=who.agent_name, tenant=who.tenant)))


def decay(who: Identity, *, dry_run: words.DryRun = False) -> Decayed:
    """Let the tenant's facts and rules fade and expire that nobody confirmed for too long. Nothing is deleted."""
    return Decayed.of(who.memory.decay(who.whole_tenant, dry_run=dry_run))


def cleanup(
    who: Identity,
    *,
    max_entries: Annotated[
        int | None, Field(description="Episodes of the tenant that may stay; the setting's if left out.")
    ] = None,
    dry_run: words.DryRun = False,
) -> CleanedUp:
    """Remove the tenant's episodes that ran out, and of too many the oldest consolidated ones. This is for good."""
    return CleanedUp.of(who.memory.cleanup(who.whole_tenant, max_entries=max_entries, dry_run=dry_run))


OFFERS = (
    Offer(consolidate, LEARNS, role="admin"),
    Offer(runs, READS),
    Offer(undo, REPLACES, role="admin"),
    Offer(decay, CONFIRMS, role="admin"),
    Offer(cleanup, REMOVES, role="admin"),
)
