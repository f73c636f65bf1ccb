"""A run that is undone leaves everything as it was before it; but for what somebody has changed since."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE, Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from engrain.errors import InvalidInput, NotFound
from tests.support.sample_records import CALLER, NOON, act, fact, request, rule
from tests.support.store_samples import axis, conversation, embed_all, flush_index, keyword, nearest, put

DAY = timedelta(days=1)
NIGHT, LATER, MORNING = NOON + DAY, NOON + DAY + timedelta(seconds=5), NOON + 2 * DAY
EVERYTHING = {"include_inactive": True, "now": MORNING + DAY}
PLACES = [(subject, predicate) for subject in ("Ana", "Ben") for predicate in ("hums", "holds")]
ASKED = Claim(kind="consolidation", worker="w", lease_s=60)


def home(store):
    """Three turns, a fact in each place but the last, one of them fading, and two rules; all with vectors."""
    turns = put(store, conversation("One bread.", "Two butter.", "Three jam."))
    facts = [
        fact(f"old {subject} {predicate}", subject=subject, predicate=predicate, confidence=0.9, valid_to=valid_to)
        for (subject, predicate), valid_to in zip(PLACES[:3], (None, MORNING, None), strict=True)
    ]
    rules = [rule("Ask."), rule("Wait.")]
    known = put(store, [*facts, *rules])
    store.age(act(NOON + timedelta(hours=1)), facts[2].id, "fading")
    store.age(act(NOON + timedelta(hours=1)), rules[1].id, "fading")
    embed_all(store, {each.id: axis(place % 4) for place, each in enumerate([*turns, *known])})
    return turns, facts, rules


def state(store, made=()):
    """All there is and how it is found, but for what was made, and then taken back."""
    flush_index(store)
    there = {each.id: each for each in store.recent(request(**EVERYTHING), 1_000) if each.id not in made}
    refs = embed_all(store, {})
    return {
        "all": there,
        "live": {each.id for each in store.recent(request(now=MORNING), 1_000)},
        "links": [store.links(CALLER, id_) for id_ in sorted(there)],
        "words": {word: keyword(store, word) for word in ("old", "young", "bread", "hums", "ask")},
        "near": [nearest(store, axis(place), refs) for place in range(4)],
        "sessions": store.pending_sessions(CALLER, MORNING),
        "stats": store.stats(CALLER, MORNING).to_dict()["episodes"],
        "problems": store.health().problems,
    }


@st.composite
def plans(draw):
    """Actions as functions of what is there: facts, rules and turns, and what the actions before have made."""
    return draw(
        st.lists(
            st.tuples(
                st.sampled_from(["new", "new", "update", "rule", "confirm", "confirm rule", "broken"]),
                st.integers(0, 3),  # its place
                st.lists(st.integers(0, 9), max_size=2),  # sources
                st.lists(st.integers(0, 9), max_size=2),  # doubts
                st.integers(0, 9),  # target
                st.sampled_from([None, NOON, NIGHT]),
            ),
            min_size=1,
            max_size=6,
        )
    )


def actions_of(drawn, turns, facts, rules):
    known = [*facts]
    actions = []
    for kind, place, sources, doubts, target, valid_from in drawn:
        subject, predicate = PLACES[place]
        young = fact(f"young {subject}", subject=subject, predicate=predicate, created_at=LATER, valid_from=valid_from)
        everything = [*turns, *known]
        named = {
            "sources": tuple(everything[each % len(everything)].id for each in sources),
            "doubts": tuple(known[each % len(known)].id for each in doubts),
        }
        match kind:
            case "new":
                actions.append(Action(kind="new_fact", memory=young, **named))
                known.append(young)
            case "update":
                target_id = known[target % len(known)].id
                actions.append(Action(kind="updated_fact", memory=young, target_id=target_id, **named))
                known.append(young)
            case "rule":
                guidance = rule("Young guidance.", created_at=LATER)
                actions.append(Action(kind="new_rule", memory=guidance, sources=named["sources"]))
            case "confirm":
                actions.append(Action(kind="confirmation", target_id=known[target % len(known)].id))
            case "confirm rule":
                actions.append(Action(kind="confirmation", target_id=rules[target % 2].id))
            case "broken":
                actions.append(Action(kind="new_fact", memory=young, sources=(*named["sources"], "nobody")))
    return actions


def run(store, turns, actions, *, at=LATER, asked=ASKED):
    batch = store.claim(Act(caller=CALLER, at=at), asked)
    plan = Plan(episode_ids=tuple(each.id for each in turns), actions=tuple(actions))
    return batch.run.id, store.carry_out(Act(caller=CALLER, at=at), batch.run.id, plan, {})


@pytest.mark.req("N15", "N16")
@settings(max_examples=16)
@given(plans(), st.integers(0, 3))
def test_an_undo_puts_everything_back_and_the_same_can_be_learned_again(backend, drawn, most):
    with backend.fresh() as store:
        turns, facts, rules = home(store)
        before = state(store)
        actions = actions_of(drawn, turns, facts, rules)
        run_id, done = run(store, turns[:most], actions)
        made = {each.memory.id for each in actions if each.memory is not None}
        after = state(store)
        undone = store.undo(act(MORNING), run_id)
        assert undone.kept == ()
        assert (undone.run.status, undone.run.finished_at) == ("undone", MORNING)
        assert store.runs(CALLER) == [undone.run]
        assert state(store, made) == before
        told = [each for each in store.events(CALLER) if each.created_at == MORNING]
        assert {each.run_id for each in told} == {run_id}
        of_memories = Counter((each.memory_id, each.what) for each in undone.restored)
        events = Counter((each.memory_id, each.event_type) for each in told)
        assert events - of_memories == Counter(
            {**{key: n for key, n in events.items() if key[1] == "link_removed"}, (run_id, "run_undone"): 1}
        )
        _, again = run(store, turns[:most], actions, at=MORNING)
        assert [each.error is None for each in again] == [each.error is None for each in done]
        assert len(state(store)["live"]) == len(after["live"])


def young(**changes):
    return fact("young", **{"subject": "Ana", "predicate": "hums", "created_at": LATER, **changes})


def new(memory, **named):
    return Action(kind="new_fact" if memory.kind == "fact" else "new_rule", memory=memory, **named)


def kept(undone):
    return {each.memory_id for each in undone.kept}


def test_what_somebody_confirmed_since_is_kept_with_all_that_hangs_off_it(store):
    turns, [likes, has, _], _ = home(store)
    mine = young()
    run_id, _ = run(store, turns, [new(mine, sources=(turns[0].id,), doubts=(has.id,))])
    links = store.links(CALLER, mine.id)
    store.confirm(act(MORNING - timedelta(hours=1)), mine.id)
    undone = store.undo(act(MORNING), run_id)
    assert kept(undone) == {mine.id, likes.id, has.id}
    stays, old, doubted = store.get(CALLER, [mine.id, likes.id, has.id])
    assert (stays.validity, old.validity, doubted.confidence) == ("active", "superseded", DOUBTED_CONFIDENCE)
    assert store.links(CALLER, mine.id) == links
    assert [each.consolidation_status for each in store.get(CALLER, [each.id for each in turns])] == ["pending"] * 3


def test_what_stands_in_another_place_and_was_confirmed_since_keeps_what_it_updated_closed(store):
    turns, [likes, *_], _ = home(store)
    mine = young(predicate="prefers")
    run_id, _ = run(store, turns, [Action(kind="updated_fact", memory=mine, target_id=likes.id)])
    store.confirm(act(MORNING), mine.id)
    assert kept(store.undo(act(MORNING), run_id)) == {mine.id, likes.id}
    assert [each.validity for each in store.get(CALLER, [mine.id, likes.id])] == ["active", "superseded"]


def test_what_somebody_put_in_its_place_since_is_kept(store):
    turns, [likes, *_], _ = home(store)
    mine, theirs = young(), fact("theirs", subject="Ana", predicate="hums", created_at=MORNING)
    run_id, _ = run(store, turns, [new(mine)])
    put(store, [theirs])
    undone = store.undo(act(MORNING), run_id)
    assert kept(undone) == {mine.id, likes.id}
    validities = [each.validity for each in store.get(CALLER, [likes.id, mine.id, theirs.id])]
    assert validities == ["superseded", "superseded", "active"]


def test_what_somebody_withdrew_since_stays_so_and_what_it_superseded_comes_back(store):
    turns, [likes, has, _], rules = home(store)
    mine, guidance = young(), rule("Young.", created_at=LATER)
    run_id, _ = run(store, turns, [new(mine, doubts=(has.id,)), new(guidance)])
    store.forget(act(MORNING - DAY / 2), mine.id)
    store.forget(act(MORNING - DAY / 2), guidance.id)
    undone = store.undo(act(MORNING), run_id)
    assert kept(undone) == {mine.id, guidance.id}
    withdrawn, old, doubted = store.get(CALLER, [mine.id, likes.id, has.id])
    assert withdrawn.invalidated_at == MORNING - DAY / 2
    assert (old, doubted.confidence) == (likes, 0.9)
    assert set(keyword(store, "ask")) == {rules[0].id}


def test_what_is_no_longer_there_is_named_and_what_it_superseded_comes_back(store):
    turns, [likes, has, _], _ = home(store)
    mine = young()
    confirmed = Action(kind="confirmation", target_id=has.id)
    run_id, _ = run(store, turns, [new(mine, sources=(turns[0].id,)), confirmed])
    store.erase(act(MORNING), [mine.id, turns[1].id, has.id])
    undone = store.undo(act(MORNING), run_id)
    assert kept(undone) == {mine.id, turns[1].id, has.id}
    assert store.get(CALLER, [likes.id, mine.id]) == [likes]
    assert [each.consolidation_status for each in store.get(CALLER, [turns[0].id, turns[2].id])] == ["pending"] * 2


def test_a_rule_that_was_followed_since_is_kept(store):
    turns, _, rules = home(store)
    guidance = rule("Young.", created_at=LATER)
    run_id, _ = run(store, turns, [new(guidance), Action(kind="confirmation", target_id=rules[0].id)])
    store.mark(act(MORNING), guidance.id, "helpful")
    store.confirm(act(MORNING), rules[0].id)
    undone = store.undo(act(MORNING + DAY), run_id)
    assert kept(undone) == {guidance.id, rules[0].id}
    assert [each.is_forgotten for each in store.get(CALLER, [guidance.id])] == [False]
    assert store.get(CALLER, [rules[0].id])[0].last_confirmed_at == MORNING


def test_runs_are_undone_from_the_last_to_the_first(store):
    turns, facts, rules = home(store)
    before = state(store)
    first, second = young(), young(created_at=MORNING)
    older, _ = run(store, turns[:1], [new(first, doubts=(facts[1].id,))])
    newer, _ = run(
        store,
        turns[1:],
        [
            Action(kind="updated_fact", memory=second, target_id=first.id, doubts=(facts[1].id,)),
            Action(kind="confirmation", target_id=rules[0].id),
        ],
        at=MORNING,
    )
    assert store.undo(act(MORNING), newer).kept == ()
    assert store.undo(act(MORNING), older).kept == ()
    assert state(store, {first.id, second.id}) == before


def test_an_older_run_leaves_what_a_newer_one_built_on(store):
    turns, [likes, *_], _ = home(store)
    first, second = young(), young(created_at=MORNING)
    older, _ = run(store, turns[:1], [new(first)])
    newer, _ = run(store, turns[1:], [new(second)], at=MORNING)
    assert kept(store.undo(act(MORNING + DAY), older)) == {first.id, likes.id}
    assert store.undo(act(MORNING + DAY), newer).kept == ()
    assert [each.validity for each in store.get(CALLER, [first.id, second.id])] == ["active", "retracted"]


@pytest.mark.req("N15", "Y05")
@pytest.mark.parametrize("is_final", [False, True])
def test_a_failure_is_undone_like_anything_else(store, is_final):
    turns, _, _ = home(store)
    waiting = store.pending_sessions(CALLER, NIGHT)
    batch = store.claim(act(NIGHT), ASKED)
    store.give_up(act(LATER), batch.run.id, "broken", Retry(is_final=is_final))
    undone = store.undo(act(MORNING), batch.run.id)
    assert {each.what for each in undone.restored} == {"episode_reopened"}
    assert store.get(CALLER, [each.id for each in turns]) == turns
    assert store.pending_sessions(CALLER, NIGHT) == waiting
    assert not store.is_session_consolidated(CALLER, "monday", NIGHT)


def test_an_episode_that_another_run_is_done_with_is_left_alone(store):
    turns, _, _ = home(store)
    failed = store.claim(act(NIGHT), ASKED).run.id
    store.give_up(act(NIGHT), failed, "broken", Retry(first_pause_s=1))
    run(store, turns, [])
    undone = store.undo(act(MORNING), failed)
    assert (kept(undone), undone.restored) == ({each.id for each in turns}, ())
    assert store.is_session_consolidated(CALLER, "monday", NIGHT)


def test_what_cannot_be_undone_is_refused_with_a_reason(store):
    home(store)
    batch = store.claim(act(NIGHT), ASKED)
    with pytest.raises(InvalidInput, match="still running"):
        store.undo(act(NIGHT), batch.run.id)
    second = store.claim(act(MORNING), ASKED)
    reflecting = [store.claim(act(at), replace(ASKED, kind="reflection")).run.id for at in (NIGHT, MORNING)]
    with pytest.raises(InvalidInput, match="abandoned"):
        store.undo(act(MORNING), reflecting[0])
    store.carry_out(act(MORNING), second.run.id, Plan(episode_ids=()), {})
    store.undo(act(MORNING), second.run.id)
    before = store.events(CALLER)
    with pytest.raises(InvalidInput, match="undone already"):
        store.undo(act(MORNING), second.run.id)
    for stranger in (Caller(agent="ben"), replace(CALLER, tenant_id="other")):
        with pytest.raises(NotFound):
            store.undo(Act(caller=stranger, at=MORNING), second.run.id)
    with pytest.raises(NotFound):
        store.undo(act(MORNING), "nobody")
    assert store.events(CALLER) == before


def test_an_undo_takes_back_what_a_plan_did_to_the_period_before_it(store):
    turns, facts, _ = home(store)
    before = state(store)
    subject, predicate = PLACES[0]
    plan = fact("soon", subject=subject, predicate=predicate, created_at=LATER, valid_from=MORNING + DAY)
    run_id, _ = run(store, turns, [Action(kind="new_fact", memory=plan)])
    assert store.get(CALLER, [facts[0].id])[0].valid_to == MORNING + DAY
    undone = store.undo(act(MORNING), run_id)
    assert undone.kept == ()
    assert state(store, {plan.id}) == before


def test_what_was_said_after_a_plan_of_a_run_goes_on_without_it(store):
    turns, _, _ = home(store)
    subject, predicate = PLACES[3]
    plan = fact("soon", subject=subject, predicate=predicate, created_at=LATER, valid_from=MORNING + 2 * DAY)
    run_id, _ = run(store, turns, [Action(kind="new_fact", memory=plan)])
    [said] = put(store, [fact("now", subject=subject, predicate=predicate, created_at=MORNING)])
    assert said.valid_to == plan.valid_from
    assert store.undo(act(MORNING + DAY), run_id).kept == ()
    assert store.get(CALLER, [said.id])[0].valid_to is None


def test_an_undo_takes_back_what_a_fact_that_began_before_did_to_superseded_ones(store):
    turns, _, _ = home(store)
    named = {"subject": "Eva", "predicate": "lives in"}
    [old] = put(store, [fact("Lisbon", valid_from=NOON - 9 * DAY, **named)])
    put(store, [fact("Porto", **named)])
    before = state(store)
    made = young(valid_from=NOON - 5 * DAY, **named)
    run_id, _ = run(store, turns, [new(made)])
    assert store.get(CALLER, [old.id])[0].valid_to == made.valid_from
    assert store.undo(act(MORNING), run_id).kept == ()
    assert state(store, {made.id}) == before


@pytest.mark.parametrize("own_end", [None, MORNING + 9 * DAY])
@pytest.mark.parametrize("is_given_up", [True, False])
def test_what_is_believed_again_has_the_end_that_it_had_itself(store, own_end, is_given_up):
    turns, _, _ = home(store)
    named = {"subject": "Eva", "predicate": "lives in"}
    [old] = put(store, [fact("Lisbon", valid_to=own_end, **named)])
    [plan] = put(store, [fact("soon", valid_from=MORNING + 2 * DAY, **named)])
    run_id, _ = run(store, turns, [new(young(**named))])
    if is_given_up:
        store.forget(act(MORNING), plan.id)
    assert store.undo(act(MORNING), run_id).kept == ()
    assert store.get(CALLER, [old.id])[0].valid_to == (own_end if is_given_up else plan.valid_from)


def test_what_is_believed_again_ends_where_a_plan_begins_that_came_since(store):
    turns, [old, *_], _ = home(store)
    subject, predicate = PLACES[0]
    run_id, _ = run(store, turns, [new(young())])
    plan = fact("soon", subject=subject, predicate=predicate, created_at=MORNING, valid_from=MORNING + 2 * DAY)
    put(store, [plan])
    store.undo(act(MORNING), run_id)
    [believed] = store.get(CALLER, [old.id])
    assert (believed.validity, believed.valid_to) == ("active", plan.valid_from)
    store.forget(act(MORNING + DAY), plan.id)
    assert store.get(CALLER, [old.id])[0].valid_to is None
