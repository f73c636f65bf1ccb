"""Erased texts that live on in copies, summaries and what was learned: named, or gone with them."""

import hashlib
import json

import pytest

from tests.support.backups import everything

pytestmark = pytest.mark.req("N12")
SECRET = "the vault opens with 4711-vault"


class World:
    """One secret of ana's, and everything that was derived from it by her and by others."""

    def __init__(self, attacked):
        self.attacked = attacked
        memory = attacked.memory
        self.ana, self.bruno, self.eve = (memory.agent(name) for name in ("ana", "bruno", "eve"))
        self.ana.pools.create("team", ["bruno"])
        self.turn = self.ana.observe(f"Know that {SECRET}.", session="s")
        self.learned = self.ana.remember(SECRET, subject="vault", predicate="code", source_episode_id=self.turn.id)
        self.rule = self.ana.rules.add(f"Never say that {SECRET}.", scope="ana", source_episode_id=self.turn.id)
        self.summary = self.ana.summarize(ids=[self.turn.id], strategy="extractive", store=True).memory_id
        self.in_pool = self.ana.pools.contribute("team", self.learned.id)
        self.synced = self.bruno.pools.sync_to_agent("team").copied[0]
        self.other = self.ana.remember("Lisbon", subject="Ana", predicate="lives in")

    def erase(self, key, **arguments):
        body = {"ids": [self.turn.id], **arguments}
        return self.attacked.client.post("/v1/erase", json=body, headers=key)

    def has_secret(self):
        return "4711-vault" in json.dumps(everything(self.attacked.memory), default=str)


@pytest.fixture
def world(attacked):
    return World(attacked)


def test_by_default_the_answer_names_what_was_derived_and_is_seen(world):
    key = world.attacked.key("ana")
    report = world.erase(key).json()
    assert report["ids"] == [world.turn.id]
    derived = {found["id"]: found for found in report["derived"]}
    assert derived.keys() == {world.learned.id, world.rule.id, world.summary, world.in_pool.id}
    assert derived[world.in_pool.id] == {
        "id": world.in_pool.id,
        "kind": "fact",
        "scope": "pool:team",
        "derived_from": world.turn.id,
    }
    assert world.synced not in str(report)  # bruno's own
    assert world.has_secret()
    assert world.erase(key).json() == {"ids": [], "erased": [], "waiting": [], "derived": []}


def test_what_is_seen_of_it_goes_with_it(world):
    report = world.erase(world.attacked.key("ana"), cascade="seen").json()
    gone = {world.turn.id, world.learned.id, world.rule.id, world.summary, world.in_pool.id}
    assert set(report["ids"]) == gone
    assert report["derived"] == []
    assert {found["derived_from"] for found in report["erased"]} == {None, world.turn.id}
    assert world.ana.get(world.learned.id) is None
    assert world.ana.get(world.other.id).content == "Lisbon"
    assert world.bruno.get(world.synced).content == SECRET


def test_an_admin_of_the_tenant_erases_the_copies_of_all_agents(world):
    refused = world.erase(world.attacked.key("ana"), cascade="tenant")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert world.ana.get(world.turn.id) is not None
    key = {**world.attacked.key(), "Engrain-Agent": "ana"}
    report = world.erase(key, cascade="tenant").json()
    assert world.synced in report["ids"]
    assert not world.has_secret()
    assert world.ana.get(world.other.id).content == "Lisbon"
    assert world.attacked.memory.health(thorough=True).problems == ()
    # Neither comes back by itself.
    assert world.bruno.pools.sync_to_agent("team").copied == ()


def test_a_tool_erases_no_more_than_its_key_may(world):
    arguments = {"ids": [world.turn.id], "cascade": "tenant"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "erase", "arguments": arguments}}
    speaks = {"Accept": "application/json, text/event-stream"}
    answer = world.attacked.client.post("/mcp", json=call, headers={**world.attacked.key("ana"), **speaks})
    assert "speaks for one agent" in answer.text
    assert world.ana.get(world.turn.id) is not None
    assert world.bruno.get(world.synced) is not None


def test_a_key_of_one_user_erases_that_users_memories_alone(world):
    said = {"content": f"My {SECRET}.", "session": "mine"}
    key = {**world.attacked.key(user="uma"), "Engrain-Agent": "ana"}
    turn = world.attacked.client.post("/v1/episodes", json=said, headers=key).json()
    everybodys = world.ana.remember(SECRET, subject="vault", predicate="opens")
    world.ana.link(world.other.id, everybodys.id, "derived_from")
    body = {"ids": [everybodys.id], "cascade": "seen"}
    assert world.attacked.client.post("/v1/erase", json=body, headers=key).status_code == 422
    body = {"ids": [turn["id"]], "cascade": "tenant"}
    assert world.attacked.client.post("/v1/erase", json=body, headers=key).status_code == 403
    uma = world.attacked.memory.agent("ana", user="uma")
    learned = uma.remember("4711-vault", subject="vault of uma", predicate="code", source_episode_id=turn["id"])
    uma.link(everybodys.id, turn["id"], "derived_from")
    report = world.attacked.client.post("/v1/erase", json={**body, "cascade": "seen"}, headers=key).json()
    assert set(report["ids"]) == {turn["id"], learned.id}
    assert {found["id"] for found in report["derived"]} == {everybodys.id, world.other.id}
    assert world.ana.get(everybodys.id).content == SECRET


def test_nobody_cascades_from_what_they_do_not_see(world):
    before = everything(world.attacked.memory)["facts"]
    key = {**world.attacked.key(), "Engrain-Agent": "eve"}
    assert world.erase(key, cascade="tenant").json()["ids"] == []
    assert everything(world.attacked.memory)["facts"] == before


def test_an_erasure_can_be_shown_later(world):
    kept = {memory.id: memory.to_dict() for memory in (world.turn, world.ana.get(world.learned.id))}
    key = world.attacked.key("ana")
    report = world.erase(key, cascade="seen").json()
    shown = world.attacked.client.get("/v1/events?event_type=memory_erased", headers=key).json()["items"]
    assert len(shown) == len(report["erased"])
    by_id = {event["memory_id"]: event for event in shown}
    for erased in report["erased"]:
        event = by_id[erased["id"]]
        assert (event["scope"], event["created_at"], event["actor"]) == (erased["scope"], erased["erased_at"], "ana")
        assert (event["payload"]["kind"], event["payload"]["digest"]) == (erased["kind"], erased["digest"])
    for id_, record in kept.items():  # whoever has a copy can prove what it was
        text = json.dumps(record, sort_keys=True, ensure_ascii=False)
        assert by_id[id_]["payload"]["digest"] == hashlib.sha256(text.encode()).hexdigest()
    assert by_id[world.rule.id]["payload"].get("derived_from") == world.turn.id
    assert "derived_from" not in by_id[world.in_pool.id]["payload"]  # its members do not see ana's own turn
    assert SECRET not in str(shown)
