"""What each profile offers, by name and parameter: hosts are written against these, so they stay as they are."""

import asyncio
import json
from pathlib import Path

import pytest

from engrain import Memory
from engrain.interfaces.mcp.profiles import PROFILES, profile_of
from engrain.interfaces.mcp.server import server_of

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
OF_A_PROMPT = {"count_tokens": None, "recipe": None, "recent_episodes": None}
FROM = {"source_episode_id": None, "metadata": None}
LIBRARY = {
    "observe": {
        "content": NEEDED,
        "role": "user",
        **dict.fromkeys(("speaker", "session_id", "event_time", "importance", "ttl_days", "tokens", "model")),
        **dict.fromkeys(("tool_calls", "tags", "metadata")),
        **KEYED,
    },
    "remember": {
        **dict.fromkeys(("content", "subject", "predicate"), NEEDED),
        **dict.fromkeys(("entity_id", "scope", "valid_from", "valid_to", "category", "importance", "source", "tags")),
        "permanence": "standard",
        "confidence": 1.0,
        **FROM,
        **KEYED,
    },
    "correct": {
        **dict.fromkeys(("fact_id", "content"), NEEDED),
        **dict.fromkeys(("valid_from", "valid_to", "source")),
        "confidence": 1.0,
        **FROM,
        **MORE,
    },
    "rule_add": {"content": NEEDED, "scope": None, "tags": None, **FROM, **KEYED},
    "rule_applications": {"rule_id": NEEDED, "limit": 100, **MORE},
    "link": {**dict.fromkeys(("source_id", "target_id", "relation"), NEEDED), "weight": 1.0, **MORE},
    "links": {"memory_id": NEEDED, "direction": "both", "relation": None, **MORE},
    "erase": {"memory_ids": NEEDED, **MORE},
    "recall": {
        "query": NEEDED,
        **dict.fromkeys(("limit", "preset", "kinds", "scope", "sessions", "exclude_sessions", "roles", "speakers")),
        **dict.fromkeys(("subjects", "tags", "since", "until", "as_of", "min_confidence")),
        **dict.fromkeys(("include_inactive", "deep", "explain"), False),
        "neighbours": 0,
        **MORE,
    },
    "get": {"memory_id": NEEDED, "as_of": None, **MORE},
    "facts": {"subject": None, "predicate": None, "as_of": None, "include_inactive": False, "limit": 100, **MORE},
    "history": {"fact_id": NEEDED, **MORE},
    "context": {
        "query": NEEDED,
        "budget_tokens": None,
        "include_superseded": False,
        "with_dates": True,
        "with_sources": False,
        **OF_A_PROMPT,
        **MORE,
    },
    "messages": {"asked": NEEDED, "system": "", "tools": 0, "window_tokens": None, **OF_A_PROMPT, **MORE},
    "summarize": {
        **dict.fromkeys(("query", "session_id", "memory_ids", "strategy", "target_tokens")),
        "store": False,
        **MORE,
    },
    "route": {"content": NEEDED, "role": "user", "speaker": None, **MORE},
    "latest_reflection": MORE,
    "events": {"memory_id": None, "event_type": None, "limit": 100, **MORE},
    "overview": {"days": 30, "limit": 10, **MORE},
    "audit": {"kinds": None, "limit": 100, "skip": 0, "unused_days": 30.0, **MORE},
    "entity_find": {"entity_type": None, "limit": None, **MORE},
    "entity_unmerge": {"source_entity_id": NEEDED, **MORE},
    "summarize_notes": {"older_than_days": 30.0, **MORE},
    "pool_create": {"pool": NEEDED, "members": None, "metadata": None, **MORE},
    "pool_list": MORE,
    "pool_add": {"pool": NEEDED, "member": NEEDED, **MORE},
    "pool_remove": {"pool": NEEDED, "member": NEEDED, **MORE},
    "pool_delete": {"pool": NEEDED, **MORE},
    "pool_contribute": {"pool": NEEDED, "memory_id": NEEDED, **MORE},
    "pool_query": {"pool": NEEDED, "query": NEEDED, "limit": None, "preset": None, **MORE},
    "pool_sync": {"pool": NEEDED, **MORE},
}
UPKEEP = {
    "consolidate": {"session_id": None, "exclude_session_id": None, "max_batches": None, "dry_run": False},
    "runs": {"kind": None, "limit": 50},
    "undo": {"run_id": NEEDED},
    "decay": {"dry_run": False},
    "cleanup": {"max_entries": None, "dry_run": False},
}
FEW = {
    "butler": BUTLER,
    "assistant": ASSISTANT,
    "consolidator": CONSOLIDATOR,
    "notes": NOTES,
    "graph": GRAPH,
}
EXPECTED = {**FEW, "all": {**BUTLER, **ASSISTANT, **CONSOLIDATOR, **NOTES, **LIBRARY, **UPKEEP}}
# What the HTTP API asks an admin for, it does not ask a writer for here.
ADMINS = {"memory_run_episode_cleanup", "erase", "audit", "consolidate", "undo", "decay", "cleanup"}


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
    assert without == {*KEEPING, *UPKEEP}


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
    assert len(rows) == sum(name in tools for tools in (*FEW.values(), LIBRARY, UPKEEP))
    assert all(each in row for row in rows for each in parameters if each != "request_context")


def test_all_holds_every_tool_but_those_in_place_of_another_server(offered):
    assert not set(GRAPH) & set(offered["all"])
    few = {name for profile in ("butler", "assistant", "consolidator", "notes") for name in EXPECTED[profile]}
    assert set(offered["all"]) > few
    assert (len(few), len(offered["all"])) == (36, 72)


def test_what_the_library_does_as_a_tool_no_profile_of_few_tools_has(offered):
    own = {*LIBRARY, *UPKEEP}
    assert all(not own & set(offered[profile]) for profile in FEW)


def test_what_a_tool_needs_is_what_it_does():
    """A reader may call what only reads; what is done to a whole tenant, or for good, needs an admin."""
    offers = [offer for name in PROFILES for offer in profile_of(name).offers]
    needs = {offer.name: offer.needs for offer in offers}
    reads = {offer.name for offer in offers if offer.effect.read_only_hint}
    assert {name for name, role in needs.items() if role == "reader"} == reads - ADMINS
    assert {name for name, role in needs.items() if role == "admin"} == ADMINS


def test_no_schema_refers_to_another_place(offered):
    for tools in offered.values():
        for tool in tools.values():
            said = json.dumps([tool.input_schema, tool.output_schema])
            assert "$ref" not in said
            assert "$defs" not in said
