from datetime import UTC, datetime

import pytest

from engrain.portability.formats import read
from engrain.portability.formats.records import BrokenRecord, ImportedTurn


def test_reads_sessions_in_the_order_of_their_numbers(samples):
    boat, cat, new_year, other = read(samples / "locomo.json")

    assert boat == ImportedTurn(
        session="conv-1/session_2",
        role="user",
        speaker="Ines",
        content="I sailed to the Azores. [photo: a photo of a sailing boat]",
        event_time=datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        source_id="conv-1/D2:1",
        metadata={"format": "locomo"},
    )
    assert (cat.speaker, cat.content) == ("Tomas", "[photo: a photo of a cat]")
    assert (new_year.session, new_year.event_time) == ("conv-1/session_10", datetime(2024, 1, 1, 0, 5, tzinfo=UTC))
    assert (other.session, other.source_id, other.event_time) == ("conv-2/session_1", "conv-2/D1:1", None)


def test_broken_turns_sessions_and_samples_are_named(sample, written):
    samples = sample("locomo.json")
    conversation = samples[0]["conversation"]
    conversation["session_2"] = [{"speaker": "Ines", "text": "No id."}, "hm", {"dia_id": "D2:3", "text": " "}]
    conversation["session_3"] = {"turns": []}
    conversation["session_10_date_time"] = "13:05 pm on 1 January, 2024"
    del samples[1]["sample_id"]
    samples += [{"sample_id": "conv-3"}, 5]

    no_id, *broken = read(written("l.json", samples))

    assert no_id.source_id == "conv-1/session_2/1"
    assert broken == [
        BrokenRecord("sample 1, session_2, turn 2", "turn is text ('hm'), expected an object"),
        BrokenRecord("sample 1, session_2, turn 3", "text is text (' ') and there is no photo"),
        BrokenRecord("sample 1, session_3", "session_3 is an object ({'turns': []}), expected a list"),
        BrokenRecord(
            "sample 1, session_10",
            "session_10_date_time is text ('13:05 pm on 1 January, 2024'), "
            "expected a time like '1:56 pm on 8 May, 2023'",
        ),
        BrokenRecord("sample 2", "sample_id is missing; keys found: qa, conversation"),
        BrokenRecord("sample 3", "conversation is null, expected an object"),
        BrokenRecord("sample 4", "a number (5), expected an object"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:00 am on 1 July, 2022", datetime(2022, 7, 1, tzinfo=UTC)),
        ("12:59 PM on 31 December, 2022", datetime(2022, 12, 31, 12, 59, tzinfo=UTC)),
        ("1:00 am on 9 march, 2022", datetime(2022, 3, 9, 1, tzinfo=UTC)),
        ("11:07 pm on 10 November, 2022", datetime(2022, 11, 10, 23, 7, tzinfo=UTC)),
    ],
)
def test_times(sample, written, text, expected):
    samples = sample("locomo.json")[1:]
    samples[0]["conversation"]["session_1_date_time"] = text

    (turn,) = read(written("l.json", samples))

    assert turn.event_time == expected


@pytest.mark.parametrize(
    "text",
    ["1:56 pm on 31 February, 2023", "0:10 am on 1 May, 2023", "1:60 pm on 1 May, 2023", "1:56 pm on 1 Mai, 2023"],
)
def test_a_session_whose_time_cannot_be_read_is_one_broken_record(sample, written, text):
    samples = sample("locomo.json")[1:]
    samples[0]["conversation"]["session_1_date_time"] = text

    (broken,) = read(written("l.json", samples))

    assert broken.position == "sample 1, session_1"
    assert repr(text) in broken.reason
