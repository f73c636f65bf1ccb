"""What each profile offers, by name and parameter: hosts are written against these, so they stay as they are."""

import asyncio
import json
from pathlib import Path

import pytest

from engrain import Memory
from engrain.domain.text.tokens import approximate_tokens
from engrain.engines.token_counters import WordPieces
from engrain.interfaces.mcp.instructions import INSTRUCTIONS, PROFILES
from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import make_server
from engrain.verbs.table import VERBS

PAGE = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
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
        "scope": None,
        "tags": None,
        "entity_id": None,
        **KEYED,
    },
    "memory_store_rule": {"content": NEEDED, "scope": None, "tags": None, **KEYED},
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
    "search": {"query": NEEDED, "detail": False},
    "remember": {"content": NEEDED, "subject": None, "predicate": None},
    "correct": {"id": NEEDED, "content": NEEDED},
    "forget": {"ids": NEEDED},
    "profile": {"name": "user", "detail": False},
    "context": {"prompt": NEEDED},
}
ORCHESTRATOR = {
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
FEW = {
    "butler": BUTLER,
    "assistant": ASSISTANT,
    "orchestrator": ORCHESTRATOR,
    "consolidator": CONSOLIDATOR,
    "notes": NOTES,
    "graph": GRAPH,
}
# What a host of a published profile may do with a writer's key, and the API asks an admin for.
ADMINS = {"memory_run_episode_cleanup", *(verb.identifier for verb in VERBS if verb.tool and verb.role == "admin")}


@pytest.fixture(scope="module")
def offered():
    """The tools of each profile by name, as a client is told of them."""
    with Memory.open(":memory:", settings={"embedding": {"model": "none"}}) as memory:
        return {
            profile: {each.name: each for each in asyncio.run(make_server(memory, profile).list_tools())}
            for profile in PROFILES
        }


def parameters(tool):
    """Each parameter's default, NEEDED where it has none."""
    schema = tool.input_schema
    required = set(schema.get("required", []))
    return {name: NEEDED if name in required else each.get("default") for name, each in schema["properties"].items()}


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
        "assistant",
        pytest.param("orchestrator", marks=pytest.mark.req("Y17")),
        pytest.param("consolidator", marks=pytest.mark.req("Y18")),
        "notes",
        "graph",
    ],
)
def test_a_profile_offers_these_tools_and_no_other(offered, profile):
    assert {name: parameters(each) for name, each in offered[profile].items()} == FEW[profile]


def test_the_numbers_of_tools_are_those_of_the_seeds():
    assert (len(BUTLER), len(STABLE), len(ORCHESTRATOR), len(CONSOLIDATOR)) == (19, 12, 6, 6)


@pytest.mark.req("N20")
@pytest.mark.parametrize("profile", ["butler", "orchestrator", "consolidator", "notes", "all"])
def test_every_tool_that_reads_or_writes_takes_a_request_context(offered, profile):
    without = {name for name, tool in offered[profile].items() if "request_context" not in parameters(tool)}
    assert without == ({*KEEPING} if profile == "butler" else set())


@pytest.mark.parametrize("profile", PROFILES)
def test_a_tool_says_what_it_is_for_what_it_does_and_what_it_answers(offered, profile):
    for tool in offered[profile].values():
        assert tool.description
        assert isinstance(tool.annotations.read_only_hint, bool)
        if profile == "assistant":  # answers lines of text: there is no structure to describe, nor to pay for
            assert tool.output_schema is None
            continue
        assert tool.output_schema["type"] == "object"
        if profile != "graph":  # the reference server's own schemas
            assert all(field["description"] for field in tool.input_schema["properties"].values())
            assert "request_id" in tool.output_schema["properties"]


def schema_tokens(tools):
    """The tokens that a model is given for some tools, by the default counter: names, descriptions and arguments."""
    read = [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools]
    return approximate_tokens(json.dumps(read, separators=(",", ":")))


@pytest.mark.parametrize(("profile", "most"), [("assistant", 600), ("butler", 3_000), ("orchestrator", 800)])
def test_the_schemas_of_a_profile_are_few_tokens(offered, profile, most):
    assert schema_tokens(offered[profile].values()) <= most


def test_the_schemas_of_the_assistant_are_few_word_pieces_whole(offered):
    """By a tokenizer to which each bracket is a token, and with all that a client is told of a tool."""
    whole = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in offered["assistant"].values()]
    assert WordPieces()(json.dumps(whole, separators=(",", ":"))) <= 1_500


@pytest.mark.parametrize("profile", ["butler", "orchestrator", "consolidator", "notes", "all"])
def test_the_request_context_is_described_once(offered, profile):
    told = [json.dumps(tool.input_schema) for tool in offered[profile].values()]
    assert not any("request_id" in text for text in told)
    assert INSTRUCTIONS[profile].count("request_context") == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_no_argument_has_to_be_null(offered, profile):
    """A model that reads an alternative to null writes it; what may be left out is told by not being required."""
    for tool in offered[profile].values():
        assert '"default": null' not in json.dumps(tool.input_schema), tool.name


@pytest.mark.parametrize("profile", PROFILES)
def test_a_tool_is_documented_with_its_parameters(offered, profile):
    section = PAGE.partition(f"\n## {profile}\n")[2].partition("\n## ")[0]
    for name, tool in offered[profile].items():
        [row] = [line for line in section.splitlines() if line.startswith(f"| `{name}(")]
        assert all(parameter in row for parameter in parameters(tool) if parameter != "request_context"), name


def test_all_has_the_verbs_of_the_table_and_no_tool_of_a_published_profile(offered):
    assert set(offered["all"]) == {verb.identifier for verb in VERBS if verb.tool}
    published = {name for profile, tools in FEW.items() for name in tools if profile != "assistant"}
    assert not set(offered["all"]) & published


def test_what_a_tool_needs_is_what_it_does():
    """A reader may call what only reads; what is done to a whole tenant, or for good, needs an admin."""
    definitions = [tool for name in PROFILES for tool in profile_of(name).tools]
    needs = {tool.name: tool.needs for tool in definitions}
    reads = {tool.name for tool in definitions if tool.effect.read_only_hint}
    assert {name for name, role in needs.items() if role == "reader"} == reads - ADMINS
    assert {name for name, role in needs.items() if role == "admin"} == ADMINS


def test_no_schema_refers_to_another_place(offered):
    for tools in offered.values():
        for tool in tools.values():
            said = json.dumps([tool.input_schema, tool.output_schema])
            assert "$ref" not in said
            assert "$defs" not in said
