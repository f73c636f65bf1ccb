"""What the API says of itself is what it does, whatever is sent: schemathesis makes the requests of its description."""

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# What is carried out whatever was asked before; most that is asked of an id is of none.
CARRIED_OUT = {
    "GET /v1/stats",
    "POST /v1/add",
    "POST /v1/consolidation/save_facts",
    "POST /v1/context",
    "POST /v1/episodes",
    "POST /v1/facts",
    "POST /v1/hooks/message",
    "POST /v1/messages",
    "POST /v1/recall",
    "POST /v1/rules",
    "POST /v1/summarize",
    "POST /v1/working/append",
}
TAKES_NOTHING = {"GET /v1/keys"}


@schemathesis.serializer("application/gzip", "application/octet-stream")
def as_bytes(context, value):  # noqa: ARG001  # the signature is theirs
    return value if isinstance(value, bytes) else str(value).encode()


def described():
    """What the API says of itself; other methods than it names are another test's."""
    config = schemathesis.config.SchemathesisConfig.from_dict({"phases": {"coverage": {"unexpected-methods": []}}})
    settings = {"server": {"allowed_hosts": ["testserver"]}}
    with Memory.open(":memory:", embedder="none", settings=settings) as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=False))
        return schemathesis.openapi.from_asgi("/openapi.json", app, config=config)


load_all_checks()
API = described()
OPERATIONS = {each.ok().label: each.ok() for each in API.get_all_operations()}
SETTINGS = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", autouse=True)
def served():
    """One memory that all requests are made of, so that they meet what others left."""
    with Memory.open(":memory:", embedder="none") as memory:
        API.app.state.memory, API.app.state.gate = memory, Gate(memory, keys_required=False)
        yield


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_answered_is_what_was_described(name):
    """Some requests of an operation are refused, and some carried out; of each alone, as a process may get a few.

    `API.parametrize()` would make the requests of every operation in each process that collects the tests: 4 s of CPU.
    """
    answered = Counter()

    def exchange(case):
        response = case.call()
        answered[response.status_code // 100] += 1
        case.validate_response(response, checks=CHECKS)

    build_operation_test(
        config=API.config,
        operation=OPERATIONS[name],
        test_func=exchange,
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(API)),
        explicit_settings=SETTINGS,
    )()
    assert answered[2] or name not in CARRIED_OUT
    assert answered[4] or name in TAKES_NOTHING
