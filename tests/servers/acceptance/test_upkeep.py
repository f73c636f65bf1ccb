"""Memories age and rules learn through the facade and the command line, in one process and in several."""

import os
import subprocess
import sys
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from engrain import InvalidInput, Memory, NotFound
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.rules.maturity import OUTCOMES
from tests.support.one_call import OneCall
from tests.support.sample_records import CALLER, NOON, act, episode, fact, rule
from tests.support.stores import open_verbs

DAY = timedelta(days=1)


class Days:
    """A clock that a test winds."""

    def __init__(self):
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now

    def wait(self, days):
        self.now += days * DAY


@pytest.fixture
def clock():
    return Days()


@pytest.fixture
def memory(clock):
    with Memory.open(":memory:", embedder="none", clock=clock) as memory:
        yield memory


@pytest.fixture
def ana(memory):
    return memory.agent("ana")


@pytest.mark.req("B02.1", "B02.4", "B02.5", "N17")
def test_a_fact_fades_and_expires_unless_somebody_confirms_it(memory, ana, clock):
    first, second = (ana.remember("tea", subject=name, predicate="likes", permanence="volatile") for name in ("A", "B"))
    assert (first.state, first.validity) == ("active", "active")
    clock.wait(60)
    assert memory.decay(dry_run=True).facts.fading == 2
    assert ana.get(first.id).state == "active"
    assert memory.decay().facts.fading == 2
    assert memory.decay().facts.fading == 0
    assert (ana.get(first.id).state, len(ana.recall("tea"))) == ("fading", 2)
    assert ana.confirm(second.id).state == "active"
    clock.wait(60)
    report = memory.decay()
    assert (report.facts.looked_at, report.facts.expired, report.facts.fading) == (2, 1, 1)
    assert ana.get(first.id).state == "expired"
    assert [hit.memory.id for hit in ana.recall("tea")] == [second.id]
    assert [each.event_type for each in ana.events(first.id)] == ["fact_expired", "fact_fading", "fact_created"]


def test_a_status_of_the_host_outlives_decay_and_confirmation(memory, ana, clock):
    told = {"subject": "Ana", "predicate": "works at", "permanence": "ephemeral", "metadata": {"status": "draft"}}
    made = ana.remember("Acme", **told)
    clock.wait(20)
    assert memory.decay().facts.fading == 1
    assert ana.get(made.id).state == "fading"
    assert ana.remember("Acme", **told).id == made.id  # says nothing new, and so confirms it
    again = ana.get(made.id)
    assert (again.state, again.metadata) == ("active", {"status": "draft"})


@pytest.mark.req("B09.3")
def test_a_rule_that_nobody_confirms_is_forgotten(memory, ana, clock):
    made = ana.rules.add("Book early.")
    clock.wait(240)
    assert memory.decay().rules.expired == 1
    assert ana.get(made.id).metadata["forgotten"] is True
    assert len(ana.recall("book")) == 0
    with pytest.raises(InvalidInput, match="forgotten"):
        ana.rules.mark_helpful(made.id)


@pytest.mark.req("Y11")
def test_by_access_a_fact_that_is_used_does_not_expire(clock):
    with Memory.open(":memory:", embedder="none", clock=clock, settings={"decay": {"anchor": "access"}}) as memory:
        ana = memory.agent("ana")
        used, unused = (ana.remember("tea", subject=name, predicate="p", permanence="ephemeral") for name in "AB")
        clock.wait(29)
        ana.get(used.id)
        clock.wait(2)
        assert memory.decay().facts.expired == 1
        assert (ana.get(used.id).state, ana.get(unused.id).state) == ("active", "expired")


@pytest.mark.req("C08", "Y11")
@pytest.mark.parametrize("decay", [{"curve": "steps"}, {"anchor": "access"}, {}], ids=["steps", "access", "default"])
def test_searches_and_audits_judge_by_the_decay_that_the_sweep_follows(clock, decay):
    with Memory.open(":memory:", embedder="none", clock=clock, settings={"decay": decay}) as memory:
        ana = memory.agent("ana")
        tea = ana.remember("tea", subject="Ana", predicate="drinks", permanence="ephemeral")
        clock.wait(45)
        ana.get(tea.id)
        clock.wait(6)
        is_left = decay != {}
        assert memory.decay(dry_run=True).facts.expired == (not is_left)
        assert len(ana.recall("tea", min_confidence=0.5)) == is_left
        assert len(ana.recall("tea", preset="recall")) == is_left
        assert len(ana.recall("!!", min_confidence=0.5)) == is_left
        assert [each.kind for each in ana.audit(kinds=["stale"]).findings] == ([] if is_left else ["stale"])


