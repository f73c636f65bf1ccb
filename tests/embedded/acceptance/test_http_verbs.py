"""The routes of the API against the library's verbs: all are there, in their own words, and each says who may."""

import inspect
import re
from pathlib import Path

import jsonschema
import pytest

from engrain import Memory
from engrain.agent import Agent
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import ROOMS, create_app
from engrain.interfaces.http.verbs import verb_of
from engrain.interfaces.http.words import Body

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
ROUTES = {verb_of(route).name: route for room in ROOMS for route in room.routes}
GROUPS = ("rules", "entities", "graph", "notes", "pools", "working", "hooks", "consolidation")

# What is no route, and why not.
ELSEWHERE = {
    "open": "whoever runs the server has opened the memory",
    "close": "and closes it",
    "agent": "the headers Engrain-Agent and Engrain-Session name the agent's view",
    "flush": "the server's own work; a search waits for the vectors it needs",
    "reembed": "every tenant's vectors: `engrain reembed`",
    "health": "every tenant's file: `engrain doctor`; /readyz says whether it serves",
    "llm_usage": "every tenant's costs: /metrics",
    "metrics": "every tenant's numbers: /metrics",
    "readiness": "the server's own: /readyz",
    "settings": "the server's own, secrets among them: `engrain config`",
    "keys.authenticate": "the gate's own: every request is asked for its key",
    "parts": "what the rooms work with, no verb",
}
READER = """
    caller overview recall context messages get facts history links events stats latest_reflection route runs
    rules.applications entities.find entities.get entities.profile entities.resolve entities.to_enrich
    graph.read graph.search graph.open
    notes.recall notes.list notes.list_by_category notes.related notes.search notes.cache_stats
    pools.list pools.query hooks.session_start hooks.recent
    working.messages working.tool_results working.scratchpad working.stats
    consolidation.is_session_consolidated consolidation.episodes consolidation.detect_conflicts
"""
WRITER = """
    observe remember correct confirm forget link summarize handle import_file
    rules.add rules.mark_helpful rules.mark_harmful
    entities.create entities.update entities.merge entities.unmerge entities.enrich entities.enrich_waiting
    graph.create_entities graph.create_relations graph.add_observations
    graph.delete_entities graph.delete_observations graph.delete_relations
    notes.save notes.forget notes.summarize_old notes.invalidate
    pools.create pools.add pools.remove pools.contribute pools.sync_to_agent pools.delete
    hooks.message hooks.session_end
    working.append working.tool_result working.scratchpad.write working.flush working.clear
    consolidation.save_facts consolidation.resolve_conflict consolidation.mark_session
"""
ADMIN = """
    erase audit decay cleanup consolidate reflect undo backup restore export notes.clear_cache
    keys.create keys.list keys.revoke jobs.list jobs.run jobs.retry
"""
# Said by headers, or heard by nobody over HTTP.
NOT_SAID = {"self", "progress", "summarise", "path", "agent", "tenant"}
# What a file is called at its client.
BESIDES = {"filename"}
# Where a default is another one: a page is as long as pages are, a flag and a body's list are never None.
DEFAULTS_DIFFER = {
    "entities.find": {"limit"},
    "consolidation.save_facts": {"facts"},
    "working.scratchpad.write": {"text"},
}


def facade():
    """Every public name of a Memory, of an Agent and of its groups; a group's own name is none."""
    with Memory.open(":memory:", embedder="none") as memory:
        agent = memory.agent()
        views = [(Memory, ""), (Agent, ""), *((type(getattr(agent, each)), f"{each}.") for each in GROUPS)]
        views += [(type(memory.keys), "keys."), (type(memory.jobs), "jobs.")]
    return {f"{prefix}{name}" for kind, prefix in views for name in dir(kind) if not name.startswith("_")}


def taken(route):
    """What a route takes for its verb, by the verb's own words, with its default where there is one."""
    dependant = route.dependant
    found = {each.alias: each.field_info for each in (*dependant.path_params, *dependant.query_params)}
    found |= {each.alias.lower().replace("-", "_"): each.field_info for each in dependant.header_params}
    if route.body_field is not None:
        body = route.body_field.field_info.annotation
        assert issubclass(body, Body)
        found |= body.model_fields
    found.pop("if_none_match", None)
    return found


