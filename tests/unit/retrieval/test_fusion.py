import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.records import Explanation
from engrain.domain.requests import Candidate
from engrain.retrieval.fusion import RRF_K, fuse, with_session, with_speaker
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset

HYBRID = PRESETS["hybrid"]
LIMIT = 10
REFS = st.integers(1, 12)


def best_first(raws):
    return [Candidate(ref, raw) for ref, raw in sorted(raws.items(), key=lambda item: (-item[1], -item[0]))]


RANKED = st.fixed_dictionaries(
    {
        "vector": st.dictionaries(REFS, st.floats(-1, 1), max_size=LIMIT).map(best_first),
        "keyword": st.dictionaries(REFS, st.floats(0, 40), max_size=LIMIT).map(best_first),
    }
)
WEIGHTED_RANKS = Preset(name="ranks", fusion="rrf_full", weights=ENGRAIN.weights)
FUSIONS = st.sampled_from([*PRESETS.values(), WEIGHTED_RANKS])
SESSIONS = st.dictionaries(REFS, st.sampled_from(["monday", "friday"]))
SPOKEN = st.frozensets(REFS)


def scores(judged):
    return {ref: Explanation(preset="any", contributions=shares).score for ref, shares in judged.items()}


def of(judged, ref, channel):
    """What one channel gave to one candidate, None where it gave nothing."""
    return next((share for share in judged[ref] if share.channel == channel), None)


@given(RANKED, FUSIONS)
def test_whichever_channel_answered_first_the_result_is_the_same(lists, preset):
    judged = [fuse(dict(order), preset, limit=LIMIT) for order in permutations(lists.items())]
    assert all(each == judged[0] for each in judged)


@given(RANKED, FUSIONS)
def test_every_candidate_of_a_weighed_list_is_judged_and_no_other(lists, preset):
    judged = fuse(lists, preset, limit=LIMIT)
    assert set(judged) == {each.ref for channel in preset.weights for each in lists.get(channel, ())}


@given(RANKED, FUSIONS)
def test_contributions_stand_in_the_order_of_the_preset_once_for_each_channel(lists, preset):
    for shares in fuse(lists, preset, limit=LIMIT).values():
        channels = [share.channel for share in shares]
        assert channels == [channel for channel in preset.weights if channel in channels]
        assert len(set(channels)) == len(channels)


@given(RANKED, FUSIONS, st.lists(REFS, unique=True).map(frozenset), SESSIONS)
def test_the_contributions_add_up_to_the_score_exactly(lists, preset, theirs, sessions):
    judged = with_speaker(with_session(fuse(lists, preset, limit=LIMIT), sessions, 0.2), theirs, 0.2)
    for ref, score in scores(judged).items():
        assert score == math.fsum(share.value for share in judged[ref])


@given(RANKED)
def test_by_value_a_channel_gives_its_raw_value_times_its_weight_keywords_relative_to_the_best(lists):
    judged = fuse(lists, ENGRAIN, limit=LIMIT)
    best = max((each.raw for each in lists["keyword"]), default=0.0)
    for channel, relative_to in (("vector", 1.0), ("keyword", best)):
        for rank, each in enumerate(lists[channel], start=1):
            share = of(judged, each.ref, channel)
            weight = ENGRAIN.weights[channel]
            assert (share.rank, share.raw, share.weight) == (rank, each.raw, weight)
            assert share.value == (weight * each.raw / relative_to if relative_to else 0.0)
    for ref in judged:
        assert [of(judged, ref, channel) is not None for channel in lists] == [
            ref in {each.ref for each in found} for found in lists.values()
        ]


@given(RANKED)
def test_by_full_reciprocal_rank_a_list_gives_one_over_sixty_plus_the_rank_and_absence_is_the_next_rank(lists):
    ranks = {channel: {each.ref: rank for rank, each in enumerate(found, start=1)} for channel, found in lists.items()}
    for ref, score in scores(fuse(lists, HYBRID, limit=LIMIT)).items():
        semantic, keyword = ranks["vector"].get(ref, LIMIT + 1), ranks["keyword"].get(ref, LIMIT + 1)
        assert score == pytest.approx(1 / (60 + semantic) + 1 / (60 + keyword), abs=1e-15)


