"""What a monitor reads of a server besides what it reads of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.storage.postgres.schema import OUR_TABLES
from engrain.storage.reports.vitals import SqlVitals

if TYPE_CHECKING:
    from engrain.domain.maintenance.vitals import PoolVitals
    from engrain.storage.postgres.connections import Connections


class PostgresVitals(SqlVitals):
    """`domain.maintenance.vitals.Monitored`."""

    _connections: Connections
    _tables = tuple(OUR_TABLES)

    def _pool(self) -> PoolVitals:
        return self._connections.vitals()
