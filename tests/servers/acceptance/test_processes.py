"""One file, several processes and threads at once: no lock error, nothing lost, and each sees the others' writes."""

import itertools
import json
from contextlib import ExitStack, closing

import apsw
import pytest

from tests.support.children import AGENT, Child, opened, said
from tests.support.races import run_together
from tests.support.uncounted import uncounted

NAMES = ["north", "east", "south", "west"]
ROUNDS = 160


def turns(path):
    """Session and turn of every episode."""
    with closing(apsw.Connection(str(path))) as db:
        return db.execute("SELECT session, turn FROM episodes").fetchall()


def check_turns(path):
    """No turn was given out twice, and none left out."""
    for session, places in itertools.groupby(sorted(turns(path)), key=lambda row: row[0]):
        found = [turn for _, turn in places]
        assert found == list(range(1, len(found) + 1)), session


def check_kept_and_gone(path, kept, gone):
    with opened(path) as memory:
        memory.flush()
        assert memory.health(thorough=True).problems == ()
        agent = memory.agent(AGENT)
        for id_ in kept:
            content = agent.get(id_).content
            assert agent.recall(content, limit=1, preset="semantic")[0].memory.id == id_
            assert id_ in {hit.memory.id for hit in agent.recall(content.split()[-1], preset="keyword")}
        for id_ in gone:
            content = agent.get(id_).content
            found = agent.recall(content, limit=200, preset="hybrid")
            assert id_ not in {hit.memory.id for hit in found}


def test_four_processes_write_and_read_one_file_at_once(path):
    with ExitStack() as stack:
        children = [stack.enter_context(Child("traffic", path, name, ROUNDS)) for name in NAMES]
        reports = [child.told() for child in children]
        assert [child.ended() for child in children] == [0, 0, 0, 0]
    kept = [id_ for report in reports for id_ in report["kept"]]
    gone = [id_ for report in reports for id_ in report["gone"]]
    assert len(set(kept + gone)) == len(turns(path)) == len(NAMES) * ROUNDS
    check_turns(path)
    check_kept_and_gone(path, kept[::5], gone[::3])
    with opened(path) as memory:
        stats = memory.agent(AGENT).stats()
        assert stats.episodes.total == len(kept)
        assert stats.facts.live == 1 + len(NAMES)  # one door, and a count of each
        assert sum(stats.facts.to_dict().values()) == 2 * len(NAMES) * -(-ROUNDS // 9)


@pytest.fixture(scope="module")
def servants():
    with ExitStack() as stack:
        yield [stack.enter_context(Child("serve")) for _ in NAMES]


@pytest.fixture
def pair(servants, path):
    """Two processes with the file open."""
    for child in servants[:2]:
        child.ask("open", path=str(path))
    return servants[:2]


@pytest.mark.parametrize("preset", ["keyword", "semantic", "engrain"])
def test_what_one_process_has_written_the_other_finds_at_once(pair, preset):
    for number in range(12):
        writer, reader = pair if number % 2 else reversed(pair)
        written = writer.ask("observe", content=said(number), session="shared")
        assert written["turn"] == number + 1
        found = reader.ask("recall", query=said(number), preset=preset, limit=1)
        assert (uncounted(found["hits"][0]["memory"]), found["degraded"]) == (uncounted(written), [])
        assert uncounted(reader.ask("get", id_=written["id"], as_of=written["created_at"])) == uncounted(written)


@pytest.mark.parametrize("preset", ["keyword", "semantic", "hybrid"])
def test_what_one_process_has_forgotten_the_other_finds_no_more(pair, preset):
    for number in range(8):
        writer, reader = pair if number % 2 else reversed(pair)
        written = writer.ask("observe", content=said(number))
        found = reader.ask("recall", query=said(number), preset=preset, limit=1)
        assert found["hits"][0]["memory"]["id"] == written["id"]
        forgotten = writer.ask("forget", id_=written["id"])
        found = reader.ask("recall", query=said(number), preset=preset)
        assert written["id"] not in {hit["memory"]["id"] for hit in found["hits"]}
        assert uncounted(reader.ask("get", id_=written["id"], as_of=written["created_at"])) == uncounted(forgotten)


def test_what_one_process_has_superseded_the_other_believes_no_more(pair):
    one, other = pair
    place = {"subject": "Ana", "predicate": "lives in"}
    for number in range(6):
        writer, reader = (one, other) if number % 2 else (other, one)
        fact = writer.ask("remember", content=f"City{number}", **place)
        for preset in ("engrain", "semantic", "keyword"):
            found = reader.ask("recall", query="Where does Ana live? Ana lives in City0", preset=preset, kinds="fact")
            assert uncounted([hit["memory"] for hit in found["hits"]]) == [uncounted(fact)]


def test_processes_that_create_the_same_file_at_once_agree(servants, tmp_path):
    for number in range(8):
        path = tmp_path / f"{number}.db"
        for child in servants:
            child.send("open", path=str(path))
        assert None not in [child.told() for child in servants]
        for child in servants:
            child.send("observe", content=said(number), session="s")
        assert {child.told()["content"] for child in servants} == {said(number)}
        assert [child.ask("stats")["episodes"]["total"] for child in servants] == [len(NAMES)] * len(NAMES)
        check_turns(path)


def test_a_reader_sees_whole_transactions_of_a_long_import(path, tmp_path):
    export = tmp_path / "export.jsonl"
    lines = [json.dumps({"content": said(number), "session": f"s{number % 4}"}) for number in range(2_000)]
    export.write_text("\n".join(lines), encoding="utf-8")
    with opened(path) as memory, Child("import", path, export) as child:
        agent = memory.agent(AGENT)
        seen = [0]
        told = 0
        while not isinstance(told, dict):
            told = child.told()
            count = agent.stats().episodes.total
            assert count >= (told if isinstance(told, int) else 2_000)
            seen.append(count)
            newest = agent.recall(said(count - 1), limit=1, preset="keyword")
            assert newest[0].memory.content == said(count - 1)
        assert told["added"] == 2_000
        assert seen == sorted(seen)
        assert {count % 500 for count in seen} == {0}
    check_turns(path)


def test_eight_threads_share_one_memory(path):
    threads, rounds = 8, 50
    kept, gone = [], []

    def work(name):
        agent = memory.agent(AGENT, session="shared")
        for number in range(rounds):
            episode = agent.observe(f"{name} says {name}word{number}x")
            [hit] = agent.recall(f"{name}word{number}x", limit=1, preset="keyword")
            stored = agent.get(episode.id, as_of=episode.created_at)
            assert uncounted(hit.memory) == uncounted(episode) == uncounted(stored)
            if number % 5 == 0:
                agent.remember(f"{name} {number}", subject="door", predicate="was last used by")
                gone.append(agent.forget(episode.id).id)
                assert not agent.recall(f"{name}word{number}x", preset="keyword")
            else:
                kept.append(episode.id)

    with opened(path) as memory:
        run_together(work, [f"thread{number}" for number in range(threads)])
        assert memory.agent(AGENT).stats().facts.live == 1
    assert len(set(kept + gone)) == threads * rounds
    check_turns(path)
    check_kept_and_gone(path, kept[::5], gone[::3])
