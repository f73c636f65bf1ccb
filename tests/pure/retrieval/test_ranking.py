import math
from datetime import timedelta
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.memories.decay import ANCHORS, CURVES, DecayPolicy, decayed_confidence
from engrain.domain.records import Explanation
from engrain.domain.text.dialogue.changes import describe_statement
from engrain.domain.text.dialogue.questions import REQUESTING
from engrain.retrieval.candidates import Share, explain_rows
from engrain.retrieval.chronology.time_expressions import Span
from engrain.retrieval.ranking.inputs import RankingInput
from engrain.retrieval.ranking.signals import SIGNALS, add_signals, effective_confidence
from tests.support.sample_records import NOON, fact
from tests.support.sample_search import traits
from tests.support.traits import as_table

REFS = st.integers(1, 12)
SCORES = st.dictionaries(REFS, st.floats(-1, 3), min_size=1)
AGES = st.floats(-10, 400).map(lambda days: NOON - timedelta(days=days))
TRAITS = st.builds(
    traits,
    session=st.sampled_from([None, "monday", "friday"]),
    asking=st.floats(0, 1),
    importance=st.floats(0, 10),
    confidence=st.floats(0, 1),
    decay_rate=st.sampled_from([0.0, 0.008, 0.1]),
    created_at=AGES,
    confirmed_at=st.none() | AGES,
    referenced_at=st.none() | AGES,
)
KNOWN = st.fixed_dictionaries(dict.fromkeys(range(1, 13), TRAITS))
WEIGHTS = st.dictionaries(st.sampled_from([*SIGNALS]), st.floats(0.01, 1))


def listed(scores):
    """What the lists gave, as `fusion.fuse` says it, by ref ascending."""
    raws = np.array([scores[ref] for ref in sorted(scores)])
    return Share("vector", 1.0, raws, raws, np.ones(len(raws), np.bool_), np.arange(1, len(raws) + 1))


def judged(scores, known, weights, text="Which tram?", spans=()):
    judging = partial(RankingInput, now=NOON, text=text, speakers=["Ana"], spans=spans, traits=as_table(known))
    shares = add_signals([listed(scores)], weights, judging)
    return dict(zip(sorted(scores), explain_rows(shares, range(len(scores))), strict=True))


def gained(found, ref, name):
    return next((share for share in found[ref] if share.channel == name), None)


@given(SCORES, KNOWN, WEIGHTS)
def test_contributions_add_up_exactly_and_what_the_lists_gave_stays(scores, known, weights):
    known = {ref: known[ref] for ref in scores}
    found = judged(scores, known, weights)
    assert set(found) == set(scores)
    for ref, shares in found.items():
        assert (shares[0].channel, shares[0].value) == ("vector", scores[ref])
        names = [share.channel for share in shares[1:]]
        assert names == [name for name in SIGNALS if name in names]
        assert set(names) <= set(weights)
        assert Explanation(preset="any", contributions=shares).score == math.fsum(share.value for share in shares)
        assert all(share.rank is None and share.weight == weights[share.channel] for share in shares[1:])


@given(SCORES, KNOWN, st.floats(0, 1))
def test_a_candidate_gains_a_share_of_the_best_score_of_its_session(scores, known, weight):
    known = {ref: known[ref] for ref in scores}
    found = judged(scores, known, {"session": weight})
    for ref in scores:
        place = known[ref].session
        together = [other for other in scores if known[other].session == place]
        share = gained(found, ref, "session")
        assert share.raw == max(scores[other] for other in together)
        assert share.value == weight * share.raw


def test_sessions_of_one_name_in_two_scopes_are_two():
    known = {1: traits(session="monday"), 2: traits(session="monday", scope="pool:team")}
    found = judged({1: 0.2, 2: 0.9}, known, {"session": 0.5})
    assert (gained(found, 1, "session").raw, gained(found, 2, "session").raw) == (0.2, 0.9)


