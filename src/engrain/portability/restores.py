"""Restores of backups: verified from end to end first, then written in one transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE, audience_of, user_of, user_scope
from engrain.domain.events import EXTENT_ERASED
from engrain.domain.records import Record, format_time
from engrain.portability import relocation, sealed_files
from engrain.portability.backup_lines import BackupReader, Header
from engrain.portability.signing import SigningKey, check_signature
from engrain.portability.verification import verify
from engrain.storage.backup.named_ids import NamedIds
from engrain.storage.backup.restoration import ItemKey, SqlRestoration, by_tenant, find_erasures, find_fates, row_key
from engrain.storage.backup.tables import DEPARTURES, LOG, MEMORIES, TABLES, VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from engrain.domain.access.keys import Grant
    from engrain.domain.maintenance.backups import Row
    from engrain.domain.requests import Act
    from engrain.portability.encryption import Cipher
    from engrain.portability.relocation import Relocation
    from engrain.storage.store import SqlStore

    Progress = Callable[[str, int], None]

_ROWS_AT_ONCE = 500
# When a row came to be, of a table whose rows can be older than an erasure; of settings that is not known.
_TIMES: Mapping[str, str] = {
    **dict.fromkeys((*MEMORIES, "entities", "memory_events", "log_sessions", "items", "pools"), "created_at"),
    "runs": "started_at",
    "sessions_consolidations": "first_seen_at",
    "pool_members": "joined_at",
    "tombstones": "erased_at",
}
_BYTES_AT_ONCE = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport(Record):
    """Report of a restore or of its dry run; `added` counts rows by table, the rest counts memories."""

    path: str
    sha256: str  # of the backup
    tenant_id: str | None  # whose memories these are now; None: every tenant's of the backup
    agent: str | None
    user: str | None
    added: Mapping[str, int]
    present: int  # were there before, and stay as they are
    erased: int  # were erased, and stay so
    superseded: int  # active facts whose slot another one has: they are its past now
    cleared: int  # were removed to make room
    vectors: str  # "kept"; "to make", where another embedder is in use; "none", where the backup has none
    dry_run: bool

    @property
    def memories(self) -> int:
        """The number of episodes, facts and rules that were added."""
        return sum(self.added.get(table, 0) for table in MEMORIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions:
    """Options of a restore."""

    tenant: str | None = None
    agent: str | None = None
    replace: bool = False
    with_erased: bool = False
    untrusted: bool = False
    dry_run: bool = False
    grant: Grant | None = None  # of the key that asks; None for whoever runs the memory

    @property
    def is_bound(self) -> bool:
        """True if it is asked for by a key of one agent or user."""
        return self.grant is not None and self.grant.is_bound


def restore(
    store: SqlStore,
    path: Path,
    act: Act,
    options: RestoreOptions,
    *,
    key: SigningKey,
    load_cipher: Callable[[], Cipher | None] = lambda: None,
    progress: Progress | None = None,
) -> RestoreReport:
    """Add the missing rows of a backup to its agent or tenant, or to another one; `options.replace` clears that first.

    All or nothing, in one transaction: a process that is killed leaves what was there before. Restored again, it adds
    nothing. Under another agent or tenant every row gets a new id, except memories that an agent wrote to `global` of
    its tenant. Existing memories stay: a restored fact whose slot is taken becomes the past of that one. Erased
    memories stay erased, unless `options.with_erased`. Vectors of another embedder are left out; those
    memories wait for new ones.

    Who is bound to the target's tenant sees nothing of another one, erasures included: all of it is behind the
    target's wall. Only for whoever runs the memory the tenant that the backup is of is asked what it erased since.

    Raises:
        Forbidden: `options.untrusted` of a key that is bound to one agent.
        UnusableBackup: the file is not whole and sound, not signed here and not `options.untrusted`, of a newer
            engrain, or not for there; nothing was touched.
    """
    progress = progress or (lambda _step, _rows: None)
    with sealed_files.open_sealed(path, load_cipher) as file, NamedIds() as names:
        check_signature(path, file.sha256, file.signature, key, untrusted=options.untrusted, grant=options.grant)
        reader = BackupReader(file, path)
        plan = relocation.plan_relocation(
            reader.header.extent, tenant=options.tenant, agent=options.agent, here=act.caller.tenant_id
        )
        verify(reader, path, names, progress)
        erased, scopes = frozenset[str](), dict[str, datetime]()
        source = plan.source.tenant_id
        if options.grant is None and source is not None and source != plan.target.tenant_id:
            erased = _find_erased(store, reader, source)
            scopes = store.inspect(source, find_erasures, source)

        def write(target: SqlRestoration) -> RestoreReport:
            names.begin_again()
            restore = _Restore(
                target=target,
                act=act,
                options=options,
                plan=plan,
                header=reader.header,
                names=names,
                erased_before=erased,
                scopes_erased_before=scopes,
            )
            restore.add_all(reader, progress)
            report = restore.report(path, file.sha256)
            if options.dry_run:
                raise _DryRunEndsError(report)
            restore.finish(report)
            return report

        try:
            return store.restore(plan.target.tenant_id, write)
        except _DryRunEndsError as end:
            return end.report


class _DryRunEndsError(Exception):
    """Ends a dry run, so that its transaction rolls back."""

    def __init__(self, report: RestoreReport) -> None:
        super().__init__()
        self.report = report


@dataclass(kw_only=True)
class _Restore:
    """State of one restore."""

    target: SqlRestoration
    act: Act
    options: RestoreOptions
    plan: Relocation
    header: Header
    names: NamedIds
    erased_before: Collection[str]  # source ids that another tenant erased
    scopes_erased_before: Mapping[str, datetime]  # likewise of users, agents or all of it, with the time
    erasures: dict[str, Mapping[str, datetime]] = field(default_factory=dict)  # by scope, by source tenant
    added: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    added_by_tenant: Counter[str] = field(default_factory=Counter)
    later: list[tuple[str, str, str]] = field(default_factory=list)  # source tenant, fact, and what it supersedes
    keeps_vectors: bool = False

    def add_all(self, reader: BackupReader, progress: Progress) -> None:
        """Add every row that is missing."""
        if self.options.replace:
            self.counts["cleared"] = self.target.clear(self.plan.target, self.act.at)
        if self.target.embedder is None and self.header.embedder is not None and not self.options.is_bound:
            self.target.use_embedder(self.header.embedder, self.act.at)
        self.keeps_vectors = self.header.embedder is not None and self.header.embedder == self.target.embedder
        seen = 0
        for table, rows in _batches(reader):
            for tenant, own in by_tenant(rows).items():
                count = self._add(table, tenant, own)
                self.added[table] += count
                self.added_by_tenant[self.plan.tenant(tenant)] += count
            seen += len(rows)
            progress("restoring", seen)
        self._supersede_later()

    def report(self, path: Path, sha256: str) -> RestoreReport:
        vectors = "none"
        if self.header.embedder is not None:
            vectors = "kept" if self.keeps_vectors else "to make"
        return RestoreReport(
            path=str(path),
            sha256=sha256,
            tenant_id=self.plan.target.tenant_id,
            agent=self.plan.target.agent,
            user=self.plan.target.user,
            added={table: count for table, count in self.added.items() if count},
            present=self.counts["present"],
            erased=self.counts["erased"],
            superseded=self.counts["superseded"],
            cleared=self.counts["cleared"],
            vectors=vectors,
            dry_run=self.options.dry_run,
        )

    def finish(self, report: RestoreReport) -> None:
        """Update the search index, and write an audit event where anything changed."""
        self.target.finish()
        payload = {"sha256": report.sha256, "memories": report.memories, "cleared": report.cleared}
        whole = self.plan.target.tenant_id
        scope = user_scope(self.plan.target.user, self.plan.target.agent or GLOBAL_SCOPE)
        for tenant in [whole] if whole is not None else sorted(self.added_by_tenant):
            if self.added_by_tenant[tenant] or report.cleared:
                act = replace(self.act, caller=replace(self.act.caller, tenant_id=tenant))
                self.target.record(act, "backup_restored", payload, scope=scope)

    def _add(self, table: str, tenant: str, rows: Sequence[Row]) -> int:
        """Add rows of one table and tenant; returns their number."""
        if table in {DEPARTURES, VECTORS}:
            if self.options.dry_run or (table == VECTORS and not self.keeps_vectors):
                return 0
            rows = [row for row in rows if self.names.target_of_memory(tenant, row["id"], new=True) is not None]
        elif table in MEMORIES:
            rows = self._choose_new_memories(table, tenant, rows)
        elif table == "entities":
            rows = self._choose_new_entities(tenant, rows)
        elif table == "log_sessions":
            rows = self._choose_new_logs(tenant, rows)
        elif table == "items":
            rows = self._choose_undeleted(table, tenant, self._choose_new_items(tenant, rows))
        elif not self.options.with_erased:
            rows = [row for row in rows if not self._is_gone(table, tenant, row)]
        moved = [target for row in rows if (target := self._move(table, tenant, row)) is not None]
        if table == "facts":
            self._resolve_slots(self.plan.tenant(tenant), moved)
        elif table == "tombstones":  # a memory that is there stays
            fates = find_fates(self.target.tx, self.plan.tenant(tenant), [row["id"] for row in moved])
            moved = [row for row in moved if row["id"] not in fates]
        return self.target.add(table, moved)

    def _choose_new_memories(self, table: str, tenant: str, rows: Sequence[Row]) -> list[Row]:
        """Return the memories that are neither there nor erased."""
        ids = {row["id"]: self._id(table, row) for row in rows}
        fates = find_fates(self.target.tx, self.plan.tenant(tenant), list(ids.values()))
        erased = {id_ for id_, target in ids.items() if fates.get(target) == "erased"}
        erased |= {row["id"] for row in rows if self._is_of_erased(table, tenant, row)}
        if not self.plan.is_unchanged:  # erased under its own id too
            erased |= self.erased_before & ids.keys()
            if tenant == self.plan.target.tenant_id:
                before = find_fates(self.target.tx, tenant, list(ids))
                erased |= {id_ for id_, fate in before.items() if fate == "erased"}
        if self.options.with_erased:
            self.target.remove_tombstones(self.plan.tenant(tenant), [ids[id_] for id_ in erased])
            erased = set()
        present = {id_: target for id_, target in ids.items() if id_ not in erased and fates.get(target) == "there"}
        self.counts["erased"] += len(erased)
        self.counts["present"] += len(present)
        self.names.become(tenant, _kind(table), present.items(), is_new=False)
        return [row for row in rows if row["id"] not in erased and row["id"] not in present]

    def _choose_new_entities(self, tenant: str, rows: Sequence[Row]) -> list[Row]:
        """Return the entities that are not known there, by their id or by name and type."""
        new = []
        for row in rows:
            if not self.options.with_erased and self._is_of_erased("entities", tenant, row):
                continue
            id_ = self.plan.id(row["id"], scope=None)
            known = self.target.entity({**self.plan.move(row), "id": id_})
            self.names.become(tenant, "entity", [(row["id"], known or id_)], is_new=known is None)
            if known is None:
                new.append(row)
        return new

    def _choose_new_logs(self, tenant: str, rows: Sequence[Row]) -> list[Row]:
        """Return the sessions of logs that are neither there nor deleted; one that is there stays as it is."""
        rows = self._choose_undeleted("log_sessions", tenant, rows)
        ids = {row["id"]: self._id("log_sessions", row) for row in rows}
        moved = {row["id"]: {**self.plan.move(row), "id": ids[row["id"]]} for row in rows}
        new = [row for row in rows if not self.target.has_log(moved[row["id"]])]
        self.names.become(tenant, LOG, [(row["id"], ids[row["id"]]) for row in new], is_new=True)
        return new

    def _choose_new_items(self, tenant: str, rows: Sequence[Row]) -> list[Row]:
        """Return the items whose key has none there, and versions but of items of whose key another one is there."""
        keys = [ItemKey(**{name: moved[name] for name in ItemKey._fields}) for moved in map(self.plan.move, rows)]
        there = self.target.items(self.plan.tenant(tenant), keys)
        return [
            row
            for row, key in zip(rows, keys, strict=True)
            if key not in there
            or (row["replaced_at"] is not None and datetime.fromisoformat(row["created_at"]) == there[key])
        ]

    def _choose_undeleted(self, table: str, tenant: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that were not deleted since; with erased ones, and without their tombstones, if so asked."""
        ids = {row["id"]: self._id(table, row) for row in rows}
        here = self.plan.tenant(tenant)
        fates = find_fates(self.target.tx, here, [*ids.values(), *(ids if here == tenant else ())])
        erased = {id_ for id_, target in ids.items() if id_ in fates or target in fates} | (
            self.erased_before & ids.keys()
        )
        erased |= {row["id"] for row in rows if self._is_of_erased(table, tenant, row)}
        if self.options.with_erased:
            self.target.remove_tombstones(here, list(fates))
            erased = set()
        return [row for row in rows if row["id"] not in erased]

    def _move(self, table: str, tenant: str, row: Row) -> dict[str, Any] | None:
        """Convert a row to one of the target; None where a row that it depends on is missing."""
        if table == "runs" and self.plan.source.is_part:  # an undo would open whatever is named there
            read = [id_ for id_ in row["episode_ids"] if self.names.has_memory(tenant, id_)]
            row = {**row, "episode_ids": read}
        shape, moved = TABLES[table], self.plan.move(row)
        if not self.plan.is_unchanged:
            mixed = [name for name in row if shape.columns[name] in {"object", "names"}]  # ids among other texts
            target = partial(self.names.anything, tenant)
            moved |= {name: relocation.replace_ids(row[name], target) for name in mixed}
        for column, kind in shape.references.items():
            moved[column] = self.names.target(tenant, row.get(kind, kind), row[column])
            if moved[column] is None and shape.is_dependent:
                return None
        if table == "memory_events":
            self._move_event(tenant, row, moved)
        if "id" in row:
            moved["id"] = self._target_id(table, tenant, row, moved)
        return moved

    def _target_id(self, table: str, tenant: str, row: Row, moved: Row) -> str:
        """Return the id of a moved row; a memory has it from now on, so that the next ones may refer to it."""
        if table in {DEPARTURES, VECTORS}:
            return str(self.names.target_of_memory(tenant, row["id"]))
        if table == "entities":
            return str(self.names.target(tenant, "entity", row["id"]))
        if table == "rule_applications" and moved["rule_id"] == row["rule_id"]:
            return str(row["id"])
        id_ = self._id(table, row)
        if table in MEMORIES:
            self.names.become(tenant, _kind(table), [(row["id"], id_)], is_new=True)
            if row.get("supersedes_id") is not None and moved["supersedes_id"] is None:
                self.later.append((tenant, row["id"], row["supersedes_id"]))
        return id_

    def _id(self, table: str, row: Row) -> str:
        return self.plan.id(
            row["id"], scope=row["scope"] if "scope" in TABLES[table].columns else self.plan.source.agent
        )

    def _move_event(self, tenant: str, row: Row, moved: dict[str, Any]) -> None:
        """Move what an event refers to; one of a memory that stays erased loses its payload."""
        if row["run_id"] is not None:
            moved["run_id"] = self.plan.id(row["run_id"], scope=self.plan.source.agent)
        memory = row["memory_id"]
        if memory is not None:
            target = self.names.anything(tenant, memory)
            moved["memory_id"] = target or self.plan.id(memory, scope=row["scope"])
            if target is None and self.names.has_memory(tenant, memory):
                moved["payload"] = {}
        is_proof = row["event_type"] in EXTENT_ERASED
        if not self.options.with_erased and not is_proof and self._is_of_erased("memory_events", tenant, row):
            moved["payload"] = {}

    def _is_gone(self, table: str, tenant: str, row: Row) -> bool:
        """Tell whether a row of no memory went with its owner; an event stays bare, unless all of the tenant went."""
        return self._is_of_erased(table, tenant, row, of_tenant=table == "memory_events")

    def _is_of_erased(self, table: str, tenant: str, row: Row, *, of_tenant: bool = False) -> bool:
        """Tell whether a row is of a user, an agent or a tenant erased since, from the target or the backup's tenant.

        Tombstones do not say all: a memory may have expired for good before its user was erased, and neither an entity,
        nor a run, nor the name of a session has one.
        """
        if tenant not in self.erasures:
            target = self.plan.tenant(tenant)
            here, before = find_erasures(self.target.tx, target), self.scopes_erased_before
            if target != tenant:
                here.pop(GLOBAL_SCOPE, None)  # of which this is no part
            self.erasures[tenant] = {**before, **{one: max(at, before.get(one, at)) for one, at in here.items()}}
        erasures = self.erasures[tenant]
        if not erasures:
            return False
        scopes = [GLOBAL_SCOPE] if of_tenant else _owners(row)
        moment = datetime.fromisoformat(row[_TIMES[table]]) if row.get(_TIMES.get(table, "")) else self.header.made_at
        return any(moment <= at for scope in scopes if (at := erasures.get(scope)) is not None)

    def _resolve_slots(self, tenant: str, facts: Sequence[dict[str, Any]]) -> None:
        """End facts where the next one of their slot begins, and supersede those whose time another one has."""
        now = self.act.at
        taken: dict[tuple[str | None, ...], tuple[datetime, str]] = {}
        for fact in facts:
            begins, end = datetime.fromisoformat(fact["valid_from"] or fact["created_at"]), fact["valid_to"]
            ends = None if end is None else datetime.fromisoformat(end)
            if fact["validity"] != "active" or (ends is not None and ends <= now):
                continue
            key = row_key(fact)
            slot = (fact["scope"], *key[1:], fact["entity_id"], None if fact["entity_id"] else key.subject)
            is_live, since = begins <= now, max(begins, now)
            held = [(rival.happened_at, rival.id) for rival in self.target.rivals(fact) if not rival.has_ended(since)]
            held += [taken[slot]] if is_live and slot in taken else []
            first = min(((start, id_) for start, id_ in held if ends is None or start < ends), default=None)
            if first is not None:
                self._end(tenant, fact, *first, is_past=first[0] <= since)
            if is_live and fact["validity"] == "active":
                taken[slot] = begins, fact["id"]

    def _end(self, tenant: str, fact: dict[str, Any], start: datetime, by: str, *, is_past: bool) -> None:
        """End a fact where another one begins, or let it be the past of that one, with an event of its own end."""
        begins, own = datetime.fromisoformat(fact["valid_from"] or fact["created_at"]), fact["valid_to"]
        end = max(begins, start)
        changed = [None if own is None else format_time(datetime.fromisoformat(own)), format_time(end)]
        event_type, payload = "fact_period_changed", {"valid_to": changed, "by": by}
        if is_past:
            self.counts["superseded"] += 1
            at = max(self.act.at, datetime.fromisoformat(fact["created_at"])).isoformat()
            fact.update(validity="superseded", invalidated_at=at)
            event_type, payload = "fact_superseded", {"superseded_by": by, "valid_to": changed}
        fact["valid_to"] = end.isoformat()
        act = replace(self.act, caller=replace(self.act.caller, tenant_id=tenant))
        self.target.record(act, event_type, payload, scope=fact["scope"], memory_id=fact["id"])

    def _supersede_later(self) -> None:
        """Supersede facts that came later in the file than their successors."""
        pairs = (
            (tenant, self.names.target(tenant, "fact", id_), self.names.target(tenant, "fact", old))
            for tenant, id_, old in self.later
        )
        self.target.supersede(
            (self.plan.tenant(tenant), id_, old) for tenant, id_, old in pairs if id_ is not None and old is not None
        )


