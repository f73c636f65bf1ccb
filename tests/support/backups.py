"""Memories to back up and to restore into, what a file says, and files that somebody tampered with."""

import gzip
import hashlib
import itertools
import json
import uuid
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from engrain import config
from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller, Link
from engrain.domain.requests import Act
from engrain.portability.canonical_json import encode_row
from engrain.portability.sealed_files import SealedWriter
from engrain.service import Memory
from engrain.storage.backup.tables import TABLES
from tests.support.engines import HashEmbedder
from tests.support.one_call import OneCall
from tests.support.stores import open_verbs
from tests.support.wiped import fresh_store

DATABASES = ("sqlite", "postgres")
SETTINGS = {"embedding": {"wait_s": 60}}
_numbers = itertools.count()
TIME = "2024-05-07T12:00:00.000001+00:00"
ODD = {
    "1": 1.0,
    "big": 1e16,
    "bigger": 2**70,
    "small": 5e-324,
    "minus": -0.0,
    "é\u2028": ["ß", None, True, {"z": 1, "a": 0.1}],
}


@contextmanager
def memory_in(kind, folder, *, embedder=None, llm=None):
    """A new memory in a database of a kind, whose vectors a HashEmbedder makes if nobody else."""
    with ExitStack() as opened:
        if kind == "postgres":
            store = opened.enter_context(fresh_store())
        else:
            store = open_verbs(folder / f"memory-{next(_numbers)}.db")
        engines = {"embedder": embedder or HashEmbedder(), "llm": llm}
        yield opened.enter_context(Memory(store, settings=config.load(SETTINGS), **engines))


def fill(memory, name, *, tenant="default", turns=12):
    """Something in every table that an agent's backup holds; the ids of two episodes that were erased."""
    agent = memory.agent(name, tenant=tenant)
    seen = [
        agent.observe(
            f"Turn {number} of {name} about the harbour of town{number}",
            session=None if number % 5 == 0 else f"s{number % 2}",
            speaker=f"Speaker{number % 3}",
            ttl_days=3650 if number % 4 == 0 else None,
            metadata=ODD if number % 3 == 0 else {},
            tags=("ß", "a,b") if number % 3 == 0 else (),
            tool_calls=[{"name": "book", "n": number}] if number % 3 == 0 else (),
        ).id
        for number in range(turns)
    ]
    who = agent.entities.create(f"Ana of {name}", entity_type="person", aliases=("A", "Ä"), metadata=ODD)
    lives = {"subject": "Ana", "predicate": "lives in", "entity_id": who.id, "scope": "global"}
    agent.remember("Porto", **lives, source_episode_id=seen[1])
    home = agent.remember("Lisbon on the river", **lives)
    own = agent.remember("late flights", subject="Ana", predicate="hates", scope=name, metadata={"said_in": seen[2]})
    agent.forget(agent.remember("early trains", subject="Ana", predicate=f"liked with {name}", scope="global").id)
    for text in ("Buy olives.", "Buy olives and bread."):
        agent.notes.save("shopping", text)
    rule = agent.rules.add(f"No early flights, says {name}.", tags=("travel",), metadata=ODD, scope="global")
    agent.rules.mark_helpful(rule.id)
    agent.forget(agent.rules.add(f"Nothing of {name}.", scope="global").id)
    agent.link(rule.id, home.id, "supports", weight=0.1)
    agent.link(own.id, seen[2], "derived_from")
    agent.log("chat").append([{"said": "ß\0", "uuid": "u"}, ODD], session="ä ", subkey="side", id_field="uuid")
    agent.store(["ä ", "ß/%"]).put("k", {"said": "ß\0", "odd": ODD}, index="said", ttl_s=1e6)
    agent.store(["ä ", "ß/%"]).put("k", {"said": "later"}, keep_history=True)
    act = Act(caller=Caller(tenant_id=tenant, agent=name), at=datetime.now(UTC))
    OneCall(memory.parts.store).mention(act, seen[3], [who.id])
    agent.forget(seen[4])
    add_rows(
        OneCall(memory.parts.store), {"runs": [run_of(name, tenant, seen[5], state) for state in ("done", "running")]}
    )
    memory.flush()
    return agent.erase([seen[6], seen[7]]).ids


def run_of(name, tenant, episode, status):
    """A run of learning, as a row."""
    said = dict.fromkeys("finished_at model prompt_version error".split())
    return {
        **said,
        "tenant_id": tenant,
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{tenant} {name} {status}")),
        "kind": "summary",
        "agent": name,
        "user_id": "",
        "status": status,
        "worker": "w",
        "lease_until": TIME,
        "started_at": TIME,
        "episode_ids": [episode],
        "report": {"read": [episode]},
    }


