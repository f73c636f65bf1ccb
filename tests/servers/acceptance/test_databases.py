"""`Memory.open("postgresql://...")` is the only difference: one story told to both databases, step by step."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from engrain.errors import InvalidInput, NotFound
from engrain.service import Memory
from tests.support.clock import NOON, Clock
from tests.support.engines import HashEmbedder
from tests.support.postgres import server

SAMPLE = Path(__file__).parents[3] / "examples" / "two_friends.jsonl"


def opened(location):
    numbers = iter(range(10**6))
    return Memory.open(
        location,
        embedder=HashEmbedder(),
        clock=Clock(seconds=1),
        ids=lambda: f"018f0000-0000-7000-8000-{next(numbers):012}",
        settings={"embedding": {"wait_s": 60}},
    )


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request, tmp_path):
    with opened(tmp_path / "agent.db" if request.param == "sqlite" else server().new_database()) as memory:
        yield memory


def story(memory):
    """What every verb answers, as an interface would print it."""
    ana, told = memory.agent("assistant", session="today", request_id="request 7"), []

    def tell(value):
        each = value if isinstance(value, list | tuple) else [value]
        told.append([one.to_dict() if hasattr(one, "to_dict") else one for one in each])
        memory.parts.references.flush()  # what the next answer shows would else depend on which thread was faster
        return value

    first = tell(ana.observe("I moved to Lisbon in May", speaker="Ana", ttl_days=7, tokens=9, tool_calls=[{"a": [1]}]))
    tell(ana.observe("Do you like it there?", role="assistant", importance=2.5, tags=["move", "talk"]))
    entity = tell(ana.entities.create("Ana", "person", aliases=["Anita"], metadata={"n": 1.5, "deep": {"ä": [None]}}))
    home = tell(ana.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-05-01"))
    about = tell(ana.remember("trams", subject="Ana", predicate="likes", entity_id=entity.id, category="preference"))
    rule = tell(ana.rules.add("Offer no early flights", source_episode_id=first.id))
    tell(ana.link(rule.id, first.id, "derived_from", weight=0.5))
    tell(ana.confirm(rule.id))
    memory.flush()  # what is superseded before it has a vector is found by its words alone
    moved = tell(ana.correct(home.id, "Porto", valid_from="2026-11-01"))
    tell(ana.history(moved.id))
    tell(ana.get(home.id, as_of=NOON + timedelta(seconds=5)))
    tell(ana.get(moved.id))
    tell(ana.facts("Ana"))
    tell(ana.facts("Ana", "lives in", include_inactive=True))
    tell(ana.links(first.id))
    tell(ana.import_file(SAMPLE))
    memory.flush()
    for asked in ("Where does Ana live?", "trams", "the of", "What did Marek build?"):
        tell(ana.recall(asked, limit=8))
    tell(ana.recall("Lisbon", as_of=NOON + timedelta(seconds=6)))
    tell(ana.recall("trams", kinds=["fact"], subjects="Ana"))
    tell(ana.context("Ana trams flights"))
    tell(ana.forget(about.id))
    tell(ana.forget(first.id))
    tell(ana.erase([home.id, "nobody"]))
    tell([{**event.to_dict(), "id": None} for event in ana.events(limit=40)])
    tell(ana.stats())
    for wrong in (
        lambda: ana.remember("x", subject="Ana", predicate="likes", entity_id="nobody"),
        lambda: ana.confirm(first.id),
        lambda: ana.forget("nobody"),
        lambda: ana.link(rule.id, "nobody", "supports"),
        lambda: ana.entities.create("Ana", "person"),
        lambda: ana.correct(home.id, "Faro"),
    ):
        with pytest.raises((InvalidInput, NotFound)) as refused:
            wrong()
        told.append(f"{refused.type.__name__}: {refused.value}")
    tell(ana.stats())
    return json.loads(json.dumps(told))


def test_both_databases_tell_the_same_story(tmp_path):
    with opened(tmp_path / "agent.db") as file:
        expected = story(file)
    with opened(server().new_database()) as other:
        found = story(other)
    assert len(found) == len(expected) >= 35
    for step, (there, here) in enumerate(zip(found, expected, strict=True)):
        assert rounded(there) == rounded(here), f"step {step}"


def rounded(value):
    """Cosines are sums of float32 products, whose order is the database's."""
    match value:
        case float():
            return round(value, 5)
        case list():
            return [rounded(each) for each in value]
        case dict():
            return {key: rounded(each) for key, each in value.items()}
    return value


@pytest.mark.req("B05.1")
def test_an_episode_is_found_by_words_and_by_meaning_until_its_seven_days_are_over(memory):
    agent = memory.agent("butler", session="today")
    episode = agent.observe("The boiler was serviced on Friday", ttl_days=7)
    assert episode.expires_at == episode.created_at + timedelta(days=7)
    assert [hit.memory.id for hit in agent.recall("boiler", preset="keyword")] == [episode.id]
    [hit] = agent.recall("The boiler was serviced on Friday", preset="semantic")
    assert (hit.memory.id, round(hit.score, 5)) == (episode.id, 1.0)
    memory.parts.clock.now += timedelta(days=7)
    assert len(agent.recall("boiler")) == 0


def test_a_url_is_never_taken_for_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url in ("mysql://me:secret@somewhere/x", "redis://x"):
        with pytest.raises(InvalidInput) as refused:
            Memory.open(url, embedder="none")
        assert "secret" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_the_command_line_speaks_to_a_server_and_never_prints_its_password(cli, monkeypatch):
    url = server().new_database()
    secret = url.split(":")[2].split("@")[0]
    monkeypatch.setenv("ENGRAIN_DB", url)
    ran = [
        cli("observe", "The boiler was serviced on Friday"),
        cli("recall", "boiler"),
        cli("doctor"),
        cli("doctor", "--json"),
        cli("stats", "--db", url.replace("/engrain_test", "/nowhere")),
    ]
    assert [each.code for each in ran[:4]] == [0, 0, 0, 0]
    assert "boiler" in ran[1].out
    assert ran[4].code != 0
    assert all(secret not in each.out + each.err for each in ran)
    assert "postgresql" in ran[3].json["memory"]["backend"]


def test_ids_by_prefix_on_a_server(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_DB", server().new_database())
    ids = sorted(cli("observe", f"Boiler {number}", "--json").json["id"] for number in range(2))
    unique = next(ids[0][:end] for end in range(4, 37) if not ids[1].startswith(ids[0][:end]))
    assert cli("get", unique, "--json").json["id"] == ids[0]
    refused = cli("get", ids[0][:5], "--json").error
    assert (refused["code"], all(id_ in refused["message"] for id_ in ids)) == ("invalid_input", True)


def test_a_speaker_is_found_however_the_name_is_spelled_and_nobody_else_is(memory):
    agent = memory.agent("flat")
    names = ("Ana", "ANA", "José", "Anabel")
    said = [agent.observe(f"The key is in drawer {number}", speaker=name).id for number, name in enumerate(names)]
    agent.observe("The key is gone")

    def find(*names):
        return {hit.memory.id for hit in agent.recall("Where is the key?", speakers=names).hits}

    assert find("ana") == find("  aNA ", "ANA") == set(said[:2])
    assert find("jose\N{COMBINING ACUTE ACCENT}") == {said[2]}
    assert find("an") == set()
