import re
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path

import pytest

from engrain import metrics
from engrain.service import Memory
from engrain.storage import open_store
from engrain.verbs.table import VERBS
from tests.support.races import run_together

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def name():
    """A counter nobody else counts on: they belong to the process."""
    return f"test_{uuid.uuid4().hex}"


def test_a_counter_counts_from_nothing(name):
    assert name not in metrics.snapshot()
    metrics.count(name)
    metrics.count(name, 4)
    assert metrics.snapshot()[name] == 5


def test_no_count_is_lost_between_threads(name):
    def count(_):
        for _ in range(2_000):
            metrics.count(name)

    run_together(count, range(4))
    assert metrics.snapshot()[name] == 8_000


def test_a_timer_counts_its_blocks_and_adds_up_their_seconds(name):
    with metrics.timed(name):
        first = metrics.snapshot().get(f"{name}_total")
    once = metrics.snapshot()[f"{name}_total"]
    with metrics.timed(name):
        pass
    after = metrics.snapshot()
    assert first is None
    assert after[name] == 2
    assert after[f"{name}_total"] >= once >= 0


def test_a_block_that_fails_is_timed_too(name):
    def failing():
        with metrics.timed(name):
            raise KeyError(name)

    with pytest.raises(KeyError):
        failing()
    assert metrics.snapshot()[name] == 1


def test_a_snapshot_does_not_change_afterwards(name):
    before = metrics.snapshot()
    metrics.count(name)
    assert name not in before


def family(name):
    return next((each for each in metrics.families() if each.name == name), None)


def test_labels_keep_what_they_name_apart(name):
    metrics.count(name, verb="recall")
    metrics.count(name, 2, verb="observe")
    found = {sample.labels: sample.value for sample in family(name).samples}
    assert found == {(("verb", "recall"),): 1, (("verb", "observe"),): 2}
    assert metrics.snapshot()[f'{name}{{verb="observe"}}'] == 2


def test_a_duration_falls_into_the_bucket_of_its_upper_bound(name):
    series = metrics.durations(name, verb="recall")
    for seconds in (0.0005, 0.00051, 0.7, 1_000.0):
        series.add(seconds)
    [sample] = family(name).samples
    counted = dict(zip((*metrics.BOUNDS, None), sample.buckets, strict=True))
    assert {bound: count for bound, count in counted.items() if count} == {0.0005: 1, 0.001: 1, 1.0: 1, None: 1}
    assert (sample.count, sample.value) == (4, pytest.approx(1000.70101))


def test_what_is_taken_does_not_change_afterwards(name):
    metrics.durations(name).add(1)
    before = family(name)
    metrics.durations(name).add(1)
    assert before.samples[0].count == 1


@pytest.mark.req("G19")
def test_storing_and_retrieving_have_durations_of_their_own():
    before = metrics.snapshot()
    for name in ("store_seconds", "recall_seconds"):
        for outcome in ("ok", "empty"):
            metrics.durations("verb_seconds", sum_into=name, verb=name, outcome=outcome).add(0.25)
    metrics.durations("verb_seconds", verb="stats", outcome="ok").add(0.25)
    gained = {name: metrics.snapshot()[name] - before.get(name, 0) for name in ("store_seconds", "recall_seconds")}
    assert gained == {"store_seconds": 2, "recall_seconds": 2}
    gained = metrics.snapshot()["recall_seconds_total"] - before.get("recall_seconds_total", 0)
    assert gained == pytest.approx(0.5)


def test_a_verb_counts_as_storing_or_retrieving_by_its_row():
    timers = {verb.name: verb for verb in VERBS if verb.timer}
    assert {verb.effect for verb in timers.values() if verb.timer == "recall_seconds"} == {"reads"}
    assert "reads" not in {verb.effect for verb in timers.values() if verb.timer == "store_seconds"}
    before = metrics.snapshot()
    with Memory(open_store(":memory:")) as memory:
        memory.agent("ana").observe("A turn")
        memory.agent("ana").recall("turn")
        memory.agent("ana").stats()
    after = metrics.snapshot()
    assert {name: after[name] - before.get(name, 0) for name in ("store_seconds", "recall_seconds")} == {
        "store_seconds": 1,
        "recall_seconds": 1,
    }


@pytest.mark.req("G19")
def test_the_hit_rate_is_the_share_of_retrievals_that_found_something():
    script = (
        "from engrain import metrics\n"
        "assert metrics.hit_rate() is None\n"
        "def took(outcome, timer):\n"
        "    metrics.durations('verb_seconds', sum_into=timer, verb=str(timer), outcome=outcome).add(0.1)\n"
        "for outcome in ('ok', 'ok', 'ok', 'empty', 'invalid_input'): took(outcome, 'recall_seconds')\n"
        "took('empty', None); took('ok', 'store_seconds')\n"
        "assert metrics.hit_rate() == 0.75\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_is_counted_is_explained_and_what_is_explained_is_counted():
    """A name that is passed on is a text somewhere else."""
    sources = [path.read_text(encoding="utf-8") for path in (SOURCE / "engrain").rglob("*.py")]
    named = {how: set() for how in ("count", "timed", "durations")}
    for how, name in re.findall(r'metrics\.(count|timed|durations)\(\s*"(\w+)"', "\n".join(sources)):
        named[how].add(name)
    assert named["count"] <= set(metrics.COUNTERS)
    assert named["timed"] | named["durations"] <= set(metrics.HISTOGRAMS)
    texts = Counter(re.findall(r'"(\w+)"', "\n".join(sources)))
    assert [name for name in (*metrics.COUNTERS, *metrics.HISTOGRAMS) if texts[name] < 2] == []