def test_who_is_asked_about_gains_the_weight_and_the_others_nothing():
    known = {1: traits(role="user"), 2: traits(role="assistant"), 3: traits(kind="fact")}
    found = judged({1: 0.2, 2: 0.9, 3: 0.4}, known, {"speaker": 0.2}, text="What did I say?")
    assert gained(found, 1, "speaker").value == 0.2
    assert [gained(found, ref, "speaker") for ref in (2, 3)] == [None, None]


def test_who_is_named_gains_by_speaking():
    known = {1: traits(speaker="Ana"), 2: traits(speaker="Ben")}
    found = judged({1: 0.2, 2: 0.9}, known, {"speaker": 0.2}, text="Which tram does Ana take?")
    assert [gained(found, ref, "speaker") is not None for ref in (1, 2)] == [True, False]


def test_a_turn_gains_by_what_it_states():
    found = judged({1: 0.2, 2: 0.9}, {1: traits(asking=0.25), 2: traits(asking=1.0)}, {"statement": 0.4})
    assert [gained(found, ref, "statement").value for ref in (1, 2)] == pytest.approx([0.3, 0.0])


def test_what_lies_in_a_time_that_is_asked_for_gains_and_what_is_near_it_less():
    day = Span(NOON, NOON + timedelta(days=1))
    known = {place: traits(happened_at=NOON + timedelta(days=days)) for place, days in enumerate((0.5, 1.75, 9))}
    found = judged(dict.fromkeys(known, 0.5), known, {"moment": 0.1}, spans=[day])
    assert [each and each.value for each in (gained(found, ref, "moment") for ref in known)] == [
        0.1,
        pytest.approx(0.025),
        None,
    ]


def test_a_fact_that_has_not_begun_loses_and_a_turn_or_one_that_is_asked_for_does_not():
    tomorrow = NOON + timedelta(days=1)
    known = {
        1: traits(kind="fact", happened_at=tomorrow),
        2: traits(kind="episode", happened_at=tomorrow),
        3: traits(kind="fact"),
    }
    lost = [gained(judged(dict.fromkeys(known, 0.5), known, {"upcoming": 0.3}), ref, "upcoming") for ref in known]
    assert [share and share.value for share in lost] == [pytest.approx(-0.15), None, None]
    asked = judged(
        dict.fromkeys(known, 0.5), known, {"upcoming": 0.3}, spans=[Span(NOON, tomorrow + timedelta(days=1))]
    )
    assert gained(asked, 1, "upcoming") is None


COMPOSITE = {"importance": 0.3, "recency": 0.2, "confidence": 0.1}


@pytest.mark.req("B08.1")
def test_importance_recency_and_confidence_by_hand():
    known = {
        1: traits(
            importance=8.0,
            confidence=0.9,
            decay_rate=0.008,
            confirmed_at=NOON - timedelta(days=10),
            referenced_at=NOON - timedelta(days=7),
        )
    }
    found = judged({1: 0.35}, known, COMPOSITE)
    assert gained(found, 1, "importance").value == pytest.approx(0.3 * 8 / 10)
    assert gained(found, 1, "recency").value == pytest.approx(0.2 * 0.5)
    assert gained(found, 1, "confidence").value == pytest.approx(0.1 * 0.9 * math.exp(-0.08))
    score = Explanation(preset="recall", contributions=found[1]).score
    assert score == pytest.approx(0.35 + 0.24 + 0.1 + 0.09 * math.exp(-0.08))


@pytest.mark.req("B08.2")
def test_who_was_never_referenced_gains_nothing_for_it():
    found = judged({1: 0.35}, {1: traits(referenced_at=None)}, COMPOSITE)
    assert gained(found, 1, "recency").value == 0.0


@pytest.mark.req("B09.2")
def test_what_nobody_confirmed_is_not_believed():
    found = judged({1: 0.35}, {1: traits(confidence=1.0, confirmed_at=None)}, COMPOSITE)
    assert gained(found, 1, "confidence").value == 0.0


@pytest.mark.req("C08")
@pytest.mark.parametrize(("days", "left"), [(2, 1.0), (7, 0.8), (30, 0.6), (90, 0.4), (180, 0.4)])
def test_age_takes_its_share_of_the_whole_score_and_says_so(days, left):
    known = {1: traits(created_at=NOON - timedelta(days=days))}
    found = judged({1: 0.7}, known, {"importance": 0.2, "age": 1.0})
    share = gained(found, 1, "age")
    assert share.raw == left
    assert Explanation(preset="notes", contributions=found[1]).score == pytest.approx((0.7 + 0.2 * 0.5) * left)


