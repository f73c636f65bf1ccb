"""The walls around a tenant and its scopes, for those who write and for those who read."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain.domain.records import KINDS, Caller
from engrain.errors import InvalidInput
from tests.support.sample_records import CALLER, FOREIGN, act, entity, episode, fact, request, rule
from tests.support.store_samples import keyword, put

TENANTS = st.sampled_from(["default", "other"])
SCOPES = st.sampled_from(["global", "aide", "other", "pool:team", "pool:x", "team"])
READERS = [
    Caller(tenant_id=tenant, agent=agent, pools=pools)
    for tenant in ("default", "other")
    for agent in ("aide", "other", "team")
    for pools in ((), ("team",), ("team", "x"))
]
OF_KIND = {"episode": episode, "fact": fact, "rule": rule}
MEMORIES = st.builds(
    lambda kind, tenant_id, scope, content: OF_KIND[kind](content, tenant_id=tenant_id, scope=scope),
    st.sampled_from(KINDS),
    TENANTS,
    SCOPES,
    st.sampled_from(["bread", "tram"]),
)


@pytest.mark.req("B29.1", "B29.2", "N12", "B06.1", "B06.2")
@settings(max_examples=25)
@given(st.lists(MEMORIES, max_size=10), st.sampled_from(READERS))
def test_a_reader_finds_what_lies_in_its_tenant_and_scopes_and_nothing_else(backend, memories, reader):
    memories = [replace(each, predicate=each.id) if each.kind == "fact" else each for each in memories]
    with backend.fresh() as store:
        for each in memories:
            put(store, [each])
        asked = request(caller=reader)
        inside = {each.id for each in memories if each.tenant_id == reader.tenant_id and each.scope in reader.scopes}
        assert {each.id for each in store.get(reader, [each.id for each in memories])} == inside
        assert {each.id for each in store.recent(asked, 99)} == inside
        assert set(keyword(store, "bread", "tram", asked=asked)) == inside
        assert {each.memory_id for each in store.events(reader)} == inside


@pytest.mark.req("B06.1")
@pytest.mark.parametrize("made", [fact, rule])
def test_an_agent_finds_facts_and_rules_of_everybody_and_of_its_own(store, made):
    scopes = ("global", "relationship", "health")
    stored = [put(store, [made(f"Guidance for {scope}.", scope=scope)])[0] for scope in scopes]
    found = store.recent(request(caller=Caller(agent="relationship")), 9)
    assert {each.scope for each in found} == {"global", "relationship"}
    assert len(stored) == 3


@pytest.mark.req("B06.2")
def test_an_agent_finds_its_own_episodes_and_no_other_agents(store):
    mine, _ = (put(store, [episode("Said.", scope=agent, agent=agent)])[0] for agent in ("relationship", "health"))
    asked = request(caller=Caller(agent="relationship"), kinds=("episode",))
    assert store.recent(asked, 9) == [mine]
    assert set(keyword(store, "said", asked=asked)) == {mine.id}


@pytest.mark.req("B06.3")
def test_where_nothing_is_asked_every_scope_the_caller_sees_answers(store):
    scopes = ("global", "aide", "pool:team", "pool:home")
    stored = [put(store, [rule(f"Guidance for {scope}.", scope=scope)])[0] for scope in scopes]
    member = replace(CALLER, pools=("team", "home"))
    assert {each.id for each in store.recent(request(caller=member), 9)} == {each.id for each in stored}
    assert set(keyword(store, "guidanc", asked=request(caller=member))) == {each.id for each in stored}


@pytest.mark.req("B29.1")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wall", [{"tenant_id": "other"}, {"scope": "other"}, {"scope": "pool:team"}], ids=["tenant", "scope", "pool"]
)
def test_nobody_writes_where_it_cannot_read(store, kind, wall):
    outside = OF_KIND[kind]("x", **{"scope": "aide", **wall})
    with pytest.raises(InvalidInput):
        store.put(act(), [outside])
    owner = Caller(tenant_id=outside.tenant_id, agent=outside.scope, pools=("team",))
    assert store.get(owner, [outside.id]) == store.events(owner) == []


@pytest.mark.req("B29.2", "N12")
def test_a_fact_supersedes_none_of_another_tenant_or_scope(store):
    mine, theirs = (put(store, [fact("Lisbon", tenant_id=tenant)])[0] for tenant in ("default", "other"))
    [new] = put(store, [fact("Porto")])
    assert new.supersedes_id == mine.id
    assert store.get(FOREIGN, [theirs.id]) == [theirs]
    assert store.history(FOREIGN, theirs.id) == [theirs]


@pytest.mark.req("B29.2", "N12")
def test_entities_are_known_to_their_whole_tenant_and_to_no_other(store):
    ana = store.put_entity(act(), entity())
    assert store.entities(Caller(agent="other"), [ana.id]) == [ana]
    assert store.entities(replace(CALLER, tenant_id="other"), [ana.id]) == []
