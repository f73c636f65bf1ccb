import itertools
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.text.analysis import terms
from engrain.domain.text.indexing import embedding_text, own_terms
from engrain.errors import DatabaseBusy, DatabaseReadOnly
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset
from engrain.retrieval.search import EMPTY_QUERY, MAX_DROPPED
from tests.support.reference_filters import matches
from tests.support.sample_records import FILTERS, NOON, act, episode, fact, request, rule
from tests.support.sample_search import (
    ANY_PRESET,
    DIMS,
    MEMORIES,
    NO_ENGINE,
    OF_ONE_DEPTH,
    QUERIES,
    WORDS,
    no_engine,
    no_question_expected,
    recall,
    store_of,
    vector_of,
)
from tests.support.sqlite_statements import statements
from tests.support.store_samples import put
from tests.support.stores import InMemoryStore

# Short turns resemble each other; what is tested with it is not the merging of repeats.
UNMERGED = replace(ENGRAIN, merges_repeats=False)


def contents(answer):
    return [hit.memory.content for hit in answer]


def rank_by(hit, channel):
    share = gained(hit, channel)
    return math.inf if share is None else share.rank


def gained(hit, channel):
    """What one channel gave to a hit, None where it gave nothing."""
    return next((share for share in hit.why.contributions if share.channel == channel), None)


@given(MEMORIES, QUERIES, ANY_PRESET, st.integers(0, 12), st.booleans())
def test_hits_stand_in_one_total_order_never_more_than_asked_for(memories, text, preset, limit, has_engine):
    answer = recall(store_of(memories), text, preset=preset, limit=limit, embed=vector_of if has_engine else no_engine)
    assert len(answer) <= limit
    assert len({hit.memory.id for hit in answer}) == len(answer)
    order = [(-hit.score, rank_by(hit, preset.ties), NOON - hit.memory.happened_at, hit.memory.id) for hit in answer]
    assert order == sorted(order) or EMPTY_QUERY in answer.degraded  # those are the newest


@given(MEMORIES, QUERIES, st.sampled_from(OF_ONE_DEPTH), st.integers(0, 12))
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
    found = {hit.memory.id for hit in recall(store_of(memories), word, limit=100, preset=UNMERGED)}
    stored = store_of(memories).recent(request(), 100)
    assert {memory.id for memory in stored if set(terms(word)) & set(own_terms(memory))} <= found


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Where did he lose the ring?", "It was lost at the pool."),
        ("Who has stolen the apples?", "A thief steals at night."),
        ("On which shelf is the jam?", "All shelves have jam."),
        ("Who writes a PR?", "PRs above 400 lines get sent back."),
        ("Who handles DPAs?", "Every DPA goes through Annika."),
        ("When will the elevator be fixed?", "The lift is out of order."),
        ("When is Maren's birthday?", "17 Feb is her bday."),
        ("¿Cómo se llama mi mujer?", "Carla es la esposa del piloto."),
        ("Welches Auto hat der Mann?", "Der Wagen ist grau."),
    ],
)
def test_a_word_is_found_by_its_other_forms(asked, said):
    found = recall(store_of([episode(said), episode("The lake is deep.")]), asked, preset=PRESETS["keyword"])
    assert contents(found) == [said]


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
    assert [hit.memory.id for hit in recall(store_of([older, newer]), "tram", preset=UNMERGED)] == [newer.id, older.id]


def test_what_ties_with_the_last_hit_takes_part_in_the_tie():
    turns = [episode("tram", event_time=NOON - timedelta(days=day)) for day in range(5)]
    answer = recall(store_of(turns[::-1]), "tram", limit=2, preset=PRESETS["keyword"])
    assert [hit.memory.id for hit in answer] == [turns[0].id, turns[1].id]


def test_a_limit_of_nothing_gives_no_hits():
    store = store_of([episode("tram")])
    assert recall(store, "tram", limit=0).hits == ()
    assert recall(store, "", limit=0).hits == ()


