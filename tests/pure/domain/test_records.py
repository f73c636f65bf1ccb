import json
import math
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.maintenance.stats import Stats
from engrain.domain.memories.statement_times import read_said_at
from engrain.domain.records import (
    CONSOLIDATION_STATUSES,
    DECAY_RATES,
    MATURITIES,
    VALIDITIES,
    Answer,
    Caller,
    Contribution,
    EmbeddingVersion,
    Entity,
    Episode,
    Event,
    Explanation,
    Fact,
    Hit,
    Link,
    Rule,
)
from tests.support.sample_records import (
    EPISODES,
    FACTS,
    MEMORIES,
    MOMENTS,
    NOON,
    RULES,
    entity,
    episode,
    fact,
    link,
    rule,
)

LATER = NOON + timedelta(hours=1)
OTHERS = st.sampled_from(
    [
        entity(aliases=("A.", "Ana R."), metadata={"born": {"year": 1990}}),
        link(episode(), fact(), "supports", weight=0.5),
        Event(
            id="e", tenant_id="default", event_type="x", scope="global", actor="aide", payload={"a": 1}, created_at=NOON
        ),
        EmbeddingVersion(version=1, name="test:one", dims=3, state="active", created_at=NOON, activated_at=LATER),
        Caller(agent="aide", pools=("team",)),
    ]
)

SHARES = st.builds(
    Contribution,
    channel=st.sampled_from(["vector", "keyword", "session", "speaker"]),
    rank=st.none() | st.integers(1, 200),
    raw=st.floats(-1, 30),
    weight=st.floats(0, 2),
    value=st.floats(-2, 2),
)


@given(MEMORIES | OTHERS)
def test_a_record_says_itself_as_json_and_loses_nothing(record):
    plain = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    for computed in ("kind", "state"):
        if computed not in {field.name for field in fields(record)} and hasattr(record, computed):
            assert plain.pop(computed) == getattr(record, computed)
    if hasattr(record, "trust"):
        assert plain.pop("trust") == record.trust
    if isinstance(record, Fact):
        assert (plain.pop("subject_key"), plain.pop("predicate_key")) == record.key[:2]
        assert plain.pop("pending") is record.is_pending
    assert set(plain) == {field.name for field in fields(record)}
    for field in fields(record):
        kept = getattr(record, field.name)
        read = datetime.fromisoformat(plain[field.name]) if isinstance(kept, datetime) else plain[field.name]
        assert read == (list(kept) if isinstance(kept, tuple) else kept)


def test_times_are_written_in_utc_with_a_z():
    assert episode(event_time=NOON).to_dict()["event_time"] == "2024-05-07T12:00:00Z"


def test_an_answer_is_json_with_its_hits_and_reasons():
    why = Explanation(
        preset="engrain", contributions=(Contribution(channel="keyword", rank=1, raw=2, weight=1, value=2),)
    )
    answer = Answer(query="tram", preset="engrain", hits=(Hit(score=2.0, memory=fact(tags=("a",)), why=why),))
    plain = json.loads(json.dumps(answer.to_dict()))
    assert plain["hits"][0]["memory"]["tags"] == ["a"]
    assert plain["hits"][0]["why"]["contributions"][0]["channel"] == "keyword"
    assert plain["degraded"] == []


def test_an_answer_is_the_sequence_of_its_hits():
    why = Explanation(preset="engrain", contributions=())
    hits = tuple(Hit(score=score, memory=fact(), why=why) for score in (3.0, 2.0, 1.0))
    answer = Answer(query="tram", preset="engrain", hits=hits)
    assert len(answer) == 3
    assert tuple(answer) == hits
    assert answer[0] is hits[0]
    assert answer[1:] == hits[1:]
    assert not Answer(query="", preset="engrain")


@pytest.mark.parametrize(
    "record", [episode(), fact(), rule(), Caller(agent="aide")], ids=lambda record: type(record).__name__
)
def test_records_are_frozen(record):
    with pytest.raises(FrozenInstanceError):
        record.agent = "other"


