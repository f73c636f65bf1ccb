"""What stands in the table of sessions: since when each is known, and since when none of its episodes waits."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from engrain.domain.runs.plans import Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from tests.support.backups import every_row
from tests.support.one_call import OneCall
from tests.support.sample_records import NOON, act, episode
from tests.support.schemas import DATABASES
from tests.support.store_samples import conversation, flush_index, put
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

NIGHT = NOON + timedelta(days=1)


@pytest.fixture(params=DATABASES)
def store(request) -> Iterator[OneCall]:
    """A fresh store in a database of either kind."""
    opened = fresh_store() if request.param == "postgres" else closing(SqliteStore(":memory:"))
    with opened as made:
        yield made


def claim(store, limit=50):
    return store.claim(act(NIGHT), Claim(kind="consolidation", worker="w", lease_s=60, limit=limit))


def consolidate(store, limit=50):
    batch = claim(store, limit)
    store.carry_out(act(NIGHT), batch.run.id, Plan(episode_ids=batch.run.episode_ids), {})
    return batch.run.id


def done(store):
    """Since when each session in which nothing waits is done with, and since when it is known."""
    rows = every_row(store)["sessions_consolidations"]
    return {row["session"]: (row["first_seen_at"], row["consolidated_at"]) for row in rows}


SINCE = {"monday": (NOON.isoformat(), NIGHT.isoformat())}


@pytest.mark.req("Y05")
@pytest.mark.parametrize("settles", [True, False])
def test_a_session_is_done_with_its_last_episode_and_begins_again_with_a_new_one(store, settles):
    put(store, [episode("Later.", session="monday", created_at=NOON + timedelta(hours=1))])
    put(store, [episode("One.", session="monday")])
    if settles:
        flush_index(store)
    consolidate(store, limit=1)
    assert done(store) == {}
    consolidate(store)
    assert done(store) == SINCE
    flush_index(store)
    assert done(store) == SINCE
    put(store, [episode("An import.", session="monday", consolidation_status="consolidated")])
    flush_index(store)
    assert done(store) == SINCE
    put(store, [episode("Three.", session="monday")])
    assert done(store) == {}
    consolidate(store)
    assert done(store) == SINCE
    put(store, conversation("Four.", "Five.", session="monday"))
    assert done(store) == {}


@pytest.mark.req("Y05")
def test_a_session_waits_again_when_its_run_is_undone(store):
    put(store, conversation("One.", "Two."))
    run_id = consolidate(store)
    assert done(store) == SINCE
    store.undo(act(NIGHT), run_id)
    assert done(store) == {}


def test_a_session_whose_episodes_failed_for_good_waits_no_more(store):
    put(store, conversation("One.", "Two."))
    store.give_up(act(NIGHT), claim(store).run.id, "broken", Retry(first_pause_s=60))
    assert done(store) == {}
    later = act(NIGHT + timedelta(minutes=2))
    batch = store.claim(later, Claim(kind="consolidation", worker="w", lease_s=60))
    store.give_up(later, batch.run.id, "broken", Retry(is_final=True))
    assert set(done(store)) == {"monday"}
