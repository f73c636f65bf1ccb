"""What is refused: a file that is not whole and sound, or not for there. Nothing is touched, whatever is wrong."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain.errors import InvalidInput, NotFound, UnusableBackup
from engrain.portability import sealed_files
from tests.support.backups import DATABASES, everything, fill, forged, memory_in, said
from tests.support.children import Child, opened
from tests.support.postgres import server

pytestmark = pytest.mark.req("G13")
ROOT = Path(__file__).parents[3]
ONCE = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A backup of an agent, as bytes."""
    folder = tmp_path_factory.mktemp("good")
    with memory_in("sqlite", folder) as memory:
        fill(memory, "ana")
        memory.backup(folder / "good.backup", agent="ana")
    return (folder / "good.backup").read_bytes()


@pytest.fixture(scope="module")
def refuses(tmp_path_factory):
    """Restores a file into a memory that has something, in vain; why it was refused."""
    folder = tmp_path_factory.mktemp("target")
    with memory_in("sqlite", folder) as memory:
        fill(memory, "bruno", turns=8)
        there = everything(memory)

        def refused(path, *, untrusted=True, **wish):
            with pytest.raises(UnusableBackup) as caught:
                memory.restore(path, untrusted=untrusted, **wish)
            assert everything(memory) == there
            return str(caught.value)

        yield refused


@pytest.fixture
def file(tmp_path, good):
    path = tmp_path / "memory.backup"
    path.write_bytes(good)
    return path


@ONCE
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_bit_that_is_flipped_is_seen(file, good, refuses, at, bit):
    place = int(at * len(good))
    file.write_bytes(good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :])
    assert refuses(file, untrusted=False)


@ONCE
@given(end=st.floats(0, 1, exclude_max=True))
def test_any_file_that_is_cut_short_is_seen(file, good, refuses, end):
    file.write_bytes(good[: int(end * len(good))])
    assert refuses(file)


def test_a_file_that_goes_on_is_seen(file, good, refuses):
    file.write_bytes(good + b"\0")
    assert "no seal" in refuses(file)
    file.write_bytes(good + good)
    assert refuses(file)


@pytest.mark.parametrize("content", [b"", b"not gzip at all", gzip.compress(b'{"kind": "engrain backup"}\n', mtime=0)])
def test_what_is_no_backup_is_said_to_be_none(tmp_path, refuses, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    assert "no backup" in refuses(path)


def test_what_is_no_file_is_refused_at_once(tmp_path, refuses):
    os.mkfifo(tmp_path / "pipe")
    assert "no regular file" in refuses(tmp_path / "pipe")
    assert "cannot be read" in refuses(tmp_path / "missing")
    assert "no regular file" in refuses(tmp_path)


@pytest.mark.parametrize("change", [{"format": 2}, {"schema": "mem_999"}])
def test_what_a_newer_engrain_wrote_is_refused(tmp_path, file, refuses, change):
    header, *rest = said(file)
    assert "newer engrain" in refuses(forged(tmp_path / "newer", [{**header, **change}, *rest]))


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"tenant": None},
        {"agent": "bruno"},
        {"tenant": ""},
        {"tables": ["episodes", "entities"]},
        {"tables": ["passwords"]},
        {"made_at": "yesterday"},
        {"embedder": None},
        {"embedder": {"name": "test:hash", "dims": 65}},
        {"more": 1},
        {"kind": "x"},
    ],
)
def test_a_first_line_that_is_not_what_follows_is_refused(tmp_path, file, refuses, change):
    header, *rest = said(file)
    assert refuses(forged(tmp_path / "other", [{**header, **change}, *rest]), tenant="default")


def changed(lines, table, **values):
    """The first row of a table with other values."""
    first = lines.index({"begin": table}) + 1
    return [*lines[:first], {**lines[first], **values}, *lines[first + 1 :]]