@pytest.mark.parametrize(
    "text", ["How many trams are there?", "What did I spend in total?", "Wie viele Katzen habe ich?"]
)
def test_a_question_that_counts_takes_from_a_candidate_for_each_better_one_of_its_session(text):
    known = {ref: traits(session="friday" if ref == 2 else "monday") for ref in (1, 2, 3, 4)}
    scores = {1: 0.9, 2: 0.5, 3: 0.8, 4: 0.7}
    found = judged(scores, known, {"spread": 0.1}, text)
    shares = {ref: gained(found, ref, "spread") for ref in scores}
    assert {ref: share and (share.raw, share.value) for ref, share in shares.items()} == {
        1: None,
        2: None,
        3: (1.0, -0.1),
        4: (2.0, -0.2),
    }


def test_a_question_that_does_not_count_takes_nothing():
    known = {1: traits(session="monday"), 2: traits(session="monday")}
    assert gained(judged({1: 0.9, 2: 0.8}, known, {"spread": 0.1}, "Which trams?"), 2, "spread") is None


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        ("Which tram is next?", {1: None, 2: 0.05, 3: 0.1, 4: None}),
        ("Which tram was next?", {1: None, 2: None, 3: None, 4: None}),  # about the past
        ("Which tram does Ana like?", {1: None, 2: None, 3: None, 4: None}),  # of all that a speaker said
        ("When does Ana go?", {1: None, 2: 0.05, 3: 0.1, 4: None}),
        ("When did the tram last stop?", {1: None, 2: 0.1, 3: 0.2, 4: 0.3}),  # by its time, of all that answer
        ("When did Ana last go?", {1: None, 2: 0.1, 3: 0.2, 4: 0.3}),
        ("What was the last tram of last week?", {1: None, 2: 0.1, 3: 0.2, 4: 0.3}),
        ("Which trams were late last night?", {1: None, 2: None, 3: None, 4: None}),
    ],
)
def test_of_those_nearly_as_good_as_the_best_the_later_gain(text, gains):
    days = {1: 1, 2: 2, 3: 3, 4: 4}
    known = {ref: traits(happened_at=NOON + timedelta(days=later)) for ref, later in days.items()}
    found = judged({1: 1.0, 2: 0.99, 3: 0.96, 4: 0.9}, known, {"lateness": 0.1}, text)
    shares = {ref: gained(found, ref, "lateness") for ref in known}
    assert {ref: share and round(share.value, 6) for ref, share in shares.items()} == gains


@pytest.mark.parametrize(("days", "gains"), [(1, {1: None, 2: 0.1, 3: None}), (30, {1: None, 2: None, 3: None})])
def test_of_those_nearly_as_good_as_the_best_those_of_the_day_that_is_named_gain(days, gains):
    known = {ref: traits(happened_at=NOON + timedelta(days=ref)) for ref in gains}
    span = Span(NOON + timedelta(days=2), NOON + timedelta(days=2 + days))
    found = judged({1: 1.0, 2: 0.99, 3: 0.9}, known, {"lateness": 0.1}, "Which tram was late on Monday?", [span])
    shares = {ref: gained(found, ref, "lateness") for ref in known}
    assert {ref: share and round(share.value, 6) for ref, share in shares.items()} == gains


def stated(content, days=0, role="user", asking=0.0, **changes):
    """Traits of a turn that was said so many days later."""
    described = describe_statement(content, role=role, asking=asking)._asdict()
    return traits(happened_at=NOON + timedelta(days=days), role=role, asking=asking, **described, **changes)


def in_session(content, turn, **changes):
    return stated(content, session="monday", turn=turn, **changes)


