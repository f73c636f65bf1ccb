"""The same walls, seen from where applications stand: an agent of a Memory."""

import inspect
import json
import uuid
from dataclasses import replace
from functools import partial

import pytest

from engrain.agent.agent import Agent
from engrain.domain.records import Caller, Fact
from tests.servers.leaks.agent_probes import READS, WRITES, Asker, agent_of, all_said, memory_of, verbs_of
from tests.servers.leaks.fuzz import read_world
from tests.servers.leaks.hearing import said, told
from tests.servers.leaks.world import live, sees
from tests.servers.leaks.worlds import make_world

ANYBODY = Caller(agent="anybody")


def _no_parts():
    raise AssertionError("nothing is asked")


def test_every_verb_of_an_agent_is_asked_or_is_known_to_write():
    assert {*verbs_of(Agent(_no_parts, ANYBODY))} == {*READS, *WRITES}, (
        "probe the new verb: tests/servers/leaks/agent_probes.py"
    )


@pytest.mark.req("N12", "N21")
def test_no_verb_takes_whose_memory_it_is():
    """The tenant comes with the caller, which whoever authenticated it made; no argument of a verb can name another."""
    for verb, method in verbs_of(Agent(_no_parts, ANYBODY)).items():
        named = {*inspect.signature(method).parameters}
        assert not named & {"tenant", "tenant_id", "agent", "caller", "pool", "pools", "request_id"}, verb


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", [1])
def test_an_agent_is_told_nothing_of_what_it_may_not_see(backend, seed):
    world, answered = make_world(seed), set()
    for reading in read_world(backend, world, world.some_callers(2)):
        assert reading.leaked == [], f"seed {seed}: {reading}"
        answered |= {reading.verb} if reading.has_answer else set()
    assert answered == set(READS), f"seed {seed}"


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", [0])
def test_no_answer_to_an_agent_depends_on_what_it_may_not_see(backend, seed):
    world = make_world(seed)
    caller = world.some_callers(2)[-1]
    heard = []
    for happened in (world, world.as_known_to(caller), world.changed_behind(caller)):
        with backend.fresh() as store:
            live(store, happened)
            with memory_of(store) as memory:
                memory.flush()
                heard.append(all_said(Asker(agent_of(memory, caller), world)))
    for asked, answer in heard[0].items():
        assert [each[asked] for each in heard[1:]] == [answer] * 2, f"seed {seed}: {caller} asked {asked}"


_NEW = {"subject": "y", "predicate": "z", "content": "x"}


def _attempts(id_, own_memory, own_fact):
    """By name, every write of an agent that can name a memory or an entity."""
    return {
        "correct": lambda agent: agent.correct(id_, "x"),
        "correct's source": lambda agent: agent.correct(own_fact, "x", source_episode_id=id_),
        "confirm": lambda agent: agent.confirm(id_),
        "forget": lambda agent: agent.forget(id_),
        "erase": lambda agent: agent.erase([id_]),
        "link from": lambda agent: agent.link(id_, own_memory, "supports"),
        "link to": lambda agent: agent.link(own_memory, id_, "supports"),
        "remember's source": lambda agent: agent.remember("x", subject="y", predicate="z", source_episode_id=id_),
        "remember's entity": lambda agent: agent.remember("x", subject="y", predicate="z", entity_id=id_),
        "rules.add's source": lambda agent: agent.rules.add("x", source_episode_id=id_),
        "pools.contribute": lambda agent: agent.pools.contribute(_own_pool(agent), id_),
        "save_facts' source": lambda agent: agent.consolidation.save_facts([{**_NEW, "source_ids": [id_]}]),
        "resolve_conflict with": lambda agent: agent.consolidation.resolve_conflict(id_, own_fact),
        "resolve_conflict by": lambda agent: agent.consolidation.resolve_conflict(own_fact, id_),
    }


