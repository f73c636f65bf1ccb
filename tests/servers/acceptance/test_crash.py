"""Processes killed with SIGKILL when a seed says so: what was acknowledged is there, and nothing is half done."""

import itertools
import json
import random
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from engrain.agent.wiring.acts import new_act
from engrain.domain.records import Episode
from tests.support.children import AGENT, Child, opened, said
from tests.support.one_call import OneCall
from tests.support.stores import open_verbs
from tests.support.uncounted import uncounted

TURNS = 700
QUESTIONS = [said(3), said(11), "apples3", "town2 Speaker1", "word7x word8x", "Where does Person3 live?", "the river"]


def acknowledged(path, job, *arguments, count):
    """What a child said before it was killed: at least `count` lines, or all it had to say."""
    with Child(job, path, *arguments) as child:
        lines = [child.told() for _ in range(count)]
        child.kill()
        return [line for line in lines + child.rest() if line is not None]


def rows(path, statement):
    with closing(apsw.Connection(str(path))) as db:
        return db.execute(statement).fetchall()


TOTALS = "SELECT namespace, memories, words FROM namespaces"
COUNTED = """
    SELECT namespace, count(doc), coalesce(sum(own + near), 0)
    FROM namespaces LEFT JOIN (SELECT * FROM memory_index WHERE state = 2) USING (namespace) GROUP BY namespace
"""


def check_whole(path):
    """Index, totals and rows agree; turns count up without a gap; each place has had one truth after the other."""
    with opened(path) as memory:
        assert memory.health(thorough=True).problems == ()
    assert sorted(rows(path, TOTALS)) == sorted(rows(path, COUNTED))
    turns = defaultdict(list)
    for session, turn in rows(path, "SELECT session, turn FROM episodes ORDER BY doc"):
        turns[session].append(turn)
    for places in turns.values():
        assert places == list(range(1, len(places) + 1))
    facts = defaultdict(list)
    columns = "subject, predicate, id, supersedes_id, validity, invalidated_at"
    for *place, id_, before, validity, end in rows(path, f"SELECT {columns} FROM facts ORDER BY doc"):
        facts[tuple(place)].append((id_, before, validity, end))
    for chain in facts.values():
        believed = [validity for _, _, validity, _ in chain]
        assert set(believed[:-1]) <= {"superseded", "retracted"}
        assert believed[-1] in {"active", "retracted"}
        assert all((end is None) == (validity == "active") for _, _, validity, end in chain)
        for (id_, _, validity, _), (_, before, _, _) in itertools.pairwise(chain):
            assert before == (id_ if validity == "superseded" else None)


def undisturbed(path, copy):
    """The same memories in a new file, written at once."""
    with opened(path) as memory:
        ids = [
            id_
            for (id_,) in rows(path, "SELECT id FROM (SELECT doc, id FROM episodes UNION SELECT doc, id FROM facts)")
        ]
        act = new_act(memory.parts, memory.agent(AGENT).caller)
        memories = OneCall(memory.parts.store).get(act.caller, ids)
        assert len(memories) == len(ids)
    with closing(open_verbs(copy)) as store:
        store.put(act, memories)
    return copy


def answers(path, *, vectors=False):
    """What is found, with the scores, once everything is settled and has its vector."""
    with opened(path, vectors=vectors) as memory:
        memory.flush()
        agent = memory.agent(AGENT)
        assert agent.stats().pending_embeddings == 0 or not vectors
        presets = ("engrain", "hybrid", "semantic") if vectors else ("engrain", "keyword")
        found = [agent.recall(question, preset=preset) for question in QUESTIONS for preset in presets]
        return [[(hit.memory.id, hit.score) for hit in answer] for answer in found]


@pytest.mark.parametrize("seed", range(6))
def test_every_acknowledged_turn_survives(tmp_path, seed):
    path = tmp_path / "memory.db"
    turns = acknowledged(path, "observe", count=random.Random(f"observe {seed}").randint(1, 60))
    with opened(path, vectors=False) as memory:
        agent = memory.agent(AGENT)
        for number, turn in enumerate(turns, start=1):
            assert agent.get(turn["id"], as_of=turn["created_at"]).to_dict() == turn
            assert agent.recall(f"word{number}x", limit=1)[0].memory.id == turn["id"]
        assert agent.stats().episodes.total - len(turns) in {0, 1}
    check_whole(path)
    assert answers(path) == answers(undisturbed(path, tmp_path / "copy.db"))


