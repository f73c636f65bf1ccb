"""Databases for operations that are killed: made once, copied for each death, and compared by their rows."""

import hashlib
import itertools
import json
import re
import shutil
from contextlib import closing
from datetime import timedelta

import apsw

from engrain import config
from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation
from engrain.domain.runs.completions import Completion
from engrain.engines.name_finders.regex import RegexNames
from engrain.service import Memory
from engrain.storage import open_store
from tests.support.clock import NOON, Clock
from tests.support.engines import HashEmbedder
from tests.support.learning_memories import fact, reply

AGENT, FRIEND = "ana", "ben"
NAME, IDS = "memory.db", "ids.json"
EMBEDDER, NEXT_EMBEDDER = HashEmbedder(), HashEmbedder("test:next", dims=48)
SECRET = "zanzibarquux"
LINES = 620  # of an import
CONSOLIDATED = 4  # episodes, a batch
SETTINGS = {
    "agent": AGENT,
    "embedding": {"wait_s": 60},
    "entities": {"link": "fast"},
    "consolidation": {"batch": CONSOLIDATED, "on_session_switch": False},
    "cleanup": {"fact_days": 1},
    "events": {"keep_days": 30},
}
_EPISODES = re.compile(r'<episode_content id="(e\d+)"[^>]*>\n(.*?)\n</episode_content>', re.DOTALL)
_REFLECTION = json.dumps({"reflection": "All is well in the harbour, and Ana likes it.", "sources": ["m1", "m2"]})


class QuotingLLM:
    """Learns from each episode that it says what it says; whatever else it is asked, all is well."""

    name = "test:quoting"

    def complete(self, prompt, *, timeout_s):  # noqa: ARG002  # it answers at once
        learned = [
            fact(f"Turn {content.split()[1]}", "is", content, content, episode)
            for episode, content in _EPISODES.findall(prompt.user)
        ]
        return Completion(text=reply(*learned) if learned else _REFLECTION)


def opened(folder, *, name=NAME, days=1, embedder=EMBEDDER, **tick):
    """A memory whose clock stands still, unless it ticks: the same operation writes the same."""
    settings = SETTINGS | {"jobs": {"backup_folder": str(folder / "backups")}}
    return Memory(
        open_store(folder / name),
        embedder=embedder,
        name_finder=RegexNames(),
        llm=QuotingLLM(),
        settings=config.load(settings),
        clock=Clock(NOON + timedelta(days=days), **tick),
    )


