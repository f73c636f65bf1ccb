"""The OpenAPI document as generators of clients and tools read it, and the answers that must agree with it."""

import re

import pytest
from starlette.testclient import TestClient

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.openapi.fields import FIELDS
from engrain.interfaces.http.request_identity import AGENT, SESSION, USER
from engrain.interfaces.http.routes import IDEMPOTENCY_KEY

SETTINGS = {"embedding": {"model": "none"}, "server": {"allowed_hosts": ["testserver"]}}


@pytest.fixture(scope="module")
def client():
    with Memory.open(":memory:", settings=SETTINGS) as memory:
        yield TestClient(create_app(memory, gate=Gate(memory, keys_required=False)))


@pytest.fixture(scope="module")
def document(client):
    return client.get("/openapi.json").json()


def operations(document):
    return [operation for path in document["paths"].values() for operation in path.values()]


def schemas_in(value):
    """Every object inside, however deep."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from [value] if isinstance(value, dict) else []
    for child in children:
        yield from schemas_in(child)


def test_an_operation_id_is_a_name_that_a_model_can_call_a_tool_by(document):
    ids = [operation["operationId"] for operation in operations(document)]
    assert [id_ for id_ in ids if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id_)] == []
    assert len(set(ids)) == len(ids)


def test_a_field_of_a_body_that_may_be_left_out_has_no_default_in_the_schema(document):
    """openapi-typescript and others make a field with a default one that must be sent."""
    bodies = {name: schema for name, schema in document["components"]["schemas"].items() if "properties" in schema}
    assert [name for name, body in bodies.items() for field in body["properties"].values() if "default" in field] == []
    role = bodies["ObserveRequest"]["properties"]["role"]
    assert role["description"] == 'Role of whoever speaks. `"user"` if left out.'
    assert "role" not in bodies["ObserveRequest"]["required"]


def test_the_items_of_every_list_have_a_type(document):
    lists = [schema for schema in schemas_in(document) if schema.get("type") == "array"]
    assert lists
    assert [schema for schema in lists if not schema["items"]] == []


def test_a_header_that_may_not_be_empty_says_so(document, client):
    parameters = {parameter["name"]: parameter for parameter in schemas_in(document) if parameter.get("in") == "header"}
    bounded = {name for name, parameter in parameters.items() if parameter["schema"].get("minLength") == 1}
    assert bounded == {AGENT, SESSION, USER, IDEMPOTENCY_KEY}
    for name in parameters:
        answer = client.post("/v1/rules", json={"content": "Ask first."}, headers={name: ""})
        assert answer.status_code == (422 if name in bounded else 201), name


def test_another_method_is_told_those_that_the_document_has(document, client):
    for path, described in document["paths"].items():
        answer = client.request("TRACE", re.sub(r"{\w+}", "x", path))
        assert answer.status_code == 405, path
        assert answer.headers["Allow"].split(", ") == sorted(method.upper() for method in described), path


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/authorize",
        "/register",
        "/token",
    ],
)
def test_whoever_looks_for_oauth_is_told_to_send_a_key(client, path):
    """A client may begin OAuth after a 401; its words for an error are those that it shows."""
    answer = client.get(path) if path != "/register" else client.post(path, json={})
    assert answer.status_code == 404
    told = answer.json()
    assert (told["code"], told["error"]) == ("no_such_route", "invalid_request")
    assert told["error_description"] == told["detail"]
    assert "Authorization: Bearer <key>" in told["detail"]


@pytest.mark.parametrize("record", ["Fact", "Rule", "Hit", "Explanation", "Contribution"])
def test_the_fields_of_what_a_search_answers_say_what_they_mean(document, record):
    """Names that say it themselves have no description."""
    plain = {"id", "kind", "state", "content", "category", "memory", "last_applied_at", "last_evaluated_at"}
    fields = document["components"]["schemas"][record]["properties"]
    assert {name for name, schema in fields.items() if "description" not in schema} <= plain


def test_every_description_of_a_field_is_of_one_that_there_is(document):
    schemas = document["components"]["schemas"]
    names = {name for schema in schemas.values() for name in schema.get("properties", {})}
    whole = {f"{record}.{name}" for record, schema in schemas.items() for name in schema.get("properties", {})}
    assert FIELDS.keys() - names - whole == set()