def test_a_query_without_words_keeps_to_its_least_confidence(ana):
    sure = ana.remember("sure", subject="Ana", predicate="p0")
    for place in range(40):
        ana.remember("low", subject="Ana", predicate=f"q{place}", confidence=0.1)
    found = ana.recall("!!", limit=3, preset="hybrid", min_confidence=0.9)
    assert [hit.memory.id for hit in found] == [sure.id]
    assert len(ana.recall("!!", limit=3, preset="hybrid")) == 3


def test_thresholds_that_leave_nothing_to_fade_do_not_open():
    with pytest.raises(InvalidInput, match=r"decay.expired_below must be less than decay.fading_below"):
        Memory.open(":memory:", embedder="none", settings={"decay": {"fading_below": 0.05, "expired_below": 0.2}})


@pytest.mark.req("B03.1", "B03.5", "B21.1", "B21.2", "B21.3", "B30.1")
def test_rules_learn_from_what_came_of_them(ana):
    good, bad = ana.rules.add("Book late."), ana.rules.add("Book early.")
    for _ in range(5):
        found = ana.rules.mark_helpful(good.id)
    assert (found.maturity, found.effectiveness_score) == ("established", 1.0)
    for reason in (None, "Ana overslept", "no taxi"):
        found = ana.rules.mark_harmful(bad.id, reason)
    assert found.maturity == "anti_pattern"
    assert found.content.endswith("because: Ana overslept; no taxi")
    assert ana.recall("taxi overslept")[0].memory.id == bad.id
    assert [(each.outcome, each.context) for each in ana.rules.applications(bad.id)] == [
        ("harmful", "no taxi"),
        ("harmful", "Ana overslept"),
        ("harmful", None),
    ]
    assert ana.rules.applications(bad.id, limit=1)[0].to_dict()["context"] == "no taxi"


def test_a_mark_names_what_is_wrong_with_it(ana):
    turn = ana.observe("Hello.")
    with pytest.raises(NotFound, match="nothing"):
        ana.rules.mark_helpful("nothing")
    with pytest.raises(InvalidInput, match="only a rule can be marked harmful"):
        ana.rules.mark_harmful(turn.id)
    with pytest.raises(InvalidInput, match="reason is empty"):
        ana.rules.mark_harmful(ana.rules.add("Book early.").id, " ")


@pytest.mark.req("B15.1", "B15.2", "B15.3", "B32.2", "N04")
def test_a_cleanup_removes_what_ran_out_and_says_how_much(memory, ana, clock):
    gone = ana.observe("Short.", ttl_days=1)
    kept = ana.observe("Long.")
    clock.wait(2)
    planned = memory.cleanup(dry_run=True)
    report = memory.cleanup()
    assert planned.to_dict() == {**report.to_dict(), "dry_run": True}
    assert (report.expired_deleted, report.capacity_deleted, report.remaining) == (1, 0, 1)
    assert (ana.get(gone.id), ana.get(kept.id).id) == (None, kept.id)
    assert memory.cleanup(max_entries=0).remaining == 1
    with pytest.raises(InvalidInput, match="max_entries"):
        memory.cleanup(max_entries=-1)


@pytest.mark.req("B15.2")
def test_of_too_many_the_oldest_consolidated_go(memory):
    turns = [
        episode(f"Turn {place}.", created_at=NOON + place * DAY, consolidation_status=status)
        for place, status in enumerate(["pending", "consolidated", "consolidated", "consolidated"])
    ]
    OneCall(memory.parts.store).put(act(NOON), turns)
    assert memory.cleanup(max_entries=2).capacity_deleted == 2
    assert [each.id for each in OneCall(memory.parts.store).get(CALLER, [turn.id for turn in turns])] == [
        turns[0].id,
        turns[3].id,
    ]


