"""How a memory opens, closes, is interrupted, forked or forgotten about: nothing is lost, and nothing hangs."""

import json
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from engrain import InvalidInput, Memory
from engrain.errors import EngineUnavailable, MemoryClosed, UnreadableImport
from tests.support.children import AGENT, Child
from tests.support.engines import FaultyEmbedder, HashEmbedder

SAMPLES = Path(__file__).parents[2] / "support" / "samples"
SETTINGS = {"embedding": {"wait_s": 60}}


def opened(path, embedder=None, **settings):
    return Memory.open(path, embedder=embedder or HashEmbedder(), settings={**SETTINGS, **settings})


class LonelyEmbedder(HashEmbedder):
    """Notices, for half a second of its first batch, whether somebody else has a batch made."""

    def __init__(self):
        super().__init__()
        self.entered = threading.Event()
        self._company = threading.Event()
        self.has_company = False

    def embed(self, texts, *, role):
        if self.entered.is_set():
            self._company.set()
        else:
            self.entered.set()
            self.has_company = self._company.wait(0.5)
        return super().embed(texts, role=role)


def unavailable(_):
    raise EngineUnavailable("out of order")


def vectors(path):
    """How many memories have a vector, and how many wait for one, while nobody makes any."""
    with Memory.open(path, embedder="none") as memory:
        return memory.health().embedded, memory.agent(AGENT).stats().pending_embeddings


def test_closing_makes_the_vectors_that_wait(path):
    memory = opened(path)
    for number in range(150):
        memory.agent(AGENT, session="s").observe(f"Turn {number}")
    memory.close()
    assert vectors(path) == (150, 0)


@pytest.mark.parametrize("count", [3, 150])
def test_closing_without_a_flush_leaves_them_to_the_next_search(path, count):
    with opened(path, FaultyEmbedder(unavailable)) as memory:
        for number in range(count):
            memory.agent(AGENT, session="s").observe(f"Turn {number}")
        memory.close(flush=False)
    assert vectors(path) == (0, count)
    with opened(path) as memory:
        # It waits for a few itself; many are made behind it.
        memory.agent(AGENT).recall("Turn 2", preset="semantic")
        assert memory.parts.queue.wait(60)
        assert memory.agent(AGENT).recall("Turn 2", preset="semantic")[0].memory.content == "Turn 2"
        memory.close(flush=False)
    assert vectors(path) == (count, 0)


def test_closing_with_an_engine_out_of_order_closes(path):
    memory = opened(path, FaultyEmbedder(unavailable))
    memory.agent(AGENT).observe("A turn")
    memory.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert vectors(path) == (0, 1)


def test_closing_that_is_interrupted_releases_the_file(path):
    def interrupted(rows):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return unavailable(rows)

    memory = opened(path, FaultyEmbedder(interrupted))
    memory.agent(AGENT).observe("A turn")
    with pytest.raises(KeyboardInterrupt):
        memory.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert vectors(path) == (0, 1)


def test_closing_twice_is_closing_once(path):
    memory = opened(path)
    memory.agent(AGENT).observe("A turn")
    memory.close()
    memory.close(flush=False)
    with pytest.raises(MemoryClosed), memory:
        memory.flush()


def test_a_block_that_fails_closes_what_it_opened(path):
    def fail():
        with opened(path) as memory:
            agents.append(memory.agent(AGENT))
            stored.append(agents[0].observe("A turn before it failed"))
            raise KeyError

    agents, stored = [], []
    with pytest.raises(KeyError):
        fail()
    with pytest.raises(MemoryClosed):
        agents[0].recall("turn")
    with opened(path) as memory:
        assert memory.agent(AGENT).get(stored[0].id, as_of=stored[0].created_at) == stored[0]


