"""Operations that are killed at their write calls: every writing verb of the table, and what else writes a file."""

import json
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from engrain.portability import copies
from engrain.service import Memory
from engrain.verbs.table import VERBS
from tests.support.backups import said
from tests.support.kill_worlds import (
    AGENT,
    CONSOLIDATED,
    EMBEDDER,
    FRIEND,
    NAME,
    NEXT_EMBEDDER,
    SECRET,
    node,
    observed,
    opened,
    read_ids,
    relation,
    rows_of,
    state_of,
)
from tests.support.stores import open_verbs

BACKUP = "ana.backup.gz"
DONE = "done"
# The run of a process that was killed is given up when its lease is over, and that was an attempt.
RUNS = ("runs", "memory_events")  # which name their worker, by its process
ATTEMPTS = (*RUNS, "episodes.consolidation_attempts", "episodes.last_consolidation_error")
ATTEMPTS += ("episodes.next_consolidation_retry_at",)


@dataclass(frozen=True)
class Case:
    """An operation that is killed.

    Attributes:
        work: does it with the files of a folder, and acknowledges what is done by then.
        state: opens what it wrote, which has to be sound, and says what is in it.
        is_whole: it is done or not done; otherwise doing it again does the rest.
        is_durable: it is in the database when it is done, not when the memory is closed.
        keeps: whether all that it acknowledged, numbers, is in a state.
        is_repeatable: doing it again when it was done changes nothing.
        world: the files that it begins with.
        of_python: it writes a file of its own, not a database.
    """

    work: Callable[..., None]
    state: Callable[[Path], dict[str, Any]]
    is_whole: bool = True
    is_durable: bool = True
    keeps: Callable[[list[int], dict[str, Any]], bool] = lambda _, __: True
    is_repeatable: bool = False
    world: str = "small"
    of_python: bool = False


@dataclass(frozen=True)
class Scene:
    """An open memory, an agent in the middle of a session, and the ids of what is in it by name."""

    memory: Memory
    folder: Path
    ids: dict[str, str]
    acknowledge: Callable[[Any], None]

    @property
    def agent(self):
        return self.memory.agent(AGENT, session="monday")


def in_memory(act, *, days=1, again_hours=0, embedder=EMBEDDER, leaves_out=(), **options):
    """A case that does `act(scene)` so many days after the world was made, the second time so many hours later.

    `leaves_out` are tables and columns that show that it was begun twice.
    """

    def work(folder, acknowledge, *, is_again=False):
        with opened(folder, days=days + is_again * again_hours / 24, embedder=embedder) as memory:
            act(Scene(memory, folder, read_ids(folder), acknowledge))
            acknowledge(DONE)

    def state(folder):
        return state_of(folder, days=days, embedder=embedder, leaves_out=leaves_out)

    return Case(work, state, **options)


def remove_events(scene):
    """A cleanup of old events, after which the log is as sealed."""
    scene.memory.cleanup()
    found = scene.memory.verify_events()
    assert (found.is_whole, found.removed > 0) == (True, True), found


def learns(act, **options):
    """A case whose learning in the background is waited for."""

    def wait(scene):
        act(scene)
        scene.memory.parts.learner.wait()

    return in_memory(wait, **options)


def erase(scene):
    return scene.agent.erase([scene.ids["home"], scene.ids["turn3"], scene.ids["secret"]]).ids


def count(state, table, text):
    return sum(text in row for row in state[table])


_TURN = re.compile(r"Turn (\d+)")
# Episodes that are consolidated in the world, and then after each batch, of whole sessions or the first of a long one.
AFTER_BATCHES = (CONSOLIDATED, 8, 10, 14, 16)


def keeps_batches(done, state):
    """True if a fact was learned of each turn that was consolidated, and of no other, a batch of them at a time."""
    turns = sorted(_TURN.search(row)[1] for row in state["episodes"] if "'consolidated'" in row)
    learned = sorted(_TURN.search(row)[1] for row in state["facts"] if _TURN.search(row))
    return turns == learned and len(turns) in AFTER_BATCHES and len(turns) >= CONSOLIDATED + sum(done)


