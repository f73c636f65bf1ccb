"""From one embedder to another on a living database: searches never stop, and a crash costs a batch."""

import json

import pytest

from engrain import Memory, config
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.retrieval.embeddings.reembedding import BATCH
from engrain.storage import open_store
from tests.support.children import AGENT, SETTINGS, Child, opened, said
from tests.support.engines import HashEmbedder

TURNS = 5 * BATCH + 10


class NextEmbedder(HashEmbedder):
    def __init__(self):
        super().__init__("test:next", dims=48)


def opened_with(path, embedder):
    return Memory(open_store(path), embedder=embedder, settings=config.load(SETTINGS))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "memory.db")


@pytest.fixture
def old(path):
    """A file whose vectors are of the embedder that `opened` has."""
    with opened(path) as memory:
        agent = memory.agent(AGENT, session="s")
        for number in range(TURNS):
            agent.observe(said(number))
        memory.flush()
    return path


def found(memory, number, preset="semantic"):
    """The best hit for a turn's own words, and what the search had to do without."""
    answer = memory.agent(AGENT).recall(said(number), limit=1, preset=preset)
    return answer[0].memory.content if answer else None, answer.degraded


@pytest.mark.req("B31.1", "Y13")
@pytest.mark.parametrize("other", [NextEmbedder(), HashEmbedder(dims=32)], ids=["another", "other dimensions"])
def test_another_embedder_finds_by_words_and_says_which_command_helps(old, other):
    with opened_with(old, other) as memory:
        for preset in ("semantic", "engrain"):
            content, [why] = found(memory, 7, preset)
            assert content == said(7)
            assert why.code == "embedder_mismatch"
            assert "they are of test:hash" in why.detail
            assert f"engrain reembed --embedder {other.name}" in why.detail
        assert any("engrain reembed" in problem for problem in memory.health(thorough=True).problems)
    with opened(old) as memory:
        assert found(memory, 7) == (said(7), ())


@pytest.mark.req("B31.2")
def test_after_it_this_memory_searches_by_the_new_vectors_at_once(old):
    embedder = NextEmbedder()
    with opened_with(old, embedder) as memory:
        agent = memory.agent(AGENT)
        report = memory.reembed()
        assert report.to_dict() == {
            "embedder": "test:next",
            "dims": 48,
            "version": 2,
            "embedded": TURNS,
            "pruned": TURNS,
        }
        assert found(memory, 7) == (said(7), ())
        late = agent.observe("Written after the change.")
        assert agent.recall("Written after the change.", limit=1, preset="semantic")[0].memory.id == late.id
        assert memory.health(thorough=True).problems == ()
        [switched] = agent.events(event_type="embeddings_switched")
        assert (switched.payload["name"], switched.payload["version"]) == ("test:next", 2)
    with opened_with(old, NextEmbedder()) as memory:
        assert found(memory, 8) == (said(8), ())
    with opened(old) as memory:
        assert "test:next" in found(memory, 7)[1][0].detail


def test_other_processes_search_by_the_old_vectors_until_the_switch_and_by_words_after_it(old):
    with Child("serve") as other, opened_with(old, NextEmbedder()) as memory:
        other.ask("open", path=old)

        def ask(_=None):
            answers = [other.ask("recall", query=said(7), limit=1, preset=preset) for preset in ("semantic", "engrain")]
            assert [answer["hits"][0]["memory"]["content"] for answer in answers] == [said(7), said(7)]
            return [answer["degraded"] for answer in answers]

        during = []
        memory.reembed(lambda _: during.append(ask()))
        assert during == [[[], []]] * 6
        for [why] in ask():
            assert why["code"] == "embedder_mismatch"
            assert "the vectors here are of test:next now" in why["detail"]
            assert "embedder=test:next" in why["detail"]
        other.ask("observe", content="Said by one who has yet to be opened again.", session="s")
        memory.flush()
        assert found(memory, 9) == (said(9), ())


def test_who_still_has_the_embedder_of_before_asks_it_for_no_vectors_until_it_is_searched_again(old):
    embedder = HashEmbedder()
    with opened_with(old, embedder) as memory:
        with opened_with(old, NextEmbedder()) as other:
            other.reembed()
        agent = memory.agent(AGENT, session="s")
        agent.observe(said(2_000))
        memory.parts.queue.wait(60)
        with pytest.raises(EngineUnavailable, match="are of test:next now"):
            memory.flush()
        asked = len(embedder.embedded)
        with pytest.raises(EngineUnavailable, match="are of test:next now"):
            memory.flush()
        assert len(embedder.embedded) == asked
        with opened(old) as again:
            again.reembed()
        late = agent.observe(said(2_001))
        memory.flush()
        assert agent.recall(said(2_001), limit=1, preset="semantic")[0].memory.id == late.id
        assert found(memory, 7) == (said(7), ())


