import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.records import Explanation
from engrain.domain.requests import Candidate
from engrain.retrieval import fusion
from engrain.retrieval.candidates import add_up, explain_rows
from engrain.retrieval.channels import CHANNELS
from engrain.retrieval.fusion import FUSIONS, RRF_K
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset
from engrain.storage.search.candidates import list_candidates

HYBRID, RECALL, ASSISTANT, WEIGHTED, NOTES = (
    PRESETS[name] for name in ("hybrid", "recall", "assistant", "weighted", "notes")
)
LIMIT = 10
REFS = st.integers(1, 12)


def best_first(raws):
    return [Candidate(ref, raw) for ref, raw in sorted(raws.items(), key=lambda item: (-item[1], -item[0]))]


def ranked(raws):
    return st.dictionaries(REFS, raws, max_size=LIMIT).map(best_first)


RANKED = st.fixed_dictionaries({"vector": ranked(st.floats(-1, 1)), "keyword": ranked(st.floats(0, 40))})
ALL_RANKED = st.fixed_dictionaries(
    {
        "vector": ranked(st.floats(-1, 1)),
        "keyword": ranked(st.floats(0, 40)),
        "entity": ranked(st.sampled_from([0.5, 1.0, 2.0])),
        "newest": ranked(st.floats(1.7e9, 1.8e9)),
        "important": ranked(st.floats(0, 10)),
        "tfidf": ranked(st.floats(0, 1)),
    }
)
# Every fusion over every channel, and the presets as they are.
ANY_WEIGHTS = st.fixed_dictionaries(dict.fromkeys(CHANNELS, st.floats(0.01, 2)))
ANY = st.sampled_from([*PRESETS.values()]) | st.builds(
    Preset, name=st.just("any"), fusion=st.sampled_from([*FUSIONS]), weights=ANY_WEIGHTS
)


def fuse(lists, preset, *, depth):
    """What each channel gave to each candidate, by ref."""
    columns = {name: list_candidates((each.ref, each.raw) for each in found) for name, found in lists.items()}
    docs, shares = fusion.fuse(columns, preset, depth=depth)
    judged = dict(zip(docs.tolist(), explain_rows(shares, range(len(docs))), strict=True))
    if shares:
        assert dict(zip(judged, add_up(shares), strict=True)) == scores(judged)
    return judged


def scores(judged):
    return {ref: Explanation(preset="any", contributions=shares).score for ref, shares in judged.items()}


def of(judged, ref, channel):
    """What one channel gave to one candidate, None where it gave nothing."""
    return next((share for share in judged[ref] if share.channel == channel), None)


@given(ALL_RANKED, ANY)
def test_whichever_channel_answered_first_the_result_is_the_same(lists, preset):
    orders = [*permutations(lists.items())][::97]
    judged = [fuse(dict(order), preset, depth=LIMIT) for order in orders]
    assert all(each == judged[0] for each in judged)


@given(ALL_RANKED, ANY)
def test_every_candidate_of_a_weighed_list_is_judged_and_no_other(lists, preset):
    judged = fuse(lists, preset, depth=LIMIT)
    assert set(judged) == {each.ref for channel in preset.weights for each in lists.get(channel, ())}


@given(ALL_RANKED, ANY)
def test_contributions_stand_in_the_order_of_the_preset_once_for_each_channel(lists, preset):
    for shares in fuse(lists, preset, depth=LIMIT).values():
        channels = [share.channel for share in shares]
        assert channels == [channel for channel in preset.weights if channel in channels]
        assert len(set(channels)) == len(channels)


@given(ALL_RANKED, ANY)
def test_the_contributions_add_up_to_the_score_exactly(lists, preset):
    judged = fuse(lists, preset, depth=LIMIT)
    for ref, score in scores(judged).items():
        assert score == math.fsum(share.value for share in judged[ref])


@given(ALL_RANKED, ANY)
def test_nothing_given_is_changed(lists, preset):
    before = {channel: list(found) for channel, found in lists.items()}
    fuse(lists, preset, depth=LIMIT)
    assert lists == before


@given(RANKED)
def test_by_value_a_channel_gives_its_raw_value_times_its_weight_keywords_relative_to_the_best(lists):
    judged = fuse(lists, ENGRAIN, depth=LIMIT)
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
    for ref, score in scores(fuse(lists, HYBRID, depth=LIMIT)).items():
        semantic, keyword = ranks["vector"].get(ref, LIMIT + 1), ranks["keyword"].get(ref, LIMIT + 1)
        assert score == pytest.approx(1 / (60 + semantic) + 1 / (60 + keyword), abs=1e-15)


@given(RANKED)
def test_what_two_lists_hold_stands_above_what_comes_as_high_in_one_alone(lists):
    judged = fuse(lists, HYBRID, depth=LIMIT)
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
    with_stranger = {**lists, "entity": [Candidate(100 + extra, 1.0)]}
    assert fuse(with_stranger, ENGRAIN, depth=LIMIT) == fuse(lists, ENGRAIN, depth=LIMIT)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("lists", [{}, {"vector": []}, {"vector": [], "keyword": []}], ids=["none", "one", "two"])
def test_empty_lists_judge_nobody(preset, lists):
    assert fuse(lists, preset, depth=LIMIT) == {}


