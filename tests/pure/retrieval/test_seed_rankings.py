"""Each ranking that came from elsewhere, from a question to its hits, with the scores computed by hand."""

import math
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.notes import hit_source
from engrain.domain.records import Caller
from engrain.retrieval.presets import PRESETS
from tests.support.sample_records import NOON, act, entity, episode, fact, link, rule
from tests.support.sample_search import DIMS, no_question_expected, recall, store_of
from tests.support.sqlite_statements import statements
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore

QUESTION = np.eye(1, DIMS, 0, dtype=np.float32)[0]
NOW = NOON + timedelta(days=1)  # what `request` asks at


def at_cosines(memories, cosines):
    """A store whose memories stand at these cosines to QUESTION."""
    store = store_of(memories, embedded=False)
    by_id = {memory.id: cosine for memory, cosine in zip(memories, cosines, strict=True)}
    waiting = store.unembedded(100)
    rows = np.zeros((len(waiting), DIMS), np.float32)
    for row, each in zip(rows, waiting, strict=True):
        row[0], row[1] = by_id[each.id], math.sqrt(1 - by_id[each.id] ** 2)
    store.attach([each.ref for each in waiting], rows)
    return store


def asked(store, text, name, **options):
    return recall(store, text, preset=PRESETS[name], embed=lambda _: QUESTION, **options)


def scored(answer):
    # Vectors are stored in half precision.
    return [(hit.memory.content, pytest.approx(hit.score, abs=1e-4)) for hit in answer]


def gave(hit, channel):
    return next(share for share in hit.why.contributions if share.channel == channel)


@pytest.mark.req("B07.1")
@pytest.mark.req("G06")
@pytest.mark.req("N11")
def test_semantic_scores_are_cosines_in_their_order():
    memories = [episode("one"), fact("two"), rule("three")]
    store = at_cosines(memories, [0.2, 0.9, -0.3])
    gone = fact("four", subject="Ben")
    store.forget(act(), put(store, [gone])[0].id)
    answer = asked(store, "tram", "semantic")
    assert scored(answer) == [("two", 0.9), ("one", 0.2), ("three", -0.3)]
    assert [gave(hit, "vector").raw for hit in answer] == pytest.approx([0.9, 0.2, -0.3], abs=1e-4)


@pytest.mark.req("B07.2")
@pytest.mark.req("N11")
@pytest.mark.parametrize("text", ["tram & river | !late <-> (", "tram' OR 1=1; --", 'tram "river* -late', "tram:*\\"])
def test_keyword_search_takes_any_text_and_ranks_by_how_well_the_words_answer(text):
    store = store_of([episode("tram"), episode("tram river late"), episode("coffee")])
    answer = recall(store, text, preset=PRESETS["keyword"], embed=no_question_expected)
    assert {hit.memory.content for hit in answer} == {"tram", "tram river late"}
    ranks = [gave(hit, "keyword") for hit in answer]
    assert [rank.rank for rank in ranks] == [1, 2]
    assert [each.raw for each in ranks] == sorted((each.raw for each in ranks), reverse=True)


@pytest.mark.req("B07.2")
@given(st.text())
def test_no_text_breaks_the_keyword_search(text):
    store = store_of([episode("tram")])
    assert len(recall(store, text, preset=PRESETS["keyword"])) <= 1


@pytest.mark.req("B07.2")
def test_an_empty_question_asks_no_keyword():
    store = store_of([episode("tram")])
    with statements(store) as ran:
        [hit] = recall(store, "", preset=PRESETS["keyword"])
    assert not any("MATCH" in sql for sql in ran)
    assert hit.why.contributions == ()


@pytest.mark.req("B07.3")
@pytest.mark.req("N11")
def test_hybrid_cuts_both_lists_at_the_limit_and_puts_the_absent_behind():
    """By vectors: river, coffee, tram tram. By words: tram tram, then tram river."""
    store = at_cosines(
        [episode("tram tram"), episode("tram river"), episode("river"), episode("coffee")], [0.5, 0.1, 0.9, 0.8]
    )
    answer = asked(store, "tram", "hybrid", limit=3)
    assert scored(answer) == [
        ("tram tram", 1 / (60 + 3) + 1 / (60 + 1)),
        ("river", 1 / (60 + 1) + 1 / (60 + 4)),
        ("coffee", 1 / (60 + 2) + 1 / (60 + 4)),
    ]


@pytest.mark.req("B07.3")
def test_of_equal_hybrid_scores_the_better_by_vector_comes_first():
    """One is first by vector and second by words, the other the other way round; the newer one loses."""
    later = NOON + timedelta(hours=1)
    store = at_cosines([episode("tram river"), episode("tram tram", event_time=later)], [0.9, 0.8])
    answer = asked(store, "tram", "hybrid")
    assert answer[0].score == answer[1].score
    assert [hit.memory.content for hit in answer] == ["tram river", "tram tram"]


