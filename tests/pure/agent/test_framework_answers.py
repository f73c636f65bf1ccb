"""What an adapter of a framework tells a model of a memory."""

from datetime import UTC, datetime

import pytest

from engrain.domain.records import Episode, Fact, Rule
from engrain.integrations.connection import describe_memory

IN_2019, NOW = datetime(2019, 5, 1, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC)
OWN = {"id": "m", "agent": "a", "scope": "a", "created_at": NOW}


def fact(**values):
    return Fact(**OWN, subject="Ana", predicate="lives in", content="Lisbon", last_confirmed_at=NOW, **values)


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        (fact(), {"content": "Ana lives in: Lisbon", "time": NOW.isoformat()}),
        (fact(valid_from=IN_2019), {"content": "Ana lives in: Lisbon", "time": IN_2019.isoformat()}),
        (
            Episode(**OWN, content="Hello.", event_time=IN_2019, role="assistant"),
            {"content": "Hello.", "time": IN_2019.isoformat(), "speaker": "assistant"},
        ),
        (
            Episode(**OWN, content="Hello.", event_time=IN_2019, speaker="Ana"),
            {"content": "Hello.", "time": IN_2019.isoformat(), "speaker": "Ana"},
        ),
        (
            Rule(**OWN, content="No early flights.", last_confirmed_at=NOW),
            {"content": "No early flights.", "time": NOW.isoformat()},
        ),
    ],
)
def test_a_memory_is_told_with_its_subject_when_it_happened_and_who_said_it(memory, told):
    assert describe_memory(memory) == told
