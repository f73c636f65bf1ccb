"""A function of a prompt, or of its two parts, is a language model; a call that does not come back is left alone."""

import threading

import pytest

from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines import CallableLLM
from engrain.engines.deadlines import DeadlineRunner
from engrain.engines.endpoint import Refused
from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.races import run_together

PROMPT = Prompt(system="Do.", user="What Ana said")


def of_prompt(prompt):
    return f"{prompt.system}|{prompt.user}"


def of_parts(system, user):
    return f"{system}|{user}"


def with_default(prompt, temperature=0.1):
    return f"{prompt.user} {temperature}"


class Client:
    def ask(self, system, user):
        return f"{system}|{user}"

    def __call__(self, prompt):
        return prompt.user


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (of_prompt, "Do.|What Ana said"),
        (of_parts, "Do.|What Ana said"),
        (with_default, "What Ana said 0.1"),
        (Client().ask, "Do.|What Ana said"),
        (Client(), "What Ana said"),
        (lambda *parts: parts[0].user, "What Ana said"),
        (lambda _: b"bytes", "bytes"),
    ],
)
def test_a_function_of_one_or_two_is_a_model(function, said):
    assert CallableLLM(function, name="mine:v1").complete(PROMPT, timeout_s=30) == Completion(text=said)


def test_a_function_of_two_parts_is_told_the_schema():
    shaped = Prompt(system="Do.", user="u", schema={"type": "array"})
    assert '{"type": "array"}' in CallableLLM(of_parts, name="mine:v1").complete(shaped, timeout_s=30).text


def test_a_completion_keeps_what_it_says_of_its_cost():
    told = Usage(calls=2, input_tokens=3, cost_usd=0.5)
    mine = CallableLLM(lambda _: Completion(text="yes", usage=told), name="mine:v1")
    assert mine.complete(PROMPT, timeout_s=30) == Completion(text="yes", usage=told)


async def awaited(prompt):
    return prompt.user


def of_three(system, user, schema):
    return f"{system}{user}{schema}"


def by_name(*, user):
    return user


@pytest.mark.parametrize("function", [None, "gpt", 3, awaited, lambda: "x", of_three, by_name])
def test_what_cannot_be_called_so_is_refused(function):
    with pytest.raises(InvalidInput, match="an LLM's function"):
        CallableLLM(function, name="mine:v1")


def test_its_own_errors_are_unavailability_and_ours_stay_what_they_are():
    def fail(prompt):
        raise ValueError(prompt.user)

    def refuse(_):
        raise Refused("no")

    with pytest.raises(EngineUnavailable, match=r"^the LLM mine:v1 failed with ValueError$"):
        CallableLLM(fail, name="mine:v1").complete(PROMPT, timeout_s=30)
    with pytest.raises(Refused):
        CallableLLM(refuse, name="mine:v1").complete(PROMPT, timeout_s=30)


class TestDeadlineRunner:
    def test_calls_that_are_under_way_do_not_count_as_overdue(self):
        runner, together = DeadlineRunner("it", thread_name="engrain-test", max_overdue=1), threading.Barrier(4)
        answers = run_together(lambda _: runner.run(lambda: together.wait(30), 30), range(4))
        assert sorted(answers) == [0, 1, 2, 3]

    def test_with_too_many_overdue_nobody_is_asked_until_they_come_back(self):
        runner, let_go, back = DeadlineRunner("it", thread_name="engrain-test", max_overdue=2), threading.Event(), []
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match=r"^it took longer than 0\.01 s$"):
                runner.run(lambda: let_go.wait(60), 0.01)
        with pytest.raises(EngineUnavailable, match=r"^2 calls of it have not come back$"):
            runner.run(lambda: back.append("asked"), 30)
        let_go.set()
        for thread in threading.enumerate():
            if thread.name == "engrain-test":
                thread.join(30)
        assert runner.run(lambda: "back", 30) == "back"
        assert back == []

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
    def test_whatever_it_raises_is_raised_here(self, error):
        def fail():
            raise error

        with pytest.raises(error):
            DeadlineRunner("it", thread_name="engrain-test", max_overdue=1).run(fail, 30)
