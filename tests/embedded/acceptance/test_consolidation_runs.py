"""Consolidation runs: the order of agents and batches, and the fate of a batch that fails."""

import re
import threading
from dataclasses import replace

import pytest

from engrain.agent.learning import consolidation_runs
from engrain.agent.wiring.acts import new_act
from engrain.domain.runs.runs import Claim
from engrain.engines.endpoint import Refused
from engrain.errors import DatabaseBusy, EngineUnavailable, InvalidInput, NotFound
from engrain.learning.consolidation.runner import ConsolidationOptions, consolidate
from engrain.storage.runs.claims import claim_run, list_backlogs
from tests.support.clock import Clock
from tests.support.learning_memories import LLM, NOTHING, fact, opened, reply
from tests.support.one_call import OneCall


def content(memory, agent="assistant", **conditions):
    return sorted(fact.content for fact in memory.agent(agent, **conditions).facts())


def states(memory, episodes, agent="assistant"):
    return [memory.agent(agent).get(episode.id).consolidation_status for episode in episodes]


def observed(memory, count, agent="assistant", **values):
    return [memory.agent(agent).observe(f"Turn number {number} of mine.", **values) for number in range(count)]


def asked_about(prompt):
    return re.findall(r"Turn number (\d+) of mine", prompt.user)


def learns_one(prompt):
    """A model that learns the first turn that it is shown."""
    number = asked_about(prompt)[0]
    return reply(fact("Ana", f"said {number}", number, f"Turn number {number} of mine"))


@pytest.mark.req("N03", "B12.1", "Y08")
def test_episodes_are_asked_about_in_batches_of_thirty_oldest_first_until_none_is_due():
    llm = LLM([NOTHING] * 3)
    with opened(":memory:", llm) as memory:
        episodes = observed(memory, 65)
        counted = []
        report = memory.consolidate(progress=counted.append)
        assert [len(asked_about(prompt)) for prompt in llm.prompts] == [30, 30, 5]
        assert [int(number) for prompt in llm.prompts for number in asked_about(prompt)] == list(range(65))
        assert counted == [30, 30, 5]
        assert (report.batches, report.episodes) == (3, 65)
        assert states(memory, episodes) == ["consolidated"] * 65
        assert memory.consolidate().batches == 0


def test_the_events_of_a_run_are_those_of_what_it_learned():
    with opened(":memory:", LLM([learns_one])) as memory:
        [turn] = observed(memory, 1)
        report = memory.consolidate()
        [learned] = report.learned
        agent = memory.agent("assistant")
        events = agent.events(run_id=report.run_ids[0])
        expected = {("fact_created", learned.memory_id), ("episode_consolidated", turn.id)}
        assert expected <= {(event.event_type, event.memory_id) for event in events}
        assert {event.run_id for event in events} == set(report.run_ids)
        first = agent.events(run_id=report.run_ids[0], limit=1)
        rest = agent.events(run_id=report.run_ids[0], after=first.next)
        assert [*first, *rest] == [*events]
        assert [*agent.events(run_id="another")] == [*memory.agent("ben").events(run_id=report.run_ids[0])] == []


