"""Sharded store: several PostgreSQL servers as one store, each call on the server that has its tenant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from engrain.domain.maintenance.vitals import Vitals, merge_vitals
from engrain.domain.runs.jobs import Compaction
from engrain.errors import InvalidInput
from engrain.storage import jobs
from engrain.storage.reports import tenants
from engrain.storage.runs import claims
from engrain.storage.shards.directory import Directory, TenantMovedError, check_record
from engrain.storage.shards.late_store import AWAY
from engrain.storage.store import SqlStore
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Caller, EmbeddingVersion
    from engrain.domain.requests import Act, Health, Ref
    from engrain.storage.backup.extraction import SqlExtraction
    from engrain.storage.backup.restoration import SqlRestoration

_Result = TypeVar("_Result")
_MOST_MOVES = 20
# Of the memory as a whole: on the first server, as the directory is.
_AT_HOME = frozenset(
    {
        jobs.add_job,
        jobs.take_job,
        jobs.renew_job,
        jobs.end_job,
        jobs.retry_job,
        jobs.list_jobs,
        jobs.find_last_firing,
        jobs.prune_jobs,
        jobs.remove_jobs,
        embedding_versions.find_active,
        embedding_versions.load_versions,
    }
)
# Of the tenants of every server: lists, whose rows are told apart by their tenant.
_OF_ALL = frozenset({tenants.list_tenants, claims.list_backlogs, claims.list_waiting})


class ShardedStore(SqlStore):
    """Memories on several PostgreSQL servers, each tenant on one of them. Thread-safe.

    What concerns a tenant runs on its server, and again where the tenant was moved meanwhile. Jobs and the directory
    are on the first server. What concerns every tenant is asked of every server.
    """

    def __init__(self, servers: Mapping[str, SqlStore]) -> None:  # no backend of its own
        """Take open stores by the names of their servers; the first has the directory and the jobs."""
        self._servers = dict(servers)
        self._checked = {name: server.with_check(check_record) for name, server in servers.items()}
        self.directory = Directory(self._servers)
        self._home = self.directory.home

    @property
    def servers(self) -> Mapping[str, SqlStore]:
        return self._servers

    @property
    def location(self) -> str:
        return self._home.location

    @property
    def created(self) -> bool:
        return self._home.created

    def read(self, caller: Caller, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        return self._follow(caller.tenant_id, lambda store: store.read(caller, work, *arguments, **options))

    def search(self, caller: Caller, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        return self._follow(caller.tenant_id, lambda store: store.search(caller, work, *arguments, **options))

    def write(self, act: Act, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        return self._follow(act.caller.tenant_id, lambda store: store.write(act, work, *arguments, **options))

    def inspect(self, tenant_id: str | None, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        if tenant_id is None:
            return self._inspect_all(work, *arguments, **options)
        return self._follow(tenant_id, lambda store: store.inspect(tenant_id, work, *arguments, **options))

    def maintain(self, tenant_id: str | None, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        if tenant_id is None:
            assert work in _AT_HOME, work
            return self._home.maintain(None, work, *arguments, **options)
        return self._follow(tenant_id, lambda store: store.maintain(tenant_id, work, *arguments, **options))

    def use_embedder(self, name: str, dims: int) -> str | None:
        others = [store.use_embedder(name, dims) for store in self.servers.values()]
        return next((other for other in others if other is not None), None)

    def begin_version(self, name: str, dims: int) -> EmbeddingVersion:  # noqa: ARG002  # refused
        raise InvalidInput(
            f"the vectors of several servers change to {name} one server at a time: engrain reembed --db URL for each "
            f"of {', '.join(self.servers)}, with storage.shards empty"
        )

    def attach(
        self,
        refs: Sequence[Ref],
        vectors: NDArray[np.float32],
        *,
        version: int | None = None,
        tenants: Sequence[str] | None = None,
    ) -> None:
        rows: dict[str, list[int]] = defaultdict(list)
        for row, tenant_id in enumerate(tenants or ()):
            rows[self.directory.locate(tenant_id)].append(row)
        for name, own in rows.items():
            assert tenants is not None
            self.servers[name].attach(
                [refs[row] for row in own], vectors[own], version=version, tenants=[tenants[row] for row in own]
            )

    def prune_vectors(self, limit: int) -> int:
        return sum(store.prune_vectors(limit) for store in self.servers.values())

    def flush_index(self) -> int:
        return 0  # PostgreSQL leaves nothing for later

    def extract(self, extent: Extent, work: Callable[[SqlExtraction], _Result]) -> _Result:
        return self._follow(self._require_tenant(extent.tenant_id), lambda store: store.extract(extent, work))

    def restore(
        self, tenant_id: str | None, work: Callable[[SqlRestoration], _Result], *, is_part: bool = False
    ) -> _Result:
        return self._follow(
            self._require_tenant(tenant_id), lambda store: store.restore(tenant_id, work, is_part=is_part)
        )

    def vitals(self, now: datetime) -> Vitals:
        return merge_vitals([store.vitals(now) for store in self.servers.values()])

    def health(self, *, thorough: bool = True) -> Health:
        found = {name: store.health(thorough=thorough) for name, store in self.servers.items()}
        first = next(iter(found.values()))
        named = [f"{name}: {problem}" for name, health in found.items() for problem in health.problems]
        counts = {
            count: sum(getattr(health, count) for health in found.values())
            for count in ("size_bytes", "memories", "indexed", "embedded", "waiting")
        }
        return replace(first, problems=tuple(named), **counts)

    def compact(self) -> Compaction:
        found = [store.compact() for store in self.servers.values()]
        return Compaction(
            bytes_before=sum(compaction.bytes_before for compaction in found),
            bytes_after=sum(compaction.bytes_after for compaction in found),
        )

    def close(self) -> None:
        for store in self.servers.values():
            store.close()

    def _follow(self, tenant_id: str, run: Callable[[SqlStore], _Result]) -> _Result:
        """Return what `run` returns on the tenant's server: again, on the next one, where it was moved meanwhile."""
        name = self.directory.locate(tenant_id)
        for _ in range(_MOST_MOVES):
            try:
                return run(self._checked[name])
            except TenantMovedError:
                name = self.directory.look_up(tenant_id)
        return run(self._checked[name])

    def _inspect_all(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return what `work` reads of every tenant: on the first server, or of the tenants that each server has."""
        if work in _AT_HOME:
            return self._home.inspect(None, work, *arguments, **options)
        if work is tenants.load_page:
            return self._page(*arguments, **options)
        if work is embedding_versions.find_unembedded:
            return self._find_unembedded(*arguments, **options)
        assert work in _OF_ALL, work
        found = [row for name in self.servers for row in self._list_rows(name, work, *arguments, **options)]
        return sorted(found, key=_position_of)

    def _find_unembedded(self, limit: int, *arguments: Any, **options: Any) -> list[Any]:
        """Find memories that lack their vector; where a server is away, those of the others first."""
        found: list[Any] = []
        away: Exception | None = None
        for name in self.servers:
            try:
                found += self._list_rows(name, embedding_versions.find_unembedded, limit, *arguments, **options)
            except AWAY as error:
                away = error
        if away is not None and not found:
            raise away
        return found[:limit]

    def _list_rows(self, name: str, work: Callable[..., Any], *arguments: Any, **options: Any) -> list[Any]:
        """List what `work` reads of the tenants that a server has."""
        rows = self.servers[name].inspect(None, work, *arguments, **options)
        own = self.directory.list_tenants_of(name, {_tenant_of(row) for row in rows})
        return [row for row in rows if _tenant_of(row) in own]

    def _page(self, load: Any, _: None, now: datetime, *, after: tuple[str, str], limit: int) -> list[Any]:
        """Load the next counts of all tenants after a position."""
        found: list[Any] = []
        for name in self.inspect(None, tenants.list_tenants):
            if name >= after[0] and len(found) < limit:
                left = limit - len(found)
                found += self.inspect(name, tenants.load_page, load, name, now, after=after, limit=left)
        return found

    def _require_tenant(self, tenant_id: str | None) -> str:
        if tenant_id is None:
            raise InvalidInput(
                f"the memory is on several servers ({', '.join(self.servers)}), which have no common moment: "
                "name a tenant, or open each server by itself with storage.shards empty"
            )
        return tenant_id


def _tenant_of(row: Any) -> str:
    return row if isinstance(row, str) else str(row.tenant_id)


def _position_of(row: Any) -> tuple[str, ...]:
    """Return what orders the rows of all servers as each orders its own."""
    if isinstance(row, str):
        return (row,)
    return row.tenant_id, row.agent, row.user or ""
