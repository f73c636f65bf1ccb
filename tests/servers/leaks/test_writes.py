"""A write that names what its caller may not see does as if that were not there, and leaves it as it is."""

import uuid
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import Filter
from engrain.domain.records import Caller, Episode, Fact, Link
from engrain.domain.requests import Act, Request
from engrain.errors import InvalidInput
from tests.servers.leaks.hearing import said, secrets_in, told
from tests.servers.leaks.world import READ_AT, canary_of, live, sees
from tests.servers.leaks.worlds import make_world
from tests.support.sample_records import entity, episode, fact, rule

SEEDS = range(2)
NOW = READ_AT - timedelta(days=2)


def act(caller):
    return Act(caller=caller, at=NOW)


def attempts(caller, id_, own):
    """By name, every write that can name a memory or an entity; nothing of it comes about where `id_` is not seen."""
    made = {"tenant_id": caller.tenant_id, "agent": caller.agent, "scope": caller.agent, "created_at": NOW}

    def link(source, target):
        return Link(source_id=source, target_id=target, relation="supports", created_at=NOW)

    def new(make, **named):
        return [make("a new word", **{**made, "id": str(uuid.UUID(int=7)), **named})]

    return {
        "touch": lambda store: store.touch(act(caller), [id_]),
        "references": lambda store: store.count_references(
            act(caller), [(kind, id_, NOW) for kind in ("episode", "fact", "rule")]
        ),
        "confirm": lambda store: store.confirm(act(caller), id_),
        "doubt of": lambda store: store.doubt(act(caller), id_, own),
        "doubt by": lambda store: store.doubt(act(caller), own, id_),
        "age": lambda store: store.age(act(caller), id_, "fading"),
        "age to its end": lambda store: store.age(act(caller), id_, "expired"),
        "mark": lambda store: store.mark(act(caller), id_, "helpful"),
        "mark with a reason": lambda store: store.mark(act(caller), id_, "harmful", reason="slow"),
        "forget": lambda store: store.forget(act(caller), id_),
        "erase": lambda store: store.erase(act(caller), [id_]),
        "link from": lambda store: store.link(act(caller), link(id_, own)),
        "link to": lambda store: store.link(act(caller), link(own, id_)),
        "link to itself": lambda store: store.link(act(caller), link(id_, id_)),
        "fact's source": lambda store: store.put(act(caller), new(fact, source_episode_id=id_)),
        "rule's source": lambda store: store.put(act(caller), new(rule, source_episode_id=id_)),
        "supersedes": lambda store: store.put(act(caller), new(fact, supersedes_id=id_)),
        "entity": lambda store: store.put(act(caller), new(fact, entity_id=id_)),
        "closes": lambda store: store.supersede(act(caller), new(fact)[0], [id_]),
        "closes beside": lambda store: store.supersede(act(caller), new(fact)[0], [own, id_]),
        "mention by": lambda store: store.mention(act(caller), id_, []),
        "mention of": lambda store: store.mention(act(caller), own, [id_]),
        "enrich by": lambda store: store.enrich(act(caller), id_, []),
        "enrich of": lambda store: store.enrich(act(caller), own, [id_]),
        "change of": lambda store: store.change_entity(act(caller), id_, canonical_name="Zoe"),
        "merge from": lambda store: store.merge_entities(act(caller), id_, own),
        "merge into": lambda store: store.merge_entities(act(caller), own, id_),
        "unmerge": lambda store: store.unmerge_entities(act(caller), id_),
        "remove": lambda store: store.remove_entities(act(caller), [id_]),
        "remove and forget": lambda store: store.remove_entities(act(caller), [], forgetting=[id_]),
    }


def attempts_to_reach(caller, tenant_id, scope):
    """By name, every write into a tenant and scope; an entity is of a whole tenant."""
    values = {"tenant_id": tenant_id, "scope": scope, "agent": caller.agent, "created_at": NOW}
    somebody = entity("Zoe", id=str(uuid.UUID(int=9)), tenant_id=tenant_id)
    of_memories = {
        make.__name__: lambda store, make=make: store.put(act(caller), [make("x", id=str(uuid.UUID(int=8)), **values)])
        for make in (episode, fact, rule)
    }
    of_memories |= {
        "related": lambda store: store.put_related(act(caller), fact("x", id=str(uuid.UUID(int=8)), **values), {}),
        "mentioning": lambda store: store.put_mentioning(
            act(caller), [episode("x", id=str(uuid.UUID(int=8)), **values)], ["Zoe"], lambda _: {}
        ),
        "introducing": lambda store: store.introduce(act(caller), [], [fact("x", id=str(uuid.UUID(int=8)), **values)]),
        "summary": lambda store: store.supersede(act(caller), fact("x", id=str(uuid.UUID(int=8)), **values), []),
    }
    of_entities = {
        "entity": lambda store: store.put_entity(act(caller), somebody),
        "introduced": lambda store: store.introduce(act(caller), [somebody], []),
    }
    return of_memories if tenant_id == caller.tenant_id else of_memories | of_entities


def everything(store, world, callers):
    """What there is, as those callers know it, word for word."""
    return {caller: store.in_one_snapshot(caller, partial(_known_to, store, world, caller)) for caller in callers}


def _known_to(store, world, caller):
    ids = sorted(world.ids)
    return (
        told(lambda: store.get(caller, ids), {}),
        told(lambda: store.events(caller, limit=100_000), {}),
        [told(lambda id_=id_: store.links(caller, id_), {}) for id_ in ids],
        told(lambda: store.entities(caller, ids), {}),
        told(lambda: store.stats(caller, READ_AT), {}),
        told(lambda: store.speakers(_all_of(caller)), {}),
        told(lambda: store.recent(_all_of(caller), 1_000), {}),
    )


