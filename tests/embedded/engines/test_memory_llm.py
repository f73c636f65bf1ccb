"""A memory with a language model: chosen by settings alone, metered, and never in the way."""

import json
import logging
import sys

import pytest

from engrain import metrics
from engrain.agent.wiring.engines import configured_llm
from engrain.config import load
from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines.callables import CallableLLM
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.interfaces.cli import main
from engrain.service import Memory
from tests.support.models import KEY, Fault

PROMPT = Prompt(system="Say it again.", user="What Ana said")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ENGRAIN_LLM__MODEL", "ENGRAIN_DB"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


def opened(section=None, *, llm=None, **sections):
    """A memory with this section of the settings about the model, or with a model of the test's own."""
    return Memory.open(":memory:", embedder="none", llm=llm, settings={"llm": section or {}, **sections})


def scores(*said):
    return json.dumps({"scores": [{"number": number, "score": score} for number, score in said]})


def test_settings_choose_the_model_its_prices_and_its_limits(models):
    chosen = {
        "model": "openai:small",
        "url": f"{models.url}/v1",
        "key": KEY,
        "attempts": 1,
        "max_tokens": 50,
        "input_usd_per_million": 1.0,
        "output_usd_per_million": 3.0,
    }
    with opened(chosen) as memory:
        assert memory.llm_usage == Usage()
        assert memory.parts.llm.complete(PROMPT, timeout_s=30).text == "What Ana said"
        models.faults = [Fault(500)]
        with pytest.raises(EngineUnavailable, match="tried once"):
            memory.parts.llm.complete(PROMPT, timeout_s=30)
        assert memory.llm_usage == Usage(calls=1, input_tokens=11, output_tokens=7, cost_usd=(11 + 21) / 1e6)
    assert {body["max_tokens"] for _, _, body in models.asked} == {50}


def test_each_memory_has_a_meter_of_its_own(models):
    chosen = {"model": "openai:small", "url": f"{models.url}/v1", "key": KEY}
    with opened(chosen) as one, opened(chosen) as other:
        one.parts.llm.complete(PROMPT, timeout_s=30)
        assert (one.llm_usage.calls, one.llm_usage.unpriced_calls) == (1, 1)
        assert other.llm_usage == Usage()


@pytest.mark.req("B12.2")
def test_a_command_is_a_model_by_settings_alone():
    program = [sys.executable, "-I", "-S", "-c", "import sys; print(sys.stdin.read().upper())"]
    with opened({"model": "command", "command": program}) as memory:
        assert "WHAT ANA SAID" in memory.parts.llm.complete(PROMPT, timeout_s=30).text


def test_without_a_model_there_is_none_and_nothing_is_asked():
    with opened() as memory:
        memory.agent("ana").observe("A turn about apples")
        assert memory.parts.llm is None
        assert memory.llm_usage == Usage()
    with opened({"model": "openai:m"}, llm="none") as memory:
        assert memory.parts.llm is None


def test_an_object_of_ones_own_is_a_model_and_what_is_none_is_refused():
    class Mine:
        name = "mine:v1"

        def complete(self, prompt, *, timeout_s):
            return Completion(text=f"{prompt.user} within {timeout_s:g} s")

    with opened(llm=Mine()) as memory:
        assert memory.parts.llm.name == "mine:v1"
        assert memory.parts.llm.complete(PROMPT, timeout_s=3).text == "What Ana said within 3 s"
    with pytest.raises(InvalidInput, match=r"wrap a function in engrain\.engines\.CallableLLM"):
        opened(llm=lambda prompt: prompt.user)
    for wrong in (3, Mine, object()):
        with pytest.raises(InvalidInput, match="must be provider:model or have name and complete"):
            opened(llm=wrong)
    with pytest.raises(InvalidInput, match="did you mean 'openai:m'"):
        opened(llm="opnai:m")


@pytest.mark.req("Y14")
def test_a_model_finds_names_by_settings_alone():
    said = {"names": [{"text": "Ana", "kind": "person", "confidence": 0.8}]}
    with opened(llm=ScriptedLLM([json.dumps(said)]), entities={"name_finder": "llm"}) as memory:
        agent = memory.agent("aide")
        turn = agent.observe("I met Ana, said Ben.")
        done = agent.entities.enrich([turn.id], strategy="accurate", publish=True)
        assert (done.enriched, done.links, done.created) == (1, 1, 1)
        [ana] = agent.entities.find()
        assert (ana.canonical_name, ana.entity_type) == ("Ana", "person")
        assert memory.llm_usage.calls == 1