@given(MEMORIES)
def test_equal_records_hash_alike(memory):
    why = Explanation(preset="engrain", contributions=())
    hit = Hit(score=1.0, memory=memory, why=why)
    again = Hit(score=1.0, memory=replace(memory, metadata=dict(memory.metadata)), why=why)
    assert {hit, again} == {hit}
    assert len({memory, replace(memory, metadata={"source": "chat"})}) == 2


def test_an_agent_sees_the_global_scope_itself_and_its_pools():
    assert Caller(agent="aide").scopes == ("global", "aide")
    assert Caller(agent="aide", pools=("team", "home")).scopes == ("global", "aide", "pool:team", "pool:home")


def test_a_fact_happened_when_it_began_to_be_true_or_else_when_it_was_learned():
    began = datetime(2020, 1, 1, tzinfo=UTC)
    assert fact(valid_from=began).happened_at == began
    assert fact(created_at=NOON).happened_at == NOON
    assert episode(event_time=began, created_at=NOON).happened_at == began

    assert rule(created_at=NOON).happened_at == NOON


@pytest.mark.req("N07")
@pytest.mark.parametrize("validity", VALIDITIES)
def test_only_an_active_fact_is_live(validity):
    assert fact(validity=validity).is_live(NOON) == (validity == "active")


@pytest.mark.req("N07")
@pytest.mark.parametrize("validity", VALIDITIES)
def test_a_fact_that_is_active_may_be_fading_and_no_other(validity):
    assert fact(validity=validity).state == validity
    assert fact(validity=validity, metadata={"status": "draft"}).state == validity
    fading = fact(validity=validity, metadata={"status": "fading"})
    assert (fading.state, fading.validity) == ("fading" if validity == "active" else validity, validity)
    assert fading.to_dict()["state"] == fading.state


@pytest.mark.parametrize(
    ("metadata", "is_forgotten"),
    [({}, False), ({"forgotten": True}, True), ({"forgotten": False}, False), ({"forgotten": "true"}, False)],
)
def test_a_rule_is_live_until_it_says_that_it_was_forgotten(metadata, is_forgotten):
    assert rule(metadata=metadata).is_forgotten == is_forgotten
    assert rule(metadata=metadata).is_live(NOON) != is_forgotten


@given(EPISODES, MOMENTS)
def test_an_episode_was_there_from_its_record_to_its_end(memory, at):
    ended = memory.expires_at is not None and memory.expires_at <= at
    assert memory.was_believed(at) == (memory.created_at <= at and not ended)


@given(FACTS | RULES, MOMENTS)
def test_a_fact_or_rule_was_believed_from_its_record_until_somebody_ended_it(memory, at):
    ended = memory.invalidated_at is not None and memory.invalidated_at <= at
    assert memory.was_believed(at) == (memory.created_at <= at and not ended)


@given(MEMORIES, MOMENTS, MOMENTS)
def test_what_is_believed_no_longer_is_not_believed_again(memory, at, later):
    if memory.created_at <= at <= later and not memory.was_believed(at):
        assert not memory.was_believed(later)


def test_one_truth_at_a_time_is_of_one_tenant_scope_person_and_predicate():
    known = [fact(entity_id="e1", subject=subject) for subject in ("Ana", "Ana Reyes")]
    assert known[0].slot == known[1].slot
    different = [
        fact(),
        fact(subject="e1"),
        fact(predicate="likes"),
        fact(scope="aide"),
        fact(tenant_id="other"),
        fact(entity_id="Ana"),
        *known[:1],
    ]
    assert len({fact.slot for fact in different}) == len(different)
    assert fact("Porto", category="x", validity="retracted").slot == fact("Lisbon").slot


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


def defaults(record):
    """What is there though nobody said it."""
    required = {"id", "agent", "content", "created_at"}
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in required}


@pytest.mark.req("B01.1", "N06")
def test_the_defaults_of_an_episode_are_those_of_the_data_model():
    assert defaults(episode()) == {
        "tenant_id": "default",
        "scope": "aide",
        "session": None,
        "turn": 0,
        "role": "user",
        "speaker": None,
        "event_time": NOON,
        "expires_at": None,
        "importance": 5.0,
        "tokens": None,
        "model": None,
        "tool_calls": (),
        "reference_count": 0,
        "last_referenced_at": None,
        "consolidation_status": "pending",
        "consolidation_attempts": 0,
        "last_consolidation_error": None,
        "next_consolidation_retry_at": None,
        "tags": (),
        "metadata": {},
    }


