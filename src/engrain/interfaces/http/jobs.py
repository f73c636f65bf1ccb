"""Jobs of a tenant: what was done by itself, what waits, and what to do now."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Query, Response
from pydantic import Field

from engrain.agent.jobs import Jobs
from engrain.domain.pagination import Page
from engrain.domain.runs.jobs import Job, JobName, JobStatus
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import created, listed, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("jobs", "What is done by itself from time to time, here for one tenant.", group="jobs")


class ToRun(Body):
    """What to do for the tenant, and by whom."""

    name: Annotated[JobName, Field(description="Compaction and backup are of the whole database, and not for here.")]
    enqueue: Annotated[bool, Field(description="Leave it to a worker.")] = False


@room.verb("GET", "/jobs", Jobs.list, needs="admin", answers=Page[Job])
def list_(
    asked: Asked,
    name: Annotated[JobName | None, Query(description="Of this name alone.")] = None,
    status: Annotated[JobStatus | None, Query(description="That stand so alone.")] = None,
    limit: words.PageLimit = 50,
) -> Response:
    """List the tenant's own jobs, newest first; what a schedule asks for is of every tenant and not among them."""
    return listed(asked.memory.jobs.list(tenant=asked.whole_tenant, name=name, status=status, limit=limit))


@room.verb("POST", "/jobs", Jobs.run, needs="admin", answers=Job, status=HTTPStatus.CREATED)
def run(asked: Asked, body: ToRun) -> Response:
    """Do a job of the tenant now, or with `enqueue` leave it to a worker; the job as it stands then."""
    return created(asked.memory.jobs.run(tenant=asked.whole_tenant, **body.given()))


@room.verb("POST", "/jobs/{job_id}/retry", Jobs.retry, needs="admin", answers=Job)
def retry(asked: Asked, job_id: Annotated[str, Path(description="Id of a job that is a dead letter.")]) -> Response:
    """Let a worker try a dead letter again, as often as at first."""
    return said(asked.memory.jobs.retry(job_id, tenant=asked.whole_tenant))
