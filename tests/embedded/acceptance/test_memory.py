"""The library as a person types it: what is remembered is found at once, narrowed, explained, and kept apart."""

import itertools
import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from engrain import InvalidInput, Memory, NotFound
from engrain.aio import AsyncMemory
from engrain.domain.ids import derived_id
from tests.support.engines import HashEmbedder
from tests.support.uncounted import uncounted

PRESETS = ("engrain", "semantic", "keyword", "hybrid")
START = datetime(2026, 11, 21, 9, tzinfo=UTC)
SETTINGS = {"embedding": {"wait_s": 60}}  # a busy machine is no reason to answer without vectors


@pytest.fixture
def memory(path):
    with Memory.open(path, embedder=HashEmbedder(), settings=SETTINGS) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("assistant", session="today")


def contents(answer):
    return [hit.memory.content for hit in answer]


def test_the_first_screen_of_the_documentation(path, capsys):
    with Memory.open(path, embedder=HashEmbedder(), settings=SETTINGS) as memory:
        ana = memory.agent("assistant", session="2026-11-21")
        ana.observe("I moved to Lisbon in May and still hate early flights.", role="user", speaker="Ana")
        ana.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-05-01")
        for hit in ana.recall("Where does Ana live?", limit=5):
            print(hit.score, hit.memory.content, hit.why)  # noqa: T201  # as the page says it
        print(ana.context("Book Ana's trip home", budget_tokens=800))  # noqa: T201  # likewise
    shown = capsys.readouterr().out.splitlines()
    assert {line.split()[1] for line in shown[:2]} == {"I", "Lisbon"}
    assert all("keyword #" in line and "vector #" in line for line in shown[:2])
    assert shown[2:] == ["## What is known", "- Ana lives in: Lisbon (since 2026-05-01)"]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_was_observed_is_found_at_once(agent, preset):
    for number in range(5):
        episode = agent.observe(f"The boat number{number} is called Aurora{number}")
        answer = agent.recall(f"The boat number{number} is called Aurora{number}", preset=preset)
        assert (answer[0].memory, answer.degraded) == (episode, ())
        asked = {"engrain": {"vector", "keyword"}, "semantic": {"vector"}, "keyword": {"keyword"}}
        given = {each.channel for each in answer[0].why.contributions if each.rank is not None}
        assert given == asked.get(preset, {"vector", "keyword"})


@pytest.mark.parametrize("preset", PRESETS)
def test_the_contributions_add_up_to_the_score(agent, preset):
    for number in range(30):
        agent.observe(f"Turn {number} of Ana about apples{number % 4}", speaker=["Ana", "Bo"][number % 2])
    agent.remember("apples1", subject="Ana", predicate="likes")
    answer = agent.recall("Does Ana like apples1?", limit=100, preset=preset)
    assert len(answer) > 7
    for hit in answer:
        assert hit.score == hit.why.score == math.fsum(each.value for each in hit.why.contributions)
        assert hit.why.preset == answer.preset == preset
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)