@pytest.mark.parametrize("preset", ["engrain", "semantic", "keyword", "hybrid", "recall", "assistant"])
def test_an_empty_question_is_answered_with_the_newest_and_says_so(preset):
    store = store_of([episode(f"turn {day}", event_time=NOON - timedelta(days=day)) for day in range(5)])
    answer = recall(store, "", limit=3, preset=PRESETS[preset], embed=no_question_expected)
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
    shallow = Preset(name="shallow", fusion="value", weights={"vector": 1.0, "keyword": 0.8}, depth=3)
    away = episode("zeppelin")
    store = store_of([away, *(episode("river") for _ in range(5))], embedded=False)
    question, beside, across = np.eye(3, DIMS, dtype=np.float32)
    waiting = store.unembedded(10)
    vectors = [across if each.text == "zeppelin" else 0.6 * question + 0.8 * beside for each in waiting]
    store.attach([each.ref for each in waiting], np.array(vectors))
    best = recall(store, "zeppelin", limit=3, preset=shallow, embed=lambda _: question)[0]
    assert best.memory.id == away.id
    assert gained(best, "keyword").value == 0.8
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
    by_content = {(hit.memory.session, hit.memory.content): hit for hit in recall(store, "tram river", preset=UNMERGED)}
    lifted = gained(by_content["monday", "tram"], "session").raw
    best = by_content["monday", "tram tram river"]
    assert lifted == pytest.approx(gained(best, "session").raw)
    alone = by_content[None, "tram"]
    listed = [share.value for share in alone.why.contributions if share.channel in ("vector", "keyword")]
    assert gained(alone, "session").raw == pytest.approx(sum(listed))


def test_a_turn_that_asks_gains_less_than_one_that_tells():
    answer = recall(
        store_of([episode("tram?"), episode("tram."), episode("Who knows? A tram river.")]), "tram", preset=UNMERGED
    )
    shares = {hit.memory.content: gained(hit, "statement").raw for hit in answer}
    assert shares == {"tram?": 0.0, "tram.": 1.0, "Who knows? A tram river.": 0.6}
    assert contents(answer).index("tram.") < contents(answer).index("tram?")


def test_turns_of_the_time_that_is_asked_for_gain():
    june = datetime(2024, 6, 3, tzinfo=UTC)
    store = store_of([episode("tram", event_time=june), episode("tram", event_time=june.replace(year=2023))])
    first, second = recall(store, "tram in June 2024", preset=UNMERGED)
    assert first.memory.event_time == june
    assert gained(first, "moment").value == ENGRAIN.weights["moment"]
    assert gained(second, "moment") is None


def test_turns_of_the_time_that_an_event_tells_gain():
    """Nobody says when the wedding was: the memory that tells of it does."""
    wedding = datetime(2024, 6, 20, tzinfo=UTC)
    before = episode("tram", event_time=wedding - timedelta(days=14))
    others = [episode("tram", event_time=wedding - timedelta(days=days)) for days in (1, 40)]
    store = store_of([before, *others, fact("in the garden", subject="Ana", predicate="wedding", valid_from=wedding)])
    answer = recall(store, "Which tram was it two weeks before the wedding of Ana?")
    nearest = {hit.memory.id for hit in answer if gained(hit, "moment") and gained(hit, "moment").raw == 1}
    assert nearest == {before.id}


def test_the_vector_of_a_question_is_made_without_the_speakers_it_names():
    asked = []

    def embed(text):
        asked.append(text)
        return vector_of(text)

    store = store_of([episode("tram", speaker="Ana")])
    recall(store, "Which tram is Ana's favourite?", embed=embed)
    recall(store, "Which tram is Ana's favourite?", preset=PRESETS["semantic"], embed=embed)
    assert asked == ["Which tram is favourite?", "Which tram is Ana's favourite?"]


def test_small_talk_and_what_was_said_before_in_the_same_words_have_no_evidence():
    store = store_of([episode("Lights off in the garden."), episode("Thanks!"), episode("I like the garden")])
    for query in ("thanks", "?", "Lights off in the garden"):
        assert recall(store, query).evidence == "none", query
    assert recall(store, "Lights off in the garden?").evidence == "strong"  # a question may be answered so


def test_an_answer_tells_whether_the_evidence_is_there():
    store = store_of([episode("tram river coffee", speaker="Ana")])
    there, elsewhere = recall(store, "tram river coffee of Ana"), recall(store, "zeppelin garden?")
    assert there.evidence == "strong"
    assert elsewhere.evidence == "none"
    assert 0 <= elsewhere.evidence_score < 0.3
    assert 0.7 <= there.evidence_score <= 1
    assert recall(store, "zeppelin", kinds=("rule",)).evidence == "none"  # nothing at all
    for untold in (recall(store, "what about her"), recall(store, "tram", preset=PRESETS["importance"])):
        assert (untold.evidence, untold.evidence_score) == (None, None)