def _find_erased(store: SqlStore, reader: BackupReader, tenant: str) -> frozenset[str]:
    """Find the memories of a backup that its own tenant has erased since."""
    erased: set[str] = set()
    for table, rows in _batches(reader):
        if table in MEMORIES:
            fates = store.inspect(tenant, find_fates, tenant, [row["id"] for row in rows])
            erased.update(id_ for id_, fate in fates.items() if fate == "erased")
    return frozenset(erased)


def _owners(row: Row) -> Iterator[str]:
    """Yield the scopes whose erasure takes a row with it: of all of the tenant, of its user, of its agent."""
    yield GLOBAL_SCOPE
    scope = row.get("scope", GLOBAL_SCOPE)
    user = user_of(scope) or row.get("user_id")
    if user:
        yield user_scope(user, GLOBAL_SCOPE)
    audience = audience_of(scope)
    yield row.get("agent", GLOBAL_SCOPE) if audience == GLOBAL_SCOPE else audience


def _kind(table: str) -> str:
    kind = TABLES[table].kind
    assert kind is not None
    return kind


def _batches(reader: BackupReader) -> Iterator[tuple[str, list[Row]]]:
    """Batches of rows of one table, a few hundred or a few megabytes each."""
    rows: list[Row] = []
    table, size = "", 0
    for line in reader.rows_again():
        if rows and (line.table != table or len(rows) == _ROWS_AT_ONCE or size > _BYTES_AT_ONCE):
            yield table, rows
            rows, size = [], 0
        table = line.table
        rows.append(line.row)
        size += line.size
    if rows:
        yield table, rows
