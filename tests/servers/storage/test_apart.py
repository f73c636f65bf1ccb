"""What a database refuses of one action of a plan is taken back alone, whichever driver says so."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.runs import Claim
from tests.support.one_call import OneCall
from tests.support.sample_records import CALLER, NOON, act, episode, fact, rule
from tests.support.schemas import DATABASES
from tests.support.store_samples import keyword, put
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

NIGHT = NOON + timedelta(days=1)
ASKED = Claim(kind="consolidation", worker="w", lease_s=60)


@pytest.fixture(params=DATABASES)
def store(request, tmp_path) -> Iterator[OneCall]:
    """A fresh store in a database of either kind."""
    opened = fresh_store() if request.param == "postgres" else closing(SqliteStore(str(tmp_path / "memory.db")))
    with opened as made:
        yield made


def learn(memory, **named):
    return Action(kind="new_fact" if memory.kind == "fact" else "new_rule", memory=memory, **named)


@pytest.mark.req("B14.4")
def test_a_row_that_the_schema_refuses_is_an_error_of_its_action_alone(store):
    """A check of the table, which nothing looks at before; the old fact was closed by then."""
    [turn] = put(store, [episode()])
    [old] = put(store, [fact("Porto")])
    batch = store.claim(act(NIGHT), ASKED)
    good, bad = fact("a heron", predicate="saw"), fact("zebra", permanence="eternal")
    actions = (learn(bad, sources=(turn.id,)), learn(good), learn(rule("zebra", maturity="ripe")))
    done = store.carry_out(act(NIGHT), batch.run.id, Plan(episode_ids=(turn.id,), actions=actions), {})
    assert [each.memory_id for each in done] == [None, good.id, None]
    assert all("broke an invariant" in str(each.error) for each in (done[0], done[2]))
    assert store.get(CALLER, [old.id, good.id]) == [old, good]
    assert (set(keyword(store, "heron")), keyword(store, "zebra")) == ({good.id}, {})
    assert store.get(CALLER, [turn.id])[0].consolidated
    assert {each.event_type for each in store.events(CALLER, memory_id=old.id)} == {"fact_created"}
    assert store.health().problems == ()


def test_what_is_no_fault_of_an_action_ends_the_whole_run_with_nothing_written(store):
    class Broken(Exception):
        pass

    class Facts(tuple):
        __slots__ = ()

        def __iter__(self):
            yield from super().__iter__()
            raise Broken

    [turn] = put(store, [episode()])
    batch = store.claim(act(NIGHT), ASKED)
    before = store.events(CALLER)
    good = fact("a heron", predicate="saw")
    broken = Plan(episode_ids=(turn.id,), actions=(learn(good), replace(learn(fact()), sources=Facts([turn.id]))))
    with pytest.raises(Broken):
        store.carry_out(act(NIGHT), batch.run.id, broken, {})
    assert store.events(CALLER) == before
    assert store.get(CALLER, [good.id]) == []
    assert store.carry_out(act(NIGHT), batch.run.id, Plan(episode_ids=(turn.id,)), {}) == []
    assert store.health().problems == ()


@pytest.mark.req("N16")
def test_runs_of_several_agents_that_learn_the_same_at_once_store_it_once(store):
    """The same ids in the same places, as whoever reads the same turns makes them."""
    callers = [Caller(agent=f"agent{number}") for number in range(4)]
    for caller in callers:
        store.put(Act(caller=caller, at=NOON), [episode(agent=caller.agent, scope=caller.agent)])
    learned = [fact(f"City {place}", predicate=f"place {place % 3}") for place in range(6)]

    def work(caller):
        now = Act(caller=caller, at=NIGHT)
        batch = store.claim(now, ASKED)
        actions = tuple(learn(replace(each, agent=caller.agent)) for each in learned)
        return store.carry_out(now, batch.run.id, Plan(episode_ids=batch.run.episode_ids, actions=actions), {})

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(work, callers))
    assert [[each.memory_id for each in run] for run in done] == [[each.id for each in learned]] * 4
    validities = [each.validity for each in store.get(CALLER, [each.id for each in learned])]
    assert validities == ["superseded"] * 3 + ["active"] * 3
    assert len(store.events(CALLER, event_type="fact_created")) == 6
    assert store.backlogs(NIGHT) == []
    assert store.health().problems == ()
