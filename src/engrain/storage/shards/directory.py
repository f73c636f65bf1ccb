"""Directory of tenants: which server has each, and the record on every server that makes it true.

The directory is a row for each tenant on the first server, and is read once by a process. What decides is the tenant's
own record on the servers, under its wall: `here`; `from A`, of a copy that has begun; or `to B`, since it was moved. A
tenant is on the server whose record says `here`, and where it says `from A`, only once that of A says `to` it. So one
commit, on the server that has the tenant, moves it. Every transaction of a tenant looks at the record, and every write
holds it, so that a process with an old answer writes nothing where the tenant was.
"""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from engrain.errors import UNWRITABLE, DatabaseBusy, InvalidInput
from engrain.storage.store import HOME, SqlStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.storage.transaction import Transaction

HERE = "here"
_FROM, _TO = "from ", "to "
_MARK = "server/"  # alone of a server, and with its hash of a tenant
_MOST_STEPS = 20


class TenantMovedError(Exception):
    """The tenant of a transaction is not on this server: it is looked up again, and no caller sees this."""


class Directory:
    """Servers of tenants, remembered by this process. Thread-safe."""

    def __init__(self, servers: Mapping[str, SqlStore]) -> None:
        """Take the servers by name; the first of them has the directory."""
        self._servers = servers
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def home(self) -> SqlStore:
        """The server that has the directory."""
        return next(iter(self._servers.values()))

    def locate(self, tenant_id: str) -> str:
        """Return the name of the server that has a tenant; a new tenant is given one."""
        known = self._known.get(tenant_id)
        return self.look_up(tenant_id) if known is None else known

    def look_up(self, tenant_id: str) -> str:
        """`locate`, from the servers and not from memory.

        Raises:
            DatabaseBusy: the tenant is moved to and fro faster than it can be followed.
        """
        name = self._find_recorded(tenant_id) or self._add_tenant(tenant_id)
        for _ in range(_MOST_STEPS):
            record = self.read_record(name, tenant_id)
            match record.partition(" ") if record else [""]:
                case ["to", _, other] if other in self._servers:
                    name = other
                case ["from", _, other] if other in self._servers:
                    if self.read_record(other, tenant_id) == moved(name):
                        self._confirm_move(tenant_id, name, record)
                    else:
                        name = other
                case ["to" | "from", _, other]:
                    raise _unknown_server(tenant_id, name, other, self._servers)
                case [""]:
                    self._servers[name].maintain(
                        tenant_id, lambda tx: tx.run("add_tenant_record", tenant_id=tenant_id, value=HERE)
                    )
                case _:
                    with self._lock:
                        self._known[tenant_id] = name
                    return name
        raise DatabaseBusy(f"tenant {tenant_id!r:.80} is being moved between servers; repeat in a moment")

    def has(self, tenant_id: str) -> bool:
        """Tell whether a tenant was ever placed, or a server has anything of it; it is given none."""
        return self._find_recorded(tenant_id) is not None or bool(self._find_holders(tenant_id))

    def forget(self, tenant_id: str) -> None:
        """Look a tenant up again the next time."""
        with self._lock:
            self._known.pop(tenant_id, None)

    def read_record(self, name: str, tenant_id: str) -> str:
        """Read the record of a tenant on a server; "" for none."""
        found = self._servers[name].inspect(tenant_id, lambda tx: tx.one("tenant_record", tenant_id=tenant_id))
        return "" if found is None else str(found[0])

    def write_record(self, name: str, tenant_id: str, value: str) -> None:
        """Write the record of a tenant on a server."""
        self._servers[name].maintain(
            tenant_id, lambda tx: tx.run("set_tenant_record", tenant_id=tenant_id, value=value)
        )

    def list_tenants_of(self, name: str, tenants: set[str]) -> set[str]:
        """Choose those tenants that are on a server, and not a copy that has begun or what a move has left."""
        if not tenants:
            return set()
        rows = self._servers[name].inspect(None, lambda tx: tx.rows("tenant_records", tenants=sorted(tenants)))
        with self._lock:
            self._known |= {tenant_id: name for tenant_id, record in rows if record == HERE}
        away = {tenant_id for tenant_id, record in rows if record != HERE and self.look_up(tenant_id) != name}
        return tenants - away

    def _confirm_move(self, tenant_id: str, name: str, record: str) -> None:
        """Record that a copy has become the tenant: in the directory and there, unless it has moved on meanwhile."""
        self.home.maintain(None, lambda tx: tx.run("set_server", key=_key(tenant_id), value=name))
        self._servers[name].maintain(
            tenant_id, lambda tx: tx.run("confirm_move", tenant_id=tenant_id, before=record, value=HERE)
        )

    def _find_recorded(self, tenant_id: str) -> str | None:
        found = self.home.inspect(None, lambda tx: tx.one("find_server", key=_key(tenant_id)))
        if found is None:
            return None
        if found[0] not in self._servers:
            raise _unknown_server(tenant_id, "the directory", found[0], self._servers)
        return str(found[0])

    def _find_holders(self, tenant_id: str) -> list[str]:
        """Find the servers that have anything of a tenant."""
        return [
            name
            for name, server in self._servers.items()
            if server.inspect(tenant_id, lambda tx: tx.one("has_tenant", tenant_id=tenant_id)) is not None
        ]

    def _add_tenant(self, tenant_id: str) -> str:
        """Give a tenant that the directory lacks the server that has rows of it, or the one that its name draws."""
        there = self._find_holders(tenant_id)
        chosen = there[0] if there else max(self._servers, key=lambda name: _rank(name, tenant_id))
        self.home.maintain(None, lambda tx: tx.run("add_server", key=_key(tenant_id), value=chosen))
        return self._find_recorded(tenant_id) or chosen  # another process may have been first


