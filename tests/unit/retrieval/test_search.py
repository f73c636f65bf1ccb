import itertools
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.analysis import terms
from engrain.domain.indexing import embedding_text, own_terms
from engrain.domain.query import matches
from engrain.domain.records import Caller
from engrain.errors import DatabaseBusy, DatabaseReadOnly
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset
from engrain.retrieval.search import EMPTY_QUERY
from tests.reference_store import ReferenceStore
from tests.sample_records import FILTERS, NOON, act, episode, fact, request
from tests.sample_search import (
    ANY_PRESET,
    DIMS,
    MEMORIES,
    NO_ENGINE,
    QUERIES,
    WORDS,
    no_engine,
    no_question_expected,
    recall,
    store_of,
    vector_of,
)
from tests.store_samples import put


def contents(answer):
    return [hit.memory.content for hit in answer]


def gained(hit, channel):
    """What one channel gave to a hit, None where it gave nothing."""
    return next((share for share in hit.why.contributions if share.channel == channel), None)


@given(MEMORIES, QUERIES, ANY_PRESET, st.integers(0, 12), st.booleans())
def test_hits_stand_in_one_total_order_never_more_than_asked_for(memories, text, preset, limit, has_engine):
    answer = recall(store_of(memories), text, preset=preset, limit=limit, embed=vector_of if has_engine else no_engine)
    assert len(answer) <= limit
    assert len({hit.memory.id for hit in answer}) == len(answer)
    order = [(-hit.score, NOON - hit.memory.happened_at) for hit in answer]
    assert order == sorted(order)


@given(MEMORIES, QUERIES, ANY_PRESET, st.integers(0, 12))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(memories, text, preset, limit):
    store = store_of(memories)
    everything = recall(store, text, preset=preset, limit=100)
    assert recall(store, text, preset=preset, limit=limit).hits == everything.hits[:limit]
    assert recall(store, text, preset=preset, limit=100) == everything


@given(MEMORIES, QUERIES, ANY_PRESET, st.booleans())
def test_every_hit_says_why_and_the_reasons_add_up_to_its_score(memories, text, preset, has_engine):
    for hit in recall(store_of(memories), text, preset=preset, embed=vector_of if has_engine else no_engine):
        assert hit.why.score == hit.score
        assert hit.why.preset == preset.name
        assert all(share.channel in str(hit.why) for share in hit.why.contributions)


@given(MEMORIES, QUERIES, ANY_PRESET)
def test_matched_terms_are_the_stems_of_the_query_that_the_memorys_own_words_hold(memories, text, preset):
    asked = list(dict.fromkeys(terms(text)))
    for hit in recall(store_of(memories), text, preset=preset):
        assert list(hit.why.matched_terms) == [term for term in asked if term in own_terms(hit.memory)]


@given(MEMORIES, QUERIES, FILTERS, ANY_PRESET)
def test_every_hit_matches_the_filter(memories, text, filter_, preset):
    asked = request()
    conditions = {name: getattr(filter_, name) for name in ("kinds", "sessions", "tags", "speakers", "since", "until")}
    answer = recall(store_of(memories), text, preset=preset, **conditions)
    assert all(matches(request(**conditions).filter, hit.memory, asked.now) for hit in answer)


@given(MEMORIES, st.sampled_from(WORDS))
def test_whoever_says_a_word_of_the_question_is_found(memories, word):
    found = {hit.memory.id for hit in recall(store_of(memories), word, limit=100)}
    stored = store_of(memories).recent(request(), 100)
    assert {memory.id for memory in stored if set(terms(word)) & set(own_terms(memory))} <= found


def test_of_equal_scores_the_newest_comes_first_and_then_the_lower_id():
    at = [NOON, NOON + timedelta(microseconds=1), NOON]
    one, newest, other = (episode("tram", event_time=moment) for moment in at)
    for order in itertools.permutations([one, newest, other]):
        answer = recall(store_of(order), "tram", preset=PRESETS["keyword"])
        assert [hit.memory.id for hit in answer] == [newest.id, one.id, other.id]
        assert len({hit.score for hit in answer}) == 1


def test_a_microsecond_decides_at_the_end_of_time_too():
    """A float of seconds cannot tell these two apart."""
    late = NOON.replace(year=9998)
    older, newer = episode("tram", event_time=late), episode("tram", event_time=late + timedelta(microseconds=1))
    assert [hit.memory.id for hit in recall(store_of([older, newer]), "tram")] == [newer.id, older.id]


def test_what_ties_with_the_last_hit_takes_part_in_the_tie():
    turns = [episode("tram", event_time=NOON - timedelta(days=day)) for day in range(5)]
    answer = recall(store_of(turns[::-1]), "tram", limit=2, preset=PRESETS["keyword"])
    assert [hit.memory.id for hit in answer] == [turns[0].id, turns[1].id]