def parameters(route):
    found = inspect.signature(verb_of(route).calls).parameters
    return {name.removesuffix("_"): each.default for name, each in found.items() if name not in NOT_SAID}


def test_every_verb_of_the_library_is_a_route_or_says_why_it_is_none():
    named = {name.removesuffix(".write") for name in ROUTES}
    assert facade() - named - {*GROUPS, "keys", "jobs"} == set(ELSEWHERE)
    assert named <= facade()


def test_each_route_says_which_role_it_needs():
    needed = {name: verb_of(route).needs for name, route in ROUTES.items()}
    listed = {
        name: role
        for role, names in (("reader", READER), ("writer", WRITER), ("admin", ADMIN))
        for name in names.split()
    }
    assert needed == listed


def test_what_needs_no_more_than_a_reader_is_what_only_reads():
    """A POST that reads has its question in the body, for questions are long."""
    asked = {"recall", "context", "messages", "route", "entities.resolve", "notes.search", "pools.query"}
    reads = {name for name, route in ROUTES.items() if verb_of(route).needs == "reader"}
    assert {name for name in reads if ROUTES[name].methods != {"GET"}} == {*asked, "hooks.session_start"}


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_takes_what_its_verb_takes_by_the_same_words(name):
    route = ROUTES[name]
    said, wanted = taken(route), parameters(route)
    optional = {"text"} if name == "working.scratchpad" else set()
    assert set(said) - BESIDES - NOT_SAID == set(wanted) - optional
    for word, field in said.items():
        default = wanted.get(word, inspect.Parameter.empty)
        if word not in DEFAULTS_DIFFER.get(name, set()) and default is not inspect.Parameter.empty:
            assert (word, field.default) == (word, default)


@pytest.fixture(scope="module")
def described():
    with Memory.open(":memory:", embedder="none") as memory:
        return create_app(memory, gate=Gate(memory, keys_required=True)).openapi()


def operations(described):
    return {each["operationId"]: each for found in described["paths"].values() for each in found.values()}


def test_openapi_describes_every_route_in_full(described):
    found = operations(described)
    assert set(found) == set(ROUTES)
    tags = {each["name"] for each in described["tags"]}
    for name, operation in found.items():
        assert operation["summary"]
        assert f"`{verb_of(ROUTES[name]).needs}`" in operation["description"]
        assert set(operation["tags"]) <= tags
        assert operation["security"] == [{"key": []}]
        assert {"401", "403", "422", "429", "500", "503"} <= set(operation["responses"])


def test_every_parameter_and_field_is_described(described):
    bodies = {route.body_field.field_info.annotation.__name__ for route in ROUTES.values() if route.body_field}
    for operation in operations(described).values():
        assert all(each.get("description") or "$ref" in each for each in operation["parameters"])
    for name in bodies:
        assert all(each.get("description") for each in described["components"]["schemas"][name]["properties"].values())


def test_every_example_is_of_its_schema(described):
    shown = 0
    for operation in operations(described).values():
        for told in (operation.get("requestBody", {}), *operation["responses"].values()):
            for content in told.get("content", {}).values():
                if "example" in content:
                    schema = {**content["schema"], "components": described["components"]}
                    jsonschema.Draft202012Validator(schema).validate(content["example"])
                    shown += 1
    assert shown > len(ROUTES)


def test_references_of_the_description_lead_somewhere(described):
    def references(value):
        match value:
            case dict():
                yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
                for each in value.values():
                    yield from references(each)
            case list():
                for each in value:
                    yield from references(each)

    for reference in references(described):
        place = described
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


def test_the_page_lists_every_route_with_its_verb_and_role():
    rows = re.findall(r"^\| `([A-Z]+) (/v1\S+)` \| `(\S+)` \| (\w+) \|$", PAGE, re.MULTILINE)
    routes = {(*route.methods, route.path, name, verb_of(route).needs) for name, route in ROUTES.items()}
    assert sorted(rows) == sorted(routes)
