"""One row and more in every table, as an older engrain left them, and what a store reads in them."""

from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any

from engrain.domain.records import MemoryRecord
from engrain.domain.text import bm25
from engrain.domain.text.analysis import words
from engrain.domain.text.indexing import own_terms
from engrain.storage.migrations import REVISIONS, script
from engrain.storage.postgres.index import own_code
from tests.support.sample_records import NOON, episode, fact, rule
from tests.support.schemas import Sqlite, Vector

LATER = NOON + timedelta(days=1)
TURN = episode(
    "Bread and butter.",
    session="monday",
    turn=1,
    speaker="Ana",
    tokens=4,
    model="m-1",
    tool_calls=({"name": "buy"},),
    reference_count=2,
    last_referenced_at=LATER,
    tags=("food",),
    metadata={"mood": "fine"},
)
PORTO = fact(
    "Porto",
    tags=("travel",),
    metadata={"from": "a letter"},
    validity="superseded",
    invalidated_at=LATER,
    valid_to=LATER,
)
LISBON = fact(
    "Lisbon",
    tags=("x", "y"),
    supersedes_id=PORTO.id,
    source_episode_id=TURN.id,
    created_at=LATER,
    last_confirmed_at=LATER,
)
GUIDANCE = rule("Ask before booking.", source_episode_id=TURN.id, confidence=0.75, tags=("work",))
ERASED = "018f52ec-c600-7000-8000-000000000001"
_DOCS: dict[int, tuple[MemoryRecord, int]] = {1: (TURN, 1), 2: (PORTO, 2), 3: (LISBON, 2), 4: (GUIDANCE, 3)}
_GONE = 2


def _columns(doc: int, memory: MemoryRecord) -> dict[str, Any]:
    plain = {name: getattr(memory, name) for name in memory.__dataclass_fields__}
    return {"doc": doc, **{name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}}


def _place(doc: int, memory: MemoryRecord, namespace: int) -> dict[str, Any]:
    place = {"doc": doc, "tenant_id": "default", "namespace": namespace, "expires_at": None}
    if doc == _GONE:
        return {**place, "state": 3, "own": 0, "near": 0, "packed": None}
    words = bm25.pack(own_terms(memory), ())
    return {**place, "state": 2 if doc == 1 else 1, "own": words.own, "near": words.near, "packed": words.packed}


def _namespace(kind: str, scope: str, number: int) -> dict[str, Any]:
    there = [own_terms(memory) for doc, (memory, namespace) in _DOCS.items() if namespace == number and doc != _GONE]
    totals = {"memories": len(there), "words": sum(map(len, there))}
    return {"tenant_id": "default", "kind": kind, "scope": scope, "namespace": number, **totals}


