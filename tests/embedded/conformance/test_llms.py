"""What every language model promises by its port, however it is reached, and whatever goes wrong on the way."""

import importlib
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr

from engrain import metrics
from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines import CallableLLM, ServiceAddress
from engrain.engines.llms.command import CommandLLM
from engrain.engines.llms.openai import ChatLLM
from engrain.engines.llms.pydantic_ai import PydanticLLM
from engrain.engines.llms.responses import MAX_ANSWER_BYTES, Limits
from engrain.engines.llms.scripted import ScriptedLLM
from engrain.engines.llms.usage_meter import MeteredLLM, Prices
from engrain.errors import EngineUnavailable
from tests.support.models import KEY, Fault, endpoint_config, message_of_failure, serving

SAID = "Ana's secret is 4711"
SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}
PROMPT = Prompt(system="Say it again.", user=SAID)
ONCE = Limits(attempts=1)
PROVIDERS = ["openai", "pydantic-ai", "command", "callable", "scripted"]
# A program that answers with the file it is given, whatever it is asked.
ANSWERS = "import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
ECHOES = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().split(b'\\n\\n')[-1])"
FAILS = "import sys; sys.stderr.write(sys.stdin.read()); sys.exit(3)"
HANGS = "import time; time.sleep(600)"


class Made:
    """Language models of one provider: one that gives an answer, one that repeats, one that fails, one that hangs."""

    def __init__(self, provider, models, folder):
        self.provider = provider
        self._models = models
        self._folder = folder
        self.stop = threading.Event()

    def answering(self, reply):
        if self.provider == "command":
            (self._folder / "reply").write_bytes(reply.encode(errors="surrogatepass"))
            return self._command(ANSWERS, str(self._folder / "reply"))
        self._models.reply = lambda _system, _user: reply
        return self._served() or self._function(lambda _: reply, [reply] * 20)

    def repeating(self, texts):
        if self.provider == "command":
            return self._command(ECHOES)
        self._models.reply = lambda _system, user: user
        return self._served() or self._function(lambda prompt: prompt.user, texts)

    def failing(self):
        if self.provider == "command":
            return self._command(FAILS)
        quoting = json.dumps({"error": {"message": SAID, "code": SAID}}).encode()
        self._models.faults = [Fault(500, {"content-type": "application/json"}, quoting)] * 9

        def fail(prompt):
            raise RuntimeError(prompt.user)

        return self._served() or self._function(fail, [EngineUnavailable("no answer today")])

    def hanging(self):
        if self.provider == "command":
            return self._command(HANGS)
        self._models.may_answer.clear()
        return self._served() or CallableLLM(lambda _: self.stop.wait(60), name="callable:test")

    def _command(self, program, *arguments):
        return CommandLLM([sys.executable, "-I", "-S", "-c", program, *arguments])

    def _served(self):
        url = f"{self._models.url}/v1"
        if self.provider == "openai":
            return ChatLLM("m", endpoint_config(f"{url}/chat/completions", section="llm"), limits=ONCE)
        if self.provider == "pydantic-ai":
            return PydanticLLM("openai-chat:m", ServiceAddress(url=url, key=SecretStr(KEY)), limits=ONCE)
        return None

    def _function(self, function, replies):
        return CallableLLM(function, name="callable:test") if self.provider == "callable" else ScriptedLLM(replies)


@pytest.fixture(scope="module")
def server():
    with serving() as models, pytest.MonkeyPatch.context() as patch:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            patch.delenv(variable, raising=False)
        yield models


@pytest.fixture(params=PROVIDERS)
def made(request, server, tmp_path):
    if request.param == "pydantic-ai":
        importlib.import_module("pydantic_ai.direct")  # with seconds of its own, which no prompt waits for
    server.__init__(server.url)
    ready = Made(request.param, server, tmp_path)
    yield ready
    server.may_answer.set()
    ready.stop.set()


def failure(llm, prompt=PROMPT, timeout_s=30):
    return message_of_failure(lambda: llm.complete(prompt, timeout_s=timeout_s), "Ana", "4711")


