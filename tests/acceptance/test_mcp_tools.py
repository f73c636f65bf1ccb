"""What each profile offers, by name and parameter: hosts are written against these, so they stay as they are."""

import asyncio
import json
from pathlib import Path

import pytest

from engrain import Memory
from engrain.interfaces.mcp.profiles import PROFILES
from engrain.interfaces.mcp.server import server_of

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
NEEDED = object()
# A value that the tool takes besides those of the table; nobody has to give it.
MORE = {"request_context": None}
KEYED = {**MORE, "idempotency_key": None}

WRITING = {
    "memory_store_episode": {"content": NEEDED, "butler": NEEDED, "session_id": None, "importance": 5.0, **KEYED},
    "memory_store_fact": {
        "subject": NEEDED,
        "predicate": NEEDED,
        "content": NEEDED,
        "importance": 5.0,
        "permanence": "standard",
        "scope": "global",
        "tags": None,
        "entity_id": None,
        **KEYED,
    },
    "memory_store_rule": {"content": NEEDED, "scope": "global", "tags": None, **KEYED},
}
READING = {
    "memory_search": {
        "query": NEEDED,
        "types": None,
        "scope": None,
        "mode": "hybrid",
        "limit": 10,
        "min_confidence": 0.2,
        **MORE,
    },
    "memory_recall": {"topic": NEEDED, "scope": None, "limit": 10, **MORE},
    "memory_get": {"memory_type": NEEDED, "memory_id": NEEDED, **MORE},
}
FEEDBACK = {
    "memory_confirm": {"memory_type": NEEDED, "memory_id": NEEDED, **MORE},
    "memory_mark_helpful": {"rule_id": NEEDED, **MORE},
    "memory_mark_harmful": {"rule_id": NEEDED, "reason": None, **MORE},
}
MANAGEMENT = {
    "memory_forget": {"memory_type": NEEDED, "memory_id": NEEDED, **MORE},
    "memory_stats": {"scope": None, **MORE},
}
CONTEXT = {"memory_context": {"trigger_prompt": NEEDED, "butler": NEEDED, "token_budget": None, **MORE}}
ENTITIES = {
    "entity_create": {
        "canonical_name": NEEDED,
        "entity_type": NEEDED,
        "tenant_id": NEEDED,
        "aliases": None,
        "metadata": None,
        **MORE,
    },
    "entity_get": {"entity_id": NEEDED, **MORE},
    "entity_update": {"entity_id": NEEDED, "canonical_name": None, "aliases": None, "metadata": None, **MORE},
    "entity_resolve": {
        "name": NEEDED,
        "tenant_id": "default",
        "entity_type": None,
        "context_hints": None,
        "enable_fuzzy": False,
        **MORE,
    },
    "entity_merge": {"source_entity_id": NEEDED, "target_entity_id": NEEDED, **MORE},
}
KEEPING = {"memory_run_consolidation": {}, "memory_run_episode_cleanup": {"max_entries": 10_000}}
STABLE = {**WRITING, **READING, **FEEDBACK, **MANAGEMENT, **CONTEXT}
BUTLER = {**STABLE, **ENTITIES, **KEEPING}
ASSISTANT = {
    "search_memory": {"query": NEEDED, "kinds": None, "limit": 10, **MORE},
    "remember_fact": {"subject": NEEDED, "predicate": NEEDED, "content": NEEDED, "tags": None, **KEYED},
    "correct_fact": {"fact_id": NEEDED, "content": NEEDED, **MORE},
    "confirm_fact": {"fact_id": NEEDED, **MORE},
    "memory_stats": MANAGEMENT["memory_stats"],
    "get_entity_info": {"name": NEEDED, **MORE},
}
CONSOLIDATOR = {
    "is_session_consolidated": {"session_id": NEEDED, **MORE},
    "get_episodes_for_consolidation": {"session_id": NEEDED, "page": 0, **MORE},
    "save_facts_batch": {"facts": NEEDED, **MORE},
    "detect_conflicts": {"fact_id": NEEDED, **MORE},
    "resolve_conflict": {"old_fact_id": NEEDED, "new_fact_id": NEEDED, **MORE},
    "mark_session_consolidated": {"session_id": NEEDED, **MORE},
}
NOTES = {
    "save_note": {"key": NEEDED, "content": NEEDED, **MORE},
    "recall_note": {"key": NEEDED, **MORE},
    "list_notes": {"category": None, "limit": 20, **MORE},
    "search_notes": {"query": NEEDED, "mode": "fast", "category": None, "limit": 10, **MORE},
    "related_notes": {"key": NEEDED, "limit": 10, **MORE},
    "forget_note": {"key": NEEDED, **MORE},
}
GRAPH = {
    "create_entities": {"entities": NEEDED},
    "create_relations": {"relations": NEEDED},
    "add_observations": {"observations": NEEDED},
    "delete_entities": {"entityNames": NEEDED},
    "delete_observations": {"deletions": NEEDED},
    "delete_relations": {"relations": NEEDED},
    "read_graph": {},
    "search_nodes": {"query": NEEDED},
    "open_nodes": {"names": NEEDED},
}
EXPECTED = {
    "butler": BUTLER,
    "assistant": ASSISTANT,
    "consolidator": CONSOLIDATOR,
    "notes": NOTES,
    "graph": GRAPH,
    "all": {**BUTLER, **ASSISTANT, **CONSOLIDATOR, **NOTES},
}