def test_a_fact_supersedes_the_one_before(agent):
    porto = agent.remember("Porto", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    lisbon = agent.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-05-01")
    agent.remember("Madrid", subject="Bo", predicate="lives in")
    answer = agent.recall("Where does Ana live? Porto? Lisbon?", kinds="fact")
    assert contents(answer)[0] == "Lisbon"
    assert "Porto" not in contents(answer)
    old = agent.get(porto.id)
    assert (old.validity, old.valid_to, old.invalidated_at) == ("superseded", lisbon.valid_from, lisbon.created_at)
    assert agent.get(lisbon.id).supersedes_id == porto.id


def test_the_same_place_in_another_scope_is_another_fact(agent):
    everybody = agent.remember("blue", subject="door", predicate="is", scope="global")
    own = agent.remember("green", subject="door", predicate="is")
    assert {hit.memory.id for hit in agent.recall("door is", kinds="fact")} == {everybody.id, own.id}


@pytest.fixture
def varied(agent):
    """An agent with a bit of everything, every text with the word "kite"."""
    agent.observe("kite one", session="monday", speaker="Ana", event_time="2026-01-05", tags=["wind", "toy"])
    agent.observe("kite two", session="monday", speaker="Bo", role="assistant", event_time="2026-01-05T12:00:00")
    agent.observe("kite three", session="friday", speaker="Ana", event_time="2026-01-09", tags=["wind"])
    agent.observe("kite four", session="friday", role="tool", event_time="2026-01-10")
    agent.remember("kite five", subject="Ana", predicate="owns", valid_from="2026-01-09", tags=["toy", "wind"])
    return agent


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ({}, "one two three four five"),
        ({"kinds": "fact"}, "five"),
        ({"kinds": ["episode", "fact"]}, "one two three four five"),
        ({"kinds": "episode", "tags": "wind"}, "one three"),
        ({"sessions": "monday"}, "one two"),
        ({"sessions": ["monday", "friday", "never"]}, "one two three four"),
        ({"sessions": "never"}, ""),
        ({"exclude_sessions": "monday"}, "three four five"),
        ({"exclude_sessions": ["monday", "friday"]}, "five"),
        ({"roles": "assistant"}, "two"),
        ({"roles": ["user", "tool"]}, "one three four"),
        ({"speakers": "Ana"}, "one three"),
        ({"speakers": ("Ana", "Bo")}, "one two three"),
        ({"tags": "toy"}, "one five"),
        ({"tags": ["wind", "toy"]}, "one five"),
        ({"since": "2026-01-09"}, "three four five"),
        ({"until": "2026-01-09"}, "one two"),
        ({"since": "2026-01-05T12:00:00", "until": datetime(2026, 1, 10, tzinfo=UTC)}, "two three five"),
        ({"speakers": "Ana", "until": "2026-01-06", "tags": "wind", "roles": "user"}, "one"),
    ],
)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_search_is_narrowed_by_each_filter(varied, narrowed, found, preset):
    answer = varied.recall("kite", preset=preset, **narrowed)
    assert {content.split()[1] for content in contents(answer)} == set(found.split())
    one = varied.recall("kite", preset=preset, limit=1, **narrowed)
    assert contents(one) == contents(answer)[:1] or preset == "hybrid"  # whose lists are as long as the answer
    assert len(one) == min(len(answer), 1)


