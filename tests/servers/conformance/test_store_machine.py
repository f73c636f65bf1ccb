"""Any sequence of acts leaves a backend and the reference store with the same answers."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engrain.domain.filters import Filter
from engrain.domain.memories.decay import STANDINGS
from engrain.domain.records import MATURITIES, RELATIONS, Caller
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.domain.text.indexing import own_terms
from engrain.errors import EngineUnavailable, InvalidInput, NotFound
from tests.support import sample_records as sample
from tests.support.backends import ALIKE
from tests.support.reference_store import ReferenceStore
from tests.support.sample_records import FILTERS, NOON, act, several
from tests.support.store_samples import DIMS, EMBEDDER, LONG_AGO, axis, flush_index

TENANTS = ["default", "other"]
WORDS = ["lisbon", "tram", "river", "bread", "late", "Ana", "Ben", "may"]
CALLERS = [
    Caller(tenant_id=tenant, agent=agent, pools=pools, request_id=request_id)
    for agent in ("ana", "ben")
    for tenant in TENANTS
    for pools, request_id in (((), None), (("team",), "req-1"))
]
CALLED = st.sampled_from([each for each in CALLERS if each.tenant_id == "default"] * 3 + CALLERS)
LIMITS = st.integers(0, 9)
EMBEDDERS = st.sampled_from([EMBEDDER, "test:second", "test:third"])
KNOWN = "an entity of the default tenant"
PEOPLE = [KNOWN, "Ben"]  # whom words name
SAYINGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
MINUTES = st.integers(-3, 3).map(lambda minutes: timedelta(minutes=minutes))
SHARED = {
    "content": SAYINGS,
    "scope": st.sampled_from(["global", "ana", "ben", "pool:team"]),
    "tags": several(st.sampled_from(["travel", "food"])),
}
TURNS = st.fixed_dictionaries(
    {
        **SHARED,
        "kind": st.just("episode"),
        "session": st.sampled_from([None, "monday", "monday", "friday"]),
        "role": st.sampled_from(["user", "assistant"]),
        "speaker": st.sampled_from([None, "Ana", "Ben"]),
        "expires_at": st.none() | st.none() | MINUTES,
        "event_time": MINUTES,
    }
)
STATEMENTS = st.fixed_dictionaries(
    {
        **SHARED,
        "kind": st.just("fact"),
        "subject": st.sampled_from(["Ana", "Ben"]),
        "predicate": st.sampled_from(["lives in", "likes"]),
        "entity_id": st.sampled_from([None, None, KNOWN]),
        "validity": st.sampled_from(["active", "active", "active", "retracted"]),
        "valid_from": st.none() | MINUTES,
        "metadata": st.sampled_from([{}, {"status": "fading"}]),
    }
)
GUIDANCE = st.fixed_dictionaries(
    {
        **SHARED,
        "kind": st.just("rule"),
        "maturity": st.sampled_from(MATURITIES),
        "metadata": st.sampled_from([{}, {}, {"forgotten": True}]),
    }
)
DRAWN = TURNS | STATEMENTS | GUIDANCE
ASKED = st.just(Filter()) | FILTERS
ASKING = st.tuples(CALLED, ASKED, st.none() | st.none() | st.integers(0, 300))


def told(store, caller, **conditions):
    """Events without the ids each store gives them, in one order for those of a moment."""
    events = store.events(caller, **conditions)
    assert [each.created_at for each in events] == sorted((each.created_at for each in events), reverse=True)
    return sorted((replace(each, id="") for each in events), key=repr)


class StoreMachine(RuleBasedStateMachine):
    """Does everything twice, to the backend and to the model. Memories are known by id: refs are each store's own."""

    backend = None

    @initialize(data=st.data(), embedded=st.booleans())
    def open(self, data, embedded):
        """Something is there from the beginning, often with its vectors."""
        self.opened = ExitStack()
        self.model = ReferenceStore()
        self.store = self.opened.enter_context(self.backend.fresh())
        for each in self.both:
            each.use_embedder(EMBEDDER, DIMS)
            each.put_entity(act(), sample.entity(id=KNOWN))
            each.put_entity(act(), sample.entity("Ben", id="Ben"))
        self.now = NOON
        self.steps = 0
        self.memories = {}
        self.refs = {id(each): {} for each in self.both}
        for _ in range(3):
            caller = data.draw(CALLED)
            drawn = data.draw(st.lists(DRAWN, min_size=1, max_size=4))
            self.put(caller, [self.memory(each, caller) for each in drawn])
        if embedded:
            self.embed(1)

    @property
    def both(self):
        return self.model, self.store

    def teardown(self):
        if hasattr(self, "opened"):
            self.opened.close()

    def same(self, ask):
        """What both answer, or how both refuse."""
        answers = []
        for each in self.both:
            try:
                answers.append(ask(each))
            except (EngineUnavailable, InvalidInput, NotFound) as error:
                answers.append(type(error))
        assert answers[1] == answers[0]
        return answers[0]

    def some(self, data, **sizes):
        """Ids of memories that were put, erased ones included."""
        return data.draw(st.lists(st.sampled_from(sorted(self.memories)), **sizes))

    def somebody(self, data, id_):
        """Most often a caller who sees the memory."""
        memory = self.memories[id_]
        seeing = [each for each in CALLERS if each.tenant_id == memory.tenant_id and memory.scope in each.scopes]
        return data.draw(st.sampled_from(seeing * 4 + CALLERS))

    def asked(self, asking):
        """A request as of so many seconds ago, where somebody asks for that."""
        caller, filter_, ago = asking
        as_of = filter_.as_of if ago is None else self.now - timedelta(seconds=ago)
        return Request(caller=caller, filter=replace(filter_, as_of=as_of), now=self.now)

    def memory(self, drawn, caller):
        """A record of what was drawn, made now by a caller, in its own scope where it does not see the other."""
        fields = dict(drawn)
        made = getattr(sample, fields.pop("kind"))
        for moment in ("expires_at", "event_time", "valid_from"):
            if fields.get(moment) is not None:
                fields[moment] += self.now
        if fields["scope"] not in caller.scopes:
            fields["scope"] = caller.agent
        return made(**fields, tenant_id=caller.tenant_id, agent=caller.agent, created_at=self.now)

    def put(self, caller, memories):
        stored = self.same(lambda store: store.put(act(self.now, caller), memories))
        self.memories |= {memory.id: memory for memory in memories}
        for memory in stored if isinstance(stored, list) else ():
            for each in self.both:
                self.learn(each, memory, caller)

    def learn(self, store, memory, caller):
        """Its ref, found by its own words at once."""
        asked = Request(caller=caller, filter=Filter(include_inactive=True), now=LONG_AGO)
        found = store.keyword(asked, set(own_terms(memory)), 1_000)
        known = store.load(asked, [each.ref for each in found])
        assert memory.id in {each.id for each in known.values()}
        self.refs[id(store)] |= {ref: each.id for ref, each in known.items()}

    def named(self, store, candidates):
        return [(self.refs[id(store)][each.ref], each.raw) for each in candidates]

    def handles(self, store, ids):
        return [ref for ref, id_ in self.refs[id(store)].items() if id_ in ids]

    def embed(self, version):
        """Give a version all the vectors it lacks."""
        for each in self.both:
            flush_index(each)
            missing = each.unembedded(1_000, version=version)
            rows = [axis((len(one.text) + version) % DIMS) for one in missing]
            each.attach([one.ref for one in missing], np.array(rows).reshape(-1, DIMS), version=version)

    @rule(seconds=st.integers(0, 90))
    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule(data=st.data(), caller=CALLED, drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def put_new(self, data, caller, drawn):
        """One or several; what is derived may name what is no episode, or not seen."""
        memories = [self.memory(each, caller) for each in drawn]
        if self.memories and memories[-1].kind != "episode" and data.draw(st.booleans()):
            [source] = self.some(data, min_size=1, max_size=1)
            memories[-1] = replace(memories[-1], source_episode_id=source)
        self.put(caller, memories)

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), drawn=st.lists(DRAWN, max_size=2))
    def put_again(self, data, drawn):
        """Known memories, erased ones too, among new ones; where the caller does not see one of them, none."""
        again = self.some(data, min_size=1, max_size=3)
        caller = self.somebody(data, again[0])
        new = [self.memory(each, caller) for each in drawn]
        self.put(caller, [*(self.memories[id_] for id_ in again), *new])

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), ago=st.sampled_from([0, 0, 0, 45]))
    def forget(self, data, ago):
        [id_] = self.some(data, min_size=1, max_size=1)
        caller = self.somebody(data, id_)
        self.same(lambda store: store.forget(act(self.now - timedelta(seconds=ago), caller), id_))

    @precondition(lambda self: self.memories)
    @rule(data=st.data())
    def stand_by(self, data):
        """Confirmed, looked at, and drawn together."""
        ids = self.some(data, min_size=2, max_size=3)
        caller = self.somebody(data, ids[0])
        now = act(self.now, caller)
        self.same(lambda store: store.confirm(now, ids[0]))
        self.same(lambda store: store.touch(now, ids))
        relation = data.draw(st.sampled_from(RELATIONS))
        edge = sample.link(self.memories[ids[0]], self.memories[ids[1]], relation, created_at=self.now)
        self.same(lambda store: store.link(now, edge))

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), whom=several(st.sampled_from([*PEOPLE, *PEOPLE, "nobody"])))
    def mention(self, data, whom):
        [id_] = self.some(data, min_size=1, max_size=1)
        caller = self.somebody(data, id_)
        self.same(lambda store: store.mention(act(self.now, caller), id_, whom))

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), drawn=STATEMENTS, several=st.booleans())
    def put_among_others(self, data, drawn, several):
        """A fact related to some memories, or in the place of several, whatever they are."""
        ids = self.some(data, min_size=1, max_size=3, unique=True)
        caller = self.somebody(data, ids[0])
        new, now = replace(self.memory(drawn, caller), validity="active"), act(self.now, caller)
        if several:
            stored = self.same(lambda store: store.supersede(now, new, ids))
        else:
            stored = self.same(lambda store: store.put_related(now, new, dict.fromkeys(ids, 0.5)))
        if stored is not None and not isinstance(stored, type):
            self.memories[new.id] = new
            for each in self.both:
                self.learn(each, new, caller)

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), to=st.sampled_from(STANDINGS))
    def age(self, data, to):
        [id_] = self.some(data, min_size=1, max_size=1)
        caller = self.somebody(data, id_)
        self.same(lambda store: store.age(act(self.now, caller), id_, to))

    @precondition(lambda self: self.memories)
    @rule(data=st.data())
    def erase(self, data):
        ids = self.some(data, min_size=1, max_size=2)
        caller = self.somebody(data, ids[0])
        self.same(lambda store: sorted(store.erase(act(self.now, caller), ids)))

    @rule()
    def flush_index(self):
        for each in self.both:
            flush_index(each)

    @rule(data=st.data(), building=st.booleans())
    def attach(self, data, building):
        """Vectors for some of what waits, in any order, and for a memory that may have gone or had one already."""
        versions = {each.state: each.version for each in self.model.embedding_versions()}
        version = versions.get("building") if building else None
        self.flush_index()
        waiting = self.same(
            lambda store: {
                self.refs[id(store)].get(one.ref): one.text for one in store.unembedded(1_000, version=version)
            }
        )
        handles = {id(each): {id_: ref for ref, id_ in self.refs[id(each)].items()} for each in self.both}
        everything = sorted(handles[id(self.model)].keys() & handles[id(self.store)].keys())
        if not everything:
            return
        chosen = data.draw(st.lists(st.sampled_from(sorted(set(waiting)) or everything), max_size=6))
        chosen += data.draw(st.lists(st.sampled_from(everything), max_size=1))
        turned = version or versions["active"]
        rows = np.array([axis((len(self.memories[id_].content) + turned) % DIMS) for id_ in chosen], np.float32)
        self.same(
            lambda store: store.attach(
                [handles[id(store)][id_] for id_ in chosen], rows.reshape(-1, DIMS), version=version
            )
        )

    @rule(name=EMBEDDERS, stage=st.sampled_from(["begun", "built", "switched", "in use", "in use", "in use"]))
    def reembed(self, name, stage):
        """With another embedder, as far as a process came."""
        begun = self.same(lambda store: getattr(store.begin_version(name, DIMS), "version", None))
        building = [each for each in self.model.embedding_versions() if each.state == "building"]
        for version in building if stage != "begun" else ():
            self.embed(version.version)
        if stage in ("switched", "in use"):
            chosen = begun if isinstance(begun, int) else 1
            self.same(lambda store: store.switch_version(act(self.now, CALLERS[0]), chosen))
        if stage == "in use":
            self.use_embedder(name)

    def use_embedder(self, name):
        self.same(lambda store: store.use_embedder(name, DIMS))

    @rule(name=EMBEDDERS, caller=CALLED, limit=LIMITS)
    def keep_house(self, name, caller, limit):
        """Vectors nobody needs, somebody who comes with another embedder, and a switch that is most often too early."""
        pruned = [(store.prune_vectors(limit), store.prune_vectors(1_000)) for store in self.both]
        assert all(first <= limit for first, _ in pruned)  # which they are is each store's own affair
        assert sum(pruned[1]) >= sum(pruned[0])  # SQLite keeps an empty row of what was erased
        self.same(lambda store: store.prune_vectors(1_000))
        self.use_embedder(name)
        [*_, last] = self.model.embedding_versions()
        self.same(lambda store: store.switch_version(act(self.now, caller), last.version))
        assert self.store.health().problems == ()

    @rule(data=st.data(), asking=ASKING, words=st.sets(st.sampled_from(WORDS)), limit=LIMITS)
    def search(self, data, asking, words, limit):
        also = set(self.some(data, max_size=3)) if self.memories else set()
        place = data.draw(st.integers(0, DIMS - 1))
        self.flush_index()
        self.same_answers(self.asked(asking), words, limit, place=place, also=also)

    def same_answers(self, asked, words, limit, *, place, also=()):
        query = set(terms(" ".join(sorted(words))))
        expected, found = (self.named(each, each.keyword(asked, query, limit)) for each in self.both)
        assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
        assert [raw for _, raw in found] == pytest.approx([raw for _, raw in expected])
        self.same(lambda store: store.recent(asked, limit))
        self.same(lambda store: store.newest_rules(asked, limit))
        self.same(lambda store: self.named(store, store.newest(asked, limit)))
        self.same(lambda store: self.named(store, store.important(asked, limit)))
        self.same(lambda store: self.named(store, store.mentioning(asked, sorted(words), limit)))
        self.same(
            lambda store: self.named(store, store.nearest(asked, axis(place), limit, also=self.handles(store, also)))
        )

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), asking=ASKING, reach=st.integers(0, 4))
    def look_around(self, data, asking, reach):
        asked = self.asked(asking)
        for read in ("traits", "recalled_traits", "load"):
            self.same(
                lambda store, name=read: {
                    self.refs[id(store)][ref]: each
                    for ref, each in getattr(store, name)(asked, list(self.refs[id(store)])).items()
                }
            )
        for memory in self.model.get(asked.caller, self.some(data, min_size=1, max_size=2)):
            self.same(lambda store, turn=memory: store.neighbours(asked, turn, reach))

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), relation=st.none() | st.sampled_from(RELATIONS))
    def look_into_its_past(self, data, relation):
        [id_] = self.some(data, min_size=1, max_size=1)
        caller = self.somebody(data, id_)
        direction = data.draw(st.sampled_from(["outgoing", "incoming", "both"]))
        self.same(lambda store: store.links(caller, id_, direction=direction, relation=relation))
        event_type = data.draw(st.none() | st.sampled_from(["fact_created", "memory_erased"]))
        self.same(lambda store: told(store, caller, memory_id=id_, event_type=event_type))

    @invariant()
    def the_same_memories_found_by_the_same_searches(self):
        """Of one caller and one view of time after each step, each in turn."""
        if not hasattr(self, "opened"):
            return
        self.steps += 1
        caller = CALLERS[self.steps % len(CALLERS)]
        before = self.now - timedelta(minutes=1)
        views = (Filter(), Filter(include_inactive=True), Filter(as_of=before))
        asked = Request(caller=caller, filter=views[self.steps % len(views)], now=self.now)
        self.store.in_one_snapshot(caller, lambda: self.same_memories(asked))  # spares a dozen transactions
        if self.steps % 2:  # what is left for later, and what words weigh until then, is each backend's own
            self.flush_index()
        words, place = WORDS if self.steps % 2 else (), self.steps % DIMS
        self.store.in_one_snapshot(
            caller, lambda: self.same_answers(asked, words, 1_000, place=place, also=self.memories)
        )

    def same_memories(self, asked):
        caller = asked.caller
        self.same(lambda store: store.get(caller, sorted(self.memories)))
        self.same(lambda store: store.speakers(asked))
        self.same(lambda store: store.stats(caller, self.now))
        self.same(lambda store: store.waiting(caller))
        self.same(lambda store: told(store, caller))
        for id_ in sorted(self.memories)[self.steps % 7 :: 7]:
            self.same(lambda store, at=id_: store.links(caller, at))
            self.same(lambda store, at=id_: store.history(caller, at))


def test_any_sequence_of_acts_gives_the_answers_of_the_reference_store(backend):
    class Machine(StoreMachine):
        pass

    Machine.backend = backend
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=5 if backend.name in ALIKE else 14, stateful_step_count=35, report_multiple_bugs=False
        ),
    )
