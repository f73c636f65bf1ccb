"""A file for what people and agents say and ask: one ranking serves both databases (`test_ranking_parity`)."""

import pytest

from engrain import Memory
from tests.support.new_databases import new_file


@pytest.fixture
def location(tmp_path):
    """The place of an empty memory."""
    return str(new_file(tmp_path / "memory.db"))


@pytest.fixture
def memory(location):
    """An empty memory with the shipped embedder."""
    with Memory.open(location) as memory:
        yield memory