def replied(known, scores, echoes=None):
    """What the second of some candidates gains by `reply`, None for nothing."""
    refs = {ref: score for ref, score in scores.items() if echoes is None or ref not in echoes}
    table = as_table(known)
    is_echo = np.isin(table["doc"], list(echoes or ()))
    judging = partial(RankingInput, now=NOON, text="Which tram?", speakers=["Ana"], spans=())
    judging = partial(judging, traits=table[~is_echo], echoes=table[is_echo])
    shares = add_signals([listed(refs)], {"reply": 1.0}, judging)
    found = dict(zip(sorted(refs), explain_rows(shares, range(len(refs))), strict=True))
    share = gained(found, 2, "reply")
    return None if share is None else round(share.value, 6)


ASKED = in_session("What's she called?", 1, role="assistant", asking=1.0)
REQUESTED = in_session("Write me a packing list.", 1, asking=REQUESTING)


@pytest.mark.parametrize(
    ("question", "answer", "gain"),
    [
        (ASKED, in_session("Biscuit.", 2), 0.5),
        (in_session("Aha! What's she called?", 1, role="assistant", asking=0.7), in_session("Biscuit.", 2), 0.5),
        (in_session("What's she called?", 1, speaker="Ben", asking=1.0), in_session("Biscuit.", 2, speaker="Ana"), 0.5),
        (in_session("Aha!", 1, role="assistant"), in_session("Biscuit.", 2), None),  # asks nothing
        (in_session("What's she called?", 1, asking=1.0), in_session("Biscuit.", 2), None),  # of the same speaker
        (in_session("What's she called?", 1, asking=1.0), in_session("Biscuit.", 2, role="assistant"), None),
        (
            REQUESTED,
            in_session("Rain jacket, wool hat, two sweaters, waterproof shoes, adapter.", 2, role="assistant"),
            0.5,
        ),
        (ASKED, in_session("Biscuit.", 3), None),  # after something else
        (ASKED, in_session("Why?", 2, asking=1.0), None),
        (ASKED, in_session("She came by herself, on a Sunday in May, all wet, and stayed.", 2), None),
    ],
)
def test_a_short_answer_has_the_score_of_the_question_that_another_asked_before_it(question, answer, gain):
    assert replied({1: question, 2: answer}, {1: 0.9, 2: 0.4}) == gain
    assert replied({1: question, 2: answer}, {1: 0.3, 2: 0.4}) is None


def test_a_short_answer_to_what_the_query_repeats_has_the_best_score():
    known = {1: ASKED, 2: in_session("Biscuit.", 2), 3: in_session("I have a dog.", 5)}
    assert replied(known, {1: 0.0, 2: 0.4, 3: 0.8}, echoes={1}) == 0.4


RENT, CUT = stated("The rent is 900 euros."), stated("The rent is 700 euros now.", 1)


def corrected(known, text="What is the rent?", scores=None):
    """What each candidate gains by `change`: the score of what it corrects, and the value; None for nothing."""
    scores = scores or {1: 0.9, 2: 0.7, 3: 0.8}
    found = judged({ref: scores[ref] for ref in known}, known, {"change": 1.0}, text)
    return {ref: (share.raw, round(share.value, 6)) for ref in known if (share := gained(found, ref, "change"))}


def test_a_change_stands_just_above_the_older_statement_that_it_corrects():
    assert corrected({1: RENT, 2: CUT}) == {2: (0.9, 0.201)}
    assert corrected({1: RENT, 2: CUT, 3: stated("The dog is called Rex.", 2)}) == {2: (0.9, 0.201)}


@pytest.mark.parametrize(
    ("text", "older", "newer"),
    [
        ("Who has my drill?", "I lent the drill to Kofi.", "Kofi gave back the drill."),
        ("Who am I dating?", "I'm dating Tom.", "Tom and I broke up."),
    ],
)
def test_who_was_somebody_or_had_something_stands_below_its_end(text, older, newer):
    assert corrected({1: stated(older), 2: stated(newer, 1)}, text, {1: 0.9, 2: 0.55}) == {2: (0.9, 0.351)}


def test_a_change_of_what_is_counted_need_not_say_whose_it_is():
    older, newer = stated("Mum takes metoprolol, 50 mg a day."), stated("The doctor raised her metoprolol to 75 mg.", 1)
    assert corrected({1: older, 2: newer}, "How much metoprolol does mum take?") == {2: (0.9, 0.201)}