@pytest.mark.parametrize(
    ("preset", "options"),
    [(name, {}) for name in ("semantic", "keyword", "hybrid", "recall", "assistant", "weighted")]
    + [("engrain", {"embed": no_engine})],
)
def test_every_ranking_with_vectors_or_words_tells_whether_the_evidence_is_there(preset, options):
    store = store_of([episode("tram river coffee"), episode("Where is the zeppelin?"), episode("bread")])
    there, elsewhere = (
        recall(store, query, preset=PRESETS[preset], **options)
        for query in ("Which tram river coffee?", "a zeppelin garden?")
    )
    assert (there.evidence, elsewhere.evidence) == ("strong", "none")


def test_an_answer_tells_how_many_were_judged():
    store = store_of([episode("tram"), episode("river"), episode("garden")])
    assert recall(store, "tram", limit=1).candidates == 3
    assert recall(store, "tram", preset=PRESETS["keyword"], limit=1).candidates == 1


def test_facts_and_turns_are_ranked_together():
    store = store_of([fact("tram"), episode("tram")])
    assert {hit.memory.kind for hit in recall(store, "tram")} == {"fact", "episode"}
    assert [hit.memory.kind for hit in recall(store, "tram", kinds=("fact",))] == ["fact"]


def test_a_forgotten_memory_is_found_no_more_and_its_neighbours_no_more_by_its_words():
    secret, other = episode("zeppelin", session="monday"), episode("tram", session="monday")
    store = store_of([secret, other])
    assert set(contents(recall(store, "zeppelin"))) == {"zeppelin", "tram"}
    store.forget(act(NOON + timedelta(hours=1)), secret.id)
    assert contents(recall(store, "zeppelin", preset=PRESETS["keyword"])) == []
    assert "zeppelin" not in contents(recall(store, "zeppelin"))


def test_a_turn_is_found_by_its_neighbours_words_once_the_search_has_settled_it():
    store = InMemoryStore()
    for content in ("Where did you go?", "zeppelin"):
        put(store, [episode(content, session="monday")])
    answer = recall(store, "zeppelin", preset=PRESETS["keyword"])
    assert contents(answer) == ["zeppelin", "Where did you go?"]
    assert [hit.why.matched_terms for hit in answer] == [("zeppelin",), ()]


@pytest.mark.parametrize("reason", [DatabaseBusy("locked"), DatabaseReadOnly("read-only")], ids=["busy", "read-only"])
def test_a_database_that_cannot_be_written_is_searched_as_it_is_and_the_answer_says_so(reason):
    store = InMemoryStore()
    put(store, [episode("tram")])

    def refuse():
        raise reason

    store.backend.flush_index = refuse
    answer = recall(store, "tram", embed=no_engine)
    assert contents(answer) == ["tram"]
    assert len(answer.degraded) == 2
    assert "the database cannot be written now" in str(answer.degraded[0])


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


@given(MEMORIES, QUERIES, ANY_PRESET, st.integers(0, 3))
def test_an_explained_answer_is_the_same_answer_and_tells_of_every_other_candidate(memories, text, preset, limit):
    store = store_of(memories)
    plain = recall(store, text, preset=preset, limit=limit)
    explained = recall(store, text, preset=preset, limit=limit, asks={"explains": True})
    assert plain.dropped == ()
    assert explained.hits == plain.hits
    told = [candidate.id for candidate in explained.dropped]
    assert not set(told) & {hit.memory.id for hit in plain}
    assert all(each.score == each.why.score and each.reason for each in explained.dropped)
    assert [-each.score for each in explained.dropped] == sorted(-each.score for each in explained.dropped)


