"""Every route of the API, by everybody who may not: refused, and counted, so that no route can be forgotten.

And by everybody who may, with the names and ids of another tenant: told nothing of it, and nothing of it is changed.
"""

import contextlib
import json
import logging
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import httpx2
import pytest

from engrain import Memory
from engrain.domain.access.keys import ROLES, allows
from engrain.interfaces.access import Gate
from engrain.interfaces.compat.mem0.routers import ROUTERS
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.two_tenants import AGENT, NOTE, SESSION, WHO, Clock, TwoTenants

ASKED = "Lisbon alpha pooled"  # a word of each
FILES = {"restore", "import_file"}
USER = "ana"  # an end user of each
WHO_ASKS = {"Engrain-Agent": AGENT, "Engrain-Session": SESSION}
# Who may ask what the description of the API leaves out, and what is asked there; None: anybody.
OWNER = {"filters": {"user_id": WHO}}
ADDED = {"messages": [{"role": "user", "content": "new"}], "user_id": WHO}
BESIDES = {
    ("GET", "/"): (None, {}),  # the page, which holds no data
    ("GET", "/page/graph.js"): (None, {}),
    ("GET", "/page/icon.svg"): (None, {}),
    ("GET", "/page/page.css"): (None, {}),
    ("GET", "/page/page.js"): (None, {}),
    ("GET", "/page/plot.js"): (None, {}),
    ("GET", "/openapi.json"): (None, {}),
    ("GET", "/healthz"): (None, {}),
    ("GET", "/readyz"): (None, {}),
    ("GET", "/metrics"): ("admin", {}),
    ("GET", "/mem0/v1/ping/"): ("reader", {}),
    ("POST", "/mem0/v3/memories/add/"): ("writer", {"json": ADDED}),
    ("POST", "/mem0/v3/memories/search/"): ("reader", {"json": {"query": "Lisbon", **OWNER}}),
    ("POST", "/mem0/v3/memories/"): ("reader", {"json": OWNER}),
    ("GET", "/mem0/v1/memories/{memory_id}/"): ("reader", {}),
    ("PUT", "/mem0/v1/memories/{memory_id}/"): ("writer", {"json": {"text": "new"}}),
    ("DELETE", "/mem0/v1/memories/{memory_id}/"): ("writer", {}),
    ("GET", "/mem0/v1/memories/{memory_id}/history/"): ("reader", {}),
    ("DELETE", "/mem0/v1/memories/"): ("writer", {"params": {"user_id": WHO}}),
    ("PUT", "/mem0/v1/batch/"): ("writer", {"json": {"memories": [{"memory_id": "{memory_id}", "text": "new"}]}}),
    ("DELETE", "/mem0/v1/batch/"): ("writer", {"json": {"memories": [{"memory_id": "{memory_id}"}]}}),
    ("GET", "/mem0/v1/entities/"): ("reader", {}),
    ("DELETE", "/mem0/v2/entities/{kind}/{name:path}/"): ("admin", {}),
    ("GET", "/mem0/v1/event/{event_id}/"): ("reader", {}),
    ("POST", "/mem0/v1/memories/"): ("writer", {"json": ADDED}),
    ("GET", "/mem0/v1/memories/"): ("reader", {"params": {"user_id": WHO}}),
    ("POST", "/mem0/v2/memories/"): ("reader", {"json": OWNER}),
    ("POST", "/mem0/v1/memories/search/"): ("reader", {"json": {"query": "Lisbon", "user_id": WHO}}),
    ("POST", "/mem0/v2/memories/search/"): ("reader", {"json": {"query": "Lisbon", **OWNER}}),
    ("POST", "/mem0/memories"): ("writer", {"json": ADDED}),
    ("GET", "/mem0/memories"): ("reader", {"params": {"user_id": WHO}}),
    ("DELETE", "/mem0/memories"): ("admin", {"params": {"user_id": WHO}}),
    ("GET", "/mem0/memories/{memory_id}"): ("reader", {}),
    ("PUT", "/mem0/memories/{memory_id}"): ("writer", {"json": {"text": "new"}}),
    ("DELETE", "/mem0/memories/{memory_id}"): ("writer", {}),
    ("GET", "/mem0/memories/{memory_id}/history"): ("reader", {}),
    ("POST", "/mem0/search"): ("reader", {"json": {"query": "Lisbon", **OWNER}}),
    ("POST", "/mem0/reset"): ("admin", {}),
    ("GET", "/mem0/entities"): ("reader", {}),
    ("DELETE", "/mem0/entities/{kind}/{name:path}"): ("admin", {}),
    ("GET", "/mem0/configure"): ("reader", {}),
    ("POST", "/mem0/configure"): ("admin", {"json": {}}),
}
MCP = ("any", "/mcp")  # tried in test_refusals_mcp.py
# Of what a verb takes in its path or query, what another tenant's would be called.
NAMES = {
    "id_or_name": WHO,
    "key": NOTE,
    "note": NOTE,
    "category": "project",
    "session": SESSION,
    "subject": WHO,
    "query": "Lisbon",
    "names": WHO,
}
# Reads whose answer holds nothing that was said.
SILENT = {
    *("caller", "stats", "links", "route", "notes.cache_stats", "working.stats"),
    *("consolidation.is_session_consolidated", "entities.to_enrich", "consolidation.detect_conflicts"),
    *("GET /mem0/v1/ping/", "GET /mem0/v1/entities/", "GET /mem0/entities", "GET /mem0/configure"),
}


