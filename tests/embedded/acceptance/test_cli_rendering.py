"""The text of answers is found by the names of their types."""

from typing import get_args

from engrain.interfaces.cli.rendering import TEXTS, acknowledgements, lists
from engrain.verbs.signatures import signatures
from engrain.verbs.table import by_name


def names_of_types():
    """The names of all that verbs answer, and of the items of their lists."""
    answers = [each for verb in signatures() for each in (verb.answer, verb.item) if each is not None]
    members = [member for answer in answers for member in (answer, *get_args(answer))]
    return {member.__name__ for member in members if isinstance(member, type)} | {"Memory"}  # memories of any kind


def test_each_text_is_of_an_answer_of_a_verb():
    known = names_of_types()
    assert set(TEXTS) | {*lists.COLUMNS, *lists.LINES} <= known
    assert "Fact" in known


def test_each_acknowledgement_is_of_a_verb():
    assert {*acknowledgements.SAYS, *acknowledgements.NOTES} <= set(by_name())


def test_an_empty_graph_says_so(cli):
    for arguments in (("read",), ("search", "Ana"), ("open", "Ana")):
        ran = cli("graph", *arguments)
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.splitlines()[-1] == "nothing found"
