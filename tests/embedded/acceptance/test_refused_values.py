"""Values beyond the bounds of a parameter, and unknown words: refused by every route and tool of the table."""

from datetime import datetime
from typing import Literal, get_args, get_origin

import httpx2
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.verbs.signatures import signature, signatures
from tests.support.asgi import serving
from tests.support.mcp_clients import in_memory

BY_TYPE = {str: "x", int: 1, float: 0.5, bool: True, datetime: "2026-01-01"}
UNKNOWN = "unheard-of"
BESIDES = {"summarize": {"query": "x"}}  # which takes a query, a session or ids


def choices(parameter):
    """The words that a parameter, or an item of it, may have; none where it may have others."""
    item = get_args(parameter.json_type)[0] if get_origin(parameter.json_type) is list else parameter.json_type
    return get_args(item) if get_origin(item) is Literal else ()


def refused(parameter):
    """A value just below and one just above the bounds of a number, or a word that is none of the known."""
    step = 1 if parameter.json_type is int else 0.001
    low, high = parameter.word.low, parameter.word.high
    numbers = [] if parameter.json_type not in (int, float) else [(low, -step), (high, step)]
    yield from (bound + beyond for bound, beyond in numbers if bound is not None)
    if choices(parameter):
        yield [UNKNOWN] if get_origin(parameter.json_type) is list else UNKNOWN


def valid(parameter):
    """A value that a parameter may have."""
    if parameter.word.example is not None:
        return parameter.word.example
    if get_origin(parameter.json_type) is list:
        return []
    return next(iter(choices(parameter)), BY_TYPE.get(parameter.json_type, {}))


POOL = valid(signature("pools.query").by_name["name"])  # for what is refused only where the pool is there
CASES = [
    pytest.param(described, parameter, value, id=f"{described.verb.name}-{parameter.json_name}-{value}")
    for described in signatures()
    for parameter in described.parameters
    for value in refused(parameter)
]


def arguments(described, parameter, value):
    """The arguments of a call: one refused value, and what else is required."""
    required = {other.name: valid(other) for other in described.parameters if other.is_required}
    return {**required, **BESIDES.get(described.verb.name, {}), parameter.name: value}


@pytest.fixture(scope="module")
def client():
    with (
        Memory.open(":memory:", embedder="none") as memory,
        serving(create_app(memory, gate=Gate(memory, keys_required=False))) as url,
        httpx2.Client(base_url=url, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    with in_memory(tmp_path_factory.mktemp("refused") / "memory.db", "all") as tools:
        tools.call("pools_create", name=POOL, members=[])
        yield tools


def names_it(message, parameter, value):
    """True of a message with the known words, or with the parameter or the value that is out of bounds."""
    if known := choices(parameter):
        return all(word in message for word in known)
    return parameter.json_name in message or str(value) in message


def test_bounds_and_words_are_tried():
    assert len(CASES) > 100


@pytest.mark.parametrize(("described", "parameter", "value"), CASES)
def test_a_route_refuses_a_value_beyond_its_bounds(client, described, parameter, value):
    method, _, path = described.verb.route.partition(" ")
    where = described.placement
    body, query = {}, {}
    for name, argument in arguments(described, parameter, value).items():
        match where.get(name):
            case "path":
                path = path.replace(f"{{{name}}}", str(argument))
            case "body":
                body[name.rstrip("_")] = argument
            case "query":
                query[name.rstrip("_")] = argument
    json = {"json": body} if "body" in where.values() else {}
    answer = client.request(method, f"/v1{path}", params=query, **json)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    assert names_it(answer.json()["detail"], parameter, value)


@pytest.mark.parametrize(("described", "parameter", "value"), [case for case in CASES if case.values[0].verb.tool])
def test_a_tool_refuses_a_value_beyond_its_bounds(tools, described, parameter, value):
    sent = {name.rstrip("_"): argument for name, argument in arguments(described, parameter, value).items()}
    if described.verb.owner == "memory":
        sent.pop("agent", None)
    fault = tools.fault(described.verb.identifier, **sent)
    assert fault["code"] == "invalid_input"
    assert names_it(fault["message"], parameter, value)