@pytest.mark.req("B01.1", "N06")
def test_an_episode_is_consolidated_in_one_of_its_four_states():
    assert CONSOLIDATION_STATUSES == ("pending", "consolidated", "failed", "dead_letter")
    done = [status for status in CONSOLIDATION_STATUSES if episode(consolidation_status=status).consolidated]
    assert done == ["consolidated"]


@pytest.mark.req("B01.2", "B02.1")
def test_the_defaults_of_a_fact_are_those_of_the_data_model():
    assert defaults(fact()) == {
        "tenant_id": "default",
        "scope": "global",
        "subject": "Ana",
        "predicate": "lives in",
        "entity_id": None,
        "category": "fact",
        "source": None,
        "confidence": 1.0,
        "importance": 5.0,
        "permanence": "standard",
        "decay_rate": 0.008,
        "validity": "active",
        "valid_from": None,
        "valid_to": None,
        "invalidated_at": None,
        "supersedes_id": None,
        "source_episode_id": None,
        "last_confirmed_at": None,
        "reference_count": 0,
        "last_referenced_at": None,
        "tags": (),
        "metadata": {},
    }


@pytest.mark.req("B01.3", "B05.4", "N09")
def test_a_new_rule_is_an_unproven_candidate():
    """0.01 a day: storing a rule overrides the 0.008 that its table would give it."""
    assert defaults(rule()) == {
        "tenant_id": "default",
        "scope": "global",
        "maturity": "candidate",
        "confidence": 0.5,
        "permanence": "standard",
        "decay_rate": 0.01,
        "effectiveness_score": 0.0,
        "applied_count": 0,
        "success_count": 0,
        "harmful_count": 0,
        "source_episode_id": None,
        "invalidated_at": None,
        "last_applied_at": None,
        "last_evaluated_at": None,
        "last_confirmed_at": None,
        "reference_count": 0,
        "last_referenced_at": None,
        "tags": (),
        "metadata": {},
    }
    assert MATURITIES == ("candidate", "established", "proven", "anti_pattern")


@pytest.mark.req("B04.1")
def test_each_permanence_has_its_rate_of_decay_per_day():
    assert DECAY_RATES == {
        "permanent": 0.0,
        "stable": 0.002,
        "standard": 0.008,
        "volatile": 0.03,
        "ephemeral": 0.1,
    }


@pytest.mark.parametrize(
    "record", [Episode, Fact, Rule, Entity, Link, Event, EmbeddingVersion, Answer, Hit, Stats, Caller]
)
def test_records_take_their_values_by_name_alone(record):
    with pytest.raises(TypeError, match="positional"):
        record("value")


@pytest.mark.parametrize(
    ("content", "subject", "lead"),
    [
        ("Lisbon", "Ana", "Ana lives in"),
        ("Ana lives in Lisbon.", "Ana", ""),
        ("ana's home is Lisbon", "Ana", ""),
        ("Lisbon is Ana's home.", "Ana", ""),
        ("Lisbon, as Ana said", "Ana", "Ana lives in"),
        ("Anatolia is far away.", "Ana", "Ana lives in"),
        ("Banana bread is hers.", "Ana", "Ana lives in"),
        ("with Ana.", "Ana", "Ana lives in"),
        ("Ana", "Ana", "Ana lives in"),
        ("Jos\u00e9 mora em Lisboa.", "Jos\u00e9", ""),
    ],
)
def test_a_sentence_about_its_subject_needs_no_words_before_it(content, subject, lead):
    stored = fact(content, subject=subject, predicate="lives in")
    assert stored.statement == (f"{lead}: {content}" if lead else content)


@pytest.mark.parametrize("stored", [None, 7, "soon", {}])
def test_a_fact_that_was_not_learned_was_said_at_no_time(stored):
    assert read_said_at({} if stored is None else {"said_at": stored}) is None
    assert read_said_at({"said_at": "2024-05-07T12:00:00"}) == NOON
