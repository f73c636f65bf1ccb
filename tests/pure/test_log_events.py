"""Events of the log, for whoever formats messages alone and for whoever writes fields."""

import copy
import io
import logging
import pickle

import pytest

from engrain.interfaces.logs import record_fields
from engrain.log_events import LogEvent, get_logger


@pytest.fixture
def plain():
    """What a handler writes that formats messages alone, as Python's own does for who configures nothing."""
    written, logger = io.StringIO(), logging.getLogger("engrain.sample")
    handler = logging.StreamHandler(written)
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"error": "DatabaseFull", "reason": "no room is left, 100% used"},
            ": no room is left, 100% used (error=DatabaseFull)",
        ),
        ({"reason": "no key"}, ": no key"),
        ({"code": "busy", "pause_s": 2}, " (code=busy, pause_s=2)"),
        ({}, ""),
    ],
)
def test_a_message_says_why_and_each_field(plain, fields, message):
    get_logger("engrain.sample").warning("embedding stopped", extra=fields)
    assert plain.getvalue() == f"embedding stopped{message}\n"


def test_who_writes_fields_writes_the_event_without_them(caplog):
    get_logger("engrain.sample").warning("embedding stopped", extra={"reason": "no room is left"})
    fields = record_fields(caplog.records[0])
    assert (fields["event"], fields["reason"]) == ("embedding stopped", "no room is left")
    assert caplog.records[0].msg == "embedding stopped"


def test_a_copy_of_a_record_says_the_same():
    event = LogEvent("embedding stopped", {"reason": "no key"})
    for copied in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):  # our own
        assert (str(copied), copied.name) == ("embedding stopped: no key", "embedding stopped")


def test_a_call_without_fields_takes_arguments(plain):
    get_logger("engrain.sample").warning("the LLM %s failed", "small")
    assert plain.getvalue() == "the LLM small failed\n"
