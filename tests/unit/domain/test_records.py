import json
import math
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.records import Answer, Caller, Contribution, Episode, Explanation, Fact, Hit, Stats
from tests.sample_records import MEMORIES, NOON, episode, fact

SHARES = st.builds(
    Contribution,
    channel=st.sampled_from(["vector", "keyword", "session", "speaker"]),
    rank=st.none() | st.integers(1, 200),
    raw=st.floats(-1, 30),
    weight=st.floats(0, 2),
    value=st.floats(-2, 2),
)


@given(MEMORIES)
def test_a_record_says_itself_as_json_and_loses_nothing(memory):
    said = json.loads(json.dumps(memory.to_dict(), allow_nan=False))
    assert said.pop("kind") == memory.kind
    assert set(said) == {each.name for each in fields(memory)}
    for each in fields(memory):
        kept = getattr(memory, each.name)
        read = datetime.fromisoformat(said[each.name]) if isinstance(kept, datetime) else said[each.name]
        assert read == (list(kept) if isinstance(kept, tuple) else kept)


def test_times_are_written_in_utc_with_a_z():
    assert episode(event_time=NOON).to_dict()["event_time"] == "2024-05-07T12:00:00Z"


def test_an_answer_is_json_with_its_hits_and_reasons():
    why = Explanation(
        preset="engrain", contributions=(Contribution(channel="keyword", rank=1, raw=2, weight=1, value=2),)
    )
    answer = Answer(query="tram", preset="engrain", hits=(Hit(score=2.0, memory=fact(tags=("a",)), why=why),))
    said = json.loads(json.dumps(answer.to_dict()))
    assert said["hits"][0]["memory"]["tags"] == ["a"]
    assert said["hits"][0]["why"]["contributions"][0]["channel"] == "keyword"
    assert said["degraded"] == []


def test_an_answer_is_the_sequence_of_its_hits():
    why = Explanation(preset="engrain", contributions=())
    hits = tuple(Hit(score=score, memory=fact(), why=why) for score in (3.0, 2.0, 1.0))
    answer = Answer(query="tram", preset="engrain", hits=hits)
    assert len(answer) == 3
    assert tuple(answer) == hits
    assert answer[0] is hits[0]
    assert answer[1:] == hits[1:]
    assert not Answer(query="", preset="engrain")


@pytest.mark.parametrize("record", [episode(), fact(), Caller(agent="aide")], ids=["episode", "fact", "caller"])
def test_records_are_frozen(record):
    with pytest.raises(FrozenInstanceError):
        record.agent = "other"


@given(MEMORIES)
def test_equal_records_hash_alike(memory):
    why = Explanation(preset="engrain", contributions=())
    told = Hit(score=1.0, memory=memory, why=why)
    again = Hit(score=1.0, memory=replace(memory, metadata={}), why=why)
    assert {told, again} == {told}
    assert len({memory, replace(memory, metadata={"source": "chat"})}) == 2


def test_an_agent_sees_the_global_scope_itself_and_its_pools():
    assert Caller(agent="aide").scopes == ("global", "aide")
    assert Caller(agent="aide", pools=("team", "home")).scopes == ("global", "aide", "pool:team", "pool:home")


def test_a_fact_happened_when_it_began_to_be_true_or_else_when_it_was_learned():
    began = datetime(2020, 1, 1, tzinfo=UTC)
    assert fact(valid_from=began).happened_at == began
    assert fact(created_at=NOON).happened_at == NOON
    assert episode(event_time=began, created_at=NOON).happened_at == began


@pytest.mark.parametrize("validity", ["active", "superseded", "expired", "retracted"])
def test_only_an_active_fact_is_live(validity):
    assert fact(validity=validity).is_live(NOON) == (validity == "active")


@given(st.lists(SHARES, max_size=8))
def test_a_score_is_the_exact_sum_of_what_the_channels_gave_in_any_order(shares):
    score = Explanation(preset="engrain", contributions=tuple(shares)).score
    assert score == math.fsum(share.value for share in shares)
    assert score == Explanation(preset="engrain", contributions=tuple(reversed(shares))).score


def test_an_explanation_prints_each_share_and_the_words_that_matched():
    why = Explanation(
        preset="engrain",
        contributions=(
            Contribution(channel="keyword", rank=1, raw=3.25, weight=0.8, value=0.8),
            Contribution(channel="speaker", rank=None, raw=1.0, weight=0.2, value=0.2),
        ),
        matched_terms=("tram", "late"),
    )
    assert str(why) == "keyword #1 +0.800 (3.250 x 0.8), speaker +0.200 (1.000 x 0.2) [tram late]"


def test_the_defaults_of_a_memory_are_those_of_the_data_model():
    assert (episode().importance, episode().turn, episode().consolidation_status) == (5.0, 0, "pending")
    assert (fact().scope, fact().permanence, fact().decay_rate, fact().validity) == (
        "global",
        "standard",
        0.008,
        "active",
    )


@pytest.mark.parametrize("record", [Episode, Fact, Answer, Hit, Stats, Caller])
def test_records_take_their_values_by_name_alone(record):
    with pytest.raises(TypeError, match="positional"):
        record("value")
