"""What is decided of many turns at once is what is decided of each alone."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engrain.domain import checks
from engrain.domain.id_columns import derive_ids
from engrain.domain.ids import derived_id
from engrain.domain.joined_texts import JoinedTexts
from engrain.domain.memories.importance import importance_of, importances_of
from engrain.domain.records import ROLES
from engrain.domain.text.secrets import apply_policy, apply_policy_to_all
from engrain.errors import InvalidInput
from engrain.portability.formats.records import ImportedTurn
from engrain.portability.imports import prepare_plain_turns
from engrain.portability.record_converter import RecordConverter
from tests.support.sample_records import act

PIECES = (
    "my password is hunter22",
    "password = Xk29!vv8q",
    "api_key: 'Zt81mmQp04xd'",
    "AKIA1234567890ABCDEF",
    "ghp_" + "a1B2c3D4e5" * 4,
    "https://ana:s3cretpw@host",
    "4111 1111 1111 1111",
    "+351 912 345 678, 42",
    "1 - 2 - 3",
    "My name is Ana",
    "let\N{RIGHT SINGLE QUOTATION MARK}s do it",
    "let's do it",
    "the key to the monkey house",
    "\N{KELVIN SIGN}ey = Zt81mmQp04xd",
    "ol\u00e1 \u0664\u0661\u0661\u0661",
    "-----BEGIN PRIVATE KEY-----",
    "\n",
    " said ",
    "1",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.lists(TEXTS), st.sampled_from(["mask", "keep"]))
@example(["ordinary", *PIECES], "mask")
def test_secrets_are_masked_in_many_texts_as_in_each(texts, policy):
    assert apply_policy_to_all(texts, JoinedTexts(texts), policy) == [apply_policy(text, policy) for text in texts]


def test_a_secret_in_one_of_many_texts_is_refused():
    texts = ["ordinary", "AKIA1234567890ABCDEF", "ordinary"]
    with pytest.raises(InvalidInput, match="holds a secret"):
        apply_policy_to_all(texts, JoinedTexts(texts), "refuse")


@given(st.lists(st.tuples(TEXTS, st.sampled_from(ROLES))))
def test_importance_of_many_is_that_of_each(turns):
    contents, roles = [content for content, _ in turns], [role for _, role in turns]
    expected = [importance_of(content, role=role) for content, role in turns]
    assert importances_of(contents, roles, JoinedTexts(contents)) == expected


@given(st.lists(st.tuples(st.text(max_size=600), st.text(), TIMES), min_size=1))
def test_ids_of_many_are_those_of_each(rows):
    firsts, seconds, times = zip(*rows, strict=True)
    milliseconds = [0 if at is None else (at - EPOCH) // timedelta(milliseconds=1) for at in times]
    expected = [derived_id("tenant", first, second, at=at) for first, second, at in rows]
    assert derive_ids(("tenant", firsts, seconds), milliseconds) == expected


@given(st.lists(st.text(min_size=1) | st.sampled_from(["\x00a", "\ud800", " b ", "\x00", " "])))
def test_contents_are_cleaned_as_each_is(values):
    assert outcome(checks.contents, values) == outcome(lambda texts: list(map(checks.content, texts)), values)


def outcome(clean, values):
    """What a function returns, or says in refusing."""
    try:
        return clean(values)
    except InvalidInput as error:
        return str(error)


NAMES = st.none() | st.sampled_from(["Ana", " Bo ", "\ud800"]) | st.text(min_size=1, max_size=3)


@given(
    st.lists(
        st.builds(
            ImportedTurn,
            NAMES,
            st.sampled_from(ROLES),
            NAMES,
            TEXTS | st.text(min_size=1),
            TIMES,
            st.text(),
            metadata=st.just({"format": "jsonl"}),
        ),
        min_size=1,
    )
)
def test_turns_are_converted_at_once_as_each_is(turns):
    same = dict(turns[0].metadata)
    turns = [turn._replace(metadata=same) for turn in turns]
    converter = RecordConverter(work=SimpleNamespace(act=act()))
    try:
        expected = [converter.convert(turn) for turn in turns]
    except InvalidInput:
        expected = None
    prepared = prepare_plain_turns(turns, converter.act, secrets=converter.secrets)
    assert (prepared and prepared.build([0] * len(turns))) == expected
