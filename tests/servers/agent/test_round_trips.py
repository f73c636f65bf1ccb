"""How often a verb waits for a server, counted on the wire: half a millisecond each within a data centre."""

import pytest

from engrain import Memory
from engrain.engines.callables import CallableEmbedder
from engrain.retrieval.presets import PRESETS
from engrain.storage import open_store
from tests.support.counting_proxy import CountingProxy
from tests.support.postgres import server
from tests.support.sample_search import DIMS, vector_of

QUESTION = "Which tram by the river does Ana take in June 2024?"


@pytest.fixture(scope="module")
def proxy():
    url = server().new_database()
    with CountingProxy(url) as counting:
        yield counting
    server().drop_database(url)


@pytest.fixture(scope="module")
def opened(proxy):
    """A memory in use: two agents in a pool, whose turns, facts and rules have their vectors."""
    embedder = CallableEmbedder(lambda texts: [vector_of(text) for text in texts], name="test:words", dims=DIMS)
    with Memory(open_store(proxy.url), embedder=embedder) as memory:
        agent = memory.agent("aide", session="monday")
        agent.pools.create("team")
        for place in range(30):
            agent.observe(f"The tram number {place} by the river.", speaker=("Ana", "Ben")[place % 2])
        agent.remember("the tram", subject="Ana", predicate="likes")
        agent.rules.add("Take the tram by the river.")
        memory.flush()
        assert memory.parts.queue.wait(None)
        yield memory


@pytest.fixture
def count(opened, proxy):
    """Count the round trips of a verb: the fewest of some runs, as work in the background takes its own beside them."""

    def count_once(verb):
        opened.flush()
        opened.parts.references.flush()
        before = proxy.round_trips
        verb()
        return proxy.round_trips - before

    return lambda verb: min(count_once(verb) for _ in range(6))  # the first of them prepare the statements


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_recall_takes_few_round_trips(opened, count, preset):
    """One for what the search finds, one for what ranking weighs of it, one for the hits; other presets ask further."""
    agent = opened.agent("aide")
    assert 2 <= count(lambda: agent.recall(QUESTION, preset=preset)) <= (3 if preset == "engrain" else 7)


def test_a_context_takes_five_round_trips(opened, count):
    """Two more than a recall: one for the latest reflection, one for the standing rules, where there are any."""
    agent = opened.agent("aide")
    assert 2 <= count(lambda: agent.context(QUESTION, budget_tokens=1_000)) <= 5


def test_a_turn_takes_five_round_trips(opened, count):
    agent = opened.agent("aide", session="monday")
    assert 2 <= count(lambda: agent.observe("The tram is late again.", speaker="Ana")) <= 5


def test_erasing_many_takes_the_round_trips_of_erasing_one(opened, count):
    agent = opened.agent("aide", session="tuesday")
    facts = iter(range(1_000))

    def erase(number):
        ids = [agent.observe(f"The tram number {place} is late.", speaker="Ana").id for place in range(number)]
        ids += [agent.remember("the tram", subject=f"Ben {next(facts)}", predicate="likes").id for _ in range(number)]
        opened.flush()
        return lambda: agent.erase(ids)

    counts = []
    for number in (1, 12):
        waiting = [erase(number) for _ in range(6)]
        counts.append(count(lambda waiting=waiting: waiting.pop()()))
    assert 2 <= counts[1] <= counts[0]


def test_a_recall_asks_again_where_the_last_one_read_less(opened):
    """Scopes and totals are looked up in every search: the last one only says what to ask for beside them."""
    aide, ben = opened.agent("aide"), opened.agent("ben")
    aide.pools.create("band")
    counts = []
    for change in (lambda: None, lambda: aide.pools.add("band", "ben"), lambda: aide.pools.remove("band", "ben")):
        change()
        counts.append(len(ben.recall("tuba")))
        aide.remember(f"a tuba {len(counts)}", subject="Cleo", predicate="plays", scope="pool:band")
        opened.flush()
    assert counts == [0, 1, 0]
