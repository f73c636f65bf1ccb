"""The leak suite runs on the backends of the conformance suite."""

import pytest

from tests.support.backends import BACKENDS, PLANNED_ONCE, WAYS_TO_SEARCH, Backend

# What a file answers, a database in memory does too: the statements are the same.
KINDS = [name for name in BACKENDS if name != "sqlite-memory"]
# A read meets the other ways to search as well; a write, and what an agent makes of what its store says, is the same.


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        reads = metafunc.module.__name__.endswith("test_reads")
        names = [name for name in KINDS if reads or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def backend(request, tmp_path_factory):
    """One kind of store, whose statements are planned once; how else a server plans changes no answer."""
    made = {**BACKENDS, **PLANNED_ONCE}[request.param]
    return Backend(request.param, made, tmp_path_factory.mktemp("stores"))
