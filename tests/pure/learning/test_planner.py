"""The planner: proven proposals become actions, the others are rejected with a reason."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from engrain.domain.records import Caller
from engrain.learning.consolidation.echoes import list_echo_sources, read_episode
from engrain.learning.consolidation.learned_facts import read_statement_time
from engrain.learning.consolidation.planner import BatchContext, KnownMemories, list_slot_facts, make_plan
from engrain.learning.consolidation.reply_parser import parse_reply
from tests.support.sample_records import NOON, fact, rule
from tests.support.sample_records import episode as sample_episode

CALLER = Caller(agent="aide")
DAY = timedelta(days=1)
episode = partial(sample_episode, speaker="Ana")
STRANGER = "018f0000-0000-7000-8000-000000000009"


def lesson(*turns, shown=(), found=(), scope="aide", caller=CALLER):
    turns = [episode(turn) if isinstance(turn, str) else turn for turn in turns]
    told = list_echo_sources([*shown, *found])
    names = {f"e{place}": read_episode(turn, told) for place, turn in enumerate(turns, 1)}
    return BatchContext(
        caller=caller, scope=scope, episodes=names, known=KnownMemories(shown=shown, related=found), now=NOON + DAY
    )


def quotes(*pairs):
    return [{"episode": name, "quote": quote} for name, quote in pairs]


def statement(subject, predicate, content, quote, name="e1", **more):
    evidence = quotes((name, quote))
    return {"subject": subject, "predicate": predicate, "content": content, "evidence": evidence, **more}


def planned(given, **sections):
    return make_plan(parse_reply(json.dumps({"new_facts": [], **sections})), given)


MOVED = "I moved to Porto last month."
PORTO = statement("Ana", "lives in", "Porto", "I moved to Porto")
FARO = statement("Ana", "lives in", "Faro", "I moved to Faro")


def test_a_proven_fact_is_stored_with_all_that_is_known_of_it():
    given = lesson(MOVED, "Hm.", episode("Porto, since May.", event_time=NOON + timedelta(hours=1)))
    proposal = {**PORTO, "importance": 7, "tags": ["home"], "permanence": "stable", "confidence": 0.9}
    proposal["evidence"] = quotes(("e1", "I moved to Porto"), ("e3", "Porto, since May"), ("e2", "I moved to Porto"))
    done = planned(given, new_facts=[proposal])
    [action] = done.actions
    first, _, last = (text.episode for text in given.episodes.values())
    assert (action.kind, action.sources, action.target_id, action.doubts) == ("new_fact", (first.id, last.id), None, ())
    made = action.memory
    assert (made.subject, made.predicate, made.content, made.tags) == ("Ana", "lives in", "Porto", ("home",))
    assert (made.tenant_id, made.agent, made.scope) == ("default", "aide", "aide")
    assert (made.importance, made.permanence, made.decay_rate, made.confidence) == (7, "stable", 0.002, 0.9)
    assert (made.source, made.source_episode_id) == ("I moved to Porto", last.id)
    assert (made.valid_from, made.created_at, made.last_confirmed_at) == (None, NOON + DAY, NOON + DAY)
    assert read_statement_time(made) == NOON + timedelta(hours=1)
    assert done.episode_ids == tuple(text.episode.id for text in given.episodes.values())


@pytest.mark.req("N16")
def test_the_same_reply_to_the_same_episodes_gives_the_same_ids():
    turns = [episode(MOVED), episode("Never call me before noon.")]
    rules = [{"content": "Call Ana after noon.", "evidence": quotes(("e2", "Never call me before noon"))}]
    one = planned(lesson(*turns), new_facts=[PORTO], new_rules=rules)
    later = replace(lesson(*turns), now=NOON + 9 * DAY)
    two = planned(later, new_facts=[{**PORTO, "content": "  PORTO "}], new_rules=rules)
    assert [action.memory.id for action in one.actions] == [action.memory.id for action in two.actions]
    assert len({action.memory.id for action in one.actions}) == 2


def test_another_tenant_agent_scope_source_or_word_gives_another_id():
    turn = episode(MOVED)
    ids = {
        planned(given, new_facts=[proposal]).actions[0].memory.id
        for given, proposal in [
            (lesson(turn), PORTO),
            (lesson(turn, caller=Caller(agent="aide", tenant_id="acme")), PORTO),
            (lesson(turn, caller=Caller(agent="other")), PORTO),
            (lesson(turn, scope="global"), PORTO),
            (lesson(episode(MOVED)), PORTO),
            (lesson(turn), {**PORTO, "content": "the city of Porto"}),
        ]
    }
    assert len(ids) == 6


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"evidence": []}, "no_evidence"),
        ({"evidence": quotes(("e1", "I moved to Faro"))}, "quote_not_found"),
        ({"evidence": quotes(("e1", "Porto"))}, "quote_too_short"),
        ({"evidence": quotes(("e7", "I moved to Porto"))}, "unknown_episode"),
    ],
)
def test_what_is_not_proven_is_rejected_with_the_reason(change, reason):
    done = planned(lesson(MOVED), new_facts=[{**PORTO, **change}], updated_facts=[], new_rules=[])
    assert done.actions == ()
    [rejection] = done.rejected
    assert (rejection.kind, rejection.reason) == ("new_fact", reason)
    assert rejection.said


def test_what_was_handed_out_confirms_nothing_and_teaches_nothing():
    known = fact("Porto", last_referenced_at=NOON, reference_count=1, created_at=NOON - DAY)
    given = lesson("I know that Ana lives in Porto.", shown=(known,))
    confirmation = {"target_id": known.id, "evidence": quotes(("e1", "Ana lives in Porto"))}
    again = statement("Ana", "lives in", "Porto", "Ana lives in Porto")
    done = planned(given, new_facts=[again], confirmations=[confirmation, known.id])
    assert done.actions == ()
    assert [rejection.reason for rejection in done.rejected] == ["echo", "echo", "no_evidence"]


@pytest.mark.req("Y09")
@pytest.mark.parametrize(
    ("proposals", "reason"),
    [
        ([PORTO, {**PORTO, "subject": "ANA", "content": " porto"}], "duplicate"),
        ([{**PORTO, "evidence": []}, PORTO], "no_evidence"),  # an unproven one does not stand in the way
    ],
)
def test_what_the_same_reply_says_twice_is_done_once(proposals, reason):
    done = planned(lesson(MOVED), new_facts=proposals)
    assert [action.memory.content for action in done.actions] == ["Porto"]
    assert [rejection.reason for rejection in done.rejected] == [reason]


@pytest.mark.req("Y09")
@pytest.mark.parametrize("place", ["shown", "found"])
@pytest.mark.parametrize("scope", ["aide", "global"])
def test_what_is_known_already_is_confirmed_and_not_stored_again(place, scope):
    known = fact("green tea in the morning", predicate="drinks", scope=scope)
    given = lesson("In the morning I drink green tea.", **{place: (known,)})
    again = statement("ana", "drinks", "In the morning, green tea", "In the morning I drink green tea")
    done = planned(given, new_facts=[again, {**again, "content": "green tea in the morning"}])
    [action] = done.actions
    assert (action.kind, action.target_id, action.memory) == ("confirmation", known.id, None)
    assert action.sources == (given.episodes["e1"].episode.id,)
    assert [rejection.reason for rejection in done.rejected] == ["duplicate"]


def test_the_same_of_another_subject_is_new():
    known = fact("a senior backend engineer at Acme in Berlin", subject="Bob", predicate="works as")
    said = statement("Ana", "works as", "a senior backend engineer at Acme in Berlin", "I am a senior backend engineer")
    done = planned(lesson("I am a senior backend engineer.", shown=(known,)), new_facts=[said])
    assert [action.kind for action in done.actions] == ["new_fact"]


def test_a_fact_takes_the_spelling_and_entity_of_its_place():
    known = fact("Lisbon", scope="aide", entity_id="someone", created_at=NOON - DAY)
    done = planned(lesson(MOVED, shown=(known,)), new_facts=[{**PORTO, "subject": "ANA", "predicate": "Lives  in"}])
    made = done.actions[0].memory
    assert (made.subject, made.predicate, made.entity_id) == ("Ana", "lives in", "someone")
    assert made.slot == known.slot
    assert done.actions[0].doubts == ()


@pytest.mark.req("Y10")
def test_a_fact_that_says_otherwise_elsewhere_is_doubted():
    known = fact("Lisbon", predicate="lives in a", scope="aide", created_at=NOON - DAY)
    others = [
        fact("Lisbon", predicate="lives with", scope="aide", created_at=NOON - DAY),
        fact("Lisbon", predicate="lives in a", subject="Bob", scope="aide", created_at=NOON - DAY),
        fact("Lisbon", predicate="lives in a", scope="global", created_at=NOON - DAY),
        fact("Lisbon", predicate="lives in a", scope="aide", validity="superseded", created_at=NOON - DAY),
        fact("Lisbon", predicate="lives in a", scope="aide", created_at=NOON + DAY),
        fact("Porto", predicate="currently living in", scope="aide", created_at=NOON - DAY),
    ]
    done = planned(lesson(MOVED, shown=(known, *others[:3]), found=tuple(others[3:5])), new_facts=[PORTO])
    assert done.actions[0].doubts == (known.id,)
    done = planned(lesson(MOVED, shown=(known, others[5])), new_facts=[PORTO])
    assert [action.kind for action in done.actions] == ["confirmation"]


RAN = "I ran in Porto, and again in Faro."
PORTO_RUN = statement("Ana", "ran a marathon", "Ana ran in Porto.", "I ran in Porto", valid_from="2024-05-05")
FARO_RUN = statement("Ana", "ran a marathon", "Ana ran in Faro.", "and again in Faro")


@pytest.mark.parametrize("is_shown", [False, True])
def test_events_that_the_model_states_beside_each_other_both_hold(is_shown):
    """Nobody knows how many values "ran a marathon" has, and who means an update says so."""
    known = fact("Ana ran in Lagos.", predicate="ran a marathon", scope="aide", created_at=NOON - DAY)
    given = lesson(RAN, shown=(known,) if is_shown else ())
    done = planned(given, new_facts=[PORTO_RUN, FARO_RUN])
    made = [action.memory for action in done.actions]
    first = "ran a marathon (2024-05-05)" if is_shown else "ran a marathon"
    assert [action.memory.predicate for action in done.actions] == [first, f"ran a marathon ({NOON.date()})"]
    assert len({known.slot, *(item.slot for item in made)}) == 3 if is_shown else 2
    assert [action.doubts for action in done.actions] == [(), ()]
    locked = {item.slot[2:] for item in list_slot_facts(parse_reply(json.dumps({"new_facts": [PORTO_RUN]})), given)}
    assert made[0].slot[2:] in locked


def test_an_event_that_the_model_was_not_shown_is_superseded_and_a_home_always_is():
    known = fact("Ana ran in Lagos.", predicate="ran a marathon", scope="aide", created_at=NOON - DAY)
    [action] = planned(lesson(RAN, found=(known,)), new_facts=[PORTO_RUN]).actions
    assert action.memory.slot == known.slot
    home = fact("Lisbon", scope="aide", created_at=NOON - DAY)
    [action] = planned(lesson(MOVED, shown=(home,)), new_facts=[PORTO]).actions
    assert action.memory.slot == home.slot


def test_what_was_is_not_doubted_by_what_is():
    was = fact("Her aunt", predicate="was supported by", scope="aide", created_at=NOON - DAY)
    said = statement("Ana", "is supported by", "Her club supports Ana.", "my club supports me")
    [action] = planned(lesson("These days my club supports me.", found=(was,)), new_facts=[said]).actions
    assert action.doubts == ()


def test_what_was_said_before_does_not_take_the_place_of_what_was_said_after():
    """An old conversation that is imported late would otherwise undo what is known since."""
    known = fact("Faro", scope="aide", created_at=NOON + DAY, metadata={"said_at": (NOON + DAY).isoformat()})
    done = planned(lesson(MOVED, shown=(known,)), new_facts=[PORTO])
    assert [rejection.reason for rejection in done.rejected] == ["outdated"]
    imported = replace(known, metadata={"said_at": (NOON - DAY).isoformat()})
    assert len(planned(lesson(MOVED, shown=(imported,)), new_facts=[PORTO]).actions) == 1
    unreadable = replace(known, metadata={"said_at": "yesterday"}, created_at=NOON - DAY)
    assert len(planned(lesson(MOVED, shown=(unreadable,)), new_facts=[PORTO]).actions) == 1


def test_of_two_statements_about_one_place_the_later_one_is_stored_last():
    turns = [episode("Now I moved to Faro.", event_time=NOON + DAY), episode(MOVED, event_time=NOON)]
    faro = statement("Ana", "lives in", "Faro", "I moved to Faro")
    porto = {**PORTO, "evidence": quotes(("e2", "I moved to Porto"))}
    done = planned(lesson(*turns), new_facts=[faro, porto])
    assert [action.memory.content for action in done.actions] == ["Porto", "Faro"]


@pytest.mark.req("B14.2")
@pytest.mark.parametrize(
    ("content", "scope", "predicate", "kind", "rejections"),
    [
        ("Lisbon", "aide", "commutes from", "updated_fact", []),
        ("Porto", "aide", "lives in", "confirmation", []),  # it says nothing else
        (
            "Lisbon",
            "global",
            "lives in",
            "new_fact",
            [("updated_fact", "other_scope")],
        ),  # one's own, and nothing is doubted
    ],
)
def test_an_update_takes_the_place_of_what_was_shown_in_its_scope(content, scope, predicate, kind, rejections):
    known = fact(content, scope=scope, created_at=NOON - DAY)
    done = planned(
        lesson(MOVED, shown=(known,)), updated_facts=[{**PORTO, "target_id": known.id, "predicate": predicate}]
    )
    [action] = done.actions
    assert (action.kind, action.doubts) == (kind, ())
    assert action.target_id == (None if kind == "new_fact" else known.id)
    assert kind == "confirmation" or (action.memory.scope, action.memory.predicate) == ("aide", predicate)
    assert [(rejection.kind, rejection.reason) for rejection in done.rejected] == rejections


def test_only_what_was_shown_can_be_updated_or_confirmed():
    found = fact("Lisbon", scope="aide", created_at=NOON - DAY)
    habit, harm = rule(), rule("Never ask.", maturity="anti_pattern")
    given = lesson(MOVED, found=(found,), shown=(habit, harm))
    targets = [found.id, STRANGER, habit.id]
    updates = [{**PORTO, "target_id": target} for target in targets]
    evidence = quotes(("e1", "I moved to Porto"))
    confirmations = [found.id, STRANGER, {"target_id": harm.id, "evidence": evidence}]
    done = planned(given, updated_facts=updates, confirmations=confirmations)
    assert done.actions == ()
    assert [rejection.reason for rejection in done.rejected] == ["unknown_target"] * 6


def test_a_confirmation_needs_proof_and_names_its_sources():
    home, habit = fact("Lisbon", created_at=NOON - DAY), rule()
    given = lesson(
        "Yes, Ana is still living in Lisbon.", "Ask before booking those early flights, as ever.", shown=(home, habit)
    )
    done = planned(
        given, confirmations=[home.id, {"target_id": habit.id, "evidence": quotes(("e2", "Ask before booking those"))}]
    )
    assert [(action.target_id, action.sources) for action in done.actions] == [
        (home.id, (given.episodes["e1"].episode.id,)),
        (habit.id, (given.episodes["e2"].episode.id,)),
    ]


@pytest.mark.parametrize(
    ("turns", "evidence", "reason"),
    [
        (
            ["The deploy failed without migrations."],
            [("e1", "deploy failed without migrations")],
            "too_little_evidence",
        ),
        (["Deploy failed again."] * 2, [("e1", "Deploy failed again"), ("e2", "Deploy failed again")], None),
        (["Always run migrations."], [("e1", "Always run migrations")], None),
        (["Deploy failed again."], [("e1", "Deploy failed again"), ("e1", "failed again")], "too_little_evidence"),
        ([episode("Always run migrations.", role="tool")], [("e1", "Always run migrations")], "too_little_evidence"),
    ],
)
def test_a_rule_needs_two_episodes_or_an_instruction(turns, evidence, reason):
    done = planned(lesson(*turns), new_rules=[{"content": "Run the migrations first.", "evidence": quotes(*evidence)}])
    assert [rejection.reason for rejection in done.rejected] == ([] if reason is None else [reason])
    if reason is None:
        [action] = done.actions
        made = action.memory
        assert (made.content, made.maturity, made.confidence, made.scope) == (
            "Run the migrations first.",
            "candidate",
            0.5,
            "aide",
        )


def test_a_known_rule_is_confirmed_and_one_that_did_harm_is_not_learned_again():
    habit = rule("Run the migrations before a deploy.")
    harm = rule(
        "Warning: do not deploy on Friday evenings",
        maturity="anti_pattern",
        metadata={"original_content": "Deploy on Friday evenings."},
    )
    given = lesson(
        "Please run the migrations before the deploy.", "Please deploy on Friday evenings.", shown=(habit, harm)
    )
    done = planned(
        given,
        new_rules=[
            {
                "content": "Before a deploy, run the migrations",
                "evidence": quotes(("e1", "run the migrations before the deploy")),
            },
            {"content": "Deploy on Friday evenings", "evidence": quotes(("e2", "Please deploy on Friday"))},
        ],
    )
    # The first quotes no instruction: "please" stands outside of its quote.
    assert [rejection.reason for rejection in done.rejected] == ["too_little_evidence", "anti_pattern"]
    first = {"content": "Before a deploy, run the migrations", "evidence": quotes(("e1", "Please run the migrations"))}
    done = planned(given, new_rules=[first])
    assert [(action.kind, action.target_id) for action in done.actions] == [("confirmation", habit.id)]


@pytest.mark.parametrize(
    ("role", "confidence", "permanence"),
    [("user", 1.0, "permanent"), ("system", 1.0, "permanent"), ("assistant", 0.8, "stable"), ("tool", 0.8, "stable")],
)
def test_what_only_an_assistant_or_a_tool_says_is_believed_less_and_never_for_good(role, confidence, permanence):
    done = planned(lesson(episode(MOVED, role=role)), new_facts=[{**PORTO, "permanence": "permanent"}])
    made = done.actions[0].memory
    assert (made.confidence, made.permanence) == (confidence, permanence)


@pytest.mark.parametrize(("episodes", "most"), [(1, 10), (3, 10), (4, 12), (30, 90)])
def test_a_flood_is_stopped_at_three_actions_an_episode_and_ten_at_least(episodes, most):
    facts = [{**PORTO, "predicate": f"attribute {number}"} for number in range(500)]
    done = planned(lesson(*[MOVED] * episodes), new_facts=facts)
    assert len(done.actions) == most
    assert {rejection.reason for rejection in done.rejected} == {"too_many"}
    assert len(done.rejected) == 500 - most


def test_a_reply_with_nothing_in_it_still_consolidates_its_episodes():
    given = lesson(MOVED)
    assert planned(given).episode_ids == (given.episodes["e1"].episode.id,)


def updated(target, reason, *values, **more):
    subject, content, quote = values
    return {**statement(subject, target.predicate, content, quote), "target_id": "k1", "reason": reason, **more}


@pytest.mark.parametrize(("reason", "since"), [("refined", NOON - 9 * DAY), ("changed", None), ("done", None)])
def test_only_what_is_refined_has_been_true_as_long(reason, since):
    known = fact("Ana lives in Porto.", scope="aide", valid_from=NOON - 9 * DAY, created_at=NOON - DAY)
    said = updated(known, reason, "Ana", "Ana lives in Porto-Foz.", "I live in Porto-Foz")
    [action] = planned(lesson("I live in Porto-Foz now.", shown=(known,)), updated_facts=[said]).actions
    assert (action.kind, action.target_id, action.memory.valid_from) == ("updated_fact", known.id, since)
    assert action.memory.metadata["update_reason"] == reason


def test_an_update_by_one_word_is_no_repetition_and_one_by_none_is():
    known = fact("a nurse in a big hospital in Porto", predicate="works as", scope="aide", created_at=NOON - DAY)
    given = lesson("I am a head nurse in a big hospital in Porto.", shown=(known,))
    refined = updated(known, "refined", "Ana", "a head nurse in a big hospital in Porto", "I am a head nurse")
    assert [action.kind for action in planned(given, updated_facts=[refined]).actions] == ["updated_fact"]
    same = {**refined, "content": "A nurse in a big hospital in Porto"}
    assert [action.kind for action in planned(given, updated_facts=[same]).actions] == ["confirmation"]
    assert [action.kind for action in planned(given, new_facts=[{**refined}]).actions] == ["confirmation"]


def test_only_a_correction_changes_the_subject():
    known = fact("Pixel", predicate="has a cat called", scope="aide", created_at=NOON - DAY)
    given = lesson("Pixel is Rita's cat, not mine.", shown=(known,))
    right = updated(known, "corrected", "Rita", "Pixel", "Pixel is Rita's cat")
    [action] = planned(given, updated_facts=[right]).actions
    assert (action.kind, action.target_id, action.memory.subject) == ("updated_fact", known.id, "Rita")
    done = planned(given, updated_facts=[{**right, "reason": "changed"}])
    assert [(action.kind, action.target_id) for action in done.actions] == [("new_fact", None)]
    assert [rejection.reason for rejection in done.rejected] == ["other_subject"]


@pytest.mark.parametrize(
    ("quotes_of", "confidence"),
    [
        (["a beagle on a red sofa"], 0.6),
        (["Look, a beagle"], 0.9),
        (["a beagle on a red sofa", "Look, a beagle"], 0.9),
        (["a beagle [photo: a beagle"], 0.6),  # it begins in what was said, and needs the caption
    ],
)
def test_a_photo_alone_proves_little(quotes_of, confidence):
    given = lesson("Look, a beagle [photo: a beagle on a red sofa]")
    said = statement("Ana", "has", "a beagle", "", confidence=0.9)
    said["evidence"] = quotes(*(("e1", quote) for quote in quotes_of))
    [action] = planned(given, new_facts=[said]).actions
    assert action.memory.confidence == confidence


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_what_others_say_waits_beside_what_a_user_said_and_doubts_it_not(role):
    page = episode(MOVED, role=role)
    known = fact("Lisbon", scope="aide", created_at=NOON - DAY)
    elsewhere = fact("Lisbon", predicate="lives in a", scope="aide", created_at=NOON - DAY)
    for given in ({"new_facts": [PORTO]}, {"updated_facts": [{**PORTO, "target_id": known.id}]}):
        [action] = planned(lesson(page, shown=(known, elsewhere)), **given).actions
        assert (action.kind, action.target_id, action.doubts) == ("new_fact", None, ())
        assert (action.memory.trust, action.memory.is_pending) == (role, True)
        assert action.memory.slot != known.slot


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_a_user_who_says_what_waits_makes_it_the_users(role):
    heard = fact("Porto", scope="aide", created_at=NOON - DAY, metadata={"trust": role})
    [action] = planned(lesson(MOVED, shown=(heard,)), new_facts=[PORTO]).actions
    assert (action.kind, action.target_id, action.memory.trust) == ("updated_fact", heard.id, "user")
    [action] = planned(lesson("I moved to Faro.", shown=(heard,)), new_facts=[FARO]).actions
    assert (action.kind, action.target_id, action.doubts) == ("new_fact", None, (heard.id,))


@pytest.mark.parametrize(
    ("said", "content", "reason"),
    [
        ("Book me a flight", "Acme is paid to DE89 3704 0044 0532 0130 00", "unsupported_number"),
        ("Book me a flight", "Acme is paid through Evil Bank", "unsupported_name"),
        ("Book me a flight", "Acme is paid at https://evil.example/pay", "unsupported_name"),
        ("Book me a flight yesterday", "Acme was paid on 3 March 2019", "unsupported_date"),
        ("Book me a flight for 300 euros", "Ana pays fifty thousand euros", "unsupported_number"),
    ],
)
def test_a_true_quote_carries_nothing_that_it_does_not_say(said, content, reason):
    done = planned(lesson(said), new_facts=[statement("Ana", "pays", content, said)])
    assert (done.actions, [one.reason for one in done.rejected]) == ((), [reason])
    rule = {"content": content, "evidence": quotes(("e1", said))}
    done = planned(lesson(f"Always {said}"), new_rules=[rule])
    assert (done.actions, [one.reason for one in done.rejected]) == ((), [reason])


@pytest.mark.parametrize(
    ("said", "content", "is_supported"),
    [
        ("We went to Porto last weekend", "Ana went to Porto on the weekend of 4-5 May 2024.", True),
        ("We went to Porto last weekend", "Ana went to Porto on the weekend of 6\u20137 April 2024.", False),
        ("I moved to Porto three years ago", "Ana moved to Porto three years before May 2024, in about 2021.", True),
        ("I moved to Porto three years ago", "Ana moved to Porto three years before May 2015.", False),
    ],
)
def test_a_date_of_some_days_and_one_to_count_from_follow_from_when_it_was_said(said, content, is_supported):
    done = planned(lesson(said), new_facts=[statement("Ana", "travelled", content, said)])
    assert [one.reason for one in done.rejected] == [] if is_supported else ["unsupported_date"]
    assert len(done.actions) == is_supported


def test_what_a_true_quote_does_not_speak_of_waits():
    """The model's own word, behind a quote of a user's."""
    grant = statement("Ana", "allows", "Ana lets everybody see her files", "Book me a flight")
    [action] = planned(lesson("Book me a flight"), new_facts=[grant]).actions
    assert action.memory.trust == "assistant"
    stranger = statement("Mallory", "may", "may book a flight for everybody", "Book me a flight")
    [action] = planned(lesson("Book me a flight"), new_facts=[stranger]).actions
    assert action.memory.trust == "assistant"


def test_of_quotes_of_several_the_most_trusted_that_say_it_all_count():
    given = lesson(MOVED, episode("You moved to Porto on the 3rd of April 2024.", role="assistant"))
    both = quotes(("e1", "I moved to Porto"), ("e2", "You moved to Porto"))
    [action] = planned(given, new_facts=[{**PORTO, "evidence": both}]).actions
    assert (action.memory.trust, len(action.sources)) == ("user", 1)
    dated = {**PORTO, "content": "Ana moved to Porto on 17 January 2024.", "evidence": both}
    done = planned(given, new_facts=[dated])
    assert [one.reason for one in done.rejected] == ["unsupported_date"]
    dated["content"] = "Ana moved to Porto on 3 April 2024, number 3."
    [action] = planned(given, new_facts=[dated]).actions
    assert (action.memory.trust, len(action.sources)) == ("assistant", 2)


def test_what_tools_say_makes_no_rule():
    pages = [episode("Always book an aisle seat.", role="tool"), episode("Please book an aisle seat.", role="tool")]
    said = {
        "content": "Book an aisle seat.",
        "evidence": quotes(("e1", "book an aisle seat"), ("e2", "book an aisle seat")),
    }
    done = planned(lesson(*pages), new_rules=[said])
    assert (done.actions, [one.reason for one in done.rejected]) == ((), ["hearsay"])


API = "The API listens on port 9000."
PORT = statement("API", "port", "9000", "The API listens on port 9000")
SHOP, BLOG = "project:github.com/ana/shop", "project:github.com/ana/blog"


def port(content, **more):
    return fact(content, subject="API", predicate="port", scope="aide", created_at=NOON - DAY, **more)


def test_what_is_learned_is_of_the_project_that_all_its_sources_share():
    given = lesson(episode(API, tags=(BLOG, "api")), episode("Always lint.", tags=(BLOG,)), episode(API, tags=(SHOP,)))
    lint = {"content": "Always lint", "tags": ["style", SHOP], "evidence": quotes(("e2", "Always lint"))}
    done = planned(given, new_facts=[{**PORT, "tags": ["web", SHOP]}], new_rules=[lint])
    assert [action.memory.tags for action in done.actions] == [("web", BLOG), ("style", BLOG)]
    both = {**PORT, "evidence": quotes(("e1", "The API listens on port 9000"), ("e3", "The API listens on port 9000"))}
    assert [action.memory.tags for action in planned(given, new_facts=[both]).actions] == [()]


@pytest.mark.parametrize("content", ["8443", "9000"])
@pytest.mark.parametrize("predicate", ["port", "listens at port"])
def test_a_project_neither_confirms_updates_nor_doubts_what_another_says(content, predicate):
    known = replace(port(content, tags=(SHOP,)), predicate=predicate)
    rules = (rule("Always lint", scope="aide", tags=(SHOP,)),)
    given = lesson(episode(f"{API} Always lint.", tags=(BLOG,)), shown=(known, *rules))
    lint = {"content": "Always lint", "evidence": quotes(("e1", "Always lint"))}
    for section in ({"new_facts": [PORT]}, {"updated_facts": [{**PORT, "target_id": "k1"}]}):
        done = planned(given, **section, new_rules=[lint])
        assert [(action.kind, action.target_id, action.doubts) for action in done.actions] == [
            ("new_fact", None, ()),
            ("new_rule", None, ()),
        ]
        assert done.actions[0].memory.slot != known.slot
    assert [rejection.reason for rejection in done.rejected] == ["other_project"]
    slots = {item.slot for item in list_slot_facts(parse_reply(json.dumps({"new_facts": [PORT]})), given)}
    assert done.actions[0].memory.slot in slots


def test_an_update_said_in_no_project_is_of_its_targets():
    known = port("8443", tags=(SHOP,))
    [action] = planned(lesson(API, shown=(known,)), updated_facts=[{**PORT, "target_id": "k1"}]).actions
    assert (action.kind, action.memory.tags, action.memory.slot) == ("updated_fact", (SHOP,), known.slot)
