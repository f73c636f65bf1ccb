"""What the conformance and leak suites share: one kind of store after another."""

from collections.abc import Iterator

import pytest

from tests.support.backends import BACKENDS, Backend
from tests.support.one_call import OneCall


@pytest.fixture(scope="session")
def backend(request, tmp_path_factory) -> Backend:
    """One kind of store; for tests that need several of it, or one for each example."""
    return Backend(request.param, BACKENDS[request.param], tmp_path_factory.mktemp("stores"))


@pytest.fixture
def store(backend) -> Iterator[OneCall]:
    """A fresh, empty store."""
    with backend.fresh() as fresh:
        yield fresh
