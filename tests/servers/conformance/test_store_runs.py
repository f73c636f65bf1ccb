"""A run claims what waits, alone; carries a plan out whole or not at all; or gives it up, to be tried again later."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import CONSOLIDATION_STATUSES, Caller
from engrain.domain.requests import Act
from engrain.domain.runs.batches import age_order, choose_batch
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE, Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import WORKER_GONE, AgentBacklog, Claim, PendingSession
from engrain.errors import InvalidInput
from tests.support.sample_records import CALLER, NOON, act, episode, fact, rule
from tests.support.store_samples import conversation, keyword, put

NIGHT = NOON + timedelta(days=1)
LATER = NIGHT + timedelta(seconds=30)
OVER = NIGHT + timedelta(seconds=61)
BEN = Caller(agent="ben")
LEASE_S = 60.0


def ask(**changes):
    return Claim(**{"kind": "consolidation", "worker": "one", "lease_s": LEASE_S, **changes})


def claim(store, *, caller=CALLER, at=NIGHT, **changes):
    return store.claim(Act(caller=caller, at=at), ask(**changes))


def ids(memories):
    return [memory.id for memory in memories]


def plan(batch, *actions):
    return Plan(episode_ids=tuple(ids(batch.episodes)), actions=actions)


def carry_out(store, batch, *actions, caller=CALLER, at=LATER):
    return store.carry_out(Act(caller=caller, at=at), batch.run.id, plan(batch, *actions), {"said": "done"})


def learned(store, *actions, at=NIGHT):
    """All that waits, claimed and carried out; the run's id and what came of each action."""
    batch = claim(store, at=at)
    return batch.run.id, carry_out(store, batch, *actions, at=at + timedelta(seconds=30))


def new(memory, *sources, **changes):
    kind = "new_fact" if memory.kind == "fact" else "new_rule"
    return Action(kind=kind, memory=memory, sources=tuple(ids(sources)), **changes)


def confirmed(memory):
    return Action(kind="confirmation", target_id=memory.id)


def told(store, **asked):
    return [event.event_type for event in reversed(store.events(CALLER, **asked))]


@pytest.mark.req("N03")
@settings(max_examples=40)
@given(
    st.lists(
        st.builds(
            episode,
            created_at=st.integers(-3, 0).map(lambda hours: NOON + timedelta(hours=hours)),
            event_time=st.integers(0, 2).map(lambda hours: NOON + timedelta(hours=hours)),
            content=st.sampled_from(["My cello.", "A cello?", "The tram to Sintra.", "A tram."]),
            expires_at=st.none() | st.sampled_from([NIGHT - timedelta(hours=1), NIGHT, NIGHT + timedelta(hours=1)]),
            consolidation_status=st.sampled_from(CONSOLIDATION_STATUSES) | st.just("pending"),
            consolidation_attempts=st.integers(0, 2),
            next_consolidation_retry_at=st.none() | st.sampled_from([NIGHT, NIGHT + timedelta(seconds=1)]),
            session=st.none() | st.sampled_from(["monday", "friday"]),
            agent=st.sampled_from(["aide", "aide", "ben"]),
            scope=st.just("aide"),
        ),
        max_size=9,
    ),
    st.integers(1, 4),
    st.sampled_from([{}, {"sessions": ("monday",)}, {"exclude_sessions": ("monday",)}, {"halves_retries": True}]),
)
def test_what_is_claimed_is_a_batch_of_those_that_wait_with_as_many_attempts_as_the_oldest(
    backend, episodes, limit, asked
):
    with backend.fresh() as store:
        stored = put(store, episodes) if episodes else []
        due = [
            each
            for each in stored
            if each.agent == "aide"
            and each.consolidation_status == "pending"
            and each.is_live(NIGHT)
            and (each.next_consolidation_retry_at or NIGHT) <= NIGHT
            and (not asked.get("sessions") or each.session == "monday")
            and (not asked.get("exclude_sessions") or each.session != "monday")
        ]
        attempts = min(due, key=age_order).consolidation_attempts if due else 0
        most = max(1, limit >> attempts) if asked.get("halves_retries") else limit
        expected = ids(choose_batch([each for each in due if each.consolidation_attempts == attempts], most))
        batch = claim(store, limit=limit, **asked)
        assert ([] if batch is None else ids(batch.episodes)) == expected
        if batch is not None:
            assert batch.run.episode_ids == tuple(expected)
            assert batch.run.lease_until == NIGHT + timedelta(seconds=LEASE_S)
            assert store.runs(CALLER) == [batch.run]


