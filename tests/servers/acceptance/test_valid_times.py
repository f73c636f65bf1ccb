"""What was true at a time, by what is known now, beside what was believed at a time."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from engrain.errors import InvalidInput
from engrain.service import Memory
from tests.support.learning_memories import LLM, fact, opened, reply

NOW = datetime(2026, 5, 11, 9, tzinfo=UTC)


@pytest.fixture
def times():
    return [NOW]


@pytest.fixture
def aide(location, times):
    with Memory.open(location, settings={"embedding": {"model": "none"}}, clock=lambda: times[-1]) as memory:
        yield memory.agent("aide")


def contents(page):
    return sorted(fact.content for fact in page)


def test_facts_are_listed_as_they_were_true_at_a_time(aide):
    aide.remember("Helen", subject="Robin", predicate="reports to", valid_from="2024-01-08")
    aide.remember("Karim", subject="Robin", predicate="reports to", valid_from="2026-04-01")
    assert contents(aide.facts("Robin", "reports to")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2026-03-31")) == ["Helen"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2026-04-01")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="last month")) == ["Karim"]
    assert contents(aide.facts("Robin", "reports to", valid_at="2023-12-31")) == []


def test_a_correction_that_is_dated_earlier_closes_the_old_period_there(aide, times):
    times.append(datetime(2026, 4, 6, tzinfo=UTC))
    before = aide.remember("desk 2.07", subject="Robin", predicate="sits at")
    times.append(NOW)
    aide.correct(before.id, "desk 3.01", valid_from="yesterday")
    assert aide.get(before.id).valid_to == datetime(2026, 5, 10, tzinfo=UTC)
    assert contents(aide.facts("Robin", valid_at="2026-04-20")) == ["desk 2.07"]
    assert contents(aide.facts("Robin", valid_at="now")) == ["desk 3.01"]


@pytest.mark.parametrize("start", ["2020-01-01", None])
def test_a_correction_of_what_is_over_leaves_what_holds_now(aide, times, start):
    aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2026-05-01")
    before = aide.remember("Porto", subject="Ana", predicate="lives in", valid_from=start, valid_to="2026-05-01")
    times.append(NOW + timedelta(hours=1))
    corrected = aide.correct(before.id, "Braga")
    assert (corrected.valid_from, corrected.valid_to) == (before.valid_from, before.valid_to)
    assert contents(aide.facts("Ana")) == ["Lisbon"]
    assert contents(aide.facts("Ana", valid_at="2021-01-01")) == (["Braga"] if start else [])
    assert [fact.content for fact in aide.history(before.id)] == ["Lisbon", "Porto", "Braga"]
    assert aide.correct(corrected.id, "Evora", valid_from="now").valid_to is None
    assert contents(aide.facts("Ana")) == ["Evora"]


@pytest.mark.parametrize("predicate", ["lives in", "likes"])
def test_a_correction_that_ends_in_the_past_leaves_nothing_that_holds_now(aide, times, predicate):
    before = aide.remember("Porto", subject="Ana", predicate=predicate)
    later(times, 2026, 6, 1)
    ended = aide.correct(before.id, "Porto", valid_to="2026-05-20")
    assert (ended.valid_from, ended.supersedes_id) == (before.created_at, before.id)
    assert contents(aide.facts("Ana")) == []
    assert [hit.memory.id for hit in aide.recall("Porto", kinds="fact")] == []
    assert contents(aide.facts("Ana", valid_at="2026-05-15")) == ["Porto"]
    assert contents(aide.facts("Ana", valid_at="2026-05-21")) == []
    again = aide.correct(ended.id, "Braga", valid_from="2026-05-12", valid_to="2026-05-22")
    assert [contents(aide.facts("Ana", valid_at=f"2026-05-{day}")) for day in (11, 15, 21)] == [
        [],
        ["Braga"],
        ["Braga"],
    ]
    assert contents(aide.facts("Ana", include_inactive=True)) == ["Braga", "Porto", "Porto"]
    assert aide.get(again.id).validity == "active"


def test_a_correction_that_ends_in_the_past_leaves_what_was_true_before_it_began(aide):
    before = aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    aide.correct(before.id, "Braga", valid_from="2025-06-01", valid_to="2026-01-05")
    assert contents(aide.facts("Ana")) == []
    assert contents(aide.facts("Ana", valid_at="2024-01-01")) == ["Porto"]
    assert contents(aide.facts("Ana", valid_at="2025-12-01")) == ["Braga"]
    assert contents(aide.facts("Ana", valid_at="2026-02-01")) == []


def test_a_correction_of_a_plan_does_not_end_before_it_begins(aide):
    plan = aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="2026-06-01")
    with pytest.raises(InvalidInput, match="valid_to 2026-05-20 lies before valid_from 2026-06-01"):
        aide.correct(plan.id, "Braga", valid_to="2026-05-20")
    assert [fact.content for fact in aide.history(plan.id)] == ["Porto"]


def test_a_search_finds_what_was_true_at_a_time(aide):
    aide.remember(
        "in Lisbon by the river", subject="Ana", predicate="lives in", valid_from="2020", valid_to="2023-05-01"
    )
    aide.remember("in Porto by the river", subject="Ana", predicate="lives in", valid_from="2023-05-01")
    aide.observe("The river was high.")

    def facts(**asked):
        found = aide.recall("river", preset="keyword", kinds="fact", **asked)
        return sorted(hit.memory.content for hit in found)

    assert facts() == ["in Porto by the river"]
    assert facts(valid_at="in 2021") == ["in Lisbon by the river"]
    assert len(aide.recall("river", preset="keyword", valid_at="2021-01-01")) == 2  # and what was said of it


def test_what_was_true_is_told_of_what_was_believed_then(aide, times):
    aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    times.append(datetime(2026, 6, 1, tzinfo=UTC))
    aide.remember("Porto", subject="Ana", predicate="lives in", valid_from="2025-01-01")  # as is known since June
    assert contents(aide.facts("Ana", valid_at="2025-06-01")) == ["Porto"]
    assert contents(aide.facts("Ana", valid_at="2024-06-01")) == ["Lisbon"]
    assert contents(aide.facts("Ana", as_of="2026-05-20", valid_at="2024-06-01")) == ["Lisbon"]
    assert contents(aide.facts("Ana", as_of="2026-05-20", valid_at="2019-06-01")) == []


@pytest.mark.parametrize("is_pending", [False, True])
def test_what_has_been_true_for_longer_than_was_believed_is_true_alone(aide, times, is_pending):
    for content, *said_on in (("Lisbon", 2026, 5, 12), ("Porto", 2026, 6, 1)):
        later(times, *said_on)
        aide.remember(content, subject="Ana", predicate="lives in")
    later(times, 2026, 7, 1)
    heard = {"metadata": {"trust": "tool"}} if is_pending else {}
    told = aide.remember("Faro", subject="Ana", predicate="lives in", valid_from="2026-05-20", **heard)
    if is_pending:
        assert contents(aide.facts("Ana", min_trust="user", valid_at="2026-05-25")) == ["Lisbon"]
        aide.confirm(told.id)
    days = ("2026-05-15", "2026-05-25", "2026-06-10", "2026-07-02")
    assert [contents(aide.facts("Ana", valid_at=day)) for day in days] == [["Lisbon"], ["Faro"], ["Faro"], ["Faro"]]
    assert contents(aide.facts("Ana", as_of="2026-06-15")) == ["Porto"]


def test_what_was_taken_back_was_never_true(aide):
    wrong = aide.remember("Lisbon", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    aide.forget(wrong.id)
    assert contents(aide.facts("Ana", valid_at="2021-01-01")) == []


def later(times, *date):
    times.append(datetime(*date, tzinfo=UTC))


def test_a_fact_that_begins_later_waits_until_then(aide, times):
    aide.remember("Globex", subject="Ana", predicate="works at", valid_from="2021-09-01")
    aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    assert contents(aide.facts("Ana", "works at")) == ["Globex"]
    assert contents(aide.facts("Ana", "works at", valid_at="2026-07-01")) == ["Initech"]
    assert [hit.memory.content for hit in aide.recall("Where does Ana work?", kinds="fact")] == ["Globex", "Initech"]
    block = aide.context("Where does Ana work?").text
    assert "Globex (2021-09 to 2026-06)" in block
    assert "Initech (from 2026-06-01)" in block
    later(times, 2026, 6, 2)
    assert contents(aide.facts("Ana", "works at")) == ["Initech"]
    assert [hit.memory.content for hit in aide.recall("Where does Ana work?", kinds="fact")] == ["Initech"]
    assert contents(aide.facts("Ana", "works at", valid_at="2022-01-01")) == ["Globex"]
    assert contents(aide.facts("Ana", "works at", as_of="2026-05-20")) == ["Globex"]
    aide.remember("Umbrella", subject="Ana", predicate="works at")
    assert contents(aide.facts("Ana", "works at")) == ["Umbrella"]


def test_a_plan_is_changed_and_given_up(aide, times):
    aide.remember("Globex", subject="Ana", predicate="works at")
    plan = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    same = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    assert same.id == plan.id
    plan = aide.correct(plan.id, "Initech, as an accountant")
    assert plan.valid_from == datetime(2026, 6, 1, tzinfo=UTC)
    plan = aide.correct(plan.id, "Initech, as chief accountant", valid_from="2026-06-08")
    assert contents(aide.facts("Ana", valid_at="2026-06-03")) == ["Globex"]
    assert contents(aide.facts("Ana", valid_at="2026-06-08")) == ["Initech, as chief accountant"]
    aide.forget(plan.id)
    later(times, 2026, 7, 1)
    assert contents(aide.facts("Ana")) == ["Globex"]
    assert [hit.memory.content for hit in aide.recall("Ana works", kinds="fact")] == ["Globex"]


def test_a_plan_that_is_erased_leaves_what_is_true_without_an_end(aide):
    now = aide.remember("Globex", subject="Ana", predicate="works at")
    plan = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    assert aide.get(now.id).valid_to == plan.valid_from
    aide.erase([plan.id])
    assert aide.get(now.id).valid_to is None


@pytest.mark.parametrize("give_up", ["forget", "erase", "move"])
def test_what_was_said_after_a_plan_goes_on_without_it(aide, times, give_up):
    plan = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    between = aide.remember("Umbrella", subject="Ana", predicate="works at")
    assert aide.get(between.id).valid_to == plan.valid_from
    match give_up:
        case "forget":
            aide.forget(plan.id)
        case "erase":
            aide.erase([plan.id])
        case "move":
            aide.forget(aide.correct(plan.id, "Initech", valid_from="2026-08-01").id)
    assert aide.get(between.id).valid_to is None
    later(times, 2026, 7, 1)
    assert contents(aide.facts("Ana", "works at")) == ["Umbrella"]


@pytest.mark.parametrize("until", ["2026-06-01", "2026-09-01"])
def test_a_plan_that_is_given_up_leaves_the_end_that_a_fact_has_itself(aide, until):
    ends = aide.remember("Globex", subject="Ana", predicate="works at", valid_to=until)
    plan = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    assert aide.get(ends.id).valid_to == plan.valid_from
    aide.forget(plan.id)
    assert aide.get(ends.id).valid_to == ends.valid_to


def test_a_plan_that_is_given_up_leaves_the_plan_behind_it(aide, times):
    aide.remember("Globex", subject="Ana", predicate="works at")
    first = aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    last = aide.remember("Hooli", subject="Ana", predicate="works at", valid_from="2026-09-01")
    aide.forget(first.id)
    later(times, 2026, 8, 1)
    assert contents(aide.facts("Ana", "works at")) == ["Globex"]
    later(times, 2026, 9, 2)
    assert contents(aide.facts("Ana", "works at")) == [last.content]


def test_plans_in_any_order_leave_one_period_after_another(aide, times):
    """After each of a hundred random steps a fact ends by itself, or where the next one begins."""
    random = Random(5)
    own_ends = {}
    for step in range(120):
        times.append(times[-1] + timedelta(hours=random.randint(1, 20)))
        standing = find_standing(aide, times[-1])
        starts = times[-1] + timedelta(days=random.randint(1, 20))
        match random.choice(["now", "plan", "plan", "bounded", "forget", "erase", "move", "correct"]):
            case "now":
                fact, own_end = said(aide, step), None
            case "plan":
                fact, own_end = said(aide, step, valid_from=starts), None
            case "bounded":
                own_end = starts + timedelta(days=random.randint(1, 20))
                fact = said(aide, step, valid_from=starts, valid_to=own_end)
            case "move" | "correct" as deed if standing:
                moved = {"valid_from": starts} if deed == "move" else {}
                fact, own_end = aide.correct(random.choice(standing).id, f"v{step}", **moved), None
            case deed:
                for given_up in standing[:1]:
                    aide.forget(given_up.id) if deed == "forget" else aide.erase([given_up.id])
                continue
        own_ends[fact.id] = own_end
        left = sorted(find_standing(aide, times[-1]), key=lambda fact: fact.happened_at)
        nexts = [*(fact.happened_at for fact in left[1:]), None]
        ends = [
            min(filter(None, (own_ends[fact.id], begins)), default=None)
            for fact, begins in zip(left, nexts, strict=True)
        ]
        assert [fact.valid_to for fact in left] == ends, step


def said(aide, number, **period):
    return aide.remember(f"v{number}", subject="Ana", predicate="works at", **period)


def find_standing(aide, now):
    """What is true or planned, the oldest first."""
    stated = sorted(aide.facts("Ana", "works at", include_inactive=True, limit=1_000), key=lambda fact: fact.id)
    return [fact for fact in stated if fact.validity == "active" and not fact.has_ended(now)]


def test_of_any_day_one_fact_was_true_whatever_was_planned_and_said_since(aide, times):
    """After each of a hundred random steps the periods of all that was not given up lie one after another."""
    random, start = Random(7), times[-1]
    for step in range(100):
        times.append(times[-1] + timedelta(hours=random.randint(1, 40)))
        begins = times[-1] + timedelta(days=random.randint(1, 20))
        ends = begins + timedelta(days=random.randint(1, 20))
        match random.choice(["now", "now", "since", "until", "plan", "bounded", "forget"]):
            case "now":
                said(aide, step)
            case "since":
                said(aide, step, valid_from=times[-1] - timedelta(days=random.randint(1, 20)))
            case "until":
                said(aide, step, valid_to=ends)
            case "plan":
                said(aide, step, valid_from=begins)
            case "bounded":
                said(aide, step, valid_from=begins, valid_to=ends)
            case _:
                for fact in aide.facts("Ana", limit=1):
                    aide.forget(fact.id)
        days = [start + timedelta(days=day) for day in range(0, (times[-1] - start).days + 30, 3)]
        for day in days[:: max(1, step // 20)]:
            assert len(aide.facts("Ana", "works at", valid_at=day)) <= 1, (step, day)


def test_what_is_said_meanwhile_ends_where_the_plan_begins(aide):
    aide.remember("Globex", subject="Ana", predicate="works at")
    aide.remember("Initech", subject="Ana", predicate="works at", valid_from="2026-06-01")
    between = aide.remember("Umbrella", subject="Ana", predicate="works at")
    assert between.valid_to == datetime(2026, 6, 1, tzinfo=UTC)
    assert contents(aide.facts("Ana")) == ["Umbrella"]
    assert contents(aide.facts("Ana", valid_at="2026-06-01")) == ["Initech"]


def test_many_values_begin_later_beside_each_other(aide, times):
    aide.remember("jazz", subject="Ana", predicate="likes")
    aide.remember("jazz", subject="Ana", predicate="likes", valid_from="2026-06-01")
    aide.remember("fado", subject="Ana", predicate="likes", valid_from="2026-06-01")
    assert contents(aide.facts("Ana", "likes")) == ["jazz"]
    later(times, 2026, 6, 1)
    assert contents(aide.facts("Ana", "likes")) == ["fado", "jazz"]


def test_what_is_over_is_found_at_its_time_alone(aide, times):
    aide.remember("Milan", subject="Femi", predicate="stays in", valid_from="2026-05-04", valid_to="2026-05-13")
    assert contents(aide.facts("Femi")) == ["Milan"]
    later(times, 2026, 5, 20)
    assert contents(aide.facts("Femi")) == []
    assert not aide.recall("Femi Milan", kinds="fact")
    assert "Milan (2026-05-04 to 2026-05-13)" in aide.context("Where did Femi stay?", valid_at="2026-05-05").text
    aide.remember("Oslo", subject="Femi", predicate="stays in", valid_from="2026-01-01", valid_to="2026-01-05")
    aide.remember("Rome", subject="Femi", predicate="stays in")
    assert contents(aide.facts("Femi")) == ["Rome"]
    assert contents(aide.facts("Femi", valid_at="2026-01-02")) == ["Oslo"]
    assert contents(aide.facts("Femi", valid_at="2026-05-05")) == ["Milan"]


def test_a_block_of_another_time(aide, times):
    aide.remember("Lisbon by the river", subject="Ana", predicate="lives in", valid_from="2020-01-01")
    later(times, 2026, 6, 1)
    aide.remember("Porto by the river", subject="Ana", predicate="lives in", valid_from="2026-05-20")
    assert "Porto" in aide.context("Where does Ana live?").text
    then = aide.context("Where does Ana live?", valid_at="last year")
    assert "Lisbon" in then.text
    assert "Porto" not in then.text
    believed = aide.context("Where does Ana live?", as_of="2026-05-25")
    assert "Lisbon" in believed.text
    assert "Porto" not in believed.text
    assert then.times == {"valid_at": datetime(2025, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)}
    assert believed.times == {}


def test_times_in_words_are_told_back(aide):
    meant = datetime(2026, 4, 30, 23, 59, 59, 999999, tzinfo=UTC)
    assert aide.facts("Ana", valid_at="last month").to_dict()["times"] == {"valid_at": "2026-04-30T23:59:59.999999Z"}
    assert "times" not in aide.facts("Ana").to_dict()
    found = aide.recall("Ana", as_of="last month", since="2020-01-01", until="yesterday")
    assert found.times == {"as_of": meant, "until": datetime(2026, 5, 11, tzinfo=UTC)}


def test_a_merge_leaves_plans_alone(aide):
    ana, annie = aide.entities.create("Ana", "person"), aide.entities.create("Annie", "person")
    aide.remember("Globex", subject="Ana", predicate="works at", entity_id=ana.id)
    aide.remember("Initech", subject="Annie", predicate="works at", entity_id=annie.id, valid_from="2026-06-01")
    aide.entities.merge(annie.id, ana.id)
    assert contents(aide.facts("Ana", "works at")) == ["Globex"]
    assert "Initech" in contents(aide.facts("Ana", "works at", valid_at="2026-07-01"))


@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize("own_end", [None, "2026-12-31"])
def test_an_undo_leaves_over_what_was_over_when_the_run_superseded_it(location, times, own_end, is_forgotten):
    """It had ended where a plan began: it does not hold again, and does not keep the plan from coming back."""
    about = {"subject": "Ana", "predicate": "lives in", "scope": "aide"}
    oslo = fact("Ana", "lives in", "Oslo", "I live in Oslo")
    with opened(location, LLM([reply(oslo)]), clock=lambda: times[-1]) as memory:
        aide = memory.agent("aide")
        told = [
            aide.remember("Lisbon", **about, valid_to=own_end),
            aide.remember("Porto", **about, valid_from="2026-06-01"),
        ]
        times.append(datetime(2026, 6, 20, tzinfo=UTC))
        if is_forgotten:
            aide.forget(told[1].id)
        before = [aide.get(one.id) for one in told]
        aide.observe("I live in Oslo", speaker="Ana")
        [run] = memory.consolidate().run_ids
        times.append(datetime(2026, 6, 21, tzinfo=UTC))
        assert memory.undo(run, agent="aide").kept == ()
        assert [(one.validity, one.valid_to) for one in map(aide.get, [one.id for one in told])] == [
            (one.validity, one.valid_to) for one in before
        ]
        assert before[0].valid_to == datetime(2026, 6, 1, tzinfo=UTC)


def test_an_undo_lets_what_comes_back_end_before_facts_that_were_told_since(location, times):
    """That of the run is kept, as one that was told since has superseded it, though both are over by now."""
    about = {"subject": "Ana", "predicate": "lives in", "scope": "aide"}
    oslo = fact("Ana", "lives in", "Oslo", "I live in Oslo")
    with opened(location, LLM([reply(oslo)]), clock=lambda: times[-1]) as memory:
        aide = memory.agent("aide")
        lisbon = aide.remember("Lisbon", **about)
        times.append(NOW + timedelta(days=1))
        aide.observe("I live in Oslo", speaker="Ana")
        [run] = memory.consolidate().run_ids
        times.append(NOW + timedelta(days=2))
        aide.remember("Porto", **about, valid_to=NOW + timedelta(days=4))
        times.append(NOW + timedelta(days=5))
        memory.undo(run, agent="aide")
        assert aide.get(lisbon.id).valid_to == NOW + timedelta(days=1)
        days = [contents(aide.facts("Ana", valid_at=NOW + timedelta(hours=24 * day + 1))) for day in range(5)]
        assert days == [["Lisbon"], ["Oslo"], ["Porto"], ["Porto"], []]
