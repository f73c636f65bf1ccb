"""Evidence for questions that name what no memory names, on both databases, with the shipped embedder."""

import pytest

from engrain.service import Memory


@pytest.fixture
def assistant(location):
    with Memory.open(location) as memory:
        session = memory.agent("assistant", session="office")
        session.observe("The Atlas report is due on the 27th of February.", role="user", speaker="Nadia")
        session.observe("I sit beside Karim in room 214.", role="user", speaker="Nadia")
        memory.flush()
        yield session


def test_a_name_that_no_memory_has_halves_the_evidence_at_least(assistant):
    known = assistant.recall("When is the Atlas report due?")
    unknown = assistant.recall("When is the Corvus report due?")
    assert unknown.hits[0].memory.id == known.hits[0].memory.id
    assert known.evidence == "strong"
    assert unknown.evidence_score < known.evidence_score / 2


def test_what_another_speaker_said_of_themselves_halves_the_evidence_at_least(location):
    with Memory.open(location) as memory:
        flat = memory.agent("flat", session="kitchen")
        flat.observe("I'm allergic to cats, so no pets in here.", role="user", speaker="Dario")
        flat.observe("My shelf in the fridge is the top one.", role="user", speaker="Yuki")
        memory.flush()
        known, unknown = (flat.recall(f"What is {name} allergic to?") for name in ("Dario", "Yuki"))
        assert known.evidence == "strong"
        assert unknown.evidence_score < known.evidence_score / 2
