"""Every tool, resource and prompt over HTTP, by everybody who may not: refused, and counted, so that none is forgotten.

And by everybody who may, with the names and ids of another tenant: told nothing of it, and nothing of it is changed.
"""

import contextlib
from collections import Counter
from dataclasses import dataclass

import httpx2
import pytest

from engrain import Memory
from engrain.domain.access.keys import ROLES, allows
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.mcp.profiles import profile_of
from tests.support.asgi import serving
from tests.support.mcp_asks import asks
from tests.support.two_tenants import AGENT, SESSION, Clock, TwoTenants

# Together every tool there is; each with how many addresses, prompts and listings it has besides.
PROFILES = {
    **dict.fromkeys(("all", "butler", "assistant", "orchestrator", "consolidator", "notes"), 5 + 3 + 4),
    "graph": 6 + 3 + 4,
}
SPEAKS = {"Accept": "application/json, text/event-stream"}
WHO_ASKS = {"Engrain-Agent": AGENT, "Engrain-Session": SESSION}
# Reads whose answer holds nothing that was said.
SILENT = {
    *("memory_stats", "is_session_consolidated", "detect_conflicts", "memory://stats", "links", "route", "stats"),
    *("consolidation_is_session_consolidated", "consolidation_detect_conflicts", "entities_to_enrich"),
}


@dataclass(frozen=True)
class Served:
    """A memory of two tenants whose tools are served behind a gate, and a client of it."""

    town: TwoTenants
    client: httpx2.Client
    profile: str

    def asks(self, tenant):
        whose = self.town.tenants[tenant]
        return list(asks(self.town.memory, self.profile, whose.ids))

    def ask(self, each, shown, **headers):
        message = {"jsonrpc": "2.0", "id": 1, "method": each.method, "params": each.params}
        headers |= {} if shown is None else {"Authorization": shown}
        return self.client.post("/mcp", json=message, headers={**SPEAKS, **headers})


@contextlib.contextmanager
def served_at(place, profile):
    clock = Clock()
    with Memory.open(place, settings={"embedding": {"model": "none"}}, clock=clock) as memory:
        gate = Gate(memory, keys_required=True, rate_limit_per_minute=0, failures_per_minute=0)
        app = create_app(memory, gate=gate, mcp_profile=profile)
        with serving(app) as url, httpx2.Client(base_url=url, timeout=60) as client:
            yield Served(TwoTenants(memory, clock), client, profile)


@pytest.fixture(scope="module", params=PROFILES)
def served(request, tmp_path_factory):
    """Where nobody is let in who could change anything."""
    with served_at(tmp_path_factory.mktemp("town") / "memory.db", request.param) as served:
        yield served


def fault_of(answer):
    """The code by which a call was refused; None where it was not."""
    said = answer.json()
    result = said.get("result", {})
    if result.get("isError"):
        return result["_meta"]["error"]["code"]
    return said["error"]["data"]["error"]["code"] if "error" in said else None


def test_every_tool_is_a_readers_a_writers_or_an_admins(served):
    """What only reads is a reader's, but for what an admin alone may look at; whatever else is at least a writer's."""
    for offer in profile_of(served.profile).tools:
        is_read = bool(offer.effect.read_only_hint)
        of_admins = {"agents", "audit", "jobs_list", "users", "verify_events"}
        assert (offer.needs == "reader") == (is_read and offer.name not in of_admins), offer.name


def test_whoever_shows_no_key_that_opens_is_refused_everywhere(served):
    every, shown = served.asks("acme"), served.town.keys_that_open_nothing
    refused = Counter()
    for each in every:
        for why, header in shown.items():
            answer = served.ask(each, header)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), (each.name, why)
            refused[why] += 1
    assert refused == dict.fromkeys(shown, len(every))
    assert len(shown) == 7
    assert len(every) == len(profile_of(served.profile).tools) + PROFILES[served.profile]


def test_a_role_may_what_it_may_and_nothing_above(served):
    refused = Counter()
    every = served.asks("acme")
    for each in every:
        for role in (role for role in ROLES if not allows(role, each.needs)):
            answer = served.ask(each, f"Bearer {served.town.keys['acme', role]}", **WHO_ASKS)
            assert fault_of(answer) == "forbidden", (each.name, role, answer.text)
            refused[each.needs, role] += 1
    needing = Counter(each.needs for each in every)
    expected = Counter({("writer", "reader"): needing["writer"]})
    expected |= {("admin", role): needing["admin"] for role in ("reader", "writer")}
    assert refused == expected
    assert needing["writer"] == sum(offer.needs == "writer" for offer in profile_of(served.profile).tools)


@pytest.mark.req("N12", "N21")
@pytest.mark.parametrize(("mine", "theirs"), [("acme", "bolt"), ("bolt", "acme")])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_key_sees_and_changes_nothing_of_another_tenant(tmp_path, profile, mine, theirs):
    """With its ids and names, which are right: the tenant itself, asking with them, is told what it said."""
    with served_at(tmp_path / "memory.db", profile) as served:
        other = served.town.tenants[theirs]
        assert served.town.tenants[mine]
        reads, every = told_of(served, theirs), served.asks(theirs)
        before = other.rows()
        for each in every:
            answer = served.ask(each, f"Bearer {served.town.keys[mine, 'admin']}", **WHO_ASKS)
            assert answer.status_code == 200, (each.name, answer.text)
            assert other.word not in answer.text, each.name
        assert other.rows() == before
        silent = {name for name, told in reads.items() if other.word not in told}
        assert silent == {each.name for each in every if each.name in SILENT or each.method.endswith("/list")}


def told_of(served, name):
    """What the tenant itself is answered wherever it only reads."""
    shown = f"Bearer {served.town.keys[name, 'reader']}"
    return {each.name: served.ask(each, shown, **WHO_ASKS).text for each in served.asks(name) if each.needs == "reader"}