@pytest.mark.parametrize("seed", range(5))
def test_every_acknowledged_fact_survives_and_supersedes_whole(tmp_path, seed):
    path = tmp_path / "memory.db"
    lines = acknowledged(path, "remember", count=random.Random(f"remember {seed}").randint(1, 60))
    facts = [line for line in lines if line["kind"] == "fact"]
    with opened(path, vectors=False) as memory:
        agent = memory.agent(AGENT)
        newest = {}
        for fact in facts:
            found = agent.get(fact["id"])
            assert (found.content, found.supersedes_id) == (fact["content"], fact["supersedes_id"])
            newest[fact["subject"]] = fact
        for fact in newest.values():
            [hit] = agent.recall(fact["content"].split()[0], kinds="fact") or [None]
            # One more may have been stored than was acknowledged.
            assert hit is None or hit.memory.id == fact["id"]
        active = [fact for fact in facts if agent.get(fact["id"]).validity == "active"]
        assert len(newest) - len(active) in {0, 1}
        for line in lines:
            assert agent.get(line["id"]) is not None
    check_whole(path)
    assert answers(path) == answers(undisturbed(path, tmp_path / "copy.db"))


# Three thousand steps and a hundred writes create the tables; as much stores a turn, a fact and their vectors.
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("unit", "most"), [("steps", 60_000), ("writes", 2_000)])
def test_within_a_transaction_a_commit_or_a_checkpoint_nothing_is_half_done(tmp_path, unit, most, seed):
    path = tmp_path / "memory.db"
    count = round(most ** random.Random(f"{unit} {seed}").uniform(0.4, 1))
    with Child(unit, path, count) as child:
        lines = child.rest()
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        for id_, line in {line["id"]: line for line in lines}.items():
            found = agent.get(id_, as_of=line["created_at"])
            assert found.content == line["content"]
            if line["kind"] == "episode" or line["validity"] == "retracted":
                assert uncounted(found) == uncounted(line)
    check_whole(path)
    assert answers(path, vectors=True) == answers(undisturbed(path, tmp_path / "copy.db"), vectors=True)


class Peaceful(NamedTuple):
    """A file of turns, and what became of it in a memory that nobody killed."""

    export: Path
    turns: list
    answers: list
    answers_with_vectors: list


@pytest.fixture(scope="module")
def peaceful(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peaceful")
    path = folder / "export.jsonl"
    minute = "2026-01-{:02}T{:02}:{:02}:00Z"
    turns = [
        {
            "content": said(number),
            "session": f"s{number % 3}",
            "speaker": f"Speaker{number % 3}",
            "time": minute.format(1 + number // 144, number % 144 // 6, number % 6),
        }
        for number in range(1, TURNS + 1)
    ]
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    database = folder / "memory.db"
    with opened(database, vectors=False) as memory:
        assert memory.agent(AGENT).import_file(path).added == TURNS
    found = answers(database)
    assert sum(map(bool, found)) > len(QUESTIONS)
    return Peaceful(path, placed(database), found, answers(database, vectors=True))


def placed(path):
    """Every turn of a file with its place."""
    return rows(path, "SELECT id, session, turn, content FROM episodes ORDER BY session, turn")


@pytest.mark.parametrize("seed", range(5))
def test_an_import_that_was_killed_is_completed_by_another(tmp_path, peaceful, seed):
    path = tmp_path / "memory.db"
    lines = acknowledged(path, "import", peaceful.export, count=random.Random(f"import {seed}").randint(0, 3))
    check_whole(path)
    stored = len(placed(path))
    assert stored >= max([line for line in lines if isinstance(line, int)], default=0)
    with opened(path, vectors=False) as memory:
        report = memory.agent(AGENT).import_file(peaceful.export)
    assert (report.added, report.present) == (TURNS - stored, stored)
    assert placed(path) == peaceful.turns
    check_whole(path)
    assert answers(path) == peaceful.answers


@pytest.mark.parametrize("seed", range(4))
def test_vectors_that_were_being_made_are_made_later(tmp_path, peaceful, seed):
    path = tmp_path / "memory.db"
    acknowledged(path, "embed", peaceful.export, count=random.Random(f"embed {seed}").randint(1, 8))
    check_whole(path)
    with opened(path) as memory:
        health = memory.health(thorough=True)
        assert health.embedded + health.waiting == health.memories == TURNS
    assert answers(path, vectors=True) == peaceful.answers_with_vectors


def test_memories_are_of_both_kinds(tmp_path):
    """The comparison above sees what it is meant to see."""
    path = tmp_path / "memory.db"
    lines = acknowledged(path, "steps", 10**9, count=40)
    assert {line["kind"] for line in lines} == {"episode", "fact"}
    copy = undisturbed(path, tmp_path / "copy.db")
    with opened(copy) as memory:
        agent = memory.agent(AGENT)
        victim = next(line["id"] for line in lines if line["kind"] == "episode")
        assert isinstance(agent.forget(victim), Episode)
    assert answers(path, vectors=True) != answers(copy, vectors=True)
