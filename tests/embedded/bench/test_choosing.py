"""Re-scored candidates against real searches, and weights chosen without the questions they are reported on."""

import math
from datetime import timedelta

import numpy as np
import pytest

from bench.retrieval import choosing, pools, runner, variants
from bench.retrieval.vector_cache import CachedEmbedder
from engrain.retrieval.presets import Preset
from tests.support.bench_corpora import MAY_8, corpus, question, turn

WORDS = "greyhound sofa kettle canoe tram parrot sister bread lamp window rain bicycle".split()
QUESTIONS = ("What did Ana say of the greyhound on the sofa?", "Whose kettle and canoe?", "Did you like the tram?")
WEIGHTS = {"vector": 1.0, "keyword": 0.8, "session": 0.2, "speaker": 0.2}


class WordVectors:
    """One dimension for each word of the made-up talk."""

    name = "bench:words"
    dims = len(WORDS)

    def embed(self, texts, *, role):  # noqa: ARG002  # as the port calls it
        rows = np.array([[text.lower().count(word) + 0.01 for word in WORDS] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def made_up_corpus():
    drawn = np.random.default_rng(7)
    turns = [
        turn(
            " ".join(drawn.choice(WORDS, 4)),
            session=f"s{number // 10}",
            speaker=("Ana", "Ben")[number % 2],
            said_at=MAY_8 + timedelta(hours=number),
        )
        for number in range(60)
    ]
    return corpus(turns, [question(text, ("s0", 1), ("s3", 4), sessions=("s0",)) for text in QUESTIONS])


@pytest.fixture(scope="module")
def remembered(tmp_path_factory):
    embedder = CachedEmbedder(WordVectors(), tmp_path_factory.mktemp("cache"))
    with runner.remembered(made_up_corpus(), embedder=embedder, say=lambda _: None) as (memory, _):
        yield memory
    embedder.close()


def preset(name, weights, depth=150):
    ranking = Preset(name=name, fusion="value", weights=weights, depth=depth)
    return variants.Variant(name=name, preset=ranking)


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        {"vector": 1.0, "keyword": 0.1, "session": 0.9, "speaker": 0.0},
        {"vector": 1.0, "keyword": 2.0, "session": 0.0, "speaker": 1.0},
        {"vector": 1.0, "keyword": 0.0, "session": 0.4, "speaker": 0.1},
    ],
)
@pytest.mark.parametrize("depth", [8, 150])
def test_other_weights_rank_as_a_search_with_them_would(remembered, weights, depth):
    recorded, tried = preset("recorded", WEIGHTS, depth), preset("tried", weights, depth)
    agent = variants.agent(remembered, "c1", [recorded, tried])
    for text in QUESTIONS:
        deep = agent.recall(text, limit=pools.DEEPEST, preset="recorded")
        pool = pools.pool_of(question(text), "c1", deep, recorded.preset)
        real = [runner.place(hit) for hit in agent.recall(text, limit=8, preset="tried")]
        assert pools.reproduced(pool, weights, real)
        assert not pools.reproduced(pool, weights, real[::-1])


def test_recording_holds_itself_against_real_searches(remembered):
    data = made_up_corpus()
    found = pools.recorded(remembered, data, preset("recorded", WEIGHTS), lambda _: None)
    assert [pool.question.text for pool in found] == list(QUESTIONS)
    with pytest.raises(pools.NotReproduced, match="aging"):
        pools.recorded(remembered, data, preset("aging", {**WEIGHTS, "newest": 3.0}), lambda _: None)


def test_the_grid_begins_with_the_given_weights_and_goes_outwards():
    points = choosing.grid(WEIGHTS)
    assert points[0] == WEIGHTS
    assert len(points) == len(choosing.FACTORS) ** 3
    assert {point["vector"] for point in points} == {1.0}
    distances = [
        math.dist([point[name] / WEIGHTS[name] for name in ("keyword", "session", "speaker")], [1, 1, 1])
        for point in points
    ]
    assert distances == pytest.approx(sorted(distances))
    more = choosing.grid({**WEIGHTS, "moon": 0.1, "tide": 0.1})
    assert len(more) == len(choosing.COARSE_FACTORS) ** 5


@pytest.mark.parametrize("half", choosing.HALVES)
def test_a_half_is_reported_on_by_the_other(half):
    names = ["c1", "c2", "c3", "c4", "c5"]
    [fold] = choosing.halves(names, half)
    assert fold.chosen_on | fold.held_out == set(names)
    assert not fold.chosen_on & fold.held_out
    expected = {"first": "c1 c2", "second": "c3 c4 c5", "odd": "c1 c3 c5", "even": "c2 c4"}
    assert fold.chosen_on == set(expected[half].split())


def pool(conversation, *, wants):
    """Forty candidates that one channel likes; the other likes only the gold."""
    places = tuple(("s1", turn) for turn in range(1, 42))
    shares = np.zeros((41, 2))
    liked, gold = ("vector", "keyword").index(wants), 40
    shares[:gold, 1 - liked] = 1.0
    shares[gold, liked] = 0.9
    return pools.Pool(
        question=question("?", places[gold]),
        conversation=conversation,
        places=places,
        channels=("vector", "keyword"),
        judged_before=frozenset(),
        shares=shares,
        sessions=np.zeros(41, np.int64),
        repetition=np.zeros(41),
        counts=False,
        corrected=np.arange(41),
    )


def test_weights_are_chosen_without_the_conversation_they_are_reported_on():
    weights = {"vector": 1.0, "keyword": 1.0}
    recorded = [pool("c1", wants="keyword"), pool("c2", wants="keyword"), pool("c3", wants="vector")]
    held_out = {
        min(choice.fold.held_out): choice
        for choice in choosing.choose(recorded, weights, choosing.leave_one_out(["c1", "c2", "c3"]))
    }
    assert held_out["c3"].weights["keyword"] == 1.5  # both others want keywords, and c3 has no say
    assert held_out["c3"].chosen.tolist() == [[0, 0, 0]]
    assert held_out["c1"].fixed.tolist() == [[0, 0, 0]]
    assert held_out["c1"].weights["keyword"] == 0.5  # one of each is won either way; the first of equals stands


def test_of_equal_weights_the_given_ones_are_kept():
    weights = {"vector": 1.0, "keyword": 1.0}
    easy = [pool(name, wants="keyword") for name in ("c1", "c2")]
    for each in easy:
        each.shares[40] = 3.0
    choices = choosing.choose(easy, weights, choosing.leave_one_out(["c1", "c2"]))
    assert [choice.weights for choice in choices] == [weights, weights]
    table = choosing.table(choices, weights, how="each held out")
    assert "2 of 2 folds chose vector 1, keyword 1" in table
    assert table.splitlines()[-1].split() == ["single", "2", *["1.000"] * 6]
