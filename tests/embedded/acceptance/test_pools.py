"""Pools: what agents share through the library; whoever leaves sees nothing of it any more."""

from contextlib import nullcontext
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engrain import InvalidInput, Memory, NotFound
from tests.support.sqlite_statements import statements
from tests.support.stores import SqliteStore

NO_VECTORS = {"embedding": {"model": "none"}}
AGENTS, POOLS, TENANTS = ("ana", "ben", "cal"), ("team", "ana"), ("acme", "bolt")


def shown(answer):
    return sorted(hit.memory.content for hit in answer)


@pytest.fixture
def memory(database):
    with Memory.open(database, settings=NO_VECTORS) as opened:
        yield opened


@pytest.mark.req("G14")
def test_agents_share_what_one_of_them_knows(memory):
    researcher, coder, stranger = (memory.agent(name) for name in ("researcher", "coder", "stranger"))
    researcher.pools.create("technical-docs", ["coder"])
    known = researcher.remember(
        "WGSL shaders, not GLSL", subject="WebGPU", predicate="requires", scope="researcher", source="MDN"
    )
    assert shown(coder.recall("shaders in WebGPU")) == []
    shared = researcher.pools.contribute("technical-docs", known.id)
    assert (shared.scope, shared.source, shared.content) == ("pool:technical-docs", "MDN", known.content)
    assert [link.target_id for link in researcher.links(shared.id)] == [known.id]
    assert coder.links(shared.id) == []
    assert shown(coder.pools.query("technical-docs", "how do shaders work in WebGPU?")) == ["WGSL shaders, not GLSL"]
    assert shown(coder.recall("shaders in WebGPU")) == ["WGSL shaders, not GLSL"]
    assert shown(stranger.recall("shaders in WebGPU")) == []
    assert stranger.get(shared.id) is None
    with pytest.raises(NotFound, match=r"agent stranger is in no pool 'technical-docs'; pools\.list shows"):
        stranger.pools.query("technical-docs", "shaders")


@pytest.mark.req("G14")
def test_whoever_leaves_sees_nothing_of_it_at_once_also_through_what_it_held(memory):
    ana, ben = memory.agent("ana"), memory.agent("ben")
    ana.pools.create("team", ["ben"])
    held = ana.remember("green", subject="the tram", predicate="is", scope="pool:team")
    notes, rules = ben.pools, ben.rules
    rule = rules.add("Take the tram.", scope="pool:team")
    assert notes.remove("team", "ben").members == ("ana",)
    assert shown(ben.recall("tram")) == []
    assert (ben.get(held.id), ben.get(rule.id), ben.facts().items, notes.list()) == (None, None, (), [])
    with pytest.raises(InvalidInput, match="scope 'pool:team'"):
        rules.add("Take the bus.", scope="pool:team")
    with pytest.raises(NotFound):
        rules.mark_helpful(rule.id)
    assert shown(ana.recall("tram")) == ["Take the tram.", "green"]
    ana.pools.add("team", "ben")
    assert rules.mark_helpful(rule.id).success_count == 1


def test_what_others_put_there_is_taken_over_and_outlives_the_pool(memory):
    ana, ben = memory.agent("ana"), memory.agent("ben")
    ana.pools.create("team", ["ben"])
    colour = ana.remember("green", subject="the tram", predicate="is", scope="pool:team")
    ana.rules.add("Take the tram.", scope="pool:team")
    own = ben.remember("at nine", subject="the tram", predicate="leaves", scope="ben")
    ana.remember("at ten", subject="the tram", predicate="leaves", scope="pool:team")
    ben.remember("free", subject="the tram", predicate="costs", scope="pool:team")  # its own: nothing to take over
    first = ben.pools.sync_to_agent("team")
    assert (len(first.copied), first.unchanged, first.kept) == (2, 0, (own.id,))
    assert ben.pools.sync_to_agent("team").to_dict() == {**first.to_dict(), "copied": [], "unchanged": 2}
    ana.correct(colour.id, "yellow")
    again = ben.pools.sync_to_agent("team")
    assert len(again.copied) == 1
    ben.pools.remove("team", "ben")
    assert shown(ben.recall("tram")) == ["Take the tram.", "at nine", "yellow"]
    with pytest.raises(NotFound):
        ben.pools.sync_to_agent("team")


