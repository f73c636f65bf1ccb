"""Fixtures of acceptance tests that need a database server."""

import pytest

from tests.support.postgres import server


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    """The place of an empty memory, in either kind of database."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db")
        return
    url = server().new_database()
    yield url
    server().drop_database(url)
