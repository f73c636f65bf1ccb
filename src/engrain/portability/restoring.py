"""A backup restored: checked from end to end first, then taken in by one transaction, or not at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engrain.domain.records import GLOBAL_SCOPE, Record
from engrain.portability import moving, sealed
from engrain.portability.backups import MEMORIES, VECTORS
from engrain.portability.contents import Contents
from engrain.portability.verifying import KINDS, verify
from engrain.storage.backup.archive import DEPARTURES
from engrain.storage.backup.named_ids import NamedIds
from engrain.storage.migrations import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from engrain.domain.maintenance.backups import Backups, Restoration, Row
    from engrain.domain.requests import Act
    from engrain.portability.contents import Header
    from engrain.portability.moving import Move

    Progress = Callable[[str, int], None]

_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport(Record):
    """What a restore did, or a dry run would do; `added` counts rows by table, the rest counts memories."""

    path: str
    sha256: str  # of the backup
    tenant_id: str | None  # whose memories these are now; None: every tenant's of the backup
    agent: str | None
    added: Mapping[str, int]
    present: int  # were there before, and stay as they are
    erased: int  # were erased, and stay so
    superseded: int  # active facts whose place another one has: they are its past now
    cleared: int  # were removed to make room
    vectors: str  # "kept"; "to make", where another embedder is in use; "none", where the backup has none
    dry_run: bool

    @property
    def memories(self) -> int:
        """How many episodes, facts and rules were added."""
        return sum(self.added.get(table, 0) for table in MEMORIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a restore."""

    tenant: str | None = None
    agent: str | None = None
    replace: bool = False
    with_erased: bool = False
    dry_run: bool = False


def restore(store: Backups, path: Path, act: Act, wish: Wish, *, progress: Progress | None = None) -> RestoreReport:
    """Add what is missing of a backup to its agent or tenant, or to another one; `wish.replace` clears that first.

    All or nothing, in one transaction: a process that is killed leaves what was there before. Restored again, it adds
    nothing. Under another agent or tenant everything has an id of its own, but for what an agent wrote to `global` of
    its tenant. What is there stays: a fact whose place is taken becomes the past of that one. What was erased stays
    erased, unless `wish.with_erased`. Vectors of another embedder are left out; the memories wait for new ones.

    Raises:
        UnusableBackup: the file is not whole and sound, of a newer engrain, or not for there; nothing was touched.
    """
    told = progress or _unheard
    with sealed.opened(path) as file, NamedIds() as names:
        contents = Contents(file, path, known=store.backed_up, schema=HEAD)
        move = moving.move(contents.header.extent, tenant=wish.tenant, agent=wish.agent, here=act.caller.tenant_id)
        verify(contents, path, names, told)
        wall = move.target.tenant_id if move.source.tenant_id == move.target.tenant_id else None

        def taken_in(target: Restoration) -> RestoreReport:
            names.begin_again()
            taking = _Taking(target=target, act=act, wish=wish, move=move, header=contents.header, names=names)
            taking.all_of(contents, told)
            report = taking.report(path, file.sha256)
            if wish.dry_run:
                raise _DryRunEndsError(report)
            taking.finish(report)
            return report

        try:
            return store.restoring(wall, taken_in)
        except _DryRunEndsError as end:
            return end.report


class _DryRunEndsError(Exception):
    """Rolls back what a dry run did."""

    def __init__(self, report: RestoreReport) -> None:
        super().__init__()
        self.report = report


