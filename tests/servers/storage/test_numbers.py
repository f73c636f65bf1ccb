"""Numbers of memories and namespaces: unique within a tenant, in order of time, and no counter behind them."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller
from engrain.portability.copies import copy
from engrain.storage import migrations
from engrain.storage.postgres.index import draw_namespace
from tests.support.rows_of_old import make_old
from tests.support.sample_records import act, episode, fact, request
from tests.support.schemas import DATABASES, empty_database
from tests.support.store_samples import DIMS, EMBEDDER, axis, flush_index, keyword, put
from tests.support.stores import InMemoryStore
from tests.support.wiped import fresh_store

OTHER = Caller(tenant_id="other", agent="aide")
KINDS = ("episodes", "facts", "rules")


@pytest.fixture
def store():
    with fresh_store() as store:
        yield store


class Numbers:
    """Numbers that another process has drawn too, and then those of this one."""

    def __init__(self, store, *taken):
        self._rest, self._taken = store.backend.docs, list(taken)

    def several(self, count, *, kind):
        return [self._taken.pop(0)] if self._taken else self._rest.several(count, kind=kind)


def rows_of(store, table="episodes", tenant_id=None):
    return store.extract(Extent(tenant_id=tenant_id), lambda found: list(found.rows(table, exact=True)))


def docs(store):
    """The numbers of all memories, by id."""
    return {row["id"]: row["doc"] for table in KINDS for row in rows_of(store, table)}


def add_row(store, row, **changes):
    """Add the turn of a row under an id of its own."""
    turn = {**row, "id": episode().id, **changes}
    assert store.restore(None, lambda found: found.add("episodes", [turn]), is_part=True) == 1
    return turn["id"]


@pytest.mark.parametrize("revision", migrations.REVISIONS)
@pytest.mark.parametrize("name", DATABASES)
def test_numbers_of_an_older_database_stay_and_new_ones_are_greater(name, revision, tmp_path):
    with empty_database(name, tmp_path) as database:
        make_old(database, revision)
        known = "SELECT id, doc FROM episodes UNION ALL SELECT id, doc FROM facts UNION ALL SELECT id, doc FROM rules"
        before = dict(database.rows(known))
        numbers = database.rows("SELECT scope, kind, namespace FROM namespaces")
        with closing(database.open()) as store:
            added = [episode("And jam.", session="monday"), fact("Tuesday", subject="Jam"), episode("Late.")]
            fresh = [docs(store)[memory.id] for memory in put(store, added)]
            assert [*fresh, *before.values()] == [*sorted(fresh), *before.values()]
            assert max(before.values()) < fresh[0]
            flush_index(store)
            assert store.health().problems == ()
        assert dict(database.rows(known)).items() >= before.items()
        assert set(database.rows("SELECT scope, kind, namespace FROM namespaces")) >= set(numbers)


def test_a_server_keeps_no_counter(store):
    assert store._connections.read(None, lambda db: db.execute("SELECT * FROM pg_sequences").fetchall()) == []


@pytest.mark.parametrize("erased", [False, True], ids=["both there", "one erased meanwhile"])
def test_two_tenants_with_one_number_get_each_its_own_vector(store, erased):
    store.use_embedder(EMBEDDER, DIMS)
    [ours] = put(store, [episode("Ours has jam.")])
    theirs = add_row(store, rows_of(store)[0], tenant_id="other")
    waiting = store.unembedded(9)
    assert {(each.tenant_id, each.id) for each in waiting} == {("default", ours.id), ("other", theirs)}
    assert len({each.ref for each in waiting}) == 1
    if erased:
        assert store.erase(act(), [ours.id])
    vectors = np.array([axis({"default": 0, "other": 1}[each.tenant_id]) for each in waiting])
    store.attach([each.ref for each in waiting], vectors, tenants=[each.tenant_id for each in waiting])
    assert store.unembedded(9) == []
    assert [each.raw for each in store.nearest(request(), axis(0), 9)] == ([] if erased else [1])
    assert [each.raw for each in store.nearest(replace(request(), caller=OTHER), axis(1), 9)] == [1]
    assert store.health().problems == ()


def test_a_copy_has_every_row_of_tenants_with_numbers_in_common(store):
    """More than one page of them: a page ends within a number."""
    put(store, [episode(f"Turn {place}.", session="monday") for place in range(300)])
    others = [{**row, "tenant_id": "other", "id": episode().id} for row in rows_of(store)]
    assert store.restore(None, lambda found: found.add("episodes", others), is_part=True) == 300
    [turn] = put(store, [episode("The last one.")])
    with fresh_store() as target:
        report = copy(store.store, target.store)
        assert report.differing == ()
        assert {table.table: table.rows for table in report.tables}["episodes"] == 601
        assert docs(target) == docs(store)
        assert docs(target)[turn.id] == max(docs(target).values())
        assert target.health().problems == ()


def test_a_number_that_another_process_has_drawn_too_is_drawn_again(store):
    """By a put and by a restore: neither loses a row."""
    [first] = put(store, [episode("First.")])
    [row] = rows_of(store)
    store.backend.docs = Numbers(store, row["doc"], row["doc"])
    [second] = put(store, [episode("Second.")])
    assert docs(store)[second.id] != row["doc"]
    store.backend.docs = Numbers(store, row["doc"])
    third = add_row(store, {name: value for name, value in row.items() if name != "doc"})
    assert docs(store).keys() == {first.id, second.id, third}
    assert len({*docs(store).values()}) == 3
    assert store.health().problems == ()


def test_a_scope_whose_number_another_of_the_tenant_has_takes_its_next(store):
    turn = episode("Bread and jam.")
    number, following = (draw_namespace("default", "episode", turn.scope, attempt=place) for place in range(2))
    taken = f"INSERT INTO namespaces (tenant_id, kind, scope, namespace) VALUES ('default', 'fact', 'bo', {number})"
    store._connections.write(None, lambda db: db.execute(taken), repeatable=True)
    put(store, [turn, fact("Bread")])
    assert len(keyword(store, "bread")) == 2
    found = store._connections.read(None, lambda db: db.execute("SELECT namespace FROM namespaces").fetchall())
    assert {(number,), (following,)} < set(found)
    assert store.health().problems == ()


def test_a_file_that_was_copied_from_a_server_uses_up_no_changes():
    """Numbers of a server lie millions apart: what a file counts of vectors goes by how many they are."""
    with closing(InMemoryStore()) as store:
        store.use_embedder(EMBEDDER, DIMS)
        put(store, [episode("Turn 0.")])
        ids = [add_row(store, rows_of(store)[0], doc=place << 60, content=f"Turn {place}.") for place in (1, 2, 3)]
        flush_index(store)
        waiting = store.unembedded(9)
        store.attach([each.ref for each in waiting], np.array([axis(place) for place in range(4)]))
        assert set(store.erase(act(), ids[:2])) == set(ids[:2])
        assert {int(each.ref) for each in store.nearest(request(), axis(0), 9)} == {1, 3 << 60}
        with store._connections.reading() as db:
            [(change,)] = db.execute("SELECT value FROM sequences WHERE name = 'change'")
        assert change < 10