def make_small(folder):
    """Something for every verb to work on."""
    (folder / "backups").touch()  # no folder, so that the job fails
    # Of two turns one is older, so that learning has one order, also when a batch is begun again.
    with opened(folder, days=0, microseconds=1) as memory:
        ana, ben = (memory.agent(name, session="monday") for name in (AGENT, FRIEND))
        ids = {f"turn{number}": ana.observe(turn(number), session=f"s{number % 2}").id for number in range(10)}
        ids["run"] = memory.consolidate(agent=AGENT, session="s1", max_batches=1).run_ids[0]
        ids["secret"] = ana.observe(f"Turn 99 has the word {SECRET}").id
        for_eve = memory.agent(AGENT, user="eve")
        for_eve.rules.add("Never name the street of Eve.")
        for_eve.entities.create("Street of Eve", "place")
        ana.observe("Turn of the day: it rains in Lisbon", ttl_days=0.5)
        ids["early"] = ana.remember("early flights", subject="Ana", predicate="likes").id
        ids["home"] = ana.remember("Porto", subject="Ana", predicate="lives in", permanence="volatile").id
        ids["moved"] = ana.remember("Braga", subject="Ana", predicate="is at home in").id
        ids["rule"] = ana.rules.add("Ask before booking early flights").id
        for part in ("", "side"):
            ana.log.append([{"n": n} for n in range(3)], session="kept", subkey=part)
        ana.store("kept").put("theme", {"is": "light"}, index="is")
        for name in ("Ana Silva", "Anna Silva", "Bento Reis", "Benno Reis"):
            ids[name] = ana.entities.create(name, "person", aliases=[name.split()[0]]).id
        ana.remember("a bakery", subject="Anna", predicate="works in", entity_id=ids["Anna Silva"])
        ana.entities.merge(ids["Benno Reis"], ids["Bento Reis"])
        for key in ("trip:train", "trip:bag", "shop:list", "shop:hours"):
            ana.notes.save(key, f"What to know of {key} for the journey")
        ana.graph.create_entities([node("Tap", "It drips", "It is old")])
        ana.graph.create_relations([relation("Tap", "is in", "Kitchen")])
        ana.pools.create("crew", members=[FRIEND])
        ana.pools.create("empty")
        ben.remember("4711", subject="alarm", predicate="has the code", scope="pool:crew")
        ben.rules.add("Lock the door at night", scope="pool:crew")
        ids["key"] = memory.keys.create(role="reader", name="a guest").key.id
        memory.flush()
        try:
            memory.jobs.run("backup")
        except OSError:
            ids["job"] = memory.jobs.list(name="backup")[0].id
        (folder / "backups").unlink()
        memory.backup(folder / "ana.backup.gz", agent=AGENT)
        for number in range(10, 16):
            ana.observe(turn(number), session="later")
        ana.erase([ids["turn9"], ids["early"]])
    (folder / "turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in imported_turns()))
    write_ids(folder, ids)


def make_large(folder, small):
    """What needs several transactions wherever there are any."""
    shutil.copytree(small, folder, dirs_exist_ok=True)
    with opened(folder, days=0) as memory:
        agent = memory.agent(AGENT)
        agent.import_file(folder / "turns.jsonl")
        for episode in agent.episodes("letter1", limit=5):
            agent.forget(episode.id)
        agent.forget(agent.remember("the last one", subject="Line", predicate="is").id)
    write_ids(folder, read_ids(folder))


def make_sparse(folder, small):
    """A file of which most is empty."""
    shutil.copytree(small, folder, dirs_exist_ok=True)
    with opened(folder, days=0) as memory:
        agent = memory.agent(AGENT)
        agent.erase([agent.observe("long " * 8_000).id for _ in range(40)])
    write_ids(folder, read_ids(folder))


def turn(number):
    return f"Turn {number} is about #town{number % 3} and the harbour's early flights"


def node(name, *observations):
    return GraphEntity(name=name, entity_type="thing", observations=observations)


def relation(source, kind, target):
    return GraphRelation(source=source, relation_type=kind, target=target)


def observed(name, *contents):
    return EntityObservations(entity_name=name, contents=contents)


def imported_turns():
    """Lines of an import of several transactions."""
    for number in range(LINES):
        time = (NOON + timedelta(minutes=number)).isoformat()
        yield {"content": f"Line {number} of a letter", "session": f"letter{number % 3}", "time": time}


# Kept by a database for itself, made again from other tables, or from the process and the time of the machine.
_NOT_COMPARED = frozenset(
    """
    access_keys.digest embedding_versions.created_at embedding_versions.activated_at jobs.worker memory_index.packed
    memory_vectors.change memory_vector_packs memory_words memory_words_config memory_words_data memory_words_docsize
    memory_words_idx
    runs.worker sequences
    """.split()
)
_BLURRED = re.compile(r"#\d+|\b1[78]\d{14}\b|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|\+00:00))?")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def write_ids(folder, ids, name=NAME):
    """Write the ids of a world by their names, and all that are in it."""
    rows = itertools.chain.from_iterable(_texts(folder / name, folder).values())
    every = sorted({id_ for row in rows for id_ in _ID.findall(row)})
    (folder / IDS).write_text(json.dumps(ids | {"every": every}))


def read_ids(folder):
    return json.loads((folder / IDS).read_text())


def state_of(folder, *, name=NAME, days=1, embedder=EMBEDDER, leaves_out=()):
    """The rows of a database, once it is sound and nothing waits in it any more."""
    with opened(folder, name=name, days=days, embedder=embedder) as memory:
        assert memory.parts.store.health().problems == ()
        memory.flush()
        assert memory.parts.store.health().problems == ()
    return rows_of(folder, name, leaves_out=leaves_out)


def rows_of(folder, name, *, leaves_out=()):
    """Rows by table, as texts in which ids that the world did not have yet are numbered by their order."""
    found = _texts(folder / name, folder, _NOT_COMPARED.union(leaves_out))
    fresh = {id_ for rows in found.values() for row in rows for id_ in _ID.findall(row)} - {*read_ids(folder)["every"]}
    numbers = {id_: f"#{number}" for number, id_ in enumerate(sorted(fresh))}
    return {
        table: sorted(_ID.sub(lambda match: numbers.get(match[0], match[0]), row) for row in rows)
        for table, rows in found.items()
    }


def blur(state):
    """A state without the order of its ids, and without times: another number of steps led there."""
    return {table: sorted(_BLURRED.sub("#", row) for row in rows) for table, rows in state.items()}


def _texts(path, folder, leaves_out=_NOT_COMPARED):
    """The rows of every table, but for some tables and columns."""
    with closing(apsw.Connection(str(path))) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")} - leaves_out
        return {table: _rows(db, table, folder, leaves_out) for table in sorted(tables)}


def _rows(db, table, folder, leaves_out):
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if f"{table}.{row[1]}" not in leaves_out]
    rows = db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
    return [" | ".join(map(_text, row)).replace(str(folder), "FOLDER") for row in rows]


def _text(value):
    return hashlib.sha256(value).hexdigest()[:16] if isinstance(value, bytes) else repr(value)