def test_a_session_that_goes_on_is_read_with_what_came_before_which_proves_nothing():
    """The second prompt begins with five turns and the recap of the first; a quote of those turns is refused."""
    quotes_earlier = reply(fact("Ana", "said", "five", "Turn number 5 of mine", "e0"), recap="Ana counted on.")
    llm = LLM([reply(recap="Ana counts <her> turns."), quotes_earlier, NOTHING])
    with opened(":memory:", llm, batch=6) as memory:
        observed(memory, 14, session="s1", speaker="Ana")
        observed(memory, 1, session="s2")
        report = memory.consolidate()
    first, second, third = (prompt.user for prompt in llm.prompts)
    assert "<earlier_turns" not in first
    assert [user.count("<episodes cut>") for user in (first, second, third)] == [1, 1, 0]
    earlier, _, shown = second.partition("<episodes cut>")
    assert earlier.splitlines()[4:] == [
        *('<earlier_turns session="s1">', "<recap>Ana counts &lt;her&gt; turns.</recap>"),
        *(
            f'<turn role="user" speaker="Ana" time="2026-11-21T12:00+00:00">Turn number {number} of mine.</turn>'
            for number in range(1, 6)
        ),
        "</earlier_turns>",
    ]
    assert re.findall(r"number (\d+)", shown) == ["6", "7", "8", "9", "10"]
    assert "<recap>Ana counted on.</recap>" in third
    assert re.findall(r"number (\d+)", third.partition("<episodes>")[2]) == ["11", "12", "13", "0"]
    assert [rejection.reason for rejection in report.rejected] == ["unknown_episode"]
    assert (report.batches, report.parse_errors) == (3, ())


def test_what_was_forgotten_is_no_context_and_another_backlogs_recap_neither():
    clock = Clock(seconds=1)
    llm = LLM([reply(recap="Of one."), reply(recap="Of two."), NOTHING, NOTHING])
    with opened(":memory:", llm, clock=clock, batch=3) as memory:
        for agent in ("one", "two"):
            memory.agent(agent).observe("Turn number 9 of mine.", speaker="Gone", session="s", ttl_days=1)
            observed(memory, 5, agent, session="s", event_time=clock.now)
        memory.consolidate(max_batches=2)
        clock.pass_time(days=2)
        memory.consolidate()
    users = [prompt.user for prompt in llm.prompts]
    assert ['speaker="Gone"' in user for user in users] == [True, True, False, False]
    assert all("<recap>" not in user for user in users)  # it is kept in no database, and this was another call
    assert re.findall(r"<turn [^>]*>(.*)</turn>", users[2]) == ["Turn number 0 of mine.", "Turn number 1 of mine."]


@pytest.mark.req("N03")
def test_a_number_of_batches_bounds_a_run_and_backlogs_take_turns():
    llm = LLM([NOTHING] * 3)
    with opened(":memory:", llm, batch=2) as memory:
        for agent in ("b", "a"):
            observed(memory, 4, agent, speaker=agent)
        report = memory.consolidate(max_batches=3)
        assert [re.search('speaker="(.)"', prompt.user)[1] for prompt in llm.prompts] == ["a", "b", "a"]
        assert report.batches == 3
        assert memory.consolidate(max_batches=0).batches == 0


@pytest.mark.req("B12.1", "N03")
def test_each_agent_of_each_tenant_is_asked_about_by_itself_with_what_it_knows():
    llm = LLM([NOTHING] * 3)
    with opened(":memory:", llm) as memory:
        for tenant, agent in (("acme", "one"), ("acme", "two"), ("beta", "one")):
            of = memory.agent(agent, tenant=tenant)
            of.observe(f"Hello from {agent} of {tenant}.")
            of.remember(f"a secret of {agent} of {tenant}", subject="It", predicate="has", scope=agent)
            of.remember(f"news of {tenant}", subject=agent, predicate="tells")
        report = memory.consolidate()
        assert [(group.tenant_id, group.agent) for group in report.groups] == [
            ("acme", "one"),
            ("acme", "two"),
            ("beta", "one"),
        ]
        for prompt, (tenant, agent) in zip(
            llm.prompts, [("acme", "one"), ("acme", "two"), ("beta", "one")], strict=True
        ):
            assert re.findall("Hello from (.*)\\.", prompt.user) == [f"{agent} of {tenant}"]
            assert re.findall("a secret of (.*)<", prompt.user) == [f"{agent} of {tenant}"]
            assert set(re.findall("news of (.*)<", prompt.user)) == {tenant}


