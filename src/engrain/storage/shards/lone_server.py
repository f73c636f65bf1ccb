"""Lone server: the first of several PostgreSQL servers, opened without the others."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from engrain.storage.shards.directory import refuse_absent
from engrain.storage.store import SqlStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.backup.restoration import SqlRestoration
    from engrain.storage.transaction import Transaction

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class LoneServer(SqlStore):
    """Store of one server of several, for its own tenants and for work on the whole server. Thread-safe.

    A process with fewer servers in its settings than the others would find nothing of a tenant that was moved, and what
    it wrote for the tenant would be lost: each transaction of a tenant looks at the tenant's record, as `ShardedStore`
    has it do, and is refused where another server has the tenant.
    """

    def read(
        self,
        caller: Caller,
        work: Callable[Concatenate[Any, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        return super().read(caller, _checked(caller.tenant_id, work), *arguments, **options)

    def search(
        self,
        caller: Caller,
        work: Callable[Concatenate[Any, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        return super().search(caller, _checked(caller.tenant_id, work), *arguments, **options)

    def write(
        self,
        act: Act,
        work: Callable[Concatenate[Any, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        return super().write(act, _checked(act.caller.tenant_id, work, holds=True), *arguments, **options)

    def inspect(
        self,
        tenant_id: str | None,
        work: Callable[Concatenate[Transaction, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        return super().inspect(tenant_id, _checked(tenant_id, work), *arguments, **options)

    def maintain(
        self,
        tenant_id: str | None,
        work: Callable[Concatenate[Transaction, _Parameters], _Result],
        /,
        *arguments: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        return super().maintain(tenant_id, _checked(tenant_id, work, holds=True), *arguments, **options)

    def extract(self, extent: Extent, work: Callable[[SqlExtraction], _Result]) -> _Result:
        if extent.tenant_id is not None:
            super().inspect(extent.tenant_id, refuse_absent, extent.tenant_id)
        return super().extract(extent, work)

    def restore(
        self, tenant_id: str | None, work: Callable[[SqlRestoration], _Result], *, is_part: bool = False
    ) -> _Result:
        def checked(restoration: SqlRestoration) -> _Result:
            if tenant_id is not None:
                refuse_absent(restoration.tx, tenant_id, holds=True)
            return work(restoration)

        return super().restore(tenant_id, checked, is_part=is_part)


def _checked(tenant_id: str | None, work: Callable[..., _Result], *, holds: bool = False) -> Callable[..., _Result]:
    """Return `work` behind the check that the tenant is on this server; None is every tenant that is."""
    if tenant_id is None:
        return work

    @wraps(work)  # and what it is marked as
    def checked(tx: Transaction, *arguments: Any, **options: Any) -> _Result:
        refuse_absent(tx, tenant_id, holds=holds)
        return work(tx, *arguments, **options)

    return checked