def test_closing_while_other_threads_are_at_work_stops_them_by_name(path):
    acknowledged, stopped = [], []
    busy = threading.Semaphore(0)

    def work():
        try:
            while True:
                acknowledged.append(agent.observe("A turn about apples").id)
                agent.recall("apples")
                busy.release()
        except BaseException as error:  # noqa: BLE001  # the test's own thread reports it
            stopped.append(error)

    memory = opened(path)
    agent = memory.agent(AGENT, session="s")
    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for _ in range(60):
        assert busy.acquire(timeout=60)
    memory.close()
    for worker in workers:
        worker.join()
    assert [type(error) for error in stopped] == [MemoryClosed] * 6
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        assert all(agent.get(id_) for id_ in acknowledged)
        # Each thread may have been stopped between what was stored and its answer.
        assert agent.stats().episodes.total - len(acknowledged) in range(7)
        assert memory.health(thorough=True).problems == ()


def test_a_closed_memory_leaves_no_thread(path):
    before = set(threading.enumerate())
    with opened(path) as memory:
        memory.agent(AGENT).observe("A turn")
        assert len(set(threading.enumerate()) - before) == 1
    assert set(threading.enumerate()) <= before  # another test's may have come to their end


def test_threads_that_come_and_go_leave_no_connection(path):
    """A server may start a thread for each request; each connection is three open files."""
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        agent.observe("A turn")
        connections = memory.parts.store.backend._connections._opened
        before = len(connections)
        for _ in range(20):
            thread = threading.Thread(target=agent.recall, args=("turn",))
            thread.start()
            thread.join()
        assert len(connections) <= before + 1


def test_each_memory_is_embedded_once_though_two_make_vectors(path, tmp_path):
    export = tmp_path / "export.jsonl"
    export.write_text(
        "".join(json.dumps({"content": f"Turn {number}"}) + "\n" for number in range(500)), encoding="utf-8"
    )
    embedder = LonelyEmbedder()
    with opened(path, embedder) as memory:
        memory.agent(AGENT).import_file(export)
        assert embedder.entered.wait(60)
        memory.flush()
        assert memory.health().waiting == 0
    assert not embedder.has_company
    assert Counter(embedder.embedded) == Counter(f"Turn {number}" for number in range(500))


@pytest.mark.parametrize("embedder", ["minilm", "none"])
def test_a_process_that_never_closes_its_memory_ends_well(path, embedder):
    """With a model at work at that moment too: a thread that Python stops inside of it would abort the process."""
    with Child("unclosed", path, embedder) as child:
        turns = child.rest()
        assert child.ended() == 0
    assert len(turns) == 200
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        assert [agent.get(turn["id"], as_of=turn["created_at"]).to_dict() for turn in turns] == turns
        assert memory.health(thorough=True).problems[1:] == ()  # the other embedder's vectors are all there is to say


def test_a_fork_is_told_to_open_its_own(path):
    """SQLite's locks stay with the parent: what a child wrote after the parent had closed would be lost."""
    with Child("forked", path) as child:
        said = child.rest()
        assert child.ended() == 0
    assert said == ["memory_closed"] * 7 + [2, 3, 3]
    with opened(path) as memory:
        assert memory.health(thorough=True).problems == ()
        assert memory.agent(AGENT).stats().episodes.total == 3


FORMATS = {
    "chatgpt.json": "chatgpt",
    "claude.json": "claude",
    "claude-code.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "gemini.json": "gemini",
    "locomo.json": "locomo",
    "openai-conversation.json": "openai",
    "openai-messages.json": "openai",
    "openai-tuning.jsonl": "openai",
    "plain.jsonl": "jsonl",
}


# Memories rather than conversations: tests/servers/acceptance/test_import_memories.py.
OF_MEMORIES = {"langgraph.json", "letta.json", "mcp-memory.jsonl", "mem0.json", "notes.md"}


def test_every_sample_of_a_conversation_is_imported_here():
    assert {sample.name for sample in SAMPLES.iterdir()} == set(FORMATS) | OF_MEMORIES


