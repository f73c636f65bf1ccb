from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.notes import group_by_prefix, is_note, note_of, summary_content, summary_key
from engrain.domain.records import Caller
from tests.support.sample_records import CALLER, NOON, episode, fact

FIRST = NOON - timedelta(days=3)
KEYS = st.sampled_from(
    ["project:alpha", "project:beta", "project", "name", "a:b:c", "a:d", "summary:a:2024-05-07", ":x"]
)


def note(key="editor", content="vim", **changes):
    return fact(content, **{"subject": "aide", "scope": "aide", "predicate": key, **changes})


def test_a_note_is_a_view_of_its_fact():
    stored = note(category="preference", metadata={"category_confidence": 0.5, "first_saved_at": FIRST.isoformat()})
    assert note_of(stored).to_dict() == {
        "id": stored.id,
        "key": "editor",
        "content": "vim",
        "category": "preference",
        "category_confidence": 0.5,
        "created_at": "2024-05-04T12:00:00Z",
        "updated_at": "2024-05-07T12:00:00Z",
        "archived": False,
    }


@pytest.mark.parametrize("validity", ["superseded", "expired", "retracted"])
def test_what_is_no_longer_active_is_archived(validity):
    assert note_of(note(validity=validity)).archived


@pytest.mark.req("C20")
@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"category_confidence": "sure", "first_saved_at": "once"},
        {"category_confidence": True, "first_saved_at": 7},
        {"category_confidence": 1.5, "first_saved_at": "2024-05-04T12:00:00"},
        {"category_confidence": None, "first_saved_at": None},
    ],
)
def test_metadata_that_others_wrote_never_breaks_a_note(metadata):
    read = note_of(note(metadata=metadata))
    assert (read.category_confidence, read.created_at) == (None, NOON)


def test_only_facts_of_an_agent_about_itself_in_its_own_scope_are_notes():
    own = note()
    assert is_note(own, CALLER)
    others = [
        replace(own, scope="global"),
        replace(own, subject="Ana"),
        replace(own, entity_id="e1"),
        replace(own, tenant_id="other"),
    ]
    assert not any(is_note(memory, CALLER) for memory in [*others, episode()])
    assert not is_note(own, Caller(agent="ben"))


def test_a_note_is_under_a_key_in_any_spelling_of_the_agent():
    spelled = note("Editor", subject="Aide")
    assert is_note(spelled, CALLER)
    assert note_of(spelled).key == "editor"  # the slot that it fills
    assert is_note(note("likes"), CALLER)
    others = [
        note("likes", subject="Aide"),  # has values side by side
        note("observation 0123456789ab"),
        note(category="reflection"),
        note(category="summary"),
        note(metadata={"trust": "tool"}),
        note(metadata={"trust": "assistant"}),
    ]
    assert not any(is_note(memory, CALLER) for memory in others)
    assert is_note(note(metadata={"trust": "import"}), CALLER)


@pytest.mark.req("C14")
def test_notes_of_one_prefix_are_a_group_and_one_alone_is_none():
    alpha, beta, lone = note("project:alpha"), note("project:beta", created_at=FIRST), note("config:port")
    assert group_by_prefix([alpha, lone, beta]) == {"project": [beta, alpha]}


@given(st.lists(st.tuples(KEYS, st.integers(0, 5)), max_size=12))
def test_every_group_has_one_prefix_two_notes_or_more_and_the_oldest_first(drawn):
    groups = group_by_prefix([note(key, created_at=NOON + timedelta(days=days)) for key, days in drawn])
    for prefix, group in groups.items():
        assert len(group) >= 2
        assert {memory.predicate.partition(":")[0] for memory in group} == {prefix}
        assert [memory.created_at for memory in group] == sorted(memory.created_at for memory in group)
    assert "summary" not in groups


def test_a_summary_is_named_by_the_day_in_utc():
    late = datetime(2024, 5, 7, 23, tzinfo=timezone(timedelta(hours=-12)))
    assert summary_key("project", late) == "summary:project:2024-05-08"
    assert summary_key("project", datetime(2024, 5, 7, tzinfo=UTC)) == "summary:project:2024-05-07"


def test_a_summary_holds_what_it_held_and_each_note_under_its_key():
    group = [note("a:1", "one"), note("a:2", "two\nlines")]
    assert summary_content(None, group) == "a:1: one\na:2: two\nlines"
    assert summary_content("a:0: nought", group) == "a:0: nought\na:1: one\na:2: two\nlines"