VERB_CASES = {
    "observe": in_memory(lambda scene: scene.agent.observe("The tram was late again", speaker="Ana")),
    "remember": in_memory(lambda scene: scene.agent.remember("Lisbon", subject="Ana", predicate="lives in")),
    "correct": in_memory(lambda scene: scene.agent.correct(scene.ids["home"], "Faro", source="Ana")),
    "confirm": in_memory(lambda scene: scene.agent.confirm(scene.ids["home"])),
    "forget": in_memory(lambda scene: scene.agent.forget(scene.ids["home"]), is_repeatable=True),
    "erase": in_memory(erase, is_repeatable=True),
    "link": in_memory(
        lambda scene: scene.agent.link(scene.ids["home"], scene.ids["turn3"], "derived_from"), is_repeatable=True
    ),
    "handle": in_memory(lambda scene: scene.agent.handle("My name is Ana")),
    "summarize": in_memory(
        lambda scene: scene.agent.summarize(session="s0", target_tokens=60, store=True), leaves_out=RUNS
    ),
    "rules.add": in_memory(lambda scene: scene.agent.rules.add("Lock the door twice", tags=["home"])),
    "rules.mark_helpful": in_memory(lambda scene: scene.agent.rules.mark_helpful(scene.ids["rule"])),
    "rules.mark_harmful": in_memory(lambda scene: scene.agent.rules.mark_harmful(scene.ids["rule"], reason="slow")),
    "entities.create": in_memory(lambda scene: scene.agent.entities.create("Cleo Dias", "person", aliases=["Cleo"])),
    "entities.update": in_memory(lambda scene: scene.agent.entities.update(scene.ids["Ana Silva"], aliases=["Nana"])),
    "entities.merge": in_memory(
        lambda scene: scene.agent.entities.merge(scene.ids["Anna Silva"], scene.ids["Ana Silva"])
    ),
    "entities.unmerge": in_memory(lambda scene: scene.agent.entities.unmerge(scene.ids["Benno Reis"])),
    "entities.enrich": in_memory(lambda scene: scene.agent.entities.enrich([scene.ids["turn1"]], publish=True)),
    "entities.enrich_waiting": in_memory(
        lambda scene: scene.agent.entities.enrich_waiting(publish=True), is_whole=False
    ),
    "graph.create_entities": in_memory(
        lambda scene: scene.agent.graph.create_entities([node("Pipe", "It is long", "It leaks"), node("Drain")]),
        is_repeatable=True,
    ),
    "graph.create_relations": in_memory(
        lambda scene: scene.agent.graph.create_relations([relation("Tap", kind, "Pipe") for kind in ("ends", "needs")]),
        is_repeatable=True,
    ),
    "graph.add_observations": in_memory(
        lambda scene: scene.agent.graph.add_observations([observed("Tap", "It shines", "It sings")]),
        is_repeatable=True,
    ),
    "graph.delete_entities": in_memory(lambda scene: scene.agent.graph.delete_entities(["Tap"]), is_repeatable=True),
    "graph.delete_observations": in_memory(
        lambda scene: scene.agent.graph.delete_observations([observed("Tap", "It drips")]), is_repeatable=True
    ),
    "graph.delete_relations": in_memory(
        lambda scene: scene.agent.graph.delete_relations([relation("Tap", "is in", "Kitchen")]), is_repeatable=True
    ),
    "notes.save": in_memory(lambda scene: scene.agent.notes.save("trip:train", "It leaves from platform 3")),
    "notes.forget": in_memory(lambda scene: scene.agent.notes.forget("trip:train")),
    "notes.summarize_old": in_memory(lambda scene: scene.agent.notes.summarize_old(0), is_whole=False),
    "notes.invalidate": in_memory(lambda scene: scene.agent.notes.invalidate()),
    "notes.clear_cache": in_memory(lambda scene: scene.agent.notes.clear_cache()),
    "log.append": in_memory(
        lambda scene: scene.agent.log("chat").append(
            [{"uuid": str(n), "role": "user", "content": f"The tram {n} was late"} for n in range(3)],
            id_field="uuid",
            remember=True,
        ),
        is_repeatable=True,
    ),
    "log.pop": in_memory(lambda scene: scene.agent.log.pop(session="kept")),
    "log.delete": in_memory(lambda scene: scene.agent.log.delete(session="kept"), is_repeatable=True),
    "store.put": in_memory(
        lambda scene: scene.agent.store("kept").put("theme", {"is": "dark"}, index="is", keep_history=True)
    ),
    "store.write": in_memory(
        lambda scene: scene.agent.store("kept").write([{"key": "theme"}, {"key": "new", "value": {"n": 1}}])
    ),
    "store.delete": in_memory(lambda scene: scene.agent.store("kept").delete("theme"), is_repeatable=True),
    "pools.create": in_memory(lambda scene: scene.agent.pools.create("guests", members=["cleo"])),
    "pools.add": in_memory(lambda scene: scene.agent.pools.add("crew", "cleo"), is_repeatable=True),
    "pools.remove": in_memory(lambda scene: scene.agent.pools.remove("crew", FRIEND), is_repeatable=True),
    "pools.delete": in_memory(lambda scene: scene.agent.pools.delete("empty")),
    "pools.contribute": in_memory(
        lambda scene: scene.agent.pools.contribute("crew", scene.ids["home"]), is_repeatable=True
    ),
    "pools.sync_to_agent": in_memory(lambda scene: scene.agent.pools.sync_to_agent("crew"), is_repeatable=True),
    "working.append": in_memory(lambda scene: scene.agent.working.append("A word of the moment"), is_durable=False),
    "working.tool_result": in_memory(lambda scene: scene.agent.working.tool_result("weather", {"rain": True})),
    "working.write_scratchpad": in_memory(lambda scene: scene.agent.working.write_scratchpad("Ask for the seat")),
    "working.flush": in_memory(lambda scene: (scene.agent.working.append("To keep"), scene.agent.working.flush())),
    "working.clear": in_memory(lambda scene: (scene.agent.working.append("To drop"), scene.agent.working.clear())),
    "hooks.message": in_memory(lambda scene: scene.agent.hooks.message("The tram of #town1 was late", speaker="Ana")),
    "hooks.session_end": learns(
        lambda scene: scene.memory.agent(AGENT, session="later").hooks.session_end(),
        is_whole=False,
        again_hours=2,
        leaves_out=ATTEMPTS,
    ),
    "add": in_memory(
        lambda scene: scene.agent.add(
            [{"content": "The tram was late", "speaker": "Ana"}, {"role": "assistant", "content": "Again?"}],
            session="later",
            learn="later",
        )
    ),
    "consolidation.save_facts": in_memory(
        lambda scene: scene.agent.consolidation.save_facts(
            [
                {
                    "subject": f"Ana {number}",
                    "predicate": "hates",
                    "content": "rain",
                    "source_ids": [scene.ids["turn1"]],
                }
                for number in range(3)
            ]
        ),
        is_repeatable=True,
    ),
    "consolidation.resolve_conflict": in_memory(
        lambda scene: scene.agent.consolidation.resolve_conflict(scene.ids["home"], scene.ids["moved"])
    ),
    "consolidation.mark_session": in_memory(
        lambda scene: scene.agent.consolidation.mark_session("later"), is_repeatable=True, leaves_out=RUNS
    ),
    "decay": in_memory(lambda scene: scene.memory.decay(), is_repeatable=True, days=400, is_whole=False),
    "cleanup": in_memory(lambda scene: scene.memory.cleanup(max_entries=3), is_repeatable=True, days=3),
    "consolidate": in_memory(
        lambda scene: scene.memory.consolidate(progress=scene.acknowledge),
        is_whole=False,
        keeps=keeps_batches,
        again_hours=2,
        leaves_out=ATTEMPTS,
    ),
    "reflect": in_memory(lambda scene: scene.memory.reflect(), is_whole=False, again_hours=2, leaves_out=ATTEMPTS),
    "erase_user": in_memory(lambda scene: scene.memory.erase_user("eve")),
    "erase_tenant": in_memory(lambda scene: scene.memory.erase_tenant("default")),
    "seal_events": in_memory(lambda scene: scene.memory.seal_events(), is_repeatable=True),
    "undo": in_memory(lambda scene: scene.memory.undo(scene.ids["run"], agent=AGENT)),
    "restore": in_memory(lambda scene: scene.memory.restore(scene.folder / BACKUP, with_erased=True)),
    "import_file": in_memory(
        lambda scene: scene.agent.import_file(scene.folder / "turns.jsonl", progress=scene.acknowledge),
        is_whole=False,
        is_repeatable=True,
        keeps=lambda read, state: count(state, "episodes", "of a letter") >= max(read, default=0),
    ),
    "keys.create": in_memory(lambda scene: scene.memory.keys.create(role="writer", agent=AGENT)),
    "keys.rotate": in_memory(lambda scene: scene.memory.keys.rotate(scene.ids["key"])),
    "keys.revoke": in_memory(lambda scene: scene.memory.keys.revoke(scene.ids["key"]), is_repeatable=True),
    "jobs.run": in_memory(lambda scene: scene.memory.jobs.run("decay"), days=400, is_whole=False, leaves_out=("jobs",)),
    "jobs.retry": in_memory(lambda scene: scene.memory.jobs.retry(scene.ids["job"]), is_repeatable=True),
}
WRITING_VERBS = tuple(verb.name for verb in VERBS if verb.effect != "reads")


