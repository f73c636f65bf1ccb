"""The reply parser: any reply becomes whole proposals, and errors with place and reason."""

import json
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engrain.domain.ids import is_id
from engrain.domain.records import DECAY_RATES
from engrain.learning.consolidation.proposals import ConsolidationResult, Evidence, Guidance, Statement
from engrain.learning.consolidation.reply_parser import (
    MOST_CHARACTERS,
    MOST_CONTENT,
    MOST_ENTRIES,
    NO_JSON,
    parse_reply,
)
from tests.support.recorded_replies import NAMES, recorded

SECTIONS = ("new_facts", "updated_facts", "new_rules", "confirmations")
EVIDENCE = [{"episode": "e1", "quote": "I moved to Porto"}]
FACT = {"subject": "Ana", "predicate": "lives in", "content": "Porto", "evidence": EVIDENCE}
ID = "018f0000-0000-7000-8000-000000000001"


def said(**sections):
    return json.dumps({**{name: [] for name in SECTIONS}, **sections})


def one(reply):
    result = parse_reply(reply)
    assert result.parse_errors == ()
    [proposal] = result
    return proposal


@pytest.mark.req("B13.1")
@pytest.mark.parametrize(
    "fence", ["```json\n%s\n```", "```\n%s\n```", "Sure!\n\n```JSON\r\n%s\r\n```\nDone {ok}.", "```json\n%s"]
)
def test_a_fenced_block_is_the_reply(fence):
    assert one(fence % said(new_facts=[FACT])).says.content == "Porto"


@pytest.mark.req("B13.2")
@pytest.mark.parametrize(
    "prose", ["%s", "Well {hm}: %s", "{ %s", 'A "quoted { brace" and then %s and } after', "```json %s ```"]
)
def test_a_bare_object_is_read_from_its_outermost_brace_to_the_one_that_closes_it(prose):
    braces = {**FACT, "content": 'a } in "text" and a { too'}
    assert one(prose % said(new_facts=[braces])).says.content == braces["content"]


def test_of_two_blocks_the_last_counts_and_the_other_is_told_of():
    first, second = said(new_facts=[FACT]), said(new_facts=[{**FACT, "content": "Faro"}])
    result = parse_reply(f"```json\n{first}\n```\nNo, better:\n```json\n{second}\n```")
    assert [proposal.says.content for proposal in result] == ["Faro"]
    assert result.parse_errors == ("2 JSON blocks found: the last one counts",)


def test_a_fenced_block_counts_before_a_bare_object():
    result = parse_reply(f"```json\n{said(new_facts=[FACT])}\n```\nnot {said(new_facts=[{**FACT, 'content': 'Faro'}])}")
    assert [proposal.says.content for proposal in result] == ["Porto"]


def test_objects_that_are_no_reply_are_passed_over():
    assert one(f'{{"thought": 1}} {{}} {said(new_facts=[FACT])} {{"usage": 3}}').says.content == "Porto"


@pytest.mark.req("B13.6")
@pytest.mark.parametrize(
    "reply", ["", "I cannot do that.", "{}", "[1, 2]", '{"facts": []}', "null", "\x00\xff\ud800", "{" * 5_000]
)
def test_a_reply_without_json_is_an_error_and_nothing_else(reply):
    assert parse_reply(reply) == ConsolidationResult(parse_errors=(NO_JSON,), is_readable=False)
    assert NO_JSON == "No JSON block found in consolidation output"


def test_a_reply_that_was_cut_off_says_where():
    whole = said(new_facts=[FACT])
    result = parse_reply("Here: " + whole[:80])
    assert not result.is_readable
    assert list(result) == []
    assert result.parse_errors[0] == NO_JSON
    assert result.parse_errors[1].startswith("the JSON that begins at character 6 is broken or cut off: ")
    assert "at character 8" in result.parse_errors[1]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"new_facts": ' + "[" * 100_000, "it nests too deep"),
        ('{"new_facts": [' + "9" * 10_000 + "]}", "it holds a number that is too long"),
    ],
)
def test_json_that_python_does_not_read_is_an_error(reply, why):
    assert parse_reply(reply).parse_errors[-1].endswith(why)


def test_a_reply_of_megabytes_is_not_read():
    result = parse_reply(said(new_facts=[{**FACT, "content": "x" * 5_000_000}]))
    assert not result.is_readable
    assert list(result) == []
    assert f"the most is {MOST_CHARACTERS:,}" in result.parse_errors[0]


def test_braces_by_the_hundred_thousand_take_no_time_of_their_own():
    """Each opens something that is never closed: reading on from every one of them would take hours."""
    result = parse_reply(('{"new_facts": [' * 900) + "1," * 400_000)
    assert not result.is_readable