@pytest.mark.req("B08.1")
@pytest.mark.req("B08.2")
@pytest.mark.req("B09.1")
@pytest.mark.req("N11")
def test_the_composite_score_of_recall():
    sure = fact(
        "tram",
        importance=8.0,
        confidence=0.9,
        decay_rate=0.008,
        last_confirmed_at=NOW - timedelta(days=10),
        last_referenced_at=NOW - timedelta(days=14),
    )
    forever = fact("river", predicate="likes", importance=2.0, confidence=0.6, decay_rate=0.0, last_confirmed_at=NOON)
    store = at_cosines([sure, forever], [0.9, 0.3])
    relevance = [(1 / 61 + 1 / 61) / (2 / 61), (1 / 62 + 1 / (60 + 11)) / (2 / 61)]  # river has no word of the question
    assert scored(asked(store, "tram", "recall", limit=10)) == [
        ("tram", 0.4 * relevance[0] + 0.3 * 0.8 + 0.2 * 0.25 + 0.1 * 0.9 * math.exp(-0.08)),
        ("river", 0.4 * relevance[1] + 0.3 * 0.2 + 0.2 * 0.0 + 0.1 * 0.6),
    ]


@pytest.mark.req("B08.1")
@pytest.mark.req("B09.2")
def test_recall_leaves_out_what_is_hardly_believed():
    faded = fact("tram", confidence=0.5, decay_rate=0.1, last_confirmed_at=NOW - timedelta(days=10))  # 0.184
    unconfirmed = fact("tram", predicate="likes", last_confirmed_at=None)
    believed = fact("tram", predicate="has", confidence=0.2, decay_rate=0.0, last_confirmed_at=NOON)
    turn = episode("tram", created_at=NOON - timedelta(days=3_000))
    store = at_cosines([faded, unconfirmed, believed, turn], [0.9, 0.8, 0.7, 0.6])
    assert {hit.memory.id for hit in asked(store, "tram", "recall")} == {believed.id, turn.id}
    everything = asked(store, "tram", "recall", asks={"min_confidence": 0.0})
    assert len(everything) == 4


@pytest.mark.req("G05")
def test_recency_is_the_newest_first_whatever_was_asked():
    turns = [episode(f"turn {day}", event_time=NOON - timedelta(days=day)) for day in (2, 0, 1)]
    answer = recall(store_of(turns), "zeppelin", preset=PRESETS["recency"], limit=2, embed=no_question_expected)
    assert [hit.memory.content for hit in answer] == ["turn 0", "turn 1"]
    assert [hit.score for hit in answer] == [1.0, 1 - 1 / 150]


@pytest.mark.req("G07")
def test_importance_is_the_most_important_first_then_the_newest():
    turns = [
        episode("old", importance=7.0, event_time=NOON - timedelta(days=1)),
        episode("new", importance=7.0),
        episode("most", importance=9.0, event_time=NOON - timedelta(days=9)),
        episode("least", importance=1.0),
    ]
    answer = recall(store_of(turns), "", preset=PRESETS["importance"], limit=3, embed=no_question_expected)
    assert scored(answer) == [("most", 0.9), ("new", 0.7), ("old", 0.7)]


@pytest.mark.req("G08")
def test_weighted_takes_three_candidates_for_each_hit_from_each_list():
    """One hit, so three candidates each: the fourth newest, nearest and most important counts nothing there."""
    days = [episode(f"day {day}", event_time=NOON - timedelta(days=day), importance=day) for day in range(5)]
    store = at_cosines(days, [0.1, 0.2, 0.9, 0.4, 0.5])
    answer = asked(store, "zeppelin", "weighted", limit=1, asks={"explains": True})
    told = {hit.memory.content: hit.score for hit in answer} | {
        store.get(Caller(agent="aide"), [candidate.id])[0].content: candidate.score for candidate in answer.dropped
    }
    assert told == {
        "day 0": pytest.approx(0.3 * (1 - 0 / 3)),
        "day 1": pytest.approx(0.3 * (1 - 1 / 3)),
        "day 2": pytest.approx(0.3 * (1 - 2 / 3) + 0.5 * 0.9 + 0.2 * 0.2, abs=1e-4),
        "day 3": pytest.approx(0.5 * 0.4 + 0.2 * 0.3, abs=1e-4),
        "day 4": pytest.approx(0.5 * 0.5 + 0.2 * 0.4, abs=1e-4),
    }
    assert [hit.memory.content for hit in answer] == ["day 2"]


@pytest.mark.req("Y16")
def test_assistant_adds_the_list_of_whom_the_question_names():
    ana = entity("Ana Silva", aliases=("Annie",))
    store = InMemoryStore()
    store.use_embedder("test:words", DIMS)
    store.put_entity(act(), ana)
    named, linked, worded = fact("Lisbon", entity_id=ana.id), episode("river"), episode("boats, many boats")
    put(store, [named, linked, worded])
    store.link(act(), link(linked, named))
    store.flush_index()
    answer = asked(store, "What boats has Annie?", "assistant")
    by_content = {hit.memory.content: hit for hit in answer}
    assert by_content["Lisbon"].score == 1 / (60 + 1)
    assert by_content["river"].score == 1 / (60 + 2)
    assert by_content["boats, many boats"].score == 1 / (60 + 1)
    assert gave(by_content["Lisbon"], "entity").raw == 1.0
    assert gave(by_content["river"], "entity").raw == 0.5


