"""Fixtures of tests that need a database server: one kind of store, or one kind of database, after another."""

from collections.abc import Iterator

import pytest

from tests.support.backends import BACKENDS, Backend
from tests.support.new_databases import new_file
from tests.support.one_call import OneCall
from tests.support.wiped import fresh_url


@pytest.fixture(scope="session")
def backend(request, tmp_path_factory) -> Backend:
    """One kind of store; for tests that need several of it, or one for each example."""
    return Backend(request.param, BACKENDS[request.param], tmp_path_factory.mktemp("stores"))


@pytest.fixture
def store(backend) -> Iterator[OneCall]:
    """A fresh, empty store."""
    with backend.fresh() as fresh:
        yield fresh


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    """The place of an empty memory, in either kind of database."""
    if request.param == "sqlite":
        yield str(new_file(tmp_path / "memory.db"))
        return
    with fresh_url() as url:
        yield url
