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

from engrain.domain.analysis import terms
from engrain.domain.indexing import own_terms
from engrain.domain.ports import Request
from engrain.domain.query import Filter
from engrain.domain.records import Caller
from tests.reference_store import ReferenceStore
from tests.sample_records import FILTERS, NOON, episode, fact, several
from tests.store_samples import DIMS, EMBEDDER, LONG_AGO, axis

TENANTS = ["default", "other"]
WORDS = ["lisbon", "tram", "river", "bread", "late", "Ana", "Ben", "may"]
ANA, BEN = (Caller(agent=agent) for agent in ("ana", "ben"))
CALLERS = [
    replace(who, tenant_id=tenant, pools=pools) for who in (ANA, BEN) for tenant in TENANTS for pools in ((), ("team",))
]
SCOPES = st.sampled_from(["global", "ana", "ben", "pool:team"])
SAYINGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
MINUTES = st.integers(-3, 3).map(lambda minutes: timedelta(minutes=minutes))
TURNS = st.fixed_dictionaries(
    {
        "content": SAYINGS,
        "tenant_id": st.sampled_from(TENANTS),
        "scope": SCOPES,
        "session": st.sampled_from([None, "monday", "monday", "friday"]),
        "role": st.sampled_from(["user", "assistant"]),
        "speaker": st.sampled_from([None, "Ana", "Ben"]),
        "tags": several(st.sampled_from(["travel", "food"])),
        "expires_in": st.none() | st.none() | MINUTES,
        "happened": MINUTES,
    }
)
STATEMENTS = st.fixed_dictionaries(
    {
        "content": SAYINGS,
        "tenant_id": st.sampled_from(TENANTS),
        "scope": SCOPES,
        "subject": st.sampled_from(["Ana", "Ben"]),
        "predicate": st.sampled_from(["lives in", "likes"]),
        "validity": st.sampled_from(["active", "active", "active", "retracted"]),
        "tags": several(st.sampled_from(["travel", "food"])),
        "valid_since": st.none() | MINUTES,
    }
)


