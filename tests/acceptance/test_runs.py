"""Workers as processes of their own: no turn is learned from twice, and one that is killed leaves nothing half done."""

import random
import shutil
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta

import pytest

from engrain.domain.records import Caller, Episode, Fact, Rule
from engrain.domain.requests import Act
from engrain.storage import open_store
from tests.acceptance.children import AGENT, KNOWN, RULE, Child, claim_of, plan_of, said
from tests.sample_records import NOON, episode, fact, request, rule
from tests.servers.postgres import server
from tests.store_samples import keyword

CALLER = Caller(agent=AGENT)
TURNS = 8  # three runs
STEPS = 27_000  # of the 29,000 that three runs take


@pytest.fixture
def place(tmp_path):
    """Where a database of either kind is, filled."""
    made = []

    def new(kind):
        location = str(tmp_path / f"{len(made)}.db") if kind == "sqlite" else server().new_database()
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
    with closing(open_store(location)) as store:
        store.put(Act(caller=CALLER, at=NOON + timedelta(hours=1)), [*turns, *known])


def finish(store, at):
    """Whatever is left is learned by another worker, once no lease is in the way."""
    while store.pending_sessions(CALLER, at):
        batch = store.claim(Act(caller=CALLER, at=at), claim_of("the next"))
        assert store.carry_out(Act(caller=CALLER, at=at), batch.run.id, plan_of(batch), {}) is not None


def outcome(location):
    """What was learned and how it is found; not when, and by which run."""
    with closing(open_store(location)) as store:
        found = store.recent(request(CALLER, datetime.now(UTC), include_inactive=True), 1_000)
        told = store.events(CALLER)
        return {
            "turns": sorted((m.id, m.consolidation_status, m.consolidation_attempts) for m in _all(found, Episode)),
            "facts": sorted((m.id, m.content, m.validity, m.supersedes_id, m.confidence) for m in _all(found, Fact)),
            "rules": [(m.id, m.last_confirmed_at is not None) for m in _all(found, Rule)],
            "links": sorted(
                (each.source_id, each.target_id, each.relation, each.weight)
                for memory in found
                for each in store.links(CALLER, memory.id, direction="outgoing")
            ),
            "events": sorted((e.memory_id, e.event_type) for e in told if not e.event_type.startswith("run_")),
            "words": [keyword(store, word, asked=request(CALLER)) for word in ("harbour", "porto", "town2")],
            "sessions": [store.is_session_consolidated(CALLER, session, datetime.now(UTC)) for session in ("s0", "s1")],
            "problems": store.health().problems,
        }


def _all(memories, kind):
    return [each for each in memories if isinstance(each, kind)]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A filled file that nobody has learned from yet, and what comes of it where nobody is killed."""
    folder = tmp_path_factory.mktemp("untouched")
    filled(str(folder / "memory.db"))
    shutil.copy(folder / "memory.db", folder / "copy.db")
    with closing(open_store(str(folder / "copy.db"))) as store:
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
    with closing(open_store(str(path))) as store:
        running = [run for run in store.runs(CALLER) if run.status == "running"]
        assert len(running) <= 1
        if running:
            assert store.claim(Act(caller=CALLER, at=datetime.now(UTC)), claim_of("too soon")) is None
        finish(store, datetime.now(UTC) + timedelta(hours=1))
        statuses = [run.status for run in store.runs(CALLER)]
        assert statuses.count("abandoned") == len(running)
        assert {*statuses} <= {"done", "abandoned"}
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
    with closing(open_store(location)) as store:
        finish(store, datetime.now(UTC) + timedelta(hours=1))
    assert {**outcome(location), "words": []} == {**untouched[1], "words": []}
    with closing(open_store(location)) as store:
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
