"""Whose file it is, who may read it, and what happens where it cannot be written."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from engrain import Memory, errors
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.schema import APPLICATION_ID
from tests.support.sample_records import CALLER, act, episode, fact, request
from tests.support.store_samples import axis, conversation, embed_all, keyword, put
from tests.support.stores import SqliteStore

ROOT = Path(__file__).parents[3]
NOBODY = 65534


@pytest.fixture
def open_folder():
    """A folder that other users can reach; pytest's own are its owner's alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o755)
    shutil.rmtree(folder)


def opened(path, **options) -> SqliteStore:
    return SqliteStore(str(path), **options)


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files(folder) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def in_child(code: str, *arguments, unprivileged: bool = False) -> list:
    """What a process of its own prints, one JSON value a line; `unprivileged`: it may not write what others own.

    Root drops its rights only after the imports: an interpreter in root's home is out of reach without them.
    """
    prelude = [
        "import json, os, resource, sys",
        "from engrain import errors",
        "from tests.support.stores import SqliteStore",
        "from tests.support.sample_records import act, episode, fact, request",
        "from tests.support.store_samples import axis, keyword, put",
        "def say(value): print(json.dumps(value))",
        "def code_of(deed, *arguments, **options):",
        "    try: deed(*arguments, **options)",
        "    except errors.EngrainError as error: return error.code",
        "    return 'done'",
        "path = sys.argv[1]",
    ]
    if unprivileged and os.geteuid() == 0:
        prelude += [f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*prelude, code]), *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_new_file_and_its_log_are_their_owners_alone(path):
    before = os.umask(0)
    try:
        with closing(opened(path)) as store:
            put(store, [episode("Private.")])
            assert {each.name for each in path.parent.iterdir()} == {"memory.db", "memory.db-wal", "memory.db-shm"}
            assert {mode(each) for each in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_missing_folders_are_created_for_their_owner_alone(path):
    deep = path.parent / "a" / "b" / "memory.db"
    before = os.umask(0)
    try:
        opened(deep).close()
    finally:
        os.umask(before)
    assert mode(deep.parent) == 0o700


def test_a_file_keeps_the_permissions_it_has(path):
    path.touch()
    path.chmod(0o640)
    with closing(opened(path)) as store:
        put(store, [episode("Shared.")])
    assert mode(path) == 0o640


def test_closing_leaves_one_file(path):
    with closing(opened(path)) as store:
        put(store, [episode("One.")])
        assert store.get(CALLER, []) == []
    assert [each.name for each in path.parent.iterdir()] == ["memory.db"]


def test_a_file_says_whose_it_is(path):
    opened(path).close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_empty_file_is_adopted(path):
    path.touch()
    with closing(opened(path)) as store:
        assert store.created
        put(store, [episode("One.")])
    with closing(opened(path)) as store:
        assert not store.created
        assert len(store.recent(request(), 9)) == 1


@pytest.mark.parametrize("name", ["a b.db", "ümlaut.db", "100%.db", "what?.db", "file:x.db", "#1.db", "-wal"])
def test_a_file_may_have_any_name(tmp_path, name):
    with closing(opened(tmp_path / name)) as store:
        put(store, [episode("One.")])
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("synchronous", ["normal", "full"])
def test_every_connection_has_the_settings_it_needs(path, synchronous):
    with closing(opened(path, synchronous=synchronous, busy_timeout_s=1.5)) as store:
        for connections in (store._connections.writing, store._connections.reading):
            with connections() as db:
                assert db.execute("SELECT count(*) FROM episodes").get == 0
                assert db.pragma("journal_mode") == "wal"
                assert db.pragma("synchronous") == {"normal": 1, "full": 2}[synchronous]
                assert db.pragma("busy_timeout") == 1_500
                assert db.pragma("temp_store") == 2
                assert db.pragma("foreign_keys") == 1


FOREIGN = {
    "text": lambda path: path.write_text("Dear diary, " * 500),
    "short text": lambda path: path.write_text("Dear diary"),
    "image": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path, make):
    make(path)
    before = files(path.parent)
    with pytest.raises(errors.NotAnEngrainFile, match=r"memory\.db"):
        opened(path)
    assert files(path.parent) == before


def foreign_database(path, *, journal="delete", also=""):
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.executescript(f"CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('Ana'); {also}")


ALEMBIC = "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('a1b2c3')"


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize(
    "also", ["", ALEMBIC, f"PRAGMA application_id = {APPLICATION_ID}"], ids=["", "alembic", "ours"]
)
def test_a_database_of_something_else_is_refused_and_left_as_it_is(path, journal, also):
    foreign_database(path, journal=journal, also=also)
    before = files(path.parent)
    with pytest.raises(errors.NotAnEngrainFile, match="something else"):
        opened(path)
    assert files(path.parent) == before


def test_an_empty_database_that_another_program_has_signed_is_refused(path):
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA application_id = 1; CREATE TABLE t (x); DROP TABLE t")
    before = files(path.parent)
    with pytest.raises(errors.NotAnEngrainFile):
        opened(path)
    assert files(path.parent) == before


def test_a_newer_schema_is_refused_by_name_and_left_as_it_is(path):
    opened(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE alembic_version SET version_num = 'mem_999'")
        db.commit()
    before = files(path.parent)
    with pytest.raises(errors.SchemaTooNew, match=r"mem_999.*upgrade engrain"):
        opened(path)
    assert files(path.parent) == before


def test_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(errors.NotAnEngrainFile, match="is a folder"):
        opened(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_through_a_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(errors.DatabaseReadOnly, match=r"notes\.txt"):
        opened(tmp_path / "notes.txt" / "memory.db")
    assert files(tmp_path) == {"notes.txt": b"notes"}


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(errors.StorageError, match="too long"):
        opened(tmp_path / ("n" * 300))


def used_file(path, memories=60) -> bytes:
    """A file of several pages with every table in use; its bytes."""
    with closing(opened(path)) as store:
        turns = put(store, conversation(*(f"Turn {place} of the tram to Lisbon." for place in range(memories))))
        put(store, [fact("Lisbon")])
        embed_all(store, {turn.id: axis(0) for turn in turns})
    return path.read_bytes()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9], ids=lambda share: f"{share:.0%}")
def test_a_truncated_file_is_damaged_and_never_a_crash(path, share):
    """Wherever it ends, opening, using and checking it raise the leaf or name the problem, and give advice."""
    whole = used_file(path)
    path.write_bytes(whole[: int(len(whole) * share)])
    assert any("restore a backup" in sentence for sentence in found_damage(path))


def test_a_file_of_half_a_header_is_damaged(path):
    whole = used_file(path)
    path.write_bytes(whole[:50])
    with pytest.raises(errors.DatabaseDamaged, match="restore a backup"):
        opened(path)


@pytest.mark.parametrize("page", [0, 1, 2, 5, 9, -1])
def test_a_page_of_rubbish_is_damage(path, page):
    whole = bytearray(used_file(path))
    start = (page % (len(whole) // 4096)) * 4096 + (100 if page == 0 else 0)
    whole[start : start + 3_900] = bytes(range(256))[::-1] * 15 + bytes(60)
    path.write_bytes(whole)
    assert any("restore a backup" in sentence for sentence in found_damage(path))


def found_damage(path) -> list[str]:
    """What opening, checking and using a damaged file say of it; nothing but DatabaseDamaged may be raised."""
    try:
        store = opened(path)
    except errors.DatabaseDamaged as error:
        return [str(error)]
    with closing(store):
        said = list(store.health().problems)
        for use in (
            lambda: store.health(thorough=False),
            lambda: put(store, conversation("A new turn.", "Another.")),
            lambda: store.recent(request(), 99),
            lambda: keyword(store, "tram"),
            lambda: store.nearest(request(), axis(0), 9),
        ):
            try:
                use()
            except errors.DatabaseDamaged as error:
                said.append(str(error))
    return said


def test_a_full_file_is_said_to_be_full_and_works_again_with_room(path):
    with closing(opened(path)) as store:
        kept = put(store, conversation("Bread.", "Tram."))
        with store._connections.reading() as db:
            pages = db.pragma("page_count")
        with store._connections.writing() as db:
            db.pragma("max_page_count", pages + 2)
        too_much = [episode("Hay and straw " * 2_000) for _ in range(9)]
        with pytest.raises(errors.DatabaseFull, match="free some space"):
            put(store, too_much)
        assert store.recent(request(), 99) == kept[::-1]
        assert store.health().problems == ()
        assert set(keyword(store, "bread")) == {each.id for each in kept}
        with store._connections.writing() as db:
            db.pragma("max_page_count", 2**31)
        assert len(put(store, too_much)) == 9
        assert store.health().problems == ()


def test_a_full_file_is_searched_as_far_as_it_is_indexed(path):
    with Memory.open(path, embedder="none") as memory:
        agent = memory.agent("ana")
        agent.remember("Lisbon", subject="Ana", predicate="lives in")
        agent.store("places").put("home", {"text": "Lisbon"}, index=["text"])
        connections = memory.parts.store.backend._connections
        for number in range(200):
            agent.observe(f"Hay {' '.join(f'straw{number * 99 + each}' for each in range(99))}")
        with connections.writing() as db:
            db.pragma("max_page_count", db.pragma("page_count"))
        answer = agent.recall("Lisbon")
        assert [hit.memory.content for hit in answer] == ["Lisbon"]
        assert "index_behind" in {degraded.code for degraded in answer.degraded}
        assert [hit.memory.content.split()[1] for hit in agent.recall("straw99")] == ["straw99"]
        assert [item.key for item in agent.store("places").search("Lisbon")] == ["home"]
        with connections.writing() as db:
            db.pragma("max_page_count", 2**31)
        assert "index_behind" not in {degraded.code for degraded in agent.recall("Lisbon").degraded}


def test_a_limit_of_the_process_is_no_room_too(path):
    """EFBIG, as from a quota: SQLite says "disk I/O error", and the connection knows why."""
    used_file(path, memories=3)
    said = in_child(
        "store = SqliteStore(path)\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 50_000, hard))\n"
        "many = [episode('Hay and straw ' * 2_000) for _ in range(30)]\n"
        "say(code_of(put, store, many))\n"
        "say(len(store.recent(request(), 99)))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))\n"
        "say(code_of(put, store, many))\n"
        "say(len(store.recent(request(), 99)))\n"
        "say(list(store.health().problems))\n"
        "store.close()\n",
        path,
    )
    assert said == ["database_full", 4, "done", 34, []]


def test_no_room_for_a_new_file(path):
    said = in_child(
        "soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))\n"
        "say(code_of(SqliteStore, path))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))\n"
        "say(code_of(SqliteStore, path))\n",
        path,
    )
    assert said == ["database_full", "done"]


READ_AND_TRY_TO_WRITE = """
store = SqliteStore(path)
say(sorted(memory.content for memory in store.recent(request(), 99)))
say(len(keyword(store, "bread")))
say(len(store.nearest(request(), axis(0), 9)))
say(store.use_embedder("test:axes", 4))
say(store.flush_index())
say(list(store.health().problems))
known = store.recent(request(), 1)[0].id
say(code_of(put, store, [episode("New.")]))
say(code_of(put, store, [fact("New"), episode("New.")]))
say(code_of(store.forget, act(), known))
say(len(store.recent(request(), 99)))
store.close()
"""
READ_ALONE = [["Bread.", "Tram."], 2, 1, None, 0, [], *["database_read_only"] * 3, 2]


def bread_and_tram(path):
    with closing(opened(path)) as store:
        bread, _ = put(store, conversation("Bread.", "Tram."))
        embed_all(store, {bread.id: axis(0)})


@pytest.mark.parametrize(
    ("file_mode", "folder_mode"),
    [(0o444, 0o755), (0o444, 0o555), (0o666, 0o555)],
    ids=["file", "file and folder", "folder"],
)
def test_what_cannot_be_written_can_be_read(open_folder, file_mode, folder_mode):
    path = open_folder / "memory.db"
    bread_and_tram(path)
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)
    before = path.read_bytes()
    assert in_child(READ_AND_TRY_TO_WRITE, path, unprivileged=True) == READ_ALONE
    assert path.read_bytes() == before


def test_a_file_that_another_user_writes_can_be_read_up_to_date(open_folder):
    """The log is there, so what the writer has only just said is read too."""
    path = open_folder / "memory.db"
    path.touch()
    path.chmod(0o644)
    with closing(opened(path)) as store:
        bread, _ = put(store, conversation("Bread.", "Tram."))
        embed_all(store, {bread.id: axis(0)})
        open_folder.chmod(0o555)
        assert in_child(READ_AND_TRY_TO_WRITE, path, unprivileged=True) == READ_ALONE


def test_a_new_file_in_a_folder_that_cannot_be_written_is_refused(open_folder):
    open_folder.chmod(0o555)
    code = "say(code_of(SqliteStore, path)); say(code_of(SqliteStore, path + '/deeper/memory.db'))"
    assert in_child(code, open_folder / "memory.db", unprivileged=True) == ["database_read_only"] * 2
    assert list(open_folder.iterdir()) == []


def test_a_file_of_another_user_that_cannot_be_read_is_refused(open_folder):
    path = open_folder / "memory.db"
    bread_and_tram(path)
    path.chmod(0o000)
    assert in_child("say(code_of(SqliteStore, path))", path, unprivileged=True) == ["database_read_only"]


def test_a_store_that_could_not_be_opened_leaves_no_connection(path):
    foreign_database(path)
    with pytest.raises(errors.NotAnEngrainFile):
        opened(path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute("BEGIN EXCLUSIVE; DROP TABLE customers; COMMIT")


def test_a_closed_store_says_that_it_is_closed(path):
    store = opened(path)
    [stored] = put(store, [episode("One.")])
    assert store.get(CALLER, [stored.id]) == [stored]
    store.close()
    for use in (
        lambda: store.get(CALLER, [stored.id]),
        lambda: put(store, [episode("Two.")]),
        lambda: store.forget(act(), stored.id),
        store.health,
        store.flush_index,
    ):
        with pytest.raises(errors.MemoryClosed):
            use()
    assert [each.name for each in path.parent.iterdir()] == ["memory.db"]


def test_connections_are_closed_when_the_schema_cannot_be_prepared(path):
    connections = Connections(str(path))
    connections.close()
    with pytest.raises(errors.MemoryClosed), connections.reading():
        raise AssertionError("a closed file was read")


def test_a_restore_does_not_map_the_file_into_memory_and_whoever_writes_next_does(path):
    """What it looks at would count as this process's memory, which would grow with the file."""
    with closing(opened(path)) as store:
        before = store._write(act(), lambda unit: unit.db.pragma("mmap_size"))
        assert before > 0
        assert store.store.backend.restore(None, lambda db: db.pragma("mmap_size")) == 0
        assert store._write(act(), lambda unit: unit.db.pragma("mmap_size")) == before


@pytest.mark.parametrize("deed", ["deleted", "moved", "replaced", "folder deleted"])
def test_a_file_that_was_taken_away_is_written_no_more(path, deed):
    """What is written to it would be gone with the last who has it open, and a replacement would get its log."""
    folder = path.parent / "folder"
    folder.mkdir()
    file, other = folder / "memory.db", path
    with closing(opened(other)) as store:
        put(store, [episode("Another's.")])
    with closing(opened(file)) as store:
        [stored] = put(store, [episode("One.")])
        match deed:
            case "deleted":
                file.unlink()
            case "moved":
                file.rename(folder / "elsewhere.db")
            case "replaced":
                other.rename(file)
            case "folder deleted":
                shutil.rmtree(folder)
        with pytest.raises(errors.DatabaseReadOnly, match="deleted, moved or replaced"):
            put(store, [episode("Two.")])
        assert store.get(CALLER, [stored.id]) == [stored]
        with ThreadPoolExecutor(1) as later, pytest.raises(errors.DatabaseReadOnly, match="open it again"):
            later.submit(store.get, CALLER, [stored.id]).result()
    assert file.exists() == (deed == "replaced")