def test_contributing_twice_is_once_and_what_was_erased_does_not_come_back(memory):
    ana = memory.agent("ana", session="monday")
    ana.pools.create("team")
    said = ana.observe("The tram is green.", speaker="Ana")
    shared = ana.pools.contribute("team", said.id)
    assert (shared.session, shared.speaker, shared.event_time) == (None, "Ana", said.event_time)
    assert ana.pools.contribute("team", said.id).id == shared.id
    assert len(ana.pools.query("team", "tram")) == 1
    with pytest.raises(InvalidInput, match="is in pool 'team' already"):
        ana.pools.contribute("team", shared.id)
    ana.erase(shared.id)
    with pytest.raises(InvalidInput, match="was erased"):
        ana.pools.contribute("team", said.id)
    gone = ana.remember("x", subject="y", predicate="z")
    ana.forget(gone.id)
    with pytest.raises(InvalidInput, match="no longer live"):
        ana.pools.contribute("team", gone.id)


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (lambda pools: pools.create(""), "pool"),
        (lambda pools: pools.create("team"), "the name 'team' is taken"),
        (lambda pools: pools.create("other", ["global"]), "'global' is the name of a scope"),
        (lambda pools: pools.add("team", "pool:team"), "'pool:team' is the name of a scope"),
        (lambda pools: pools.remove("team", "ana"), "ana is the last member of pool 'team'"),
        (lambda pools: pools.query("team", "x", limit=-1), "limit"),
        (lambda pools: pools.query("team", "x", preset="best"), "preset"),
        (lambda pools: pools.delete("team"), "pool 'team' holds 1 memories"),
    ],
)
def test_bad_input_says_what_and_changes_nothing(tmp_path, attempt, said):
    with Memory.open(tmp_path / "a.db", settings=NO_VECTORS) as memory:
        ana = memory.agent("ana")
        ana.pools.create("team")
        ana.rules.add("Take the tram.", scope="pool:team")
        before = ana.pools.list(), ana.events()
        with pytest.raises(InvalidInput, match=said):
            attempt(ana.pools)
        assert (ana.pools.list(), ana.events()) == before


def test_a_pool_may_be_called_like_an_agent_and_is_not_that_agent(memory):
    ana, ben = memory.agent("ana"), memory.agent("ben")
    ben.pools.create("ana")
    ben.remember("green", subject="the tram", predicate="is", scope="pool:ana")
    ana.remember("yellow", subject="the bus", predicate="is", scope="ana")
    assert shown(ana.recall("tram bus")) == ["yellow"]
    assert shown(ben.recall("tram bus")) == ["green"]


def test_which_pools_an_agent_is_in_is_one_statement_a_verb_where_they_decide(tmp_path):
    store = SqliteStore(str(tmp_path / "a.db"))
    with Memory(store, settings=None) as memory:
        ana = memory.agent("ana")
        ana.pools.create("team", ["ben"])
        fact = ana.remember("green", subject="the tram", predicate="is", scope="pool:team")
        verbs = {
            "recall": lambda: ana.recall("tram"),
            "remember": lambda: ana.remember("nine", subject="the tram", predicate="leaves at", scope="pool:team"),
            "remember elsewhere": lambda: ana.remember("nine", subject="the tram", predicate="leaves at"),
            "confirm": lambda: ana.confirm(fact.id),
            "get": lambda: ana.get(fact.id),
        }
        for name, verb in verbs.items():
            memory.parts.references.flush()  # those of the verb before are counted in a write of their own
            with statements(store) as ran:
                verb()
            assert len([sql for sql in ran if "pool_members" in sql]) == (name != "remember elsewhere"), name
        with statements(store) as ran:
            ana.observe("The tram is green.")  # which lies in its own scope
        assert not any("pool_members" in sql for sql in ran)


