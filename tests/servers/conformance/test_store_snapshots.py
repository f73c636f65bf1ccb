"""One question, one state: all that is asked inside `in_one_snapshot` is of one moment, and nothing is written."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from engrain.domain.records import Caller
from engrain.storage.transaction import Transaction
from tests.support.sample_records import CALLER, FOREIGN, LATER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import axis, embed_all, flush_index, put


@pytest.fixture
def used(store):
    """A store with a memory of each kind, all of whom mention somebody, settled and embedded."""
    ana = store.put_entity(act(), entity("Ana"))
    stored = put(store, [episode("Bread.", speaker="Ana"), fact("bread"), rule("Bread.")])
    embed_all(store, {each.id: axis(0) for each in stored})
    for each in stored:
        store.mention(act(), each.id, [ana.id])
    return store


def everything(store, caller=CALLER):
    """All that a search may ask, without a store's own refs."""
    asked = request(caller)
    found = {
        "keyword": store.keyword(asked, {"bread"}, 99),
        "nearest": store.nearest(asked, axis(0), 99),
        "newest": store.newest(asked, 99),
        "important": store.important(asked, 99),
        "mentioning": store.mentioning(asked, ["Ana"], 99),
    }
    refs = sorted({each.ref for each in found["newest"]})
    return {
        **found,
        "traits": store.traits(asked, refs),
        "load": store.load(asked, refs),
        "recent": store.recent(asked, 99),
        "speakers": store.speakers(asked),
        "waiting": store.waiting(caller),
        "stats": store.stats(caller, LATER),
    }


def test_what_work_answers_is_answered(used):
    assert used.in_one_snapshot(CALLER, lambda: everything(used)) == everything(used)
    assert used.in_one_snapshot(CALLER, lambda: None) is None


def test_all_that_is_asked_in_one_of_them_is_of_one_state(used, backend):
    """Where others can write meanwhile they do, and what was begun does not see it; after it, it is seen."""
    if backend.name in {"reference", "sqlite-memory", "sqlite-wide"}:
        meanwhile = []  # there is nobody else: one lock, or one connection

    else:

        def write():
            put(used, [episode("More bread.", speaker="Ben"), fact("more bread", predicate="eats")])
            used.forget(act(LATER), used.recent(request(kinds=("rule",)), 1)[0].id)
            assert len(everything(used)["nearest"]) == 2

        meanwhile = [write]

    def work():
        before = everything(used)
        with ThreadPoolExecutor(1) as pool:
            for each in meanwhile:
                pool.submit(each).result()
        return before, everything(used)

    before, after = used.in_one_snapshot(CALLER, work)
    assert before == after
    flush_index(used)
    assert len(everything(used)["recent"]) == 3 + len(meanwhile)


READS = {
    "recent": lambda store, asked: len(store.recent(asked, 9)),
    "newest": lambda store, asked: len(store.newest(asked, 9)),
    "important": lambda store, asked: len(store.important(asked, 9)),
    "keyword": lambda store, asked: len(store.keyword(asked, {"bread"}, 9)),
    "stats": lambda store, asked: store.stats(asked.caller, LATER).facts.active,
}


@pytest.mark.parametrize("verb", READS)
def test_a_verb_sees_one_state_though_others_write_between_its_statements(used, backend, monkeypatch, verb):
    """A fact that is replaced all the while is found each time, once: the old one, or the new one."""
    if backend.name in {"reference", "sqlite-memory", "sqlite-wide"}:
        assert READS[verb](used, request(kinds=("fact",))) == 1  # nobody else: one lock, or one connection
        return
    here, replaced = threading.get_ident(), []

    def replace_it():
        replaced.append(used.put_related(act(LATER), fact("fresh bread", id=f"f-{len(replaced)}"), {}))

    def meanwhile(asking):
        def asked(*arguments, **values):
            answer = asking(*arguments, **values)
            if threading.get_ident() == here:
                pool.submit(replace_it).result()
            return answer

        return asked

    for name in ("rows", "one", "ask"):
        monkeypatch.setattr(Transaction, name, meanwhile(getattr(Transaction, name)))
    with ThreadPoolExecutor(1) as pool:
        assert READS[verb](used, request(kinds=("fact",))) == 1
    assert replaced
    assert None not in replaced


