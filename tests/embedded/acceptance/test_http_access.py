"""Keys over HTTP: whom each speaks for, and what an agent's own admin may do."""

import gzip
import json

import httpx2
import pytest

from engrain import Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving


@pytest.fixture(scope="module")
def memory():
    with Memory.open(":memory:", embedder="none") as memory:
        yield memory


@pytest.fixture(scope="module")
def client(memory):
    app = create_app(memory, gate=Gate(memory, keys_required=True))
    with serving(app) as url, httpx2.Client(base_url=url, timeout=60) as client:
        yield client


def shown(created):
    return {"Authorization": f"Bearer {created.secret}"}


def test_a_key_of_an_agent_speaks_for_no_other(client, memory):
    key = shown(memory.keys.create(role="admin", agent="support"))
    assert client.get("/v1/caller", headers=key).json()["agent"] == "support"
    other = {"Engrain-Agent": "billing"}
    assert client.get("/v1/caller", headers={**key, **other}).json()["code"] == "forbidden"
    for path, body in (("reflect", {"agent": "billing"}), ("consolidate", {"agent": "billing"}), ("decay", {})):
        assert client.post(f"/v1/{path}", json=body, headers=key).json()["code"] == "forbidden"
    assert client.get("/v1/backup?agent=billing", headers=key).json()["code"] == "forbidden"
    detail = client.get("/v1/keys?agent=billing", headers=key).json()["detail"]
    assert detail == "the key speaks for the agent 'support' alone; leave agent out"
    assert client.get("/v1/backup", headers=key).json()["code"] == "not_found"
    client.post("/v1/episodes", json={"content": "hello"}, headers=key)
    backup = client.get("/v1/backup", headers=key)
    assert '"agent": "support"' in backup.headers["Engrain-Report"]


@pytest.mark.parametrize(
    "header", ["Authorization", "X-API-Key", "Engrain-Agent", "Engrain-User", "X-Engrain-User", "Engrain-Session"]
)
@pytest.mark.parametrize("path", ["/v1/caller", "/mcp", "/metrics"])
def test_who_is_two_at_once_is_refused(client, memory, header, path):
    """A gateway adds its own header behind the one of a client that chose another user."""
    key = shown(memory.keys.create(role="admin"))
    refused = client.get(path, headers=[*key.items(), (header, "ana"), (header, "bob")])
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert f"{header.lower()} is there more than once" in refused.json()["detail"]


def test_who_says_the_same_twice_is_served(client, memory):
    key = shown(memory.keys.create(role="admin"))
    served = client.get("/v1/caller", headers=2 * [*key.items(), ("Engrain-User", "ana")])
    assert (served.status_code, served.json()["user"]) == (200, "ana")


def test_a_backup_of_a_user_is_for_who_may_act_for_every_user(client, memory):
    memory.agent("support", user="ana").remember("tea", subject="user", predicate="likes")
    memory.agent("support", user="bob").remember("rum", subject="user", predicate="likes")
    admin = shown(memory.keys.create(role="admin"))
    backup = client.get("/v1/backup?user=ana", headers=admin)
    report = json.loads(backup.headers["Engrain-Report"])
    assert (report["user"], report["tenant_id"]) == ("ana", "default")
    assert {table["table"]: table["rows"] for table in report["tables"]}["facts"] == 1
    assert b"rum" not in gzip.decompress(backup.content)
    memory.agent("support", user="ana").erase([memory.agent("support", user="ana").list()[0].id])
    packed = {**admin, "Content-Type": "application/gzip"}
    again = client.post("/v1/restore?with_erased=true", content=backup.content, headers=packed).json()
    assert (again["user"], again["added"]["facts"]) == ("ana", 1)
    for whose in ("ana", "bob"):
        bound = shown(memory.keys.create(role="admin", user="ana"))
        assert client.get(f"/v1/backup?user={whose}", headers=bound).json()["code"] == "forbidden"


@pytest.mark.parametrize("path", ["export", "backup", "events/export"])
def test_a_file_of_every_user_is_not_made_in_the_name_of_one(client, memory, path):
    admin = shown(memory.keys.create(role="admin"))
    ana = {**admin, "Engrain-User": "ana"}
    refused = client.get(f"/v1/{path}", headers=ana)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert "leave out Engrain-User 'ana'; GET /v1/users/export?name=NAME" in refused.json()["detail"]
    assert client.get(f"/v1/{path}", headers=admin).status_code == 200
    assert client.get("/v1/users/export?name=ana", headers=ana).status_code == 200
    assert client.get("/v1/backup?user=ana", headers=ana).status_code == 200


def test_an_agents_own_admin_makes_and_sees_keys_of_that_agent_alone(client, memory):
    mine = memory.keys.create(role="admin", agent="desk", tenant="keys")
    whole = memory.keys.create(role="reader", tenant="keys")
    made = client.post("/v1/keys", json={"role": "reader", "name": "ci"}, headers=shown(mine))
    assert (made.status_code, made.json()["key"]["agent"]) == (201, "desk")
    assert memory.keys.authenticate(made.json()["secret"]).role == "reader"
    seen = client.get("/v1/keys", headers=shown(mine))
    assert [each["agent"] for each in seen.json()["items"]] == ["desk", "desk"]
    assert made.json()["secret"] not in seen.text
    assert client.post(f"/v1/keys/{whole.key.id}/revoke", headers=shown(mine)).status_code == 404
    assert client.post("/v1/keys", json={"role": "reader", "agent": "x"}, headers=shown(mine)).status_code == 403


def test_a_revoked_key_opens_nothing_from_the_next_request_on(client, memory):
    key = memory.keys.create(role="admin")
    assert client.get("/v1/stats", headers=shown(key)).status_code == 200
    assert client.post(f"/v1/keys/{key.key.id}/revoke", headers=shown(key)).json()["revoked_at"] is not None
    refused = client.get("/v1/stats", headers=shown(key))
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="engrain"')


def test_who_asks_too_often_is_told_when_to_come_again():
    settings = {"server": {"rate_limit_per_minute": 2}}
    with Memory.open(":memory:", embedder="none", settings=settings) as memory:
        key = shown(memory.keys.create(role="reader"))
        with serving(create_app(memory, gate=Gate(memory, keys_required=True))) as url:
            answers = [httpx2.get(f"{url}/v1/stats", headers=key, timeout=60) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