def test_a_context_leaves_out_the_current_session_and_keeps_its_budget(memory, agent):
    yesterday = memory.agent("assistant", session="yesterday")
    for number in range(40):
        yesterday.observe(f"Trip detail {number}: the ferry leaves at {number}", speaker="Ana")
    agent.observe("This trip is being talked about now")
    agent.remember("Lisbon", subject="Ana", predicate="plans a trip to")
    for budget in (0, 5, 20, 100, 400, 5_000):
        block = agent.context("the trip and the ferry", budget_tokens=budget)
        assert block.tokens <= budget
        assert block.tokens == -(-len(block.text) // 4)
        assert "being talked about now" not in block.text
        assert block.left_out + len(block.memories) == 41
    assert block.text.startswith("## What is known\n- Ana plans a trip to: Lisbon\n\n## What was said\n")
    assert block.left_out == 0
    words = agent.context("the trip", budget_tokens=30, count_tokens=lambda text: len(text.split()))
    assert 0 < len(str(words).split()) == words.tokens <= 30


@pytest.mark.parametrize("preset", PRESETS)
def test_what_was_forgotten_is_found_no_more(agent, preset):
    episode = agent.observe("The code of the door is 4711")
    fact = agent.remember("4711", subject="door", predicate="has the code")
    assert len(agent.recall("code of the door", preset=preset)) == 2
    for memory in (episode, fact):
        gone = agent.forget(memory.id)
        assert agent.forget(memory.id) == agent.get(memory.id, as_of=memory.created_at) == gone != memory
    assert agent.recall("code of the door", preset=preset).hits == ()
    assert agent.recall("").hits == ()
    with pytest.raises(NotFound, match="not-an-id"):
        agent.forget("not-an-id")


def test_stats_count_what_is_live(agent):
    assert (agent.stats().episodes.total, agent.stats().episodes.first_event_at) == (0, None)
    agent.observe("One", speaker="Ana", event_time="2026-01-01")
    agent.observe("Two", speaker="Bo", session="other", event_time="2026-02-01")
    gone = agent.observe("Three", speaker="Bo", session="third", event_time="2026-03-01")
    agent.remember("Porto", subject="Ana", predicate="lives in")
    agent.remember("Lisbon", subject="Ana", predicate="lives in")
    agent.rules.add("Ask before booking")
    agent.forget(agent.rules.add("Book at once").id)
    agent.forget(gone.id)
    stats = agent.stats().to_dict()
    assert stats.pop("pending_embeddings") in range(5)
    assert 0 <= stats["episodes"].pop("backlog_age_hours") < 1
    assert stats == {
        "tenant_id": "default",
        "agent": "assistant",
        "episodes": {
            "total": 2,
            "unconsolidated": 2,
            "given_up": 0,
            "sessions": 2,
            "speakers": 2,
            "first_event_at": "2026-01-01T00:00:00Z",
            "last_event_at": "2026-02-01T00:00:00Z",
        },
        "facts": {"active": 1, "fading": 0, "superseded": 1, "expired": 0, "retracted": 0},
        "rules": {"candidate": 1, "established": 0, "proven": 0, "anti_pattern": 0, "forgotten": 1},
    }


def test_everything_is_there_again_after_reopening(path):
    with Memory.open(path, embedder=HashEmbedder(), settings=SETTINGS) as memory:
        agent = memory.agent("assistant", session="s")
        stored = [agent.observe(f"Turn {number}", metadata={"n": number}, tags=["t"]) for number in range(5)]
        stored.append(agent.remember("Lisbon", subject="Ana", predicate="lives in"))
        before = [uncounted(agent.recall("turn Lisbon", preset=preset)) for preset in PRESETS]
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o077 == 0
    with Memory.open(f"sqlite:///{path}", embedder=HashEmbedder(), settings=SETTINGS) as memory:
        agent = memory.agent("assistant", session="s")
        found = [agent.get(each.id, as_of=each.created_at) for each in stored]
        assert [uncounted(each) for each in found] == [uncounted(each) for each in stored]
        assert [uncounted(agent.recall("turn Lisbon", preset=preset)) for preset in PRESETS] == before
        assert agent.observe("The next").turn == 6


def test_vectors_of_another_embedder_are_named_and_keywords_still_answer(path):
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        memory.agent("assistant").observe("The boat is called Aurora")
    for embedder in (HashEmbedder(name="test:other"), HashEmbedder(name="test:other", dims=32)):
        with Memory.open(path, embedder=embedder) as memory:
            agent = memory.agent("assistant")
            added = agent.observe("Another boat is called Boreas")
            for preset in PRESETS[:2]:
                answer = agent.recall("What is the boat called? Aurora", preset=preset)
                assert answer[0].memory.content == "The boat is called Aurora"
                [note] = answer.degraded
                assert "test:hash" in note.detail
                assert "test:other" in note.detail
            assert any("test:hash" in problem for problem in memory.health(thorough=True).problems)
            assert embedder.embedded == []
            agent.forget(added.id)
    with Memory.open(path, embedder=HashEmbedder(dims=32)) as memory:
        [note] = memory.agent("assistant").recall("boat").degraded
        assert "32 dimensions" in note.detail
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        assert memory.agent("assistant").recall("boat").degraded == ()


def test_without_an_embedder_everything_but_vectors_works(path):
    with Memory.open(path, embedder="none") as memory:
        agent = memory.agent("assistant")
        agent.observe("The boat is called Aurora")
        for preset in PRESETS:
            answer = agent.recall("boat", preset=preset)
            assert contents(answer) == ["The boat is called Aurora"]
            assert bool(answer.degraded) == (preset != "keyword")
        assert memory.health(thorough=True).problems == ()
    with Memory.open(path, embedder=HashEmbedder(), settings=SETTINGS) as memory:
        answer = memory.agent("assistant").recall("The boat is called Aurora", preset="semantic")
        assert (answer.degraded, answer[0].score > 0.99) == ((), True)


def test_agents_and_tenants_see_their_own_episodes_and_the_facts_of_their_tenant(memory):
    callers = [(tenant, name) for tenant in ("acme", "bolt") for name in ("ana", "bo")]
    agents = {caller: memory.agent(caller[1], tenant=caller[0], session="shared") for caller in callers}
    for (tenant, name), agent in agents.items():
        agent.observe(f"secret of {name} at {tenant}", speaker=name)
        agent.remember(f"secret of {name} at {tenant}", subject=name, predicate="knows", scope="global")
        agent.remember(f"secret of {name} alone at {tenant}", subject=name, predicate="knows")
    for (tenant, name), agent in agents.items():
        colleagues = {f"secret of {other} at {tenant}" for other in ("ana", "bo")}
        own = {f"secret of {name} at {tenant}", f"secret of {name} alone at {tenant}"}
        for query, preset in itertools.product(["secret", "", f"secret of ana at {tenant}"], PRESETS):
            answer = agent.recall(query, preset=preset, limit=100)
            assert {hit.memory.content for hit in answer if hit.memory.kind == "episode"} <= own
            assert {hit.memory.content for hit in answer} <= own | colleagues
            assert {hit.memory.tenant_id for hit in answer} <= {tenant}
        assert set(contents(agent.recall("secret", limit=100))) == own | colleagues
        stats = agent.stats()
        assert (stats.episodes.total, stats.facts.live, stats.episodes.sessions, stats.episodes.speakers) == (
            1,
            3,
            1,
            1,
        )
        block = memory.agent(name, tenant=tenant).context("secret", budget_tokens=10_000).text
        assert "bolt" not in block or tenant == "bolt"


def test_turns_count_up_for_each_agent_alone(memory):
    for name in ("ana", "bo"):
        agent = memory.agent(name, session="shared")
        assert [agent.observe("A turn").turn for _ in range(3)] == [1, 2, 3]
        assert memory.agent(name).observe("Outside any session").turn == 0


def scenario(path):
    """Everything the library answers in a short life, as JSON, on a clock that ticks and ids that count."""
    seconds = itertools.count()
    numbers = itertools.count()
    answers = []
    with Memory.open(
        path,
        embedder=HashEmbedder(),
        settings=SETTINGS,
        clock=lambda: START + timedelta(seconds=next(seconds)),
        ids=lambda: derived_id(str(next(numbers)), at=START),
    ) as memory:
        for agent in (memory.agent("ana", session="s"), memory.agent("bo", session="s")):
            for number in range(60):
                stored = agent.observe(f"turn {number} about apples{number % 7}", speaker=f"Speaker{number % 3}")
                answers.append(stored)
                if number % 10 == 0:
                    answers.append(agent.remember(f"apples{number % 7}", subject="Ana", predicate="likes"))
                    answers.append(agent.forget(stored.id))
            memory.flush()
            for preset, query in itertools.product(PRESETS, ["apples3", "turn 5", "What does Speaker1 like?", ""]):
                answers.append(agent.recall(query, preset=preset))
            answers += [agent.context("apples", budget_tokens=200), agent.stats()]
    return json.dumps([uncounted(answer) for answer in answers])


def test_the_same_calls_give_the_same_bytes_in_another_file(tmp_path):
    first, second = scenario(tmp_path / "first.db"), scenario(tmp_path / "second.db")
    assert first == second
    assert first.count('"score"') > 200
    assert '"created_at": "2026-11-21T09:00:' in first


def test_the_agent_of_the_settings_speaks_where_none_is_named(path):
    with Memory.open(path, embedder="none", settings={"agent": "ana", "tenant": "acme"}) as memory:
        assert (memory.agent().caller.agent, memory.agent().caller.tenant_id) == ("ana", "acme")
        with pytest.raises(InvalidInput, match="tenant is empty"):
            memory.agent(tenant="")


@pytest.mark.parametrize("opened", [Memory, AsyncMemory])
def test_a_location_is_opened_and_no_memory_by_itself(opened, path):
    with pytest.raises(InvalidInput, match=r"Memory\.open\("):
        opened(path)


@pytest.mark.parametrize("now", [datetime(2026, 11, 21, 9), START.astimezone(timezone(timedelta(hours=-5))), 0])  # noqa: DTZ001
def test_a_clock_gives_times_in_utc(path, now):
    with pytest.raises(InvalidInput, match=r"clock gave .* no time in UTC"):
        Memory.open(path, embedder="none", clock=lambda: now)
