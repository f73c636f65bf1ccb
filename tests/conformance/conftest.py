"""The Store contract is one suite for every backend; a new one adds itself to BACKENDS and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from engrain.domain.ports import Store
from engrain.storage.sqlite.store import SqliteStore
from tests.reference_store import ReferenceStore
from tests.servers.wiped import fresh_store


@dataclass(frozen=True)
class Backend:
    """Opens fresh, empty stores of one kind, each in a folder of its own."""

    name: str
    make: Callable[[Path], AbstractContextManager[Store]]
    root: Path
    _numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def fresh(self) -> Iterator[Store]:
        folder = self.root / f"{self.name}-{next(self._numbers)}"
        folder.mkdir()
        with self.make(folder) as store:
            yield store


# "Wide" never looks at what a filter lets through first, so that both ways of answering meet every test that searches.
BACKENDS: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {
    "reference": lambda _: closing(ReferenceStore()),
    "sqlite-file": lambda folder: closing(SqliteStore(str(folder / "memory.db"))),
    "sqlite-memory": lambda _: closing(SqliteStore(":memory:")),
    "sqlite-wide": lambda _: closing(SqliteStore(":memory:", narrow=0)),
    "postgres": lambda _: fresh_store(),
    # As in namespaces too large to be read whole: the indexes choose, whatever the size.
    "postgres-large": lambda _: fresh_store(narrow=0, read_all=0, scan_all=0),
}


# These differ from others in how a search is answered alone, and meet the tests that search.
WAYS_TO_SEARCH = {"sqlite-wide", "postgres-large"}
SEARCHING = {"keyword", "nearest", "filters", "visibility", "reads", "walls", "machine", "versions", "queue"}


def pytest_generate_tests(metafunc):
    """Every test that asks for a backend meets all that may answer it differently."""
    if "backend" in metafunc.fixturenames:
        searches = metafunc.module.__name__.rpartition("test_store_")[2] in SEARCHING
        names = [name for name in BACKENDS if searches or name not in WAYS_TO_SEARCH]
        metafunc.parametrize("backend", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def backend(request, tmp_path_factory) -> Backend:
    """One kind of store; for tests that need several of it, or one for each example."""
    return Backend(request.param, BACKENDS[request.param], tmp_path_factory.mktemp("stores"))


@pytest.fixture
def store(backend) -> Iterator[Store]:
    """A fresh, empty store."""
    with backend.fresh() as fresh:
        yield fresh
