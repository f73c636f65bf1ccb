"""Nodes of a Citus cluster: each tenant's work goes to the node that has its rows, which plans and runs it by itself.

Through the coordinator every statement is planned twice, and sent on. Whichever node is asked, the answer is the same:
a tenant that has moved to another node meanwhile is found from there, until its place is looked up again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from engrain.errors import DatabaseUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain.storage.transaction import Connection

_LOG = logging.getLogger(__name__)
_Address: TypeAlias = tuple[str, int]
_Connections = TypeVar("_Connections")
_KNOWN_FOR_S = 60.0
_MOST_KNOWN = 100_000
_PLACE = """
SELECT nodename, nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shardid = get_shard_id_for_distribution_column('episodes', CAST(%s AS text))
    AND groupid <> 0 AND isactive AND hasmetadata AND metadatasynced AND noderole = 'primary'
"""


class Nodes(Generic[_Connections]):
    """Connections to the nodes of one cluster, made when a tenant of theirs is first worked for. Thread-safe."""

    def __init__(self, connect: Callable[[_Address], _Connections]) -> None:
        """Connect to nothing yet."""
        self._connect = connect
        self._made: dict[_Address, _Connections] = {}
        self._places: OrderedDict[str, tuple[float, _Address | None]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, tenant: str, look_up: Callable[[], _Address | None]) -> _Connections | None:
        """Return the connections to the node of a tenant; None where the coordinator is as good."""
        now = time.monotonic()
        with self._lock:
            known_until, address = self._places.get(tenant, (0.0, None))
        if known_until < now:
            address = self._reach(look_up())
            with self._lock:
                self._places[tenant] = now + _KNOWN_FOR_S, address
                if len(self._places) > _MOST_KNOWN:
                    self._places.popitem(last=False)
        return None if address is None else self._made[address]

    def list_made(self) -> Iterator[_Connections]:
        """Yield the connections that were made."""
        with self._lock:
            made = list(self._made.values())
        yield from made

    def _reach(self, address: _Address | None) -> _Address | None:
        """Return an address once there are connections to it; None where this process cannot reach it."""
        if address is None:
            return None
        with self._lock:
            if address not in self._made:
                try:
                    self._made[address] = self._connect(address)
                except DatabaseUnreachable as error:
                    _LOG.warning("a node of the cluster is reached through its coordinator alone: %s", error)
                    return None
        return address


def find_address(db: Connection, tenant: str) -> _Address | None:
    """Find the host and port of the node that has a tenant's rows; None where that is the coordinator."""
    found = db.execute(_PLACE, (tenant,)).fetchone()
    return None if found is None else (str(found[0]), int(found[1]))
