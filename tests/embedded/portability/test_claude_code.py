import shutil
from datetime import UTC, datetime

import pytest

from engrain.errors import UnreadableImport
from engrain.portability.assistants.projects import tag_of
from engrain.portability.assistants.turns import make_key
from engrain.portability.formats import detect, read
from engrain.portability.formats.records import BrokenRecord, ImportedTurn

SESSION = "d2c1b0a9-1111-4eee-9fff-000000000001"


def line(text="hi", **more):
    return {"type": "user", "sessionId": "s", "uuid": text, "message": {"role": "user", "content": text}, **more}


def test_reads_what_was_said_and_neither_tools_nor_notices(samples):
    turns = list(read(samples / "claude-code.jsonl"))

    assert turns[0] == ImportedTurn(
        session=SESSION,
        role="user",
        speaker=None,
        content="Why does the parser refuse 29 February?",
        event_time=datetime(2025, 12, 3, 18, 27, 4, 359000, tzinfo=UTC),
        source_id="5c0a7f10-0001-4b33-8e03-8f3b2c000001",
        metadata={"format": "claude-code"},
        tags=(tag_of("/home/ana/parser"),),
        key=make_key("claude-code", "5c0a7f10-0001-4b33-8e03-8f3b2c000001"),
    )
    assert [(turn.role, turn.content) for turn in turns[1:]] == [("assistant", "It takes every year for a common one.")]


def reply(text, message, **more):
    said = {"id": message, "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "sessionId": "s", "uuid": text, "message": {**said, **more}}


def test_what_the_program_writes_and_what_leads_from_tool_to_tool_is_not_read(written):
    path = written(
        "t.jsonl",
        [
            line("<command-name>/clear</command-name>"),
            line("<local-command-stdout>Set model</local-command-stdout>"),
            line("The API listens on port 8443. <system-reminder>Never mention it.</system-reminder>", uuid="p"),
            reply("Let me grep for it.", "a"),
            reply("Part one.", "b"),
            reply("Part two.", "b"),
            line("[Request interrupted by user for tool use]"),
            reply("No response requested.", "c", model="<synthetic>"),
            line("hidden", isVisibleInTranscriptOnly=True),
            line("Never push to main", cwd="no/absolute/path"),
        ],
    )
    turns = list(read(path))
    assert [(turn.role, turn.content, turn.source_id) for turn in turns] == [
        ("user", "The API listens on port 8443.", "p"),
        ("assistant", "Part one.\n\nPart two.", "Part one."),
        ("user", "Never push to main", "Never push to main"),
    ]
    assert {turn.tags for turn in turns} == {()}


def test_broken_lines_are_named_by_their_number(written):
    path = written(
        "t.jsonl",
        '{"type": "user", "message": {"content": "one"}}\n'
        "\n"
        "{not json\n"
        '{"message": {}}\n'
        '{"type": "user"}\n'
        '{"type": "assistant", "message": {"role": "assistant"}}\n'
        '{"type": "assistant", "message": {"role": "robot", "content": "x"}}\n'
        '{"type": "user", "message": {"content": ["bare"]}}\n'
        '{"type": "user", "message": {"content": "two"}, "timestamp": true}\n',
    )

    one, *broken = read(path)

    assert one.content == "one"
    assert broken == [
        BrokenRecord("line 3", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        BrokenRecord("line 4", "type is missing; keys found: message"),
        BrokenRecord("line 5", "message is null, expected an object"),
        BrokenRecord("line 6", "message.content is missing; keys found: role"),
        BrokenRecord("line 7", "message.role is text ('robot'), known are user, assistant, tool, system"),
        BrokenRecord("line 8", "message.content[0] is text ('bare'), expected an object"),
        BrokenRecord("line 9", "timestamp is true, expected ISO 8601 or epoch seconds"),
    ]


def test_a_line_without_ids_is_known_by_its_file_and_place(written):
    path = written("session-7.jsonl", [{"type": "user", "message": {"content": "hi"}}] * 2)

    first, second = read(path)

    assert first.session == second.session == "session-7"
    assert first.source_id != second.source_id
    assert [first, second] == list(read(path))


def test_a_folder_is_read_file_by_file_in_order(samples, written, tmp_path):
    shutil.copy(samples / "claude-code.jsonl", tmp_path / "m.jsonl")
    written("a/z.jsonl", [line("first"), 5])
    written("z.jsonl", [line("last")])
    written("notes.txt", "not read")

    records = list(read(tmp_path))

    assert detect(tmp_path) == "claude-code"
    assert [record.content for record in records if isinstance(record, ImportedTurn)] == [
        "first",
        "Why does the parser refuse 29 February?",
        "It takes every year for a common one.",
        "last",
    ]
    assert BrokenRecord("a/z.jsonl, line 2", "a number (5), expected an object") in records
    assert records == list(read(tmp_path, "claude-code"))


def test_an_unreadable_file_of_a_folder_does_not_stop_the_others(written, tmp_path):
    written("a.jsonl", b"\x89PNG\r\n\x1a\n")
    written("b.jsonl", [line("said")])
    written("c.jsonl", "")

    broken, turn = read(tmp_path)

    assert [broken, turn] == list(read(tmp_path, "claude-code"))
    assert broken.position == "a.jsonl"
    assert "byte 1 is 0x89" in broken.reason
    assert turn.content == "said"


def test_a_folder_without_transcripts_is_refused(written, tmp_path):
    written("x/conversations.json", [])
    with pytest.raises(UnreadableImport, match=r"without \.jsonl or \.md files"):
        read(tmp_path)
    written("x/plain.jsonl", [{"content": "hi"}])
    with pytest.raises(UnreadableImport, match=r"x/plain\.jsonl holds lines of text, first keys found: content"):
        read(tmp_path)
    with pytest.raises(UnreadableImport, match="is a folder; jsonl is"):
        read(tmp_path, "jsonl")


def test_a_file_that_leaves_the_folder_is_a_broken_record(written, tmp_path):
    written("a.jsonl", [line("one")])
    gone = written("b.jsonl", [line("two")])
    records = read(tmp_path)
    gone.unlink()

    one, broken = records

    assert one.content == "one"
    assert broken.position == "b.jsonl"
    assert "cannot be read: No such file" in broken.reason
