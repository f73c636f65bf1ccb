"""Several connections, threads and processes on one file: who waits, who sees what, and nobody is told "locked"."""

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import apsw
import pytest

from engrain import errors
from engrain.storage.migrations import HEAD
from engrain.storage.sqlite import schema
from tests.support.sample_records import CALLER, NOON, act, episode, fact, request
from tests.support.store_samples import axis, conversation, embed_all, keyword, nearest, put, refs
from tests.support.stores import SqliteStore

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "agent.db")


@pytest.fixture
def two(path):
    """Two stores on one file, as two processes have them: nothing is shared but the file."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(closing(SqliteStore(path, busy_timeout_s=0.2))) for _ in range(2))


def test_what_one_has_put_the_other_reads_at_once(two):
    here, there = two
    for place in range(5):
        [stored] = put(here, [episode(f"Number {place}.", session="monday", speaker=f"Speaker {place}")])
        assert there.get(CALLER, [stored.id]) == there.recent(request(), 1) == [stored]
        assert set(keyword(there, str(place))) == {stored.id}
        assert (
            there.waiting(CALLER)
            == there.stats(CALLER, NOON).episodes.total
            == len(there.speakers(request()))
            == place + 1
        )


def test_what_one_has_settled_the_other_finds_by_its_neighbours_words(two):
    here, there = two
    turns = [put(store, [turn])[0] for store, turn in zip(two, conversation("Bread.", "Tram."), strict=True)]
    assert set(keyword(there, "bread")) == {turns[0].id}
    assert here.flush_index() == 2
    assert set(keyword(there, "bread")) == {turn.id for turn in turns}
    assert there.flush_index() == 0


def test_vectors_of_one_are_found_by_the_other_at_once(two):
    here, there = two
    stored = put(here, [episode(f"Number {place}.") for place in range(4)])
    assert there.nearest(request(), axis(0), 9) == []
    known = embed_all(here, {each.id: axis(0) for each in stored[:2]})
    assert set(nearest(there, axis(0), known)) == {each.id for each in stored[:2]}
    embed_all(there, {each.id: axis(1) for each in stored[2:]})
    assert nearest(here, axis(1), known, limit=2) == {stored[3].id: 1.0, stored[2].id: 1.0}


def test_what_one_has_forgotten_the_other_finds_no_more(two):
    here, there = two
    kept, gone = put(here, [episode("Bread."), episode("Bread.")])
    known = embed_all(here, {kept.id: axis(0), gone.id: axis(0)})
    assert len(nearest(there, axis(0), known)) == len(keyword(there, "bread")) == 2
    here.forget(act(), gone.id)
    assert set(nearest(there, axis(0), known)) == set(keyword(there, "bread")) == {kept.id}
    assert there.recent(request(), 9) == [kept]


def test_what_one_has_superseded_the_other_believes_no_more(two):
    here, there = two
    [old] = put(here, [fact("Lisbon")])
    known = embed_all(here, {old.id: axis(0)})
    assert set(nearest(there, axis(0), known)) == {old.id}
    [new] = put(there, [fact("Porto")])
    assert here.nearest(request(), axis(0), 9) == []
    assert here.recent(request(), 9) == [new]
    assert keyword(here, "lisbon") == {}


def test_the_turns_of_one_session_are_numbered_over_both(two):
    turns = [put(two[place % 2], [episode("Hello.", session="monday")])[0].turn for place in range(6)]
    assert turns == [1, 2, 3, 4, 5, 6]


def test_an_embedder_is_chosen_once_for_both(two):
    here, there = two
    assert here.use_embedder("test:here", 4) is None
    assert there.use_embedder("test:there", 4) == "test:here"


def test_a_writer_that_waits_too_long_is_told_busy_and_nothing_is_written(two):
    here, there = two
    [stored] = put(here, [episode("Before.")])
    with here._connections.writing():
        for write in (
            lambda: put(there, [episode("During.")]),
            lambda: put(there, [episode("During."), fact("During")]),
            lambda: there.forget(act(), stored.id),
            lambda: there.use_embedder("test:axes", 4),
            there.flush_index,
        ):
            with pytest.raises(errors.DatabaseBusy, match="try again"):
                write()
        assert there.recent(request(), 9) == [stored]
    assert there.recent(request(), 9) == [stored]
    assert put(there, [episode("After.")])


def test_a_writer_that_waits_long_enough_is_served(path):
    with closing(SqliteStore(path)) as here, closing(SqliteStore(path, busy_timeout_s=60)) as there:
        with ThreadPoolExecutor() as pool:
            with here._connections.writing():
                write = pool.submit(put, there, [episode("Patient.")])
                assert there.recent(request(), 9) == []
            assert len(write.result()) == 1
        assert len(here.recent(request(), 9)) == 1


def test_readers_and_writers_never_wait_for_each_other(two):
    """A reader in the middle of a statement keeps nobody from writing, and is not disturbed by it."""
    here, there = two
    put(here, [episode(f"Number {place}.") for place in range(200)])
    with here._connections.reading() as db:
        rows = db.execute("SELECT content FROM episodes ORDER BY doc")
        first = next(rows)
        put(there, [episode("In between.")])
        put(here, [episode("In between, too.")])
        assert len([first, *rows]) == 200
    assert here.stats(CALLER, NOON).episodes.total == 202


def test_a_write_after_a_read_in_the_same_transaction_is_not_told_locked(path):
    """A deferred transaction that reads, then writes, fails at once when another has written in between."""
    with closing(SqliteStore(path, busy_timeout_s=60)) as here, closing(SqliteStore(path, busy_timeout_s=60)) as there:
        put(here, [episode("Before.")])
        with ThreadPoolExecutor() as pool:
            with here._connections.writing() as db:
                assert db.execute("SELECT count(*) FROM episodes").get == 1
                other = pool.submit(put, there, [episode("Meanwhile.")])
                db.execute("UPDATE episodes SET content = 'Changed.'")
            assert len(other.result()) == 1
        assert sorted(each.content for each in here.recent(request(), 9)) == ["Changed.", "Meanwhile."]


def test_threads_and_stores_that_read_and_write_at_once_lose_nothing(path):
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(SqliteStore(path, busy_timeout_s=60))) for _ in range(2)]

        def work(number):
            store = stores[number % 2]
            for place in range(25):
                [stored] = put(store, [episode(f"Word{number} {place}", session=f"session {number % 3}")])
                store.flush_index()
                found = [each.ref for each in store.keyword(request(), {f"word{number}"}, 999)]
                assert stored.id in {each.id for each in store.load(request(), found).values()}
                if place % 5 == 0:
                    store.forget(act(), stored.id)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        assert stores[0].stats(CALLER, NOON).episodes.total == 6 * 20
        for session in range(3):
            turns = [each.turn for each in stores[1].recent(request(sessions=(f"session {session}",), now=NOON), 999)]
            assert len(set(turns)) == len(turns) == 40
        assert stores[1].health().problems == ()


def test_a_failure_in_the_middle_of_a_write_leaves_nothing(path):
    with closing(SqliteStore(path)) as store:
        [before] = put(store, [episode("Before.")])
        with pytest.raises(errors.StorageError), store._connections.writing() as db:
            db.execute("DELETE FROM episodes; SELECT * FROM nowhere")
        assert store.recent(request(), 9) == [before]
        assert put(store, [episode("After.")])


def test_a_put_that_fails_half_way_leaves_nothing(path):
    """The last of three memories cannot be bound: an integer of more than 64 bits."""
    with closing(SqliteStore(path)) as store:
        [before] = put(store, [episode("Before.")])
        with pytest.raises(OverflowError):
            store.put(act(), [episode("One."), fact("Two"), episode("Three.", reference_count=2**70)])
        assert store.recent(request(), 9) == [before]
        assert keyword(store, "one") == {}
        assert store.health().problems == ()


def test_a_store_may_be_closed_while_others_read(path):
    """The reader is in the middle of a statement, which answers; whatever comes later is refused."""
    store = SqliteStore(path)
    put(store, [episode("One.")])
    reading, closed = threading.Event(), threading.Event()

    def pause(value):
        reading.set()
        closed.wait()
        return value

    def read():
        with store._connections.reading() as db:
            db.create_scalar_function("pause", pause)
            return db.execute("SELECT pause(content) FROM episodes").get

    with ThreadPoolExecutor() as pool:
        answer = pool.submit(read)
        reading.wait()
        store.close()
        closed.set()
        assert answer.result() == "One."
        with pytest.raises(errors.MemoryClosed):
            pool.submit(store.recent, request(), 9).result()
    with pytest.raises(errors.MemoryClosed):
        store.recent(request(), 9)


def test_a_reader_goes_with_its_thread(path):
    with closing(SqliteStore(path)) as store:
        for _ in range(5):
            thread = threading.Thread(target=store.recent, args=(request(), 1))
            thread.start()
            thread.join()
        gc.collect()
        assert len([each for each in apsw.connections() if each.filename.endswith("agent.db")]) <= 2


def interrupted(deed, *arguments, after: int) -> bool:
    """True if Ctrl-C came into a call, at the start or the end of so many further calls; false if it had ended."""
    left = after

    def count(_frame, event, function):
        nonlocal left
        # Python 3.14 also tells of a lock that `with` takes: between that and its block no code of ours could help.
        is_with = event == "c_return" and function.__name__ in {"__enter__", "__exit__"}
        left -= event in {"call", "return", "c_return"} and not is_with
        if left < 0:
            raise KeyboardInterrupt

    try:
        sys.setprofile(count)
        deed(*arguments)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.parametrize("deed", ["read", "write"])
def test_ctrl_c_at_any_call_leaves_a_store_that_all_threads_read_and_write(path, deed):
    with closing(SqliteStore(path)) as store:
        deeds = {"read": lambda: store.recent(request(), 1), "write": lambda: put(store, [episode("Mine.")])}
        deeds[deed]()
        after = 0
        while interrupted(deeds[deed], after=after):
            written = []
            other = threading.Thread(target=lambda: written.extend(put(store, [episode("Another's.")])), daemon=True)  # noqa: B023
            other.start()
            other.join(60)
            assert len(written) == 1, after
            assert store.get(CALLER, [written[0].id]) == written, after
            after += 1
        assert after > 50
        assert store.health().problems == ()


CREATE = """
import sys
from tests.support.stores import SqliteStore
from tests.support.sample_records import episode
from tests.support.store_samples import put
print("ready", flush=True)
sys.stdin.readline()
for path in sys.argv[2:]:
    store = SqliteStore(path, busy_timeout_s=60)
    put(store, [episode("Of " + sys.argv[1], session="monday")])
    store.close()
