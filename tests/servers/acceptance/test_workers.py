"""Workers as processes: killed in the middle of a job, asked to end, and without their database server."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from engrain import Memory
from engrain.jobs.worker import Worker
from tests.support import models
from tests.support.learning_memories import LLM, fact, reply
from tests.support.postgres import PostgresServer

LISBON = reply(fact("Ana", "lives in", "Lisbon", "I live in Lisbon"))
SETTINGS = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False}}
PATIENCE_S = 180


class Gate:
    """What a model waits for before it answers; it tells when somebody waits."""

    def __init__(self):
        self.is_asked, self._may_go = threading.Event(), threading.Event()

    def wait(self, timeout_s):
        self.is_asked.set()
        return self._may_go.wait(timeout_s)

    def open(self):
        self._may_go.set()


@pytest.fixture
def model():
    with models.serving() as served:
        served.reply = lambda *_: LISBON
        served.may_answer = Gate()
        yield served
        served.may_answer.open()


def opened(location, llm, clock=lambda: datetime.now(UTC)):
    return Memory.open(location, settings=SETTINGS, llm=llm, clock=clock)


@contextmanager
def working(location, model, *arguments):
    """A worker of its own, over with the block."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAIN_")}
    environment = {
        **ours,
        "ENGRAIN_DB": location,
        "ENGRAIN_EMBEDDING__MODEL": "none",
        "ENGRAIN_LLM__MODEL": "openai:m",
        "ENGRAIN_LLM__URL": f"{model.url}/v1",
        "ENGRAIN_LLM__KEY": models.KEY,
    }
    command = [sys.executable, "-m", "engrain", "worker", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def learned(memory):
    return [fact.content for fact in memory.agent().facts("Ana")]


@pytest.mark.req("N04")
def test_the_job_of_a_worker_that_is_killed_is_taken_over_to_the_effect_of_once(location, model):
    with opened(location, LLM([LISBON])) as memory:
        memory.agent().observe("I live in Lisbon.", speaker="Ana")
        job = memory.jobs.run("consolidation", enqueue=True)
        with working(location, model) as process:
            assert model.may_answer.is_asked.wait(PATIENCE_S)
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE_S)
        model.may_answer.open()
        [left] = memory.jobs.list(name="consolidation", status="running")
        assert (left.id, left.attempts) == (job.id, 1)
        assert learned(memory) == []
        assert [ended for ended in Worker(memory).run_due() if ended.id == job.id] == []  # as its lease is not over
    with opened(location, LLM([LISBON]), clock=lambda: datetime.now(UTC) + timedelta(hours=1)) as later:
        [done] = [ended for ended in Worker(later).run_due() if ended.id == job.id]
        assert (done.status, done.attempts, done.report["new"]) == ("done", 2, 1)
        assert later.jobs.run("consolidation").report["new"] == 0
        assert learned(later) == ["Lisbon"]
        told = [event.event_type for event in later.agent().events(later.agent().facts("Ana")[0].id)]
        assert told.count("fact_created") == 1
        assert sorted(run.status for run in later.runs()) == ["abandoned", "done"]


def test_a_worker_that_is_told_to_end_ends_its_job_first(tmp_path, model):
    location = str(tmp_path / "memory.db")
    with opened(location, LLM([])) as memory:
        memory.agent().observe("I live in Lisbon.", speaker="Ana")
        job = memory.jobs.run("consolidation", enqueue=True)
        with working(location, model) as process:
            assert model.may_answer.is_asked.wait(PATIENCE_S)
            process.send_signal(signal.SIGTERM)
            model.may_answer.open()
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out) == (0, ""), err
        assert "is at work" in err
        assert [done.id for done in memory.jobs.list(name="consolidation", status="done")] == [job.id]
        assert learned(memory) == ["Lisbon"]


def test_a_worker_that_is_told_to_end_at_once_gives_its_job_back(tmp_path, model):
    location = str(tmp_path / "memory.db")
    with opened(location, LLM([LISBON])) as memory:
        memory.agent().observe("I live in Lisbon.", speaker="Ana")
        job = memory.jobs.run("consolidation", enqueue=True)
        with working(location, model, "--timeout", "0") as process:
            assert model.may_answer.is_asked.wait(PATIENCE_S)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        [given] = memory.jobs.list(name="consolidation", status="waiting")
        assert (given.id, given.attempts, given.worker) == (job.id, 0, None)


def test_a_worker_waits_for_a_server_that_went_away_and_writes_down_how_its_job_ended():
    pauses = []
    with PostgresServer() as away:
        location = away.new_database()

        def answer(_):
            away.stop("immediate")
            return LISBON

        def wait(pause_s):
            pauses.append(pause_s)
            if len(pauses) == 3:
                away.start()
            if len(pauses) > 3 and pause_s == 1:  # it is at work again; where connecting takes long, later
                worker.stop(0)

        settings = {**SETTINGS, "jobs": {"poll_s": 1}}
        with Memory.open(location, settings=settings, llm=LLM([answer, LISBON])) as memory:
            memory.agent().observe("I live in Lisbon.", speaker="Ana")
            job = memory.jobs.run("consolidation", enqueue=True)
            memory.parts.store.backend._connections._timeout_s = 0.2  # from now on, as there are connections
            worker = Worker(memory, wait=wait)
            worker.run()
            assert (pauses[:3], pauses[-1]) == ([1, 2, 4], 1)
            [ended] = [stored for stored in memory.jobs.list(name="consolidation") if stored.id == job.id]
            assert ended.status in {"done", "waiting"}
            assert learned(memory) == []
        hours_later = Memory.open(
            location, settings=settings, llm=LLM([LISBON]), clock=lambda: datetime.now(UTC) + timedelta(hours=9)
        )
        with hours_later as memory:
            memory.jobs.run("consolidation")
            assert learned(memory) == ["Lisbon"]
