"""Workers as processes of their own: no turn is learned from twice, and one that is killed leaves nothing half done."""

import random
import shutil
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta

import pytest

from engrain.config import load
from engrain.domain.records import Caller, Episode, Fact, Rule
from engrain.domain.requests import Act
from engrain.domain.runs.runs import WORKER_GONE
from engrain.service import Memory
from engrain.storage import open_store
from tests.support.children import AGENT, KNOWN, RULE, Child, claim_of, plan_of, said
from tests.support.learning_memories import LLM, NOTHING
from tests.support.postgres import server
from tests.support.sample_records import NOON, episode, fact, request, rule
from tests.support.store_samples import keyword
from tests.support.stores import open_verbs

CALLER = Caller(agent=AGENT)
TURNS = 8  # three runs
STEPS = 27_000  # of the 29,000 that three runs take


@pytest.fixture
def place(tmp_path):
    """Where a database of either kind is, filled."""
    made = []

    def new(kind):
        location = str(tmp_path / f"{len(made)}.db") if kind == "sqlite" else server().new_database(has_schema=True)
        made.append(location)
        filled(location)
        return location

    yield new
    for location in made:
        if location.startswith("postgresql"):
            server().drop_database(location)


def filled(location):
    """Turns of two sessions, a fact and a rule; always under the same ids."""
    turns = [
        episode(
            said(number),
            id=f"00000000-0000-7000-8000-{number:012}",
            agent=AGENT,
            scope=AGENT,
            session=f"s{number % 2}",
            created_at=NOON + timedelta(minutes=number),
        )
        for number in range(TURNS)
    ]
    known = [fact("Porto", id=KNOWN, agent=AGENT), rule("Ask first.", id=RULE, agent=AGENT)]
    with closing(open_verbs(location)) as store:
        store.put(Act(caller=CALLER, at=NOON + timedelta(hours=1)), [*turns, *known])


def finish(store, at):
    """Whatever is left is learned by another worker, once no lease is in the way."""
    while store.pending_sessions(CALLER, at):
        batch = store.claim(Act(caller=CALLER, at=at), claim_of("the next"))
        assert store.carry_out(Act(caller=CALLER, at=at), batch.run.id, plan_of(batch), {}) is not None


def outcome(location):
    """What was learned and how it is found; not when, and by which run."""
    with closing(open_verbs(location)) as store:
        found = store.recent(request(CALLER, datetime.now(UTC), include_inactive=True), 1_000)
        told = store.events(CALLER)
        return {
            "turns": sorted((m.id, m.consolidation_status) for m in _all(found, Episode)),
            "facts": sorted((m.id, m.content, m.validity, m.supersedes_id, m.confidence) for m in _all(found, Fact)),
            "rules": [(m.id, m.last_confirmed_at is not None) for m in _all(found, Rule)],
            "links": sorted(
                (each.source_id, each.target_id, each.relation, each.weight)
                for memory in found
                for each in store.links(CALLER, memory.id, direction="outgoing")
            ),
            "events": sorted((e.memory_id, e.event_type) for e in told if not e.event_type.startswith(_OF_WORKERS)),
            "words": [keyword(store, word, asked=request(CALLER)) for word in ("harbour", "porto", "town2")],
            "sessions": [store.is_session_consolidated(CALLER, session, datetime.now(UTC)) for session in ("s0", "s1")],
            "problems": store.health().problems,
        }


# Who was killed leaves an attempt behind, which is no part of what was learned.
_OF_WORKERS = ("run_", "episode_consolidation_failed")