def note(key, content, **changes):
    return fact(content, subject="aide", predicate=key, scope="aide", **changes)


NOTES = PRESETS["notes"]


@pytest.mark.req("C09")
@pytest.mark.req("C12")
def test_a_search_of_notes_by_hand():
    """tram is in all three and counts nothing: idf = log(4/4). late is in one: log(4/2)."""
    store = store_of([note("one", "tram late"), note("two", "tram tram river"), note("three", "tram coffee music")])
    answer = recall(store, "late tram", preset=NOTES, embed=no_question_expected)
    by_key = {hit.memory.predicate: hit for hit in answer}
    ranks = {key: gave(hit, "keyword").rank for key, hit in by_key.items()}
    assert ranks["one"] == 1
    rare, common = math.log(4 / 2), math.log(4 / 4)
    # "one" is its key, and in no other note.
    cosine = rare**2 / (math.hypot(rare, common) * math.hypot(rare, rare, common))
    assert by_key["one"].score == pytest.approx(0.4 * 1.0 + 0.6 * cosine)
    for key in ("two", "three"):
        assert by_key[key].score == pytest.approx(0.4 * (1 - (ranks[key] - 1) / 3))
    assert {key: hit_source(hit.why) for key, hit in by_key.items()} == {
        "one": "combined",
        "two": "fts5",
        "three": "fts5",
    }


@pytest.mark.req("C09")
def test_where_no_word_tells_notes_apart_their_rank_decides_alone():
    store = store_of([note("one", "tram"), note("two", "tram tram")])
    answer = recall(store, "tram", preset=NOTES)
    assert [hit.score for hit in answer] == [1.0, 0.5]
    assert {hit_source(hit.why) for hit in answer} == {"fts5"}


@pytest.mark.req("C08")
@pytest.mark.req("C09")
def test_an_old_note_loses_to_a_new_one_and_the_answer_says_by_how_much():
    old = note("one", "tram tram", created_at=NOW - timedelta(days=180))
    new = note("two", "tram", created_at=NOW - timedelta(days=2))
    answer = recall(store_of([old, new]), "tram", preset=NOTES)
    scores = {hit.memory.predicate: hit.score for hit in answer}
    ranks = {hit.memory.predicate: gave(hit, "keyword").rank for hit in answer}
    assert scores == {
        "one": pytest.approx(0.4 * (1 - (ranks["one"] - 1) / 2)),
        "two": pytest.approx(1.0 * (1 - (ranks["two"] - 1) / 2)),
    }
    assert [hit.memory.predicate for hit in answer] == ["two", "one"]
    assert gave(answer[1], "age").raw == 0.4


@pytest.mark.req("C10")
def test_a_category_narrows_the_notes_unless_none_is_left():
    store = store_of([note("one", "tram", category="project"), note("two", "tram late", category="person")])
    of = {
        category: {hit.memory.predicate for hit in recall(store, "tram", preset=NOTES, asks={"category": category})}
        for category in ("project", "task", None)
    }
    assert of == {"project": {"one"}, "task": {"one", "two"}, None: {"one", "two"}}


@pytest.mark.req("C12")
def test_notes_less_alike_than_asked_for_are_left_out_whatever_their_age():
    old = note("one", "tram late", created_at=NOW - timedelta(days=180))
    store = store_of([old, note("two", "tram"), note("three", "tram river")])
    alike = recall(store, "late tram", preset=NOTES, asks={"min_similarity": 0.5})
    assert [hit.memory.predicate for hit in alike] == ["one"]
    assert alike[0].score < 0.5  # by its age


@pytest.mark.req("C18")
def test_notes_are_the_agents_own_alone():
    store = store_of(
        [
            note("mine", "tram"),
            fact("tram", subject="aide", predicate="of everybody"),
            fact("tram", subject="Ana", predicate="about her", scope="aide"),
            episode("tram"),
            rule("tram"),
            fact("tram", subject="aide", predicate="of the team", scope="pool:team"),
        ]
    )
    other = fact("tram", subject="other", predicate="theirs", agent="other", scope="other")
    put(store, [other])
    in_pool = Caller(agent="aide", pools=("team",))
    assert [hit.memory.predicate for hit in recall(store, "tram", preset=NOTES, caller=in_pool)] == ["mine"]
    theirs = recall(store, "tram", preset=NOTES, caller=Caller(agent="other"))
    assert [hit.memory.id for hit in theirs] == [other.id]
    # And where the question says nothing.
    assert [hit.memory.predicate for hit in recall(store, "", preset=NOTES, caller=in_pool)] == ["mine"]
