"""What a backup covers, and what the storage gives and takes for one; a contract that both databases keep."""

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
    """Whose memories: one agent's, a whole tenant's (`agent` None), or the whole database's (both None).

    An agent's are those of its own scope and those of `global` that it wrote, with what hangs off them.
    """

    tenant_id: str | None = None
    agent: str | None = None

    def __str__(self) -> str:
        if self.tenant_id is None:
            return "the whole database"
        return f"tenant {self.tenant_id}" if self.agent is None else f"agent {self.agent} of tenant {self.tenant_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Record):
    """The embedder whose vectors are searched."""

    name: str
    dims: int


class Extraction(Protocol):
    """The rows of an extent, all of one state of the database."""

    @property
    def embedder(self) -> VectorSpace | None:
        """Whose vectors there are; None where nobody has made any."""

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table in the order of its key, read a few hundred at a time.

        A reference that leaves the extent is None; a link, a mention or an application is there with both its ends.
        Vectors name their memory by its id, and are those of the active embedder.
        """


class Restoration(Protocol):
    """One transaction that takes rows in. Ids and references are the caller's business; the searches are not."""

    @property
    def embedder(self) -> VectorSpace | None:
        """Whose vectors are searched here."""

    def use_embedder(self, embedder: VectorSpace, at: datetime) -> None:
        """Record the first embedder of this database."""

    def clear(self, extent: Extent, at: datetime) -> int:
        """Remove the memories of an extent and what hangs off them, of a tenant all else too; how many memories.

        Events and tombstones stay.
        """

    def fates(self, tenant_id: str, ids: Collection[str]) -> dict[str, Fate]:
        """Which ids of memories are taken in a tenant, and whether by a memory or by what is left of an erased one."""

    def entity(self, tenant_id: str, id_: str, name: str, entity_type: str) -> str | None:
        """The id under which somebody is known: the one given, or the one with that name and type."""

    def holder(self, fact: Row) -> str | None:
        """The id of the active fact in the place of this row."""

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Add rows whose key is free, the others are left; how many it was. Memories are searched by `finish`."""

    def supersede(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Name, by (tenant, id, superseded id), what facts supersede that came before it."""

    def bury(self, tenant_id: str, ids: Collection[str]) -> None:
        """Let go of tombstones: these ids may be taken again."""

    def finish(self) -> None:
        """Give everything that was added its place in the searches, with what came of vectors and departures."""

    def say(self, act: Act, event_type: str, payload: Mapping[str, Any], *, scope: str) -> None:
        """Write an event down."""


class Backups(Protocol):
    """A part of the database, out of it and into it."""

    @property
    def backed_up(self) -> Mapping[str, Sequence[str]]:
        """What a backup holds: tables with their columns, in an order that satisfies references but `supersedes_id`."""

    def extracting(self, extent: Extent, work: Callable[[Extraction], _Result]) -> _Result:
        """What `work` makes of an extent, in one snapshot; it may be run again from its beginning."""

    def restoring(self, tenant_id: str | None, work: Callable[[Restoration], _Result]) -> _Result:
        """What `work` returns, in one transaction of a tenant, or of every one; it may be run again likewise.

        Whatever it raises leaves the database as it was.
        """