_OURS = {"tenant_id": "default"}
# In an order that satisfies every reference.
ROWS: dict[str, list[dict[str, Any]]] = {
    "memory_metadata": [{**_OURS, "key": "greeting", "value": "hello"}],
    "namespaces": [_namespace("episode", "aide", 1), _namespace("fact", "global", 2), _namespace("rule", "global", 3)],
    "embedding_versions": [
        {"tenant_id": "", "version": 1, "name": "test:axes", "dims": 4, "state": "active"}
        | {"created_at": NOON, "activated_at": NOON}
    ],
    "entities": [
        {**_OURS, "id": "e1", "canonical_name": "Ana", "entity_type": "person", "aliases": ["Annie"]}
        | {"mention_count": 3, "created_at": NOON, "updated_at": LATER, "metadata": {"tall": True}}
    ],
    "entity_names": [{**_OURS, "entity_id": "e1", "name": name} for name in ("ana", "annie")],
    "entity_trigrams": [
        {**_OURS, "entity_id": "e1", "trigram": each}
        for each in ("  a", " an", "ana", "na ", "ann", "nni", "nie", "ie ")
    ],
    "speakers": [{**_OURS, "scope": "aide", "speaker": "Ana"}],
    "sessions_consolidations": [
        {**_OURS, "scope": "aide", "session": "monday", "last_turn": 1, "first_seen_at": NOON, "consolidated_at": LATER}
    ],
    "episodes": [_columns(1, TURN)],
    "facts": [_columns(2, PORTO), _columns(3, LISBON)],
    "rules": [_columns(4, GUIDANCE)],
    "rule_applications": [
        {**_OURS, "id": "a1", "rule_id": GUIDANCE.id, "agent": "aide", "outcome": "helpful"}
        | {"context": "c", "created_at": NOON}
    ],
    "memory_links": [
        {**_OURS, "source_kind": "fact", "source_id": LISBON.id, "target_kind": "fact", "target_id": PORTO.id}
        | {"relation": "supersedes", "weight": 1.0, "created_at": LATER}
    ],
    "memory_entities": [
        {**_OURS, "entity_id": "e1", "memory_kind": "episode", "memory_id": TURN.id, "scope": "aide"}
        | {"happened_at": NOON, "created_at": NOON}
    ],
    "memory_index": [_place(doc, memory, namespace) for doc, (memory, namespace) in _DOCS.items()],
    "memory_vectors": [
        {**_OURS, "version": 1, "doc": 1, "namespace": 1, "gone": False, "embedding": Vector((0.0, 1.0, 0.0, 0.0))}
    ],
    "memory_events": [
        {**_OURS, "id": "v1", "event_type": "episode_created", "scope": "aide", "actor": "aide", "request_id": "r1"}
        | {"memory_id": TURN.id, "payload": {"session": "monday"}, "created_at": NOON}
    ],
    "tombstones": [
        {**_OURS, "id": ERASED, "kind": "fact", "scope": "global", "digest": "d", "erased_at": NOON}
    ],
    "pools": [{**_OURS, "name": "team", "created_at": NOON, "metadata": {"size": 2}}],
    "pool_members": [{**_OURS, "pool": "team", "agent": "aide", "joined_at": NOON}],
    "jobs": [
        {**_OURS, "id": "j1", "name": "sweep", "dedupe_key": "k", "status": "waiting", "run_at": NOON, "attempts": 1}
        | {"lease_until": LATER, "worker": "w", "report": {"deep": 1}, "last_error": "e"}
        | {"created_at": NOON, "finished_at": None}
    ],
    "runs": [
        {**_OURS, "id": "n1", "kind": "consolidation", "agent": "aide", "status": "running", "worker": "w"}
        | {"lease_until": LATER, "started_at": NOON, "finished_at": None, "model": "m", "prompt_version": "p"}
        | {"episode_ids": [TURN.id], "report": {"facts": 1}, "error": "e"}
    ],
    "log_sessions": [
        {**_OURS, "id": "l1", "scope": "aide", "log": "chat", "session": " monday ", "subkey": "", "entries": 1}
        | {"last_sequence": 2, "created_at": NOON, "updated_at": LATER}
    ],
    "log_entries": [
        {**_OURS, "session_id": "l1", "sequence": 2, "scope": "aide", "entry_key": "u1", "entry": r'{"t": "\\u0000"}'}
        | {"created_at": LATER}
    ],
    "items": [
        {**_OURS, "id": "m1", "scope": "aide", "namespace": "/users/ana/", "key": "theme", "version": 7, "value": "{}"}
        | {"fields": '["$"]', "ttl_s": 2.5, "created_at": NOON, "updated_at": LATER, "expires_at": LATER}
        | {"replaced_at": None}
    ],
    "item_index": [
        {**_OURS, "item_id": "m1", "scope": "aide", "version": 7, "words": 0, "packed": b"", "embedder": None}
        | {"vectors": None}
    ],
    "access_keys": [
        {**_OURS, "id": "k1", "agent": "aide", "role": "writer", "name": "phone", "digest": "d", "created_at": NOON}
        | {"expires_at": LATER, "revoked_at": None, "last_used_at": NOON}
    ],
}  # fmt: skip


def _words(code: Any) -> list[tuple[int, str]]:
    return [
        (doc, " ".join(code(namespace, term) for term in own_terms(memory)))
        for doc, (memory, namespace) in _DOCS.items()
        if doc != _GONE
    ]


_VERSION_INDEX = """
CREATE INDEX memory_vectors_version_1 ON memory_vectors USING hnsw ((embedding::halfvec(4)) halfvec_cosine_ops)
WITH (m = 16, ef_construction = 64) WHERE version = 1 AND NOT gone
"""
# What each database keeps in its own way: words, and the numbers it hands out.
OWN = {
    "sqlite": [
        "UPDATE sequences SET value = 4 WHERE name = 'settled'",
        "UPDATE sequences SET value = 3 WHERE name = 'namespace'",
        "UPDATE sequences SET value = 1 WHERE name = 'change'",
        "UPDATE memory_vectors SET change = 1",
        *(
            f"INSERT INTO memory_words (rowid, own, near) VALUES ({doc}, '{words}', '')"
            for doc, words in _words(lambda namespace, term: f"n{namespace}x{term}")
        ),
    ],
    "postgres": [
        _VERSION_INDEX,
        *(
            f"INSERT INTO memory_words VALUES ('default', {doc}, array_to_tsvector('{{{words.replace(' ', ',')}}}'))"
            for doc, words in _words(own_code)
        ),
    ],
}


