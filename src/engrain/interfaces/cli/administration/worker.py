"""`engrain worker`: does jobs when they are due."""

import signal
import threading
from typing import TYPE_CHECKING, Annotated

from engrain.interfaces.cli import output
from engrain.interfaces.cli.invocation import Invocation, flag
from engrain.interfaces.cli.rendering import lists

if TYPE_CHECKING:
    from types import FrameType

    from engrain.jobs.worker import Worker


def worker(
    invocation: Invocation,
    *,
    once: Annotated[bool, flag("--once", "Do what is due now, and end.")] = False,
    timeout_s: Annotated[float, flag("--timeout S", "Seconds the job in hand may still take at the end.")] = 30.0,
) -> None:
    """Run the jobs that the settings `jobs.schedules` ask for, until it is told to end.

    SIGTERM or Ctrl-C lets it end the job in hand, or give it back to other workers; a second one does not wait.
    """
    from engrain.interfaces import logs
    from engrain.jobs.worker import Worker

    with invocation.memory(stays=True) as memory:
        at_work = Worker(memory)
        if once:
            done = at_work.run_due()
            if invocation.as_json:
                output.document({"items": [job.to_dict() for job in done], "next": None})
            elif done:
                output.say(lists.lines(done))
            else:
                invocation.note("nothing is due")
            return
        logs.configure(memory.settings.logging)
        invocation.note(f"worker {at_work.name} is at work; Ctrl-C ends it")
        _work_until_signal(at_work, timeout_s)


def _work_until_signal(worker: "Worker", timeout_s: float) -> None:
    """Let it work until a signal comes, or it ends by itself."""
    end = threading.Event()

    def stop(number: int, _: "FrameType | None") -> None:
        signal.signal(number, before[signal.Signals(number)])
        end.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    worker.start(at_end=end.set)
    end.wait()
    worker.stop(timeout_s)