@dataclass(kw_only=True)
class _Taking:
    """One run through the rows of a backup."""

    target: Restoration
    act: Act
    wish: Wish
    move: Move
    header: Header
    names: NamedIds
    added: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    added_by_tenant: Counter[str] = field(default_factory=Counter)
    later: list[tuple[str, str, str]] = field(default_factory=list)  # source tenant, fact, and what it supersedes
    keeps_vectors: bool = False

    def all_of(self, contents: Contents, told: Progress) -> None:
        """Take in every row."""
        if self.wish.replace:
            self.met["cleared"] = self.target.clear(self.move.target, self.act.at)
        if self.target.embedder is None and self.header.embedder is not None:
            self.target.use_embedder(self.header.embedder, self.act.at)
        self.keeps_vectors = self.header.embedder is not None and self.header.embedder == self.target.embedder
        seen = 0
        for table, rows in _batches(contents):
            for tenant, its in _by_tenant(rows).items():
                count = self._take(table, tenant, its)
                self.added[table] += count
                self.added_by_tenant[self.move.tenant(tenant)] += count
            seen += len(rows)
            told("restoring", seen)
        self._supersede_later()

    def report(self, path: Path, sha256: str) -> RestoreReport:
        """What was done."""
        vectors = "none"
        if self.header.embedder is not None:
            vectors = "kept" if self.keeps_vectors else "to make"
        return RestoreReport(
            path=str(path),
            sha256=sha256,
            tenant_id=self.move.target.tenant_id,
            agent=self.move.target.agent,
            added={table: count for table, count in self.added.items() if count},
            present=self.met["present"],
            erased=self.met["erased"],
            superseded=self.met["superseded"],
            cleared=self.met["cleared"],
            vectors=vectors,
            dry_run=self.wish.dry_run,
        )

    def finish(self, report: RestoreReport) -> None:
        """Let it be searched, and write it down where anything changed."""
        self.target.finish()
        payload = {"sha256": report.sha256, "memories": report.memories, "cleared": report.cleared}
        whole = self.move.target.tenant_id
        for tenant in [whole] if whole is not None else sorted(self.added_by_tenant):
            if self.added_by_tenant[tenant] or report.cleared:
                act = replace(self.act, caller=replace(self.act.caller, tenant_id=tenant))
                self.target.say(act, "backup_restored", payload, scope=self.move.target.agent or GLOBAL_SCOPE)

    def _take(self, table: str, tenant: str, rows: Sequence[Row]) -> int:
        """Rows of one table and tenant; how many were added."""
        match table:
            case "episodes" | "facts" | "rules":
                return self._memories(table, tenant, rows)
            case "entities":
                return self._entities(tenant, rows)
            case "tombstones":
                return self._tombstones(rows)
            case _ if table in {DEPARTURES, VECTORS}:
                return self._searches(table, tenant, rows)
            case _:
                return self.target.add(table, [each for row in rows if (each := self._moved(table, tenant, row))])

    def _moved(self, table: str, tenant: str, row: Row) -> Row | None:
        """What a row that stands for itself says here; None where what it needs is not there."""
        match table:
            case "rule_applications" | "memory_links" | "memory_entities":
                return self._hanging(table, tenant, row)
            case "memory_events":
                return self._event(tenant, row)
            case "runs":
                return self._run(tenant, row)
            case _:
                return self.move.owned(row)

    def _memories(self, table: str, tenant: str, rows: Sequence[Row]) -> int:
        ids = {row["id"]: self.move.id(row["id"], scope=row["scope"]) for row in rows}
        fates = self.target.fates(self.move.tenant(tenant), list(ids.values()))
        erased = {id_ for id_, target in ids.items() if fates.get(target) == "erased"}
        if not self.move.is_same:  # under another name it would come back all the same
            before = self.target.fates(tenant, list(ids))
            erased |= {id_ for id_, fate in before.items() if fate == "erased"}
        if self.wish.with_erased:
            self.target.bury(self.move.tenant(tenant), [ids[id_] for id_ in erased])
            erased = set()
        there = {id_: target for id_, target in ids.items() if id_ not in erased and fates.get(target) == "there"}
        new = [row for row in rows if row["id"] not in erased and row["id"] not in there]
        self.met["erased"] += len(erased)
        self.met["present"] += len(there)
        self.names.become(tenant, KINDS[table], there.items(), is_new=False)
        moved = []
        for row in new:  # one by one: a fact may supersede the one before it
            moved.append(self._memory(tenant, row, ids[row["id"]]))
            self.names.become(tenant, KINDS[table], [(row["id"], ids[row["id"]])], is_new=True)
        return self.target.add(table, self._in_their_places(moved) if table == "facts" else moved)

    def _memory(self, tenant: str, row: Row, id_: str) -> dict[str, Any]:
        moved = self.move.owned(row) | {"id": id_, "metadata": self._renamed(tenant, row["metadata"])}
        for column, kind in (("source_episode_id", "episode"), ("entity_id", "entity")):
            if column in row:
                moved[column] = self.names.target(tenant, kind, row[column])
        if row.get("supersedes_id") is not None:
            moved["supersedes_id"] = self.names.target(tenant, "fact", row["supersedes_id"])
            if moved["supersedes_id"] is None:
                self.later.append((tenant, row["id"], row["supersedes_id"]))
        return moved

    def _in_their_places(self, facts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Facts, of which those are past whose places others have."""
        taken: set[tuple[str | None, ...]] = set()
        placed = []
        for fact in facts:
            place = (
                fact["scope"],
                fact["predicate"],
                fact["entity_id"],
                None if fact["entity_id"] else fact["subject"],
            )
            is_active = fact["validity"] == "active"
            if is_active and (place in taken or self.target.holder(fact) is not None):
                self.met["superseded"] += 1
                at = max(self.act.at, datetime.fromisoformat(fact["created_at"])).isoformat()
                placed.append(
                    {**fact, "validity": "superseded", "invalidated_at": at, "valid_to": fact["valid_to"] or at}
                )
                continue
            if is_active:
                taken.add(place)
            placed.append(fact)
        return placed

    def _entities(self, tenant: str, rows: Sequence[Row]) -> int:
        added = 0
        for row in rows:
            target, id_ = self.move.tenant(tenant), self.move.id(row["id"], scope=None)
            known = self.target.entity(target, id_, row["canonical_name"], row["entity_type"])
            self.names.become(tenant, "entity", [(row["id"], known or id_)], is_new=known is None)
            if known is None:
                moved = {**row, "tenant_id": target, "id": id_, "metadata": self._renamed(tenant, row["metadata"])}
                added += self.target.add("entities", [moved])
        return added

    def _tombstones(self, rows: Sequence[Row]) -> int:
        """What was erased where the backup was made; a memory that is there stays."""
        moved = [self.move.owned(row) | {"id": self.move.id(row["id"], scope=row["scope"])} for row in rows]
        fates = self.target.fates(moved[0]["tenant_id"], [row["id"] for row in moved])
        return self.target.add("tombstones", [row for row in moved if row["id"] not in fates])

    def _hanging(self, table: str, tenant: str, row: Row) -> dict[str, Any] | None:
        """A link, a mention or an application, where both of its ends are there."""
        moved = self.move.owned(row)
        match table:
            case "memory_links":
                ends = {"source_id": row["source_kind"], "target_id": row["target_kind"]}
            case "memory_entities":
                ends = {"entity_id": "entity", "memory_id": row["memory_kind"]}
            case _:
                ends = {"rule_id": "rule"}
        for column, kind in ends.items():
            moved[column] = self.names.target(tenant, kind, row[column])
            if moved[column] is None:
                return None
        if table == "rule_applications" and moved["rule_id"] != row["rule_id"]:
            moved["id"] = self.move.id(row["id"], scope=self.move.source.agent)
        return moved

    def _event(self, tenant: str, row: Row) -> dict[str, Any]:
        """An event; of what stays erased it says nothing but that it was."""
        moved = self.move.owned(row) | {
            "id": self.move.id(row["id"], scope=row["scope"]),
            "run_id": self._run_id(row["run_id"]),
        }
        memory = row["memory_id"]
        if memory is None:
            return moved
        target = self.names.anything(tenant, memory)
        is_silent = target is None and self.names.has_memory(tenant, memory)
        moved["memory_id"] = target or self.move.id(memory, scope=row["scope"])
        moved["payload"] = {} if is_silent else self._renamed(tenant, row["payload"])
        return moved

    def _run(self, tenant: str, row: Row) -> dict[str, Any]:
        """A run of learning, with what it read and did."""
        named = {name: self._renamed(tenant, row[name]) for name in ("episode_ids", "report")}
        return self.move.owned(row) | named | {"id": self._run_id(row["id"])}

    def _run_id(self, id_: str | None) -> str | None:
        return None if id_ is None else self.move.id(id_, scope=self.move.source.agent)

    def _searches(self, table: str, tenant: str, rows: Sequence[Row]) -> int:
        """Vectors and departures of what was added by this."""
        if self.wish.dry_run or (table == VECTORS and not self.keeps_vectors):
            return 0
        targets = ((self.names.target_of_memory(tenant, row["id"], new=True), row) for row in rows)
        moved = [{**self.move.owned(row), "id": target} for target, row in targets if target is not None]
        return self.target.add(table, moved)

    def _supersede_later(self) -> None:
        """What superseded facts that came after it in the file."""
        pairs = (
            (tenant, self.names.target(tenant, "fact", id_), self.names.target(tenant, "fact", old))
            for tenant, id_, old in self.later
        )
        self.target.supersede(
            (self.move.tenant(tenant), id_, old) for tenant, id_, old in pairs if id_ is not None and old is not None
        )

    def _renamed(self, tenant: str, value: Any) -> Any:
        if self.move.is_same:
            return value
        return moving.renamed(value, lambda id_: self.names.anything(tenant, id_))


def _batches(contents: Contents) -> Iterator[tuple[str, list[Row]]]:
    """Rows of one table at a time, a few hundred or a few megabytes of them."""
    rows: list[Row] = []
    table, size = "", 0
    for line in contents.rows_again():
        if rows and (line.table != table or len(rows) == _ROWS_AT_ONCE or size > _BYTES_AT_ONCE):
            yield table, rows
            rows, size = [], 0
        table = line.table
        rows.append(line.row)
        size += line.size
    if rows:
        yield table, rows


def _by_tenant(rows: Sequence[Row]) -> dict[str, list[Row]]:
    its: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        its[row["tenant_id"]].append(row)
    return its


def _unheard(_step: str, _rows: int) -> None:
    pass
