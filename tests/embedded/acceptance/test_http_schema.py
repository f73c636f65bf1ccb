"""What the API says of itself is what it does, whatever is sent: schemathesis makes the requests of its description.

It is loaded by the process that runs these tests alone: every one collects them, and to load it takes a second.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.routes import router

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


SETTINGS = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def new_app():
    with Memory.open(":memory:", embedder="none", settings={"server": {"allowed_hosts": ["testserver"]}}) as memory:
        return create_app(memory, gate=Gate(memory, keys_required=False))


# By the routes: to describe them all takes each process that collects the tests half a second.
METHODS = {path: [] for path in (route.path for route in router().routes)}
for route in router().routes:
    METHODS[route.path] += route.methods
NAMES = [f"{method} {path}" for path, methods in METHODS.items() for method in methods]


@pytest.fixture(scope="module")
def api():
    """What the API says of itself; other methods than it names are another test's."""
    import schemathesis
    from schemathesis.checks import load_all_checks

    @schemathesis.serializer("application/gzip", "application/octet-stream")
    def as_bytes(context, value):  # noqa: ARG001  # the signature is theirs
        return value if isinstance(value, bytes) else str(value).encode()

    load_all_checks()
    config = schemathesis.config.SchemathesisConfig.from_dict({"phases": {"coverage": {"unexpected-methods": []}}})
    return schemathesis.openapi.from_asgi("/openapi.json", new_app(), config=config)


@pytest.fixture(scope="module")
def operations(api):
    return {each.ok().label: each.ok() for each in api.get_all_operations()}


@pytest.fixture(scope="module")
def client(api):
    """One memory that all requests are made of, so that they meet what others left."""
    from schemathesis.python import asgi

    with Memory.open(":memory:", embedder="none") as memory, asgi.get_client(api.app) as client:
        api.app.state.memory, api.app.state.gate = memory, Gate(memory, keys_required=False)
        client.trust_env = False  # or each request looks through the environment for proxies
        yield client


@pytest.fixture(scope="module")
def checks(api):  # noqa: ARG001  # which loads them
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    return [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
        checks.negative_data_rejection,
    ]


def test_every_operation_is_asked(operations):
    assert sorted(NAMES) == sorted(operations)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_answered_is_what_was_described(api, operations, client, checks, name):
    """Some requests of an operation are refused, and some carried out; of each alone, as a process may get a few.

    `API.parametrize()` would make the requests of every operation in each process that collects the tests: 4 s of CPU.
    """
    from schemathesis.generation.feedback import FeedbackSources
    from schemathesis.pytest._test_builder import build_operation_test
    from schemathesis.python._constants.orchestrator import make_constants_value_source

    answered = Counter()

    def exchange(case):
        client.cookies.clear()
        response = case.call(session=client)
        answered[response.status_code // 100] += 1
        case.validate_response(response, checks=checks)

    build_operation_test(
        config=api.config,
        operation=operations[name],
        test_func=exchange,
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(api)),
        explicit_settings=SETTINGS,
    )()
    assert answered[2] or name not in CARRIED_OUT
    assert answered[4] or name in TAKES_NOTHING
