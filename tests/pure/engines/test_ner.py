"""Names found in texts: by their spelling, by a function, by a model."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.names.sentences import SENTENCES, SPELT
from engrain.domain.entities.registry import NAME_KINDS, Name
from engrain.engines.callables import CallableNames
from engrain.engines.name_finders.regex import RegexNames
from engrain.entities.recognition import find_names, remove_overlaps
from engrain.errors import EngineUnavailable

PIECES = st.lists(
    st.sampled_from(["@ana", "#tag", "a@b.org", "https://x.org/a.", "May 5", "2026-05-01", " ", ".", "(", ")", "é"])
)


def spans(names):
    return {(each.kind, each.start, each.end) for each in names}


def wrong(finders, kinds):
    """What was found that is none, and what was missed; each as (kind, text)."""
    extra, missed, right = [], [], 0
    for sentence in SENTENCES:
        got = {span for span in spans(find_names(sentence.text, finders)) if span[0] in kinds}
        gold = {each for each in sentence.names if each[0] in kinds}
        right += len(got & gold)
        extra += [(kind, sentence.text[start:end]) for kind, start, end in got - gold]
        missed += [(kind, sentence.text[start:end]) for kind, start, end in gold - got]
    return right, sorted(extra), sorted(missed)


@pytest.mark.req("Y14")
def test_what_spelling_gives_away_is_found_in_seventy_sentences():
    """Precision 61/63, recall 61/61: a colour reads like a hashtag, and a verb like the month."""
    assert len(SENTENCES) == 70
    assert wrong([RegexNames()], SPELT) == (61, [("date", "7 May"), ("hashtag", "#fff000")], [])


@pytest.mark.req("Y14")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("mention", "@ana"),
        ("hashtag", "#launch"),
        ("email", "ana@example.org"),
        ("url", "https://example.org"),
        ("date", "2026-05-01"),
    ],
)
def test_each_kind_of_name_is_found_where_it_stands(kind, text):
    [found] = RegexNames().find(f"See {text} there")
    assert found == Name(text=text, kind=kind, start=4, end=4 + len(text), confidence=found.confidence, source="regex")
    assert 0.9 <= found.confidence <= 0.99


@given(PIECES.map("".join) | st.text(max_size=60))
def test_a_name_stands_where_it_is_said_to_stand(text):
    for each in RegexNames().find(text):
        assert text[each.start : each.end] == each.text != ""
        assert each.kind in SPELT


@pytest.mark.parametrize(
    "text", ["@" * 30_000, "a@" * 15_000, "#a-" * 10_000, "www." * 9_000, "https://x" + ")" * 9_000]
)
def test_a_long_line_of_nothing_much_is_read_in_one_go(text):
    """A pattern that tries again from every place would not come back."""
    assert all(text[each.start : each.end] == each.text for each in RegexNames().find(text))


def name(start, end, confidence=0.5, kind="person", source="x"):
    return Name(text="n" * (end - start), kind=kind, start=start, end=end, confidence=confidence, source=source)


@pytest.mark.req("Y14")
def test_of_names_that_overlap_the_surest_stays_then_the_longest():
    sure, long, short, apart = name(2, 5, 0.9), name(0, 4, 0.8), name(0, 3, 0.8), name(5, 7, 0.1)
    assert remove_overlaps([short, long, sure, apart]) == [sure, apart]
    assert remove_overlaps([short, long]) == [long]
    assert remove_overlaps([apart, long, short]) == [long, apart]


NAMES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from(["x", "y"])).map(
        lambda each: name(each[0], each[0] + each[1], each[2], source=each[3])
    ),
    max_size=8,
)


@given(NAMES, st.randoms())
def test_what_is_kept_never_overlaps_and_whatever_went_met_something_better(names, numbers):
    kept = remove_overlaps(names)
    shuffled = list(names)
    numbers.shuffle(shuffled)
    assert remove_overlaps(shuffled) == kept
    assert all(one.end <= two.start for one, two in itertools.pairwise(kept))
    for each in names:
        overlapping = [other for other in kept if other.start < each.end and each.start < other.end]
        assert any(
            (other.confidence, other.end - other.start) >= (each.confidence, each.end - each.start)
            for other in overlapping
        )


@pytest.mark.req("Y14")
def test_a_function_finds_names_by_its_json_wherever_they_stand():
    said = json.dumps(
        {"names": [{"text": "Ana", "kind": "person", "confidence": 0.7}, {"text": "Oz", "kind": "place"}]}
    )
    finder = CallableNames(lambda _: said, name="mine")
    found = finder.find("Ana met Ana.")
    assert [(each.start, each.end, each.confidence, each.source) for each in found] == [
        (0, 3, 0.7, "mine"),
        (8, 11, 0.7, "mine"),
    ]


@pytest.mark.parametrize(
    "item",
    [{"text": "Ana"}, {"text": "Ana", "kind": "king"}, {"text": 3, "kind": "person"}, {"text": " ", "kind": "person"}],
)
def test_what_is_no_name_in_the_answer_of_a_function_is_left_out(item):
    assert CallableNames(lambda _: [item], name="mine").find("Ana ") == []


def test_of_two_names_that_a_function_finds_the_surer_counts_however_sure_it_is():
    names = [
        {"text": "Ana Lima", "kind": "person", "confidence": 0.9},
        {"text": "Lima met", "kind": "organization", "confidence": 0.95},
    ]
    [found] = find_names("Ana Lima met Bob", [CallableNames(lambda _: names, name="mine")])
    assert (found.text, found.kind) == ("Lima met", "organization")


def test_nothing_that_a_function_says_is_surer_than_spelling():
    mine = CallableNames(lambda _: [{"text": "a@b.org", "kind": "person", "confidence": 1.0}], name="mine")
    assert [each.kind for each in find_names("Mail a@b.org", [mine, RegexNames()])] == ["email"]


@pytest.mark.parametrize("answer", ["no JSON", '"Ana"', "3", "{}", "[1]", None])
def test_an_answer_that_is_no_list_of_names_is_a_failure_of_the_engine(answer):
    with pytest.raises(EngineUnavailable, match="mine"):
        CallableNames(lambda _: answer, name="mine").find("Ana")


def test_every_kind_has_a_place_in_the_sentences():
    assert {kind for sentence in SENTENCES for kind, *_ in sentence.names} | {"other"} == set(NAME_KINDS)