_made: dict[tuple[str, str], tuple[Any, dict[str, list[str]]]] = {}


def make_old(database: Sqlite, revision: str) -> dict[str, list[str]]:
    """Bring an empty database to a revision, "" for none, and fill it; the columns that were written, by table.

    It is made once in a process, and copied: every test of an upgrade begins with one.
    """
    if not revision:
        return {}
    place = database.name, revision
    if place in _made:
        database.restore(_made[place][0])
    else:
        written = _make_old(database, revision)
        _made[place] = database.keep(), written
    return deepcopy(_made[place][1])


def _make_old(database: Sqlite, revision: str) -> dict[str, list[str]]:
    known = REVISIONS[: REVISIONS.index(revision) + 1]
    with database.raw() as db:
        database.upgrade(db, "", {name: script(database.name, name) for name in known})
    written = fill(database)
    if database.name == "postgres" and revision < "mem_010":
        with database.raw() as db:
            db.execute("SELECT setval('memory_docs', 5), setval('memory_namespaces', 3)")
    return written


def fill(database: Sqlite) -> dict[str, list[str]]:
    """Write the rows of every table and column that the database has; the columns that were written, by table."""
    there = database.columns()
    written = {
        table: [column for column in rows[0] if column in there[table]]
        for table, rows in ROWS.items()
        if table in there
    }
    with database.raw() as db:
        for table, columns in written.items():
            extra = {"change": 0} if "change" in there[table] else {}
            for row in ROWS[table]:
                known = {column: row[column] for column in columns} | extra
                values = ", ".join(map(database.literal, known.values()))
                db.execute(f"INSERT INTO {table} ({', '.join(known)}) VALUES ({values})")
        for statement in OWN[database.name]:
            db.execute(statement)
    return written


# A turn beside TURN, and the words that it was indexed under when every word had the stem that English gives it.
CATS = replace(TURN, id=episode().id, content="Катя живёт в Москве и гладит кошку.", turn=2)
_CATS_DOC, _OLD_WORDS = 5, ["ana", "7", "may", "2024", *words(CATS.content)]


def add_cats(database: Sqlite) -> None:
    """Add CATS to an older database that was filled, in its own session and index."""
    there = database.columns()
    indexed = bm25.pack(_OLD_WORDS, ())
    place = {**_place(1, TURN, 1), "doc": _CATS_DOC, "state": 1, "own": indexed.own, "packed": indexed.packed}
    listed = " ".join(
        (own_code(1, word) if database.name == "postgres" else f"n1x{word}") for word in dict.fromkeys(_OLD_WORDS)
    )
    with database.raw() as db:
        for table, row in (("episodes", _columns(_CATS_DOC, CATS)), ("memory_index", place)):
            known = {column: value for column, value in row.items() if column in there[table]}
            extra = {"change": 0} if "change" in there[table] else {}
            values = ", ".join(map(database.literal, (known | extra).values()))
            db.execute(f"INSERT INTO {table} ({', '.join(known | extra)}) VALUES ({values})")
        db.execute(f"UPDATE namespaces SET memories = memories + 1, words = words + {indexed.own} WHERE namespace = 1")
        db.execute("UPDATE sessions_consolidations SET last_turn = 2")
        if database.name == "postgres":
            array = listed.replace(" ", ",")
            db.execute(f"INSERT INTO memory_words VALUES ('default', 5, array_to_tsvector('{{{array}}}'))")
        else:
            db.execute("UPDATE sequences SET value = 5 WHERE name = 'settled'")
            db.execute(f"INSERT INTO memory_words (rowid, own, near) VALUES (5, '{listed}', '')")


def contents(database: Sqlite, written: dict[str, list[str]]) -> dict[str, list[str]]:
    """What stands in those columns."""
    with database.raw() as db:
        return {
            table: sorted(map(repr, db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()))
            for table, columns in written.items()
        }
