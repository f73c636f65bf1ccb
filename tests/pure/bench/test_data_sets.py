"""Reading the data sets: the evidence is found whatever its spelling, and nothing that gives it away is kept."""

from datetime import UTC, datetime

import pytest

from bench.retrieval import locomo, longmemeval
from bench.retrieval.corpus import places


def turn(id_, text, **more):
    return {"speaker": "Ana", "dia_id": id_, "text": text, **more}


@pytest.fixture
def sample():
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_2_date_time": "12:05 am on 1 January, 2024",
            "session_2": [turn("D2:1", "Happy new year!"), turn("D2:3", "A stranger id.")],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "I adopted a greyhound.", blip_caption="a grey dog on a sofa"),
                turn("D1:2", "   "),
                turn("D1:3", "", blip_caption="a red lead"),
            ],
            "session_3_date_time": "9:00 am on 2 January, 2024",
        },
        "qa": [
            {"question": "What did Ana adopt?", "answer": "x", "evidence": ["D1:1"], "category": 4},
            {"question": "Both?", "answer": "x", "evidence": ["D1:1; D2:1", "D9:9"], "category": 1},
            {"question": "Spelt oddly?", "answer": "x", "evidence": ["D:1:03", "D"], "category": 2},
            {"question": "Nothing?", "answer": "x", "evidence": [], "category": 3},
            {"question": "Blank?", "answer": "x", "evidence": ["D1:2"], "category": 3},
            {"question": "Trick?", "adversarial_answer": "x", "evidence": ["D2:3"], "category": 5},
        ],
    }


@pytest.mark.parametrize(
    ("evidence", "ids"),
    [
        (["D1:3"], [(1, 3)]),
        (["D8:6; D9:17"], [(8, 6), (9, 17)]),
        (["D:11:26"], [(11, 26)]),
        (["D30:05"], [(30, 5)]),
        (["D1:18", "D", "D1:20"], [(1, 18), (1, 20)]),
        (["D1:2 D3:4, D5:6"], [(1, 2), (3, 4), (5, 6)]),
        ("D4:1", [(4, 1)]),
        ([], []),
        (None, []),
        ([7, None], []),
    ],
)
def test_locomo_evidence_is_read_in_every_spelling_it_has(evidence, ids):
    assert locomo.dialogue_ids(evidence) == ids


def test_locomo_turns_come_in_the_order_of_their_sessions_with_their_photos(sample):
    [conversation] = locomo.load([sample]).conversations
    assert [(said.session, said.speaker, said.content) for said in conversation.turns] == [
        ("s1", "Ana", "I adopted a greyhound. [photo: a grey dog on a sofa]"),
        ("s1", "Ana", "[photo: a red lead]"),
        ("s2", "Ana", "Happy new year!"),
        ("s2", "Ana", "A stranger id."),
    ]
    assert {said.said_at for said in conversation.turns} == {
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2024, 1, 1, 0, 5, tzinfo=UTC),
    }


def test_locomo_questions_point_at_places_by_arrival_and_those_without_evidence_are_counted(sample):
    corpus = locomo.load([sample])
    [conversation] = corpus.conversations
    assert [(asked.category, set(asked.gold_turns)) for asked in conversation.questions] == [
        ("single-hop", {("s1", 1)}),
        ("multi-hop", {("s1", 1), ("s2", 1)}),
        ("temporal", {("s1", 2)}),  # the third id, but the second turn that says something
        ("adversarial", {("s2", 2)}),
    ]
    assert corpus.left_out == 2
    assert corpus.apart == {"adversarial"}
    assert conversation.questions[1].gold_sessions == {"s1", "s2"}


@pytest.fixture
def asked():
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Which lens did I buy?",
        "question_date": "2023/05/30 (Tue) 21:36",
        "answer": "x",
        "answer_session_ids": ["answer_abc_1"],
        "haystack_dates": ["2023/08/11 (Fri) 15:58", "2023/08/18 (Fri) 11:15"],
        "haystack_session_ids": ["ultrachat_1", "answer_abc_1"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi", "has_answer": False}],
            [
                {"role": "user", "content": ""},
                {"role": "assistant", "content": "And?"},
                {"role": "user", "content": "I bought the 50 mm.", "has_answer": True},
            ],
        ],
    }


def test_longmemeval_gold_is_what_has_the_answer(asked):
    [conversation] = longmemeval.load([asked]).conversations
    [question] = conversation.questions
    assert question.category == "multi-session"
    assert question.gold_turns == {("s2", 2)}  # the blank turn is not remembered
    assert question.gold_sessions == {"s2"}
    assert [(said.role, said.speaker, said.content) for said in conversation.turns[2:]] == [
        ("assistant", None, "And?"),
        ("user", None, "I bought the 50 mm."),
    ]
    assert conversation.turns[-1].said_at == datetime(2023, 8, 18, 11, 15, tzinfo=UTC)


def test_longmemeval_ids_reach_nothing_that_is_remembered(asked):
    [conversation] = longmemeval.load([asked]).conversations
    assert "answer" not in repr(conversation.turns)
    assert "answer" not in conversation.name


def test_longmemeval_abstentions_are_apart(asked):
    corpus = longmemeval.load([{**asked, "question_id": "q1_abs"}])
    [question] = corpus.conversations[0].questions
    assert question.category in corpus.apart


def test_longmemeval_without_any_evidence_is_counted_and_keeps_its_place_in_the_file(asked):
    lost = {**asked, "answer_session_ids": ["elsewhere"], "haystack_sessions": [[], []]}
    corpus = longmemeval.load([lost, asked])
    assert corpus.left_out == 1
    assert [len(conversation.questions) for conversation in corpus.conversations] == [0, 1]


def test_each_data_set_knows_its_own(sample, asked):
    assert locomo.recognises([sample])
    assert not locomo.recognises([asked])
    assert longmemeval.recognises([asked])
    assert not longmemeval.recognises([sample])
    for strange in ({}, [], [1], "text", None):
        assert not locomo.recognises(strange)
        assert not longmemeval.recognises(strange)


def test_places_count_from_one_within_each_session(sample):
    [conversation] = locomo.load([sample]).conversations
    assert places(conversation.turns) == (("s1", 1), ("s1", 2), ("s2", 1), ("s2", 2))
