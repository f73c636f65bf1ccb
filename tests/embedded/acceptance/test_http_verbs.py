"""The routes of the API: one for each row of the table of verbs, described in full, and listed in docs/http.md."""

import re
from pathlib import Path

import jsonschema
import pytest
from fastapi.routing import APIRoute

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http import routes
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.routes import verb_of
from engrain.verbs.signatures import signature
from engrain.verbs.table import VERBS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
ROUTES = {verb_of(route).name: route for route in routes.router().routes if isinstance(route, APIRoute)}


def test_every_row_has_its_route_and_every_route_its_row():
    assert set(ROUTES) == {verb.name for verb in VERBS} | {"caller"}


def test_a_post_that_reads_has_its_question_in_the_body():
    """For questions are long; whatever else reads is a GET, and nothing that writes is."""
    posts = {verb.name for verb in VERBS if verb.effect == "reads" and not verb.route.startswith("GET")}
    questions = {
        "recall",
        "context",
        "messages",
        "route",
        "entities.resolve",
        "notes.search",
        "pools.query",
        "store.search",
    }
    assert posts == {*questions, "hooks.session_start"}
    assert [verb.name for verb in VERBS if verb.effect != "reads" and verb.route.startswith("GET")] == []


@pytest.mark.parametrize("name", sorted({verb.name for verb in VERBS}))
def test_a_route_takes_every_argument_of_its_verb_once(name):
    route, found = ROUTES[name], signature(name)
    where = found.placement
    assert set(where) == set(found.by_name) - {"path"}
    dependant = route.dependant
    fields = {each.alias for each in (*dependant.path_params, *dependant.query_params)}
    fields |= (
        {field.alias for field in route.body_field.field_info.annotation.model_fields.values()}
        if route.body_field
        else set()
    )
    wanted = {found.by_name[parameter].json_name for parameter, place in where.items() if place != "key"}
    assert fields - {"filename"} == wanted
    assert found.takes_key == any(header.alias == "Idempotency-Key" for header in dependant.header_params)


@pytest.fixture(scope="module")
def described():
    with Memory.open(":memory:", embedder="none") as memory:
        return create_app(memory, gate=Gate(memory, keys_required=True)).openapi()


def operations(described):
    return {each["x-engrain-verb"]: each for found in described["paths"].values() for each in found.values()}


def test_openapi_describes_every_route_in_full(described):
    found = operations(described)
    assert set(found) == set(ROUTES)
    tags = {each["name"] for each in described["tags"]}
    for name, operation in found.items():
        assert operation["summary"]
        assert f"`{verb_of(ROUTES[name]).role}`" in operation["description"]
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
    rows = re.findall(r"^\| `([A-Z]+) (/v1\S+)` \| `(\S+)` \| (\w+) \| .+ \|$", PAGE, re.MULTILINE)
    listed = {(*route.methods, route.path, name, verb_of(route).role) for name, route in ROUTES.items()}
    assert sorted(rows) == sorted(listed)