def test_a_limit_of_nothing_gives_no_hits():
    store = store_of([episode("tram")])
    assert recall(store, "tram", limit=0).hits == ()
    assert recall(store, "", limit=0).hits == ()


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_an_empty_question_is_answered_with_the_newest_and_says_so(preset):
    store = store_of([episode(f"turn {day}", event_time=NOON - timedelta(days=day)) for day in range(5)])
    answer = recall(store, "", limit=3, preset=preset, embed=no_question_expected)
    assert contents(answer) == ["turn 0", "turn 1", "turn 2"]
    assert answer.degraded == (EMPTY_QUERY,)
    assert all((hit.score, hit.why.contributions, str(hit.why)) == (0.0, (), "") for hit in answer)


def test_a_question_of_stop_words_is_answered_by_vectors_where_there_are_any():
    answer = recall(store_of([episode("tram"), episode("river")]), "who was that?")
    assert len(answer) == 2
    assert answer.degraded == ()
    assert all(gained(hit, "vector") for hit in answer)


@pytest.mark.parametrize(("preset", "said"), [("keyword", (EMPTY_QUERY,)), ("engrain", (NO_ENGINE, EMPTY_QUERY))])
def test_a_question_of_stop_words_is_answered_with_the_newest_where_there_are_none(preset, said):
    answer = recall(store_of([episode("tram")]), "who was that?", preset=PRESETS[preset], embed=no_engine)
    assert contents(answer) == ["tram"]
    assert answer.degraded == said


def test_words_nobody_ever_said_find_nothing_and_are_no_reason_for_an_apology():
    answer = recall(store_of([episode("tram")]), "zeppelin", preset=PRESETS["keyword"])
    assert (answer.hits, answer.degraded) == ((), ())


@pytest.mark.parametrize("text", ["tram", "", "the"])
def test_an_agent_nobody_knows_remembers_nothing(text):
    stranger = Caller(agent="stranger")
    assert recall(store_of([episode("tram")]), text, caller=stranger).hits == ()
    assert recall(store_of([]), text).hits == ()


def test_agents_see_what_is_theirs_and_what_is_global_inside_their_tenant():
    memories = [
        episode("tram one"),
        episode("tram two", agent="other", scope="other"),
        fact("tram three"),
        episode("tram four", tenant_id="elsewhere"),
        episode("tram five", scope="pool:team"),
    ]
    store = store_of(memories)
    assert set(contents(recall(store, "tram"))) == {"tram one", "tram three"}
    assert set(contents(recall(store, "tram", caller=Caller(agent="other")))) == {"tram two", "tram three"}
    in_pool = Caller(agent="aide", pools=("team",))
    assert set(contents(recall(store, "tram", caller=in_pool))) == {"tram one", "tram three", "tram five"}


@pytest.mark.parametrize("preset", ["engrain", "semantic", "hybrid"])
def test_without_an_embedder_keywords_rank_alone_and_the_answer_says_why(preset):
    store = store_of([episode("tram tram tram"), episode("river"), episode("tram river walk rain late")])
    answer = recall(store, "tram", preset=PRESETS[preset], embed=no_engine)
    assert contents(answer) == ["tram tram tram", "tram river walk rain late"]
    assert answer.degraded == (NO_ENGINE,)
    assert all(gained(hit, "keyword").value > 0 and gained(hit, "vector") is None for hit in answer)


def test_the_keyword_preset_asks_no_embedder():
    answer = recall(store_of([episode("tram")]), "tram", preset=PRESETS["keyword"], embed=no_question_expected)
    assert contents(answer) == ["tram"]


def test_a_memory_without_a_vector_is_found_by_its_words():
    store = store_of([episode("tram")], embedded=False)
    assert contents(recall(store, "tram")) == ["tram"]
    assert recall(store, "tram", preset=PRESETS["semantic"]).hits == ()


def test_what_keywords_propose_is_judged_by_its_vector_however_far_down_it_stands():
    """Fusing by value needs both numbers, and by vector alone the others crowd this one out."""
    shallow = Preset(name="shallow", fusion="value", weights=ENGRAIN.weights, depth=3)
    away = episode("zeppelin")
    store = store_of([away, *(episode("river") for _ in range(5))], embedded=False)
    question, beside, across = np.eye(3, DIMS, dtype=np.float32)
    waiting = store.unembedded(10)
    vectors = [across if each.text == "zeppelin" else 0.6 * question + 0.8 * beside for each in waiting]
    store.attach([each.ref for each in waiting], np.array(vectors))
    best = recall(store, "zeppelin", limit=3, preset=shallow, embed=lambda _: question)[0]
    assert best.memory.id == away.id
    assert gained(best, "keyword").value == ENGRAIN.weights["keyword"]
    assert gained(best, "vector").raw == 0


def speakers_turns(*speakers):
    return [episode("tram", speaker=speaker, session=None) for speaker in speakers]


