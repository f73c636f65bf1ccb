"""Backups: extents, extraction of rows and restoration, as their part of the Store port."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from engrain.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.requests import Act

_Result = TypeVar("_Result")
Row: TypeAlias = Mapping[str, Any]  # by column: texts, numbers, lists and objects alone
Fate = Literal["there", "erased"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent(Record):
    """Memories that an operation covers: one agent's, a tenant's (`agent` None), or the database's (both None).

    An agent's are those of its own scope and those of `global` that it wrote, with all that depends on them.
    """

    tenant_id: str | None = None
    agent: str | None = None

    def __str__(self) -> str:
        if self.tenant_id is None:
            return "the whole database"
        return f"tenant {self.tenant_id}" if self.agent is None else f"agent {self.agent} of tenant {self.tenant_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Record):
    """Name and dimensions of the embedder whose vectors are searched."""

    name: str
    dims: int


class Extraction(Protocol):
    """Rows of an extent, read in one snapshot of the database."""

    @property
    def embedder(self) -> VectorSpace | None:
        """Active embedder; None if there are no vectors."""

    def rows(self, table: str) -> Iterator[Row]:
        """Rows of a table in the order of its key, read a few hundred at a time.

        A reference that leaves the extent is None; links, mentions and applications are there with both ends.
        Vectors name their memory by its id, and are those of the active embedder.
        """


class Restoration(Protocol):
    """One transaction that adds rows. The caller checks ids and references; the store updates the searches."""

    @property
    def embedder(self) -> VectorSpace | None:
        """Active embedder of this database."""

    def use_embedder(self, embedder: VectorSpace, at: datetime) -> None:
        """Record the first embedder of this database."""

    def clear(self, extent: Extent, at: datetime) -> int:
        """Remove the memories of an extent and all that depends on them (of a tenant, all else too).

        Returns the number of memories. Events and tombstones stay.
        """

    def fates(self, tenant_id: str, ids: Collection[str]) -> dict[str, Fate]:
        """Ids that are taken in a tenant, by a memory (`there`) or by a tombstone (`erased`)."""

    def entity(self, tenant_id: str, id_: str, name: str, entity_type: str) -> str | None:
        """Id of a known entity: this id, or the one of this name and type."""

    def holder(self, fact: Row) -> str | None:
        """Id of the active fact in the slot of this row."""

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Add the rows whose key is free; returns their number. Memories enter the searches with `finish`."""

    def supersede(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Set `supersedes_id` of facts, by (tenant, id, superseded id)."""

    def remove_tombstones(self, tenant_id: str, ids: Collection[str]) -> None:
        """Remove tombstones: these ids may be used again."""

    def finish(self) -> None:
        """Add all new memories to the searches, with their vectors, and remove those that were cleared."""

    def record(self, act: Act, event_type: str, payload: Mapping[str, Any], *, scope: str) -> None:
        """Write an audit event."""


class Backups(Protocol):
    """Extraction and restoration of a part of the database."""

    @property
    def backed_up(self) -> Mapping[str, Sequence[str]]:
        """Tables of a backup with their columns, in an order that satisfies references but `supersedes_id`."""

    def extracting(self, extent: Extent, work: Callable[[Extraction], _Result]) -> _Result:
        """Run `work` on an extent in one snapshot; it may be run again from its beginning."""

    def restoring(self, tenant_id: str | None, work: Callable[[Restoration], _Result]) -> _Result:
        """Run `work` in one transaction of a tenant, or of all; it may be run again from its beginning.

        Any error of it leaves the database as it was.
        """
