"""The newest turns of a session in Redis: a real server that is killed and started again while messages come."""

import pytest
import redis

from engrain import metrics
from engrain.errors import InvalidInput
from engrain.service import Memory
from tests.support.redis import Server, url_of_some_server

MANY = 10_000


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as running:
        yield running


def opened(url, location=":memory:", **more):
    settings = {"redis": {"url": url, "timeout_s": 2.0, "prefix": "test", **more}}
    return Memory.open(location, embedder="none", settings=settings)


def counted(name):
    return metrics.snapshot().get(name, 0)


def contents(turns):
    return [each.content for each in turns.episodes]


def held(url, key):
    with redis.Redis.from_url(url) as client:
        return client.zcard(key), client.ttl(key)


@pytest.mark.req("G02", "G05")
def test_each_turn_goes_to_its_sorted_set_and_comes_from_there_first(tmp_path):
    with url_of_some_server(tmp_path) as url, opened(url, prefix=f"t{tmp_path.name}") as memory:
        agent = memory.agent("aide", session="a:b")
        stored = [agent.hooks.message(f"number {place}", metadata={"at": place}).episode for place in range(5)]
        agent.observe("by another verb")
        key = f"t{tmp_path.name}:episodic:default:aide:a%3Ab"
        number, left_s = held(url, key)
        assert number == 6
        assert 86_000 < left_s <= 86_400
        with redis.Redis.from_url(url) as client:
            [(_, score)] = client.zrange(key, 0, 0, withscores=True)
            assert score == stored[0].event_time.timestamp() * 1e6
            client.zremrangebyrank(key, 0, 3)
        assert agent.hooks.recent(2).episodes[0] == stored[4]
        assert contents(agent.hooks.recent(2)) == ["number 4", "by another verb"]
        assert contents(agent.hooks.recent(5)) == [f"number {place}" for place in range(1, 5)] + ["by another verb"]
        assert agent.hooks.recent(5).episodes[:4] == tuple(stored[1:])
        assert memory.agent("aide", session="b").hooks.recent().episodes == ()
        assert memory.agent("aide", session="a:b", tenant="other").hooks.recent().episodes == ()


def test_each_user_has_sorted_sets_of_its_own(tmp_path):
    """The same agent and session: nothing of one user is read for another, from Redis or where it has lost it."""
    names = (None, "ana", "bob", "ana/aide", "ana%2Faide", "aide")
    with url_of_some_server(tmp_path) as url, opened(url, prefix=f"u{tmp_path.name}") as memory:
        agents = {user: memory.agent("aide", user=user, session="monday") for user in names}
        for user, agent in agents.items():
            agent.hooks.message(f"of {user}")
        for user, agent in agents.items():
            assert contents(agent.hooks.recent(9)) == [f"of {user}"]
        with redis.Redis.from_url(url) as client:
            keys = client.keys(f"u{tmp_path.name}:*")
            assert len(keys) == len(names)
            agents["ana"].erase([turn.id for turn in agents["ana"].hooks.recent(9).episodes])
            left = {line.decode() for key in client.keys(f"u{tmp_path.name}:*") for line in client.zrange(key, 0, -1)}
            assert not [line for line in left if '"of ana"' in line]
            memory.erase_user("bob")
            left = {line.decode() for key in client.keys(f"u{tmp_path.name}:*") for line in client.zrange(key, 0, -1)}
            assert not [line for line in left if '"of bob"' in line]
            assert [line for line in left if '"of aide"' in line]
            memory.agent("other", session="monday").hooks.message("of another agent")
            memory.erase_tenant("default", agent="aide")
            assert [key.decode().split(":")[3] for key in client.keys(f"u{tmp_path.name}:*")] == ["other"]
            memory.erase_tenant("default")
            assert client.keys(f"u{tmp_path.name}:*") == []
        for agent in agents.values():
            assert contents(agent.hooks.recent(9)) == []


@pytest.mark.req("G02")
def test_a_session_of_which_something_is_withdrawn_is_read_from_the_database(server):
    with opened(server.url) as memory:
        agent = memory.agent("aide", session="monday")
        _, two, three = (agent.hooks.message(content).episode for content in ("one", "two", "three"))
        agent.forget(two.id)
        assert contents(agent.hooks.recent(2)) == ["one", "three"]
        agent.hooks.message("four")
        agent.erase([three.id])
        assert contents(agent.hooks.recent(3)) == ["one", "four"]
        assert held(server.url, "test:episodic:default:aide:monday")[0] == 0


@pytest.mark.req("G02", "G05", "N05")
def test_redis_is_killed_and_started_again_and_no_message_is_lost_or_doubled(server):
    degraded, healed = counted("redis_degraded"), counted("redis_healed")
    with opened(server.url) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        for place in range(MANY):
            if place == 3_000:
                server.kill()
                assert contents(hooks.recent(3)) == ["2997", "2998", "2999"]
            if place == 6_000:
                assert counted("redis_degraded") >= degraded + 3_000
                server.start()
                memory.parts.buffers.recent._asked_again_at = 0.0  # the pause is over
            assert hooks.message(str(place)).is_stored
        assert counted("redis_healed") == healed + 1
        assert contents(hooks.recent(1_000)) == [str(place) for place in range(MANY - 1_000, MANY)]
        assert memory.agent("aide").stats().episodes.total == MANY
        server.kill()
        last = hooks.recent(1_000)
        assert last.degraded == ()
        assert [each.turn for each in last.episodes] == list(range(MANY - 999, MANY + 1))


def test_what_was_missed_is_not_read_once_redis_is_back_with_what_it_had(server):
    """As after a cut of the network: the turns it holds are old, and look whole."""
    with opened(server.url) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        hooks.message("one")
        recent = memory.parts.buffers.recent
        recent._asked_again_at = float("inf")
        hooks.message("two")
        assert contents(hooks.recent(1)) == ["two"]
        recent._asked_again_at = 0.0
        assert contents(hooks.recent(1)) == ["two"]
        hooks.message("three")
        assert contents(hooks.recent(1)) == ["three"]
        assert contents(hooks.recent(3)) == ["one", "two", "three"]


def test_where_the_database_cannot_be_read_redis_answers_for_it(server, tmp_path):
    path = tmp_path / "memory.db"
    with opened(server.url, path) as memory:
        memory.agent("aide", session="monday").observe("tea")
    with opened(server.url, path) as memory:
        hooks = memory.agent("aide", session="monday").hooks
        hooks.message("more tea")
        size = path.stat().st_size
        memory.parts.store.backend._connections._writer.pragma("wal_checkpoint(TRUNCATE)")
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (size - 4096))
        answer = hooks.recent(5)
        assert contents(answer) == ["tea", "more tea"]
        assert answer.degraded[0].code == "database_damaged"
        assert answer.degraded[0].message.startswith("only 2 turns are at hand: ")


@pytest.mark.parametrize("url", ["http://localhost", "redis://user:secret@host:port"])
def test_an_address_that_is_none_is_refused_without_being_quoted(url):
    with pytest.raises(InvalidInput, match=r"redis\.url") as refused:
        opened(url).close()
    assert "secret" not in str(refused.value)