@dataclass(frozen=True)
class Operation:
    """One verb as the description of the API has it."""

    name: str
    method: str
    path: str
    needs: str
    told: dict

    def requests(self, ids):
        """Requests that are right in themselves, about what has these ids."""
        kinds = ["fact", "rule", "episode", "entity"] if "{id}" in self.path else ["fact"]
        for kind in kinds:
            path = self.path.replace("{id}", ids[kind]).replace("{run_id}", ids["run"]).replace("{key_id}", ids["key"])
            query = {each["name"]: self._said(each["name"], ids) for each in self._parameters if self._is_named(each)}
            yield {"method": self.method, "url": path, "params": query, **self._body(ids)}

    @property
    def _parameters(self):
        return [each for each in self.told["parameters"] if each.get("in") == "query"]

    def _is_named(self, parameter):
        return parameter.get("required") or parameter["name"] in NAMES

    def _said(self, name, ids):
        return {**NAMES, "fact_id": ids["fact"], "id": ids["fact"], "name": USER}[name]

    def _body(self, ids):
        if self.name in FILES:
            return {"content": b"no file of ours", "headers": {"Content-Type": "application/octet-stream"}}
        example = self.told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        return {} if example is None else {"json": _about(example, ids)}


def _about(example, ids):
    """An example with somebody's ids in the place of its own."""
    match example:
        case dict():
            return {name: ASKED if name == "query" else _about(each, ids) for name, each in example.items()}
        case list():
            return [_about(each, ids) for each in example]
        case "019aa4d2-7c11-7000-8000-0000000000a1":
            return ids["fact"]
        case "019aa4d2-7c11-7000-8000-0000000000b2":
            return ids["other"]
        case _:
            return example


@dataclass(frozen=True)
class Hidden:
    """A route that the description leaves out."""

    method: str
    path: str
    needs: str
    said: dict

    @property
    def name(self):
        return f"{self.method} {self.path}"

    def requests(self, ids):
        owned = {"{memory_id}": ids["owned"], "{event_id}": ids["event"], "{kind}": "user", "{name:path}": WHO}
        url, said = self.path, json.dumps(self.said)
        for name, value in owned.items():
            url, said = url.replace(name, value), said.replace(name, value)
        yield {"method": self.method, "url": url, "params": {}, **json.loads(said)}


def operations(app):
    described = app.openapi()
    return [
        Operation(told["x-engrain-verb"], method.upper(), path, told["x-engrain-role"], told)
        for path, methods in described["paths"].items()
        for method, told in methods.items()
    ] + [Hidden(*place, needs, said) for place, (needs, said) in BESIDES.items() if needs is not None]


def routes_of(routes):
    """Where anything answers at all, and to what, described or not."""
    for route in routes:
        inner = getattr(getattr(route, "original_router", None), "routes", None)
        if inner is None:
            yield from ((method, route.path) for method in (route.methods or {"any"}) - {"HEAD"})
        else:
            yield from routes_of(inner)


@dataclass(frozen=True, eq=False)
class Served:
    """A memory of two tenants behind a gate, and a client of it."""

    town: TwoTenants
    client: httpx2.Client
    operations: list[Operation]
    routes: set[tuple[str, str]]

    def ask(self, request, shown=None, **headers):
        if shown is not None:
            headers["Authorization"] = shown
        return self.client.request(**{**request, "headers": {**request.get("headers", {}), **headers}})

    @lru_cache  # noqa: B019  # lives as long as its test
    def ids(self, tenant):
        """What everything of a tenant is called; one of its memories is a mem0 client's."""
        lived, shown = self.town.tenants[tenant], f"Bearer {self.town.keys[tenant, 'writer']}"
        said = {"messages": [{"role": "user", "content": f"Lisbon {lived.word}"}], "user_id": WHO}
        told = self.ask({"method": "POST", "url": "/mem0/v3/memories/add/", "json": said}, shown).json()
        self.town.memory.agent(AGENT, tenant=tenant, user=USER).remember(
            f"Faro {lived.word}", subject=USER, predicate="lives in"
        )
        return {
            **lived.ids,
            "owned": told["results"][0]["id"],
            "event": told["event_id"],
            "key": self.town.key_id(tenant),
        }


