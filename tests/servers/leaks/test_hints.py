"""What a caller is told is the same, to the last digit, whatever there is that it may not see."""

import pytest

from tests.servers.leaks.store_probes import Reader, all_said, reads_on
from tests.servers.leaks.world import live
from tests.servers.leaks.worlds import make_world

SEEDS = range(3)


@pytest.mark.req("B29.2", "N12")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_answer_depends_on_what_its_reader_may_not_see(backend, seed):
    """Not by a score, a count, an order, a threshold or an error: each would tell of what others remember."""
    world = make_world(seed)
    caller = world.some_callers(2)[-1]
    alone, changed = world.as_known_to(caller), world.changed_behind(caller)
    heard = [_heard(backend, happened, caller, asked_of=world) for happened in (world, alone, changed)]
    for asked, answer in heard[0].items():
        assert [each[asked] for each in heard[1:]] == [answer] * 2, f"seed {seed}: {caller} asked {asked}"


def _heard(backend, happened, caller, *, asked_of):
    """Every answer in one world, to questions made of the names in another.

    All in one snapshot, which spares the 1,500 transactions that test_reads asks in.
    """
    verbs = reads_on(backend)
    snapshot = {"in_one_snapshot": verbs["in_one_snapshot"]}
    alone = {verb: probe for verb, probe in verbs.items() if verb not in snapshot}
    with backend.fresh() as store:
        reader = Reader(store, caller, asked_of, live(store, happened))
        return all_said(reader, snapshot) | store.in_one_snapshot(caller, lambda: all_said(reader, alone))
