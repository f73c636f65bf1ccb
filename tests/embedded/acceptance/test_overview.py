"""What a dashboard shows: of one agent, of one moment, and the same over the library, the command line and HTTP."""

import json
from datetime import timedelta

import httpx2
import pytest

from engrain import InvalidInput, Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.clock import NOON, Clock


@pytest.fixture
def clock():
    return Clock(NOON - timedelta(days=2))


@pytest.fixture
def memory(clock, tmp_path):
    with Memory.open(tmp_path / "memory.db", embedder="none", clock=clock) as opened:
        yield opened


@pytest.fixture
def lived(memory, clock):
    """Three days of an agent's life, and another's that it does not see."""
    ana = memory.agent("ana", session="monday")
    person = ana.entities.create("Ben", entity_type="person")
    turn = ana.observe("The tram was late.")
    ana.rules.add("Ask before booking.", scope="ana")
    clock.now += timedelta(days=1)
    ana.remember("coffee", subject="Ben", predicate="favourite drink", entity_id=person.id)
    ana.remember("tea", subject="Ben", predicate="favourite drink", entity_id=person.id)
    clock.now = NOON
    ana.forget(ana.remember("Porto", subject="Ana", predicate="lives in").id)
    ana.recall("tram")
    memory.agent("other").observe("Nobody shall see this.")
    memory.flush()
    return turn


@pytest.mark.req("N22")
@pytest.mark.usefixtures("lived")
def test_it_shows_what_was_done_on_each_day(memory):
    found = memory.agent("ana").overview(days=4)
    said = [(day.day, day.to_dict()) for day in found.days]
    done = {day: {name: n for name, n in counts.items() if n and name != "day"} for day, counts in said}
    assert done == {
        "2026-11-18": {},
        "2026-11-19": {"episodes": 1, "rules": 1},
        "2026-11-20": {"facts": 2, "superseded": 1},
        "2026-11-21": {"facts": 1, "forgotten": 1},
    }
    assert (found.at, found.days_since) == (NOON, None)


@pytest.mark.req("N22")
def test_it_shows_how_memories_stand_and_what_stands_out(memory, lived):
    found = memory.agent("ana").overview()
    assert found.stats == memory.agent("ana").stats()
    assert [each.content for each in found.newest_episodes] == ["The tram was late."]
    assert [each.content for each in found.newest_facts] == ["tea"]
    assert [each.content for each in found.newest_rules] == ["Ask before booking."]
    assert [(each.id, each.reference_count) for each in found.most_referenced] == [(lived.id, 1)]
    assert [(each.entity.canonical_name, each.facts) for each in found.entities] == [("Ben", 1)]
    assert (found.looked_at, found.content_bytes) == (
        {"episode": 1, "fact": 1, "rule": 1},
        {"episode": 18, "fact": 3, "rule": 19},
    )
    assert (found.runs, [each.session for each in found.waiting_sessions]) == ((), ["monday"])
    assert "Nobody" not in json.dumps(found.to_dict())


@pytest.mark.usefixtures("lived")
def test_looking_counts_as_no_reference(memory):
    first = memory.agent("ana").overview()
    assert memory.agent("ana").overview() == first


def test_an_empty_memory_has_an_overview(memory):
    found = memory.agent("nobody").overview(days=2)
    assert [day.day for day in found.days] == ["2026-11-18", "2026-11-19"]
    assert (found.newest_episodes, found.most_referenced, found.entities) == ((), (), ())
    assert memory.agent("nobody").overview(days=0, limit=0).days == ()


@pytest.mark.parametrize("given", [{"days": 367}, {"days": -1}, {"limit": 101}, {"limit": "ten"}])
def test_more_than_a_dashboard_has_room_for_is_refused(memory, given):
    with pytest.raises(InvalidInput, match=next(iter(given))):
        memory.agent("ana").overview(**given)


@pytest.mark.req("N22")
@pytest.mark.usefixtures("lived")
def test_it_is_the_same_over_http(memory):
    with (
        serving(create_app(memory, gate=Gate(memory, keys_required=False))) as url,
        httpx2.Client(base_url=url, timeout=60) as client,
    ):
        asked = client.get("/v1/dashboard", params={"days": 4, "limit": 3}, headers={"Engrain-Agent": "ana"})
        refused = client.get("/v1/dashboard", params={"days": 999})
    assert asked.json() == memory.agent("ana").overview(days=4, limit=3).to_dict()
    assert refused.status_code == 422


def test_it_is_the_same_on_the_command_line(cli, database):
    with Memory.open(database, embedder="none") as memory:
        memory.agent("ana").observe("The tram was late.", session="monday")
        memory.agent("ana").recall("tram")
        expected = memory.agent("ana").overview(days=14, limit=5).to_dict()
    ran = cli("overview", "--agent", "ana", "--json")
    assert ran.code == 0
    assert {**ran.json, "at": None, "stats": None} == {**expected, "at": None, "stats": None}
    read = cli("overview", "--agent", "ana").out
    assert [line for line in read.splitlines() if line and not line.startswith(" ")] == [
        *("memory", "days", "newest", "most referenced", "waiting sessions")
    ]
    assert "The tram was late." in read
