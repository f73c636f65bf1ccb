"""A memory backed up and restored: on either database, to the same or another agent or tenant; what stays gone."""

import gzip
import os
import stat
import threading

import pytest

from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Episode, Fact
from engrain.errors import InvalidInput, NotFound
from tests.support.backups import DATABASES, EXTRA_ROWS, add_rows, content, everything, fill, memory_in, rows, said
from tests.support.engines import HashEmbedder
from tests.support.learning_memories import LLM, fact, reply
from tests.support.one_call import OneCall

pytestmark = pytest.mark.req("G13")
DIRECTIONS = [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite")]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "memory.backup"


def hits(agent, question):
    return [(hit.memory.id, hit.memory.content) for hit in agent.recall(question, limit=30)]


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_restored_it_says_and_finds_the_same_and_again_it_adds_nothing(tmp_path, file, source, target):
    with memory_in(source, tmp_path) as memory:
        erased = fill(memory, "ana")
        fill(memory, "bruno")
        before = memory.backup(file, agent="ana")
        found = hits(memory.agent("ana"), "town3 flights")
    with memory_in(target, tmp_path) as memory:
        report = memory.restore(file)
        assert (report.memories, report.present, report.vectors) == (before.memories, 0, "kept")
        assert OneCall(memory.parts.store).unembedded(9) == []  # vectors came along
        assert memory.health(thorough=True).problems == ()
        assert content(memory.backup(file, agent="ana")) == content(before)
        ids = {row["id"] for table in MEMORIES for row in rows(file, table)}
        kept = [each for each in found if each[0] in ids]
        assert sorted(hits(memory.agent("ana"), "town3 flights")) == sorted(kept)
        there = everything(memory)
        again = memory.restore(file)
        assert (again.memories, again.present, again.added) == (0, before.memories, {})
        assert everything(memory) == there
        assert memory.agent("ana").get(erased[0]) is None


@pytest.mark.parametrize("kind", DATABASES)
def test_every_table_of_an_agent_has_rows_in_this_suite(tmp_path, file, kind):
    """Otherwise the digests above would agree on nothing."""
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        report = memory.backup(file, agent="ana")
    empty = {each.table for each in report.tables if not each.rows}
    assert empty == {"memory_metadata", "pools", "pool_members", "sessions_consolidations"}


@pytest.mark.parametrize(("source", "target"), DIRECTIONS[:2])
@pytest.mark.parametrize("whose", [{"tenant": "acme"}, {}])
def test_a_tenant_and_a_whole_database_come_back_whole(tmp_path, file, source, target, whose):
    with memory_in(source, tmp_path) as memory:
        add_rows(OneCall(memory.parts.store), EXTRA_ROWS)
        for tenant, name in (("acme", "ana"), ("acme", "bruno"), ("beta", "ana")):
            fill(memory, name, tenant=tenant)
        memory.backup(file, **whose)
        per_tenant = {tenant: content(memory.backup(tmp_path / tenant, tenant=tenant)) for tenant in ("acme", "beta")}
    with memory_in(target, tmp_path) as memory:
        memory.restore(file, **whose)
        assert memory.health(thorough=True).problems == ()
        for tenant in ("acme", "beta") if not whose else ("acme",):
            assert content(memory.backup(tmp_path / f"{tenant}2", tenant=tenant)) == per_tenant[tenant]
        if whose:
            with pytest.raises(NotFound, match="nothing of tenant beta"):
                memory.backup(tmp_path / "beta2", tenant="beta")


@pytest.mark.parametrize("kind", DATABASES)
def test_to_another_agent_everything_is_its_own_and_what_all_see_is_not_doubled(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        memory.backup(file, agent="ana")
        ana, bruno = memory.agent("ana"), memory.agent("bruno")
        report = memory.restore(file, agent="bruno")
        assert memory.health(thorough=True).problems == ()
        assert report.present == sum(row["scope"] == "global" for table in MEMORIES for row in rows(file, table))
        assert bruno.notes.recall("shopping").content == "Buy olives and bread."
        assert [note.content for note in bruno.notes.list()] == [note.content for note in ana.notes.list()]
        own = of_scope(memory, "bruno")
        assert {row["agent"] for row in own} == {"bruno"}
        assert not {row["id"] for row in own} & {row["id"] for row in of_scope(memory, "ana")}
        hates = next(row for row in own if row.get("predicate") == "hates")
        source = bruno.get(hates["metadata"]["said_in"])  # an id in metadata is a reference too
        assert isinstance(source, Episode)
        assert [each.target_id for each in bruno.links(hates["id"])] == [source.id]
        there = everything(memory)
        assert memory.restore(file, agent="bruno").memories == 0
        assert everything(memory) == there


MEMORIES = ("episodes", "facts", "rules")


def of_scope(memory, scope, tenant="default"):
    there = everything(memory)
    return [row for table in MEMORIES for row in there[table] if (row["tenant_id"], row["scope"]) == (tenant, scope)]


@pytest.mark.parametrize("kind", DATABASES)
def test_to_another_tenant_nothing_is_shared_and_who_is_known_there_stays_who_they_are(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        before = memory.backup(file, agent="ana")
        known = memory.agent("zoe", tenant="acme").entities.create("Ana of ana", entity_type="person")
        report = memory.restore(file, agent="bruno", tenant="acme")
        assert (report.memories, report.present, report.tenant_id) == (before.memories, 0, "acme")
        assert memory.health(thorough=True).problems == ()
        there = everything(memory)
        [run] = [row for row in there["runs"] if row["tenant_id"] == "acme"]
        [read] = run["episode_ids"]
        assert (run["agent"], run["status"], run["report"]) == ("bruno", "done", {"read": [read]})
        assert read in {row["id"] for row in there["episodes"] if row["tenant_id"] == "acme"}
        for table in (*MEMORIES, "memory_events", "rule_applications"):
            mine = {row["id"] for row in there[table] if row["tenant_id"] == "default"}
            theirs = {row["id"] for row in there[table] if row["tenant_id"] == "acme"}
            assert theirs
            assert not mine & theirs
        home = next(row for row in there["facts"] if row["tenant_id"] == "acme" and row["content"].startswith("Lisbon"))
        assert home["entity_id"] == known.id
        bruno = memory.agent("bruno", tenant="acme")
        assert [fact.content for fact in bruno.history(home["id"])] == ["Porto", "Lisbon on the river"]
        old = bruno.get(home["supersedes_id"])
        assert isinstance(old, Fact)
        assert isinstance(bruno.get(old.source_episode_id), Episode)


@pytest.mark.parametrize(("source", "target"), DIRECTIONS[:2])
def test_replace_clears_the_agent_first_and_nobody_else(tmp_path, file, source, target):
    with memory_in(source, tmp_path) as memory:
        fill(memory, "ana")
        before = memory.backup(file, agent="ana")
    with memory_in(target, tmp_path) as memory:
        fill(memory, "bruno")
        ana = memory.agent("ana", session="s1")
        seen = [ana.observe(f"An older turn {number}.").id for number in range(9)]
        ana.notes.save("shopping", "Buy nothing.")
        ana.link(
            ana.remember("Faro", subject="Ana", predicate="is in", source_episode_id=seen[0]).id, seen[1], "supports"
        )
        others = content(memory.backup(tmp_path / "bruno", agent="bruno"))
        gone = {row["id"] for row in of_scope(memory, "ana")}
        report = memory.restore(file, replace=True)
        assert report.cleared == 11
        assert memory.health(thorough=True).problems == ()
        assert not gone & {row["id"] for row in of_scope(memory, "ana")}
        after = content(memory.backup(tmp_path / "ana", agent="ana"))
        assert after == content(before)
        assert content(memory.backup(tmp_path / "bruno", agent="bruno")) == others
        assert memory.restore(file, replace=True).cleared == before.memories  # and again
        [event] = memory.agent("ana").events(event_type="backup_restored", limit=1)
        assert event.payload == {"sha256": report.sha256, "memories": before.memories, "cleared": before.memories}


@pytest.mark.parametrize("kind", DATABASES)
def test_replace_of_a_tenant_leaves_the_others(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana", tenant="acme")
        memory.backup(file, tenant="acme")
        fill(memory, "ana", tenant="beta")
        memory.agent("bruno", tenant="acme").observe("To be gone.")
        others = content(memory.backup(tmp_path / "beta", tenant="beta"))
        memory.restore(file, tenant="acme", replace=True)
        assert memory.agent("bruno", tenant="acme").stats().episodes.total == 0
        assert content(memory.backup(tmp_path / "beta", tenant="beta")) == others
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
def test_a_fact_whose_place_is_taken_is_its_past(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        memory.agent("ana").remember("Lisbon", subject="Ana", predicate="lives in")
        memory.backup(file, agent="ana")
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        now = ana.remember("Faro", subject="Ana", predicate="lives in")
        report = memory.restore(file)
        assert (report.memories, report.superseded) == (1, 1)
        history = {fact.content: fact.validity for fact in ana.history(now.id)}
        assert history == {"Faro": "active", "Lisbon": "superseded"}
        assert [hit.memory.content for hit in ana.recall("lives in")] == ["Faro"]
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
def test_of_a_day_before_a_restore_one_value_was_true(tmp_path, file, kind):
    """A fact whose place is taken was true until the other began: not until it was restored, nor as long as it says."""
    about = {"subject": "Ana", "predicate": "lives in", "scope": "ana"}
    with memory_in(kind, tmp_path) as memory:
        memory.agent("ana").remember("Lisbon", **about, valid_from="2020-01-01", valid_to="2999-01-01")
        memory.backup(file, agent="ana")
        memory.export(tmp_path / "lines", agent="ana")
    for give in (
        lambda memory: memory.restore(file),
        lambda memory: memory.agent("ana").import_file(tmp_path / "lines"),
    ):
        with memory_in(kind, tmp_path) as memory:
            ana = memory.agent("ana")
            ana.remember("Faro", **about, valid_from="2024-01-01")
            give(memory)
            true = {day: [fact.content for fact in ana.facts(valid_at=day)] for day in ("2023-01-01", "2025-01-01")}
            assert true == {"2023-01-01": ["Lisbon"], "2025-01-01": ["Faro"]}


@pytest.mark.parametrize("kind", DATABASES)
def test_of_a_day_after_a_restore_one_value_will_be_true(tmp_path, file, kind):
    """What comes back ends where a plan begins that was made since, and a plan yields to what is there."""
    about = {"subject": "Ana", "predicate": "lives in", "scope": "ana"}
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        back = [ana.remember("Lisbon", **about).id, ana.remember("Rome", **about, valid_from="2999-01-01").id]
        memory.backup(file, agent="ana")
        ana.erase(back)
        ana.remember("Faro", **about, valid_from="2998-01-01")
        assert memory.restore(file, with_erased=True).superseded == 1
        true = {day: [fact.content for fact in ana.facts(valid_at=day)] for day in ("2997-01-01", "2999-01-02")}
        assert true == {"2997-01-01": ["Lisbon"], "2999-01-02": ["Faro"]}
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("own_end", [None, "3001-01-01"])
def test_what_a_restore_ends_where_a_plan_begins_goes_on_without_the_plan(tmp_path, file, kind, own_end):
    about = {"subject": "Ana", "predicate": "lives in", "scope": "ana"}
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        back = ana.remember("Lisbon", **about, valid_to=own_end)
        memory.backup(file, agent="ana")
        ana.erase([back.id])
        plans = [
            ana.remember(place, **about, valid_from=day)
            for place, day in (("Faro", "2998-01-01"), ("Rome", "2999-01-01"))
        ]
        memory.restore(file, with_erased=True)
        for plan in plans:
            assert ana.get(back.id).valid_to == plan.valid_from
            ana.forget(plan.id)
        assert ana.get(back.id).valid_to == back.valid_to


@pytest.mark.parametrize("kind", DATABASES)
def test_what_a_restore_ends_goes_on_after_the_undo_of_the_run_that_planned(tmp_path, file, kind):
    about = {"subject": "Ana", "predicate": "lives in", "scope": "ana"}
    quote = "From 2998-01-01 on I live in Faro"
    plan = fact("Ana", "lives in", "Faro", quote, scope="ana", valid_from="2998-01-01")
    with memory_in(kind, tmp_path, llm=LLM([reply(plan)])) as memory:
        ana = memory.agent("ana")
        back = ana.remember("Lisbon", **about)
        memory.backup(file, agent="ana")
        ana.erase([back.id])
        ana.observe(quote, speaker="Ana")
        [run] = memory.consolidate(agent="ana").run_ids
        memory.restore(file, with_erased=True)
        assert ana.get(back.id).valid_to is not None
        memory.undo(run, agent="ana")
        assert ana.get(back.id).valid_to is None


@pytest.mark.parametrize("kind", DATABASES)
def test_what_waits_for_a_confirmation_takes_no_place_of_what_is_restored(tmp_path, file, kind):
    about = {"subject": "Ana", "predicate": "lives in", "scope": "ana"}
    with memory_in(kind, tmp_path) as memory:
        memory.agent("ana").remember("Lisbon", **about)
        memory.backup(file, agent="ana")
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        ana.remember("Faro", **about, source_episode_id=ana.observe("Ana is in Faro.", role="tool").id)
        ana.remember("Braga", **about, tags=["project:move"], valid_to="2999-01-01")
        assert memory.restore(file).superseded == 0
        assert sorted(fact.content for fact in ana.facts("Ana")) == ["Braga", "Faro", "Lisbon"]
        assert [fact.content for fact in ana.facts("Ana", pending=True)] == ["Faro"]


@pytest.mark.parametrize("kind", DATABASES)
def test_what_was_erased_since_stays_erased_unless_somebody_says_otherwise(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        secret = ana.observe("The safe opens with heliotrope.", session="s").id
        fact = ana.remember("heliotrope", subject="safe", predicate="code", scope="ana", source_episode_id=secret)
        memory.backup(file, agent="ana")
        ana.erase([secret])
        ana.erase([fact.id])
        for target in ({}, {"agent": "bruno"}, {"agent": "bruno", "tenant": "acme"}, {"replace": True}):
            report = memory.restore(file, **target)
            assert (report.memories, report.erased) == (0, 2), target
        assert "heliotrope" not in str(everything(memory))
        report = memory.restore(file, with_erased=True)
        assert (report.memories, report.erased) == (2, 0)
        assert ana.get(fact.id).source_episode_id == secret
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
def test_tombstones_of_a_backup_hold_where_it_is_restored(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        kept = ana.observe("Kept.")
        gone = ana.observe("Gone.")
        older = tmp_path / "older"
        memory.backup(older, agent="ana")
        ana.erase([gone.id])
        memory.backup(file, agent="ana")
    with memory_in(kind, tmp_path) as memory:
        memory.restore(file)
        report = memory.restore(older)
        assert (report.memories, report.present, report.erased) == (0, 1, 1)
        assert memory.agent("ana").get(kept.id) is not None


@pytest.mark.parametrize("kind", DATABASES)
def test_vectors_of_another_embedder_are_made_anew(tmp_path, file, kind):
    with memory_in("sqlite", tmp_path) as memory:
        fill(memory, "ana")
        memory.backup(file, agent="ana")
    other = HashEmbedder("test:other", dims=32)
    with memory_in(kind, tmp_path, embedder=other) as memory:
        report = memory.restore(file)
        assert report.vectors == "to make"
        memory.flush()
        assert OneCall(memory.parts.store).unembedded(9) == []
        assert other.embedded
        assert memory.agent("ana").recall("Turn 3 of ana", preset="semantic")


def test_a_backup_without_vectors_is_smaller_and_restores_all_the_same(tmp_path, file):
    with memory_in("sqlite", tmp_path) as memory:
        fill(memory, "ana")
        size = memory.backup(file, agent="ana").bytes
        report = memory.backup(file, agent="ana", vectors=False)
        assert report.bytes < 0.7 * size
    with memory_in("sqlite", tmp_path) as memory:
        assert memory.restore(file).vectors == "none"
        memory.flush()
        assert OneCall(memory.parts.store).unembedded(9) == []


def test_a_database_that_never_had_an_embedder_takes_the_backups(tmp_path, file):
    with memory_in("sqlite", tmp_path) as memory:
        fill(memory, "ana")
        memory.backup(file, agent="ana")
    from engrain import Memory

    with Memory.open(tmp_path / "none.db", embedder="none") as memory:
        assert memory.restore(file).vectors == "kept"
        assert memory.health().embedder == "test:hash"


@pytest.mark.parametrize("kind", DATABASES)
def test_a_dry_run_says_what_would_be_done_and_does_nothing(tmp_path, file, kind):
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        memory.backup(file, agent="ana")
        there = everything(memory)
        plan = memory.restore(file, agent="bruno", dry_run=True)
        assert memory.restore(file, replace=True, dry_run=True).cleared > 0
        assert everything(memory) == there
        report = memory.restore(file, agent="bruno")
        assert plan.dry_run
        assert (plan.memories, plan.present) == (report.memories, report.present)


@pytest.mark.parametrize("kind", DATABASES)
def test_a_backup_is_of_one_moment_though_others_write(tmp_path, kind):
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        before = ana.observe("Before.", session="s")

        def read(source):
            episodes = source.rows("episodes")
            first = next(episodes)
            writer = threading.Thread(target=write)
            writer.start()
            writer.join(60)
            return [first, *episodes], list(source.rows("facts")), list(source.rows("memory_events"))

        def write():
            after = ana.observe("After.", session="s")
            ana.remember("later", subject="s", predicate="p", source_episode_id=after.id)

        episodes, facts, events = memory.parts.store.extract(Extent(tenant_id="default", agent="ana"), read)
        assert [row["id"] for row in episodes] == [before.id]
        assert (facts, len(events)) == ([], 1)
        assert ana.stats().episodes.total == 2


def test_the_file_is_its_owners_and_a_person_can_read_it(tmp_path, file):
    before = os.umask(0)
    try:
        with memory_in("sqlite", tmp_path) as memory:
            fill(memory, "ana")
            report = memory.backup(file, agent="ana")
            memory.backup(file, agent="ana")  # a backup replaces a backup
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir() if path.name.endswith(".part")} == set()
    header, *_, end = said(file)
    assert (header["kind"], header["format"], header["tenant"], header["agent"]) == (
        "engrain backup",
        1,
        "default",
        "ana",
    )
    assert header["embedder"] == {"name": "test:hash", "dims": 64}
    assert end["lines"] == len(said(file)) - 1
    assert len(report.sha256) == 64
    with gzip.open(file, "rt") as text:
        assert "Buy olives and bread." in text.read()


@pytest.mark.parametrize(
    ("name", "why"),
    [("link", "is a link"), ("folder", "no regular file"), ("notes.txt", "no backup"), ("no/where", "no folder")],
)
def test_a_backup_replaces_nothing_but_a_backup(tmp_path, name, why):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "notes.txt")
    (tmp_path / "folder").mkdir()
    with memory_in("sqlite", tmp_path) as memory, pytest.raises(InvalidInput, match=why):
        memory.backup(tmp_path / name)
    assert (tmp_path / "notes.txt").read_text() == "mine"