def _own_pool(agent):
    return f"of {agent.caller.agent} alone"


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", [1])
def test_a_strangers_id_does_as_one_that_does_not_exist(backend, seed):
    world, nobody = make_world(seed), str(uuid.UUID(int=1))
    with backend.fresh() as store:
        live(store, world)
        with memory_of(store) as memory:
            for caller in world.some_callers(2):
                agent = agent_of(memory, caller)
                own_fact = agent.remember("tea", subject="Zoe", predicate="drinks").id
                if _own_pool(agent) not in [pool.name for pool in agent.pools.list()]:  # for another user, it did
                    agent.pools.create(_own_pool(agent))
                memory.flush()
                before = _known_to_all(memory, world)
                entities = {
                    each.id
                    for each in world.entities
                    if each.tenant_id == caller.tenant_id and each.user_id in ("", caller.user)
                }
                known = {*(each.id for each in world.memories if sees(caller, each)), *entities}
                unknown = _attempts(nobody, own_fact, own_fact)
                expected = {name: told(partial(attempt, agent), {}) for name, attempt in unknown.items()}
                for id_ in sorted(world.ids - known):
                    for name, attempt in _attempts(id_, own_fact, own_fact).items():
                        heard = told(partial(attempt, agent), {})
                        assert heard == expected[name].replace(nobody, id_), f"seed {seed}: {caller}, {name} {id_}"
                assert _known_to_all(memory, world) == before, f"seed {seed}: {caller}"


def _known_to_all(memory, world):
    """What there is, as every caller of the world knows it; nothing of it is counted as a reference."""
    known = []
    for caller in world.callers:
        agent = agent_of(memory, caller)
        facts, seen = agent.facts(include_inactive=True, limit=1_000), agent.events(limit=1_000)
        known.append(said([agent.stats(), facts, seen], {}))
    return known


@pytest.mark.req("B29.1", "N12")
def test_the_same_key_and_the_same_file_are_each_agents_own(backend, tmp_path):
    """Or a repeat that adds nothing would tell that somebody else had said the same."""
    chat = tmp_path / "chat.jsonl"
    turns = [{"session": "monday", "speaker": "Ana", "role": "user", "content": f"Turn {place}."} for place in range(3)]
    chat.write_text("\n".join(json.dumps(turn) for turn in turns), encoding="utf-8")
    callers = [Caller(tenant_id=tenant, agent=agent) for tenant in ("acme", "bolt") for agent in ("aide", "butler")]
    with backend.fresh() as store, memory_of(store) as memory:
        agents = [agent_of(memory, caller) for caller in callers]
        reports = [agent.import_file(chat).to_dict() for agent in agents]
        assert {(each["added"], each["present"]) for each in reports} == {(3, 0)}
        assert [agent.import_file(chat).added for agent in agents] == [0] * 4
        said_ = [agent.observe("Good morning.", session="monday", idempotency_key="one") for agent in agents]
        assert [each.turn for each in said_] == [4] * 4
        added = [agent.rules.add(f"Rule {place}.", idempotency_key="two") for place, agent in enumerate(agents)]
        assert len({each.id for each in (*said_, *added)}) == 8


@pytest.mark.req("B29.1", "N12")
def test_a_fact_stands_beside_the_same_one_of_another_tenant(backend):
    acme, bolt = Caller(tenant_id="acme", agent="aide"), Caller(tenant_id="bolt", agent="aide")
    with backend.fresh() as store, memory_of(store) as memory:
        agents = [agent_of(memory, caller) for caller in (acme, bolt)]
        people = [agent.entities.create("Ana", "person") for agent in agents]
        homes = [
            agent.remember(home, subject="Ana", predicate="lives in", entity_id=person.id, scope="global")
            for agent, person, home in zip(agents, people, ("Lisbon", "Porto"), strict=True)
        ]
        assert [agent.facts("Ana").items for agent in agents] == [(homes[0],), (homes[1],)]
        moved = agents[0].correct(homes[0].id, "Faro")
        assert [each.content for each in agents[1].history(homes[1].id)] == ["Porto"]
        assert isinstance(moved, Fact)
        stranger = agent_of(memory, replace(acme, agent="butler"))
        assert [each.id for each in stranger.facts("Ana")] == [moved.id]
