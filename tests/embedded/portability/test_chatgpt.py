from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.portability.formats import read
from engrain.portability.formats.chatgpt import CHATGPT
from engrain.portability.formats.records import BrokenRecord, Entry, ImportedTurn

SOURDOUGH = "6569a1d0-77aa-8013-9c55-0d2f4e9b1c01"


def message(role="user", text="hello", *, time=None, **more):
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, "create_time": time, **more}


def node(parent, said=None):
    return {"message": said, "parent": parent, "children": []}


def conversation(nodes, current=None, **more):
    return {"id": "c", "title": "t", "mapping": nodes, "current_node": current, **more}


def entry(value):
    return Entry(value=value, number=1, position="conversations[0]", stem="conversations")


def contents(records):
    return [record.content for record in records]


def test_reads_the_branch_the_person_last_saw(samples):
    turns = [turn for turn in read(samples / "chatgpt.json") if turn.session == SOURDOUGH]

    assert [(turn.role, turn.speaker, turn.content) for turn in turns] == [
        ("user", None, "[image]\nHow warm should my starter be? My kitchen is at 17 degrees."),
        ("assistant", None, "hours = 8 * 2 ** ((24 - 17) / 10)\nhours"),
        ("tool", "bio", "Model set context updated."),
        ("assistant", None, "Aim for 24 degrees.\nAt 17 it needs about 13 hours."),
    ]


def test_a_turn_carries_its_message_id_time_and_title(samples):
    *_, last, spoken = read(samples / "chatgpt.json")

    assert last == ImportedTurn(
        session=SOURDOUGH,
        role="assistant",
        speaker=None,
        content="Aim for 24 degrees.\nAt 17 it needs about 13 hours.",
        event_time=datetime(2023, 12, 1, 9, 0, 50, 750000, tzinfo=UTC),
        source_id="9f0c1d5e-0010-4a11-8b01-5d1f0c000010",
        title="Sourdough starter in winter",
        metadata={"format": "chatgpt"},
        fields={"model": "gpt-4"},
    )
    assert (spoken.session, spoken.title) == ("656ad4a0-12bb-8013-8d66-1e3a5fac2d02", None)
    assert spoken.content == "Remind me to feed the starter on Sunday."


@pytest.mark.parametrize("current", [None, "not-in-the-mapping", 7])
def test_without_a_current_node_the_newest_leaf_ends_the_branch(sample, written, current):
    conversations = sample("chatgpt.json")[:1]
    conversations[0]["current_node"] = current
    nodes = conversations[0]["mapping"]
    nodes["9f0c1d5e-0006-4a11-8b01-5d1f0c000006"]["message"]["create_time"] = 1701430000.0

    assert contents(read(written("c.json", conversations))) == [
        "[image]\nHow warm should my starter be? My kitchen is at 17 degrees.",
        "An answer that was regenerated.",
    ]


def test_of_leaves_as_old_as_each_other_the_last_is_taken(written):
    nodes = {"root": node(None), "a": node("root", message(text="a")), "b": node("root", message(text="b"))}

    assert contents(read(written("c.json", [conversation(nodes)]))) == ["b"]


def test_a_leaf_of_unreadable_time_is_the_oldest(written):
    nodes = {"root": node(None), "a": node("root", message(text="a", time=1)), "b": node("root", message(time="soon"))}

    assert contents(read(written("c.json", [conversation(nodes)]))) == ["a"]


def test_a_leaf_is_the_end_even_where_its_parent_is_newer(written):
    nodes = {"a": node(None, message(text="a", time=2)), "b": node("a", message(text="b", time=1))}

    assert contents(read(written("c.json", [conversation(nodes)]))) == ["a", "b"]


def test_a_conversation_without_messages_has_no_turns(written):
    assert list(read(written("c.json", [conversation({}), conversation({"a": node(None)})]))) == []


def test_a_tree_that_goes_round_is_read_once_and_reported(written):
    nodes = {
        "a": node("c", message(text="1")),
        "b": node("a", message(text="2")),
        "c": node("b", message(text="3")),
    }

    broken, *turns = read(written("c.json", [conversation(nodes, "c")]))

    assert broken == BrokenRecord(
        "conversations[0].mapping['a']", "its parent is a message that follows it: the tree goes round"
    )
    assert contents(turns) == ["1", "2", "3"]


