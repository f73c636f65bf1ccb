"""The leak suite runs on the backends of the conformance suite."""

from tests.support.backends import BACKENDS, WAYS_TO_SEARCH

# What a file answers, a database in memory does too: the statements are the same.
KINDS = [name for name in BACKENDS if name != "sqlite-memory"]
# A read meets the other ways to search as well; a write, and what an agent makes of what its store says, is the same.


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        reads = metafunc.module.__name__.endswith("test_reads")
        names = [name for name in KINDS if reads or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")