def test_one_inside_another_is_part_of_it(used):
    def inner():
        return everything(used)

    def outer():
        first = used.in_one_snapshot(CALLER, inner)
        return first == everything(used) == used.in_one_snapshot(CALLER, inner)

    assert used.in_one_snapshot(CALLER, outer)
    assert put(used, [episode("Afterwards.")])


def test_others_are_asked_inside_and_see_what_is_theirs(used):
    put(used, [replace(episode("Foreign bread."), tenant_id="other")])
    flush_index(used)
    expected = {caller: everything(used, caller) for caller in (CALLER, FOREIGN, Caller(agent="nobody"))}

    def work():
        mine = everything(used)
        others = used.in_one_snapshot(FOREIGN, lambda: {caller: everything(used, caller) for caller in expected})
        return mine, others, everything(used)

    assert used.in_one_snapshot(CALLER, work) == (expected[CALLER], expected, expected[CALLER])


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_of_the_work_is_raised_and_ends_it(used, error):
    def work():
        everything(used)
        raise error

    with pytest.raises(type(error)):
        used.in_one_snapshot(CALLER, work)
    [stored] = put(used, [episode("Afterwards.")])
    assert used.in_one_snapshot(CALLER, lambda: used.get(CALLER, [stored.id])) == [stored]


WRITES = {
    "put": lambda store, _: store.put(act(), [episode("No.")]),
    "touch": lambda store, id_: store.touch(act(), [id_]),
    "forget": lambda store, id_: store.forget(act(), id_),
    "erase": lambda store, id_: store.erase(act(), [id_]),
    "mention": lambda store, id_: store.mention(act(), id_, []),
    "put_entity": lambda store, _: store.put_entity(act(), entity("Zoe")),
    "attach": lambda store, _: store.attach([], axis(0)[None][:0]),
    "prune": lambda store, _: store.prune_vectors(1),
}


@pytest.mark.parametrize("verb", WRITES)
def test_a_write_inside_is_a_mistake_that_says_so_and_does_nothing(used, verb):
    before = everything(used), used.events(CALLER)
    [id_] = [each.id for each in used.recent(request(kinds=("episode",)), 1)]

    def work():
        with pytest.raises(RuntimeError, match="only reads"):
            WRITES[verb](used, id_)
        return everything(used), used.events(CALLER)

    assert used.in_one_snapshot(CALLER, work) == before
    assert (everything(used), used.events(CALLER)) == before
    assert put(used, [episode("Afterwards.")])


def test_another_store_may_be_written_inside(used, backend):
    with backend.fresh() as other:
        [stored] = used.in_one_snapshot(CALLER, lambda: put(other, [episode("Elsewhere.")]))
        assert used.in_one_snapshot(CALLER, lambda: other.get(CALLER, [stored.id])) == [stored]
        assert used.in_one_snapshot(CALLER, lambda: used.get(CALLER, [stored.id])) == []


def test_threads_are_each_in_one_of_their_own(used):
    def ask(_):
        return used.in_one_snapshot(CALLER, lambda: everything(used))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(12)))
    assert all(each == answers[0] for each in answers)


def test_what_is_known_of_one_question_is_not_known_of_the_next(used):
    """What was remembered of a search is forgotten with it; another moment and another kind ask anew inside it too."""
    ends = fact("crumbs", predicate="leaves")

    def work():
        early = used.newest(replace(request(), now=NOON - timedelta(days=9)), 99)
        return len(early), len(used.newest(request(kinds=("fact",)), 9)), len(used.newest(request(), 99))

    assert used.in_one_snapshot(CALLER, work) == (3, 1, 3)
    [kept] = put(used, [ends])
    used.link(act(), link(kept, used.recent(request(kinds=("rule",)), 1)[0]))
    assert used.in_one_snapshot(CALLER, work) == (4, 2, 4)