@pytest.mark.req("B13.3", "N16")
@pytest.mark.parametrize("missing", ["subject", "predicate", "content"])
@pytest.mark.parametrize("value", [None, "", "  \x00 ", 12, ["Ana"]])
def test_a_new_fact_lacks_nothing(missing, value):
    result = parse_reply(said(new_facts=[{**FACT, missing: value}, FACT]))
    assert [proposal.says.content for proposal in result.new_facts] == ["Porto"]
    [error] = result.parse_errors
    assert error.startswith(f"new_facts[0]: {missing} ")


VALUES = {
    "permanence": [
        *[(given, "standard") for given in (None, "for ever", 3)],
        (" Stable ", "stable"),
        ("ephemeral", "ephemeral"),
    ],
    "importance": [
        *[(given, 5) for given in (None, "high", True, float("nan"))],
        *[(0, 1), (-3, 1), (99, 10), (1e308 * 10, 10), (6.5, 6.5), (" 8 ", 8), ("12", 10)],
    ],
    "confidence": [(None, 1), (7, 1), (-1, 0), ("sure", 1), (0.4, 0.4), (float("nan"), 1)],
    "tags": [
        *[(given, ()) for given in (None, "home", {"a": 1})],
        (["home", 7, "", "home", "x" * 600, " far "], ("home", "far")),
    ],
}


@pytest.mark.req("B13.3")
@pytest.mark.parametrize(
    ("name", "given", "expected"), [(name, *pair) for name, pairs in VALUES.items() for pair in pairs]
)
def test_a_value_out_of_range_is_the_nearest_and_one_of_another_type_the_default(name, given, expected):
    assert getattr(one(said(new_facts=[{**FACT, name: given}])).says, name) == expected


@pytest.mark.req("B13.4")
@pytest.mark.parametrize("missing", ["target_id", "subject", "predicate", "content"])
def test_an_update_lacks_nothing(missing):
    update = {"target_id": ID, **FACT}
    assert one(said(updated_facts=[update])).target_id == ID
    del update[missing]
    result = parse_reply(said(updated_facts=[update], new_facts=[FACT]))
    assert result.updated_facts == ()
    [error] = result.parse_errors
    assert error.startswith(f"updated_facts[0]: {missing} ")


@pytest.mark.req("B13.4", "B13.5")
@pytest.mark.parametrize(
    "wrong",
    ["fact-1", "k0", "k1 k2", "", None, 7, ID[:-1], f"{{{ID}}}", ID.replace("-", ""), f"urn:uuid:{ID}", {"id": ID}],
)
def test_a_target_is_a_name_of_the_prompt_or_a_uuid(wrong):
    result = parse_reply(said(updated_facts=[{**FACT, "target_id": wrong}], confirmations=[wrong, ID, " K12"]))
    assert [proposal.target_id for proposal in result] == [ID, "k12"]
    assert len(result.parse_errors) == 2
    assert result.parse_errors[1].startswith("confirmations[0]: target_id ")
    assert result.parse_errors[1].endswith(" is neither a name such as k1 nor a valid UUID")


@pytest.mark.req("B13.5")
def test_a_confirmation_is_an_id_or_an_id_with_evidence():
    result = parse_reply(said(confirmations=[ID.upper(), {"target_id": ID, "evidence": EVIDENCE}]))
    assert [proposal.target_id for proposal in result.confirmations] == [ID, ID]
    assert [proposal.evidence for proposal in result.confirmations] == [
        None,
        (Evidence(episode="e1", quote="I moved to Porto"),),
    ]


def test_a_rule_needs_words():
    result = parse_reply(said(new_rules=[{"content": "Be brief.", "evidence": EVIDENCE}, {"content": " "}, "Be kind."]))
    assert [proposal.says for proposal in result.new_rules] == [Guidance(content="Be brief.")]
    assert [error.partition(":")[0] for error in result.parse_errors] == ["new_rules[1]", "new_rules[2]"]


def test_evidence_that_is_none_is_told_of_and_left_out():
    evidence = [
        {"episode": 2, "quote": "x"},
        "e1",
        {"episode": "e1"},
        {"episode": "e1", "quote": "y" * 3_000},
        *EVIDENCE,
        *EVIDENCE,
    ]
    result = parse_reply(said(new_facts=[{**FACT, "evidence": evidence}, {**FACT, "evidence": "e1"}]))
    assert [len(proposal.evidence) for proposal in result] == [1, 0]
    assert [error.partition(" ")[0] for error in result.parse_errors] == [
        *(f"new_facts[0].evidence[{place}]" for place in range(3)),
        "new_facts[0].evidence[3].quote",
        "new_facts[1].evidence",
    ]