@pytest.mark.parametrize("older", ["Yusuf in 7B needs large print.", "I teach 7B and 9A."])
def test_who_leaves_something_says_nothing_new_of_the_others_in_it(older):
    known = {1: stated(older), 2: stated("Mia Koch moved from 7B to 7C.", 1)}
    assert corrected(known, "Who needs large print?") == corrected(known, "What classes do I teach?") == {}


def test_who_leaves_something_is_in_it_no_more():
    known = {1: stated("Mia Koch is in 7B."), 2: stated("Mia Koch moved from 7B to 7C.", 1)}
    assert corrected(known, "Which class is Mia in?") == {2: (0.9, 0.201)}


def test_what_was_put_off_stands_above_the_first_time_where_it_is_asked_when_it_was():
    known = {1: stated("The start is on 2 November."), 2: stated("The start slipped to 9 November.", 1)}
    assert corrected(known, "When did we start?") == {2: (0.9, 0.201)}


def test_what_does_not_tell_the_attribute_asked_for_corrects_nothing_that_does():
    known = {1: stated("The mail flag is called new_mail_path."), 2: stated("The mail flag is at 50% now.", 1)}
    assert corrected(known, "What is the mail flag called?") == {}
    assert corrected(known, "How is the mail flag set?") == {2: (0.9, 0.201)}


def test_what_corrects_another_correction_corrects_the_same_first_statement():
    """The sofa comes another day than Danuta, who is the cleaner."""
    known = {
        1: stated("The cleaner, Danuta, comes on Wednesdays from 9."),
        2: stated("Danuta can't do Wednesdays any more, she comes on Fridays.", 1),
        3: stated("The sofa comes on 12 January.", 2),
    }
    found = corrected(known, "When does the cleaner come?", {1: 0.9, 2: 0.5, 3: 0.6})
    assert found[2] == (0.9, 0.401)


PORT, OTHER_PORT = "The gateway listens on port 8080.", "Sorry, 9090."


@pytest.mark.parametrize(
    ("changes", "gains"),
    [
        ({"turn": 2}, True),
        ({"turn": 4}, True),  # an assistant has answered
        ({"turn": 5}, False),
        ({"turn": 2, "session": 8}, False),
        ({"turn": 2, "speaker": "Ben"}, False),
    ],
)
def test_what_its_speaker_takes_back_shortly_after_stands_below(changes, gains):
    said = {"session": 7, "speaker": "Ana"}
    known = {1: stated(PORT, turn=1, **said), 2: stated(OTHER_PORT, 0.01, **said | changes)}
    assert (2 in corrected(known, "Which port does the gateway use?")) is gains


def test_of_two_changes_the_newest_stands_above():
    assert corrected({1: RENT, 2: stated("The rent is 650 euros now.", 2), 3: CUT}) == {2: (0.9, 0.201)}
    assert corrected({1: RENT, 2: CUT, 3: stated("The rent is 650 euros now.", 2)}) == {3: (0.9, 0.101)}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (stated("I am a vegetarian."), stated("I am a vegan.", 1)),  # states no change
        (RENT, stated("The dog is called Rex now.", 1)),  # of something else
        (RENT, stated("The rent is 700 euros now.", -1)),  # before it
        (RENT, stated("The rent is lower now.", 1)),  # by no number
        (stated("I am a vegetarian."), stated("You are no vegetarian now.", 1, role="assistant")),
        (RENT, stated("The rent is 700 euros now.", 1, role="tool")),
        (RENT, stated("Is the rent 700 euros now?", 1, asking=1.0)),
        (RENT, stated("The rent is 700 euros now. " + "And more of it. " * 50, 1)),
    ],
)
def test_nothing_else_gains_by_a_change(older, newer):
    assert corrected({1: older, 2: newer}) == {}


IN_PASSING = (
    "Back from the tenants' meeting, which took two hours and had no biscuits. They fix the roof in May. The rent is "
    "700 euros now, which I did not expect at all, and the bins go out on Tuesdays."
)


