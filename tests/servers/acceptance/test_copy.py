"""A memory moved between SQLite and PostgreSQL, in any direction: the same rows and answers, nothing embedded anew."""

import itertools
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from engrain import config
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.runs import Claim
from engrain.errors import InvalidInput
from engrain.portability.copies import copy
from engrain.service import Memory
from engrain.storage import open_store
from tests.support.backups import EXTRA_ROWS, add_rows, every_row, fill
from tests.support.children import Child, said
from tests.support.clock import Clock
from tests.support.engines import HashEmbedder
from tests.support.one_call import OneCall
from tests.support.postgres import server
from tests.support.sample_records import NOON, episode
from tests.support.stores import open_verbs

AGENTS = [("default", "ana"), ("default", "bruno"), ("acme", "ana")]
QUESTIONS = [said(3), "harbour of town2 Speaker1", "Where does Ana live?", "early flights on the river"]


@pytest.fixture
def place(tmp_path):
    """A new place for a database of a kind."""
    made = []

    def new(kind):
        if kind == "sqlite":
            return str(tmp_path / f"{len(list(tmp_path.iterdir()))}.db")
        made.append(server().new_database(has_schema=True))
        return made[-1]

    yield new
    for url in made:
        server().drop_database(url)


class Source:
    """A database with something in every table, and what to compare with."""

    def __init__(self, location, turns=40):
        self.location = location
        with memory_of(location) as memory:
            self.ids = [fill(memory, agent, tenant=tenant, turns=turns) for tenant, agent in AGENTS]
            memory.flush()
            add_rows(OneCall(memory.parts.store), EXTRA_ROWS)
            self.answers = answers(memory)

    def store(self):
        return closing(open_verbs(self.location))


def memory_of(location):
    return Memory(open_store(location), embedder=HashEmbedder(), settings=config.load({"embedding": {"wait_s": 60}}))


def answers(memory):
    """Ids and scores of many searches, by whom, what and how."""
    memory.flush()
    return {
        (tenant, name, question, preset, past): [
            (hit.memory.to_dict() | {"reference_count": 0, "last_referenced_at": None}, hit.score) for hit in answer
        ]
        for tenant, name in AGENTS
        for question in QUESTIONS
        for preset, past in (("engrain", False), ("semantic", False), ("engrain", True))
        for answer in [
            memory.agent(name, tenant=tenant).recall(question, limit=8, preset=preset, include_inactive=past)
        ]
    }


def same(one, other):
    assert one.keys() == other.keys()
    for key, hits in one.items():
        assert [memory for memory, _ in other[key]] == [memory for memory, _ in hits], key
        assert [score for _, score in other[key]] == pytest.approx([score for _, score in hits], abs=1e-6), key