class StoreMachine(RuleBasedStateMachine):
    """Does everything twice, to the backend and to the model. Memories are known by id: refs are each store's own."""

    backend = None

    @initialize()
    def open(self):
        self.opened = ExitStack()
        self.model = ReferenceStore()
        self.store = self.opened.enter_context(self.backend.fresh())
        for each in self.both:
            each.use_embedder(EMBEDDER, DIMS)
        self.now = NOON
        self.memories = {}
        self.refs = {id(each): {} for each in self.both}

    @property
    def both(self):
        return self.model, self.store

    def teardown(self):
        if hasattr(self, "opened"):
            self.opened.close()

    def memory(self, drawn):
        """A record of what was drawn, made now."""
        fields = dict(drawn)
        if "predicate" in fields:
            since = fields.pop("valid_since")
            return fact(**fields, created_at=self.now, valid_from=None if since is None else self.now + since)
        happened, expires_in = fields.pop("happened"), fields.pop("expires_in")
        return episode(
            **fields,
            created_at=self.now,
            event_time=self.now + happened,
            expires_at=None if expires_in is None else self.now + expires_in,
        )

    def put(self, memories):
        expected, stored = (each.put(memories) for each in self.both)
        assert stored == expected
        self.memories |= {memory.id: memory for memory in memories}
        for each in self.both:
            for memory in stored:
                self.learn(each, memory)

    def learn(self, store, memory):
        """Its ref, found by its words; of a fact that is not active there is none to find."""
        reader = Caller(tenant_id=memory.tenant_id, agent="ana", pools=("team", "x"))
        reader = replace(reader, agent=memory.scope) if memory.scope == "ben" else reader
        asked = Request(caller=reader, filter=Filter(), now=LONG_AGO)
        found = store.keyword(asked, set(own_terms(memory)), 1_000)
        known = store.load(asked, [each.ref for each in found])
        self.refs[id(store)] |= {ref: each.id for ref, each in known.items()}

    def named(self, store, candidates):
        return [(self.refs[id(store)][each.ref], each.raw) for each in candidates]

    def handles(self, store, ids):
        return [ref for ref, id_ in self.refs[id(store)].items() if id_ in ids]

    @rule(seconds=st.integers(0, 90))
    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule(drawn=TURNS | STATEMENTS)
    def put_one(self, drawn):
        self.put([self.memory(drawn)])

    @rule(drawn=st.lists(TURNS | STATEMENTS, min_size=2, max_size=6))
    def put_several(self, drawn):
        self.put([self.memory(each) for each in drawn])

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), drawn=st.lists(TURNS | STATEMENTS, max_size=2))
    def put_again(self, data, drawn):
        known = data.draw(st.lists(st.sampled_from(sorted(self.memories)), min_size=1, max_size=3))
        again = [self.memories[id_] for id_ in known]
        self.put([*again, *(self.memory(each) for each in drawn)])

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), caller=st.sampled_from(CALLERS), ago=st.sampled_from([0, 0, 0, 45]))
    def retire(self, data, caller, ago):
        id_ = data.draw(st.sampled_from(sorted(self.memories)))
        expected, gone = (each.retire(caller, id_, at=self.now - timedelta(seconds=ago)) for each in self.both)
        assert gone == expected

    @rule()
    def settle(self):
        expected, settled = (each.settle() for each in self.both)
        assert settled == expected

    @rule(data=st.data())
    def attach(self, data):
        """Vectors for some of what waits, in any order, and for a memory that may have gone or had one already."""
        expected, waiting = (
            {self.refs[id(each)].get(one.ref): one.text for one in each.unembedded(1_000)} for each in self.both
        )
        assert waiting == expected
        everything = sorted(set(self.refs[id(self.store)].values()))
        if not everything:
            return
        chosen = data.draw(st.lists(st.sampled_from(sorted(set(waiting)) or everything), max_size=6))
        chosen += data.draw(st.lists(st.sampled_from(everything), max_size=1))
        rows = np.array([axis(len(self.memories[id_].content) % DIMS) for id_ in chosen], np.float32)
        for each in self.both:
            handles = {id_: ref for ref, id_ in self.refs[id(each)].items()}
            each.attach([handles[id_] for id_ in chosen], rows.reshape(-1, DIMS))

    @rule(
        caller=st.sampled_from(CALLERS),
        filter_=st.just(Filter()) | FILTERS,
        words=st.sets(st.sampled_from(WORDS)),
        limit=st.integers(0, 9),
    )
    def keyword(self, caller, filter_, words, limit):
        asked = Request(caller=caller, filter=filter_, now=self.now)
        query = set(terms(" ".join(words)))
        expected, found = (self.named(each, each.keyword(asked, query, limit)) for each in self.both)
        assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
        assert [raw for _, raw in found] == pytest.approx([raw for _, raw in expected])

    @rule(
        caller=st.sampled_from(CALLERS),
        filter_=st.just(Filter()) | FILTERS,
        place=st.integers(0, DIMS - 1),
        limit=st.integers(0, 9),
        data=st.data(),
    )
    def nearest(self, caller, filter_, place, limit, data):
        asked = Request(caller=caller, filter=filter_, now=self.now)
        also = data.draw(st.sets(st.sampled_from(sorted(self.memories)), max_size=3)) if self.memories else set()
        expected, found = (
            self.named(each, each.nearest(asked, axis(place), limit, also=self.handles(each, also)))
            for each in self.both
        )
        assert found == expected

    @rule(caller=st.sampled_from(CALLERS), filter_=st.just(Filter()) | FILTERS, limit=st.integers(0, 9))
    def recent(self, caller, filter_, limit):
        asked = Request(caller=caller, filter=filter_, now=self.now)
        expected, found = (each.recent(asked, limit) for each in self.both)
        assert found == expected

    @precondition(lambda self: self.memories)
    @rule(data=st.data(), caller=st.sampled_from(CALLERS), filter_=st.just(Filter()) | FILTERS, reach=st.integers(0, 4))
    def around(self, data, caller, filter_, reach):
        asked = Request(caller=caller, filter=filter_, now=self.now)
        id_ = data.draw(st.sampled_from(sorted(self.memories)))
        for memory in self.model.get(caller, [id_]):
            expected, found = (each.neighbours(asked, memory, reach) for each in self.both)
            assert found == expected

    @rule(caller=st.sampled_from(CALLERS), filter_=st.just(Filter()) | FILTERS)
    def behind_refs(self, caller, filter_):
        asked = Request(caller=caller, filter=filter_, now=self.now)
        for read in ("turns", "load"):
            expected, found = (
                {known[ref]: each for ref, each in getattr(store, read)(asked, list(known)).items()}
                for store in self.both
                for known in [self.refs[id(store)]]
            )
            assert found == expected

    @invariant()
    def the_same_memories(self):
        if not hasattr(self, "opened"):
            return
        for caller in CALLERS:
            asked = Request(caller=caller, filter=Filter(), now=self.now)
            for read in (
                lambda store, who=caller: store.get(who, sorted(self.memories)),
                lambda store, what=asked: store.speakers(what),
                lambda store, who=caller: store.stats(who, self.now),
                lambda store, who=caller: store.waiting(who),
            ):
                expected, found = (read(each) for each in self.both)
                assert found == expected

    @rule()
    def check(self):
        assert self.store.health().problems == ()


def test_any_sequence_of_acts_gives_the_answers_of_the_reference_store(backend):
    class Machine(StoreMachine):
        pass

    Machine.backend = backend
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=25, stateful_step_count=30, report_multiple_bugs=False)
    )