@pytest.mark.req("N03")
def test_backlogs_are_agents_with_work_by_tenant_then_agent_with_the_pools_it_lies_in(store):
    team = Caller(agent="aide", pools=("team",))
    put(store, conversation("One.", "Two."))
    put(store, [episode("Three.", session="friday")])
    put(store, [episode("Four.", scope="pool:team", session="monday")], by=team)
    put(store, [episode(agent="ben", scope="ben"), episode(agent="ben", scope="ben", consolidation_status="failed")])
    put(store, [episode(tenant_id="other", agent="aide")])
    put(store, [episode(agent="zoe", scope="zoe", expires_at=NIGHT)])
    mine = AgentBacklog(tenant_id="default", agent="aide", pools=("team",), episodes=4, sessions=3)
    bens = AgentBacklog(tenant_id="default", agent="ben", episodes=1, sessions=0)
    others = AgentBacklog(tenant_id="other", agent="aide", episodes=1, sessions=0)
    assert store.backlogs(NIGHT) == [mine, bens, others]
    assert store.backlogs(NIGHT, tenant_id="default") == [mine, bens]
    batch = claim(store, caller=team)
    assert len(batch.episodes) == 4
    leased = replace(mine, leased_until=batch.run.lease_until)
    assert store.backlogs(NIGHT) == [leased, bens, others]  # somebody is at work
    assert store.backlogs(OVER) == [mine, bens, others]


def test_one_run_of_a_kind_is_running_for_an_agent(store):
    put(store, [episode(), episode(agent="ben", scope="global")], by=CALLER)
    first = claim(store, limit=1)
    assert claim(store, worker="two") is None
    assert claim(store, kind="reflection") is not None
    assert claim(store, kind="reflection") is None
    assert claim(store, kind="summary").episodes == ()
    bens = claim(store, caller=BEN)
    assert [each.agent for each in bens.episodes] == ["ben"]
    assert store.runs(BEN) == [bens.run]
    assert store.runs(CALLER, kind="consolidation") == [first.run]
    assert len(store.runs(CALLER)) == 3
    assert store.runs(CALLER, limit=0) == []


def test_a_run_whose_lease_is_over_is_taken_over_and_can_write_no_more(store):
    put(store, conversation("One.", "Two."))
    first = claim(store, worker="one")
    second = claim(store, worker="two", at=OVER)
    assert ids(second.episodes) == ids(first.episodes)
    before = store.events(CALLER)
    assert carry_out(store, first, new(fact())) is None
    assert store.give_up(act(OVER), first.run.id, "too late", Retry()) is None
    assert not store.renew(act(OVER), first.run.id, LEASE_S)
    assert store.events(CALLER) == before
    runs = {run.worker: run for run in store.runs(CALLER)}
    assert (runs["one"].status, runs["one"].finished_at) == ("abandoned", OVER)
    assert runs["two"] == second.run
    assert [done.error for done in carry_out(store, second, new(fact()))] == [None]
    assert carry_out(store, second, new(fact())) is None


