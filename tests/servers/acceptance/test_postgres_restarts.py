"""PostgreSQL goes away under load and comes back: what was acknowledged is there, and clients go on by themselves."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from engrain import Memory
from engrain.errors import DatabaseBusy, DatabaseUnreachable, OutcomeUnknown
from tests.support.postgres import PostgresServer
from tests.support.stores import PostgresStore

WRITERS = 3
BETWEEN = 10  # acknowledged writes of each writer before the server goes, and after it is back
PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def server():
    with PostgresServer() as server:
        yield server


class Counted(list):
    """A list that tells a condition of each item."""

    def __init__(self, pulse):
        super().__init__()
        self._pulse = pulse

    def append(self, item):
        with self._pulse:
            super().append(item)
            self._pulse.notify_all()


class Writer:
    """One client that observes and recalls, and notes what it was told."""

    def __init__(self, memory, name, acknowledged):
        self.agent = memory.agent(name, session="load")
        self.acknowledged = acknowledged
        self.unknown = 0
        self.refused = 0

    def write(self, stop):
        number = 0
        while not stop.is_set():
            number += 1
            try:
                self.acknowledged.append(self.agent.observe(f"Number {number} of {self.agent.caller.agent}").id)
                assert len(self.agent.recall(f"number {number}", limit=3))
            except OutcomeUnknown:
                self.unknown += 1
            except (DatabaseUnreachable, DatabaseBusy):
                self.refused += 1

    def has_written(self, count, pulse):
        """Wait until so many more were acknowledged."""
        goal = len(self.acknowledged) + count
        with pulse:
            assert pulse.wait_for(lambda: len(self.acknowledged) >= goal, PATIENCE_S)


@pytest.mark.parametrize("end", ["kill", "fast", "immediate"])
def test_acknowledged_writes_survive_a_server_that_ends_under_load(server, end):
    url = server.new_database()
    stop, pulse = threading.Event(), threading.Condition()
    with closing(PostgresStore(url, timeout_s=PATIENCE_S)) as store:
        memory = Memory(store)
        writers = [Writer(memory, f"writer {number}", Counted(pulse)) for number in range(WRITERS)]
        with ThreadPoolExecutor(WRITERS) as pool:
            working = [pool.submit(writer.write, stop) for writer in writers]
            try:
                for _ in range(2):
                    for writer in writers:
                        writer.has_written(BETWEEN, pulse)
                    if end == "kill":
                        server.kill()
                        server.start()
                    else:
                        server.restart(end)
                for writer in writers:
                    writer.has_written(BETWEEN, pulse)
            finally:
                stop.set()
            for each in working:
                each.result()
        for writer in writers:
            kept = [writer.agent.get(id_, as_of=memory.parts.clock()) for id_ in writer.acknowledged]
            assert None not in kept
            turns = [episode.turn for episode in kept]
            assert turns == sorted(set(turns))
        assert store.health().problems == ()