@pytest.mark.req("N10")
@pytest.mark.parametrize("target_kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("source_kind", ["sqlite", "postgres"])
def test_a_copy_says_and_answers_the_same_and_goes_on_from_there(place, source_kind, target_kind):
    source, target = Source(place(source_kind)), place(target_kind)
    with source.store() as read, closing(open_verbs(target)) as written:
        before = every_row(read)
        report = copy(read, written)
        assert every_row(read) == before
        assert report.differing == ()
        assert all(each.rows for each in report.tables)
        assert all(each.added == each.rows for each in report.tables)
        copied = every_row(written)
        marks = [row for row in copied.pop("memory_metadata") if row["tenant_id"]]
        assert marks == before.pop("memory_metadata")
        assert copied == before
        assert written.health(thorough=True).problems == ()
        assert written.unembedded(9) == []
    with memory_of(target) as memory:
        same(source.answers, answers(memory))
        for (tenant, name), erased in zip(AGENTS, source.ids, strict=True):
            goes_on(memory, tenant, name, erased)
        assert memory.health(thorough=True).problems == ()


def goes_on(memory, tenant, name, erased):
    """The erased stays erased, and what is new follows what was there."""
    agent = memory.agent(name, tenant=tenant, session="s1")
    act = Act(caller=Caller(tenant_id=tenant, agent=name), at=datetime.now(UTC))
    again = [episode("Back again.", id=id_, tenant_id=tenant, agent=name, scope=name) for id_ in erased]
    assert OneCall(memory.parts.store).put(act, again) == []
    before = agent.recall("harbour", limit=100, sessions=["s1"], include_inactive=True)
    last = max(hit.memory.turn for hit in before)
    fresh = agent.observe("A fresh turn about quokkas.")
    assert fresh.turn > last
    assert agent.recall("quokkas", limit=1)[0].memory.id == fresh.id


def test_the_digests_are_the_same_from_either_database(place):
    source = Source(place("sqlite"))
    middle, end = place("postgres"), place("sqlite")
    first = copied(source.location, middle)
    second = copied(middle, end)
    assert [(each.table, each.rows, each.sha256) for each in first.tables] == [
        (each.table, each.rows, each.sha256) for each in second.tables
    ]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_turn_that_expired_before_it_was_learned_from_reopens_no_session(place, kind):
    source, clock = place("sqlite"), Clock(NOON)
    with Memory.open(source, embedder=HashEmbedder(), clock=clock) as memory:
        agent = memory.agent("ana", session="monday")
        agent.observe("The kettle is on.", ttl_days=1)
        clock.now += timedelta(days=2)
        agent.observe("I moved to Lisbon.")
        agent.consolidation.mark_session("monday")
    target = place(kind)
    assert copied(source, target).differing == ()
    with closing(open_verbs(target)) as written:
        assert [session["session"] for session in every_row(written)["sessions_consolidations"]] == ["monday"]


def copied(source, target, **options):
    with closing(open_verbs(source)) as read, closing(open_verbs(target)) as written:
        return copy(read, written, **options)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A SQLite source of several batches."""
    return Source(str(tmp_path_factory.mktemp("large") / "large.db"), turns=400)


@pytest.mark.parametrize("lines", [1, 8, 16])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_anywhere_it_goes_on_where_it_stopped(place, large, kind, lines):
    target = place(kind)
    with Child("copy", large.location, target) as child:
        told = [child.told() for _ in range(lines)]
        child.kill()
        told += child.rest()
    report = copied(large.location, target)
    assert report.differing == ()
    rows = sum(each.rows for each in report.tables)
    again = {"memory_metadata", "memory_vectors"}  # which are read from their start
    anew = sum(each.rows for each in report.tables if each.table in again)
    assert (
        sum(each.added for each in report.tables)
        <= rows - max(count for step, count in told if step == "copying") + anew
    )
    with memory_of(target) as memory:
        same(large.answers, answers(memory))
        assert memory.health(thorough=True).problems == ()


class StoppedError(Exception):
    """A copy was stopped."""


def stop_after(steps):
    """A progress that stops after so many batches."""
    left = itertools.count(steps - 1, -1)

    def stop(step, _rows):
        if step == "copying" and next(left) <= 0:
            raise StoppedError

    return stop


def searched(location):
    """Search an unfinished copy: it counts what it finds, gives what is there its places, and makes vectors."""
    with memory_of(location) as memory:
        memory.agent("ana").recall(said(3))
        memory.flush()


def test_an_unfinished_copy_may_be_searched_and_is_completed_all_the_same(place, large):
    """What comes then has older docs."""
    target = place("sqlite")
    with pytest.raises(StoppedError):
        copied(large.location, target, progress=stop_after(8))
    searched(target)
    assert copied(large.location, target).differing == ()
    with memory_of(target) as memory:
        same(large.answers, answers(memory))
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_wherever_it_stopped_and_was_searched_it_ends_as_its_source(place, kind):
    """Counts of what was found, sessions that were recorded before their row came, embedders and vectors."""
    source = place("sqlite")
    with memory_of(source) as memory:
        agent = memory.agent("ana", session="done")
        turns = [agent.observe(said(3)).id, agent.observe("And nothing else.").id]
        agent.remember("Lisbon", subject="Ana", predicate="lives in", source_episode_id=turns[0])
        agent.rules.add(f"Speak of {said(3)}.")
        memory.flush()
        store = OneCall(memory.parts.store)
        batch = store.claim(
            Act(caller=agent.caller, at=datetime.now(UTC)), Claim(kind="consolidation", worker="w", lease_s=60, limit=9)
        )
        plan = Plan(episode_ids=batch.run.episode_ids)
        store.carry_out(Act(caller=agent.caller, at=datetime.now(UTC)), batch.run.id, plan, {})
        [session] = every_row(store)["sessions_consolidations"]
        assert session["consolidated_at"] is not None
    for steps in itertools.count(1):
        target = place(kind)
        try:
            copied(source, target, progress=stop_after(steps))
        except StoppedError:
            searched(target)
            assert copied(source, target).differing == (), steps
        else:
            assert steps > 5
            break


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_target_that_was_only_opened_is_copied_to(place, kind):
    source, target = Source(place("sqlite"), turns=30), place(kind)
    with closing(open_verbs(target)) as store:
        store.use_embedder("test:others", 7)
    assert copied(source.location, target).differing == ()
    with closing(open_verbs(target)) as store, closing(open_verbs(source.location)) as original:
        assert store.health().embedder == original.health().embedder != "test:others"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_target_that_engrain_has_used_is_left_alone(place, kind):
    source, target = Source(place("sqlite"), turns=30), place(kind)
    with closing(open_verbs(target)) as store:
        store.put(Act(caller=Caller(agent="aide"), at=datetime.now(UTC)), [episode("Mine.")])
        before = every_row(store)
    with pytest.raises(InvalidInput, match="not empty"):
        copied(source.location, target)
    with closing(open_verbs(target)) as store:
        assert every_row(store) == before


def test_the_copy_of_another_source_is_not_gone_on_with(place):
    one, other, target = Source(place("sqlite"), turns=30), Source(place("sqlite"), turns=30), place("sqlite")
    copied(one.location, target)
    with pytest.raises(InvalidInput, match="a copy of another memory"):
        copied(other.location, target)
    assert copied(one.location, target).differing == ()


def test_nothing_is_written_to_a_finished_copy_even_where_it_differs_by_now(place):
    source, target = Source(place("sqlite"), turns=30), place("sqlite")
    copied(source.location, target)
    with memory_of(target) as memory:
        memory.agent("ana").observe("Only here.")
    with memory_of(source.location) as memory:
        memory.agent("ana").observe("Only there.")
    with closing(open_verbs(target)) as store:
        before = every_row(store)
        report = copied(source.location, target)
        assert every_row(store) == before
    assert {"episodes", "memory_events", "memory_vectors"} <= set(report.differing)
    assert {each.added for each in report.tables} == {0}


def test_what_is_written_to_the_source_meanwhile_is_noticed(place):
    source, target = Source(place("sqlite"), turns=30), place("sqlite")
    with memory_of(source.location) as memory:
        agent = memory.agent("ana")
        written = []

        def write(step, _):
            if step == "comparing" and not written:
                written.append(agent.remember("Faro", subject="Ana", predicate="spends the summer in"))

        assert "facts" in copied(source.location, target, progress=write).differing
    assert copied(source.location, target).differing == ()


def test_a_copy_of_a_copy_is_one_too(place):
    source, middle, end = Source(place("sqlite"), turns=30), place("sqlite"), place("sqlite")
    copied(source.location, middle)
    assert copied(middle, end).differing == ()
    assert copied(middle, end).differing == ()


def test_a_source_that_cannot_be_written_is_read_with_what_was_left_for_later(place):
    """Turns that no search has settled yet."""
    location = place("sqlite")
    with memory_of(location) as memory:
        agent = memory.agent("ana", session="s")
        agent.observe("First.")
        memory.flush()
        OneCall(memory.parts.store).put(
            Act(caller=agent.caller, at=datetime.now(UTC)),
            [episode("Unsettled.", agent="ana", scope="ana", session="s")],
        )
        target = place("postgres")
        with closing(open_verbs(target)) as written:
            assert copy(memory.parts.store, written).differing == ()
        with memory_of(target) as moved:
            assert moved.agent("ana", session="s").observe("Third.").turn == 3


@pytest.fixture
def made(database):
    """A source made by the command line, where ENGRAIN_DB names it."""
    with memory_of(str(database)) as memory:
        memory.agent("default", session="s").observe("Ana hates early flights.")
        memory.flush()
    return database


def test_the_command_copies_into_a_server_and_back(made, process, place):
    url = place("postgres")
    ran = process("copy", made, url, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["differing"] == []
    assert {each["table"]: each["rows"] for each in ran.json["tables"]}["episodes"] == 1
    back = process("copy", url, made.parent / "back.db")
    assert back.code == 0
    assert "1 memory in" in back.out
    assert "the target says the same" in back.out
    hits = process("--db", made.parent / "back.db", "--agent", "default", "recall", "flights", "--json").json["hits"]
    assert [hit["memory"]["content"] for hit in hits] == ["Ana hates early flights."]


def test_the_command_tells_by_its_exit_code_that_the_two_differ(made, process):
    target = made.parent / "target.db"
    assert process("copy", made, target).code == 0
    process("observe", "Only there.")
    ran = process("copy", made, target)
    assert ran.code == 1
    assert "episodes" in ran.err
    assert "the target differs" in ran.out


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        (("memory.db", "memory.db"), 2, "source and target are both"),
        (("memory.db", "./memory.db"), 2, "source and target are both"),
        (("missing.db", "new.db"), 2, "there is no memory at"),
        (("mysql://host/memory", "new.db"), 2, "mysql:// is no database"),
        (("memory.db", "mysql://host/memory"), 2, "mysql:// is no database"),
        (("memory.db", ":memory:"), 2, "would be gone at once"),
        (("notes.txt", "new.db"), 3, "notes.txt"),
        (("memory.db", "notes.txt"), 3, "notes.txt"),
        (("memory.db", "folder"), 3, "folder"),
        (("memory.db", "postgresql://nobody:secret@127.0.0.1:1/none"), 3, "127.0.0.1"),
        (("postgresql://nobody:secret@127.0.0.1:1/none", "new.db"), 3, "127.0.0.1"),
    ],
)
def test_the_command_says_what_is_wrong_and_leaves_everything_as_it_was(made, process, given, code, why):
    folder = made.parent
    (folder / "notes.txt").write_text("These are notes, and no database at all.\n" * 50, encoding="utf-8")
    (folder / "folder").mkdir()
    before = {path.name: path.stat().st_size for path in folder.iterdir()}
    ran = process("copy", *given)
    assert (ran.code, ran.out) == (code, "")
    assert why in ran.err
    assert "secret" not in ran.err
    after = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert {name: size for name, size in after.items() if not name.endswith(("-wal", "-shm"))} == before
