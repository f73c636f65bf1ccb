"""Backend: the port by which the store reaches one database, with what the two do differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from engrain.storage.unit_of_work import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Row
    from engrain.domain.maintenance.vitals import PoolVitals
    from engrain.domain.records import EmbeddingVersion
    from engrain.domain.requests import Health
    from engrain.domain.runs.jobs import Compaction
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Connection, Transaction

_Result = TypeVar("_Result")


class Backend(Database, Protocol):
    """One database: its connections, its dialect, its locks, and its searches by words and vectors."""

    location: str  # path or URL, without a password
    created: bool  # whether opening it created the schema
    tables: Sequence[str]  # ours, of a server's database that may hold others
    version: int | None  # of the embedder whose questions come here

    def read(
        self, tenant_id: str | None, work: Callable[[Connection], _Result], *, user_id: str | None = None
    ) -> _Result:
        """Return what `work` reads in one snapshot of a tenant, or of every one; it may be run again.

        `user_id` is the user whose memories it may see beside those of no user, "" for none; None for every user.
        """

    def write(
        self,
        tenant_id: str | None,
        work: Callable[[Connection], _Result],
        *,
        is_repeatable: bool,
        user_id: str | None = None,
    ) -> _Result:
        """Return what `work` writes in one transaction of a tenant, or of every one; for a user as `read`.

        Run again as a whole after a conflict with another transaction, and where the connection was lost: while
        committing only if it `is_repeatable`.

        Raises:
            OutcomeUnknown: it was lost while committing, and is not repeatable.
        """

    def read_everything(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:
        """`read`, for what reads all rows."""

    def restore(self, tenant_id: str | None, work: Callable[[Connection], _Result]) -> _Result:
        """`write`, for what restores many rows, and may be committed twice."""

    def restore_vectors(self, tx: Transaction, rows: Sequence[Row]) -> None:
        """Store the vectors of rows with doc and version, in place of earlier ones."""

    def finish_restore(self, tx: Transaction) -> None:
        """Bring the searches up to date with the rows that were restored."""

    def new_index(self) -> SearchIndex:
        """Return the search index of one unit of work."""

    def has_unindexed(self, tx: Transaction) -> bool:
        """Tell whether anything was left for later."""

    def flush_index(self) -> int:
        """Index what was left for later, at most 1,000 memories; returns their number."""

    def index_all(self, tx: Transaction) -> None:
        """Index whatever was left for later."""

    def find_version(self, tx: Transaction) -> EmbeddingVersion | None:
        """Find the active version of vectors, if it is ready to be searched."""

    def prepare_vectors(self, tx: Transaction, version: EmbeddingVersion, *, is_new: bool) -> None:
        """Make ready for the vectors of a version: one that is not new only if nobody else is about to."""

    def lock_versions(self, tx: Transaction) -> None:
        """Lock the versions of vectors against a switch."""

    def attach_vectors(
        self,
        tx: Transaction,
        docs: Sequence[int],
        rows: NDArray[np.float32],
        version: EmbeddingVersion,
        *,
        tenants: Sequence[str] | None,
    ) -> None:
        """Store checked vectors of a version that is not retired."""

    def drop_vector_indexes(self, tx: Transaction) -> None:
        """Drop what versions without vectors leave."""

    def count_connections(self) -> PoolVitals | None:
        """Count the connections to a server; a file has none."""

    def check_health(self, *, thorough: bool) -> Health:
        """Count memories and look for problems; a thorough check compares rows, index and file."""

    def compact(self) -> Compaction:
        """Free the space of removed rows."""

    def close(self) -> None:
        """Close connections; a second call does nothing."""