def test_a_change_that_is_told_in_passing_stands_above_what_it_corrects():
    known = {1: RENT, 2: stated(IN_PASSING, 1)}
    assert corrected(known) == {2: (0.9, 0.201)}
    assert corrected(
        {1: stated(IN_PASSING), 2: stated("The bins go out on Fridays now.", 1)}, "When do the bins go out?"
    )


def test_who_asks_what_a_speaker_thinks_is_not_told_what_they_say_in_passing():
    known = {
        1: stated("Ana likes the roof.", speaker="Ana"),
        2: stated(f"I like the new roof now. {IN_PASSING}", 1, speaker="Ana"),
    }
    found = judged({1: 0.9, 2: 0.7}, known, {"change": 1.0}, "What does Ana like?")
    assert gained(found, 2, "change") is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (RENT, stated("The rent is 700 euros.", 1)),  # another number for the same
        (RENT, stated("The rent is 700 euros now.", 1, role="assistant")),
        (stated("The rent is 900 euros.", role="assistant"), CUT),
    ],
)
def test_another_number_and_what_an_assistant_states_change_what_was_said(older, newer):
    assert corrected({1: older, 2: newer}) == {2: (0.9, 0.201)}


def test_what_an_assistant_said_again_is_corrected_with_it():
    known = {1: RENT, 2: CUT, 3: stated("900 euros.", 0.5, role="assistant")}
    assert corrected(known, scores={1: 0.8, 2: 0.7, 3: 0.9}) == {2: (0.9, 0.201)}


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("When is the exam?", {2: -0.3, 3: -0.3, 4: -0.3}),
        ("When was the exam?", {3: -0.3, 4: -0.3}),
        ("When is the exam that Ana takes?", {4: -0.3}),
        ("Who wrote the exam?", {1: -0.3, 2: -0.3, 3: -0.3, 4: -0.3}),
        ("What is the exam?", {3: -0.3, 4: -0.3}),
        ("Is the exam hard?", {}),
    ],
)
def test_what_cannot_answer_loses(text, lost):
    """A turn that only asks, a statement without the kind of value that is asked for, and one of no other words."""
    known = {
        1: stated("The exam is on the 28th."),
        2: stated("The exam is hard."),
        3: stated("Hard?", asking=1.0),
        4: stated("The exam."),
    }
    found = judged({1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6}, known, {"answer": 0.3}, text)
    assert {ref: share.value for ref in known if (share := gained(found, ref, "answer"))} == lost


@pytest.mark.parametrize(
    ("text", "told", "lost"),
    [
        ("What's my email address?", "My email is ana@example.org", {1}),
        ("What's my email address?", "My email is on the card.", set()),  # none has one
        ("What colour was the door?", "We painted the door in teal.", {1}),
        ("What colour was Ana's door?", "We painted the door in teal.", set()),  # of all that a speaker said
    ],
)
def test_what_has_no_value_of_the_attribute_loses_to_what_has_one(text, told, lost):
    known = {1: stated("Our address is Kerkstraat 12."), 2: stated(told)}
    found = judged({1: 0.9, 2: 0.8}, known, {"answer": 0.3}, text)
    assert {ref for ref in known if gained(found, ref, "answer")} == lost


@pytest.mark.parametrize(
    ("text", "statement", "loses"),
    [
        ("What does Paco enjoy?", "Paco.", True),
        ("What does Paco enjoy?", "Paco enjoys riddles.", False),
        ("What does Paco enjoy? Riddles", "Paco enjoys riddles.", False),
        ("Does Paco enjoy riddles?", "Paco enjoys riddles.", False),
        ("When do I work on Sundays?", "I don't work on Sundays.", False),
    ],
)
def test_a_statement_of_the_question_s_words_alone_answers_nothing(text, statement, loses):
    known = {1: stated(statement), 2: stated("Paco is bored by long fights.", 1)}
    found = judged({1: 0.9, 2: 0.8}, known, {"answer": 0.5}, text)
    assert (gained(found, 1, "answer") is not None) is loses


