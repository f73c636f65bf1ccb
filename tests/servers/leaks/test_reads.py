"""Nobody is told anything of a tenant or scope that is not his own, whatever he asks and however he asks it."""

import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass
from datetime import timedelta

import pytest

import engrain.storage
from engrain.domain.records import KINDS, Caller
from engrain.storage.postgres.backend import PostgresBackend
from engrain.storage.reports import seals
from engrain.storage.sqlite.backend import SqliteBackend
from engrain.storage.transaction import for_every_user
from engrain.storage.write import event_removal
from tests.servers.leaks.hearing import Refs, said, secrets_in, strangers_in
from tests.servers.leaks.store_probes import (
    READS,
    SEARCHES,
    WRITES,
    Reader,
    answers_in_one_snapshot,
    describe_answers,
    reads_on,
)
from tests.servers.leaks.world import CANARY, Change, World, canary_of, live, sees
from tests.servers.leaks.worlds import make_world
from tests.support import one_call

SEEDS = range(2)
MOST_CALLERS = 3


@dataclass(frozen=True)
class Heard:
    """What some callers of a world were answered, by verb and question."""

    world: World
    refs: Refs
    answers: dict[Caller, dict[str, list[tuple[str, object]]]]


@pytest.fixture(scope="module", params=SEEDS)
def heard(backend, request):
    world = make_world(request.param)
    with backend.fresh() as store:
        refs = live(store, world)
        readers = [Reader(store, caller, world, refs) for caller in world.some_callers(MOST_CALLERS)]
        verbs_ = reads_on(backend)
        # One caller of one world asks each question in a transaction of its own, others all of a verb: half the cost.
        alone = world.some_callers(2)[-1] if request.param == SEEDS[0] else None
        answers = {}
        for reader in readers:
            ask = _ask_one_by_one if reader.caller == alone else answers_in_one_snapshot
            answers[reader.caller] = {verb: ask(reader, probe) for verb, probe in verbs_.items()}
    return Heard(world, refs, answers)


def _ask_one_by_one(reader, probe):
    return list(probe(reader))


def test_every_verb_of_a_store_is_asked():
    of_callers = {
        *one_call.READS,
        *one_call.SEARCHES,
        *one_call.WRITES,
        "put",
        "speakers",
        "pools",
        "pools_of",
        "in_one_snapshot",
    }
    assert of_callers == {*READS, *WRITES}, "probe the new verb: tests/servers/leaks/store_probes.py"


# These serve other functions of storage, inside whose answers they are asked about.
_WITHIN = frozenset(
    "compile_request search_keywords find_nearest collect_enough filter_docs find_few load_inactive load_search_space "
    "load_caller_space has_waiting load_visible find_slot expand_subjects count_confirmations start_search "
    "find_removal".split()
)

# These read a whole tenant for its admin, whose test is below.
_OF_A_TENANT = {
    "iterate_events",
    "verify_events",
    "load_sealed",
    "compare_events",
    "has_removable",
    "count_removable",
}


def test_every_function_that_reads_for_a_caller_is_a_verb():
    """Or nobody would ask whether it tells one caller of what is another's."""
    asked = {work.__name__ for work in (*one_call.READS.values(), *one_call.SEARCHES.values())}
    asked |= {"list_pools", "list_speakers", "load_traits"}
    reading = set()
    for found in pkgutil.walk_packages(engrain.storage.__path__, "engrain.storage."):
        if ".versions." not in found.name:
            functions = vars(importlib.import_module(found.name)).values()
            reading |= {
                function.__name__
                for function in functions
                if inspect.isfunction(function)
                and function.__module__ == found.name
                and function.__annotations__.get("snapshot") == "Snapshot"
                and not function.__name__.startswith("_")
            }
    assert reading - asked == _WITHIN | _OF_A_TENANT, "probe the new verb: tests/support/one_call.py"