def test_one_tenant_one_agent_or_one_session_can_be_asked_for():
    llm = LLM([NOTHING] * 4)
    with opened(":memory:", llm) as memory:
        for tenant, agent in (("acme", "one"), ("acme", "two"), ("beta", "one")):
            for session in ("s1", "s2"):
                memory.agent(agent, tenant=tenant, session=session).observe(f"{tenant} {agent} {session}")
        assert memory.consolidate("beta", session="s1").episodes == 1
        assert memory.consolidate(agent="two", exclude_session="s1").episodes == 1
        assert [
            (group.agent, group.episodes, group.sessions) for group in memory.consolidate("acme", dry_run=True).groups
        ] == [
            *(("one", 2, 2), ("two", 1, 1)),
        ]
        assert memory.consolidate("acme", agent="one").episodes == 2
        said = [re.findall(r"^(\w+ \w+ s\d)$", prompt.user, re.MULTILINE) for prompt in llm.prompts]
        assert said == [["beta one s1"], ["acme two s2"], ["acme one s1", "acme one s2"]]


@pytest.mark.req("B12.3")
@pytest.mark.parametrize("dry_run", [True, False])
def test_without_a_model_or_in_a_dry_run_groups_are_counted_and_nothing_is_written(dry_run):
    llm = LLM([]) if dry_run else None
    with opened(":memory:", llm) as memory:
        episodes = [memory.agent("one", session=f"s{number % 2}").observe(f"Turn {number}") for number in range(5)]
        before = memory.agent("one").events()
        report = memory.consolidate(dry_run=dry_run)
        assert report.dry_run
        assert [(group.agent, group.episodes, group.sessions) for group in report.groups] == [("one", 5, 2)]
        assert (report.batches, report.episodes, report.usage.calls) == (0, 0, 0)
        asked = memory.consolidate(dry_run=dry_run, session="s1")
        assert [(group.episodes, group.sessions) for group in asked.groups] == [(2, 1)]
        assert memory.agent("one").events() == before
        assert memory.runs("one").items == ()
        assert states(memory, episodes, "one") == ["pending"] * 5


@pytest.mark.req("B24.3", "B12.2")
@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        (EngineUnavailable("the model is away"), "engine_unavailable", "pending"),
        (EngineUnavailable("429: over quota"), "engine_unavailable", "pending"),
        (Refused("the model refused the request (400)"), "engine_unavailable", "failed"),
        (ZeroDivisionError("a fault of the engine's"), "engine_unavailable", "pending"),
        ("", "unusable_reply", "pending"),
        ("\x00\x01\ufffd binary \ud800", "unusable_reply", "pending"),
        ('{"new_facts": [' + "[]," * 1_700_000 + "]}", "unusable_reply", "pending"),
        ('{"new_facts": "none", "confirmations": {}}', "unusable_reply", "pending"),
        ("[]", "unusable_reply", "pending"),
    ],
)
def test_a_failure_of_one_agent_stops_no_other(fault, code, status, caplog):
    clock = Clock(seconds=1)
    with opened(":memory:", LLM([fault, learns_one, learns_one]), clock=clock) as memory:
        episodes = {agent: observed(memory, 2, agent) for agent in ("a", "b", "c")}
        report = memory.consolidate()
        [failure] = report.failures
        assert (failure.agent, failure.code, failure.episodes) == ("a", code, 2)
        assert [(record.msg, record.agent, record.code) for record in caplog.records] == [
            ("consolidation failed", "a", code)
        ]
        assert caplog.records[0].reason
        assert [content(memory, agent) for agent in ("a", "b", "c")] == [[], ["0"], ["0"]]
        assert [states(memory, episodes[agent], agent) for agent in ("a", "b")] == [[status] * 2, ["consolidated"] * 2]
        [run] = memory.runs("a")
        assert (run.status, run.id, run.model, run.prompt_version) == (
            "failed",
            failure.run_id,
            "scripted",
            "consolidation_2",
        )
        assert run.error.startswith(f"{code}: ")
        after = memory.agent("a").get(episodes["a"][0].id)
        assert after.last_consolidation_error == run.error
        assert (after.next_consolidation_retry_at is None) == (status == "failed")


