"""A fault has a public message, and a detail for whoever runs the memory alone."""

import copy
import inspect
import json
import pickle

import pytest

from engrain import errors
from engrain.agent.operations.leases import error_message
from engrain.domain.faults import code_of, describe_fault, is_of_the_request, public_message
from engrain.domain.records import Answer, Degraded
from engrain.interfaces.redaction import redact

ERRORS = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.EngrainError)]
WORDS = "/srv/memory.db at db.internal:5432 as postgres refused"


@pytest.mark.parametrize("kind", [*ERRORS, ZeroDivisionError, KeyError])
def test_the_message_has_an_errors_own_words_only_where_they_are_about_the_request(kind):
    error = kind(WORDS)
    reason = describe_fault(error)
    assert WORDS in str(reason)
    assert (WORDS in reason.message) == (WORDS in public_message(error)) == is_of_the_request(error)
    assert (reason.detail is None) == is_of_the_request(error)
    assert reason.code == code_of(error)
    assert len(public_message(error)) > 20
    assert WORDS not in error_message(error)
    assert error_message(error).startswith(f"{code_of(error)}: ")


def test_an_engine_that_cannot_answer_is_named_by_what_it_is():
    reason = describe_fault(errors.EngineUnavailable(WORDS), "reranker").with_prefix("nothing was re-ranked: ")
    assert (reason.code, reason.detail) == ("reranker_unavailable", WORDS)
    assert reason.message == "nothing was re-ranked: the reranker cannot answer now"
    assert str(reason) == f"{reason.message}: {WORDS}"
    assert describe_fault(errors.DatabaseBusy(WORDS), "reranker") == describe_fault(errors.DatabaseBusy(WORDS))


def test_a_message_without_a_detail_is_all_there_is():
    reason = Degraded(code="no_embedder", message="no embedder is configured")
    assert str(reason) == reason.message
    assert reason.to_dict() == {"code": "no_embedder", "message": "no embedder is configured", "detail": None}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda reason: pickle.loads(pickle.dumps(reason))])
def test_a_copy_is_equal(again):
    reason = Degraded(code="x", message="whole", detail="inside")
    assert again(reason) == reason


def test_an_answer_prints_whole_and_leaves_without_the_machine(caplog):
    away = Degraded(code="embedder_unavailable", message="it is away", detail=WORDS)
    slow = Degraded(code="reranker_late", message="it is slow")
    answer = Answer(query="tram", preset="engrain", degraded=(away, slow))
    whole = [
        {"code": "embedder_unavailable", "message": "it is away", "detail": WORDS},
        {"code": "reranker_late", "message": "it is slow", "detail": None},
    ]
    assert json.loads(json.dumps(answer.to_dict()))["degraded"] == whole
    left = redact({"inner": [answer.to_dict()], "count": 3, "none": None})
    assert left["inner"][0]["degraded"] == [{**whole[0], "detail": None}, whole[1]]
    assert (left["inner"][0]["query"], left["count"], left["none"]) == ("tram", 3, None)
    assert [record.reason for record in caplog.records] == [WORDS]


def test_redaction_leaves_what_a_memory_says_of_details():
    degraded = {"code": "x", "message": "y", "detail": WORDS}
    assert redact({"metadata": degraded}) == {"metadata": degraded}