def test_what_is_below_the_limit_and_what_is_believed_too_little_is_told_apart():
    faded = fact("tram", confidence=0.5, decay_rate=0.1, last_confirmed_at=NOON - timedelta(days=9))
    kept, below = episode("tram tram"), episode("tram late")
    store = store_of([kept, below, faded])
    asks = {"explains": True, "min_confidence": 0.2}
    answer = recall(store, "tram", limit=1, preset=PRESETS["keyword"], asks=asks)
    assert {candidate.id: candidate.reason for candidate in answer.dropped} == {
        faded.id: "min_confidence 0.2: 0.184",  # 0.5 x exp(-1), a day after NOON
        (below.id if answer[0].memory.id == kept.id else kept.id): "below the limit",
    }


def test_at_most_fifty_candidates_are_told_of_the_best_first():
    store = store_of([episode(f"tram {'tram ' * number}") for number in range(70)])
    answer = recall(store, "tram", limit=5, preset=PRESETS["keyword"], asks={"explains": True})
    assert len(answer.dropped) == MAX_DROPPED
    assert answer.dropped[0].score <= answer[-1].score


@pytest.mark.req("B07.4")
@pytest.mark.parametrize("preset", ["hybrid", "semantic", "keyword", "engrain"])
def test_every_kind_is_searched_tells_what_it_is_and_is_left_out_where_it_is_believed_too_little(preset):
    sure, unsure = fact("tram Lisbon", confidence=0.9), fact("tram Porto", predicate="was in", confidence=0.3)
    turn, guidance = episode("tram"), rule("Take the tram.", last_confirmed_at=NOON)
    store = store_of([turn, replace(sure, last_confirmed_at=NOON), replace(unsure, last_confirmed_at=NOON), guidance])
    everything = recall(store, "tram", preset=PRESETS[preset])
    assert {hit.to_dict()["memory"]["kind"] for hit in everything} == {"episode", "fact", "rule"}
    believed = recall(store, "tram", preset=PRESETS[preset], asks={"min_confidence": 0.4})
    assert {hit.memory.id for hit in everything} - {hit.memory.id for hit in believed} == {unsure.id}


def test_what_is_left_out_makes_room_for_what_comes_after_it():
    unsure = fact("tram tram tram", confidence=0.1, last_confirmed_at=NOON)
    store = store_of([unsure, episode("tram late")])
    answer = recall(store, "tram", limit=1, preset=PRESETS["keyword"], asks={"min_confidence": 0.2})
    assert contents(answer) == ["tram late"]


def test_hits_bring_the_turns_around_them_only_where_that_was_asked():
    turns = [episode(content, session="monday") for content in ("one", "two", "zeppelin", "four", "five")]
    store = store_of([*turns, fact("zeppelin")])
    answer = recall(store, "zeppelin", preset=PRESETS["keyword"], speakers=(), asks={"neighbours": 1})
    by_content = {(hit.memory.kind, hit.memory.content): hit.neighbours for hit in answer}
    assert [turn.content for turn in by_content["episode", "zeppelin"]] == ["two", "four"]
    assert by_content["fact", "zeppelin"] == ()
    assert all(hit.neighbours == () for hit in recall(store, "zeppelin"))


def test_the_turns_around_a_hit_need_not_match_what_narrowed_the_search():
    turns = [episode("tram", session="monday", speaker="Ana"), episode("when?", session="monday", speaker="Ben")]
    answer = recall(store_of(turns), "tram", speakers=("Ana",), asks={"neighbours": 2})
    assert [turn.content for turn in answer[0].neighbours] == ["when?"]


@pytest.mark.req("G08")
def test_a_channel_is_asked_while_the_vector_is_being_made():
    store = store_of([episode("tram")])
    with statements(store) as ran:

        def embed(text):
            ran.append("embed")
            return vector_of(text)

        recall(store, "tram", preset=PRESETS["weighted"], embed=embed)
    newest, vectors = (
        next(place for place, sql in enumerate(ran) if words in sql)
        for words in ("ORDER BY event_time DESC", "FROM memory_vectors")
    )
    assert newest < ran.index("embed") < vectors


def test_a_question_for_what_the_ranking_does_not_search_says_so():
    answer = recall(store_of([episode("tram")]), "tram", preset=PRESETS["notes"], kinds=("episode",))
    assert answer.hits == ()
    [reason] = answer.degraded
    assert (reason.code, reason.detail) == ("nothing_to_search", None)
    assert reason.message == "preset notes searches facts about the agent itself, and nothing of them was asked for"