@pytest.mark.req("N12")
def test_one_tenant_is_swept_or_all_of_them(memory, clock):
    for tenant in ("one", "two"):
        memory.agent("ana", tenant=tenant).remember("tea", subject="A", predicate="p", permanence="ephemeral")
    clock.wait(99)
    report = memory.decay("one")
    assert (report.tenants, report.facts.expired) == (1, 1)
    report = memory.decay()
    assert (report.tenants, report.facts.expired) == (2, 1)


def test_a_sweep_tells_how_far_it_is(memory, ana):
    ana.remember("tea", subject="A", predicate="p")
    told = []
    memory.decay(progress=told.append)
    assert sum(told) == 1


def test_the_command_line_sweeps_cleans_and_marks(cli, monkeypatch):
    made = cli("rules", "add", "Book early.", "--json").json
    assert cli("rules", "helpful", made["id"], "--json").json["success_count"] == 1
    ran = cli("rules", "harmful", made["id"], "--reason", "no taxi")
    assert ran.out.startswith("candidate (effectiveness 0.20: helped 1 of 2 times, harmed 1): Book early.")
    assert cli("decay", "--dry-run", "--json").json == {
        "tenants": 1,
        "facts": {"looked_at": 0, "fading": 0, "recovered": 0, "expired": 0},
        "rules": {"looked_at": 1, "fading": 0, "recovered": 0, "expired": 0},
        "dry_run": True,
    }
    assert "rules: 1 looked at" in cli("decay").out
    cli("observe", "Hello.")
    cleaned = cli("--tenant", "default", "cleanup", "--max-entries", "5", "--json").json
    assert (cleaned["expired_deleted"], cleaned["capacity_deleted"], cleaned["remaining"]) == (0, 0, 1)
    assert cli("cleanup").out.strip() == "removed 0 episodes that ran out and 0 of too many; 1 remain"
    monkeypatch.setenv("ENGRAIN_CLEANUP__FACT_DAYS", "1e-9")
    cli("forget", cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in", "--json").json["id"])
    assert cli("cleanup").out.splitlines()[1:] == ["removed 1 fact and 0 rules that ended"]
    assert cli("rules", "harmful", "nothing").code != 0


_CHILD = """
import sys
from datetime import timedelta
from engrain.storage import open_store
from engrain.storage.write.changes import mark
from tests.support.sample_records import NOON, act
store = open_store(sys.stdin.readline().strip(), busy_timeout_s=60)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    store.write(act(NOON + timedelta(days=1)), mark, sys.argv[1], sys.argv[2])
store.close()
"""


@contextmanager
def marking(location, id_, outcome):
    """A process that waits for a word, then marks forty times."""
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, id_, outcome],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        child.stdin.write(f"{location}\n")
        child.stdin.flush()
        assert child.stdout.readline() == "ready\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def test_of_marks_that_meet_in_two_processes_none_is_lost(location):
    with closing(open_verbs(location)) as store:
        [stored] = store.put(act(), [rule("Book early.")])
        with marking(location, stored.id, OUTCOMES[0]) as one, marking(location, stored.id, OUTCOMES[1]) as other:
            for child in (one, other):
                child.stdin.write("go\n")
                child.stdin.flush()
            assert [child.wait(timeout=120) for child in (one, other)] == [0, 0]
        [found] = store.get(CALLER, [stored.id])
        assert (found.applied_count, found.success_count, found.harmful_count) == (80, 40, 40)
        assert len(store.applications(CALLER, stored.id, 100)) == 80


@pytest.mark.req("N04")
def test_two_sweeps_at_once_write_each_transition_once(location):
    """Whoever is second finds it done."""
    from concurrent.futures import ThreadPoolExecutor

    from engrain.domain.memories.decay import DecayPolicy

    long_ago = NOON - 99 * DAY
    made = [fact("x", predicate=str(place), decay_rate=0.1, last_confirmed_at=long_ago) for place in range(200)]
    with closing(open_verbs(location)) as one, closing(open_verbs(location)) as other:
        one.put(act(), made)
        upkeep = Act(caller=Caller(agent="upkeep"), at=NOON)

        def swept(store):
            return store.sweep(upkeep, "fact", DecayPolicy(), after="", limit=1_000).expired

        with ThreadPoolExecutor(2) as threads:
            counts = list(threads.map(swept, [one, other]))
        assert sum(counts) == len(made)
        assert len(one.events(CALLER, event_type="fact_expired")) == len(made)
        assert one.health(thorough=True).problems == ()