"""


def test_processes_that_create_the_same_files_at_once_all_succeed(tmp_path):
    """Twenty files: a race between creating, switching to the log and migrating shows in some of them."""
    paths = [str(tmp_path / f"{number}.db") for number in range(20)]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CREATE, str(number), *paths],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    said = [child.communicate("go\n") for child in children]
    assert [(child.returncode, err) for child, (_, err) in zip(children, said, strict=True)] == [(0, "")] * 3
    for path in paths:
        with closing(SqliteStore(path)) as store:
            assert sorted(each.turn for each in store.recent(request(), 9)) == [1, 2, 3]
            assert store.health().problems == ()


def test_vectors_that_change_while_another_searches_are_never_half_seen(two):
    here, there = two
    stored = put(here, [episode(f"Number {place}.") for place in range(300)])
    known = refs(here)
    here.use_embedder("test:axes", 4)
    done = threading.Event()

    def search():
        counts = []
        while not done.is_set():
            counts.append(len(there.nearest(request(), axis(0), 999)))
        return counts

    with ThreadPoolExecutor() as pool:
        counts = pool.submit(search)
        embed_all(here, {each.id: axis(0) for each in stored})
        for each in stored[:50]:
            here.forget(act(), each.id)
        done.set()
        assert set(counts.result()) <= {0, *range(250, 301)}
    assert len(nearest(there, axis(0), known)) == 250


@pytest.mark.parametrize("statement", range(1, 4))
def test_a_file_that_another_process_creates_between_two_looks_is_one_of_ours(path, statement):
    left = iter(range(statement))

    def create(*_):
        if next(left, None) == statement - 1:
            SqliteStore(path).close()
        return True

    with closing(apsw.Connection(path)) as db:
        db.exec_trace = create
        assert schema.revision(db, path) in {"", HEAD}
