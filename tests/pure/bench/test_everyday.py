"""Scripted conversations: each is valid, and replies are judged as the scripts say."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from bench.everyday import report
from bench.everyday.judging import Reply, holds_text, judge
from bench.everyday.parsing import KINDS, ScriptError, labels, load_scripts, parse_script, split_parts
from bench.everyday.runner import judge_script
from bench.everyday.script import ASPECTS, TOPICS

HEAD = "title: T\ntopic: plain\n--- s1 2026-03-02 09:00\n"
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def script_of(tmp_path):
    """Parse a text as a script of the kind companion."""

    def parse(text, *, name="t", head=HEAD):
        path = tmp_path / "companion" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + text, encoding="utf-8")
        return parse_script(path)

    return parse


class RecordingHost:
    """Host that writes down what it is told, and replies with what was prepared for a text."""

    def __init__(self, replies=None, *, aspects=ASPECTS):
        self.aspects = frozenset(aspects)
        self.calls = []
        self._replies = replies or {}

    def store(self, step):
        self.calls.append(("store", step.role, step.text, step.session, step.at))

    def ask(self, step):
        self.calls.append(("ask", step.role, step.text, step.session, step.at))
        return self._replies.get(step.text, Reply())

    def perform(self, step):
        self.calls.append((step.verb, step.text))
        reply = self._replies.get(step.text, Reply())
        if isinstance(reply, Exception):
            raise reply
        return reply


class Transcript:
    """Host that keeps every text, and lists expectations of what nobody said: they could not hold, or would always."""

    aspects = frozenset(ASPECTS)
    in_sight = frozenset({"first", "top", "before", "once", "block", "block once", "has"})
    anywhere = frozenset({"not first", "not top", "not hits", "not block", "has not"})

    def __init__(self):
        self.unsaid = []
        self._texts = []  # user, label, text
        self._forgotten = set()

    def store(self, step):
        self._add(step, f"{step.at.date()} {step.speaker or step.role}: {step.text}")

    def ask(self, step):
        self._check(step)
        return Reply()

    def perform(self, step):
        match step.verb:
            case "remember" | "handle":
                self._add(step, " ".join(split_parts(step.text)))
            case "correct":
                *subject, _ = next(text for _, label, text in self._texts if label == step.label).split(" ")
                self._add(step, f"{' '.join(subject)} {step.text}")
            case "forget":
                self._forgotten.update(labels(step.text))
        self._check(step)
        return Reply()

    def _add(self, step, text):
        self._texts.append((None if step.settings.get("scope") == "global" else step.user, step.label, text))

    def _check(self, step):
        said = [text for _, _, text in self._texts]
        in_sight = [
            text for user, label, text in self._texts if user in (None, step.user) and label not in self._forgotten
        ]
        for expectation in step.expectations:
            texts = in_sight if expectation.name in self.in_sight else said
            groups = {expectation.wanted, expectation.before} - {()}
            if expectation.name in self.in_sight | self.anywhere:
                self.unsaid += [
                    f"{expectation.line}: {expectation.text}"
                    for options in groups
                    if not any(holds_text(text, options) for text in texts)
                ]


def test_what_a_script_expects_was_said():
    for script in load_scripts():
        host = Transcript()
        for _ in judge_script(script, host):
            pass
        assert host.unsaid == [], script.id


def test_every_script_is_valid():
    scripts = load_scripts()
    by_kind = Counter(script.kind for script in scripts)
    assert len(scripts) >= 60
    assert set(by_kind) == set(KINDS)
    assert min(by_kind.values()) >= 8
    assert {step.topic for script in scripts for step in script.steps} == set(TOPICS)
    assert len({script.title for script in scripts}) == len(scripts)


def test_every_script_is_of_several_days_and_expects_much():
    for script in load_scripts():
        assert len({step.at.date() for step in script.steps}) >= 3, script.id
        assert len({step.session for step in script.steps}) >= 3, script.id
        assert sum(len(step.expectations) for step in script.steps) >= 20, script.id


def test_the_support_desk_has_several_users():
    for script in load_scripts("support"):
        assert len({step.user for step in script.steps} - {None}) >= 2 or script.name == "bank_small_talk", script.id


def test_a_script_is_read(script_of):
    script = script_of(
        "Ana [cat]: My cat is called Miso.\n"
        "assistant: Nice!\n"
        "# a comment\n"
        "remember [home]: user | lives in | Lisbon\n"
        "    from: 2026-01-01\n"
        "--- s2 2026-03-05 08:00 user ana\n"
        "topic: moves\n"
        "ask: Where do I live?\n"
        "    topic: dates\n"
        "    as of: 2026-03-03\n"
        "    first: Lisbon / Porto\n"
        "    not top 3: Rome\n"
        "    before: Lisbon > Porto / Rome\n"
        "    evidence: some\n"
        "    block at most: 40\n"
    )
    cat, nice, home, question = script.steps
    assert (cat.verb, cat.role, cat.speaker, cat.label, cat.at) == ("say", "user", "Ana", "cat", MONDAY)
    assert (nice.role, nice.speaker, nice.at) == ("assistant", None, MONDAY + timedelta(minutes=1))
    assert (home.verb, home.label, home.settings, home.session) == ("remember", "home", {"from": "2026-01-01"}, "s1")
    assert (question.user, question.topic, question.session) == ("ana", "dates", "s2")
    assert question.settings == {"as of": "2026-03-03"}
    first, top, before, evidence, size = question.expectations
    assert (first.name, first.aspect, first.wanted) == ("first", "hits", ("Lisbon", "Porto"))
    assert (top.name, top.number, top.wanted) == ("not top", 3, ("Rome",))
    assert (before.wanted, before.before) == (("Lisbon",), ("Porto", "Rome"))
    assert (evidence.wanted, size.number) == (("weak", "strong"), 40)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("ask: x\n    frist: y\n", 5, "after 'ask' the name 'frist' is unknown; did you mean 'first'?"),
        ("aks: x\n    first: y\n", 4, "verb 'aks' is unknown; did you mean 'ask'?"),
        ("topic: smalltalk\n", 4, "topic 'smalltalk' is unknown; did you mean 'small-talk'?"),
        ("    first: y\n", 4, "an indented line belongs to a step"),
        ("ask: x\n    first\n", 5, "'first' is no 'name: value'"),
        ("ask: x\n    evidence: much\n", 5, "level 'much' is unknown"),
        ("ask: x\n    top 11: y\n", 5, "top needs a number from 1 to 10"),
        ("ask: x\n    before: y\n", 5, "before needs two texts"),
        ("ask: x\n    block at most: few\n", 5, "block at most needs a number"),
        ("ask: x\n    block empty: no\n", 5, "block empty has one value: yes"),
        ("ask: x\n    since: 2026-01-01\n    block: y\n", 4, "a block cannot be narrowed by since"),
        ("ask: x\n    budget: few\n    first: y\n", 4, "budget is a number of tokens"),
        ("assistant: x\n    first: y\n", 5, "'first' cannot be expected of 'assistant'"),
        ("remember: a | b | c\n    first: y\n", 5, "'first' cannot be expected of 'remember'"),
        ("remember: a | b\n", 4, "remember has 1 or 3 parts, divided by '|'; this has 2"),
        ("correct: x\n", 4, "correct names what it corrects"),
        ("forget: home\n", 4, "label 'home' is unknown"),
        ("Ana [a]: x\nAna [a]: y\n", 5, "label 'a' is taken"),
        ("again 3: what\n", 4, "'again N: Name: question => answer'"),
        ("Ana: x\n    store: last\n    first: y\n", 4, "store has one value: first"),
        ("--- s2 2026-03-01 09:00\n", 4, "before the end of the last step"),
        ("again 3: Ana: x?\n--- s2 2026-03-04 09:00\n", 5, "before the end of the last step"),
        ("--- s2 2026-13-01 09:00\n", 4, "time data '2026-13-01 09:00'"),
        ("--- s2 tomorrow\n", 4, "a session begins with '--- NAME YYYY-MM-DD HH:MM'"),
        ("Ana: x\n", 1, "nothing is expected"),
    ],
)
def test_a_script_that_is_not_valid_is_told_with_its_line(script_of, text, line, problem):
    with pytest.raises(ScriptError) as refused:
        script_of(text)
    assert f"companion/t.txt:{line}: {problem}" in str(refused.value) or problem in str(refused.value)
    assert f":{line}: " in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("topic: plain\n--- s 2026-03-02 09:00\nask: x\n    first: y\n", "there is no title"),
        ("title: T\ntopic: plain\nask: x\n    first: y\n", "a step needs a session before it"),
        ("title: T\n--- s 2026-03-02 09:00\nask: x\n    first: y\n", "a step needs a topic before it"),
    ],
)
def test_a_script_needs_a_title_a_session_and_a_topic(script_of, text, problem):
    with pytest.raises(ScriptError, match=problem):
        script_of(text, head="")


def test_a_script_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ScriptError, match="no script nothing of kind any"):
        load_scripts(name="nothing", folder=tmp_path)


REPLY = Reply(
    hits=("Ana likes jazz", "Ana likes: the oboe", "I KNOW  nothing of Rome, she said.", "Ana likes jazz!"),
    evidence="weak",
    evidence_score=0.5,
    block="## Known\n- Ana likes: jazz\n- Ana likes: the oboe",
    facts=("Ana likes: jazz",),
    handled=frozenset({"trip", "tram"}),
)


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ("first: jazz", True),
        ("first: oboe", False),
        ("first: oboe / jazz", True),
        ("first: jaz", False),  # whole words
        ("not first: oboe", True),
        ("not first: jazz", False),
        ("top 2: oboe", True),
        ("top 2: likes the oboe", True),  # a colon counts as a space
        ("top 1: oboe", False),
        ("top 3: i know nothing of rome", True),  # whatever the case and spaces
        ("not top 2: Rome", True),
        ("not top 3: Rome", False),
        ("not hits: Lisbon", True),
        ("not hits: Rome", False),
        ("before: jazz > oboe", True),
        ("before: jazz > Lisbon", True),
        ("before: oboe > jazz", False),
        ("before: Lisbon > jazz", False),
        ("before: Lisbon > Porto", False),
        ("once: oboe", True),
        ("once: likes jazz", False),
        ("once: Lisbon", False),
        ("at most once: Lisbon", True),
        ("at most once: likes jazz", False),
        ("evidence: weak", True),
        ("evidence: some", True),
        ("evidence: none", False),
        ("block: oboe", True),
        ("block: Rome", False),
        ("not block: Rome", True),
        ("not block: jazz", False),
        ("block once: jazz", True),
        ("block once: Ana", False),
        ("block once: Rome", False),
        ("block at most once: Rome", True),
        ("block at most once: Ana", False),
        ("block at most: 13", True),
        ("block at most: 11", False),
        ("block empty: yes", False),
    ],
)
def test_a_reply_to_a_question_is_judged(script_of, expected, holds):
    [step] = script_of(f"ask: x\n    {expected}\n").steps
    [expectation] = step.expectations
    assert (judge(expectation, REPLY) is None) is holds


@pytest.mark.parametrize(
    ("step", "expected", "holds"),
    [
        ("facts: Ana | likes", "has: jazz", True),
        ("facts: Ana | likes", "has: oboe", False),
        ("facts: Ana | likes", "has not: oboe", True),
        ("facts: Ana | likes", "has not: jazz", False),
        ("facts: Ana | likes", "count: 1", True),
        ("profile: Ana", "count: 2", False),
        ("handle: forget it", "names: trip, tram", True),
        ("handle: forget it", "names: trip, home", False),
        ("handle: forget it", "names not: home", True),
        ("handle: forget it", "names not: home, tram", False),
    ],
)
def test_a_reply_to_another_verb_is_judged(script_of, step, expected, holds):
    labelled = "Ana [trip]: a\nAna [tram]: b\nAna [home]: c\n"
    [expectation] = script_of(f"{labelled}{step}\n    {expected}\n").steps[-1].expectations
    assert (judge(expectation, REPLY) is None) is holds


def test_an_empty_block_is_empty(script_of):
    [expectation] = script_of("ask: x\n    block empty: yes\n").steps[0].expectations
    assert judge(expectation, Reply(block=" \n")) is None


def test_what_a_reply_has_instead_is_told(script_of):
    expectations = (
        script_of("ask: x\n    first: oboe\n    evidence: none\n    not block: jazz\n    not hits: Rome\n")
        .steps[0]
        .expectations
    )
    first, evidence, block, hits = (judge(expectation, REPLY) for expectation in expectations)
    assert first.startswith("at 2; 1. Ana likes jazz; 2. Ana likes: the oboe; 3. ")
    assert (evidence, hits.split(";")[0]) == ("weak (0.50)", "at 3")
    assert block == "12 tokens, 1 such lines; - Ana likes: jazz"


def test_a_question_is_asked_before_it_is_stored_unless_the_script_says_otherwise(script_of):
    script = script_of(
        "Ana: A?\n    first: a\nAna: B?\n    store: first\n    first: b\nAna: C.\nask: D?\n    first: d\n"
    )
    host = RecordingHost()
    assert len(list(judge_script(script, host))) == 3
    assert [(call, text) for call, _, text, _, _ in host.calls] == [
        ("ask", "A?"),
        ("store", "A?"),
        ("store", "B?"),
        ("ask", "B?"),
        ("store", "C."),
        ("ask", "D?"),
    ]


def test_a_question_again_is_asked_stored_and_answered_in_a_session_a_day(script_of):
    script = script_of("again 2: Ana: A? => B.\n--- s2 2026-03-04 09:01\nask: A?\n    first: B\n")
    host = RecordingHost()
    list(judge_script(script, host))
    assert host.calls[:6] == [
        (call, role, text, f"s1-{day + 1}", MONDAY + timedelta(days=day))
        for day in range(2)
        for call, role, text in [("ask", "user", "A?"), ("store", "user", "A?"), ("store", "assistant", "B.")]
    ]


def test_a_step_that_raises_fails_with_all_that_it_expects(script_of):
    script = script_of("remember: bad\nfacts: a\n    has: b\n    has not: c\nask: d\n    first: e\n", name="raising")
    host = RecordingHost({"bad": ValueError("no\nmore"), "a": TypeError("at all"), "d": Reply(hits=("e",))})
    verdicts = list(judge_script(script, host))
    assert [verdict.problem for verdict in verdicts] == [
        "ValueError: no",
        "TypeError: at all",
        "TypeError: at all",
        None,
    ]
    assert verdicts[0].expectation is None


def test_one_error_does_not_speak_for_the_other_aspects(script_of):
    script = script_of("ask: d\n    first: e\n    block: f\n")
    host = RecordingHost({"d": Reply(hits=("e",), errors={"block": "TypeError: no"})})
    assert [verdict.problem for verdict in judge_script(script, host)] == [None, "TypeError: no"]


def test_a_host_is_judged_by_what_it_can_tell(script_of):
    script = script_of("ask: d\n    first: e\n    evidence: none\nfacts: d\n    count: 0\n")
    verdicts = list(judge_script(script, RecordingHost(aspects=["hits"])))
    assert [verdict.expectation.name for verdict in verdicts] == ["first"]


@pytest.fixture
def verdicts(script_of):
    """Verdicts of two memories: of the first two of three hold, of the second, which has no evidence, none."""
    script = script_of("ask: d\n    first: e\n    evidence: none\ntopic: dates\nask: f\n    first: g\n")
    good = RecordingHost({"d": Reply(hits=("e",), evidence="none"), "f": Reply(hits=("h",))})
    return {
        "engrain": list(judge_script(script, good)),
        "vectors": list(judge_script(script, RecordingHost(aspects=["hits"]))),
    }


def test_the_table_has_the_share_that_holds_by_group(verdicts):
    rows = [line.split() for line in report.format_table(verdicts, "topic").splitlines()]
    assert rows == [
        ["topic", "expected", "engrain", "vectors"],
        ["dates", "1", "0.000", "0.000"],
        ["plain", "2", "1.000", "0.000"],
    ]
    assert report.format_table(verdicts, "kind").splitlines()[-1].split() == ["all", "3", "0.667", "0.000"]
    aspects = report.format_table(verdicts, "aspect").splitlines()
    assert aspects[1].split() == ["evidence", "1", "1.000"]


def test_what_fails_is_listed_with_its_step(verdicts):
    assert report.format_failures(verdicts["engrain"]).splitlines() == [
        "companion/t.txt:8 [dates] ask: f",
        "    first: g  <- 1. h",
    ]


def test_the_figures_are_those_of_the_table(verdicts):
    figures = report.as_json(verdicts)
    assert figures["engrain"]["topic"] == {
        "dates": {"expected": 1, "share": 0.0},
        "plain": {"expected": 2, "share": 1.0},
    }
    assert figures["vectors"]["share"] == 0.0
    assert figures["engrain"]["verdicts"][2] == {
        "script": "companion/t",
        "line": 9,
        "topic": "dates",
        "step": "f",
        "expected": "first: g",
        "problem": "1. h",
    }
