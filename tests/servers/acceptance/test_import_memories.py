"""Memories of other systems imported, and a memory exported: what becomes of it, and that twice is once."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engrain.domain.records import Fact, Rule
from engrain.errors import InvalidInput
from engrain.portability.record_converter import _EARNED
from tests.support.backups import DATABASES, everything, fill, memory_in

SAMPLES = Path(__file__).parents[2] / "support" / "samples"
MEMORIES = ["mcp-memory.jsonl", "mem0.json", "letta.json", "langgraph.json", "notes.md"]


@pytest.mark.parametrize("kind", DATABASES)
def test_importing_twice_adds_nothing(tmp_path, kind):
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        first = {name: ana.import_file(SAMPLES / name) for name in MEMORIES}
        memory.flush()
        there = everything(memory)
        assert {name: (report.added, report.broken) for name, report in first.items()} == {
            "mcp-memory.jsonl": (7, ()),
            "mem0.json": (2, ()),
            "letta.json": (2, ()),
            "langgraph.json": (3, ()),
            "notes.md": (4, ()),
        }
        assert first["mcp-memory.jsonl"].entities == 3
        for name in MEMORIES:
            again = ana.import_file(SAMPLES / name)
            assert (again.added, again.entities, again.present) == (0, 0, first[name].added)
        assert everything(memory) == there
        assert memory.health(thorough=True).problems == ()


def test_a_graph_is_in_the_registry_and_its_facts_are_about_whom_they_name(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        acme = ana.entities.create("Acme", entity_type="organization")  # known before
        ana.import_file(SAMPLES / "mcp-memory.jsonl")
        found = {entity.canonical_name: entity for entity in ana.entities.find()}
        assert {name: entity.entity_type for name, entity in found.items()} == {
            "Acme": "organization",
            "Ana": "person",
            "Lisbon": "place",
        }
        [sails] = ana.recall("sails", limit=1)
        assert sails.memory.entity_id == acme.id == found["Acme"].id
        facts = [hit.memory for hit in ana.recall("Ana", limit=50) if hit.memory.entity_id == found["Ana"].id]
        assert {fact.content for fact in facts} >= {"Ana works at Acme", "Ana knows Bruno", "Plays the cello"}
        assert {fact.scope for fact in facts} == {"ana"}  # nobody else's business


def test_an_export_has_a_merged_entity_as_a_name_of_the_one_that_took_it_in(tmp_path):
    file = tmp_path / "export.jsonl"
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana", user="u")
        bo, bobby = ana.entities.create("Bo", "person"), ana.entities.create("Bobby", "person")
        ana.remember("tea", subject="Bo", predicate="drinks", entity_id=bo.id)
        ana.entities.merge(bo.id, bobby.id)
        memory.export_user("u", file)
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert [line["name"] for line in lines if line["kind"] == "entity"] == ["Bobby"]
    (tmp_path / "another").mkdir()
    with memory_in("sqlite", tmp_path / "another") as memory:
        ana = memory.agent("ana", user="u")
        assert ana.import_file(file).broken == ()
        [known] = ana.entities.find()
        assert (known.canonical_name, known.aliases) == ("Bobby", ("Bo",))
        assert [fact.entity_id for fact in ana.facts("Bo")] == [known.id]


def test_a_line_makes_no_entity_that_was_merged(tmp_path):
    file = tmp_path / "memories.jsonl"
    file.write_text(json.dumps({"kind": "entity", "name": "Bo", "metadata": {"merged_into": "x"}}), encoding="utf-8")
    with memory_in("sqlite", tmp_path) as memory:
        [broken] = memory.agent("ana").import_file(file, format="jsonl").broken
        assert "kept for merges" in broken.reason
        assert list(memory.agent("ana").entities.find()) == []


def test_a_fact_keeps_its_times_and_metadata(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        ana.import_file(SAMPLES / "mem0.json")
        [hit] = memory.agent("ana", user="ana").recall("Lives in Lisbon", limit=1)
        fact = hit.memory
        assert isinstance(fact, Fact)
        assert fact.valid_from == datetime(2024, 5, 7, 9, tzinfo=UTC)
        assert fact.created_at == fact.last_confirmed_at == datetime(2024, 5, 8, 9, tzinfo=UTC)
        assert (fact.metadata["trip"], fact.metadata["format"], fact.tags) == ("home", "mem0", ("home",))


def test_what_was_said_anew_supersedes_and_what_is_older_is_past(tmp_path):
    def dump(text, at):
        item = {"namespace": ["memories"], "key": "home", "value": {"text": text}, "created_at": at, "updated_at": at}
        path = tmp_path / f"{text}.json"
        path.write_text(json.dumps([item]))
        return path

    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        ana.import_file(dump("Porto", "2024-05-01T00:00:00+00:00"))
        ana.import_file(dump("Lisbon", "2024-06-01T00:00:00+00:00"))
        ana.import_file(dump("Faro", "2024-04-01T00:00:00+00:00"))
        [hit] = ana.recall("home")
        assert hit.memory.content == "Lisbon"
        assert {fact.content: fact.validity for fact in ana.history(hit.memory.id)} == {
            "Faro": "superseded",
            "Porto": "superseded",
            "Lisbon": "active",
        }


@pytest.mark.parametrize("kind", DATABASES)
def test_many_facts_in_one_file_become_what_they_become_one_by_one(tmp_path, kind):
    """The newest of a slot is in force in any order, what was pending is settled, and an older period ends."""
    likes, home = {"subject": "Ana", "predicate": "likes"}, {"subject": "Ana", "predicate": "lives in"}
    days = [
        {**home, "content": "Porto", "created_at": "2026-03-01T00:00:00Z"},
        {**home, "content": "Braga", "created_at": "2026-01-01T00:00:00Z"},
        {**likes, "content": "tea", "created_at": "2026-03-01T00:00:00Z"},
        {**likes, "content": "rain", "created_at": "2026-03-01T00:00:00Z", "valid_from": "2026-02-01T00:00:00Z"},
    ]
    lines = [json.dumps({"kind": "fact", **fact}) for fact in days]
    outcomes = []
    for order in ([[line] for line in sorted(lines, key=lambda line: json.loads(line)["created_at"])], [lines]):
        (folder := tmp_path / str(len(outcomes))).mkdir()
        with memory_in(kind, folder) as memory:
            ana = memory.agent("ana")
            heard = ana.observe("She likes tea.", role="tool")
            ana.remember("tea", subject="Ana", predicate="likes", scope="ana", source_episode_id=heard.id)
            rain = {**likes, "scope": "ana", "valid_from": "2026-01-01"}
            ana.forget(ana.correct(ana.remember("rain", **rain).id, "rain", valid_from="2026-04-01").id)
            for chosen in order:
                (folder / "facts.jsonl").write_text("\n".join(chosen), encoding="utf-8")
                assert ana.import_file(folder / "facts.jsonl").added == len(chosen)
            facts = sorted(ana.facts(include_inactive=True), key=lambda fact: (fact.content, fact.created_at))
            told = [(fact.content, fact.validity, fact.is_pending, fact.supersedes_id is None) for fact in facts]
            outcomes.append((told, [fact.valid_to for fact in facts if fact.content == "rain"]))
    assert outcomes[0] == outcomes[1]
    assert [fact for fact in outcomes[1][0] if fact[0] != "rain"] == [
        ("Braga", "superseded", False, True),
        ("Porto", "active", False, False),
        ("tea", "active", False, False),
        ("tea", "superseded", True, True),
    ]


def test_markdown_becomes_notes(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        ana.import_file(SAMPLES / "notes.md")
        assert ana.notes.recall("notes/Kitchen/Boiler").content == "Serviced in May; call *Rui*."
        assert len(ana.notes.list()) == 4


def test_a_broken_memory_is_reported_and_the_others_are_kept(tmp_path):
    path = tmp_path / "mem0.json"
    good = {"id": "1", "memory": "Good", "user_id": "ana"}
    path.write_text(
        json.dumps([good, {"id": "2"}, {"id": "3", "memory": "x", "user_id": "y" * 600}, {**good, "id": "4"}])
    )
    with memory_in("sqlite", tmp_path) as memory:
        report = memory.agent("ana").import_file(path)
        assert (report.added, len(report.broken)) == (2, 2)
        assert "memory is missing" in report.broken[0].reason
        assert [broken.position for broken in report.broken] == ["memories[1]", "memories[2]"]


def lines(path):
    return [json.loads(line) for line in path.read_text().strip().split("\n")]


def without_ids(line):
    """A line without what refers to others, and what a rule has to earn again."""
    refers = {"id", "supersedes_id", "source_episode_id", "created_at", "metadata"}
    return {name: value for name, value in line.items() if name not in refers | _EARNED}


@pytest.mark.parametrize("kind", DATABASES)
def test_an_export_is_read_back_and_says_the_same(tmp_path, kind):
    with memory_in(kind, tmp_path) as memory:
        fill(memory, "ana")
        ana = memory.agent("ana")
        report = memory.export(tmp_path / "ana.jsonl", agent="ana")
        before = everything(memory)
        own = ana.import_file(tmp_path / "ana.jsonl")
        assert (own.added, own.entities, own.broken) == (0, 0, ())  # all of it is there
        assert everything(memory) == before
    with memory_in(kind, tmp_path) as memory:
        zoe = memory.agent("zoe", tenant="acme")
        read = zoe.import_file(tmp_path / "ana.jsonl")
        assert read.kinds == {
            "episode": report.kinds["episode"],
            "fact": report.kinds["fact"] + report.kinds["note"],
            "rule": report.kinds["rule"],
            "log": report.kinds["log"],
            "item": report.kinds["item"],
        }
        assert read.broken == ()
        memory.export(tmp_path / "zoe.jsonl", agent="zoe", tenant="acme")
        first, second = lines(tmp_path / "ana.jsonl"), lines(tmp_path / "zoe.jsonl")
        assert [without_ids(line) for line in second] == [without_ids(line) for line in first]
        places = {line["id"]: number for number, line in enumerate(first) if "id" in line}
        moved = {line["id"]: number for number, line in enumerate(second) if "id" in line}
        for name in ("supersedes_id", "source_episode_id"):
            assert [moved.get(line.get(name)) for line in second] == [places.get(line.get(name)) for line in first]
        assert any(line.get("supersedes_id") for line in second)
        assert zoe.notes.recall("shopping").content == "Buy olives and bread."
        assert zoe.import_file(tmp_path / "ana.jsonl").added == 0
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("kind", DATABASES)
def test_a_memory_whose_id_has_other_content_is_broken(tmp_path, kind):
    file = tmp_path / "ana.jsonl"
    with memory_in(kind, tmp_path) as memory:
        ana = memory.agent("ana")
        ana.remember("Porto", subject="Ana", predicate="lives in")
        ana.observe("I live in Porto.", session="s")
        ana.rules.add("Book flights to Porto.")
        memory.export(file, agent="ana")
        file.write_text(file.read_text() + file.read_text().replace("Porto", "Faro"))
        memory.flush()
        there = everything(memory)
        for importer in (ana, memory.agent("zoe")):
            report = importer.import_file(file)
            assert report.added + report.present == 3
            assert [broken.position for broken in report.broken][1:] == ["line 5", "line 6"]
            assert all("has other content" in broken.reason for broken in report.broken)
            if importer is ana:
                assert everything(memory) == there
        assert all("Porto" in record.content for record in memory.agent("zoe").list().items)


def test_a_line_under_an_id_of_its_own_that_has_changed_takes_the_place_of_the_older(tmp_path):
    file = tmp_path / "facts.jsonl"
    line = {"kind": "fact", "id": "home", "subject": "Ana", "predicate": "lives in"}
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        for content in ("Porto", "Lisbon"):
            file.write_text(json.dumps({**line, "content": content}))
            assert ana.import_file(file).added == 1
        assert [fact.content for fact in ana.facts("Ana")] == ["Lisbon"]


def test_kinds_choose_what_is_exported(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        fill(memory, "ana")
        assert memory.export(tmp_path / "a", agent="ana", kinds=["rule", "note"]).kinds == {"note": 2, "rule": 2}
        assert {line["kind"] for line in lines(tmp_path / "a")} == {"fact", "rule"}
        for wrong in ({"kinds": ["secret"]}, {"format": "pdf"}):
            with pytest.raises(InvalidInput):
                memory.export(tmp_path / "b", agent="ana", **wrong)
        with pytest.raises(InvalidInput, match="there already"):
            memory.export(tmp_path / "a", agent="ana")


def test_markdown_is_for_a_person(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        at = "2024-05-07T09:30:00+00:00"
        ana.observe("Hello\n# not a heading", session="s", speaker="Ana", event_time=at)
        ana.remember("Porto", subject="Ana", predicate="lives in", valid_from="2020-01-01", valid_to="2024-05-01")
        ana.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2024-05-01")
        ana.notes.save("shopping", "Buy olives.")
        rule = ana.rules.add("No early flights.")
        ana.rules.mark_helpful(rule.id)
        ana.entities.create("Bruno", entity_type="person")
        report = memory.export(tmp_path / "ana.md", agent="ana", format="markdown")
    assert (tmp_path / "ana.md").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ana.md").read_text() == (
        "# Facts\n\n## Ana\n\n- ~~lives in: Porto~~ (2020-01-01 to 2024-05-01, superseded)\n"
        "- lives in: Lisbon (since 2024-05-01)\n\n"
        "# Notes\n\n## shopping\n\nBuy olives.\n\n"
        "# Rules\n\n- No early flights. (candidate, 1 of 1 times helpful)\n\n"
        "# Conversations\n\n## s\n\n- 2024-05-07 09:30 **Ana**: Hello # not a heading\n\n"
    )
    assert report.kinds == {"episode": 1, "fact": 2, "note": 1, "rule": 1}


def test_markdown_leaves_out_turns_that_were_forgotten_or_have_expired(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana", session="s")
        gone = [ana.observe("The code is 4471."), ana.observe("The office is in Porto.")]
        ana.observe("The taxi waits at gate 4.", ttl_days=0)
        ana.observe("The office is in Lisbon.")
        ana.observe("Nothing else.", session="t", ttl_days=0)
        for turn in gone:
            ana.forget(turn.id)
        memory.export(tmp_path / "ana.md", agent="ana", format="markdown")
    text = (tmp_path / "ana.md").read_text()
    assert "Lisbon" in text
    assert not [word for word in ("4471", "Porto", "taxi", "## t", "else") if word in text]


def test_rules_begin_anew_where_they_are_imported(tmp_path):
    """A file may say anything of them; what outcomes said comes with a backup."""
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        rule = ana.rules.mark_helpful(ana.rules.add("No early flights.").id)
        memory.export(tmp_path / "a.jsonl", agent="ana")
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        ana.import_file(tmp_path / "a.jsonl")
        [hit] = ana.recall("flights")
        assert isinstance(hit.memory, Rule)
        assert (rule.applied_count, rule.success_count) == (1, 1)
        names = "maturity confidence effectiveness_score applied_count success_count last_applied_at".split()
        assert [getattr(hit.memory, name) for name in names] == ["candidate", 0.5, 0.0, 0, 0, None]
        assert hit.memory.content == rule.content


def test_what_was_forgotten_stays_so_where_it_is_imported(tmp_path):
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        ana.forget(ana.rules.add("No early flights.").id)
        ana.forget(ana.remember("flights", subject="Ana", predicate="books").id)
        memory.export(tmp_path / "a.jsonl", agent="ana")
    with memory_in("sqlite", tmp_path) as memory:
        ana = memory.agent("ana")
        assert ana.import_file(tmp_path / "a.jsonl").kinds == {"fact": 1, "rule": 1}
        assert list(ana.recall("flights")) == []
        assert len(ana.recall("flights", include_inactive=True)) == 2
