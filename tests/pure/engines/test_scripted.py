"""Replies that are known beforehand come in order, and run out with a clear error."""

import pytest

from engrain.domain.runs.completions import Prompt, Usage
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.errors import EngineUnavailable

PROMPT = Prompt(system="Answer.", user="What?")


def test_replies_come_in_order_and_errors_are_raised():
    llm = ScriptedLLM(["one", EngineUnavailable("busy"), "three"])
    assert llm.complete(PROMPT, timeout_s=1).text == "one"
    with pytest.raises(EngineUnavailable, match="busy"):
        llm.complete(PROMPT, timeout_s=1)
    assert llm.complete(PROMPT, timeout_s=1).text == "three"
    assert llm.prompts == [PROMPT] * 3
    with pytest.raises(EngineUnavailable, match="used up after 3"):
        llm.complete(PROMPT, timeout_s=1)


def test_usage_adds_up():
    spent = Usage(calls=1, input_tokens=10, output_tokens=2, cost_usd=0.25)
    assert spent + spent == Usage(calls=2, input_tokens=20, output_tokens=4, cost_usd=0.5)
