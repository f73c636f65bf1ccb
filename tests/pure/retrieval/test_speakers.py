import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.retrieval.speakers import SpeakerRef, find_speaker, is_said_by, list_named, remove_speaker_names
from tests.support.sample_search import traits
from tests.support.traits import as_table

ANA, BEN, WILL = "Ana", "Ben Okafor", "Will"
USER, ASSISTANT = SpeakerRef(role="user"), SpeakerRef(role="assistant")
NAMES = st.sampled_from([ANA, BEN, WILL, "東京 太郎", "", "!?", "ⓐ", "The Doctor", "Élise"]) | st.text()


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Where does Ana live?", "Ana"),
        ("where does ana live", "Ana"),
        ("What is Ana's job?", "Ana"),
        ("What is Ana’s job?", "Ana"),  # noqa: RUF001  # an apostrophe as phones write it
        ("What did Ben say?", "Ben Okafor"),
        ("What did Ben Okafor say?", "Ben Okafor"),
        ("¿Qué dijo Élise?", "ÉLISE"),
        ("What did Will say?", "Will"),
        ("Is it Will's?", "Will"),
        ("Is it Will’s?", "Will"),  # noqa: RUF001  # likewise
        ("Who is Will?", "Will"),
        ("Was it (Will) or Ana?", "Will"),
        ("Will, who is that?", "Will Byers"),
        ("太郎ではなく東京は?", "東京 太郎"),
        ("What did the assistant say about my rate?", "assistant"),
        ("User: which boat?", "user"),
        ("The user lives in which town?", "user"),
    ],
)
def test_a_question_names_a_speaker(text, speaker):
    assert list_named(text, ["Otto", speaker]) == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Where does Anabel live?", "Ana"),
        ("banana", "Ana"),
        ("What did Okafor say?", "Ben Okafor"),
        ("When will it rain?", "Will"),
        ("I am free-willed", "Will"),
        ("", "Ana"),
        ("Anything", ""),
        ("?!", "?!"),
        ("a", "ⓐ"),
        ("Who is my assistant?", "assistant"),
        ("Where is a user manual?", "User"),
        ("Which AI do I use?", "AI"),
    ],
)
def test_a_question_does_not_name_a_speaker(text, speaker):
    assert not list_named(text, [speaker])


@pytest.mark.parametrize(
    ("text", "voice"),
    [
        ("Where does Ana live?", SpeakerRef(speaker=ANA)),
        ("What did Ana tell Ben?", None),
        ("What did Ana tell me?", SpeakerRef(speaker=ANA)),
        ("What is my favourite tea?", USER),
        ("What did I tell you?", USER),
        ("I've seen it where?", USER),
        ("What did you recommend?", ASSISTANT),
        ("Which restaurant did you suggest to me?", ASSISTANT),
        ("What was the name of the dish you've recommended I try?", ASSISTANT),
        ("Which tea do you know that I like?", USER),
        ("I was looking at our previous chat: how often did they play?", None),
        ("When did it rain?", None),
        ("", None),
    ],
)
def test_whom_a_question_is_about(text, voice):
    assert find_speaker(text, [ANA, BEN, WILL]) == voice


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Where does Ana live?", "Where does live?"),
        ("What is Ana's job?", "What is job?"),
        ("When will Will come?", "When will come?"),
        ("Who is Ana?", "Who is Ana?"),
        ("Who is my assistant?", "Who is my assistant?"),
    ],
)
def test_names_of_speakers_leave_a_question_that_still_asks_for_something(text, left):
    assert remove_speaker_names(text, [ANA, BEN, WILL, "assistant"]) == left


@given(st.text() | st.lists(NAMES).map(" and ".join), st.lists(NAMES, unique=True))
def test_a_voice_has_a_name_exactly_where_one_speaker_is_named(text, speakers):
    named = list_named(text, speakers)
    voice = find_speaker(text, speakers)
    assert (voice is not None and voice.speaker is not None) == (len(named) == 1)
    if voice is not None and voice.speaker is not None:
        assert [voice.speaker] == named


@pytest.mark.parametrize(
    ("voice", "expected"),
    [
        (None, []),
        (SpeakerRef(speaker="Ana"), ["Ana as user", "Ana as assistant"]),
        (ASSISTANT, ["Ana as assistant", "nobody"]),
    ],
)
def test_whose_turns_a_voice_speaks(voice, expected):
    memories = {
        "Ana as user": traits(role="user", speaker="Ana"),
        "Ana as assistant": traits(role="assistant", speaker="Ana"),
        "Ben": traits(role="user", speaker="Ben"),
        "nobody": traits(role="assistant", speaker=None),
        "a fact": traits(kind="fact"),
    }
    table = as_table(dict(enumerate(memories.values())))
    assert [name for name, is_said in zip(memories, is_said_by(table, voice), strict=True) if is_said] == expected
