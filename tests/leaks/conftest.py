"""The leak suite runs on the backends of the conformance suite."""

import pytest

from tests.conformance.conftest import BACKENDS, Backend


# What a file answers, a database in memory does too: the statements are the same.
@pytest.fixture(scope="session", params=[name for name in BACKENDS if name != "sqlite-memory"])
def backend(request, tmp_path_factory) -> Backend:
    """One kind of store, as many of it as a test wants."""
    return Backend(request.param, BACKENDS[request.param], tmp_path_factory.mktemp("stores"))