class TestEveryLLM:
    @pytest.mark.req("B12.2")
    def test_answers_a_prompt_with_text_and_counts_one_call(self, made):
        llm = made.answering('{"names": ["Ana"]} 👍')
        completion = llm.complete(PROMPT, timeout_s=30)
        assert completion.text == '{"names": ["Ana"]} 👍'
        assert completion.usage.calls == 1
        assert llm.name.partition(":")[0] == made.provider

    def test_takes_a_schema_and_a_number_of_tokens(self, made):
        llm = made.answering('{"names": []}')
        prompt = Prompt(system="List names.", user=SAID, schema=SCHEMA, max_tokens=50)
        assert json.loads(llm.complete(prompt, timeout_s=30).text) == {"names": []}

    def test_takes_any_text(self, made):
        llm = made.answering("yes")
        for said in ("", " ", "\ud83d", "a\x00b", "中文 😀", "x" * 200_000):
            made._models.most_chars = 1_000_000
            assert llm.complete(Prompt(system=said, user=said), timeout_s=30).text == "yes"

    def test_gives_no_lone_surrogates(self, made):
        # In UTF-8, which a program writes, there are none.
        llm = made.answering("ok \ufffd" if made.provider == "command" else f"ok {chr(0xD83D)}")
        assert llm.complete(PROMPT, timeout_s=30).text == "ok \ufffd"

    @pytest.mark.parametrize("reply", ["", " \n\t "])
    def test_an_empty_answer_is_none(self, made, reply):
        assert failure(made.answering(reply)).endswith("gave an empty answer")

    def test_a_binary_answer_is_none(self, made):
        assert "answered binary data, not text" in failure(made.answering("a\x00b"))

    def test_an_answer_of_more_than_5_mb_is_none(self, made):
        assert failure(made.answering("x" * (MAX_ANSWER_BYTES + 1))).endswith("answered more than 5 MB")

    def test_a_failure_is_said_without_quoting_the_prompt(self, made):
        assert failure(made.failing())

    def test_threads_get_the_answers_to_their_own_prompts(self, made):
        texts = [f"text {at}" for at in range(8)]
        llm = made.repeating(texts)
        with ThreadPoolExecutor(4) as pool:
            asked = [Prompt(system="Repeat.", user=text) for text in texts]
            answers = list(pool.map(lambda prompt: llm.complete(prompt, timeout_s=30).text, asked))
        assert sorted(answers) == texts
        if made.provider != "scripted":
            assert answers == texts

    def test_is_metered_alike(self, made):
        before = metrics.snapshot()
        llm = MeteredLLM(made.answering("yes"))
        assert llm.complete(PROMPT, timeout_s=30).text == "yes"
        assert (llm.usage.calls, llm.usage.unpriced_calls, llm.usage.cost_usd) == (1, 1, 0.0)
        assert gained(before, "llm_calls", "llm_failures") == [1, 0]
        failure(MeteredLLM(made.failing()))
        assert gained(before, "llm_calls", "llm_failures") == [2, 1]


@pytest.mark.parametrize("made", ["openai", "pydantic-ai", "command", "callable"], indirect=True)
def test_who_does_not_answer_is_not_waited_for(made):
    """A script answers at once."""
    said = failure(made.hanging(), timeout_s=0.3)
    assert any(each in said for each in ("did not answer in time", "did not end within 0.3 s", "longer than 0.3 s"))


@pytest.mark.parametrize("made", ["openai", "pydantic-ai"], indirect=True)
def test_a_service_tells_its_tokens_which_have_a_price_where_somebody_names_it(made):
    before = metrics.snapshot()
    llm = MeteredLLM(made.answering("yes"), Prices(input_usd_per_million=2.0, output_usd_per_million=10.0))
    completion = llm.complete(PROMPT, timeout_s=30)
    llm.complete(PROMPT, timeout_s=30)
    assert completion.usage == Usage(calls=1, input_tokens=11, output_tokens=7, cost_usd=(22 + 70) / 1e6)
    assert llm.usage == completion.usage + completion.usage
    assert gained(before, "llm_input_tokens", "llm_output_tokens", "llm_seconds") == [22, 14, 2]
    assert metrics.snapshot()["llm_seconds_total"] > before.get("llm_seconds_total", 0)


class TestMetering:
    @pytest.mark.parametrize(
        ("told", "prices", "expected"),
        [
            (Usage(calls=1), Prices(input_usd_per_million=1, output_usd_per_million=1), (0.0, 1)),
            (Usage(calls=1, input_tokens=5), Prices(input_usd_per_million=1), (0.0, 1)),
            (Usage(calls=1, input_tokens=5), Prices(input_usd_per_million=1, output_usd_per_million=1), (5e-6, 0)),
            (Usage(calls=1, input_tokens=5), Prices(input_usd_per_million=0, output_usd_per_million=0), (0.0, 0)),
            (Usage(calls=2, cost_usd=0.5), Prices(), (0.5, 0)),
        ],
    )
    def test_a_cost_that_is_not_known_is_said_to_be_unknown(self, told, prices, expected):
        llm = MeteredLLM(CallableLLM(lambda _: Completion(text="yes", usage=told), name="mine:v1"), prices)
        usage = llm.complete(PROMPT, timeout_s=30).usage
        assert (usage.cost_usd, usage.unpriced_calls) == expected
        assert llm.usage == usage

    @pytest.mark.parametrize("answer", ["text", None, 3])
    def test_what_is_no_completion_is_no_answer(self, answer):
        class Odd:
            name = "odd:1"

            def complete(self, _prompt, **_):
                return answer

        assert failure(MeteredLLM(Odd())).endswith(f"gave {type(answer).__name__}, not a Completion")

    def test_an_error_of_somebody_elses_is_unavailability_and_its_message_stays_out(self):
        class Odd:
            name = "odd:1"

            def complete(self, prompt, **_):
                raise KeyError(prompt.user)

        assert failure(MeteredLLM(Odd())) == "the LLM odd:1 failed with KeyError"


def gained(before, *names):
    now = metrics.snapshot()
    return [now.get(name, 0) - before.get(name, 0) for name in names]
