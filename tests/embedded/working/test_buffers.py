"""Messages that no database holds yet: an erasure and the end of a memory wait for those that are being stored."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from engrain import config
from engrain.agent.wiring.buffers import Buffers
from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller
from tests.support.sample_records import episode

PATIENCE_S = 60
ANA = Extent(tenant_id="default", user="ana")


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda buffers: buffers.is_empty, True),
        (lambda buffers: buffers.holds_extent(ANA), False),
        (lambda buffers: buffers.erase_extent(ANA), None),
        (lambda buffers: buffers.erase(Caller(agent="aide", user="ana"), ["any"]), []),
        (lambda buffers: buffers.store_working(None), None),
    ],
    ids=["is empty", "holds extent", "erase extent", "erase", "store working"],
)
def test_whoever_asks_for_what_is_left_waits_for_what_is_being_stored(ask, answer):
    entered, release, stored = threading.Event(), threading.Event(), []

    def store(session):
        entered.set()
        assert release.wait(PATIENCE_S)
        stored.append(session)

    buffers = Buffers(config.load({"working": {"sessions": 1}}))
    for session in ("monday", "tuesday"):
        caller = Caller(agent="aide", user="ana", session=session)
        buffers.working.change(caller, lambda session: session.messages.append(episode("said")))
    buffers.working.clear(caller)
    with ThreadPoolExecutor(2) as threads:
        threads.submit(buffers.store_evicted, store)
        assert entered.wait(PATIENCE_S)
        asked = threads.submit(ask, buffers)
        buffers.store_evicted(store)  # another thread is at it
        assert not asked.done()
        threading.Timer(0.05, release.set).start()
        assert asked.result(PATIENCE_S) == answer
        assert len(stored) == 1