@pytest.mark.req("B24.3")
@pytest.mark.parametrize(("fault", "code"), [(DatabaseBusy("locked"), "database_busy"), (KeyError("x"), "unexpected")])
def test_not_even_a_claim_that_fails_stops_another(fault, code):
    """Whatever is asked for one agent may fail, and is told of that one."""

    class Store:
        def __getattr__(self, name):
            return getattr(OneCall(memory.parts.store), name)

        def write(self, act, *work, **options):
            if act.caller.agent == "a":
                raise fault
            return memory.parts.store.write(act, *work, **options)

    with opened(":memory:", LLM([learns_one])) as memory:
        for agent in ("a", "b"):
            observed(memory, 1, agent)
        means = replace(consolidation_runs.dependencies_of(memory.parts, memory.parts.llm), store=Store())
        backlogs = memory.parts.store.inspect(None, list_backlogs, memory.parts.clock())
        report = consolidate(means, backlogs, ConsolidationOptions())
        assert [(failure.agent, failure.code, failure.run_id) for failure in report.failures] == [("a", code, None)]
        assert content(memory, "b") == ["0"]


def test_an_unreachable_model_is_asked_once_for_an_agent_and_an_unusable_reply_does_not_stop_it():
    with opened(":memory:", LLM([EngineUnavailable("away"), learns_one]), batch=1) as memory:
        observed(memory, 3)
        assert memory.consolidate().batches == 1
    with opened(":memory:", LLM(["no", learns_one, learns_one]), batch=1) as memory:
        observed(memory, 3)
        assert memory.consolidate().batches == 3
        assert content(memory) == ["1", "2"]


@pytest.mark.req("N15")
def test_one_poisonous_episode_ends_alone_and_all_others_are_learned_from():
    """Whatever is asked about with it fails; each time half as many are, until it is by itself."""

    def poisoned(prompt):
        return "I cannot." if "17" in asked_about(prompt) else NOTHING

    clock = Clock(seconds=1)
    llm = LLM([poisoned] * 100)
    with opened(":memory:", llm, clock=clock) as memory:
        episodes = observed(memory, 40)
        for _ in range(8):
            memory.consolidate()
            clock.pass_time(hours=3)
        after = states(memory, episodes)
        assert [number for number, status in enumerate(after) if status != "consolidated"] == [17]
        assert after[17] == "dead_letter"
        assert memory.agent("assistant").get(episodes[17].id).consolidation_attempts == 5
        sizes = [len(asked_about(prompt)) for prompt in llm.prompts if "17" in asked_about(prompt)]
        assert sizes == [30, 15, 7, 3, 1]
        before = len(llm.prompts)
        clock.pass_time(days=9)
        assert memory.consolidate().batches == 0
        assert len(llm.prompts) == before


@pytest.mark.req("N15")
def test_every_episode_ends_in_one_state_and_only_once():
    clock = Clock(seconds=1)
    replies = [NOTHING, "broken", Refused("no"), NOTHING]
    with opened(":memory:", LLM(replies), clock=clock, batch=2, max_attempts=1) as memory:
        episodes = observed(memory, 8)
        memory.consolidate()
        assert states(memory, episodes) == [
            *["consolidated"] * 2,
            *["dead_letter"] * 2,
            *["failed"] * 2,
            *["consolidated"] * 2,
        ]
        ends = [event for event in memory.agent("assistant").events(limit=1000) if "consolidat" in event.event_type]
        assert sorted(end.memory_id for end in ends) == sorted(episode.id for episode in episodes)