def open_new(folder, acknowledge, *, is_again=False):  # noqa: ARG001  # the same again
    with opened(folder, name="new.db"):
        acknowledge(DONE)


def copy(folder, acknowledge, *, is_again=False):  # noqa: ARG001  # the same again
    with closing(open_verbs(folder / NAME)) as source, closing(open_verbs(folder / "copy.db")) as target:
        report = copies.copy(source, target, progress=lambda step, rows: step == "copying" and acknowledge(rows))
        assert report.differing == ()
        acknowledge(DONE)


def search_and_copy(folder, acknowledge, *, is_again=False):
    """Copy; a copy that was begun is searched first, which counts what it finds and makes vectors."""
    if is_again and any("copy_begun" in row for row in state_of_copy(folder)["memory_metadata"]):
        with opened(folder, name="copy.db") as memory:
            memory.agent(AGENT).recall("harbour of a letter")
    copy(folder, acknowledge)


def state_of_copy(folder):
    with closing(open_verbs(folder / "copy.db")) as target:
        assert target.health().problems == ()
    rows = rows_of(folder, "copy.db")
    # An empty vector says that there was one.
    return rows | {"memory_vectors": [row for row in rows["memory_vectors"] if not row.endswith("| None")]}


def state_of_erased(folder):
    """The rows, and whether the file has a word still that was erased."""
    return state_of(folder) | {"words": [str(SECRET.encode() in (folder / NAME).read_bytes())]}