# Rows of tables that `fill` writes nothing to.
EXTRA_ROWS = {
    "memory_metadata": [{"tenant_id": "acme", "key": "plan", "value": "ü"}],
    "pools": [{"tenant_id": "acme", "name": "crew", "created_at": TIME, "metadata": ODD}],
    "pool_members": [{"tenant_id": "acme", "pool": "crew", "agent": "ana", "joined_at": TIME}],
    "sessions_consolidations": [
        {"tenant_id": "acme", "scope": "ana", "session": "old", "first_seen_at": TIME, "consolidated_at": TIME}
    ],
    "jobs": [
        dict.fromkeys(("worker", "lease_until", "finished_at"))
        | {"tenant_id": "acme", "id": "j1", "name": "decay", "dedupe_key": "d", "status": "waiting", "attempts": 2}
        | {"last_error": "x", "run_at": TIME, "created_at": TIME, "report": ODD}
    ],
    "runs": [
        run_of("ana", "acme", None, "done")
        | {"id": "n1", "prompt_version": "p", "episode_ids": ["a,b", "ß"], "report": ODD}
    ],
    "log_sessions": [
        {"tenant_id": "acme", "id": str(uuid.UUID(int=7)), "scope": "ana", "log": "chat", "session": "ß ", "subkey": ""}
        | {"entries": 1, "last_sequence": 3, "created_at": TIME, "updated_at": TIME}
    ],
    "log_entries": [
        {"tenant_id": "acme", "session_id": str(uuid.UUID(int=7)), "scope": "ana", "sequence": 3, "entry_key": None}
        | {"entry": r'{"t": "\u0000"}', "created_at": TIME}
    ],
    "items": [
        {
            "tenant_id": "acme",
            "id": str(uuid.UUID(int=8)),
            "scope": "ana",
            "namespace": "/ß /",
            "key": "k",
            "version": 3,
        }
        | {"value": r'{"t": "\u0000"}', "fields": '["t"]', "ttl_s": 1.5, "created_at": TIME, "updated_at": TIME}
        | {"expires_at": TIME, "replaced_at": None}
    ],
    "access_keys": [
        dict.fromkeys(("agent", "user_id", "expires_at", "last_used_at"))
        | {"tenant_id": "acme", "id": "k1", "role": "admin", "name": "ß", "digest": "d"}
        | {"created_at": TIME, "revoked_at": TIME}
    ],
}


def content(report):
    """What the tables of a backup hold, but for events, of which every restore adds one."""
    return {each.table: (each.rows, each.sha256) for each in report.tables if each.table != "memory_events"}


def everything(memory):
    """Every row of a memory's database."""
    memory.parts.references.flush()  # which recalls leave for later
    return every_row(OneCall(memory.parts.store))


def every_row(store):
    """Every row of a database, by table."""
    return store.extract(Extent(), lambda there: {table: list(there.rows(table, exact=True)) for table in TABLES})


def add_rows(store, rows):
    """Write rows by table, as a copy does."""

    def add(target):
        for table, added in rows.items():
            target.add(table, added)
        target.finish()

    store.restore(None, add)


def said(file):
    """The lines of a backup."""
    with gzip.open(file) as stream:
        return [json.loads(line) for line in stream]


def rows(file, table):
    """The rows of one of its tables."""
    lines = said(file)
    return lines[
        lines.index({"begin": table}) + 1 : next(n for n, line in enumerate(lines) if line.get("end") == table)
    ]


def forged(file, lines):
    """Write lines as a backup whose counts, digests and seal are right, whatever the lines say."""
    with file.open("w+b") as stream:
        writer = SealedWriter(stream, file)
        total, table = hashlib.sha256(), None
        for number, line in enumerate(lines):
            if isinstance(line, bytes):
                pass
            elif "begin" in line:
                table, count = hashlib.sha256(), 0
            elif "end" in line:
                line, table = {**line, "rows": count, "sha256": table.hexdigest()}, None  # noqa: PLW2901
            elif "lines" in line:
                line = {"lines": number, "sha256": total.hexdigest()}  # noqa: PLW2901
            raw = encode_row(line) if isinstance(line, dict) else line
            if table is not None and (isinstance(line, bytes) or "begin" not in line):
                table.update(raw)
                count += 1
            total.update(raw)
            writer.write(raw)
        writer.seal()
    return file


def link(source, target):
    """An edge, for those who write to a store directly."""
    return Link(source_id=source, target_id=target, relation="related_to", created_at=datetime.now(UTC))
