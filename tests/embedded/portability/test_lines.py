import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.errors import UnreadableImport
from engrain.portability.formats import files, read
from engrain.portability.formats.fields import Malformed
from engrain.portability.formats.records import BrokenRecord, ImportedTurn

ROWS = '\ufeff{"content": "one"}\n{"content": "\ud800"}\n{"content": "three"}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"content": "one"}\n{"content": "\xff"}\n{"content": "three"}\n', "not UTF-8 text: byte 14 is 0xff"),
        (ROWS.encode("utf-16-le", "surrogatepass"), "not UTF-16 text: byte 27 is 0x00"),
        (ROWS.encode("utf-16-be", "surrogatepass"), "not UTF-16 text: byte 27 is 0xd8"),
        ('{"content": "one"}\n' + '{"content":' * 100_000 + '\n{"content": "three"}', "JSON nested too deeply"),
    ],
    ids=["invalid UTF-8", "invalid UTF-16-LE", "invalid UTF-16-BE", "deep nesting"],
)
def test_what_cannot_be_read_breaks_its_line_only(written, content, reason):
    one, broken, three = read(written("n.jsonl", content))

    assert (one.content, three.content) == ("one", "three")
    assert broken == BrokenRecord("line 2", reason)


def test_nesting_short_of_too_deep_is_shown_shortened(written):
    deep = "[" * 500 + "]" * 500
    path = written("n.jsonl", '{"content": "one"}\n{"content": ' + deep + "}\n")

    _, broken = read(path)

    assert broken == BrokenRecord("line 2", "content is a list ([[[...]]]), expected text")


def test_a_line_that_is_too_long_is_skipped_without_being_held(written, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 2**20)
    long = '{"content": "' + "x" * 2**23 + '"}'
    path = written("n.jsonl", f'{{"content": "one"}}\n{long}\n{{"content": "three"}}\n{long}')

    tracemalloc.start()
    records = list(read(path, "jsonl"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    too_long = "the line is longer than 1 MB"
    assert records[1] == BrokenRecord("line 2", too_long)
    assert records[3] == BrokenRecord("line 4", too_long)
    assert [record.content for record in records if isinstance(record, ImportedTurn)] == ["one", "three"]
    assert peak < 2**22


def test_a_long_file_is_read_in_constant_memory(written):
    row = '{"content": "' + "one of many lines " * 300 + '"}\n'
    path = written("n.jsonl", row * 3000)

    tracemalloc.start()
    count = sum(len(page.values) for page in files.read_pages(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 3000
    assert peak < 2**21 < path.stat().st_size / 7


def test_a_large_file_with_a_broken_first_line_is_not_read_whole(written, monkeypatch):
    monkeypatch.setattr(files, "_MAX_OBJECT_BYTES", 2**20)
    row = '{"content": "' + "x" * 10_000 + '"}\n'
    path = written("n.jsonl", "{broken\n" + row * 1000)

    tracemalloc.start()
    count = sum(1 for _ in read(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 1001
    assert peak < path.stat().st_size / 2


def test_a_line_of_exactly_the_limit_is_read(written, monkeypatch):
    row = '{"content": "' + "x" * 100 + '"}'
    monkeypatch.setattr(files, "MAX_LINE_BYTES", len(row))

    assert [type(record) for record in read(written("n.jsonl", f"{row}\n{row} \n{row}"), "jsonl")] == [
        ImportedTurn,
        BrokenRecord,
        ImportedTurn,
    ]


@given(
    rows=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20), max_size=10),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]),
    chunk=st.sampled_from([2, 4, 6, 64]),
)
def test_lines_come_back_whatever_the_encoding_and_the_chunks(tmp_path_factory, rows, codec, chunk):
    path = tmp_path_factory.mktemp("lines") / "rows"
    mark = "\ufeff" if codec.startswith("utf-16") else ""
    text = "\n".join(rows).removeprefix("\ufeff")
    path.write_bytes((mark + text).encode(codec))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHUNK_BYTES", chunk)
        found = [line for lines in files.read_lines(path) for line in lines]

    expected = text.split("\n")
    assert found == (expected if expected[-1] else expected[:-1])
    assert not any(isinstance(line, Malformed) for line in found)


def test_a_file_that_goes_away_is_refused_when_it_is_missed(written):
    path = written("n.jsonl", [{"content": "one"}])
    records = read(path)
    path.unlink()

    with pytest.raises(UnreadableImport, match="cannot be read: No such file"):
        next(records)


def test_a_last_line_in_the_middle_of_a_character_is_broken(written):
    path = written("n.jsonl", '\ufeff{"content": "one"}\n{"content": "two"}'.encode("utf-16-le") + b"\n")

    one, broken = read(path)

    assert one.content == "one"
    assert broken.reason.startswith("not UTF-16 text")
