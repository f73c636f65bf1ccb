"""Restoration of the rows of a backup beside what is there, in one transaction with the search index."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from engrain.domain.maintenance.backups import VectorSpace
from engrain.domain.records import Episode, Event
from engrain.storage import selection
from engrain.storage.backup import archive, clearance
from engrain.storage.entities import registry
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.maintenance.backups import Extent, Fate, Row
    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Act
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_AT_ONCE = 500


class RestoreIndex(Protocol):
    """Search index of a backend while a backup is restored."""

    def index(self, tenant_id: str) -> SearchIndex:
        """Return the search index of a tenant."""

    def docs(self, tx: Transaction, count: int) -> Sequence[int]:
        """Reserve fresh docs, ascending."""

    def changed(self, tx: Transaction, statement: str, values: Sequence[Mapping[str, Any]]) -> int:
        """Run a statement for each set of values, and return how many rows it added."""

    def index_memories(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord]) -> None:
        """Index memories that were just added, now or by `finish`."""

    def flush_index(self, tx: Transaction) -> None:
        """Index everything that was added."""

    def attach(self, tx: Transaction, rows: Sequence[archive.Row]) -> None:
        """Attach vectors to indexed memories."""

    def finish(self, tx: Transaction) -> None:
        """Bring the index and its totals up to date."""


@dataclass(frozen=True, slots=True)
class SqlRestoration:
    """Implements `domain.maintenance.backups.Restoration` over one transaction."""

    tx: Transaction
    searches: RestoreIndex
    ids: Callable[[], str]

    @property
    def embedder(self) -> VectorSpace | None:
        active = embedding_versions.find_active(self.tx)
        return None if active is None else VectorSpace(name=active.name, dims=active.dims)

    def use_embedder(self, embedder: VectorSpace, at: datetime) -> None:
        embedding_versions.use_embedder(self.tx, embedder.name, embedder.dims, at)

    def clear(self, extent: Extent, at: datetime) -> int:
        self.searches.flush_index(self.tx)
        return clearance.clear_extent(self.tx, extent, self.searches.index, at)

    def fates(self, tenant_id: str, ids: Collection[str]) -> dict[str, Fate]:
        bound = {"tenant_id": tenant_id, "ids": self.tx.dialect.listed(ids)}
        return {id_: "erased" if is_erased else "there" for id_, is_erased in self.tx.rows("fates", **bound)}

    def entity(self, tenant_id: str, id_: str, name: str, entity_type: str) -> str | None:
        found = self.tx.one("known_entity", tenant_id=tenant_id, id=id_, name=name, type=entity_type)
        return None if found is None else str(found[0])

    def holder(self, fact: Row) -> str | None:
        who = "entity_id = :who" if fact["entity_id"] is not None else "entity_id IS NULL AND subject = :who"
        named = {name: fact[name] for name in ("tenant_id", "scope", "predicate")}
        found = self.tx.ask(
            f"SELECT id FROM facts WHERE tenant_id = :tenant_id AND scope = :scope AND predicate = :predicate "  # noqa: S608  # no input in it
            f"AND {who} AND validity = 'active'",
            {**named, "who": fact["entity_id"] or fact["subject"]},
        )
        return str(found[0][0]) if found else None

    def add(self, table: str, rows: Sequence[Row]) -> int:
        if not rows:
            return 0
        match table:
            case archive.DEPARTURES:
                return self._depart(rows)
            case archive.VECTORS:
                return self._attach(rows)
            case "episodes" | "facts" | "rules":
                return self._add_memories(table, rows)
            case "entities":
                return self._add_entities(rows)
            case _:
                return self._insert(table, rows)

    def supersede(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        self.tx.run_each(
            "name_superseded",
            [{"tenant_id": tenant_id, "id": id_, "supersedes_id": old} for tenant_id, id_, old in pairs],
        )

    def remove_tombstones(self, tenant_id: str, ids: Collection[str]) -> None:
        self.tx.run("drop_tombstones", tenant_id=tenant_id, ids=self.tx.dialect.listed(ids))

    def finish(self) -> None:
        self.searches.finish(self.tx)

    def record(self, act: Act, event_type: str, payload: Mapping[str, Any], *, scope: str) -> None:
        event = Event(
            id=self.ids(),
            tenant_id=act.caller.tenant_id,
            event_type=event_type,
            scope=scope,
            actor=act.caller.agent,
            request_id=act.caller.request_id,
            payload=payload,
            created_at=act.at,
        )
        self.tx.add(self.tx.statements.records.events, "memory_events", event)

    def _add_memories(self, table: str, rows: Sequence[Row]) -> int:
        docs = self.searches.docs(self.tx, len(rows))
        placed = [{**row, "doc": doc} for doc, row in zip(docs, rows, strict=True)]
        added = self._insert(table, placed)
        if table == "episodes":
            spoke = sorted({(row["tenant_id"], row["scope"], row["speaker"]) for row in rows if row["speaker"]})
            names = ("tenant_id", "scope", "speaker")
            self.tx.run_each("add_speaker", [dict(zip(names, key, strict=True)) for key in spoke])
        by_tenant: dict[str, list[int]] = defaultdict(list)
        for row in placed:
            by_tenant[row["tenant_id"]].append(row["doc"])
        for tenant_id, numbers in by_tenant.items():
            self.searches.index_memories(
                self.tx, tenant_id, dict(sorted(selection.load_docs(self.tx, numbers, [tenant_id]).items()))
            )
        return added

    def _add_entities(self, rows: Sequence[Row]) -> int:
        added = self._insert("entities", rows)
        for tenant_id in sorted({row["tenant_id"] for row in rows}):
            ids = [row["id"] for row in rows if row["tenant_id"] == tenant_id]
            for entity in registry.lock_entities(self.tx, tenant_id, ids).values():
                registry.add_names(self.tx, entity)
        return added

    def _insert(self, table: str, rows: Sequence[Row]) -> int:
        statement, values = archive.build_insertion(self.tx, table, rows)
        return self.searches.changed(self.tx, statement, values)

    def _depart(self, rows: Sequence[Row]) -> int:
        """Take episodes out of the searches that were forgotten where they come from."""
        self.searches.flush_index(self.tx)
        placed = self._with_docs(rows)
        for row in placed:
            for doc, memory in selection.load_docs(self.tx, [row["doc"]], [row["tenant_id"]]).items():
                assert isinstance(memory, Episode)
                index = self.searches.index(memory.tenant_id)
                at = memory.expires_at or memory.created_at
                index.take_out(self.tx, memory.tenant_id, [doc], turns=[memory], at=at)
        return len(placed)

    def _attach(self, rows: Sequence[Row]) -> int:
        """Give memories their vectors, those that left the searches too: a question about the past may want them."""
        self.searches.flush_index(self.tx)
        active = embedding_versions.find_active(self.tx)
        placed = self._with_docs(rows)
        if placed and active is not None:
            self.searches.attach(self.tx, [{**row, "version": active.version} for row in placed])
        return len(placed)

    def _with_docs(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Add to rows the docs that their memories have here."""
        docs: dict[tuple[str, str], int] = {}
        for tenant_id in {row["tenant_id"] for row in rows}:
            ids = self.tx.dialect.listed([row["id"] for row in rows if row["tenant_id"] == tenant_id])
            found = self.tx.rows("docs_of_ids", tenant_id=tenant_id, ids=ids)
            docs |= {(tenant_id, id_): doc for id_, doc in found}
        known = ((docs.get((row["tenant_id"], row["id"])), row) for row in rows)
        return [{**row, "doc": doc} for doc, row in known if doc is not None]