@pytest.fixture(scope="module")
def offered():
    """The tools of each profile by name, as a client is told of them."""
    with Memory.open(":memory:", settings={"embedding": {"model": "none"}}) as memory:
        return {
            profile: {each.name: each for each in asyncio.run(server_of(memory, profile).list_tools())}
            for profile in PROFILES
        }


def parameters(tool):
    """Each parameter's default, NEEDED where it has none."""
    schema = tool.input_schema
    required = set(schema.get("required", []))
    return {name: NEEDED if name in required else each["default"] for name, each in schema["properties"].items()}


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(WRITING, marks=pytest.mark.req("B19.1"), id="writing"),
        pytest.param(READING, marks=pytest.mark.req("B19.2"), id="reading"),
        pytest.param(FEEDBACK, marks=pytest.mark.req("B19.3"), id="feedback"),
        pytest.param(MANAGEMENT, marks=pytest.mark.req("B19.4"), id="management"),
        pytest.param(CONTEXT, marks=pytest.mark.req("B19.5"), id="context"),
        pytest.param(ENTITIES, marks=pytest.mark.req("B19.6"), id="entities"),
        pytest.param(KEEPING, marks=pytest.mark.req("B19.7"), id="keeping"),
        pytest.param(STABLE, marks=pytest.mark.req("N19"), id="stable"),
    ],
)
def test_the_butler_offers_its_tools_by_these_names_and_parameters(offered, group):
    assert {name: parameters(offered["butler"][name]) for name in group} == group


@pytest.mark.parametrize(
    "profile",
    [
        "butler",
        pytest.param("assistant", marks=pytest.mark.req("Y17")),
        pytest.param("consolidator", marks=pytest.mark.req("Y18")),
        "notes",
        "graph",
        "all",
    ],
)
def test_a_profile_offers_these_tools_and_no_other(offered, profile):
    assert {name: parameters(each) for name, each in offered[profile].items()} == EXPECTED[profile]


def test_the_numbers_of_tools_are_those_of_the_seeds():
    assert (len(BUTLER), len(STABLE), len(ASSISTANT), len(CONSOLIDATOR)) == (19, 12, 6, 6)


@pytest.mark.req("N20")
def test_every_tool_that_reads_or_writes_takes_a_request_context(offered):
    without = {name for name, tool in offered["all"].items() if "request_context" not in parameters(tool)}
    assert without == set(KEEPING)


@pytest.mark.parametrize("name", EXPECTED["all"])
def test_a_tool_says_what_it_is_for_what_it_does_and_what_it_answers(offered, name):
    tool = offered["all"][name]
    assert tool.description
    assert all(each["description"] for each in tool.input_schema["properties"].values())
    assert isinstance(tool.annotations.read_only_hint, bool)
    assert tool.output_schema["type"] == "object"
    assert "request_id" in tool.output_schema["properties"]


@pytest.mark.parametrize("name", [*EXPECTED["all"], *GRAPH])
def test_a_tool_is_documented_with_its_parameters(name):
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}(")]
    parameters = {**EXPECTED["all"], **GRAPH}[name]
    assert len(rows) == sum(name in EXPECTED[profile] for profile in EXPECTED if profile != "all")
    assert all(each in row for row in rows for each in parameters if each != "request_context")


def test_all_holds_every_tool_but_those_in_place_of_another_server(offered):
    assert not set(GRAPH) & set(offered["all"])
    assert set(offered["all"]) == {
        name for profile in ("butler", "assistant", "consolidator", "notes") for name in EXPECTED[profile]
    }


def test_what_a_tool_needs_is_what_it_does():
    """A reader may call what only reads; what is done to a whole tenant needs an admin."""
    needs = {offer.name: offer.needs for profile in PROFILES.values() for offer in profile.offers}
    reads = {offer.name for profile in PROFILES.values() for offer in profile.offers if offer.effect.read_only_hint}
    assert {name for name, role in needs.items() if role == "reader"} == reads
    assert {name for name, role in needs.items() if role == "admin"} == {"memory_run_episode_cleanup"}


def test_no_schema_refers_to_another_place(offered):
    for tools in offered.values():
        for tool in tools.values():
            said = json.dumps([tool.input_schema, tool.output_schema])
            assert "$ref" not in said
            assert "$defs" not in said
