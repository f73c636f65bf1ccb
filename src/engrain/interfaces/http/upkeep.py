"""What is done to a tenant's memories from time to time, and what learning did."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from engrain import Memory
from engrain.agent import Agent
from engrain.domain.maintenance.findings import Audit
from engrain.domain.pagination import Page
from engrain.domain.runs.runs import Run, Undone
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import listed, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body
from engrain.learning.consolidation.report import ConsolidationReport
from engrain.learning.reflection.reflections import ReflectionReport
from engrain.lifecycle.cleanup import CleanupReport
from engrain.lifecycle.sweep import DecayReport

room = Room("upkeep", "What is done to a tenant's memories from time to time, and what learning did.")


class Decay(Body):
    """How to let memories fade."""

    dry_run: words.DryRun = False


class Cleanup(Body):
    """How many episodes may stay."""

    max_entries: Annotated[int | None, Field(ge=0, description="So many; the setting's if left out.")] = None
    dry_run: words.DryRun = False


class Consolidate(Body):
    """Whose episodes to learn from."""

    agent: words.OfAgent = None
    session: Annotated[str | None, Field(description="Of this conversation alone.")] = None
    exclude_session: Annotated[str | None, Field(description="Of all conversations but this one.")] = None
    dry_run: words.DryRun = False
    max_batches: Annotated[int | None, Field(ge=0, le=1000, description="At most so many batches an agent.")] = None


class Reflect(Body):
    """Who should look back."""

    agent: words.OfAgent = None
    dry_run: words.DryRun = False
    force: Annotated[bool, Field(description="Pass over the days there should be between.")] = False


@room.verb("POST", "/decay", Memory.decay, needs="admin", answers=DecayReport)
def decay(asked: Asked, body: Decay) -> Response:
    """Let the tenant's facts and rules fade and expire that nobody confirmed for too long."""
    return said(asked.memory.decay(asked.whole_tenant, **body.given()))


@room.verb("POST", "/cleanup", Memory.cleanup, needs="admin", answers=CleanupReport)
def cleanup(asked: Asked, body: Cleanup) -> Response:
    """Remove the tenant's episodes that ran out, and of too many the oldest consolidated ones. Cannot be undone."""
    return said(asked.memory.cleanup(asked.whole_tenant, **body.given()))


@room.verb("POST", "/consolidate", Memory.consolidate, needs="admin", answers=ConsolidationReport)
def consolidate(asked: Asked, body: Consolidate) -> Response:
    """Learn facts and rules from the tenant's episodes that wait; without a language model only count them."""
    return said(asked.memory.consolidate(asked.tenant, **{**body.given(), "agent": asked.extent(body.agent)}))


@room.verb("POST", "/reflect", Memory.reflect, needs="admin", answers=ReflectionReport)
def reflect(asked: Asked, body: Reflect) -> Response:
    """Let each of the tenant's agents that learned something of late look back on its week."""
    return said(asked.memory.reflect(asked.tenant, **{**body.given(), "agent": asked.extent(body.agent)}))


@room.verb("GET", "/runs", Memory.runs, needs="reader", answers=Page[Run])
def runs(
    asked: Asked,
    kind: words.OfRunKind = None,
    limit: words.PageLimit = 50,
    after: words.After = None,
) -> Response:
    """List what was learned when, by whom and how it ended: the agent's runs, newest first."""
    found = asked.memory.runs(asked.agent_name, tenant=asked.tenant, kind=kind, limit=limit, after=after)
    return listed(found)


@room.verb("POST", "/runs/{run_id}/undo", Memory.undo, needs="admin", answers=Undone)
def undo(asked: Asked, run_id: words.RunId) -> Response:
    """Take back what one run of the agent learned; what somebody has changed since stays."""
    return said(asked.memory.undo(run_id, agent=asked.agent_name, tenant=asked.tenant))


@room.verb("GET", "/audit", Agent.audit, needs="admin", answers=Audit)
def audit(
    asked: Asked,
    *,
    kinds: words.FindingKinds = None,
    limit: words.PageLimit = 100,
    skip: Annotated[int, Query(ge=0, le=1_000_000, description="Of each kind, pass over so many.")] = 0,
    unused_days: Annotated[float, Query(ge=0, le=36_500, description="Never asked for, and older.")] = 30.0,
) -> Response:
    """Say what looks wrong with what the agent sees, with evidence and a command for each finding."""
    return said(asked.agent().audit(kinds=kinds, limit=limit, skip=skip, unused_days=unused_days))
