"""Restoration of rows beside what is there, in one transaction with the search index: of a backup, or of a copy."""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engrain.domain import events
from engrain.domain.maintenance.backups import Extent, Fate, Row, VectorSpace
from engrain.domain.memories.fact_keys import FactKey, fact_key
from engrain.domain.memories.trust import is_pending
from engrain.domain.records import Episode, Fact
from engrain.storage import selection
from engrain.storage.backup import clearance
from engrain.storage.backup.tables import DEPARTURES, KEYS, MEMORIES, TABLES, VECTORS
from engrain.storage.dialects import Dialect, as_json
from engrain.storage.entities import registry
from engrain.storage.rows import KIND_TABLES, ColumnType
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from engrain.domain.requests import Act
    from engrain.storage.backend import Backend
    from engrain.storage.search.index import SearchIndex
    from engrain.storage.transaction import Transaction

_KINDS = {table: kind for kind, table in KIND_TABLES.items()}


class ItemKey(NamedTuple):
    """Key of an item in its tenant."""

    scope: str
    namespace: str
    key: str


@dataclass(frozen=True, slots=True)
class SqlRestoration:
    """One transaction that adds rows. The caller checks ids and references; the searches follow."""

    tx: Transaction
    backend: Backend
    ids: Callable[[], str]
    indexes: dict[str, SearchIndex] = field(default_factory=dict)  # by tenant

    @property
    def embedder(self) -> VectorSpace | None:
        """Active embedder of this database."""
        active = embedding_versions.find_active(self.tx)
        return None if active is None else VectorSpace(name=active.name, dims=active.dims)

    def use_embedder(self, embedder: VectorSpace, at: datetime) -> None:
        """Record the first embedder of this database."""
        embedding_versions.use_embedder(self.tx, embedder.name, embedder.dims, at)

    def clear_embedders(self) -> None:
        """Remove the records of embedders from a database without memories."""
        self.backend.drop_vector_indexes(self.tx)
        self.tx.execute("DELETE FROM embedding_versions", {})

    def clear(self, extent: Extent, at: datetime) -> int:
        """Remove the memories of an extent and all that depends on them (of a tenant, all else too).

        Returns the number of memories. Events and tombstones stay.
        """
        self.backend.index_all(self.tx)
        return clearance.clear_extent(self.tx, extent, self._index, at)

    def entity(self, row: Row) -> str | None:
        """Find the id of the entity of a row: its id, or the one of its name and type in the same registry."""
        named = {name: row[name] for name in ("tenant_id", "id", "user_id")}
        found = self.tx.one("known_entity", **named, name=row["canonical_name"], type=row["entity_type"])
        return None if found is None else str(found[0])

    def has_log(self, row: Row) -> bool:
        """Tell whether the session of a log is there, by its id or by its name."""
        named = {name: row[name] for name in ("tenant_id", "id", "scope", "log", "session", "subkey")}
        return self.tx.one("has_log", **named) is not None

    def items(self, tenant_id: str, keys: Iterable[ItemKey]) -> dict[ItemKey, datetime]:
        """Find the items of a tenant that are there under some keys, with the time when each was first written."""
        found = self.tx.rows("items_of_keys", tenant_id=tenant_id, keys=as_json(sorted(set(keys))))
        return {ItemKey(*key): self.tx.dialect.moment(at) for *key, at in found}

    def rivals(self, fact: Row) -> list[Fact]:
        """Find the active facts in the slot of this row, of whatever period."""
        slot = {name: fact[name] for name in ("tenant_id", "scope", "entity_id")}
        return [holder for _, holder in selection.load_holders(self.tx, row_key(fact), **slot)]

    def add(self, name: str, rows: Sequence[Row]) -> int:
        """Add the rows of a table whose key is free; returns their number. Searches find memories after `finish`."""
        if not rows:
            return 0
        if name == DEPARTURES:
            return self._take_out(rows)
        if name == VECTORS:
            return self._attach(rows)
        if name in MEMORIES:
            return self._add_memories(name, rows)
        return self._add_entities(rows) if name == "entities" else self._insert(name, rows)

    def add_or_correct(self, name: str, rows: Sequence[Row]) -> int:
        """Add the rows whose key is free, and give the others what a search may have changed of them since."""
        added = self.add(name, rows)
        table = TABLES[name]
        if table.unrecorded and added < len(rows):
            bindings = [_bind(row, table.columns, self.tx.dialect) for row in rows]
            changes = ", ".join(f"{column} = :{column}" for column in table.unrecorded)
            key = " AND ".join(f"{column} = :{column}" for column in table.key)
            statement = f"UPDATE {name} SET {changes} WHERE {key}"  # noqa: S608  # names of the schema
            columns = (*table.unrecorded, *table.key)
            values = [{column: bound[column] for column in columns} for bound in bindings]
            self.tx.db.cursor().executemany(self.tx.dialect.statement(statement), values)
        return added

    def supersede(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Set `supersedes_id` of facts, by (tenant, id, superseded id)."""
        self.tx.run_each(
            "name_superseded",
            [{"tenant_id": tenant_id, "id": id_, "supersedes_id": old} for tenant_id, id_, old in pairs],
        )

    def remove_tombstones(self, tenant_id: str, ids: Collection[str]) -> None:
        """Remove tombstones: these ids may be used again."""
        self.tx.run("drop_tombstones", tenant_id=tenant_id, ids=self.tx.dialect.listed(ids))

    def finish(self) -> None:
        """Add all new memories to the searches, and remove those that were cleared."""
        self.backend.finish_restore(self.tx)

    def write_totals(self) -> None:
        """Write what the indexes have counted, last of all."""
        for tenant_id, index in sorted(self.indexes.items()):
            index.finish(self.tx, tenant_id)

    def record(
        self, act: Act, event_type: str, payload: Mapping[str, Any], *, scope: str, memory_id: str | None = None
    ) -> None:
        """Write an audit event."""
        event = events.make_event(act, event_type, self.ids, scope=scope, memory_id=memory_id, payload=payload)
        self.tx.add(self.tx.statements.records.events, "memory_events", event)

    def _index(self, tenant_id: str) -> SearchIndex:
        return self.indexes.setdefault(tenant_id, self.backend.new_index())

    def _add_memories(self, name: str, rows: Sequence[Row]) -> int:
        known = self._docs(rows)
        new = [row for row in rows if (row["tenant_id"], row["id"]) not in known]
        if not new:
            return 0
        if name == "facts" and KEYS[0] not in new[0]:
            new = [{**row, **dict(zip(KEYS, _stored_key(row), strict=True))} for row in new]
        if "doc" not in new[0]:
            docs = self.backend.number_docs(self.tx, _KINDS[name], len(new))
            new = [{**row, "doc": doc} for doc, row in zip(docs, new, strict=True)]
        elif self.tx.dialect.name == "sqlite":  # a server leaves nothing for later, and numbers by the time
            self.tx.run("use_docs", first=min(row["doc"] for row in new))
        added = self._insert(name, new)
        if name == "episodes":
            self._lock_sessions(new)
            spoke = sorted({(row["tenant_id"], row["scope"], row["speaker"]) for row in new if row["speaker"]})
            names = ("tenant_id", "scope", "speaker")
            self.tx.run_each("add_speaker", [dict(zip(names, key, strict=True)) for key in spoke])
        for tenant_id, own in by_tenant(new).items():
            memories = selection.load_docs(self.tx, [row["doc"] for row in own], [tenant_id])
            self._index(tenant_id).add_later(self.tx, dict(sorted(memories.items())))
        return added

    def _lock_sessions(self, rows: Sequence[Row]) -> None:
        """Lock the sessions of episodes: a turn beside them that is erased meanwhile would be indexed anew."""
        if self.tx.dialect.name == "sqlite":  # there is one writer at a time
            return
        for tenant_id, own in by_tenant(rows).items():
            scopes = sorted({row["scope"] for row in own})
            self.tx.run("lock_sessions_of", tenant_id=tenant_id, scopes=scopes, ids=[row["id"] for row in own])

    def _add_entities(self, rows: Sequence[Row]) -> int:
        """Add entities, and the names by which they are found."""
        added = 0
        for tenant_id, own in by_tenant(rows).items():
            known = registry.lock_entities(self.tx, tenant_id, [row["id"] for row in own])
            new = [row for row in own if row["id"] not in known]
            added += self._insert("entities", new)
            for entity in registry.lock_entities(self.tx, tenant_id, [row["id"] for row in new]).values():
                registry.change_names(self.tx, entity)
        return added

    def _insert(self, name: str, rows: Sequence[Row]) -> int:
        """Insert the rows whose key is free, and return their number."""
        if not rows:
            return 0
        tx, columns = self.tx, TABLES[name].columns
        insertion = f"INSERT INTO {name} ({', '.join(columns)})"
        # A doc that somebody else drew is no free key either, but is no row to leave out: it is drawn again.
        free = f"ON CONFLICT ({', '.join(TABLES[name].key)}) DO NOTHING"
        if tx.dialect.json_rows:
            given = f"SELECT {', '.join(columns)} FROM {tx.dialect.json_rows.format(table=name)}"  # noqa: S608  # names of the schema
            return int(tx.db.execute(f"{insertion} {given} {free}", [as_json(rows)]).rowcount)
        bound = ", ".join(f":{column}" for column in columns)
        before = getattr(tx.db, "total_changes", int)()  # apsw's
        values = [_bind(row, columns, tx.dialect) for row in rows]
        cursor = tx.db.cursor()
        cursor.executemany(tx.dialect.statement(f"{insertion} VALUES ({bound}) {free}"), values)
        return int(tx.db.total_changes() - before if hasattr(tx.db, "total_changes") else cursor.rowcount)

    def _take_out(self, rows: Sequence[Row]) -> int:
        """Take episodes out of the searches that were forgotten where they come from.

        With the vectors that whoever searched an unfinished copy made of them: those of where they come from follow.
        """
        self.backend.index_all(self.tx)
        docs = self._docs(rows)
        memories = selection.load_of_tenants(self.tx, [(tenant, doc) for (tenant, _), doc in docs.items()])
        for (tenant_id, doc), memory in sorted(memories.items(), key=itemgetter(0)):
            assert isinstance(memory, Episode)
            at = memory.expires_at or memory.created_at
            self._index(tenant_id).take_out(self.tx, tenant_id, [doc], turns=[memory], at=at)
            self.tx.run("erase_vectors", tenant_id=tenant_id, docs=self.tx.dialect.listed([doc]))
        return len(docs)

    def _attach(self, rows: Sequence[Row]) -> int:
        """Give memories their vectors, those that left the searches too: a question about the past may want them."""
        self.backend.index_all(self.tx)
        active = embedding_versions.find_active(self.tx)
        if active is None:
            return 0
        docs = self._docs(rows)
        placed = [
            {"version": active.version, **row, "doc": docs[key], "embedding": _decode_vector(row["embedding"])}
            for row in rows
            if (key := (row["tenant_id"], row["id"])) in docs
        ]
        if placed:
            self.backend.restore_vectors(self.tx, placed)
        return len(placed)

    def _docs(self, rows: Sequence[Row]) -> dict[tuple[str, str], int]:
        """Find the docs that the memories of some rows have here, by tenant and id."""
        docs: dict[tuple[str, str], int] = {}
        for tenant_id, own in by_tenant(rows).items():
            ids = self.tx.dialect.listed([row["id"] for row in own])
            found = self.tx.rows("docs_of_ids", tenant_id=tenant_id, ids=ids)
            docs |= {(tenant_id, id_): doc for id_, doc in found}
        return docs


def find_fates(tx: Transaction, tenant_id: str, ids: Collection[str]) -> dict[str, Fate]:
    """Find ids that are taken in a tenant, by a memory (`there`) or by a tombstone (`erased`)."""
    found = tx.rows("fates", tenant_id=tenant_id, ids=tx.dialect.listed(ids))
    return {id_: "erased" if is_erased else "there" for id_, is_erased in found}


def find_erasures(tx: Transaction, tenant_id: str) -> dict[str, datetime]:
    """Find the scopes of users and agents of a tenant that were erased, with the time of the last erasure.

    The scope `global` is all of the tenant.
    """
    return {scope: tx.dialect.moment(at) for scope, at in tx.rows("erasures", tenant_id=tenant_id)}


def row_key(fact: Row) -> FactKey:
    """Return the key of the row of a fact."""
    about = {name: fact[name] for name in ("scope", "subject", "predicate", "content", "tags")}
    return fact_key(**about, is_pending=is_pending(fact["metadata"], fact["category"]))


def _stored_key(fact: Row) -> FactKey:
    """Return the key that a row is stored under: the value of one with a period of its own is its id."""
    if is_pending(fact["metadata"], fact["category"]):
        return row_key(fact)
    start, end = fact["valid_from"], fact["valid_to"]
    is_later = start is not None and datetime.fromisoformat(start) > datetime.fromisoformat(fact["created_at"])
    return row_key(fact)._replace(value=fact["id"]) if is_later or end is not None else row_key(fact)


def _decode_vector(embedding: str) -> NDArray[np.float32]:
    return embedding_versions.round_vectors(np.frombuffer(base64.b64decode(embedding), "<f4"))


def _bind(row: Row, columns: Mapping[str, ColumnType], dialect: Dialect) -> dict[str, Any]:
    """Convert the values of a row to those that the driver takes."""
    return {column: _decode(row[column], type_, dialect) for column, type_ in columns.items()}


def _decode(value: Any, type_: ColumnType, dialect: Dialect) -> Any:
    if value is None:
        return None
    match type_:
        case "time":
            return dialect.time(datetime.fromisoformat(value))
        case "names":
            return dialect.names(value)
        case "list" | "object":
            return dialect.json(value)
        case _:
            return value


def by_tenant(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group rows by their tenant, the tenants in order."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["tenant_id"]].append(row)
    return dict(sorted(grouped.items()))