def test_a_failed_episode_waits_twice_as_long_each_time():
    clock = Clock(seconds=1)
    with opened(":memory:", LLM(["no"] * 9), clock=clock, retry_pause_s=100) as memory:
        [episode] = observed(memory, 1)
        waits = []
        for _ in range(4):
            memory.consolidate()
            retry_at = memory.agent("assistant").get(episode.id).next_consolidation_retry_at
            waits.append(round((retry_at - clock.now).total_seconds() / 100))
            assert memory.consolidate().batches == 0
            clock.now = retry_at
        assert waits == [1, 2, 4, 8]


@pytest.mark.req("N16")
def test_what_is_learned_from_again_adds_nothing():
    """The model says the same of the same episodes; its words decide the ids, and not the time."""
    clock = Clock(seconds=1)
    learned = reply(
        fact("Ana", "said", "number 0", "Turn number 0 of mine"), fact("Ana", "tells", "1", "Turn number 1", "e2")
    )
    with opened(":memory:", LLM([learned, learned]), clock=clock) as memory:
        observed(memory, 2)
        [first] = memory.consolidate().run_ids
        before = memory.agent("assistant").facts()
        memory.undo(first)
        assert memory.agent("assistant").facts().items == ()
        clock.pass_time(days=1)
        report = memory.consolidate()
        assert content(memory) == ["1", "number 0"]
        assert report.new == 2
        again = memory.agent("assistant").facts()
        assert [known.source for known in again] == [known.source for known in before]


def test_what_was_handed_out_comes_back_and_confirms_nothing():
    """Recall answers, the assistant repeats the answer, and consolidation is not fooled by it."""

    def repeats(prompt):
        known = re.search(r'<fact id="([^"]+)"', prompt.user)[1]
        echo = {"target_id": known, "evidence": [{"episode": "e2", "quote": "a flat with a view of the river"}]}
        again = fact("Ana", "owns", "a flat with a view of the river", "a flat with a view of the river", "e2")
        return reply(again, confirmations=[echo])

    clock = Clock(seconds=1)
    with opened(":memory:", LLM([repeats]), clock=clock) as memory:
        agent = memory.agent("assistant")
        known = agent.remember("a flat with a view of the river", subject="Ana", predicate="owns", scope="assistant")
        assert [hit.memory.id for hit in agent.recall("What does Ana own?")] == [known.id]
        agent.observe("What do I own, by the way?", speaker="Ana")
        agent.observe("You own a flat with a view of the river.", role="assistant")
        report = memory.consolidate()
        assert [rejection.reason for rejection in report.rejected] == ["echo", "echo"]
        assert agent.get(known.id).last_confirmed_at == known.last_confirmed_at


def test_an_old_turn_that_was_recalled_and_comes_back_is_an_echo_too():
    again = reply(fact("tram to Sintra", "leaves at", "nine", "The tram to Sintra leaves at nine"))
    with opened(":memory:", LLM([NOTHING, again])) as memory:
        agent = memory.agent("assistant")
        agent.observe("The tram to Sintra leaves at nine, not at ten.", speaker="Ana")
        memory.consolidate()
        agent.recall("When does the tram to Sintra leave?")
        agent.observe("The tram to Sintra leaves at nine, not at ten.", role="assistant")
        assert [rejection.reason for rejection in memory.consolidate().rejected] == ["echo"]


@pytest.mark.req("B14.4")
def test_an_action_that_fails_is_told_and_the_others_are_done(caplog):
    """Somebody forgets what is to be updated while the model is asked."""

    def updates(prompt):
        assert "Lisbon" in prompt.user
        memory.agent("assistant").forget(lisbon.id)
        update = {"target_id": "k1", **fact("Ana", "lives in", "Porto", "I live in Porto now")}
        return reply(fact("Ana", "said", "zero", "My number is zero"), updated_facts=[update])

    with opened(":memory:", LLM([updates])) as memory:
        agent = memory.agent("assistant")
        lisbon = agent.remember("Lisbon", subject="Ana", predicate="lives in", scope="assistant")
        episode = agent.observe("My number is zero. I live in Porto now.", speaker="Ana")
        report = memory.consolidate()
        assert content(memory) == ["zero"]
        [failure] = report.failures
        assert failure.code == "action_failed"
        assert "no active fact any more" in failure.message
        assert [(record.msg, record.actions) for record in caplog.records] == [("actions of a consolidation failed", 1)]
        assert "no active fact any more" in caplog.records[0].reason
        assert states(memory, [episode]) == ["consolidated"]


