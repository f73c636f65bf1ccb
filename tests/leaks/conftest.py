"""The leak suite runs on the backends of the conformance suite."""

import pytest

from tests.conformance.conftest import BACKENDS, WAYS_TO_SEARCH, Backend

# What a file answers, a database in memory does too: the statements are the same.
KINDS = [name for name in BACKENDS if name != "sqlite-memory"]
# What reads a store itself meets the other ways to search as well; a write, and what an agent makes of what its store
# says, is the same with them.
READING = {"test_reads", "test_hints"}


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        reads = metafunc.module.__name__.rpartition(".")[2] in READING
        names = [name for name in KINDS if reads or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def backend(request, tmp_path_factory) -> Backend:
    """One kind of store, as many of it as a test wants."""
    return Backend(request.param, BACKENDS[request.param], tmp_path_factory.mktemp("stores"))