class Sharing:
    """What agents do to pools, and beside it what should come of that: sets in a dictionary."""

    def __init__(self, memory):
        self.agents = {(tenant, name): memory.agent(name, tenant=tenant) for tenant in TENANTS for name in AGENTS}
        self.members, self.held, self.words = {}, {}, count()

    def do(self, verb, tenant, who, pool, other):
        """One step, which meets the error that it should, if any."""
        agent, place = self.agents[tenant, who], (tenant, pool)
        word = f"word{next(self.words)}"
        attempts = {
            "create": lambda: agent.pools.create(pool, [other]),
            "add": lambda: agent.pools.add(pool, other),
            "remove": lambda: agent.pools.remove(pool, other),
            "delete": lambda: agent.pools.delete(pool),
            "remember": lambda: agent.remember(word, subject="x", predicate=word, scope=f"pool:{pool}"),
        }
        refused = self._refused(verb, place, who, other)
        with pytest.raises(refused) if refused else nullcontext():
            attempts[verb]()
        if not refused:
            self._done(verb, place, {who, other}, other, word)

    def check(self):
        """Each agent sees its pools and what they hold, and nothing of any other."""
        for (tenant, name), agent in self.agents.items():
            mine = [place for place, inside in self.members.items() if place[0] == tenant and name in inside]
            assert [found.name for found in agent.pools.list()] == sorted(pool for _, pool in mine)
            assert {each.content for each in agent.facts()} == {word for place in mine for word in self.held[place]}

    def _refused(self, verb, place, who, other):
        if verb == "create":
            return InvalidInput if place in self.members else None
        if who not in self.members.get(place, ()):
            return InvalidInput if verb == "remember" else NotFound
        is_last = verb == "remove" and self.members[place] == {other}
        return InvalidInput if is_last or (verb == "delete" and self.held[place]) else None

    def _done(self, verb, place, both, other, word):  # one call
        match verb:
            case "create":
                self.members[place], self.held[place] = both, set()
            case "add":
                self.members[place].add(other)
            case "remove":
                self.members[place].discard(other)
            case "delete":
                del self.members[place], self.held[place]
            case "remember":
                self.held[place].add(word)


STEPS = st.tuples(
    st.sampled_from(["create", "add", "remove", "remember", "delete"]),
    st.sampled_from(TENANTS),
    st.sampled_from(AGENTS),
    st.sampled_from(POOLS),
    st.sampled_from(AGENTS),
)


@pytest.mark.req("G14")
@settings(max_examples=40)
@given(steps=st.lists(STEPS, max_size=25))
def test_only_members_see_a_pool_whoever_comes_and_goes(steps):
    with Memory.open(":memory:", settings=NO_VECTORS) as memory:
        sharing = Sharing(memory)
        for step in steps:
            sharing.do(*step)
            sharing.check()


def test_every_command_answers_as_the_library_does(cli, database):
    made = cli("pools", "create", "team", "ben", "--json")
    assert (made.code, made.json["members"]) == (0, ["assistant", "ben"])
    fact = cli("remember", "green", "--subject", "tram", "--predicate", "is", "--scope", "pool:team", "--json").json
    rule = cli("rules", "add", "Take the tram.", "--json").json
    copy = cli("pools", "contribute", "team", rule["id"], "--json").json
    assert (copy["scope"], copy["content"]) == ("pool:team", "Take the tram.")
    found = cli("--agent", "ben", "pools", "query", "team", "tram", "--json").json
    assert {hit["memory"]["id"] for hit in found["hits"]} == {fact["id"], copy["id"]}
    assert cli("--agent", "ben", "pools", "query", "team", "tram").out.count("tram") >= 2
    synced = cli("--agent", "ben", "pools", "sync", "team")
    assert synced.out == "copied 2 memories, 0 unchanged, 0 of its own kept\n"
    assert cli("pools", "add", "team", "cal").out == "team: assistant, ben, cal\n"
    assert cli("pools", "remove", "team", "ben").out == "team: assistant, cal\n"
    assert cli("pools", "list", "--json").json["items"][0]["members"] == ["assistant", "cal"]
    refused = cli("--agent", "ben", "pools", "query", "team", "tram", "--json")
    assert (refused.code, refused.error["code"]) == (1, "not_found")
    assert cli("pools", "delete", "team", "--json").error["code"] == "invalid_input"
    for id_ in (fact["id"], copy["id"]):
        cli("erase", id_, "--yes")
    assert cli("pools", "delete", "team").out == "deleted pool team\n"
    with Memory.open(database, settings=NO_VECTORS) as memory:
        assert memory.agent("assistant").pools.list() == []