def test_an_agent_under_a_lease_is_left_alone_and_the_report_says_until_when():
    """A worker that is killed leaves its lease behind: whoever asks again at once is told why nothing is learned."""
    clock = Clock()
    with opened(":memory:", LLM([learns_one]), clock=clock) as memory:
        observed(memory, 1)
        claim = Claim(kind="consolidation", worker="killed", lease_s=60)
        batch = memory.parts.store.write(new_act(memory.parts, memory.agent("assistant").caller), claim_run, claim)
        for dry_run in (True, False):
            report = memory.consolidate(dry_run=dry_run)
            assert [(group.episodes, group.leased_until) for group in report.groups] == [(1, batch.run.lease_until)]
            assert (report.batches, report.failures) == (0, ())
        clock.pass_time(seconds=60)
        report = memory.consolidate()
        assert [(group.episodes, group.leased_until) for group in report.groups] == [(1, None)]
        assert (report.new, [run.status for run in memory.runs()]) == (1, ["done", "abandoned"])


def test_who_loses_the_lease_writes_nothing():
    """A model that takes longer than its lease finds that somebody else has learned the batch."""
    clock = Clock(seconds=1)

    def slow(prompt):
        clock.pass_time(hours=1)
        assert other.consolidate().episodes == 1
        return learns_one(prompt)

    with opened(":memory:", LLM([slow]), clock=clock) as memory:
        from engrain.service import Memory

        other = Memory(memory.parts.store, llm=LLM([NOTHING]), clock=clock, settings=memory.settings)
        observed(memory, 1)
        report = memory.consolidate()
        assert [failure.code for failure in report.failures] == ["lease_lost"]
        assert content(memory) == []
        assert [run.status for run in memory.runs()] == ["done", "abandoned"]


def test_what_is_learned_may_be_everybodys():
    with opened(":memory:", LLM([learns_one]), scope="global") as memory:
        observed(memory, 1)
        memory.consolidate()
        [known] = memory.agent("somebody else").facts()
        assert (known.scope, known.agent) == ("global", "assistant")


def test_a_run_is_undone_by_its_id_and_learned_from_again():
    with opened(":memory:", LLM([learns_one, NOTHING])) as memory:
        [episode] = observed(memory, 1)
        [run_id] = memory.consolidate().run_ids
        [run] = memory.runs(kind="consolidation")
        assert (run.id, run.status, run.report["usage"]["calls"]) == (run_id, "done", 1)
        with pytest.raises(NotFound):
            memory.undo(run_id, agent="another")
        assert memory.undo(run_id).run.status == "undone"
        assert content(memory) == []
        assert states(memory, [episode]) == ["pending"]
        with pytest.raises(InvalidInput):
            memory.undo(run_id)
        assert memory.consolidate().episodes == 1


@pytest.mark.parametrize("gone", ["old", "new", "turn"])
def test_a_run_is_undone_after_something_of_it_was_erased_and_restored(tmp_path, gone):
    """The events of it that are left have no payloads: what it was before stays as it is, and the answer says so."""
    moved = {"target_id": "k1", "reason": "changed", **fact("Ana", "lives in", "Lisbon", "I moved to Lisbon")}
    with opened(":memory:", LLM([reply(updated_facts=[moved])])) as memory:
        agent = memory.agent("assistant")
        old = agent.remember("Porto", subject="Ana", predicate="lives in")
        turn = agent.observe("I moved to Lisbon.", speaker="Ana")
        [run] = memory.consolidate().run_ids
        ids = {"old": old.id, "new": agent.facts()[0].id, "turn": turn.id}
        memory.backup(tmp_path / "backup")
        agent.erase([ids[gone]])
        memory.restore(tmp_path / "backup", with_erased=True)
        undone = memory.undo(run)
        assert {item.memory_id for item in undone.restored} == {*ids.values()} - ({ids[gone]} - {ids["new"]})
        kept = [] if gone == "new" else [ids[gone]]
        assert [item.memory_id for item in undone.kept] == kept
        assert all(item.reason.startswith("it was erased and restored since") for item in undone.kept)
        assert content(memory) == ([] if gone == "old" else ["Porto"])