@pytest.mark.parametrize(
    ("text", "favoured"),
    [
        ("Which tram does Ana take?", {"Ana"}),
        ("ana's tram?", {"Ana"}),
        ("Which tram do Ana and Ben take?", set()),
        ("Which tram will be late?", set()),
        ("Which tram does Will take?", {"Will Byers"}),
        ("Which tram?", set()),
        ("Which tram does Caroline take?", set()),
        ("Which tram is mine?", {"Ana", "Ben", "Will Byers", None}),
        ("Which tram did you recommend?", set()),
    ],
)
def test_the_turns_of_the_one_speaker_who_is_named_gain(text, favoured):
    """Where nobody is named, "my" asks for the user's turns, all of these, and "you" for the assistant's, none."""
    answer = recall(store_of(speakers_turns("Ana", "Ben", "Will Byers", None)), text)
    assert len(answer) == 4
    assert {hit.memory.speaker for hit in answer if gained(hit, "speaker")} == favoured
    assert {gained(hit, "speaker").value for hit in answer if gained(hit, "speaker")} <= {ENGRAIN.weights["speaker"]}


def test_who_speaks_finds_nothing_by_itself():
    store = store_of([episode("river", speaker="Ana"), episode("tram", speaker="Ben")])
    answer = recall(store, "zeppelins of Ben", preset=ENGRAIN, embed=no_engine)
    assert contents(answer) == ["tram"]  # by the speaker's name, which is a word of the turn
    assert contents(recall(store, "my zeppelins", preset=ENGRAIN, embed=no_engine)) == []


def test_a_session_with_a_good_hit_lifts_its_other_turns():
    turns = [episode("tram", session=session) for session in ("monday", "friday", None)]
    store = store_of([*turns, *(episode("tram tram river", session="monday") for _ in range(1))])
    by_content = {(hit.memory.session, hit.memory.content): hit for hit in recall(store, "tram river")}
    lifted = gained(by_content["monday", "tram"], "session").raw
    best = by_content["monday", "tram tram river"]
    assert lifted == pytest.approx(gained(best, "session").raw)
    alone = by_content[None, "tram"]
    assert gained(alone, "session").raw == pytest.approx(
        sum(share.value for share in alone.why.contributions if share.channel != "session")
    )


def test_facts_and_turns_are_ranked_together():
    store = store_of([fact("tram"), episode("tram")])
    assert {hit.memory.kind for hit in recall(store, "tram")} == {"fact", "episode"}
    assert [hit.memory.kind for hit in recall(store, "tram", kinds=("fact",))] == ["fact"]


def test_a_forgotten_memory_is_found_no_more_and_its_neighbours_no_more_by_its_words():
    secret, other = episode("zeppelin", session="monday"), episode("tram", session="monday")
    store = store_of([secret, other])
    assert set(contents(recall(store, "zeppelin"))) == {"zeppelin", "tram"}
    store.retire(act(NOON + timedelta(hours=1)), secret.id)
    assert contents(recall(store, "zeppelin", preset=PRESETS["keyword"])) == []
    assert "zeppelin" not in contents(recall(store, "zeppelin"))


def test_a_turn_is_found_by_its_neighbours_words_once_the_search_has_settled_it():
    store = ReferenceStore()
    for content in ("Where did you go?", "zeppelin"):
        put(store, [episode(content, session="monday")])
    answer = recall(store, "zeppelin", preset=PRESETS["keyword"])
    assert contents(answer) == ["zeppelin", "Where did you go?"]
    assert [hit.why.matched_terms for hit in answer] == [("zeppelin",), ()]


class Unsettled(ReferenceStore):
    """A database that cannot be written now."""

    def __init__(self, reason):
        super().__init__()
        self._reason = reason

    def settle(self):
        raise self._reason


@pytest.mark.parametrize("reason", [DatabaseBusy("locked"), DatabaseReadOnly("read-only")], ids=["busy", "read-only"])
def test_a_database_that_cannot_be_written_is_searched_as_it_is_and_the_answer_says_so(reason):
    store = Unsettled(reason)
    put(store, [episode("tram")])
    answer = recall(store, "tram", embed=no_engine)
    assert contents(answer) == ["tram"]
    assert len(answer.degraded) == 2
    assert "the database cannot be written now" in answer.degraded[0]


class Vanishing(ReferenceStore):
    """Another process forgets a memory between the channels' answer and the loading of the winners."""

    def load(self, request, refs):
        found = super().load(request, refs)
        return {ref: memory for ref, memory in found.items() if memory.content != "tram now gone"}


def test_a_memory_retired_during_the_search_is_absent():
    store = Vanishing()
    put(store, [episode("tram"), episode("tram now gone")])
    assert contents(recall(store, "tram", embed=no_engine)) == ["tram"]


def test_what_is_embedded_of_the_question_is_the_question():
    asked = []

    def embed(text):
        asked.append(text)
        return vector_of(text)

    recall(store_of([episode("tram")]), "Which tram?", embed=embed)
    assert asked == ["Which tram?"]


def test_the_best_by_vector_alone_are_those_nearest_to_the_question():
    turns = [episode(content) for content in ("tram late", "river walk", "coffee music")]
    answer = recall(store_of(turns), "river", preset=PRESETS["semantic"])
    by_hand = sorted(turns, key=lambda turn: -float(vector_of("river") @ vector_of(embedding_text(turn))))
    assert contents(answer) == [turn.content for turn in by_hand]
