from datetime import UTC, datetime

from engrain.portability.formats import read
from engrain.portability.formats.records import BrokenRecord, ImportedTurn


def test_reads_text_blocks_and_the_names_of_attachments(samples):
    first, second, _ = read(samples / "claude.json")

    assert first == ImportedTurn(
        session="3b6f0a52-8c1e-4d0f-a4d5-2f6b7c8d9e01",
        role="user",
        speaker=None,
        content=(
            "I ride 14 km to work, half of it gravel. Which tyres?\n"
            "[attachment: route.gpx.txt]\n<gpx>...</gpx>\n[attachment: bike.jpg]"
        ),
        event_time=datetime(2025, 3, 2, 9, 15, 0, 123456, tzinfo=UTC),
        source_id="3b6f0a52-0001-4d0f-a4d5-2f6b7c8d9e01",
        title="Choosing a bicycle",
        metadata={"format": "claude"},
    )
    assert (second.role, second.content) == ("assistant", "Let me look that up.\nTake 40 mm tyres.")


def test_an_export_without_blocks_is_read_from_its_text(samples):
    *_, old = read(samples / "claude.json")

    assert old.content == "An old export has the text alone."
    assert old.title is None
    assert old.event_time == datetime(2023, 9, 10, 20, tzinfo=UTC)


def test_broken_messages_and_conversations_are_named(sample, written):
    conversations = sample("claude.json")
    messages = conversations[0]["chat_messages"]
    messages[0]["sender"] = "user"
    messages[1]["content"][1]["text"] = 5
    messages[2] = [1]
    conversations[1]["chat_messages"][0]["created_at"] = {"seconds": 1}
    conversations[2]["chat_messages"] = {}
    conversations.append({"name": "n", "chat_messages": []})
    conversations.append({"uuid": "u"})

    assert list(read(written("conversations.json", conversations))) == [
        BrokenRecord("conversations[0].chat_messages[0]", "sender is text ('user'), known are human, assistant"),
        BrokenRecord("conversations[0].chat_messages[1]", "content[1].text is a number (5), expected text"),
        BrokenRecord("conversations[0].chat_messages[2]", "message is a list ([1]), expected an object"),
        BrokenRecord(
            "conversations[1].chat_messages[0]",
            "created_at is an object ({'seconds': 1}), expected ISO 8601 or epoch seconds",
        ),
        BrokenRecord("conversations[2]", "chat_messages is an object ({}), expected a list"),
        BrokenRecord("conversations[3]", "uuid is missing; keys found: name, chat_messages"),
        BrokenRecord("conversations[4]", "chat_messages is missing; keys found: uuid"),
    ]


def test_a_message_without_a_uuid_is_known_by_its_place(sample, written):
    conversations = sample("claude.json")[1:2]
    del conversations[0]["chat_messages"][0]["uuid"]

    (turn,) = read(written("conversations.json", conversations))

    assert turn.source_id == "3b6f0a52-8c1e-4d0f-a4d5-2f6b7c8d9e02/0"


def test_only_an_attachment_is_a_turn_too(sample, written):
    conversations = sample("claude.json")[1:2]
    conversations[0]["chat_messages"][0] |= {"text": "", "attachments": [{"file_name": "", "file_type": "txt"}]}

    (turn,) = read(written("conversations.json", conversations))

    assert turn.content == "[attachment]"


def test_the_text_that_was_extracted_from_an_attachment_is_kept(sample, written):
    conversations = sample("claude.json")[:1]
    conversations[0]["chat_messages"][0]["attachments"] = [
        {"file_name": "plan.txt", "extracted_content": "Day one: Sintra.\nDay two: the beach."},
        {"file_name": "empty.pdf", "extracted_content": ""},
    ]
    first, *_ = read(written("conversations.json", conversations))
    assert "[attachment: plan.txt]\nDay one: Sintra.\nDay two: the beach.\n[attachment: empty.pdf]" in first.content
