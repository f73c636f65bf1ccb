"""Memories of other systems, as their own software wrote the samples: what becomes of each record."""

from datetime import UTC, datetime

import pytest

from engrain import Memory
from engrain.errors import UnreadableImport
from engrain.portability.formats import detect, read
from engrain.portability.formats.records import BrokenRecord, ImportedEntity, ImportedFact

MAY_7 = datetime(2024, 5, 7, 9, tzinfo=UTC)


def statements(path):
    return [each for each in read(path) if isinstance(each, ImportedFact)]


def test_an_mcp_graph_is_entities_what_was_observed_of_them_and_how_they_relate(samples):
    found = list(read(samples / "mcp-memory.jsonl"))

    assert [(each.name, each.type) for each in found if isinstance(each, ImportedEntity)] == [
        ("Ana", "person"),
        ("Acme", "Company"),
        ("Lisbon", "city"),
    ]
    said = statements(samples / "mcp-memory.jsonl")
    assert [(each.about, each.content) for each in said] == [
        ("Ana", "Moved to Lisbon in May"),
        ("Ana", "Hates early flights"),
        ("Ana", "Plays the cello"),
        ("Acme", "Makes sails"),
        ("Ana", "Ana works at Acme"),
        ("Ana", "Ana lives in Lisbon"),
        ("Ana", "Ana knows Bruno"),
    ]
    assert len({(each.subject, each.predicate) for each in said}) == len(said)  # none takes another's place


def test_what_is_no_line_of_a_graph_is_broken_and_the_rest_is_read(written):
    path = written(
        "graph.jsonl",
        [
            {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["sails", 5, " "]},
            {"type": "entity", "entityType": "person", "observations": []},
            {"type": "rumour"},
            {"type": "relation", "from": "Ana", "to": "Bruno", "relationType": "knows"},
        ],
    )
    found = list(read(path))

    assert [each.position for each in found if isinstance(each, BrokenRecord)] == [
        "line 1.observations[1]",
        "line 2",
        "line 3",
    ]
    assert [each.content for each in found if isinstance(each, ImportedFact)] == ["sails", "Ana knows Bruno"]


def test_mem0s_memories_keep_whose_they_are_their_times_and_metadata(samples):
    first, second = statements(samples / "mem0.json")

    assert (first.subject, first.content) == ("ana", "Lives in Lisbon since May")
    assert (first.valid_from, first.confirmed_at) == (MAY_7, datetime(2024, 5, 8, 9, tzinfo=UTC))
    assert first.tags == ("home",)
    assert first.metadata["trip"] == "home"
    assert second.valid_to == datetime(2030, 1, 1, tzinfo=UTC)
    assert second.metadata["agent_id"] == "travel"
    assert second.stored_at == MAY_7


def test_mem0s_list_alone_is_read_as_well(sample, samples, written):
    path = written("list.json", sample("mem0.json")["results"])

    assert detect(path) == "mem0"
    alone, inside = statements(path), statements(samples / "mem0.json")
    assert [fact._replace(position="") for fact in alone] == [fact._replace(position="") for fact in inside]


def test_lettas_passages_without_those_that_were_deleted(samples):
    first, second = statements(samples / "letta.json")

    assert (first.subject, first.content, first.stored_at) == ("archival memory", "Ana moved to Lisbon in May", MAY_7)
    assert (first.tags, first.metadata["topic"]) == (("home", "ana"), "home")
    assert (second.subject, second.tags) == ("office.txt", ())


@pytest.mark.parametrize(
    "records",
    [
        [{"id": "passage-6f3a8b90-11d2-4c7e-9a3c-2f60c0b1a001", "text": "Ana prefers window seats."}],
        [{"namespace": ["ana"], "key": "6f3a8b90-11d2-4c7e-9a3c-2f60c0b1a001", "value": {"text": "Ana swims."}}],
    ],
    ids=["letta", "langgraph"],
)
def test_an_id_that_another_system_drew_is_no_word_of_the_fact(written, records):
    """A block for a prompt shows the predicate: an id would take twenty tokens of each line."""
    path = written("memories.json", records)
    with Memory.open(":memory:", embedder="none") as memory:
        agent = memory.agent()
        agent.import_file(path)
        changed = [{**records[0], "text": "Ana rows.", "value": {"text": "Ana rows."}}]
        agent.import_file(written("changed.json", changed))
        assert [fact.content for fact in agent.facts()] == ["Ana rows."]
        assert "6f3a8b90" not in agent.context("What does Ana do?").text


def test_a_langgraph_item_says_what_its_value_says(samples):
    home, flights, profile = statements(samples / "langgraph.json")

    assert (home.subject, home.predicate, home.content) == ("memories/ana", "home", "Ana lives in Lisbon since May")
    assert flights.content == "Ana hates early flights"
    assert profile.content == '{"city": "Lisbon", "name": "Ana", "pets": ["Bia"]}'
    assert profile.metadata["value"] == {"name": "Ana", "city": "Lisbon", "pets": ["Bia"]}


def test_each_heading_of_markdown_is_a_note_under_those_above_it(samples):
    found = statements(samples / "notes.md")

    assert {each.predicate: each.content for each in found} == {
        "notes": "The house is in Lisbon.",
        "notes/Kitchen": "The oven runs hot.\n\n```sh\n# no heading\nbake --at 180\n```",
        "notes/Kitchen/Boiler": "Serviced in May; call *Rui*.",
        "notes/Garden": "- lemon tree\n- two hens",
    }
    assert {each.subject for each in found} == {None}
    assert {each.tags for each in found} == {("home", "lisbon")}
    assert {each.stored_at for each in found} == {datetime(2024, 5, 7, tzinfo=UTC)}
    assert found[0].metadata["front_matter"]["title"] == "Ana's house"


def test_headings_of_one_name_are_notes_of_their_own(written):
    found = statements(written("log.md", "# Day\nfirst\n# Day\nsecond\n"))

    assert [each.predicate for each in found] == ["log/Day", "log/Day 2"]


def test_a_date_that_is_none_is_reported_and_the_text_is_read(written):
    broken, note = read(written("log.md", "---\ndate: soon\ntags:\n- a\n- 'b'\n---\ntext\n"))

    assert "soon" in broken.reason
    assert (note.content, note.tags, note.stored_at) == ("text", ("a", "b"), None)


def test_a_folder_of_markdown_is_read_and_no_link_leads_out_of_it(written, tmp_path):
    written("outside.md", "# Secret\nhidden\n")
    written("vault/a.md", "# A\none\n")
    written("vault/deep/b.md", "# B\ntwo\n")
    (tmp_path / "vault" / "link.md").symlink_to(tmp_path / "outside.md")

    assert [each.predicate for each in read(tmp_path / "vault")] == ["a/A", "deep/b/B"]


@pytest.mark.parametrize(("name", "content"), [("x.md", b"\xff\xfeab\x00"), ("y.md", b"\xc3")])
def test_markdown_that_is_no_text_is_refused(written, name, content):
    path = written(name, content)

    with pytest.raises(UnreadableImport):
        list(read(path))
