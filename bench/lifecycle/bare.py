"""A database without engrain: statements written by hand, each durable, and what they take."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from engrain.domain.ids import IdSource
from engrain.storage import is_server
from engrain.storage.dialects import micros

if TYPE_CHECKING:
    from datetime import datetime

_EVENT = "tenant_id, id, event_type, scope, actor, request_id, memory_id, payload, created_at"
_ACTIVE = "SELECT id, scope FROM facts WHERE tenant_id = 'swept' AND validity = 'active' ORDER BY id"
_PAYLOAD = '{"standing": ["active", "fading"]}'


class BareDatabase:
    """One connection of the driver, which commits each statement; close it."""

    def __init__(self, location: str) -> None:
        """Connect as the stores do: with the durability they have."""
        self._is_server = is_server(location)
        self._db: Any
        if self._is_server:
            import psycopg

            self._db = psycopg.connect(location, autocommit=True)
            self.run("SET engrain.every_tenant = 'on'")
        else:
            import apsw

            self._db = apsw.Connection(location)
            self._db.set_busy_timeout(5_000)
            self.run("PRAGMA synchronous = normal")
            self.run("PRAGMA cache_size = -8000")
            self.run("PRAGMA mmap_size = 268435456")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def now(self) -> float:
        """Seconds: CPU time where all work is this process's, which neighbours disturb less; else by the wall clock."""
        return time.perf_counter() if self._is_server else time.process_time()

    def run(self, statement: str) -> None:
        """One statement, to its end."""
        cursor = self._db.execute(statement)
        if not self._is_server:
            cursor.fetchall()

    def settle(self) -> None:
        """Vacuum as a server's autovacuum does in time; it is off in the tests' server."""
        if self._is_server:
            self.run("VACUUM ANALYZE")

    def timed(self, statement: str, *, undone: str, times: int) -> float:
        """Seconds of a statement, the median; it is undone by another each time, and has not happened in the end."""
        took = []
        for _ in range(times):
            took.append(self._seconds(statement))
            self.run(undone)
            self.settle()
        return statistics.median(took)

    def events_timed(self, event_type: str, at: datetime, *, times: int) -> float:
        """Seconds in which one statement adds an event for each active fact, all lying ready; and undoes it."""
        found = self._db.execute(_ACTIVE).fetchall()
        ids = IdSource(lambda: at).several(len(found))
        when = at if self._is_server else micros(at)
        same = ("aide", None)
        rows = [
            ("swept", event_id, event_type, scope, *same, id_, _PAYLOAD, when)
            for event_id, (id_, scope) in zip(ids, found, strict=True)
        ]
        places = ", ".join(["%s" if self._is_server else "?"] * len(rows[0]))
        self.run(f"CREATE TEMPORARY TABLE ready AS SELECT {_EVENT} FROM memory_events LIMIT 0")
        self._db.cursor().executemany(f"INSERT INTO ready VALUES ({places})", rows)
        took = []
        for _ in range(times):
            took.append(self._seconds(f"INSERT INTO memory_events ({_EVENT}) SELECT {_EVENT} FROM ready ORDER BY id"))
            self.run("DELETE FROM memory_events WHERE tenant_id = 'swept' AND id IN (SELECT id FROM ready)")
            self.settle()
        self.run("DROP TABLE ready")
        return statistics.median(took)

    def _seconds(self, statement: str) -> float:
        began = self.now()
        self.run(statement)
        return self.now() - began