def _all(memories, kind):
    return [each for each in memories if isinstance(each, kind)]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A filled file that nobody has learned from yet, and what comes of it where nobody is killed."""
    folder = tmp_path_factory.mktemp("untouched")
    filled(str(folder / "memory.db"))
    shutil.copy(folder / "memory.db", folder / "copy.db")
    with closing(open_verbs(str(folder / "copy.db"))) as store:
        finish(store, datetime.now(UTC))
    return folder / "memory.db", outcome(str(folder / "copy.db"))


@pytest.mark.req("N03", "N15", "N16")
@pytest.mark.parametrize("seed", range(20))
def test_a_worker_that_was_killed_is_followed_by_another_with_the_same_outcome(tmp_path, untouched, seed):
    source, expected = untouched
    path = tmp_path / "memory.db"
    shutil.copy(source, path)
    count = random.Random(f"learn {seed}").randint(1_500, STEPS)
    with Child("learn", path, "the first", count) as child:
        lines = child.rest()
    assert ["over"] not in lines
    with closing(open_verbs(str(path))) as store:
        running = [run for run in store.runs(CALLER) if run.status == "running"]
        assert len(running) <= 1
        if running:
            assert store.claim(Act(caller=CALLER, at=datetime.now(UTC)), claim_of("too soon")) is None
        finish(store, datetime.now(UTC) + timedelta(hours=1))
        statuses = [run.status for run in store.runs(CALLER)]
        assert statuses.count("abandoned") == len(running)
        assert {*statuses} <= {"done", "abandoned"}
        held = store.get(CALLER, [id_ for run in running for id_ in run.episode_ids])
        assert {turn.consolidation_attempts for turn in held} <= {1}
    assert outcome(str(path)) == expected


@pytest.mark.req("N15", "N16")
@pytest.mark.parametrize("claims", [1, 2, 3])
def test_on_postgresql_too(place, untouched, claims):
    """Killed once it has said that it claimed: between that and the commit of what it learned, or just after."""
    location = place("postgres")
    with Child("learn", location, "the first", 0) as child:
        told = [child.told() for _ in range(2 * claims - 1)]
        child.kill()
    assert told[-1][0] == "claimed"
    with closing(open_verbs(location)) as store:
        finish(store, datetime.now(UTC) + timedelta(hours=1))
    assert {**outcome(location), "words": []} == {**untouched[1], "words": []}
    with closing(open_verbs(location)) as store:
        found = [keyword(store, word, asked=request(CALLER)) for word in ("harbour", "porto", "town2")]
    assert [each.keys() for each in found] == [each.keys() for each in untouched[1]["words"]]


@pytest.mark.req("N03", "N16")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_workers_at_once_learn_from_each_turn_once(place, untouched, kind):
    location = place(kind)
    with ExitStack() as stack:
        children = [stack.enter_context(Child("learn", location, name, 0)) for name in ("one", "two", "three")]
        lines = [child.rest() for child in children]
    assert [each[-1] for each in lines] == [["over"]] * 3
    told = [line for each in lines for line in each]
    claimed = [id_ for line in told if line[0] == "claimed" for id_ in line[2:]]
    assert len(claimed) == len(set(claimed)) == TURNS
    assert "lost" not in {line[0] for line in told}
    assert {**outcome(location), "words": []} == {**untouched[1], "words": []}


@pytest.mark.req("N15")
def test_a_batch_that_kills_its_workers_is_divided_and_then_given_up(tmp_path):
    """The first turn is the deadly one: each worker is killed in the middle, and none can say so."""
    path = str(tmp_path / "memory.db")
    turns = [
        episode(said(number), agent=AGENT, scope=AGENT, created_at=NOON + timedelta(minutes=number))
        for number in range(2)
    ]
    with closing(open_verbs(path)) as store:
        store.put(Act(caller=CALLER, at=NOON + timedelta(hours=1)), turns)
    asked = []
    for hours in range(3):
        with Child("stuck", path, hours) as child:
            asked.append(child.told())
    assert asked == [["0", "1"], ["0"], ["0"]]
    llm = LLM([NOTHING])
    settings = load({"consolidation": {"batch": 2, "max_attempts": 3}})
    at = datetime.now(UTC) + timedelta(hours=3)
    with Memory(open_store(path), llm=llm, settings=settings, clock=lambda: at) as memory:
        report = memory.consolidate()
        assert (report.episodes, report.failures, len(llm.prompts)) == (1, (), 1)
        ana = memory.agent(AGENT)
        first, second = (ana.get(turn.id) for turn in turns)
        assert (first.consolidation_status, first.consolidation_attempts) == ("dead_letter", 3)
        assert first.last_consolidation_error == WORKER_GONE
        assert (second.consolidation_status, second.consolidation_attempts) == ("consolidated", 1)
        assert memory.consolidate().batches == 0
        assert ana.stats().episodes.given_up == 1
        last = next(run for run in memory.runs(AGENT) if run.status == "abandoned")
        assert last.error == WORKER_GONE
        memory.undo(last.id, agent=AGENT)
        assert ana.stats().episodes.given_up == 0
        assert ana.get(first.id).consolidation_status == "pending"
