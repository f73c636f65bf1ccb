from engrain.portability.formats import read
from engrain.portability.formats.records import BrokenRecord


def test_reads_a_list_of_messages_as_one_conversation(samples):
    turns = list(read(samples / "openai-messages.json"))

    assert [(turn.role, turn.speaker, turn.content) for turn in turns] == [
        ("system", None, "Answer in one sentence."),
        ("user", "Ana", "What is on this ticket?\n[image]"),
        ("tool", None, "Lisbon to Porto, 7 June, seat 21"),
        ("assistant", None, "A train from Lisbon to Porto on 7 June, seat 21."),
    ]
    assert {turn.session for turn in turns} == {"openai-messages"}
    assert {turn.event_time for turn in turns} == {None}
    assert turns[0].metadata == {"format": "openai"}


def test_reads_an_object_that_holds_the_messages(samples):
    turns = list(read(samples / "openai-conversation.json"))

    assert [turn.content for turn in turns] == ["I am allergic to walnuts.", "I will leave them out of the recipes."]
    assert {turn.session for turn in turns} == {"openai-conversation/1"}


def test_every_line_of_a_tuning_file_is_a_conversation(samples):
    turns = list(read(samples / "openai-tuning.jsonl"))

    assert [(turn.session, turn.role, turn.speaker) for turn in turns] == [
        ("openai-tuning/1", "system", None),
        ("openai-tuning/1", "user", None),
        ("openai-tuning/1", "assistant", None),
        ("openai-tuning/2", "user", None),
        ("openai-tuning/2", "tool", "lookup"),
        ("openai-tuning/2", "assistant", None),
    ]


def test_a_list_of_conversations_is_read_like_lines_of_them(sample, written):
    conversation = sample("openai-conversation.json")

    turns = list(read(written("both.json", [conversation, conversation])))

    assert [turn.session for turn in turns] == ["both/1", "both/1", "both/2", "both/2"]
    assert len({turn.source_id for turn in turns}) == 4


def test_the_same_words_said_twice_are_two_messages(written):
    messages = [{"role": "user", "content": "ok"}] * 2

    first, second = read(written("m.json", messages))

    assert first.source_id != second.source_id


def test_files_of_one_name_do_not_share_message_ids(written):
    (one,) = read(written("a/messages.json", [{"role": "user", "content": "one"}]))
    (two,) = read(written("b/messages.json", [{"role": "user", "content": "two"}]))

    assert one.source_id != two.source_id


def test_a_message_that_has_an_id_keeps_it(written):
    (turn,) = read(written("m.json", [{"id": "msg_1", "role": "user", "content": "hi"}]))

    assert turn.source_id == "msg_1"


def test_broken_messages_are_named(written):
    messages = [
        {"role": "user"},
        {"role": "narrator", "content": "x"},
        {"role": "user", "content": 3},
        {"role": "user", "content": [{"type": 1}]},
        "text",
        {"role": ["user"], "content": "x"},
        {"role": "user", "content": "fine"},
    ]

    *broken, fine = read(written("m.json", messages))

    known = "known are user, assistant, tool, system, developer, function"
    assert broken == [
        BrokenRecord("messages[0]", "content is missing; keys found: role"),
        BrokenRecord("messages[1]", f"role is text ('narrator'), {known}"),
        BrokenRecord("messages[2]", "content is a number (3), expected a list"),
        BrokenRecord("messages[3]", "content[0].type is a number (1), expected text"),
        BrokenRecord("messages[4]", "text ('text'), expected an object"),
        BrokenRecord("messages[5]", f"role is a list (['user']), {known}"),
    ]
    assert fine.content == "fine"


def test_broken_messages_of_a_line_are_named_by_line_and_place(written):
    path = written("t.jsonl", [{"messages": [{"role": "user", "content": "hi"}, None]}, {"messages": None}])

    _, message, line = read(path)

    assert message == BrokenRecord("line 1.messages[1]", "message is null, expected an object")
    assert line == BrokenRecord("line 2", "messages is null, expected a list")
