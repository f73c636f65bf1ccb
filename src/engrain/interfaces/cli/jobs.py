"""What is done by itself: `engrain worker`, and the jobs it does."""

import signal
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from engrain.domain.runs.jobs import JOB_NAMES, JOB_STATUSES
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.invocation import Invocation, command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from engrain.domain.runs.jobs import Job
    from engrain.jobs.worker import Worker

app = typer.Typer()
jobs = typer.Typer(help="What the memory does by itself: when it was done, and what came of it.", no_args_is_help=True)


@command(app, "worker")
def worker(
    invocation: Invocation,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
    timeout_s: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Seconds the job in hand may still take at the end.")
    ] = 30.0,
) -> None:
    """Do by itself what the settings `jobs.schedules` ask for, until it is told to end.

    SIGTERM or Ctrl-C lets it end the job in hand, or give it back to other workers; a second one does not wait.
    """
    from engrain.interfaces import logs
    from engrain.jobs.worker import Worker

    with invocation.memory(stays=True) as memory:
        at_work = Worker(memory)
        if once:
            _answer(invocation, at_work.run_due(), "nothing is due")
            return
        logs.configure(memory.settings.logging)
        invocation.note(f"worker {at_work.name} is at work; Ctrl-C ends it")
        _until_told(at_work, timeout_s)


@command(jobs, "list")
def list_jobs(
    invocation: Invocation,
    *,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help=one_of(JOB_NAMES))] = None,
    status: Annotated[str | None, typer.Option("--status", metavar="STATUS", help=one_of(JOB_STATUSES))] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="How many at most.")] = 50,
) -> None:
    """The jobs of all tenants, or of the one that --tenant names, newest first."""
    with invocation.memory() as memory:
        found = memory.jobs.list(tenant=invocation.tenant, name=name, status=status, limit=limit)
        _answer(invocation, found, "there are no such jobs")


@command(jobs, "run")
def run(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME", help=one_of(JOB_NAMES))],
    *,
    enqueue: Annotated[bool, typer.Option("--enqueue", help="Leave it to a worker.")] = False,
) -> None:
    """Do a job now, of all tenants or of the one that --tenant names."""
    with invocation.memory() as memory:
        done = memory.jobs.run(name, tenant=invocation.tenant, enqueue=enqueue)
        invocation.answer(done.to_dict(), _line(done))


@command(jobs, "retry")
def retry(
    invocation: Invocation,
    job_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a job whose status is dead_letter.")],
) -> None:
    """Let a worker try a job again that was given up."""
    with invocation.memory() as memory:
        waiting = memory.jobs.retry(job_id, tenant=invocation.tenant)
        invocation.answer(waiting.to_dict(), _line(waiting))


def _until_told(worker: "Worker", timeout_s: float) -> None:
    """Let it work until a signal comes, or it ends by itself."""
    told = threading.Event()

    def tell(number: int, _: "FrameType | None") -> None:
        signal.signal(number, before[signal.Signals(number)])
        told.set()

    before = {number: signal.signal(number, tell) for number in (signal.SIGTERM, signal.SIGINT)}
    worker.start(at_end=told.set)
    told.wait()
    worker.stop(timeout_s)


def _answer(invocation: Invocation, found: "Sequence[Job]", none: str) -> None:
    if found or invocation.as_json:
        invocation.answer_list(found, "\n".join(_line(each) for each in found))
    else:
        invocation.note(none)


def _line(job: "Job") -> str:
    whose = f" of {job.tenant_id}" if job.tenant_id else ""
    told = ", ".join(f"{name} {value:,}" for name, value in job.report.items() if type(value) is int)
    end = job.last_error or told
    return f"{job.run_at:%Y-%m-%d %H:%M:%S} {job.name}{whose} {job.status} {job.id}" + (f"  {end}" if end else "")