def test_what_another_process_writes_meanwhile_is_there(old):
    with Child("serve") as other, opened_with(old, NextEmbedder()) as memory:
        other.ask("open", path=old)
        numbers = iter(range(1_000, 1_003))

        def write(_):
            for number in numbers:
                other.ask("observe", content=said(number), session="s")
                break

        assert memory.reembed(write).embedded == TURNS + 3
        assert found(memory, 1_002) == (said(1_002), ())


@pytest.mark.req("B31.2")
@pytest.mark.parametrize("lines", [1, 2, 5, 8])
def test_killed_anywhere_it_goes_on_and_embeds_no_more_than_a_batch_twice(old, lines):
    """A line says that a batch is about to be embedded, or was kept."""
    with Child("reembed", old, lines) as child:
        told = [child.told() for _ in range(lines)]
        child.kill()
        told += child.rest()
    assert told[-1] != "done"
    with opened(old) as memory:
        assert found(memory, 7) == (said(7), ())
    embedder = NextEmbedder()
    with opened_with(old, embedder) as memory:
        report = memory.reembed()
        assert found(memory, 7) == (said(7), ())
        assert memory.health(thorough=True).problems == ()
    asked = sum(count for what, count in told if what == "asked")
    assert report.embedded == len(embedder.embedded) <= TURNS - sum(count for what, count in told if what == "kept")
    assert TURNS <= asked + report.embedded <= TURNS + BATCH


def test_without_an_embedder_there_is_nothing_to_change_to(old):
    with opened(old, vectors=False) as memory, pytest.raises(InvalidInput, match="no embedder is configured"):
        memory.reembed()


@pytest.fixture
def small(database):
    """The file that ENGRAIN_DB names, with an embedder's vectors that the command line does not know."""
    with opened(str(database)) as memory:
        memory.agent("default", session="s").observe("Ana hates early flights.")
        memory.flush()
    return database


@pytest.mark.usefixtures("small")
def test_the_command_changes_to_an_embedder_and_again_has_nothing_to_do(process):
    minilm = {"ENGRAIN_EMBEDDING__MODEL": "minilm"}
    asked = ["recall", "Ana hates early flights.", "--agent", "default", "--json"]
    before = process(*asked, **minilm)
    assert "engrain reembed --embedder minilm:all-MiniLM-L6-v2" in before.json["degraded"][0]["detail"]
    ran = process("reembed", "--embedder", "minilm:all-MiniLM-L6-v2", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json | {"dims": 0} == {
        "embedder": "minilm:all-MiniLM-L6-v2",
        "dims": 0,
        "version": 2,
        "embedded": 1,
        "pruned": 1,
    }
    assert process(*asked, **minilm).json["degraded"] == []
    again = process("reembed", **minilm)
    assert again.out == "searches use minilm:all-MiniLM-L6-v2 now: 0 vectors made, 0 old ones removed\n"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("embedder", ["none", "nonsense:model"])
def test_the_command_refuses_what_is_no_embedder(process, embedder):
    ran = process("reembed", "--embedder", embedder, "--json")
    assert (ran.code, ran.out) == (2, "")
    assert json.loads(ran.err)["error"]["code"] == "invalid_input"


@pytest.mark.usefixtures("small")
def test_a_person_sees_a_bar(terminal):
    shown = terminal("reembed", "--embedder", "minilm")
    shown.read_until("making vectors")
    assert shown.finish() == 0
    assert "1 vector made, 1 old one removed" in shown.shown


def test_a_message_that_was_batched_before_has_a_vector_of_the_new_embedder_after_the_change(old):
    settings = config.load({**SETTINGS, "batching": {"seconds": 3_600}})
    with Memory(open_store(old), embedder=NextEmbedder(), settings=settings) as memory:
        agent = memory.agent(AGENT, session="s")
        agent.hooks.message("said before", durable=False)
        memory.reembed()
        agent.hooks.message("said after", durable=False)
        agent.hooks.session_end()
        assert memory.parts.queue.wait(60)
        assert agent.stats().pending_embeddings == 0
