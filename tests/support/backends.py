"""The stores that the conformance and leak suites run on; a new one adds itself to BACKENDS and nothing else."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.support.new_databases import new_file
from tests.support.one_call import OneCall
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store


@dataclass(frozen=True)
class Backend:
    """Opens fresh, empty stores of one kind, each in a folder of its own."""

    name: str
    make: Callable[[Path], AbstractContextManager[OneCall]]
    root: Path
    _numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def fresh(self) -> Iterator[OneCall]:
        folder = self.root / f"{self.name}-{next(self._numbers)}"
        folder.mkdir()
        with self.make(folder) as store:
            yield store


_LARGE = {"narrow": 0, "read_all": 0, "scan_all": 0}
# A cluster refuses a generic plan of a union, whose shard it finds by the tenant.
_GENERIC = "" if "ENGRAIN_TEST_CITUS" in os.environ else "-c plan_cache_mode=force_generic_plan"

# The file's words are read into the process at once, those of the memory only where it is searched often.
# "Wide" never looks at what a filter lets through first, so that both ways of answering meet every test that searches.
BACKENDS: dict[str, Callable[[Path], AbstractContextManager[OneCall]]] = {
    "sqlite-file": lambda folder: closing(SqliteStore(str(new_file(folder / "memory.db")), fewest_searches=0)),
    "sqlite-memory": lambda _: closing(SqliteStore(":memory:")),
    "sqlite-wide": lambda _: closing(SqliteStore(":memory:", narrow=0, read_all=0)),
    "postgres": lambda _: fresh_store(),
    # As in namespaces too large to be read whole: the indexes choose, whatever the size.
    "postgres-large": lambda _: fresh_store(**_LARGE),
}
# The same, for tests that ask a statement hundreds of times of a few rows: the server plans it once, and not each time.
PLANNED_ONCE: dict[str, Callable[[Path], AbstractContextManager[OneCall]]] = {
    "postgres": lambda _: fresh_store(settings=_GENERIC),
    "postgres-large": lambda _: fresh_store(settings=_GENERIC, **_LARGE),
}

# These differ from others in how a search is answered alone, and meet the tests that search.
WAYS_TO_SEARCH = {"sqlite-wide", "postgres-large"}
# These answer by the statements of another backend, all or nearly all of them.
ALIKE = {"sqlite-memory", *WAYS_TO_SEARCH}