def test_keywords_that_all_count_nothing_give_nothing():
    judged = fuse({"keyword": [Candidate(2, 0.0), Candidate(1, 0.0)]}, ENGRAIN, depth=LIMIT)
    assert scores(judged) == {2: 0.0, 1: 0.0}


def test_a_channel_that_could_not_be_asked_takes_nothing_from_the_others():
    keyword = [Candidate(2, 4.0), Candidate(1, 1.0)]
    assert scores(fuse({"keyword": keyword}, ENGRAIN, depth=LIMIT)) == {2: 0.5, 1: 0.125}
    assert scores(fuse({"keyword": keyword}, HYBRID, depth=LIMIT)) == {2: 1 / 61, 1: 1 / 62}
    assert scores(fuse({"keyword": keyword}, ASSISTANT, depth=LIMIT)) == {2: 1 / 61, 1: 1 / 62}


def test_the_constant_is_that_of_the_paper():
    assert RRF_K == 60


# Two lists of three, cut at three: 1 is first and second, 2 second alone, 3 third and first, 4 third of the other.
LISTS = {
    "vector": [Candidate(1, 0.9), Candidate(2, 0.8), Candidate(3, 0.7)],
    "keyword": [Candidate(3, 8.0), Candidate(1, 6.0), Candidate(4, 2.0)],
}


@pytest.mark.req("B07.3")
def test_hybrid_by_hand():
    found = scores(fuse(LISTS, HYBRID, depth=3))
    assert found == {
        1: pytest.approx(1 / 61 + 1 / 62),
        2: pytest.approx(1 / 62 + 1 / 64),  # absent from the other list: limit + 1
        3: pytest.approx(1 / 63 + 1 / 61),
        4: pytest.approx(1 / 64 + 1 / 63),
    }


@pytest.mark.req("Y16")
def test_assistant_by_hand():
    entity = [Candidate(4, 1.0), Candidate(1, 0.5)]
    assert scores(fuse({**LISTS, "entity": entity}, ASSISTANT, depth=150)) == {
        1: pytest.approx(1 / 61 + 1 / 62 + 1 / 62),
        2: pytest.approx(1 / 62),  # what a list does not hold gets nothing from it
        3: pytest.approx(1 / 63 + 1 / 61),
        4: pytest.approx(1 / 63 + 1 / 61),
    }


@pytest.mark.req("B08.1")
def test_relevance_is_the_reciprocal_ranks_over_the_best_possible():
    found = scores(fuse(LISTS, RECALL, depth=3))
    best = 2 / 61
    assert found == {
        1: pytest.approx(0.4 * (1 / 61 + 1 / 62) / best),
        2: pytest.approx(0.4 * (1 / 62 + 1 / 64) / best),
        3: pytest.approx(0.4 * (1 / 63 + 1 / 61) / best),
        4: pytest.approx(0.4 * (1 / 64 + 1 / 63) / best),
    }


@given(RANKED)
def test_relevance_is_at_most_its_weight_whichever_lists_could_be_asked(lists):
    for asked in (lists, {"keyword": lists["keyword"]}):
        assert all(0 < score <= 0.4 + 1e-12 for score in scores(fuse(asked, RECALL, depth=LIMIT)).values())
    first = [Candidate(1, 0.5)]
    assert scores(fuse({"vector": first, "keyword": first}, RECALL, depth=LIMIT)) == {1: pytest.approx(0.4)}
    assert scores(fuse({"keyword": first}, RECALL, depth=LIMIT)) == {1: pytest.approx(0.4)}


@pytest.mark.req("G08")
def test_weighted_by_hand():
    """Two hits are asked for, so six candidates of each."""
    assert WEIGHTED.depth_for(2) == 6
    lists = {
        "newest": [Candidate(1, 1.7e9), Candidate(2, 1.6e9), Candidate(3, 1.5e9)],
        "vector": [Candidate(3, 0.9), Candidate(4, 0.4)],
        "important": [Candidate(4, 10.0), Candidate(1, 5.0)],
    }
    assert scores(fuse(lists, WEIGHTED, depth=6)) == {
        1: pytest.approx(0.3 * (1 - 0 / 6) + 0.2 * 5 / 10),
        2: pytest.approx(0.3 * (1 - 1 / 6)),
        3: pytest.approx(0.3 * (1 - 2 / 6) + 0.5 * 0.9),
        4: pytest.approx(0.5 * 0.4 + 0.2 * 10 / 10),
    }


@pytest.mark.req("C09")
def test_notes_by_hand():
    keyword = [Candidate(1, 9.0), Candidate(2, 5.0), Candidate(3, 1.0), Candidate(4, 0.5)]
    tfidf = [Candidate(3, 0.8), Candidate(1, 0.5), Candidate(2, 0.0), Candidate(4, 0.0)]
    assert scores(fuse({"keyword": keyword, "tfidf": tfidf}, NOTES, depth=150)) == {
        1: pytest.approx(0.4 * 1.0 + 0.6 * 0.5),
        2: pytest.approx(0.4 * 0.75),
        3: pytest.approx(0.4 * 0.5 + 0.6 * 0.8),
        4: pytest.approx(0.4 * 0.25),
    }
    # The question's vector is zero: the rank alone.
    assert scores(fuse({"keyword": keyword, "tfidf": []}, NOTES, depth=150)) == {1: 1.0, 2: 0.75, 3: 0.5, 4: 0.25}