def check_record(tx: Transaction, tenant_id: str | None, *, holds: bool) -> None:
    """Check that a tenant is on the server of this transaction, and on demand that it stays until the end of it."""
    if tenant_id is None:
        return
    found = tx.one("hold_tenant_record" if holds else "tenant_record", tenant_id=tenant_id)
    if found is None or found[0] != HERE:
        raise TenantMovedError(f"tenant {tenant_id!r:.80} is not on this server")


def refuse_absent(tx: Transaction, tenant_id: str | None, *, holds: bool) -> None:
    """Refuse a tenant that another server has, where the servers but the first are not in the settings.

    Raises:
        InvalidInput: it names that server.
    """
    if tenant_id is None:
        return
    listed = tx.one("find_server", key=_key(tenant_id))
    record = tx.one("hold_tenant_record" if holds else "tenant_record", tenant_id=tenant_id)
    if listed is not None and listed[0] != HOME:
        raise _unknown_server(tenant_id, "the directory", listed[0], (HOME,))
    if record is not None and record[0] != HERE:
        raise _unknown_server(tenant_id, HOME, record[0].partition(" ")[2], (HOME,))


def mark_server(store: SqlStore) -> None:
    """Mark a server as one of several, for a process that is to open it without the others."""
    if not is_marked(store):
        with suppress(*UNWRITABLE):
            store.maintain(None, lambda tx: tx.run("add_server", key=_MARK, value="one of several"))


def is_marked(store: SqlStore) -> bool:
    """Tell whether a server was ever opened as one of several."""
    return store.inspect(None, lambda tx: tx.one("find_server", key=_MARK)) is not None


def incoming(name: str) -> str:
    """Return the record of a copy from a server."""
    return _FROM + name


def moved(name: str) -> str:
    """Return the record of a tenant that was moved to a server."""
    return _TO + name


def _key(tenant_id: str) -> str:
    """Return the key of a tenant in the directory, by a hash: every tenant's transactions can read there."""
    return f"{_MARK}{hashlib.blake2b(tenant_id.encode(), digest_size=16).hexdigest()}"


def _rank(name: str, tenant_id: str) -> bytes:
    """Rank a server for a tenant: the highest has it, so that another server takes only its share of new tenants."""
    return hashlib.blake2b(f"{name}\0{tenant_id}".encode(), digest_size=8).digest()


def _unknown_server(tenant_id: str, where: str, name: str, servers: Iterable[str]) -> InvalidInput:
    return InvalidInput(
        f"tenant {tenant_id!r:.80} is on the server {name!r:.80} as {where} says, and storage.shards names "
        f"{', '.join(servers)}: add {name!r:.80} with its URL"
    )