@pytest.mark.parametrize(
    ("table", "values", "why"),
    [
        ("episodes", {"tenant_id": "acme"}, "of tenant acme"),
        ("episodes", {"scope": "bruno"}, "of scope bruno"),
        ("facts", {"agent": "bruno"}, "of scope global, agent bruno"),
        ("episodes", {"content": "a\x00b"}, "no line that engrain writes"),
        ("episodes", {"content": 5}, "content is no text"),
        ("episodes", {"importance": 11}, "importance is out of range"),
        ("episodes", {"importance": "9"}, "importance is out of range"),
        ("episodes", {"turn": 1.5}, "turn is no whole number"),
        ("episodes", {"turn": 2**70}, "turn is out of range"),
        ("episodes", {"event_time": "2024-05-07T12:00:00"}, "event_time is no time in UTC"),
        ("episodes", {"event_time": "soon"}, "Invalid isoformat"),
        ("episodes", {"tags": ["a", 5]}, "tags is no list of texts"),
        ("episodes", {"metadata": []}, "metadata is no object"),
        ("episodes", {"tool_calls": {}}, "tool_calls is no list"),
        ("episodes", {"id": ""}, "id is empty"),
        ("episodes", {"password": "x"}, "columns are not those"),
        ("facts", {"source_episode_id": "elsewhere"}, "refers to episode elsewhere"),
        ("facts", {"entity_id": "elsewhere"}, "refers to entity elsewhere"),
        ("memory_links", {"target_id": "elsewhere"}, "elsewhere, which is not in the backup"),
        ("rule_applications", {"rule_id": "elsewhere"}, "refers to rule elsewhere"),
        ("memory_departures", {"id": "elsewhere"}, "refers to episode elsewhere"),
        ("memory_vectors", {"id": "elsewhere"}, "vector of elsewhere"),
        ("memory_vectors", {"embedding": "AAAA"}, "embedding is no vector"),
        ("memory_vectors", {"embedding": "*"}, "embedding is no vector"),
    ],
)
def test_a_row_that_no_memory_can_have_is_refused_though_every_digest_is_right(file, refuses, table, values, why):
    assert why in refuses(forged(file.with_name("forged"), changed(said(file), table, **values)))


def test_rows_of_an_older_schema_get_the_defaults_of_columns_that_it_did_not_have(tmp_path, file, refuses):
    header, *rest = said(file)
    lines = [{name: value for name, value in line.items() if name != "source"} for line in rest]
    assert "columns are not those of facts" in refuses(forged(tmp_path / "now", [header, *lines]))
    older = {**header, "schema": "mem_000"}
    with memory_in("sqlite", tmp_path) as memory:
        memory.restore(forged(tmp_path / "older", [older, *lines]), untrusted=True)
        facts = everything(memory)["facts"]
        assert facts
        assert {row["source"] for row in facts} == {None}
    for needed in ("content", "tenant_id", "scope"):
        lines = [{name: value for name, value in line.items() if name != needed} for line in rest]
        assert "columns are not those of" in refuses(forged(tmp_path / "short", [older, *lines]))


def test_counts_digests_and_lines_are_as_promised(tmp_path, file, refuses):
    lines = said(file)
    first = lines.index({"begin": "episodes"}) + 1
    twice = [*lines[: first + 1], lines[first], *lines[first + 1 :]]
    assert "there twice" in refuses(forged(tmp_path / "twice", twice))
    for raw in (
        b"[]\n",
        b"{\n",
        b'{"a": NaN}\n',
        b'{"a":1,"a":1}\n',
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        b'{"a":"\\ud800"}\n',
    ):
        assert "no line that engrain writes" in refuses(forged(tmp_path / "raw", [*lines[:first], raw, *lines[first:]]))
    assert "should begin" in refuses(forged(tmp_path / "order", [lines[0], *lines[first - 1 :]]))
    assert refuses(forged(tmp_path / "short", lines[:-1]))
    assert refuses(forged(tmp_path / "long", [*lines, lines[-1]]))
    wrong = [{**line, "rows": line["rows"] + 1} if line.get("end") == "facts" else line for line in lines]
    assert "not those it promises" in refuses(resealed(tmp_path / "count", wrong))


