"""The measure by hand, and a run over a small data set of each kind."""

import json

import pytest

from bench.summaries import __main__ as bench
from bench.summaries import rivals
from engrain.domain.text.tokens import approximate_tokens
from engrain.learning.summaries.passages import Passage

TURNS = [
    {"speaker": "Ana", "dia_id": "D1:1", "text": "Hey Ben! How are you doing today?"},
    {"speaker": "Ben", "dia_id": "D1:2", "text": "We bought a house in Lisbon. The weather is nice, too."},
    {"speaker": "Ana", "dia_id": "D1:3", "text": "A house in Lisbon! When do you move?"},
]
LOCOMO = [
    {
        "conversation": {"session_1": TURNS, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "session_summary": {"session_1_summary": "Ben bought a house in Lisbon."},
        "observation": {"session_1_observation": {"Ben": [["Ben bought a house.", "D1:2"]]}},
        "qa": [],
    }
]
CHAT = [{"role": "user", "content": "I bought a tent.", "has_answer": True}, {"role": "assistant", "content": "Good."}]
LONGMEMEVAL = [
    {
        "haystack_sessions": [CHAT],
        "haystack_session_ids": ["answer_1"],
        "answer_session_ids": ["answer_1"],
        "answer": "tent",
    }
]


@pytest.mark.parametrize(
    ("summary", "length", "expected"),
    [
        ("Lisbon has houses", 1, 2 / 4),  # of ben, bought, house, lisbon
        ("a house in Lisbon", 2, 3 / 5),
        ("", 1, 0.0),
    ],
)
def test_recall_is_the_share_of_the_reference(summary, length, expected):
    assert bench.recall("Ben bought a house in Lisbon.", summary, length) == pytest.approx(expected)


@pytest.mark.parametrize("order", rivals.ORDERS)
def test_every_rival_chooses_each_candidate_once_and_keeps_the_target(order):
    passages = [Passage(turn["text"], turn["speaker"]) for turn in TURNS]
    found = rivals.list_candidates(passages)
    assert sorted(rivals.ORDERS[order](found)) == list(range(len(found)))
    assert approximate_tokens(rivals.summary(passages, 20, order)) <= 20
    assert rivals.summary([], 20, order) == ""


@pytest.mark.parametrize("samples", [LOCOMO, LONGMEMEVAL], ids=["locomo", "longmemeval"])
def test_the_command_measures_every_way(tmp_path, capsys, samples):
    data, figures = tmp_path / "data.json", tmp_path / "figures.json"
    data.write_text(json.dumps(samples))
    assert bench.main([str(data), "--tokens", "30", "--json", str(figures)]) == 0
    rows = json.loads(figures.read_text())
    assert [row["chosen by"] for row in rows] == ["engrain", *rivals.ORDERS]
    assert all(0 <= value <= 1 for row in rows for name, value in row.items() if name.endswith("R1"))
    assert "1 sessions" in capsys.readouterr().out


def test_other_data_is_refused(tmp_path, capsys):
    data = tmp_path / "data.json"
    data.write_text("[]")
    assert bench.main([str(data)]) == 2
    assert "neither LoCoMo's nor LongMemEval's" in capsys.readouterr().err
