"""What is taken away is missed, comes back afterwards, and each difference says how sure it is."""

from dataclasses import replace

import numpy as np
import pytest

from bench.retrieval import comparison, index_changes, runner, variants
from bench.retrieval.corpus import UnknownData
from bench.retrieval.index_changes import IndexChange
from engrain.domain.text import analysis, indexing
from engrain.errors import InvalidInput
from engrain.retrieval import presets
from engrain.service import Memory
from engrain.storage.search import neighbour_words
from tests.support.bench_corpora import corpus, question, turn

SAID = [
    ("Ana", "I adopted a greyhound called Biscuit."),
    ("Ben", "What does your sister think of it?"),
    ("Ana", "She prefers parrots, honestly."),
    ("Ben", "Parrots bite."),
]
KEYWORDS = presets.PRESETS["keyword"]


def corpus_asking(*texts):
    turns = [turn(text, speaker=speaker) for speaker, text in SAID]
    return corpus(turns, [question(text, ("s1", 1)) for text in texts])


def found_under(change, text):
    variant = variants.Variant(name="tried", preset=replace(KEYWORDS, name="tried"), index=change)
    [asked] = runner.run(corpus_asking(text), [variant], embedder=None, say=lambda _: None).answers["tried"]
    return {turn for _, turn in asked.found}


@pytest.mark.parametrize(
    ("name", "text", "shipped", "changed"),
    [
        ("without neighbours", "greyhound", {1, 2, 3}, {1}),
        ("without stems", "adopting", {1, 2, 3}, set()),
        ("without stop words", "Does she like zebras?", set(), {1, 2, 3, 4}),
        ("without day words", "May 2023", {1, 2, 3, 4}, set()),
    ],
)
def test_each_change_of_the_index_changes_what_is_found(name, text, shipped, changed):
    [change] = [each for each in index_changes.CHANGES if each.name == name]
    assert found_under(index_changes.AS_SHIPPED, text) == shipped
    assert found_under(change, text) == changed
    assert found_under(index_changes.AS_SHIPPED, text) == shipped


@pytest.mark.parametrize("change", index_changes.CHANGES, ids=lambda change: change.name)
def test_a_change_ends_with_its_measurement_even_a_broken_one(change):
    def constants():
        return (analysis.STOP_WORDS, analysis._stem, indexing.NEIGHBOURS, indexing._day, neighbour_words.NEIGHBOURS)

    def measure():
        with index_changes.made(change):
            assert constants() != shipped
            raise RuntimeError

    shipped = constants()
    with pytest.raises(RuntimeError):
        measure()
    assert constants() == shipped


def test_a_constant_that_has_moved_is_no_silent_success():
    moved = IndexChange(name="without moons", constants=(("engrain.domain.text.indexing", "MOONS", 0),))
    with pytest.raises(AttributeError, match="MOONS"), index_changes.made(moved):
        pass


def test_every_channel_of_the_default_has_its_ablation():
    default = variants.default()
    by_name = {ablation.name: ablation.preset for ablation in variants.ablations()}
    for channel in default.preset.weights:
        assert by_name[f"without {channel}"].weights.keys() == default.preset.weights.keys() - {channel}
    by_rank = by_name[variants.BY_RANK]
    assert by_rank.fusion == "rrf_full"
    assert by_rank.weights["vector"] == pytest.approx(default.preset.weights["vector"] * 61)


def test_a_ranking_is_known_to_the_agent_it_is_measured_with_alone():
    mine = variants.Variant(name="mine", preset=replace(KEYWORDS, name="mine"))
    with Memory.open(":memory:", embedder="none") as memory:
        memory.agent("ana").observe("A greyhound sleeps.")
        knowing = variants.agent(memory, "ana", [mine])
        assert [knowing.recall("greyhound", preset=name).preset for name in ("mine", "engrain")] == ["mine", "engrain"]
        with pytest.raises(InvalidInput, match="mine"):
            memory.agent("ana").recall("greyhound", preset="mine")


def test_a_measured_recall_leaves_no_reference():
    with Memory.open(":memory:", embedder="none") as memory:
        memory.agent("ana").observe("A greyhound sleeps.")
        measured = variants.agent(memory, "ana", [])
        counts = []
        for agent in (measured, measured, memory.agent("ana"), measured):
            counts.append(agent.recall("greyhound")[0].memory.reference_count)
            memory.parts.references.flush()
        assert counts == [0, 0, 0, 1]


def test_all_stands_for_every_preset_once():
    assert [preset.name for preset in variants.of_presets(["keyword", "all"])] == [
        "keyword",
        *(name for name in presets.PRESETS if name != "keyword"),
    ]
    with pytest.raises(UnknownData, match="nobody"):
        variants.of_presets(["nobody"])


def test_the_interval_is_that_of_the_mean():
    difference = comparison.paired([1.0, 0.0] * 200, [0.0] * 400)
    assert difference.points == pytest.approx(50)
    spread = 1.96 * 50 / np.sqrt(400)  # of the mean of 400 fair coins, in points
    assert difference.low == pytest.approx(50 - spread, abs=0.6)
    assert difference.high == pytest.approx(50 + spread, abs=0.6)
    assert comparison.paired([1.0, 0.0] * 200, [0.0] * 400) == difference


def test_questions_are_paired():
    values = list(np.linspace(0, 1, 50))
    assert comparison.paired(values, values) == comparison.Difference(points=0, low=0, high=0)
    shifted = comparison.paired([value + 0.25 for value in values], values)
    assert (shifted.low, shifted.points, shifted.high) == pytest.approx((25, 25, 25))


def test_a_variant_is_less_than_the_reference_where_it_finds_less():
    data = corpus_asking("greyhound", "sister")
    [good, other] = data.conversations[0].questions

    def answered(good_turn, other_turn):
        return tuple(
            runner.AnsweredQuestion(question=question, found=(("s1", turn),), seconds=0.1)
            for question, turn in ((good, good_turn), (other, other_turn))
        )

    answers = {"all": answered(1, 1), "half": answered(1, 2)}
    run = runner.Run(corpus=data, answers=answers, ingests={})
    compared = comparison.differences(run, "all", "turn")
    assert list(compared) == ["half"]
    assert compared["half"]["recall@5"].points == pytest.approx(-50)
    assert comparison.differences(run, "all", "session")["half"]["recall@5"].points == 0
    assert "-50.0 [-100.0, +0.0]" in comparison.table(run, "all")
    assert comparison.as_json(run, "all")["half"]["turn"]["recall@5"] == {"points": -50, "low": -100, "high": 0}