@pytest.mark.req("N15")
def test_an_episode_that_kills_its_workers_is_given_up_after_its_attempts(store):
    """Out of memory, or a fault of a library in C: nobody is left who could say that an attempt failed."""
    deadly, *others = put(store, conversation("One.", "Two."))
    retry = Retry(max_attempts=3)
    at, claimed = NIGHT, []
    while (batch := claim(store, at=at, sessions=("monday",), retry=retry, limit=1)) is not None:
        claimed.append(ids(batch.episodes))
        if batch.episodes[0].id != deadly.id:
            carry_out(store, batch, at=at)
        else:
            assert batch.episodes[0].consolidation_attempts == len(claimed) - 1
        at += timedelta(seconds=LEASE_S)
    assert claimed == [[deadly.id]] * 3 + [ids(others)]
    [given_up] = store.get(CALLER, [deadly.id])
    assert (given_up.consolidation_status, given_up.consolidation_attempts) == ("dead_letter", 3)
    assert given_up.last_consolidation_error == WORKER_GONE
    assert [each.status for each in reversed(store.runs(CALLER))] == ["abandoned"] * 3 + ["done"]
    assert [each.error for each in store.runs(CALLER)] == [None] + [WORKER_GONE] * 3
    assert told(store, memory_id=deadly.id) == ["episode_created", *["episode_consolidation_failed"] * 3]
    assert (store.backlogs(at), store.is_session_consolidated(CALLER, "monday", at)) == ([], True)
    assert store.stats(CALLER, at).episodes.given_up == 1


@pytest.mark.req("N15")
def test_what_killed_its_workers_can_be_tried_once_more_by_hand(store):
    [deadly] = put(store, [episode(session="monday")])
    claim(store, retry=Retry(max_attempts=1))
    assert claim(store, at=OVER, retry=Retry(max_attempts=1)) is None
    [last] = store.runs(CALLER)
    assert store.get(CALLER, [deadly.id])[0].consolidation_status == "dead_letter"
    undone = store.undo(act(OVER), last.id)
    assert [(each.memory_id, each.what) for each in undone.restored] == [(deadly.id, "episode_reopened")]
    assert store.get(CALLER, [deadly.id]) == [deadly]
    again = claim(store, at=OVER)
    assert ids(again.episodes) == [deadly.id]
    assert carry_out(store, again, at=OVER) == []


def test_a_lease_that_is_over_and_that_nobody_took_over_still_counts(store):
    [turn] = put(store, [episode()])
    batch = claim(store)
    assert carry_out(store, batch, at=OVER) == []
    assert store.runs(CALLER)[0].status == "done"
    assert store.get(CALLER, [turn.id])[0].consolidation_attempts == 0


def test_a_lease_is_renewed_by_who_runs_alone(store):
    put(store, [episode()])
    batch = claim(store)
    assert store.renew(act(LATER), batch.run.id, LEASE_S)
    assert not store.renew(Act(caller=BEN, at=LATER), batch.run.id, LEASE_S)
    assert not store.renew(Act(caller=replace(CALLER, tenant_id="other"), at=LATER), batch.run.id, LEASE_S)
    assert claim(store, at=OVER) is None
    assert claim(store, at=LATER + timedelta(seconds=LEASE_S)) is not None


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"lease_s": 0.0}, {"lease_s": -1.0}])
def test_a_claim_of_nothing_or_for_no_time_is_refused(store, wrong):
    put(store, [episode()])
    with pytest.raises(InvalidInput):
        claim(store, **wrong)
    assert store.runs(CALLER) == []


@pytest.mark.req("B14.1", "B14.3")
def test_what_is_learned_is_put_and_linked_to_all_it_comes_from(store):
    first, second = put(store, conversation("I moved to Lisbon.", "I always ask first."))
    [known] = put(store, [fact("Porto", predicate="was born in")])
    lisbon, asks = fact(created_at=LATER, source_episode_id=first.id), rule("Ask zebras first.", created_at=LATER)
    run_id, done = learned(store, new(lisbon, first, second, known), new(asks, second, second))
    assert [(each.kind, each.memory_id, each.error) for each in done] == [
        ("new_fact", lisbon.id, None),
        ("new_rule", asks.id, None),
    ]
    assert store.get(CALLER, [lisbon.id, asks.id]) == [lisbon, asks]
    assert asks.id in keyword(store, "zebra")
    links = store.links(CALLER, lisbon.id)
    assert {(each.target_id, each.relation, each.weight) for each in links} == {
        (id_, "derived_from", 1.0) for id_ in ids([first, second, known])
    }
    assert [each.target_id for each in store.links(CALLER, asks.id)] == [second.id]
    assert [each.consolidation_status for each in store.get(CALLER, ids([first, second]))] == ["consolidated"] * 2
    [run] = store.runs(CALLER)
    assert (run.id, run.status, run.finished_at, run.report) == (run_id, "done", LATER, {"said": "done"})
    part = [event for event in reversed(store.events(CALLER)) if event.run_id == run_id]
    learning = "fact_created link_created link_created link_created rule_created link_created"
    expected = f"run_started {learning} episode_consolidated episode_consolidated run_done"
    assert [event.event_type for event in part] == expected.split()
    assert store.health().problems == ()


