import json
import os
import zipfile
from pathlib import Path

import pytest

from engrain.errors import UnreadableImport
from engrain.portability.formats import FORMATS, detect, read
from engrain.portability.formats.records import BrokenRecord, ImportedEntity, ImportedTurn

FORMAT_OF = {
    "chatgpt.json": "chatgpt",
    "claude.json": "claude",
    "claude-code.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "gemini.json": "gemini",
    "locomo.json": "locomo",
    "openai-messages.json": "openai",
    "openai-conversation.json": "openai",
    "openai-tuning.jsonl": "openai",
    "plain.jsonl": "jsonl",
    "mcp-memory.jsonl": "mcp-memory",
    "mem0.json": "mem0",
    "letta.json": "letta",
    "langgraph.json": "langgraph",
    "notes.md": "markdown",
}
STRUCTURED = [name for name in FORMAT_OF if name != "notes.md"]
DOCUMENTS = [name for name in FORMAT_OF if name.endswith(".json")]


def said(found):
    return found.name if isinstance(found, ImportedEntity) else found.content


def test_every_sample_and_every_format_is_in_the_matrix(samples):
    assert {path.name for path in samples.iterdir()} == set(FORMAT_OF)
    assert set(FORMATS) == set(FORMAT_OF.values())
    assert all(form.name == name for name, form in FORMATS.items())


@pytest.mark.parametrize("name", STRUCTURED)
def test_a_file_is_known_by_its_structure_and_not_by_its_name(samples, written, name):
    path = written("renamed.bin", (samples / name).read_bytes())

    assert detect(path) == FORMAT_OF[name]


@pytest.mark.parametrize("name", FORMAT_OF)
def test_detected_or_named_a_format_reads_the_same(samples, name):
    found = list(read(samples / name))

    assert found == list(read(samples / name, FORMAT_OF[name]))
    assert found
    assert all(isinstance(each, ImportedEntity) or each.content.strip() for each in found)
    assert len({each.source_id for each in found}) == len(found)
    assert {each.metadata["format"] for each in found} == {FORMAT_OF[name]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", FORMAT_OF)
def test_encodings_with_a_byte_order_mark(samples, written, name, encoding):
    text = (samples / name).read_text(encoding="utf-8") + "\n"
    mark = "\ufeff" if encoding.endswith("e") else ""
    path = written(
        name, (mark + text.replace("Lisbon", "Lisboa \u0a0a \u0100\u0a05\u0100 \U0001f6f5")).encode(encoding)
    )

    assert detect(path) == FORMAT_OF[name]
    assert [said(turn).replace("Lisboa \u0a0a \u0100\u0a05\u0100 \U0001f6f5", "Lisbon") for turn in read(path)] == [
        said(turn) for turn in read(samples / name)
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 0, 4])
def test_how_a_document_is_laid_out_does_not_matter(samples, written, name, indent):
    value = json.loads((samples / name).read_text(encoding="utf-8"))
    path = written(name, "\n\n \t" + json.dumps(value, indent=indent))

    assert detect(path) == FORMAT_OF[name]
    assert [turn.content for turn in read(path)] == [turn.content for turn in read(samples / name)]


@pytest.mark.parametrize("name", ["chatgpt.json", "claude.json", "locomo.json", "openai-messages.json"])
def test_broken_items_before_the_first_good_one_do_not_hide_the_format(samples, written, name):
    good = json.loads((samples / name).read_text(encoding="utf-8"))
    path = written(name, [None, 3, {}, *good])

    assert detect(path) == FORMAT_OF[name]
    records = list(read(path))
    assert all(isinstance(record, BrokenRecord) for record in records[:3])
    assert [turn.content for turn in records[3:]] == [turn.content for turn in read(samples / name)]


@pytest.mark.parametrize("name", ["claude-code.jsonl", "codex.jsonl", "openai-tuning.jsonl", "plain.jsonl"])
@pytest.mark.parametrize("first", ["", "{broken", "nonsense", "{}", "{", "\x00", '{"messages'])
def test_a_broken_first_line_does_not_hide_the_format(samples, written, name, first):
    path = written(name, f"{first}\n" + (samples / name).read_text(encoding="utf-8"))

    assert detect(path) == FORMAT_OF[name]
    assert [record.content for record in read(path) if isinstance(record, ImportedTurn)] == [
        said(turn) for turn in read(samples / name)
    ]