def test_a_fact_that_is_over_takes_no_place_of_one_that_an_undo_brings_back():
    home = {"subject": "Ana", "predicate": "lives in"}
    learned = fact("Ana", "lives in", "Lisbon", "I moved to Lisbon")
    with opened(":memory:", LLM([reply(learned)])) as memory:
        agent = memory.agent("assistant")
        agent.remember("Faro", **home, scope="assistant", valid_from="2010-01-01", valid_to="2015-01-01")
        agent.remember("Porto", **home, scope="assistant", valid_from="2018-01-01")
        agent.remember("Braga", **home, scope="assistant", valid_from="2015-01-01", valid_to="2018-01-01")
        before = [(item.content, item.validity, item.valid_to) for item in agent.facts(include_inactive=True)]
        agent.observe("I moved to Lisbon.", speaker="Ana")
        [run] = memory.consolidate().run_ids
        assert content(memory) == ["Lisbon"]
        assert memory.undo(run).kept == ()
        assert content(memory) == ["Porto"]
        after = [(item.content, item.validity, item.valid_to) for item in agent.facts(include_inactive=True)]
        assert [item for item in after if item[0] != "Lisbon"] == before


def test_more_facts_than_can_be_shown_are_still_found_where_they_bear_on_a_proposal():
    """The prompt has room for a hundred; what says the same, or otherwise, is searched for."""

    def proposes(prompt):
        assert len(re.findall("<fact id", prompt.user)) == 100
        assert "<known_facts partial>" in prompt.user
        assert "harp" not in prompt.user.partition("<episodes>")[0]
        return reply(
            fact("Ana", "plays", "the harp in a quartet on weekends", "made music with three friends"),
            fact("Ana", "is living in", "Porto", "and Porto is home"),
        )

    with opened(":memory:", LLM([proposes])) as memory:
        agent = memory.agent("assistant")
        harp = agent.remember("the harp in a quartet on weekends", subject="Ana", predicate="plays", scope="assistant")
        home = agent.remember("Lisbon", subject="Ana", predicate="lives in", scope="assistant")
        for number in range(110):
            agent.remember(f"friends with music {number}", subject="Ana", predicate=f"made {number}", scope="assistant")
        agent.observe("I made music with three friends, and Porto is home.", speaker="Ana")
        report = memory.consolidate()
        assert [change.kind for change in report.learned] == ["new_fact", "confirmation"]
        assert report.learned[1].memory_id == harp.id
        assert agent.get(home.id).validity == "superseded"


def test_the_facts_that_a_turn_is_about_are_shown_before_newer_ones_the_best_of_each_turn_first():
    """An old fact of each turn, under 150 newer ones, one of which shares a word with the first turn alone."""
    llm = LLM([NOTHING])
    with opened(":memory:", llm) as memory:
        agent = memory.agent("assistant")
        agent.remember("a cello from 1890", subject="Ana", predicate="plays")
        agent.remember("the tram to Sintra", subject="Ben", predicate="takes")
        agent.rules.add("Book trams early.")
        for number in range(60):
            agent.remember(f"a cello case {number}", subject="Eve", predicate=f"sells {number}")
            agent.remember(f"thing {number}", subject="Eve", predicate=f"owns {number}")
            agent.rules.add(f"Order the things of {number}.")
        agent.observe("My cello needs strings.", speaker="Ana")
        agent.observe("Is the tram late?", speaker="Ben")
        memory.consolidate()
    [prompt] = llm.prompts
    shown = re.findall(r'<fact id="(k\d+)" subject="\w+" predicate="[\w ]+">(.*)</fact>', prompt.user)
    assert shown[:2] == [("k1", "a cello from 1890"), ("k2", "the tram to Sintra")]
    assert len(shown) == 100
    assert re.findall(r'<rule id="(k\d+)">(.*)</rule>', prompt.user)[0] == ("k101", "Book trams early.")


