"""Rows: the short form of a reply's entries, which says the same as objects with names in fewer tokens."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engrain.domain.memories.predicates import predicate_key
from engrain.domain.text.tokens import approximate_tokens
from engrain.engines.llms.openai import is_strict
from engrain.engines.token_counters import WordPieces
from engrain.learning.consolidation.proposals import UPDATE_REASONS, Evidence, Statement
from engrain.learning.consolidation.reply_parser import parse_reply
from engrain.learning.consolidation.reply_schema import REPLY, ROWS
from engrain.learning.summaries.prompt_data import load_template
from tests.support.recorded_replies import NAMES, in_rows, recorded

# Replies of nothing but whole entries; of the others no row can be made.
WHOLE = sorted(set(NAMES) - {"truncated", "refusal", "wrong_types", "rows"})
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
QUOTE = "e2 I moved to Porto"


def in_objects(name):
    """The last JSON object of a recorded reply that has a section."""
    text = recorded(name).reply
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL) or re.findall(r"\{.*\}(?= |\Z)", text.strip(), re.DOTALL)
    return json.JSONDecoder().raw_decode(blocks[-1].strip())[0]


def read(section, *texts):
    return parse_reply(json.dumps({section: [list(texts)]}))


def without_tags(proposal):
    is_tagged = proposal.says is not None and proposal.says.tags
    return replace(proposal, says=replace(proposal.says, tags=())) if is_tagged else proposal


@pytest.mark.parametrize("name", WHOLE)
def test_rows_say_what_objects_say(name):
    objects, rows = parse_reply(json.dumps(in_objects(name))), parse_reply(in_rows(in_objects(name)))
    assert list(rows) == [without_tags(proposal) for proposal in objects]
    assert len(rows.parse_errors) == len(objects.parse_errors)


@pytest.mark.parametrize("count", [approximate_tokens, WordPieces()], ids=["characters", "WordPiece"])
def test_rows_take_at_most_six_tenths_of_the_tokens_of_objects(count):
    """Of all recorded entries as one batch, both without indentation; ids were shown before, and now short names."""
    replies = [in_objects(name) for name in WHOLE]
    batch = {section: [entry for reply in replies for entry in reply.get(section) or []] for section in ROWS}
    before = count(json.dumps(batch, ensure_ascii=False, separators=(",", ":")))
    after = count(UUID.sub("k12", in_rows(batch)))
    assert after <= 0.6 * before


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ([], {}),
        (["", "", QUOTE], {}),
        (["stable 7 0.9", "2024-04-17", QUOTE], {"permanence": "stable", "importance": 7, "confidence": 0.9}),
        (["7", QUOTE], {"importance": 7}),
        (["0.4"], {"confidence": 0.4}),
        (["Volatile, 3"], {"permanence": "volatile", "importance": 3}),
        ([QUOTE, "2024-04-17", "stable"], {"permanence": "stable"}),  # whatever the order
    ],
)
def test_what_follows_is_known_by_its_form(rest, expected):
    result = read("new_facts", "Ana", "lives in", "Ana lives in Porto.", *rest)
    [proposal] = result
    since = datetime(2024, 4, 17, tzinfo=UTC) if "2024-04-17" in rest else None
    assert proposal.says == Statement(
        subject="Ana", predicate="lives in", content="Ana lives in Porto.", valid_from=since, **expected
    )
    assert proposal.evidence == ((Evidence(episode="e2", quote="I moved to Porto"),) if QUOTE in rest else ())
    assert result.parse_errors == ()


@pytest.mark.parametrize(
    ("written", "day"), [("2019", "2019-01-01"), ("2019-07", "2019-07-01"), ("2019-07-30", "2019-07-30")]
)
def test_a_month_or_a_year_is_since_its_beginning(written, day):
    [proposal] = read("new_facts", "Ana", "lives in", "Porto", written)
    assert proposal.says.valid_from.date().isoformat() == day


@pytest.mark.parametrize("written", ["e3: We met.", "E3 We met.", "e3, We met.", " e3 We met."])
def test_a_quote_begins_with_its_episode(written):
    [proposal] = read("new_rules", "Meet.", written)
    assert proposal.evidence == (Evidence(episode="e3", quote="We met."),)


def test_a_text_of_no_known_form_is_an_error_and_the_rest_is_read():
    result = read("new_facts", "Ana", "lives in", "Porto", "rather sure", 7, QUOTE)
    assert [len(proposal.evidence) for proposal in result] == [1]
    assert result.parse_errors == (
        "new_facts[0][3] 'rather sure' is no rating, no date and no quote with its episode",
        "new_facts[0][4] must be text, not a number",
    )


@pytest.mark.parametrize(
    ("section", "row"), [("new_facts", ["Ana", "likes"]), ("new_facts", []), ("confirmations", [])]
)
def test_a_row_that_is_too_short_is_an_error(section, row):
    result = read(section, *row)
    assert (list(result), len(result.parse_errors)) == ([], 1)
    assert result.parse_errors[0].startswith(f"{section}[0]: ")


@pytest.mark.parametrize(("written", "reason"), [*zip(UPDATE_REASONS, UPDATE_REASONS, strict=True), ("why", "changed")])
def test_an_update_says_why(written, reason):
    [proposal] = read("updated_facts", "k3", written.upper(), "Ana", "lives in", "Ana lives in Porto.", "", "", QUOTE)
    assert (proposal.kind, proposal.target_id, proposal.reason) == ("updated_fact", "k3", reason)


def test_a_confirmation_without_a_quote_is_a_bare_name():
    assert [proposal.evidence for proposal in read("confirmations", "k3")] == [None]
    assert [len(proposal.evidence) for proposal in read("confirmations", "k3", QUOTE)] == [1]


def test_the_template_and_its_example_are_in_the_form_of_the_schema():
    system = load_template("consolidation_2").template
    for section in ROWS:
        assert f"- `{section}`: `{REPLY['properties'][section]['items']['description']}`" in system
    example = parse_reply(system.splitlines()[-1])
    assert example.parse_errors == ()
    assert [(proposal.kind, len(proposal.evidence)) for proposal in example] == [
        *(("new_fact", 1), ("new_fact", 1), ("updated_fact", 1)),
    ]
    quotes = [quote.quote for proposal in example for quote in proposal.evidence]
    assert all(quote in system for quote in quotes)
    assert max(len(quote.split()) for quote in quotes) <= 25


def test_a_service_can_enforce_the_schema():
    """Each object is closed and requires all it has, so the strict mode of services takes it."""
    assert is_strict(REPLY)


def test_the_predicates_that_the_template_names_are_those_of_the_vocabulary():
    named = re.search(
        r"Use these where one fits: (.*?)\. Otherwise", load_template("consolidation_2").template, re.DOTALL
    )
    predicates = [" ".join(predicate.split()) for predicate in named[1].split(",")]
    assert len(predicates) > 30
    assert [predicate_key(predicate) for predicate in predicates] == predicates