@contextlib.contextmanager
def served_at(place):
    clock = Clock()
    with Memory.open(place, settings={"embedding": {"model": "none"}}, clock=clock) as memory:
        gate = Gate(memory, keys_required=True, rate_limit_per_minute=0, failures_per_minute=0)
        app = create_app(memory, gate=gate)
        for router in ROUTERS:
            app.include_router(router)
        with serving(app) as url, httpx2.Client(base_url=url, timeout=60) as client:
            yield Served(TwoTenants(memory, clock), client, operations(app), {*routes_of(app.routes)})


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Where nobody is let in who could change anything."""
    with served_at(tmp_path_factory.mktemp("town") / "memory.db") as served:
        yield served


def test_every_route_is_tried_here_or_is_known_to_be_open(served):
    tried = {(each.method, each.path) for each in served.operations}
    assert served.routes - {MCP} == tried | {place for place, (needs, _) in BESIDES.items() if needs is None}


def test_whoever_shows_no_key_that_opens_is_refused_everywhere_in_the_same_words(served):
    shown = served.town.keys_that_open_nothing
    refused, words = Counter(), set()
    for each in served.operations:
        request = next(each.requests(served.ids("acme")))
        for why, header in shown.items():
            answer = served.ask(request, header)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), (each.name, why)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            refused[why] += 1
            words.add((why in ("none", "another scheme"), answer.json()["detail"]))
    assert refused == dict.fromkeys(shown, len(served.operations))
    assert len(shown) == 7
    assert len(served.operations) > 110
    assert len(words) == 2
    assert "zq" not in repr(words)


def test_no_log_line_holds_a_secret(served, caplog):
    caplog.set_level(logging.DEBUG)
    good = served.town.keys["acme", "reader"]
    for shown in (good, f"{good[:-4]}aaaa"):
        for each in served.operations[:9]:
            served.ask(next(each.requests(served.ids("acme"))), f"Bearer {shown}")
    assert caplog.records
    assert good.rpartition("_")[2][:20] not in caplog.text + repr([vars(each) for each in caplog.records])


def test_a_role_may_what_it_may_and_nothing_above(served):
    refused = Counter()
    for each in served.operations:
        request = next(each.requests(served.ids("acme")))
        for role in (role for role in ROLES if not allows(role, each.needs)):
            answer = served.ask(request, f"Bearer {served.town.keys['acme', role]}")
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (each.name, role)
            refused[each.needs, role] += 1
    needing = Counter(each.needs for each in served.operations)
    of_admins = {("admin", role): needing["admin"] for role in ("reader", "writer")}
    assert refused == {("writer", "reader"): needing["writer"], **of_admins}
    assert min(needing.values()) > 10


def test_a_key_of_one_agent_speaks_for_no_other(served):
    shown = f"Bearer {served.town.memory.keys.create(role='admin', tenant='acme', agent='coder').secret}"
    for each in (each for each in served.operations if each.path != "/metrics"):  # which speaks of no agent
        request = next(each.requests(served.ids("acme")))
        answer = served.ask(request, shown, **{"Engrain-Agent": AGENT})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), each.name


@pytest.mark.req("N12", "N21")
@pytest.mark.parametrize(("mine", "theirs"), [("acme", "bolt"), ("bolt", "acme")])
def test_a_key_sees_and_changes_nothing_of_another_tenant(tmp_path, mine, theirs):
    """With its ids and names, which are right: the tenant itself, asking with them, is told what it said."""
    with served_at(tmp_path / "memory.db") as served:
        other, ids = served.town.tenants[theirs], served.ids(theirs)
        assert served.town.tenants[mine]
        reads = told_of(served, theirs)
        before, asked = other.rows(), Counter()
        for each in served.operations:
            for request in each.requests(ids):
                for more in ({}, {"tenant": theirs}, {"tenant_id": theirs}):
                    tried = {**request, "params": {**request["params"], **more}}
                    answer = served.ask(tried, f"Bearer {served.town.keys[mine, 'admin']}", **WHO_ASKS)
                    assert other.word not in answer.text, (each.name, tried)
                    assert answer.status_code < 500, (each.name, answer.text)
                    asked[each.name] += 1
        assert other.rows() == before
        assert min(asked.values()) >= 3
        assert asked.keys() == {each.name for each in served.operations}
        told = {name for name, answers in reads.items() if any(other.word in each for each in answers)}
        assert {*reads} - told == SILENT
        for url, params in (("/v1/users/export", {"name": USER}), ("/v1/events/export", {})):
            export = {"method": "GET", "url": url, "params": params}
            assert other.word in served.ask(export, f"Bearer {served.town.keys[theirs, 'admin']}").text, url


def told_of(served, name):
    """What the tenant itself is answered by every verb that reads."""
    shown = f"Bearer {served.town.keys[name, 'reader']}"
    return {
        each.name: [served.ask(request, shown, **WHO_ASKS).text for request in each.requests(served.ids(name))]
        for each in served.operations
        if each.needs == "reader"
    }