def state_of_compacted(folder):
    """The rows, and whether most of the file is empty; jobs and statistics tell of those that were begun."""
    rows = state_of(folder, leaves_out=("jobs", "sqlite_stat1", "sqlite_stat4"))
    with closing(apsw.Connection(str(folder / NAME))) as db:
        return rows | {"empty": [str(db.pragma("freelist_count") > db.pragma("page_count") / 2)]}


def state_of_backup(folder):
    """The lines of the backup, which can be restored."""
    with opened(folder, name="restored.db") as memory:
        memory.restore(folder / BACKUP, dry_run=True)
    return {"lines": [json.dumps(line) for line in said(folder / BACKUP)]}


def state_of_export(folder):
    path = folder / "export.jsonl"
    return {"lines": path.read_text().splitlines() if path.exists() else None}


def back_up(scene):
    scene.memory.backup(scene.folder / BACKUP, agent=AGENT)


def export(scene):
    scene.memory.export(scene.folder / "export.jsonl", agent=AGENT)


OPERATIONS = {
    "create": Case(open_new, lambda folder: state_of(folder, name="new.db"), is_repeatable=True),
    "reembed": in_memory(
        lambda scene: scene.memory.reembed(scene.acknowledge),
        embedder=NEXT_EMBEDDER,
        is_whole=False,
        is_repeatable=True,
        keeps=lambda made, state: count(state, "memory_vectors", "'default' | 2 |") >= sum(made),
        world="large",
    ),
    "replace": in_memory(
        lambda scene: scene.memory.restore(scene.folder / BACKUP, agent=AGENT, replace=True), world="large"
    ),
    "compaction": Case(
        in_memory(lambda scene: scene.memory.jobs.run("compaction")).work, state_of_compacted, world="sparse"
    ),
    "cleanup, ended facts": in_memory(
        lambda scene: scene.memory.cleanup(), is_whole=False, is_repeatable=True, days=3, world="large"
    ),
    # Its seals are of new ids each time, which are verified instead.
    "cleanup, old events": in_memory(
        remove_events, is_whole=False, is_repeatable=True, days=40, leaves_out=("memory_metadata",), world="large"
    ),
    "erase, words": Case(in_memory(erase).work, state_of_erased, is_whole=False, is_repeatable=True),
    "copy": Case(
        copy,
        state_of_copy,
        is_whole=False,
        is_repeatable=True,
        keeps=lambda rows, state: sum(map(len, state.values())) >= max(rows, default=0),
        world="large",
    ),
    "copy, searched": Case(search_and_copy, state_of_copy, is_whole=False, world="large"),
    "backup": Case(in_memory(back_up).work, state_of_backup, of_python=True),
    "export": Case(in_memory(export).work, state_of_export, of_python=True),
}
CASES = VERB_CASES | OPERATIONS
