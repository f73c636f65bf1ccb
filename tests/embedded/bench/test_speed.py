"""The instruments of the speed bench: what they are fed, what they count, and how they show it."""

import functools
import itertools
import json
from collections import Counter

import numpy as np
import pytest

from bench.speed import floor, installed, language, limits, operations, report
from bench.speed.stopwatch import FEWEST_CALLS, per_call, total
from bench.speed.vectors import RandomVectors, RealQuestions
from engrain import Memory
from engrain.domain.text.analysis import STOP_WORDS, terms, words


@functools.cache
def said():
    return language.talk(600)


class Ticking:
    """A clock that each look moves by what the last call took."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_talk_is_the_same_every_time_and_only_grows():
    assert language.talk(100) == said()[:100]


def test_talk_has_sessions_of_thirty_turns_and_two_speakers():
    lengths = Counter(turn.session for turn in said())
    assert set(lengths.values()) == {30}
    assert len(lengths) == 20
    for _, group in itertools.groupby(said(), key=lambda turn: turn.session):
        assert {turn.speaker for turn in group} == set(language.SPEAKERS)
    assert all(earlier.said_at < later.said_at for earlier, later in itertools.pairwise(said()))


def test_half_of_what_is_said_is_stop_words_and_the_rest_follows_zipf():
    spoken = [word for turn in said() for word in words(turn.content)]
    share = sum(word in STOP_WORDS for word in spoken) / len(spoken)
    assert 0.45 < share < 0.55
    counts = [count for _, count in Counter(term for turn in said() for term in terms(turn.content)).most_common()]
    assert 0.02 < counts[0] / sum(counts) < 0.05
    assert counts[9] / counts[0] < 0.5
    assert counts.count(1) > len(counts) / 4


@pytest.mark.parametrize("naming", [False, True])
def test_questions_share_their_words_with_a_turn(naming):
    asked = language.questions(said(), 20, naming=naming)
    assert asked == language.questions(said(), 20, naming=naming)
    for question in asked:
        named = {speaker for speaker in language.SPEAKERS if speaker in question}
        assert len(named) == naming
        rare = set(words(question)) & {word for turn in said() for word in turn.words}
        holders = [turn for turn in said() if rare <= set(turn.words) and named <= {turn.speaker}]
        assert len(rare) >= 3
        assert holders


def test_random_vectors_are_of_unit_length_and_a_text_alone_decides():
    embedder = RandomVectors()
    rows = embedder.embed(["one", "two", "one"], role="document")
    assert rows.shape == (3, embedder.dims)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(RandomVectors().embed(["one"], role="query")[0], rows[0])
    assert embedder.embed([], role="document").shape == (0, embedder.dims)


def test_random_vectors_lie_in_clusters():
    rows = RandomVectors().embed([f"text {number}" for number in range(2000)], role="document")
    cosines = rows @ rows[0]
    assert np.sum(cosines[1:] > 0.4) >= 2
    assert np.median(np.abs(cosines[1:])) < 0.1


def test_real_questions_have_the_real_embedder_work_and_keep_the_cheap_vector():
    class Watched(RandomVectors):
        def __init__(self):
            super().__init__()
            self.texts = []

        def embed(self, texts, *, role):
            self.texts += texts
            return super().embed(texts, role=role) * 0

    watched = Watched()
    embedder = RealQuestions(watched)
    assert np.array_equal(embedder.embed(["where?"], role="query"), RandomVectors().embed(["where?"], role="query"))
    embedder.embed(["there."], role="document")
    assert len(watched.texts) == 1
    assert watched.texts[0].endswith("?")
    assert embedder.name == RandomVectors.name


def test_calls_are_timed_one_by_one_and_end_with_the_time():
    clock = Ticking()

    def work(seconds):
        clock.now += seconds

    assert per_call(work, [1, 2, 3], clock=clock) == [1, 2, 3]
    assert total(lambda: work(5), clock=clock) == 5
    assert len(per_call(work, [1] * 100, clock=clock, most_seconds=FEWEST_CALLS + 4)) == FEWEST_CALLS + 5
    assert len(per_call(work, [9] * 100, clock=clock, most_seconds=1)) == FEWEST_CALLS


@pytest.fixture
def plain(tmp_path):
    tables = limits.PlainTables(tmp_path / "plain.db")
    yield tables
    tables.close()


def test_plain_tables_hold_every_turn_and_find_its_words(plain):
    assert plain.fill(said()[:90]) > 0
    assert len(plain.insert_each(said()[90:95], 90)) == 5
    db = plain._db
    assert db.execute("SELECT count(*), count(DISTINCT id) FROM episodes").fetchall() == [(95, 95)]
    term = terms(said()[92].words[0])[0]
    holders = [place + 1 for place, turn in enumerate(said()[:95]) if term in terms(turn.content)]
    assert [doc for (doc,) in db.execute("SELECT rowid FROM words(?) ORDER BY rowid", (term,))] == holders


def test_neighbours_words_are_those_of_two_turns_on_either_side_of_the_session(plain):
    plain.fill(said()[:60])
    for place in (0, 29, 30, 45):
        term = next(
            term
            for term in terms(said()[place].content)
            if sum(term in terms(turn.content) for turn in said()[:60]) == 1
        )
        found = {doc - 1 for (doc,) in plain._db.execute("SELECT rowid FROM near_words(?)", (f"near : {term}",))}
        session = range(place // 30 * 30, place // 30 * 30 + 30)
        assert found == {near for near in range(place - 2, place + 3) if near in session and near != place}


def test_a_match_is_timed_for_every_question(plain):
    plain.fill(said()[:60])
    asked = language.questions(said()[:60], 5, naming=True)
    for near in (False, True):
        assert len(plain.match(asked, 10, near=near, most_seconds=10)) == 5


def test_the_vector_index_is_timed_for_every_question():
    assert len(limits.nearest(said()[:100], ["where?", "when?"], 10)) == 2


def test_every_figure_of_a_size_is_measured_and_shown(tmp_path):
    bench = operations.prepared(60, tmp_path)
    figures = {
        **operations.ingest(bench),
        **operations.search(bench, RandomVectors()),
        **operations.catch_up(bench),
        **operations.cold_start(bench, None),
        **operations.limits(bench),
    }
    assert all(value > 0 for value in figures.values())
    shown = "\n".join(report.by_size({60: figures}))
    for line in report.TABLE:
        label = line if isinstance(line, str) else line.label
        assert (label in shown) == ("with the model" not in label and "model loaded" not in label)
    assert json.loads(json.dumps(figures)) == figures


def test_a_ratio_is_a_figure_over_the_sum_of_its_limits():
    figures = {"search_ms_p50": 6.0, "kernels_ms_p50": 1.0, "match_own_ms_p50": 2.0}
    [line] = [each for each in report.by_size({10: figures}) if "search / (kernels + MATCH own)" in each]
    assert line.split()[-1] == "2.00"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.1234, "0.12"), (9.876, "9.88"), (54.32, "54.3"), (1234.5, "1,234")]
)
def test_figures_are_shown_with_three_digits(value, text):
    assert report.shown(value) == text


def test_the_install_is_what_the_base_requirements_pull_in():
    sizes = installed.distribution_sizes()
    assert {"engrain", "apsw", "numpy", "onnxruntime", "pydantic", "pydantic-core", "tokenizers"} <= set(sizes)
    assert not {"pytest", "mypy", "hypothesis", "ruff"} & set(sizes)
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    assert sizes["numpy"] > 1e6
    assert "numpy" in "\n".join(report.installed(dict.fromkeys(INSTALL_FIGURES, 1.0), sizes))


INSTALL_FIGURES = ("import_ms", "import_modules", "import_memory_ms", "import_memory_modules")


def test_an_import_loads_modules_and_takes_time():
    seconds, modules = installed.import_cost("import decimal", repeats=1)
    assert seconds > 0
    assert modules >= 1


def test_the_floor_of_an_import_is_its_statements_and_nothing_else(tmp_path):
    figures, by_statement = floor.measure(said()[:60], tmp_path)
    assert figures.keys() == {"import_us", "statements_us", "plain_bulk_us"}
    words_written = [sql for sql in by_statement if "INTO memory_words" in sql]
    assert len(words_written) == 1
    with Memory.open(tmp_path / "replay 0.db", embedder="none") as memory:
        agent = memory.agent("assistant")
        assert agent.stats().episodes.total == 60
        assert agent.recall(said()[0].words[0]).hits
    assert "its statements alone" in "\n".join(floor.report(60, figures, by_statement))