def test_who_a_name_is_is_said_by_what_says_so():
    known = {1: stated("KLO said that Helios waits."), 2: stated("Kim is our lawyer, everybody says KLO.", 1)}
    found = judged({1: 0.9, 2: 0.8}, known, {"answer": 0.5}, "Who is KLO?")
    assert [ref for ref in known if gained(found, ref, "answer")] == [1]
    alone = judged({1: 0.9}, {1: known[1]}, {"answer": 0.5}, "Who is KLO?")
    assert gained(alone, 1, "answer") is None  # nothing says more


@pytest.mark.parametrize(
    ("newer", "score", "stands_above"),
    [
        (stated("I moved from Faro to Porto.", 1, speaker="Ana"), 0.8, True),
        (stated("Ana moved from Faro to Porto.", 1, speaker="Ben"), 0.8, True),
        (stated("I moved from Faro to Porto.", 1, speaker="Ben"), 0.8, False),
        (stated("I moved from Faro to Porto.", 1, speaker="Ana"), 0.5, False),
    ],
)
def test_what_is_asked_of_a_speaker_is_corrected_by_what_that_speaker_says_or_is_told_of(newer, score, stands_above):
    known = {1: stated("I live in Faro.", speaker="Ana"), 2: newer}
    found = corrected(known, "Where does Ana live?", scores={1: 0.9, 2: score})
    assert (2 in found) is stands_above


def test_of_two_corrections_of_one_statement_the_later_stands_above_the_nearer():
    scores = {1: 0.7, 2: 0.9, 3: 0.8}
    known = {
        1: stated("The report is due on 27 February."),
        2: stated("The report has been postponed to 20 March.", 1),
        3: stated("The report is due on 17 April now.", 2),
    }
    assert corrected(known, "When is the report due?", scores) == {3: (0.9, 0.101)}


ORDER, RIGHT = "I ordered twelve panels for the roof.", "Let's make it fifteen panels instead of twelve."


@pytest.mark.parametrize(
    ("text", "newer", "gains"),
    [
        ("How many panels did I order?", RIGHT, True),
        ("How many panels did I order at first?", RIGHT, False),
        ("How many panels did I order?", "There are fifteen panels now.", False),
    ],
)
def test_what_happened_is_put_right_by_what_says_that_it_was_wrong(text, newer, gains):
    assert bool(corrected({1: stated(ORDER), 2: stated(newer, 1)}, text)) is gains


def test_a_change_that_is_far_from_the_question_gains_nothing():
    assert corrected({1: RENT, 2: CUT}, scores={1: 0.9, 2: 0.45}) == {}
    assert corrected({1: RENT, 2: CUT}, scores={1: 0.9, 2: 0.95}) == {}


@pytest.mark.parametrize("text", ["What was the rent before?", "How often did the rent change?", "What rent has Ana?"])
def test_a_question_about_the_past_or_a_speaker_leaves_changes_where_they_are(text):
    assert corrected({1: RENT, 2: CUT}, text) == {}


def test_judges_know_no_channel_of_the_lists():
    assert not SIGNALS.keys() & {"vector", "keyword", "entity", "newest", "important", "tfidf"}


@given(TRAITS, st.sampled_from(CURVES), st.sampled_from(ANCHORS))
def test_the_confidence_in_columns_is_that_of_a_memory(described, curve, anchor):
    policy = DecayPolicy(curve=curve, anchor=anchor)
    memory = fact(
        confidence=described.confidence,
        decay_rate=described.decay_rate,
        last_confirmed_at=described.confirmed_at,
        last_referenced_at=described.referenced_at,
    )
    [left] = effective_confidence(as_table({1: described}), NOON, policy)
    assert left == pytest.approx(decayed_confidence(memory, policy, now=NOON), abs=1e-9)


def test_who_has_a_role_somewhere_is_told_by_what_names_the_role_or_a_change():
    known = {
        1: stated("Elm Street wants to convert early."),
        2: stated("Elm Street Dental has a trial, contact Yusra."),
        3: stated("Yusra left Elm Street, Kofi is there now."),
    }
    found = judged({1: 0.9, 2: 0.8, 3: 0.7}, known, {"answer": 0.5}, "Who's the contact at Elm Street?")
    assert [ref for ref in known if gained(found, ref, "answer")] == [1]