@pytest.mark.req("B14.2")
def test_an_update_takes_the_place_of_its_target_wherever_that_stands(store):
    put(store, [episode()])
    porto, tea = put(store, [fact("Porto"), fact("tea", predicate="likes")])
    lisbon = fact("Lisbon", created_at=LATER)
    coffee = fact("coffee", predicate="drinks", created_at=LATER)
    _, done = learned(
        store,
        Action(kind="updated_fact", memory=lisbon, target_id=porto.id),
        Action(kind="updated_fact", memory=coffee, target_id=tea.id),
        Action(kind="updated_fact", memory=fact(), target_id=tea.id),
    )
    assert [each.error is None for each in done] == [True, True, False]
    for old, young in ((porto, lisbon), (tea, coffee)):
        now, theirs = store.get(CALLER, [old.id, young.id])
        assert (now.validity, now.invalidated_at, now.valid_to) == ("superseded", LATER, LATER)
        assert (theirs.validity, theirs.supersedes_id) == ("active", old.id)
        assert [(each.target_id, each.relation) for each in store.links(CALLER, young.id)] == [(old.id, "supersedes")]


@pytest.mark.req("B14.4")
def test_an_action_that_fails_leaves_nothing_and_stops_no_other(store):
    first, second = put(store, conversation("One.", "Two."))
    [held] = put(store, [rule("Held.")])
    hidden = fact("hidden", scope="ben", agent="ben")
    put(store, [hidden])
    good = [fact(str(place), predicate=str(place), created_at=LATER) for place in range(2)]
    bad = [
        new(fact("zebra", predicate="a"), first, hidden),
        new(fact("zebra", predicate="b"), first, doubts=(hidden.id,)),
        new(fact("zebra", predicate="c", source_episode_id="nobody")),
        new(fact("zebra", predicate="d", scope="ben")),
        new(fact("zebra", predicate="e", entity_id="nobody")),
        new(rule("zebra"), first, doubts=(held.id,)),
        new(fact("zebra", predicate="h", importance=None), first),  # which the database refuses
        Action(kind="new_fact"),
        Action(kind="updated_fact", memory=fact("zebra", predicate="f")),
        Action(kind="updated_fact", memory=fact("zebra", predicate="g"), target_id=held.id),
        Action(kind="confirmation"),
        confirmed(first),
        confirmed(hidden),
    ]
    actions = [new(good[0], first), *bad, confirmed(held), new(good[1], second)]
    _, done = learned(store, *actions)
    assert [each.error is None for each in done] == [True, *[False] * len(bad), True, True]
    assert all(each.memory_id is None for each in done[1:-2])
    assert store.get(CALLER, [each.memory.id for each in bad if each.memory]) == []
    assert keyword(store, "zebra") == {}
    assert store.get(CALLER, ids(good)) == good
    assert store.get(CALLER, [held.id])[0].last_confirmed_at == LATER
    assert [each.consolidation_status for each in store.get(CALLER, ids([first, second]))] == ["consolidated"] * 2
    assert {each.source_id for each in store.links(CALLER, first.id)} == {good[0].id}
    assert store.health().problems == ()


def test_a_doubted_fact_is_worth_less_and_one_no_longer_believed_stays_as_it_is(store):
    put(store, [episode()])
    sure, unsure = put(store, [fact("Porto"), fact("tea", predicate="likes", confidence=0.1)])
    [gone] = put(store, [fact("gone", predicate="was")])
    store.forget(act(), gone.id)
    lisbon = fact("Lisbon", predicate="commutes to", created_at=LATER)
    run_id, [done] = learned(store, new(lisbon, doubts=tuple(ids([sure, unsure, gone]))))
    assert done.error is None
    assert [each.confidence for each in store.get(CALLER, ids([sure, unsure, gone]))] == [DOUBTED_CONFIDENCE, 0.1, 1.0]
    assert {each.target_id for each in store.links(CALLER, lisbon.id, relation="supersedes")} == {sure.id, unsure.id}
    [event] = store.events(CALLER, memory_id=sure.id, event_type="fact_doubted")
    assert (event.run_id, event.payload["confidence"]) == (run_id, [1.0, DOUBTED_CONFIDENCE])


