"""`python -m bench.retrieval` from its arguments to its exit code."""

import json

import pytest

from bench.retrieval.__main__ import main


def sample(number):
    turns = [
        {"speaker": "Ana", "dia_id": "D1:1", "text": f"Greyhound number {number} sleeps on the sofa."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "The kettle is broken again."},
    ]
    qa = [
        {"question": "Which greyhound sleeps?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is broken?", "evidence": ["D1:2"], "category": 2},
    ]
    dated = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    return {"sample_id": str(number), "conversation": dated, "qa": qa}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample(number) for number in range(3)]))
    return str(path)


@pytest.mark.parametrize(
    ("narrowed", "counts"),
    [
        ([], (6, 6)),
        (["--conversations", "1", "3"], (4, 4)),
        (["--limit-questions", "3"], (4, 3)),
        (["--conversations", "2", "3", "--limit-questions", "1"], (2, 1)),
    ],
)
def test_it_measures_what_was_asked_for(data, tmp_path, capsys, narrowed, counts):
    written = tmp_path / "found.json"
    arguments = [data, "--preset", "keyword", "--embedder", "none", "--json", str(written), *narrowed]
    assert main(arguments) == 0
    found = json.loads(written.read_text())["keyword"]
    assert (found["cost"]["memories"], found["cost"]["questions"]) == counts
    assert found["turn"]["overall"]["recall@5"] == 1
    assert found["turn"]["overall"]["mrr"] == 1
    assert "LoCoMo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ("[]", [], "is not LoCoMo's"),
        ("{", [], "is not JSON"),
        (json.dumps([sample(0)]), ["--format", "longmemeval"], "is not longmemeval"),
        (json.dumps([sample(0)]), ["--conversations", "7"], "no question is left"),
        (json.dumps([sample(0)]), ["--embedder", "nobody"], "nobody"),
    ],
)
def test_what_it_cannot_use_is_said_in_one_line(tmp_path, capsys, content, more, said):
    path = tmp_path / "data.json"
    path.write_text(content)
    assert main([str(path), "--cache", str(tmp_path), *more]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_file_that_is_not_there_is_said_in_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "missing.json")]) == 2
    assert "missing.json" in capsys.readouterr().err