def resealed(path, lines):
    """Lines as they are, with a seal that is right."""
    with path.open("w+b") as stream:
        writer = sealed_files.SealedWriter(stream, path)
        for line in lines:
            writer.write(json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        writer.seal()
    return path


def bomb(path, raw):
    """A sealed file of one member that packs as well as it can."""
    with path.open("w+b") as stream:
        writer = sealed_files.SealedWriter(stream, path)
        packer = zlib.compressobj(9, wbits=31)
        packed = b"".join(map(packer.compress, raw)) + packer.flush()
        stream.write(packed)
        writer._digest.update(packed)  # what a forger would do
        writer.seal()
    return path


def test_a_bomb_is_put_out(tmp_path, file, refuses):
    header = json.dumps(said(file)[0], sort_keys=True, separators=(",", ":")).encode() + b"\n"
    endless = bomb(tmp_path / "endless", [header, *(b" " * 2**20 for _ in range(100))])
    assert "more than" in refuses(endless)


def test_text_that_packs_too_well_is_kept_as_it_is(tmp_path):
    """So that no backup of ours is ever taken for a bomb."""
    path = tmp_path / "dense"
    line = b"a" * 2**20 + b"\n"
    with path.open("w+b") as stream:
        writer = sealed_files.SealedWriter(stream, path)
        writer.write(line)
        writer.write(line)
        writer.seal()
    assert path.stat().st_size > 2 * len(line)
    with sealed_files.open_sealed(path) as file:
        assert list(file.lines()) == [line, line]


def test_another_tenants_backup_is_refused_without_saying_so(file, refuses):
    with memory_in("sqlite", file.parent) as memory:
        fill(memory, "ana", tenant="acme", turns=8)
        memory.backup(file, tenant="acme")
        memory.backup(file.with_suffix(".agent"), agent="ana", tenant="acme")
        memory.backup(file.with_suffix(".all"))
    assert "backup of tenant acme" in refuses(file)
    assert "backup of tenant acme" in refuses(file.with_suffix(".agent"))
    assert "all agents of tenant acme" in refuses(file, tenant="acme", agent="ana")
    assert "whole database" in refuses(file.with_suffix(".all"), tenant="acme")


def test_values_are_checked_before_the_file_is_opened(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        for wrong in ({"agent": "global"}, {"tenant": " "}, {"replace": "yes"}, {"dry_run": 1}):
            with pytest.raises(InvalidInput):
                memory.restore(tmp_path / "x", **wrong)
        with pytest.raises(InvalidInput):
            memory.backup("")


@pytest.mark.parametrize("kind", DATABASES)
def test_killed_in_the_middle_it_leaves_what_was_there_before(tmp_path, file, kind):
    url = server().new_database() if kind == "postgres" else None
    location = url or str(tmp_path / "memory.db")
    with opened(location) as memory:
        fill(memory, "ana")
        memory.backup(file, agent="ana")
        memory.agent("ana").observe("Older, and to be replaced.")
        memory.flush()
        there = everything(memory)
        for steps in (2, 10):
            with Child("restore", location, file) as child:
                for _ in range(steps - 1):
                    child.told()
                    child.go_on()
                assert child.told()[0] == "restoring"
                child.kill()  # within its transaction
            assert everything(memory) == there
        with Child("restore", location, file) as child:
            while child.told() != "done":
                child.go_on()
        assert memory.agent("ana").recall("Older, and to be replaced.", preset="keyword").hits == ()
        assert memory.health(thorough=True).problems == ()
    if url is not None:
        server().drop_database(url)


def limited(code, *arguments):
    """Python in a process whose files may grow to so many bytes: what a full disk is like."""
    script = f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n{code}"
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_no_room_for_a_backup_leaves_the_one_before(tmp_path, file, good):
    location = tmp_path / "memory.db"
    with opened(location) as memory:
        for _ in range(30):
            memory.agent("ana").observe(os.urandom(1_500).hex())
    code = (
        "from tests.support.children import opened\n"
        "from engrain.errors import DatabaseFull\n"
        "memory = opened(sys.argv[2])\n"
        "try:\n    memory.backup(sys.argv[3])\nexcept DatabaseFull as error:\n    print(error)"
    )
    ran = limited(code, 40_000, location, file)  # what SQLite needs to open a file is less
    assert "no room left" in ran.stdout, ran.stderr
    assert file.read_bytes() == good
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_no_room_for_a_restore_leaves_the_memory_as_it_was(tmp_path, file):
    location = tmp_path / "memory.db"
    with opened(location) as memory:
        fill(memory, "bruno", turns=8)
        there = everything(memory)
    code = (
        "from tests.support.children import opened\n"
        "from engrain.errors import StorageError\n"
        "memory = opened(sys.argv[2])\n"
        "try:\n    memory.restore(sys.argv[3])\nexcept StorageError as error:\n    print(type(error).__name__)"
    )
    ran = limited(code, 60_000, location, file)
    assert ran.stdout.strip() == "DatabaseFull", ran.stderr
    with opened(location) as memory:
        assert everything(memory) == there
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize(
    ("whose", "said_of"),
    [({"tenant": "defualt"}, "tenant defualt"), ({"agent": "anna"}, "agent anna of tenant default")],
)
def test_a_misspelt_name_replaces_no_good_backup_by_an_empty_one(tmp_path, file, kind, whose, said_of):
    good = file.read_bytes()
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        memory.flush()
        with pytest.raises(NotFound, match=f"nothing of {said_of} .*engrain agents"):
            memory.backup(file, **whose)
        assert file.read_bytes() == good
        with pytest.raises(NotFound, match="nothing of"):
            memory.backup(tmp_path / "new.backup", **whose)
        assert not (tmp_path / "new.backup").exists()


@pytest.mark.parametrize("kind", DATABASES)
def test_what_is_empty_is_backed_up_where_no_name_is_given_or_something_is_left_of_it(tmp_path, kind):
    with memory_in(kind, tmp_path) as memory:
        assert memory.backup(tmp_path / "empty.backup").memories == 0
        ana = memory.agent("ana")
        ana.erase([ana.observe("Something private").id])
        assert memory.backup(tmp_path / "erased.backup", agent="ana").memories == 0