@pytest.mark.req("Y10")
def test_one_fact_casts_doubt_on_another_outside_of_a_run(store):
    sure, other = put(store, [fact("Porto"), fact("Lisbon", predicate="commutes to")])
    [gone] = put(store, [fact("gone", predicate="was")])
    store.forget(act(), gone.id)
    doubted = store.doubt(act(LATER), sure.id, other.id)
    assert doubted == replace(sure, confidence=DOUBTED_CONFIDENCE) == store.get(CALLER, [sure.id])[0]
    assert store.doubt(act(LATER), sure.id, other.id) == doubted
    assert [(each.source_id, each.target_id) for each in store.links(CALLER, sure.id, relation="supersedes")] == [
        (other.id, sure.id)
    ]
    event = store.events(CALLER, memory_id=sure.id, event_type="fact_doubted")[-1]
    assert event.payload == {"confidence": [1.0, DOUBTED_CONFIDENCE], "by": other.id, "linked": True}
    assert store.doubt(act(LATER), gone.id, other.id).confidence == 1


def test_only_facts_that_the_caller_sees_cast_doubt_on_facts(store):
    [known], [habit] = put(store, [fact()]), put(store, [rule()])
    [hidden] = store.put(Act(caller=BEN, at=NOON), [fact(agent="ben", scope="ben")])
    for id_, by_id in ((known.id, hidden.id), (hidden.id, known.id), (known.id, "nobody")):
        assert store.doubt(act(), id_, by_id) is None
    for id_, by_id in ((known.id, habit.id), (habit.id, known.id), (known.id, known.id)):
        with pytest.raises(InvalidInput):
            store.doubt(act(), id_, by_id)
    assert store.get(CALLER, [known.id]) == [known]
    assert store.get(BEN, [hidden.id]) == [hidden]
    assert store.links(CALLER, known.id) == []


@pytest.mark.req("N16")
def test_what_is_known_by_its_id_already_adds_nothing(store):
    first, second = put(store, conversation("One.", "Two."))
    [known] = put(store, [fact()])
    again = replace(known, content="Other words.")
    _, done = learned(store, new(again, first), new(again, second))
    assert [(each.memory_id, each.error) for each in done] == [(known.id, None)] * 2
    assert store.get(CALLER, [known.id]) == [known]
    assert store.links(CALLER, known.id) == []


def test_only_episodes_that_the_run_claimed_are_consolidated(store):
    first, second = put(store, conversation("One.", "Two."))
    [bens] = put(store, [episode(agent="ben", scope="global")], by=CALLER)
    batch = claim(store, limit=1)
    asked = Plan(episode_ids=(first.id, second.id, bens.id, "nobody"))
    assert store.carry_out(act(LATER), batch.run.id, asked, {}) == []
    statuses = [each.consolidation_status for each in store.get(CALLER, ids([first, second, bens]))]
    assert statuses == ["consolidated", "pending", "pending"]


def test_what_a_plan_does_not_name_waits_on(store):
    put(store, conversation("One.", "Two."))
    batch = claim(store)
    store.carry_out(act(LATER), batch.run.id, Plan(episode_ids=(batch.episodes[0].id,)), {})
    assert ids(claim(store, at=LATER).episodes) == [batch.episodes[1].id]