def test_a_tree_that_is_one_ring_is_read_from_its_newest_message(written):
    nodes = {"a": node("b", message(text="older", time=1)), "b": node("a", message(text="newer", time=2))}

    _, *turns = read(written("c.json", [conversation(nodes)]))

    assert contents(turns) == ["older", "newer"]


def test_a_parent_that_is_not_in_the_export_ends_the_branch(written):
    nodes = {"a": node("a-node-left-out", message(text="first")), "b": node("a", message(text="second"))}

    assert contents(read(written("c.json", [conversation(nodes, "b")]))) == ["first", "second"]


def test_a_broken_message_is_named_and_the_others_are_read(written):
    nodes = {
        "a": node(None, message(text="first")),
        "b": node("a", message(role="critic", text="second")),
        "c": node("b", message(text="third", time="yesterday")),
        "d": node("c", message(text=17)),
        "e": node("d", message(text="fifth", time=float("nan"))),
        "f": node("e", message(text="last")),
    }

    records = list(read(written("c.json", [conversation(nodes, "f"), "no conversation", {"title": "empty"}])))

    assert contents(record for record in records if isinstance(record, ImportedTurn)) == ["first", "last"]
    assert [record for record in records if isinstance(record, BrokenRecord)] == [
        BrokenRecord(
            "conversations[0].mapping['b']", "author.role is text ('critic'), known are user, assistant, tool, system"
        ),
        BrokenRecord(
            "conversations[0].mapping['c']",
            "create_time is text ('yesterday'), expected ISO 8601 or epoch seconds",
        ),
        BrokenRecord("conversations[0].mapping['d']", "parts[0] is a number (17), expected text or an object"),
        BrokenRecord(
            "conversations[0].mapping['e']", "create_time is a number (nan), expected ISO 8601 or epoch seconds"
        ),
        BrokenRecord("conversations[1]", "text ('no conversation'), expected an object"),
        BrokenRecord("conversations[2]", "mapping is missing; keys found: title"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        None,
        message(text="  \n"),
        message(text="secret", metadata={"is_visually_hidden_from_conversation": True}),
        message() | {"content": None},
        message() | {"content": {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}},
        message() | {"content": {"content_type": "text", "parts": [None]}},
        message() | {"content": {"content_type": "multimodal_text", "parts": [{"type": "audio", "text": None}]}},
    ],
)
def test_what_was_never_shown_leaves_no_trace(said):
    assert list(CHATGPT.read(entry(conversation({"a": node(None, said)}, "a")))) == []


def test_a_message_without_an_id_is_known_by_its_conversation_and_node(written):
    (turn,) = read(written("c.json", [conversation({"a": node(None, message())}, "a")]))

    assert turn.source_id == "c/a"


def test_a_conversation_without_an_id_is_known_by_its_first_node(written):
    nodes = {"root-7": node(None), "a": node("root-7", message())}

    (turn,) = read(written("c.json", [{"mapping": nodes, "current_node": "a"}]))

    assert turn.session == "root-7"


@given(parents=st.lists(st.integers(-1, 11), min_size=1, max_size=12), current=st.integers(-1, 12))
def test_every_shape_of_tree_ends_and_gives_no_message_twice(parents, current):
    nodes = {str(i): node(str(parent), message(text=f"said {i}", time=i)) for i, parent in enumerate(parents)}

    records = list(CHATGPT.read(entry(conversation(nodes, str(current)))))

    said = [record.content for record in records if isinstance(record, ImportedTurn)]
    assert len(said) == len(set(said)) >= 1
    if str(current) in nodes:
        assert said[-1] == f"said {current}"


def test_the_model_of_an_answer_is_kept_where_its_name_is_text(sample, written):
    conversations = sample("chatgpt.json")[:1]
    models = [turn.fields.get("model") for turn in read(written("conversations.json", conversations))]
    assert models == [None, "gpt-4", None, "gpt-4"]
    for node in conversations[0]["mapping"].values():
        if node.get("message"):
            node["message"]["metadata"] = {"model_slug": 4}
    assert not any(turn.fields for turn in read(written("conversations.json", conversations)))
