"""`engrain doctor` finds what is wrong and says what to do; `engrain bench` measures without touching anything."""

import re
import shutil
import sqlite3
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from engrain import Memory, __version__
from engrain.interfaces.cli import output
from engrain.interfaces.cli.administration import measurement
from engrain.interfaces.cli.invocation import Invocation
from tests.support.ports import free_port

SAMPLE = Path(__file__).parents[3] / "examples" / "two_friends.jsonl"


def test_a_sound_memory_has_no_problems(chat, database):
    ran = chat("doctor", "--json")
    found = ran.json
    assert ran.code == 0
    assert found["problems"] == []
    assert found["versions"]["engrain"] == __version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(found["versions"][each] == metadata.version(each) for each in ("apsw", "numpy", "onnxruntime"))
    assert found["memory"]["location"] == str(database)
    assert found["memory"]["backend"].startswith("sqlite 3.")
    assert (found["memory"]["memories"], found["memory"]["indexed"]) == (308, 308)
    assert found["memory"]["readiness"] == "ok"
    assert found["permissions"]["file"] == "600"
    assert found["embedder"] == {"name": "none"}
    assert (found["settings"]["db"], found["settings"]["retrieval"]["limit"]) == (str(database), 10)


def test_a_person_reads_it_in_sections(chat):
    ran = chat("doctor")
    sections = [line for line in ran.out.splitlines() if line and not line.startswith(" ")]
    assert sections == ["versions", "memory", "permissions", "embedder", "settings", "no problems found"]


def test_a_person_reads_numbers_as_people_write_them(chat, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    shown = chat("doctor").out
    assert re.search(r"^  server.port +8765$", shown, flags=re.MULTILINE)
    assert re.search(r"^  size_bytes +[0-9.]+ [KM]B$", shown, flags=re.MULTILINE)
    assert re.search(r"^  first_embedding_ms +[0-9.]+ m?s$", shown, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.4, "0 ms"),
        (240, "240 ms"),
        (1_300, "1.3 s"),
        (13_123.4, "13 s"),
        (119_000, "119 s"),
        (150_000, "2.5 min"),
        (9_000_000, "2.5 h"),
        (259_200_000, "3 days"),
    ],
)
def test_a_duration_is_in_the_unit_that_fits(milliseconds, text):
    assert output.duration(milliseconds) == text


def test_the_embedder_is_tried(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    embedder = cli("doctor", "--json").json["embedder"]
    assert embedder["dims"] == 384
    assert embedder["first_embedding_ms"] > 0


def test_an_embedder_that_cannot_work_is_a_problem(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "nobody:knows")
    ran = cli("doctor", "--json")
    assert ran.code == 1
    [problem] = ran.json["problems"]
    assert problem.startswith("the embedder nobody:knows does not work: ")
    assert ran.json["memory"]["memories"] == 0


def test_vectors_of_another_embedder_are_a_problem_and_a_note_to_whoever_writes(cli, database, monkeypatch):
    with Memory.open(database, embedder=Elsewhere()) as memory:
        memory.agent().observe("a kettle")
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    [problem] = cli("doctor", "--json").json["problems"]
    assert "they are of elsewhere:model" in problem
    assert cli("observe", "a violin").err == f"note: {problem}\n"
    assert f"note: {problem}" in cli("import", SAMPLE).err


class Elsewhere:
    name = "elsewhere:model"
    dims = 2

    def embed(self, texts, *, role):  # noqa: ARG002  # the port names it
        return np.tile(np.array([0.6, 0.8], np.float32), (len(texts), 1))


def test_a_file_that_others_can_read_is_a_problem_with_its_remedy(cli, database):
    cli("stats")
    database.chmod(0o644)
    ran = cli("doctor")
    assert ran.code == 1
    assert f"problem: other users may read {database} (mode 644): chmod 600 {database}" in ran.out


def test_a_disk_with_hardly_any_room_is_a_problem(cli, database, monkeypatch):
    cli("observe", "Hello.")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12 - 4_000_000, 4_000_000))
    ran = cli("doctor", "--json")
    assert ran.code == 1
    [problem] = ran.json["problems"]
    assert problem == f"{database.parent} has 4.0 MB of room left, and a write may need more: free some space"


def test_a_redis_that_does_not_answer_is_a_problem(cli, monkeypatch):
    monkeypatch.setenv("ENGRAIN_REDIS__URL", f"redis://127.0.0.1:{free_port()}/0")
    ran = cli("doctor", "--json")
    assert ran.code == 1
    [problem] = ran.json["problems"]
    assert "redis.url does not answer" in problem


def test_a_file_that_cannot_be_opened_is_a_problem_and_the_rest_is_still_shown(cli, database):
    cli("stats")
    with sqlite3.connect(database) as file:
        file.execute("UPDATE alembic_version SET version_num = 'mem_999'")
    file.close()
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert ran.json["memory"] == {}
    assert ran.json["versions"]["engrain"] == __version__
    [problem] = ran.json["problems"]
    assert "upgrade engrain" in problem


def test_an_index_that_lost_something_is_a_problem(chat, database):
    with sqlite3.connect(database) as file:
        file.execute("DELETE FROM memory_index WHERE doc % 7 = 0")
    file.close()
    assert chat("doctor").code == 0
    ran = chat("doctor", "--thorough", "--json")
    assert ran.code == 1
    assert any("import it anew" in problem for problem in ran.json["problems"])


def test_memories_without_a_vector_are_a_note(cli, monkeypatch):
    cli("observe", "a kettle")
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    ran = cli("doctor", "--json")
    assert ran.code == 0
    assert ran.json["notes"] == ["1 memory waits for a vector; the next command that adds something makes it"]


def test_bench_measures_and_touches_nothing(cli, database):
    ran = cli("bench", "--json")
    measured = ran.json
    assert ran.code == 0
    assert measured["memories"] == 2_000
    assert measured["observe_per_s"] > 0
    assert 0 < measured["recall_median_ms"] <= measured["recall_p95_ms"]
    assert measured["embedded"] == 0
    assert not database.exists()
    assert not list(database.parent.iterdir())


def test_bench_tells_a_person_the_same(database):
    measured = measurement.measure(Invocation(), memories=50)
    assert measured["memories"] == 50
    assert not database.exists()


def test_bench_embeds_where_there_is_an_embedder(cli, monkeypatch):
    assert cli("--version").code == 0
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "minilm")
    measured = measurement.measure(Invocation(as_json=True), memories=60)
    assert measured["embedded"] == 60
    assert measured["embed_per_s"] > 0


@pytest.mark.parametrize("count", [1, 500])
def test_the_made_up_memories_are_the_same_every_time(count):
    first = list(measurement.turns(count))
    assert first == list(measurement.turns(count))
    assert len(set(first)) == count
