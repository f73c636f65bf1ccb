"""Statements in parts, as a cluster runs them: on one server they do what the whole ones do.

Some tests of the conformance suite, on such a store. `make test-citus` runs the whole suite on a cluster.
"""

from dataclasses import replace

import pytest

from engrain.storage.postgres.citus import distribution
from engrain.storage.postgres.citus.statements import CITUS_STATEMENTS
from engrain.storage.postgres.statements import STATEMENTS
from tests.servers.conformance import test_store_erase as erase
from tests.servers.conformance import test_store_jobs as jobs
from tests.servers.conformance import test_store_put as put
from tests.servers.conformance import test_store_runs as runs
from tests.servers.conformance import test_store_undo as undo
from tests.servers.conformance import test_store_versions as versions
from tests.support.postgres import server
from tests.support.stores import PostgresStore
from tests.support.wiped import fresh_store

# What asks the nodes of a cluster.
_OF_CLUSTERS = ("size",)
_SUITE = (
    lambda store: erase.test_what_is_told_of_an_erased_memory_is_that_it_was_and_a_digest(store, "episode"),
    jobs.test_old_jobs_are_removed_but_never_the_last_firing_of_a_schedule,
    put.test_turns_count_up_in_each_session_of_each_scope_and_tenant,
    put.test_several_turns_lend_each_other_their_words_at_once,
    put.test_a_forgotten_turn_keeps_its_number,
    runs.test_what_killed_its_workers_can_be_tried_once_more_by_hand,
    undo.test_what_somebody_withdrew_since_stays_so_and_what_it_superseded_comes_back,
    versions.test_searches_are_served_from_the_old_vectors_until_the_switch_and_from_the_new_after,
    versions.test_vectors_of_retired_versions_are_removed_bit_by_bit_and_no_others,
)


@pytest.fixture(scope="module")
def ran():
    """The names of the statements that were run in parts."""
    return set()


@pytest.mark.parametrize("test", _SUITE, ids=lambda test: test.__name__)
@pytest.mark.parametrize("sizes", [{}, {"narrow": 0, "read_all": 0, "scan_all": 0}], ids=["small", "large"])
def test_in_parts_the_suite_holds(test, sizes, ran):
    def noted(name, compose):
        def run(tx, **values):
            ran.add(name)
            return compose(tx, **values)

        return run

    named = CITUS_STATEMENTS.named.spell_all() | {name: STATEMENTS.named[name] for name in _OF_CLUSTERS}
    composed = {name: noted(name, compose) for name, compose in CITUS_STATEMENTS.composed.items()}
    with fresh_store(**sizes) as store:
        store.store.backend.statements = replace(CITUS_STATEMENTS, named=named, composed=composed)
        test(store)
        assert store.health().problems == ()


def test_every_statement_in_parts_was_run(ran):
    assert CITUS_STATEMENTS.composed.keys() - ran <= {"remove_vectors", "along_indexes"}


def test_plain_postgres_is_no_cluster():
    url = server().new_database(has_schema=True)
    store = PostgresStore(url)
    assert store._connections.read(None, distribution.count_nodes) == 0
    assert not store._connections.is_cluster
    store.close()
