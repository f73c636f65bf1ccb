"""`python -m bench.retrieval` from its arguments to its exit code."""

import json

import pytest

from bench.retrieval import choosing
from bench.retrieval.__main__ import main
from engrain.retrieval.presets import PRESETS


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
    arguments = [data, "--presets", "keyword", "--embedder", "none", "--json", str(written), *narrowed]
    assert main(arguments) == 0
    found = json.loads(written.read_text())["keyword"]
    assert (found["cost"]["memories"], found["cost"]["questions"]) == counts
    assert found["turn"]["overall"]["recall@5"] == 1
    assert found["turn"]["overall"]["mrr"] == 1
    assert "LoCoMo" in capsys.readouterr().out


def run(data, tmp_path, *more):
    written = tmp_path / "found.json"
    assert main([data, "--embedder", "none", "--json", str(written), *more]) == 0
    return json.loads(written.read_text())


@pytest.mark.parametrize("more", [("--presets", "keyword", "recency"), ("--budget", "200", "400")])
def test_what_it_measured_is_drawn(data, tmp_path, more):
    plot = tmp_path / "plot.svg"
    found = run(data, tmp_path, *more, "--plot", str(plot))
    svg = plot.read_text()
    assert all(f">{name}</text>" in svg for name in found)


@pytest.mark.parametrize("more", [("--evidence",), ("--budget", "1", "2", "3", "4", "5")])
def test_what_cannot_be_drawn_is_refused(data, tmp_path, capsys, more):
    with pytest.raises(SystemExit, match="2"):
        run(data, tmp_path, *more, "--plot", str(tmp_path / "plot.svg"))
    assert "--plot draws" in capsys.readouterr().err


def test_every_preset_is_set_beside_the_default(data, tmp_path, capsys):
    found = run(data, tmp_path, "--presets", "all")
    assert list(found) == list(PRESETS)
    for name in found.keys() - {"engrain"}:
        assert found[name]["difference"]["turn"]["recall@5"]["points"] <= 0  # nothing is better than perfect
    assert "turn level, less engrain" in capsys.readouterr().out


def test_ablations_take_each_part_away_in_turn(data, tmp_path):
    found = run(data, tmp_path, "--ablations")
    assert next(iter(found)) == "engrain"
    assert {f"without {channel}" for channel in PRESETS["engrain"].weights} < found.keys()
    assert {"without neighbours", "without stems", "without stop words", "without day words"} < found.keys()


@pytest.fixture
def few_weights(monkeypatch):
    """A hundredth of the weights to choose from, which are looked at alike."""
    monkeypatch.setattr(choosing, "COARSE_FACTORS", (1.0, 1.5))


@pytest.mark.usefixtures("few_weights")
def test_weights_are_chosen_on_some_conversations_and_reported_on_others(data, tmp_path, capsys):
    folds = run(data, tmp_path, "--cross-validate")
    assert [fold["held_out"] for fold in folds] == [["c1"], ["c2"], ["c3"]]
    [fold] = run(data, tmp_path, "--half", "first")
    assert fold["held_out"] == ["c2", "c3"]
    assert fold["questions"] == 4
    assert "chosen on the first half" in capsys.readouterr().out


@pytest.mark.usefixtures("few_weights")
def test_one_conversation_cannot_be_held_out(data, capsys):
    assert main([data, "--embedder", "none", "--conversations", "1", "--cross-validate"]) == 2
    assert "two or more" in capsys.readouterr().err


def test_evidence_tells_own_questions_from_others(data, tmp_path, capsys):
    assert set(run(data, tmp_path, "--evidence")["auc"]) == {"adversarial", "foreign"}
    assert "foreign" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ("[]", [], "is not LoCoMo's"),
        ("{", [], "is not JSON"),
        (json.dumps([sample(0)]), ["--format", "longmemeval"], "is not longmemeval"),
        (json.dumps([sample(0)]), ["--conversations", "7"], "no question is left"),
        (json.dumps([sample(0)]), ["--embedder", "nobody"], "nobody"),
        (json.dumps([sample(0)]), ["--presets", "nobody", "--embedder", "none"], "no preset is called 'nobody'"),
        (json.dumps([sample(0)]), ["--peers", "nobody"], "no peer is called 'nobody'"),
        (json.dumps([sample(0)]), ["--peers", "--embedder", "none"], "the same vectors"),
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