@pytest.mark.req("C11")
def test_a_model_judges_deep_searches_by_settings_alone():
    replies = [scores((1, 2), (2, 9)), "the second", EngineUnavailable("the LLM scripted is away")]
    with opened(llm=ScriptedLLM(replies), reranking={"model": "llm", "budget_s": 30}) as memory:
        agent = memory.agent("aide")
        first, second = agent.observe("A tram, a tram, a tram"), agent.observe("The tram to Sintra leaves at nine")
        fast = [hit.memory.id for hit in agent.recall("tram")]
        assert set(fast) == {first.id, second.id}
        judged = agent.recall("tram", deep=True)
        assert (judged.mode, [hit.memory.id for hit in judged]) == ("deep", fast[::-1])
        for why in ("answered without any JSON", "the LLM scripted is away"):
            fallen = agent.recall("tram", deep=True)
            assert (fallen.mode, [hit.memory.id for hit in fallen]) == ("fast", fast)
            assert why in str(fallen.degraded[-1])


@pytest.mark.req("C11", "C12")
def test_notes_are_judged_too():
    with opened(llm=ScriptedLLM([scores((1, 1), (2, 8))]), reranking={"model": "llm", "budget_s": 30}) as memory:
        notes = memory.agent("aide").notes
        notes.save("a", "the tram stop")
        notes.save("b", "the tram to Sintra")
        fast = [hit.note.key for hit in notes.search("tram").hits]
        deep = notes.search("tram", mode="deep")
        assert [hit.note.key for hit in deep.hits] == fast[::-1]
        assert {hit.source for hit in deep.hits} == {"llm"}


@pytest.mark.parametrize("section", [{"entities": {"name_finder": "llm"}}, {"reranking": {"model": "llm"}}])
def test_who_wants_a_model_and_has_none_is_told_what_to_set(section):
    with pytest.raises(InvalidInput, match=r"needs a language model, and none is configured: set llm\.model"):
        opened(**section)


def test_the_pool_asks_as_many_at_once_as_the_settings_say():
    with opened({"max_parallel": 2}, llm=CallableLLM(lambda prompt: prompt.user, name="mine:v1")) as memory:
        asked = [Prompt(system="s", user=str(at)) for at in range(10)]
        completions = memory.parts.workers.map_bounded(
            lambda each: memory.parts.llm.complete(each, timeout_s=30), asked
        )
        assert [completion.text for completion in completions] == [str(at) for at in range(10)]
        assert memory.parts.workers._mapping._max_workers == 2
        assert memory.llm_usage.calls == 10


def test_neither_key_nor_prompt_is_anywhere_to_be_read(models, caplog, capsys, monkeypatch):
    caplog.set_level(logging.DEBUG, logger="engrain")
    models.key = "another"
    with opened({"model": "openai:doctor", "url": f"{models.url}/v1", "key": KEY}) as memory:
        with pytest.raises(EngineUnavailable, match=r"set llm\.key") as raised:
            memory.parts.llm.complete(PROMPT, timeout_s=30)
        said = [repr(memory.settings), str(raised.value), json.dumps(dict(metrics.snapshot()))]
    monkeypatch.setenv("ENGRAIN_DB", "memory.db")
    monkeypatch.setenv("ENGRAIN_LLM__KEY", KEY)
    monkeypatch.setenv("ENGRAIN_EMBEDDING__MODEL", "none")
    main(["doctor", "--json"])
    out = "".join([*said, *capsys.readouterr(), caplog.text])
    assert KEY not in out
    assert "What Ana said" not in out


def test_openais_key_goes_to_its_own_address_alone(models, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    models.key = None
    configured_llm(load({"llm": {"model": "openai:m", "url": f"{models.url}/v1"}})).complete(PROMPT, timeout_s=30)
    assert "authorization" not in models.asked[0][1]
    assert configured_llm(load({"llm": {"model": "openai:m"}}))._endpoint._secret == "sk-of-openai"
