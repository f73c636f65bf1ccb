"""HTTP as a way to a memory, over a real socket; which route is which verb is what its OpenAPI document says."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx2

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.servers.conformance.interfaces import Table, Way
from tests.servers.conformance.scenario import SETTINGS, Step
from tests.servers.conformance.transcripts import Said
from tests.support.asgi import serving

AGENT, SESSION, REQUEST_ID, KEY = "Engrain-Agent", "Engrain-Session", "X-Request-ID", "Idempotency-Key"
# What a value that is no object stands under.
UNDER = {
    "notes.summarize_old": "notes",
    "consolidation.is_session_consolidated": "is_consolidated",
    "consolidation.mark_session": "episodes",
    "log.delete": "entries",
    "log.subkeys": "subkeys",
    "store.delete": "deleted",
}
# Routes, and groups of them, that are no verb of the scenario, and why.
BESIDES = {
    "caller": "says who asks",
    "keys": "is about who may come",
    "jobs": "is what a worker does when its time has come",
    **dict.fromkeys(("import_file", "memory.backup", "memory.restore", "memory.export"), "are about files"),
    "memory.export_events": "is about a file",
    **dict.fromkeys(("memory.users", "memory.export_user", "memory.erase_user"), "are about users, and nobody is one"),
    "memory.erase_tenant": "ends the scenario",
    "memory.reflect": "needs a language model",
    **dict.fromkeys(("entities.enrich", "entities.enrich_waiting", "entities.to_enrich"), "need a name finder"),
    **dict.fromkeys(("notes.invalidate", "notes.clear_cache", "notes.cache_stats"), "are about one process"),
    **dict.fromkeys(("handle", "working"), "hold what one process holds"),
    "graph": "answers as another memory server does, and is held to that one",
    "hooks": "raises nothing, which is its own matter",
}
# Said by the key and the headers.
BY_WHO_ASKS = frozenset({"tenant", "agent"})


@dataclass(frozen=True)
class Route:
    """One route: its method and path, and where the arguments of the verb go. Names are the library's."""

    verb: str
    method: str
    path: str
    in_path: Mapping[str, str]
    in_query: Mapping[str, str]
    in_body: Mapping[str, str] | None
    by_key: bool
    role: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def takes(self) -> frozenset[str]:
        keyed = {"idempotency_key"} if self.by_key else set()
        implied = BY_WHO_ASKS if self.verb.startswith("memory.") else frozenset()
        return frozenset({*self.in_path, *self.in_query, *(self.in_body or ()), *keyed, *implied, "session"})

    def request(self, step: Step) -> dict[str, Any]:
        """What a client sends."""
        given = dict(step.given)
        headers = {AGENT: step.agent, REQUEST_ID: step.request_id}
        if step.session is not None:
            headers[SESSION] = step.session
        if self.by_key and "idempotency_key" in given:
            headers[KEY] = given.pop("idempotency_key")
        path = self.path.format_map({said: given.pop(name) for name, said in self.in_path.items()})
        asked = {said: given.pop(name) for name, said in self.in_query.items() if name in given}
        request: dict[str, Any] = {"method": self.method, "url": path, "params": asked, "headers": headers}
        if self.in_body is not None:
            request["json"] = {said: given[name] for name, said in self.in_body.items() if name in given}
        return request

    def said(self, answer: Any) -> Any:
        """The library's JSON in an answer."""
        return answer[UNDER[self.verb]] if self.verb in UNDER else answer


class ByRoute:
    """A request for each step."""

    def __init__(self, memory: Memory, client: httpx2.Client) -> None:
        self._memory = memory
        self._client = client
        self._routes = routes(client.get("/openapi.json").json())

    def take(self, step: Step) -> Said:
        route = self._routes[step.verb]
        got = self._client.request(**route.request(step))
        self._memory.flush()
        if got.is_error:
            return Said(step, refused=got.json()["code"])
        return Said(step, None if got.status_code == httpx2.codes.NO_CONTENT else route.said(got.json()))


@cache
def table() -> Table:
    """The routes as they are described, without a server."""
    with Memory.open(":memory:", settings=SETTINGS) as memory:
        described = create_app(memory, gate=Gate(memory, keys_required=False)).openapi()
    return {verb: (route,) for verb, route in routes(described).items()}


def routes(document: Mapping[str, Any]) -> dict[str, Route]:
    """The routes that are a verb's, by its name."""
    found = [
        _route(document, method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "x-engrain-role" in operation
    ]
    return {route.verb: route for route in found}


def _route(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Route:
    said = operation["x-engrain-verb"]
    parameters = [each for each in operation["parameters"] if "$ref" not in each]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return Route(
        verb=f"memory.{said}" if hasattr(Memory, said) else said,
        method=method.upper(),
        path=path,
        in_path=_ours(each["name"] for each in parameters if each["in"] == "path"),
        in_query=_ours(each["name"] for each in parameters if each["in"] == "query"),
        in_body=None if body is None else _ours(_schema(document, body)["properties"]),
        by_key=any(each["name"].lower() == KEY.lower() for each in parameters),
        role=operation["x-engrain-role"],
    )


def _ours(said: Iterable[str]) -> dict[str, str]:
    """What a request calls the arguments, by the library's names."""
    return {"id_" if each == "id" else each: each for each in said}


def _schema(document: Mapping[str, Any], content: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = content["schema"].get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"].get(reference, content["schema"])


@contextmanager
def by_route(folder: Path) -> Iterator[Way]:
    with ExitStack() as stack:
        memory = stack.enter_context(Memory.open(folder / "memory.db", settings=SETTINGS))
        url = stack.enter_context(serving(create_app(memory, gate=Gate(memory, keys_required=False))))
        yield ByRoute(memory, stack.enter_context(httpx2.Client(base_url=url, timeout=60)))