def _all_of(caller):
    return Request(caller=caller, filter=Filter(include_inactive=True), now=READ_AT)


@pytest.fixture(scope="module", params=SEEDS)
def settled(backend, request):
    """A store in which a world has happened, the world, and what its callers know; nothing that is tried changes it."""
    world = make_world(request.param)
    with backend.fresh() as store:
        live(store, world)
        yield store, world, everything(store, world, world.callers)


@pytest.mark.req("B29.1", "B29.2", "N12")
def test_a_strangers_id_does_as_one_that_does_not_exist_and_changes_nothing(settled):
    (store, world, before), nobody = settled, str(uuid.UUID(int=1))
    for caller in world.some_callers(2):
        own = next((each.id for each in world.seen_by(caller)), nobody)
        known = {*(each.id for each in world.memories if sees(caller, each)), *_entities_of(world, caller)}
        expected = {name: told(partial(each, store), {}) for name, each in attempts(caller, nobody, own).items()}
        for id_ in sorted(world.ids - known):
            for name, attempt in attempts(caller, id_, own).items():
                heard, asked = told(partial(attempt, store), {}), f"seed {world.seed}: {caller}, {name} {id_}"
                assert heard == expected[name].replace(nobody, id_), asked
                assert not secrets_in(heard, world, caller, echoes=[id_]), asked
    assert everything(store, world, world.callers) == before, f"seed {world.seed}"


@pytest.mark.req("B29.1", "N12")
def test_a_strangers_tenant_or_scope_is_refused_like_one_that_does_not_exist(settled):
    store, world, before = settled
    for caller in world.some_callers(2):
        places = {(other.tenant_id, scope) for other in world.callers for scope in other.scopes}
        own = {(caller.tenant_id, scope) for scope in caller.scopes}
        for tenant_id, scope in sorted(places - own):
            is_own = tenant_id == caller.tenant_id
            nowhere = (tenant_id, "pool:nobody") if is_own else ("nowhere", scope)
            refused = attempts_to_reach(caller, *nowhere)
            for name, attempt in attempts_to_reach(caller, tenant_id, scope).items():
                heard, expected = (told(lambda put=put: put(store), {}) for put in (attempt, refused[name]))
                named = expected.replace("pool:nobody", scope).replace("nowhere", tenant_id)
                assert heard == named, f"seed {world.seed}: {caller}, {name} in {tenant_id} {scope}"
                assert heard.startswith("InvalidInput")
    assert everything(store, world, world.callers) == before, f"seed {world.seed}"


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_caller_writes_of_its_own_moves_nothing_of_others(backend, seed):
    """Under the names, in the sessions and places, and with the ids that others use."""
    world = make_world(seed)
    caller = replace(world.callers[0], pools=())
    others = [each for each in world.callers if each.tenant_id != caller.tenant_id]
    beside = [each for each in world.callers if each.tenant_id == caller.tenant_id and each.agent != caller.agent]
    with backend.fresh() as store:
        live(store, world)
        before = everything(store, world, others + beside)
        own_ids = {each.id for each in world.memories if each.tenant_id == caller.tenant_id}
        for memory in world.memories:
            moved = {"tenant_id": caller.tenant_id, "scope": caller.agent, "created_at": NOW}
            references = {} if isinstance(memory, Episode) else {"source_episode_id": None}
            references |= {"supersedes_id": None, "entity_id": None} if isinstance(memory, Fact) else {}
            copied = replace(memory, **moved, **references)
            if memory.id in own_ids:
                copied = replace(copied, id=str(uuid.uuid5(uuid.NAMESPACE_URL, canary_of(memory))))
            own_ids.add(copied.id)
            assert [each.id for each in store.put(act(caller), [copied])] == [copied.id]
        named = sorted(
            {each.id for each in world.memories} - {each.id for each in world.memories if sees(caller, each)}
        )
        store.touch(act(caller), named)
        store.erase(act(caller), named)
        assert everything(store, world, others + beside) == before, f"seed {seed}"


def test_an_id_that_another_agent_uses_is_taken_and_that_is_all_that_is_said(backend):
    """Ids are a tenant's: whoever writes under a stranger's learns that it is taken, and not by what."""
    ana, ben = Caller(agent="ana"), Caller(agent="ben")
    hers = episode("zq00001zq", scope="ana")
    with backend.fresh() as store:
        store.put(act(ana), [hers])
        assert store.put(act(ben), [replace(hers, scope="ben", content="mine")]) == []
        assert store.get(ben, [hers.id]) == store.events(ben) == []
        assert [each.content for each in store.get(ana, [hers.id])] == ["zq00001zq"]


def test_a_memory_that_names_its_private_source_gives_away_that_id_alone(backend):
    """Who stores a fact for everybody with the id of a private episode has published that id."""
    ana, ben = Caller(agent="ana"), Caller(agent="ben")
    private = episode("zq00001zq", scope="ana", speaker="zq00002zq", session="zq00003zq")
    public = fact("Lisbon", scope=GLOBAL_SCOPE, source_episode_id=private.id)
    with backend.fresh() as store:
        store.put(act(ana), [private, public])
        [seen] = store.get(ben, [public.id, private.id])
        assert seen.source_episode_id == private.id
        assert store.links(ben, private.id) == store.history(ben, private.id) == []
        assert "zq0" not in said([seen, store.events(ben), store.recent(_all_of(ben), 9)], {})
        with pytest.raises(InvalidInput):
            store.put(act(ben), [fact("Porto", scope="ben", source_episode_id=private.id)])


def _entities_of(world, caller):
    return {each.id for each in world.entities if each.tenant_id == caller.tenant_id}