@given(RANKED)
def test_what_two_lists_hold_stands_above_what_comes_as_high_in_one_alone(lists):
    judged = fuse(lists, HYBRID, limit=LIMIT)
    found = scores(judged)
    in_both = {each.ref for each in lists["vector"]} & {each.ref for each in lists["keyword"]}
    for both in in_both:
        for alone in set(judged) - in_both:
            best_of_both = min(of(judged, both, channel).rank for channel in lists)
            best_of_alone = min(of(judged, alone, channel).rank for channel in lists)
            if best_of_both <= best_of_alone:
                assert found[both] > found[alone]


@given(RANKED, st.integers(0, 5))
def test_a_channel_the_preset_does_not_weigh_plays_no_part(lists, extra):
    with_stranger = {**lists, "speaker": [Candidate(100 + extra, 1.0)]}
    without_speaker = Preset(name="two", fusion="value", weights={"vector": 1.0, "keyword": 0.8})
    assert fuse(with_stranger, without_speaker, limit=LIMIT) == fuse(lists, without_speaker, limit=LIMIT)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("lists", [{}, {"vector": []}, {"vector": [], "keyword": []}], ids=["none", "one", "two"])
def test_empty_lists_judge_nobody(preset, lists):
    assert fuse(lists, preset, limit=LIMIT) == {}


def test_keywords_that_all_count_nothing_give_nothing():
    judged = fuse({"keyword": [Candidate(2, 0.0), Candidate(1, 0.0)]}, ENGRAIN, limit=LIMIT)
    assert scores(judged) == {2: 0.0, 1: 0.0}


def test_a_channel_that_could_not_be_asked_takes_nothing_from_the_others():
    keyword = [Candidate(2, 4.0), Candidate(1, 1.0)]
    assert scores(fuse({"keyword": keyword}, ENGRAIN, limit=LIMIT)) == {2: 0.8, 1: 0.2}
    assert scores(fuse({"keyword": keyword}, HYBRID, limit=LIMIT)) == {2: 1 / 61, 1: 1 / 62}


def test_the_constant_is_that_of_the_paper():
    assert RRF_K == 60


@given(RANKED, SESSIONS, st.floats(0, 1))
def test_a_candidate_gains_a_share_of_the_best_score_of_its_session(lists, sessions, weight):
    judged = fuse(lists, ENGRAIN, limit=LIMIT)
    before, after = scores(judged), with_session(judged, sessions, weight)
    for ref in judged:
        together = [other for other in judged if other == ref or sessions.get(other, ref) == sessions.get(ref, other)]
        share = of(after, ref, "session")
        assert share.raw == pytest.approx(max(before[other] for other in together), abs=1e-12)
        assert share.value == weight * share.raw
        assert share.rank is None


@given(RANKED, SESSIONS, st.floats(0, 1))
def test_inside_a_session_the_order_stays(lists, sessions, weight):
    judged = fuse(lists, ENGRAIN, limit=LIMIT)
    after = with_session(judged, dict.fromkeys(judged, "monday"), weight)
    shares = {of(after, ref, "session").value for ref in judged}
    assert len(shares) <= 1
    assert set(with_session(judged, sessions, weight)) == set(judged)


@given(RANKED, SPOKEN, st.floats(0, 1))
def test_the_speakers_candidates_gain_the_weight_and_the_others_nothing(lists, theirs, weight):
    judged = fuse(lists, ENGRAIN, limit=LIMIT)
    after = with_speaker(judged, theirs, weight)
    assert set(after) == set(judged)  # who is in no list is not found by being the speaker
    for ref, shares in judged.items():
        gained = after[ref][len(shares) :]
        assert after[ref][: len(shares)] == shares
        assert [(share.channel, share.rank, share.value) for share in gained] == (
            [("speaker", None, weight)] if ref in theirs else []
        )


@given(RANKED, FUSIONS, SESSIONS, SPOKEN)
def test_nothing_given_is_changed(lists, preset, sessions, theirs):
    judged = fuse(lists, preset, limit=LIMIT)
    before = {ref: tuple(shares) for ref, shares in judged.items()}
    with_speaker(with_session(judged, sessions, 0.2), theirs, 0.2)
    assert judged == before