@pytest.mark.req("Y05")
def test_a_session_waits_while_any_of_its_episodes_does(store):
    team = Caller(agent="aide", pools=("team",))
    hour = timedelta(hours=1)
    put(store, conversation("One.", "Two."))
    put(store, [episode("Early.", session="friday", created_at=NOON - hour)])
    put(store, [episode("Alone."), episode("Old.", session="old", expires_at=NIGHT)])
    put(store, [episode("Ours.", scope="pool:team", session="monday", created_at=NOON - 2 * hour)], by=team)
    friday = PendingSession(session="friday", first_seen_at=NOON - hour, episodes=1)
    monday = PendingSession(session="monday", first_seen_at=NOON, episodes=2)
    assert store.pending_sessions(CALLER, NIGHT) == [friday, monday]
    assert store.pending_sessions(CALLER, NIGHT, most=1) == [friday]
    ours = replace(monday, first_seen_at=NOON - 2 * hour, episodes=3)
    assert store.pending_sessions(team, NIGHT) == [ours, friday]
    assert store.pending_sessions(CALLER, NIGHT, exclude=["friday"]) == [monday]
    assert store.pending_sessions(BEN, NIGHT) == []
    assert not store.is_session_consolidated(CALLER, "monday", NIGHT)
    assert store.is_session_consolidated(CALLER, "old", NIGHT)
    assert not store.is_session_consolidated(CALLER, "never", NIGHT)
    batch = claim(store, sessions=("monday",), limit=1)
    carry_out(store, batch)
    assert store.pending_sessions(CALLER, NIGHT, exclude=["friday"]) == [replace(monday, episodes=1)]
    carry_out(store, claim(store, sessions=("monday",), at=LATER))
    assert store.pending_sessions(CALLER, NIGHT) == [friday]
    assert store.is_session_consolidated(CALLER, "monday", NIGHT)
    assert not store.is_session_consolidated(team, "monday", NIGHT)
    put(store, [episode("Three.", session="monday")])
    assert not store.is_session_consolidated(CALLER, "monday", NIGHT)


@pytest.mark.req("N15")
def test_an_episode_is_tried_again_later_each_time_until_its_attempts_are_used_up(store):
    [only] = put(store, [episode()])
    retry = Retry(max_attempts=4, first_pause_s=60, longest_pause_s=100)
    at, pauses = NIGHT, []
    for attempt in range(1, 5):
        batch = claim(store, at=at)
        run = store.give_up(act(at), batch.run.id, f"broken {attempt}", retry)
        assert (run.status, run.error, run.finished_at) == ("failed", f"broken {attempt}", at)
        assert store.runs(CALLER, limit=1) == [run]
        [now] = store.get(CALLER, [only.id])
        assert (now.consolidation_attempts, now.last_consolidation_error) == (attempt, f"broken {attempt}")
        if now.next_consolidation_retry_at is not None:
            assert now.consolidation_status == "pending"
            pauses.append((now.next_consolidation_retry_at - at).total_seconds())
            assert claim(store, at=now.next_consolidation_retry_at - timedelta(seconds=1)) is None
            at = now.next_consolidation_retry_at
    assert pauses == [60, 100, 100]
    assert now.consolidation_status == "dead_letter"
    assert claim(store, at=at + timedelta(days=400)) is None
    assert store.backlogs(at + timedelta(days=400)) == []
    assert told(store, memory_id=only.id) == ["episode_created", *["episode_consolidation_failed"] * 4]


@pytest.mark.req("N15")
def test_a_failure_that_is_final_is_tried_once(store):
    [only] = put(store, [episode(session="monday")])
    batch = claim(store)
    store.give_up(act(LATER), batch.run.id, "refused", Retry(is_final=True))
    [now] = store.get(CALLER, [only.id])
    assert (now.consolidation_status, now.consolidation_attempts) == ("failed", 1)
    assert now.next_consolidation_retry_at is None
    assert store.pending_sessions(CALLER, LATER) == []


def test_one_that_fails_again_and_again_takes_no_fresh_ones_with_it(store):
    [bad] = put(store, [episode("Bad.")])
    store.give_up(act(NIGHT), claim(store).run.id, "broken", Retry(first_pause_s=1))
    fresh = put(store, [episode("Good.", created_at=NOON + timedelta(minutes=place)) for place in (1, 2)])
    assert ids(claim(store, at=LATER).episodes) == [bad.id]
    store.give_up(act(LATER), store.runs(CALLER, limit=1)[0].id, "broken", Retry())
    assert ids(claim(store, at=LATER).episodes) == ids(fresh)
