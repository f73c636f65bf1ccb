"""The Store contract is one suite for every backend."""

from tests.support.backends import BACKENDS, WAYS_TO_SEARCH

SEARCHING = {"keyword", "nearest", "filters", "visibility", "reads", "walls", "machine", "versions", "queue"}


def pytest_generate_tests(metafunc):
    """Every test that asks for a backend meets all that may answer it differently."""
    if "backend" in metafunc.fixturenames:
        searches = metafunc.module.__name__.rpartition("test_store_")[2] in SEARCHING
        names = [name for name in BACKENDS if searches or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")