# Sessions


def switched(memory):
    memory.parts.learner.wait()


def watching(location, llm, **consolidation):
    return opened(location, llm, on_session_switch=True, **consolidation)


@pytest.mark.req("Y04")
def test_the_first_turn_of_a_session_has_the_earlier_ones_consolidated():
    llm = LLM([learns_one, NOTHING])
    with watching(":memory:", llm) as memory:
        before = [
            *observed(memory, 2, session="s1"),
            *observed(memory, 0),
        ]
        memory.agent("other").observe("Somebody else's turn.", session="theirs")
        switched(memory)
        assert llm.prompts == []
        later = memory.agent("assistant", session="s2").observe("A new day.")
        switched(memory)
        assert states(memory, before) == ["consolidated"] * 2
        assert states(memory, [later]) == ["pending"]
        assert content(memory) == ["0"]
        memory.agent("assistant", session="s2").observe("More of it.")
        switched(memory)
        assert len(llm.prompts) == 1
        memory.agent("assistant", session="s3").observe("And another day.")
        switched(memory)
        assert states(memory, [later]) == ["consolidated"]
        assert memory.agent("other").consolidation.is_session_consolidated("theirs") is False


@pytest.mark.req("Y04")
def test_whoever_observes_does_not_wait_for_the_model():
    begun, may_answer = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        assert may_answer.wait(60)
        return NOTHING

    with watching(":memory:", LLM([slow])) as memory:
        [first] = observed(memory, 1, session="s1")
        memory.agent("assistant", session="s2").observe("A new day.")
        assert begun.wait(60)
        assert states(memory, [first]) == ["pending"]
        assert memory.agent("assistant", session="s2").observe("Still here.").turn == 2
        may_answer.set()
        switched(memory)
        assert states(memory, [first]) == ["consolidated"]


@pytest.mark.req("Y04")
@pytest.mark.parametrize("fault", [EngineUnavailable("away"), "no JSON", RuntimeError("a fault")])
def test_a_session_switch_fails_nobody_who_observes(fault):
    from engrain import metrics

    failed = metrics.snapshot().get("background_learning_failures", 0)
    with watching(":memory:", LLM([fault])) as memory:
        [first] = observed(memory, 1, session="s1")
        memory.agent("assistant", session="s2").observe("A new day.")
        switched(memory)
        assert states(memory, [first]) == ["pending"]
        assert metrics.snapshot()["background_learning_failures"] == failed + 1


@pytest.mark.parametrize(("llm", "setting"), [(None, True), (LLM([]), False)])
def test_a_session_switch_does_nothing_without_a_model_or_where_the_settings_say_so(llm, setting):
    with opened(":memory:", llm, on_session_switch=setting) as memory:
        observed(memory, 1, session="s1")
        observed(memory, 1, session="s2")
        assert memory.runs().items == ()


def test_closing_waits_for_the_batch_in_hand_and_begins_no_other():
    begun, may_answer = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        assert may_answer.wait(60)
        return NOTHING

    llm = LLM([slow, NOTHING])
    with watching(":memory:", llm, batch=1) as memory:
        observed(memory, 2, session="s1")
        memory.agent("assistant", session="s2").observe("A new day.")
        assert begun.wait(60)
        closing = threading.Thread(target=memory.close)
        closing.start()
        may_answer.set()
        closing.join()
    assert len(llm.prompts) <= 2
