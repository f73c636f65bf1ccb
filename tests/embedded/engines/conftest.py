import pytest

from engrain.engines.endpoint import Timing
from tests.support.models import FakeTime, serving


@pytest.fixture(scope="session")
def _server():
    with serving() as models:
        yield models


@pytest.fixture
def models(_server, monkeypatch):
    """The server as it is when nothing is wrong; proxies of the environment are for elsewhere."""
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    _server.__init__(_server.url)
    return _server


@pytest.fixture
def passing():
    return FakeTime()


@pytest.fixture
def timing(passing):
    """Time that the test spends; every pause is the longest that chance allows."""
    return Timing(clock=passing.clock, wall_clock=passing.clock, pause=passing.pause, chance=lambda: 1.0)