def test_crlf_lines(samples, written):
    path = written("plain.jsonl", (samples / "plain.jsonl").read_bytes().replace(b"\n", b"\r\n"))

    assert list(read(path)) == list(read(samples / "plain.jsonl"))


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"[]", "holds nothing"),
        (b"{}", "it has no keys"),
        (b"[1, 2]", r"a JSON list, first a number \(1\)"),
        (b'[{"a": 1}]', "a JSON list, first keys found: a"),
        (b'{"a": 1}', "keys found: a"),
        (b'{"a":\n 1}', "one JSON object, first keys found: a"),
        (b'[{"a": 1}', "not JSON: Expecting ',' delimiter at column 10"),
        (b"[\n1,]", "not JSON: Expecting value at line 2, column 3"),
        (b'"text"', r"text \('text'\)"),
        (b"Dear diary,\ntoday", "lines of text, first not JSON: Expecting value at column 1"),
        (b"[\xff]", "not UTF-8 text: byte 2 is 0xff"),
        (b"\xef\xbb\xbf[\xff]", "not UTF-8 text: byte 5 is 0xff"),
        (b"\xff\xfe[\0\x00\xdc]\0", "not UTF-16 text: byte 5 is 0x00"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8 text: byte 1 is 0x89"),
        (
            b'{"messages": [\n  {"role": "user"},\n]}',
            r"not JSON: (Expecting value at line 3, column 1|Illegal trailing comma .* at line 2, column 19)",
        ),
        (b'{"content": "x"\n{"content": "y"', "not JSON: Expecting ',' delimiter at line 2, column 1"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"content": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_an_unknown_file_is_refused_with_what_was_seen_and_what_is_known(written, content, seen):
    path = written("file", content)

    with pytest.raises(UnreadableImport, match=seen) as refused:
        detect(path)
    assert str(path) in str(refused.value)
    assert all(f"\n  {name}: " in str(refused.value) for name in FORMATS)
    with pytest.raises(UnreadableImport, match=seen):
        read(path)


def test_a_format_nobody_knows_is_refused_by_its_name(samples):
    with pytest.raises(UnreadableImport, match="'whatsapp' is not a format; known are auto, chatgpt, "):
        read(samples / "chatgpt.json", "whatsapp")


@pytest.mark.parametrize("form", [*FORMATS, "auto"])
def test_a_missing_file_is_refused_at_once(tmp_path, form):
    for path in (tmp_path / "none.json", tmp_path / "nul\0"):
        with pytest.raises(UnreadableImport, match="does not exist"):
            read(path, form)


@pytest.mark.parametrize(
    "form", [name for name in FORMATS if name not in {"claude-code", "codex", "gemini", "markdown"}]
)
def test_a_folder_is_refused(tmp_path, form):
    (tmp_path / "a.jsonl").write_text('{"content": "x"}')
    with pytest.raises(UnreadableImport, match=f"is a folder; {form} is "):
        read(tmp_path, form)


def test_what_is_no_file_is_refused():
    with pytest.raises(UnreadableImport, match="not a regular file"):
        read(Path(os.devnull))


@pytest.mark.parametrize("form", ["chatgpt", "claude", "locomo"])
@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "is empty"),
        (b'{"mapping": {}}', "holds one JSON object, first keys found: mapping; "),
        (b"[1]", r"holds a JSON list, first a number \(1\); "),
        (b'{"content": "x"}\n{"content": "y"}', "not JSON: Extra data at line 2, column 1"),
    ],
)
def test_a_file_of_another_shape_is_refused_by_a_named_format(written, form, content, seen):
    with pytest.raises(UnreadableImport, match=seen):
        read(written("f", content), form)


@pytest.mark.parametrize("form", ["claude-code", "jsonl"])
def test_a_document_is_refused_by_a_format_of_lines(samples, form):
    with pytest.raises(UnreadableImport, match="lines of text, first not JSON: Expecting value at column 2"):
        read(samples / "chatgpt.json", form)


def test_a_named_format_reads_nothing_from_nothing(written):
    assert list(read(written("empty.jsonl", ""), "jsonl")) == []
    assert list(read(written("empty.json", "[]"), "chatgpt")) == []


@pytest.mark.parametrize("content", [b"", b" \n\n ", b"\xef\xbb\xbf\n"])
def test_a_file_without_a_line_is_the_export_of_whoever_has_nothing(written, content):
    path = written("empty.jsonl", content)
    assert (detect(path), list(read(path))) == ("jsonl", [])


def test_another_systems_export_breaks_record_by_record_under_a_wrong_name(samples):
    records = list(read(samples / "claude.json", "chatgpt"))

    assert [record.position for record in records] == [f"conversations[{i}]" for i in range(3)]
    assert all(record.reason.startswith("mapping is missing; keys found: uuid, name") for record in records)


def test_a_zip_is_only_for_exports_that_come_as_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(UnreadableImport, match="is a zip; locomo is "):
        read(tmp_path / "z.zip", "locomo")


@pytest.mark.parametrize("form", ["auto", "chatgpt", "openai"])
def test_a_file_that_may_not_be_read_is_refused(samples, monkeypatch, form):
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(UnreadableImport, match=r"chatgpt\.json cannot be read: Permission denied"):
        read(samples / "chatgpt.json", form)
