"""The Store contract is one suite for every backend."""

import pytest
from hypothesis import settings

from tests.support.backends import ALIKE, BACKENDS, WAYS_TO_SEARCH

SEARCHING = {"keyword", "nearest", "filters", "visibility", "reads", "walls", "machine", "versions", "queue"}
SHARE = 3  # of the examples of another backend, for one that is nearly the same


def pytest_generate_tests(metafunc):
    """Every test that asks for a backend meets all that may answer it differently."""
    if "backend" in metafunc.fixturenames:
        searches = metafunc.module.__name__.rpartition("test_store_")[2] in SEARCHING
        names = [name for name in BACKENDS if searches or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Try fewer examples of a property where another backend tries all of them."""
    # Hypothesis (6.170) has no other way to settings that differ between the parameters of a test.
    chosen = getattr(item.function, "_hypothesis_internal_use_settings", None)
    if chosen is None or item.callspec.params.get("backend") not in ALIKE:
        return (yield)
    item.function._hypothesis_internal_use_settings = settings(chosen, max_examples=-(-chosen.max_examples // SHARE))
    try:
        return (yield)
    finally:
        item.function._hypothesis_internal_use_settings = chosen
