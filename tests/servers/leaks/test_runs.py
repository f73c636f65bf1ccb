"""A run claims, reads and writes what its caller may, whatever its plan names; and nobody else has a part in it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.records import Episode, Fact
from engrain.domain.requests import Act
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from tests.servers.leaks.hearing import said, secrets_in, strangers_in, told
from tests.servers.leaks.test_writes import everything
from tests.servers.leaks.world import READ_AT, live, sees
from tests.servers.leaks.worlds import make_world
from tests.support.sample_records import fact

NOW = READ_AT - timedelta(days=2)
ASKED = Claim(kind="consolidation", worker="w", lease_s=60, limit=1_000)


def plan_of(world, caller):
    """Everything there is, by every part of an action, each the only thing wrong with it."""
    actions = []
    own = {each.id for each in world.memories if sees(caller, each)}  # an id may be one of another tenant's too
    for place, memory in enumerate(each for each in world.memories if each.id not in own):
        made = {"tenant_id": caller.tenant_id, "agent": caller.agent, "scope": caller.agent, "created_at": NOW}
        named = [fact("new", predicate=f"{place} {part}", **made) for part in range(4)]
        source = {"source_episode_id": memory.id} if isinstance(memory, Episode) else {"supersedes_id": memory.id}
        actions += [
            Action(kind="new_fact", memory=named[0], sources=(memory.id,)),
            Action(kind="new_fact", memory=named[1], doubts=(memory.id,)),
            Action(kind="updated_fact", memory=named[2], target_id=memory.id),
            Action(kind="new_fact", memory=fact("new", predicate=f"{place} source", **made, **source)),
            Action(kind="confirmation", target_id=memory.id),
        ]
    return Plan(episode_ids=tuple(sorted(world.ids)), actions=tuple(actions[:60]))


@pytest.mark.req("B29.1", "B29.2", "N12")
def test_a_run_reaches_nothing_that_its_caller_may_not_see(backend):
    world = make_world(1)
    with backend.fresh() as store:
        live(store, world)
        for caller in world.some_callers(1):
            others = [each for each in world.callers if each.tenant_id != caller.tenant_id]
            before = everything(store, world, others)
            act = Act(caller=caller, at=NOW)
            batch = store.claim(act, ASKED) or store.claim(act, replace(ASKED, kind="summary"))
            assert batch is not None
            assert (secrets_in(said(batch, {}), world, caller), strangers_in(batch, caller)) == (set(), [])
            asked = plan_of(world, caller)
            done = store.carry_out(act, batch.run.id, asked, {})
            assert done
            assert all(each.error is not None for each in done)
            named = [id_ for each in asked.actions for id_ in (*each.sources, *each.doubts, each.target_id or "")]
            named += [
                each.memory.source_episode_id or each.memory.supersedes_id for each in asked.actions if each.memory
            ]
            assert secrets_in(said(done, {}), world, caller, echoes=named) == set()
            assert everything(store, world, others) == before
            store.undo(act, batch.run.id)
            assert everything(store, world, others) == before


@pytest.mark.req("B29.1", "B29.2", "N12")
def test_a_strangers_run_is_none_to_anybody_else(backend):
    world = make_world(0)
    with backend.fresh() as store:
        live(store, world)
        owner = next(each for each in world.callers if store.claim(Act(caller=each, at=NOW), ASKED) is not None)
        [run] = store.runs(owner, kind="consolidation")
        for caller in (each for each in world.callers if each != owner):
            act = Act(caller=caller, at=NOW)
            assert not [event for event in store.events(caller, run_id=run.id) if event.scope not in caller.scopes]
            assert not store.renew(act, run.id, 600)
            assert store.carry_out(act, run.id, Plan(episode_ids=run.episode_ids), {}) is None
            assert store.give_up(act, run.id, "mine now", Retry()) is None
            undone = [told(lambda act=act, id_=id_: store.undo(act, id_), {}) for id_ in (run.id, "nobodys")]
            assert undone[0] == undone[1].replace("nobodys", run.id)
            assert undone[0].startswith("NotFound")
            assert run.id not in said(store.runs(caller), {})
        assert store.runs(owner, kind="consolidation") == [run]


def test_a_fact_of_a_pool_is_taken_back_by_a_member_alone(backend):
    with backend.fresh() as store:
        world = make_world(0)
        live(store, world)
        caller = next(each for each in world.callers if each.pools)
        act = Act(caller=caller, at=NOW)
        batch = store.claim(act, Claim(kind="reflection", worker="w", lease_s=60))
        shared = fact("shared", tenant_id=caller.tenant_id, scope=f"pool:{caller.pools[0]}", created_at=NOW)
        assert isinstance(shared, Fact)
        store.carry_out(act, batch.run.id, Plan(episode_ids=(), actions=(Action(kind="new_fact", memory=shared),)), {})
        outside = Act(caller=type(caller)(tenant_id=caller.tenant_id, agent=caller.agent), at=NOW)
        assert told(lambda: store.undo(outside, batch.run.id), {}).startswith("InvalidInput")
        assert store.get(caller, [shared.id]) == [shared]
        assert [each.memory_id for each in store.undo(act, batch.run.id).restored] == [shared.id]
