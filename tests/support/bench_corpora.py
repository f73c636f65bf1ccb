"""Small corpora for the tests of the retrieval bench."""

from datetime import UTC, datetime

from bench.retrieval.corpus import Conversation, Corpus, Question, Turn

MAY_8 = datetime(2023, 5, 8, tzinfo=UTC)


def turn(content, *, session="s1", speaker="Ana", said_at=MAY_8):
    return Turn(session=session, role="user", speaker=speaker, content=content, said_at=said_at)


def question(text, *gold, category="single", sessions=None):
    """A question whose evidence is these (session, turn); their sessions, unless others are named."""
    of_turns = {session for session, _ in gold}
    return Question(
        text=text,
        category=category,
        gold_turns=frozenset(gold),
        gold_sessions=frozenset(of_turns if sessions is None else sessions),
    )


def corpus(turns, questions, *, names=("c1",), apart=()):
    """The same turns and questions in every conversation of these names."""
    conversations = tuple(Conversation(name=name, turns=tuple(turns), questions=tuple(questions)) for name in names)
    return Corpus(name="made up", conversations=conversations, apart=frozenset(apart), left_out=0)