def test_a_section_of_the_wrong_type_is_an_error_and_the_others_are_read():
    result = parse_reply(
        said(new_facts={"0": FACT}, new_rules="none", confirmations=None, updated_facts=[{"target_id": ID, **FACT}])
    )
    assert len(list(result)) == 1
    assert result.parse_errors == ("new_facts must be a list, not an object", "new_rules must be a list, not text")


@pytest.mark.parametrize(
    "sections", [{"new_facts": "none"}, {"new_facts": ["Ana lives in Porto"]}, {"confirmations": ["x"]}]
)
def test_a_reply_whose_every_entry_is_broken_says_nothing_of_its_episodes(sections):
    assert not parse_reply(said(**sections)).is_readable


def test_a_reply_that_has_nothing_to_say_says_so():
    assert parse_reply(said()) == ConsolidationResult()


def test_a_flood_is_cut_and_its_errors_too():
    result = parse_reply(said(new_facts=[FACT] * (MOST_ENTRIES + 5), confirmations=["x"] * 200))
    assert len(result.new_facts) == MOST_ENTRIES
    assert (
        result.parse_errors[0]
        == f"new_facts has {MOST_ENTRIES + 5:,} entries; only the first {MOST_ENTRIES:,} were read"
    )
    assert len(result.parse_errors) == 51
    assert result.parse_errors[-1] == "and 151 more errors"


def test_content_is_bounded():
    [error] = parse_reply(said(new_facts=[{**FACT, "content": "x" * (MOST_CONTENT + 1)}])).parse_errors
    assert f"the most is {MOST_CONTENT:,}" in error


# Anything at all


def check_whole(reply):
    """What `parse` promises of any text."""
    result = parse_reply(reply)
    assert isinstance(result, ConsolidationResult)
    assert all(isinstance(error, str) and error for error in result.parse_errors)
    assert result.is_readable or (list(result) == [] and result.parse_errors)
    for proposal in result:
        match proposal.says:
            case Statement() as says:
                assert proposal.kind in {"new_fact", "updated_fact"}
                assert all((says.subject.strip(), says.predicate.strip(), says.content.strip()))
                assert 1 <= says.importance <= 10
                assert 0 <= says.confidence <= 1
                assert says.permanence in DECAY_RATES
                assert all(says.tags)
            case Guidance() as says:
                assert proposal.kind == "new_rule"
                assert says.content.strip()
            case None:
                assert proposal.kind == "confirmation"
        assert (proposal.target_id is None) == (proposal.kind in {"new_fact", "new_rule"})
        assert proposal.target_id is None or is_id(proposal.target_id) or proposal.target_id.startswith("k")
        json.dumps(proposal.to_dict())


REPLIES = [recorded(name).reply for name in NAMES]
PIECES = [
    *('{"', "}", "[", "]", '"', "\\", "```", "```json\n", "\n", ",", ":", "null", "NaN", "-1e999", "9" * 5000, "\x00"),
    *('"new_facts"', '"evidence": []', '"target_id": 3', "{}", "\ud800", "{" * 300, "\u2028", "Inês", "0"),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([ID, "e1", *SECTIONS]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*SECTIONS, *FACT, "target_id", "tags", "importance", "quote", "episode"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


def damaged(reply, chance):
    """The reply with up to four places in which something is lost, doubled or put in."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(reply) + 1)
        end = start + chance.choice([0, 0, 1, 3, 40])
        put_in = chance.choice([*PIECES, reply[start : start + 30], ""])
        reply = reply[:start] + put_in + reply[end:]
    return reply


@given(st.integers(min_value=0))
def test_a_real_reply_with_pieces_lost_and_put_in_is_whole_proposals_or_errors(seed):
    """Sixty a seed, a hundred seeds."""
    chance = Random(seed)
    for _ in range(60):
        check_whole(damaged(chance.choice(REPLIES), chance))


@given(st.dictionaries(st.sampled_from(SECTIONS), JSON, min_size=1))
def test_any_json_in_place_of_a_reply_is_whole_proposals_or_errors(reply):
    check_whole(json.dumps(reply))


@given(st.text())
@example("```json\n")
@example("{" * 50_000)
def test_any_text_is_whole_proposals_or_errors(reply):
    check_whole(reply)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_replies_are_read(name):
    check_whole(recorded(name).reply)


@pytest.mark.parametrize("end", range(0, 900, 7))
def test_a_reply_cut_anywhere_yields_no_piece_of_itself(end):
    reply = recorded("prose_around_fence").reply
    before = reply[: min(end, reply.index("\n}\n") - 1)]
    assert list(parse_reply(before)) == []