@pytest.mark.req("B29.2", "N12")
def test_the_audit_log_of_a_tenant_holds_nothing_of_another(backend):
    with backend.fresh() as store:
        world = make_world(0)
        refs = live(store, world)
        for tenant in {caller.tenant_id for caller in world.callers}:
            reader = Caller(tenant_id=tenant, agent="default")
            found = store.read(reader, for_every_user(lambda snapshot: list(seals.iterate_events(snapshot))))
            verified = store.read(reader, seals.verify_events, b"a key of the installation", head=None)
            written = {canary_of(memory) for memory in world.memories if memory.tenant_id == tenant}
            text = said(found, refs)
            assert found
            assert {event.tenant_id for event in found} == {tenant}
            assert not {*CANARY.findall(text)} & ({canary_of(each) for each in world.memories} - written)
            assert (verified.unsealed, verified.is_whole) == (len(found), True)
            now = max(event.created_at for event in found) + timedelta(days=1)
            removable = [event for event in found if event_removal.is_removable(event, now)]
            assert store.read(reader, event_removal.count_removable, now) == len(removable) > 0
            assert store.read(reader, event_removal.has_removable, now)


@pytest.mark.parametrize("kind", [SqliteBackend, PostgresBackend])
def test_the_ways_to_search_are_those_of_the_verbs_that_search(kind):
    """Nothing else that answers knows of them, so that nothing else need be asked of a store for each of them."""
    ways = re.compile(r"self\._(narrow|read_all|scan_all)\b")
    methods = inspect.getmembers(kind, inspect.isfunction)
    knowing = {name for name, method in methods if ways.search(inspect.getsource(method))}
    writing = {"new_index", "attach_vectors", "restore"}
    assert knowing - writing == {"__init__", "search_words", "search_vectors"}
    assert {"keyword", "nearest"} < {*SEARCHES}


@pytest.mark.req("B06.1", "B06.2", "B29.1", "B29.2", "N12")
def test_a_caller_is_told_nothing_of_what_it_may_not_see(heard):
    world, refs = heard.world, heard.refs
    for caller, verbs_ in heard.answers.items():
        for verb, answers in verbs_.items():
            for asked, answer in answers:
                leaked = secrets_in(said(answer, refs), world, caller), strangers_in(answer, caller)
                assert leaked == (set(), []), f"seed {world.seed}: {caller} asked {verb}({asked})"


@pytest.mark.req("B29.2", "N12")
def test_no_answer_depends_on_what_its_reader_may_not_see(heard, backend):
    """Not by a score, a count, an order, a threshold or an error: each would tell of what others remember.

    A caller hears the same, to the last digit, where nothing is that it may not see, and where that is something else.
    """
    world, caller = heard.world, heard.world.some_callers(2)[-1]
    told = describe_answers(heard.answers[caller], heard.refs)
    for happened in (world.as_known_to(caller), world.changed_behind(caller)):
        otherwise = _hear(backend, happened, caller, asked_of=world)
        for asked, answer in told.items():
            assert otherwise[asked] == answer, f"seed {world.seed}: {caller} asked {asked}"


def _hear(backend, happened, caller, *, asked_of):
    """Every answer in one world, to questions made of the names in another."""
    with backend.fresh() as store:
        refs = live(store, happened)
        reader = Reader(store, caller, asked_of, refs)
        heard = {verb: answers_in_one_snapshot(reader, probe) for verb, probe in reads_on(backend).items()}
        return describe_answers(heard, refs)


@pytest.mark.req("B06.3", "N12")
def test_a_caller_finds_all_that_it_may_see(heard):
    """Or the wall would be easy to keep."""
    for caller, answers in heard.answers.items():
        seen = {canary_of(memory) for memory in heard.world.seen_by(caller)}
        for verb in ("get", "recent", "load"):
            found = {canary for _, answer in answers[verb] for canary in _contents(answer)}
            assert found == seen, f"seed {heard.world.seed}: {caller} asked {verb}"


def test_every_verb_tells_somebody_something(heard, backend):
    """A probe that gets no answer would hold no leak either."""
    answered = {
        verb
        for answers in heard.answers.values()
        for verb, found in answers.items()
        if any(answer for _, answer in found)
    }
    changes = [step for step in heard.world.steps if isinstance(step, Change)]
    for verb, name, kinds in (("erase", "find_erased", KINDS), ("forget", "load_forgotten", ("fact", "rule"))):
        gone = [step.memory for step in changes if step.verb == verb and step.memory.kind in kinds]
        if not any(sees(caller, memory) for caller in heard.answers for memory in gone):
            answered.add(name)  # of which only some worlds have any
    assert answered >= {*reads_on(backend)}, f"seed {heard.world.seed}"


def _contents(answer):
    memories = answer.values() if isinstance(answer, dict) else answer
    return [canary_of(memory) for memory in memories]