@pytest.mark.parametrize("sample", FORMATS)
def test_each_format_is_imported_once_however_often(path, sample):
    seen = []
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        report = agent.import_file(SAMPLES / sample, progress=seen.append)
        assert (report.format, report.present, report.broken) == (FORMATS[sample], 0, ())
        assert report.added == agent.stats().episodes.total == seen[-1] > 0
        assert report.sessions == agent.stats().episodes.sessions
        again = agent.import_file(str(SAMPLES / sample), format=FORMATS[sample])
        assert (again.added, again.present) == (0, report.added)
        memory.flush()
        for hit in agent.recall("", limit=1_000):
            found = agent.recall(hit.memory.content, limit=1_000, preset="semantic")
            assert hit.memory.id in [each.memory.id for each in found if each.score > 0.99] or hit.memory.speaker
        other = memory.agent("another").import_file(SAMPLES / sample)
        assert (other.added, other.present) == (report.added, 0)


@pytest.fixture
def broken(tmp_path):
    """Three good lines, two broken ones between them."""
    lines = ['{"content": "First"}', "{no json", '{"content": "Second"}', '{"content": ["a list"], "id": 7}']
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join([*lines, '{"content": "Third"}']), encoding="utf-8")
    return path


def test_broken_records_are_reported_and_passed_over(path, broken):
    with opened(path) as memory:
        report = memory.agent(AGENT).import_file(broken)
        assert report.added == 3
        assert [each.position for each in report.broken] == ["line 2", "line 4"]
        assert all(each.reason for each in report.broken)
        assert json.loads(json.dumps(report.to_dict()))["broken"][0]["position"] == "line 2"


def test_a_strict_import_stops_at_the_first_broken_record(path, broken):
    with opened(path) as memory:
        agent = memory.agent(AGENT)
        with pytest.raises(UnreadableImport, match=r"broken\.jsonl, line 2"):
            agent.import_file(broken, strict=True)
        assert not agent.recall("Second Third", preset="keyword")
        report = agent.import_file(broken)
        assert report.added + report.present == agent.stats().episodes.total == 3


@pytest.mark.parametrize("content", ["{}", "[]", "no json at all", "\x00\x01\x02"])
def test_a_file_of_no_format_is_refused_by_name(path, tmp_path, content):
    export = tmp_path / "export.json"
    export.write_text(content, encoding="utf-8")
    with opened(path) as memory:
        with pytest.raises(InvalidInput, match=r"export\.json"):
            memory.agent(AGENT).import_file(export)
        assert memory.agent(AGENT).stats().episodes.total == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_import_that_is_interrupted_leaves_whole_turns_and_can_be_run_again(path, tmp_path, error):
    export = tmp_path / "export.jsonl"
    lines = [json.dumps({"content": f"Turn {number}", "session": f"s{number % 2}"}) for number in range(1_400)]
    export.write_text("\n".join(lines), encoding="utf-8")

    def interrupt(seen):
        if seen >= 1_000:
            raise error

    with opened(path) as memory:
        agent = memory.agent(AGENT)
        with pytest.raises(error):
            agent.import_file(export, progress=interrupt)
        assert agent.stats().episodes.total == 1_000
        assert memory.health(thorough=True).problems == ()
        found = agent.recall("Turn 399", preset="keyword", limit=1)
        assert found[0].memory.content == "Turn 399"
        report = agent.import_file(export)
        assert (report.added, report.present) == (400, 1_000)
        turns = [hit.memory.turn for hit in agent.recall("", limit=1_000, sessions="s1")]
        assert sorted(turns) == list(range(1, 701))


def test_a_memory_tells_its_time_and_its_embedder(path):
    with opened(path) as memory:
        assert memory.now.utcoffset() == timedelta(0)
        assert (memory.embedder.name, memory.without_vectors, memory.is_reembedding) == ("test:hash", None, False)
    with Memory.open(path, embedder="none") as memory:
        assert (memory.embedder, memory.without_vectors) == (None, None)


def test_closing_may_wait_for_vectors_without_making_those_that_wait(path):
    with opened(path) as memory:
        memory.agent(AGENT).observe("The tram was late.")
        memory.close(flush=False, wait_s=60)
    with opened(path) as memory:
        assert memory.health().embedded == 1
