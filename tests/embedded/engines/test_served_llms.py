"""LLMs over the wire, by the chat completions client and by pydantic-ai: requests, schema modes, errors and answers."""

import json

import pytest
from pydantic import SecretStr

from engrain import metrics
from engrain.domain.runs.completions import Prompt
from engrain.engines import ServiceAddress, llm
from engrain.engines.endpoint import Refused
from engrain.engines.llms.openai import PATH, URL, ChatLLM, is_strict
from engrain.engines.llms.pydantic_ai import PydanticLLM
from engrain.engines.llms.responses import Limits
from engrain.errors import EngineUnavailable
from tests.support.models import KEY, Fault, endpoint_config, message_of_failure
from tests.support.ports import free_port

SAID = "what Ana said in confidence"
CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
PROMPT = Prompt(system="Name somebody.", user=SAID)
SHAPED = Prompt(system="Name somebody.", user=SAID, schema=CLOSED)


def chat_llm(models, timing, **limits):
    config = endpoint_config(f"{models.url}/v1/chat/completions", section="llm")
    return ChatLLM("m", config, limits=Limits(**limits), timing=timing)


def pydantic_llm(models, timing, **limits):
    address = ServiceAddress(url=f"{models.url}/v1", key=SecretStr(KEY))
    return PydanticLLM("openai-chat:gpt-4o", address, limits=Limits(**limits), timing=timing)


@pytest.fixture
def chat(models, timing):
    return chat_llm(models, timing)


@pytest.fixture
def pydantic(models, timing):
    return pydantic_llm(models, timing)


@pytest.fixture(params=[chat_llm, pydantic_llm])
def make(request, models, timing):
    """Either client, with the limits given."""
    return lambda **limits: request.param(models, timing, **limits)


@pytest.fixture
def either(make):
    return make()


def failure(model, prompt=PROMPT, kind=EngineUnavailable, timeout_s=60):
    return message_of_failure(lambda: model.complete(prompt, timeout_s=timeout_s), SAID, kind=kind)


def formats(models):
    return [body.get("response_format", {}).get("type") for _, _, body in models.asked]


class TestEither:
    def test_system_and_user_go_out_apart_and_the_key_as_a_bearer(self, either, models):
        assert either.complete(PROMPT, timeout_s=60).text == SAID
        [(path, headers, body)] = models.asked
        assert (path, headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
        assert [(message["role"], message["content"]) for message in body["messages"]] == [
            ("system", "Name somebody."),
            ("user", SAID),
        ]

    def test_a_schema_goes_out_whole(self, either, models):
        either.complete(SHAPED, timeout_s=60)
        schema = models.asked[0][2]["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["name"] == {"type": "string"}
        assert models.asked[0][2]["messages"][0]["content"] == "Name somebody."

    def test_a_service_that_takes_no_schema_is_asked_more_loosely_and_remembered(self, either, models):
        models.refused_formats = {"json_schema"}
        either.complete(SHAPED, timeout_s=60)
        system = models.asked[-1][2]["messages"][0]["content"]
        assert system.startswith("Name somebody.")
        assert json.dumps(CLOSED) in system
        either.complete(SHAPED, timeout_s=60)
        assert formats(models) == ["json_schema", "json_object", "json_object"]
        assert json.dumps(CLOSED) in models.asked[-1][2]["messages"][0]["content"]

    def test_a_prompt_that_is_too_long_is_refused_at_once(self, either, models):
        models.most_chars = 10
        failure(either, SHAPED, Refused)
        assert len(models.asked) == 1

    def test_what_may_pass_is_tried_again_here_and_nowhere_else(self, either, models, passing):
        models.faults = [Fault(429, {"retry-after": "7"}), Fault(503)]
        retries = metrics.snapshot().get("engine_retries", 0)
        assert either.complete(PROMPT, timeout_s=60).text == SAID
        assert passing.pauses == [7.0, 1.0]
        assert len(models.asked) == 3
        assert metrics.snapshot()["engine_retries"] == retries + 2

    @pytest.mark.parametrize("status", [500, 503])
    def test_attempts_are_the_settings(self, make, models, status):
        models.faults = [Fault(status)] * 9
        assert failure(make(attempts=2)).endswith(f" answered {status}; tried 2 times")

    def test_a_model_that_thought_too_long_is_told_from_one_that_said_nothing(self, either, models):
        models.reply = lambda _system, _user: None
        assert failure(either).endswith("gave an empty answer")
        models.ended = "length"
        assert failure(either).endswith("used up its tokens before it answered: raise llm.max_tokens")

    def test_a_model_whose_answer_is_filtered_is_not_worth_asking_again(self, either, models):
        models.ended = "content_filter"
        assert failure(either, kind=Refused) == f"the LLM {either.name} will not answer this"


def test_a_number_of_tokens_is_the_prompts_or_else_the_settings(models, timing):
    chat = chat_llm(models, timing, max_tokens=100)
    chat.complete(PROMPT, timeout_s=60)
    chat.complete(Prompt(system="s", user="u", max_tokens=7), timeout_s=60)
    assert [body["max_tokens"] for _, _, body in models.asked] == [100, 7]
    assert models.asked[0][2].keys() == {"model", "messages", "max_tokens"}


def test_openai_itself_knows_the_number_by_its_newer_name():
    chat = ChatLLM("m", endpoint_config(URL + PATH, key=None))
    request = chat._request(Prompt(system="s", user="u", max_tokens=7), "none")
    assert request["max_completion_tokens"] == 7


def test_a_schema_goes_out_strict_where_it_can_be(chat, models):
    chat.complete(SHAPED, timeout_s=60)
    chat.complete(Prompt(system="s", user="u", schema={"type": "object"}), timeout_s=60)
    asked = [body["response_format"]["json_schema"] for _, _, body in models.asked]
    assert asked[0] == {"name": "answer", "schema": CLOSED, "strict": True}
    assert asked[1]["strict"] is False


def test_a_service_that_takes_no_form_of_json_is_asked_without_and_remembered(chat, models):
    models.refused_formats = {"json_schema", "json_object"}
    chat.complete(SHAPED, timeout_s=60)
    assert json.dumps(CLOSED) in models.asked[-1][2]["messages"][0]["content"]
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_schema", "json_object", None, None]


def test_a_refusal_that_no_form_changes_is_the_first_one_and_nothing_is_remembered(chat, models):
    models.faults = [Fault(422, content=b'{"error": {"code": "first"}}'), Fault(400), Fault(400)]
    with pytest.raises(Refused) as refused:
        chat.complete(SHAPED, timeout_s=60)
    assert (refused.value.status, refused.value.reason) == (422, "first")
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_schema", "json_object", None, "json_schema"]


def test_a_refusal_says_the_code_of_the_service(chat, models):
    models.most_chars = 10
    assert failure(chat, SHAPED, Refused).endswith("refused the request (400 context_length_exceeded)")


def test_a_prompt_without_a_schema_is_refused_at_once(chat, models):
    models.faults = [Fault(400)]
    assert failure(chat, PROMPT, Refused).endswith("refused the request (400)")
    assert len(models.asked) == 1


def test_all_forms_of_a_question_share_its_time(chat, models, passing):
    models.refused_formats = {"json_schema"}
    passing.now = 1000.0
    models.faults = [Fault(429, {"retry-after": "50"}), Fault(400), Fault(429, {"retry-after": "50"})]
    assert failure(chat, SHAPED, timeout_s=60).endswith("answered 429; tried once")
    assert passing.now <= 1060


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        "text",
        {"choices": []},
        {"choices": None},
        {"choices": ["text"]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "text"}]},
        {"error": {"message": SAID}},
    ],
)
def test_json_that_is_no_completion_is_said_and_not_tried_again(chat, models, answer):
    models.twist = lambda _: answer
    assert failure(chat).endswith("answered JSON that is no chat completion: check llm.url")
    assert len(models.asked) == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"", b"<html>"])
def test_what_is_no_json_is_said(chat, models, content):
    models.faults = [Fault(200, {"content-type": "application/octet-stream"}, content)]
    assert failure(chat).endswith("answered no JSON (application/octet-stream): check llm.url")


def test_an_answer_without_end_is_not_read(chat, models):
    models.faults = [Fault(200, content=b" " * 5_000_001)]
    assert failure(chat).endswith("answered more than 5 MB")


@pytest.mark.parametrize("content", [["text"], 3, {"text": "a"}])
def test_content_that_is_no_text_is_said(chat, models, content):
    models.reply = lambda _system, _user: content
    assert failure(chat).endswith(f"answered {type(content).__name__}, not text")


def test_a_model_that_refuses_is_not_worth_asking_again(chat, models):
    def refuse(answer):
        answer["choices"][0]["message"]["refusal"] = "I cannot"
        return answer

    models.twist = refuse
    assert failure(chat, kind=Refused) == "the LLM openai:m will not answer this"


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": -1}, [1], 3])
def test_what_a_service_does_not_say_of_tokens_is_zero(chat, models, usage):
    models.twist = lambda answer: {**answer, "usage": usage}
    told = chat.complete(PROMPT, timeout_s=60).usage
    assert (told.calls, told.input_tokens, told.output_tokens) == (1, 0, 0)


def test_its_own_address_needs_a_key_and_says_where_it_is_looked_for():
    with pytest.raises(EngineUnavailable, match=r"the LLM openai:m has no key: set llm\.key or OPENAI_API_KEY$"):
        llm("openai:m").complete(PROMPT, timeout_s=1)


def test_a_base_address_is_enough(models):
    address = ServiceAddress(url=f"{models.url}/v1/", key=SecretStr(KEY))
    assert llm("openai:local:model", address=address).complete(PROMPT, timeout_s=30).text == SAID
    assert models.asked[0][2]["model"] == "local:model"


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({"type": "array", "items": CLOSED}, True),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "additionalProperties": True}, False),
        ({**CLOSED, "properties": {"name": {"type": "object"}}}, False),
        ({"anyOf": [CLOSED, {"type": "object", "properties": {}}]}, False),
    ],
)
def test_a_schema_is_strict_where_every_object_in_it_is_closed(schema, strict):
    assert is_strict(schema) is strict


def test_pydantic_ai_passes_on_model_tokens_and_usage(models, timing):
    completion = pydantic_llm(models, timing, max_tokens=9).complete(PROMPT, timeout_s=60)
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (11, 7)
    body = models.asked[0][2]
    assert (body["model"], body["max_completion_tokens"]) == ("gpt-4o", 9)


def test_a_model_that_is_known_to_take_no_schema_is_not_asked_with_one(pydantic, models, monkeypatch):
    monkeypatch.setitem(pydantic._model_of_process().profile, "supports_json_schema_output", False)
    pydantic.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_object"]


def test_nobody_there_is_said(timing):
    address = ServiceAddress(url=f"http://127.0.0.1:{free_port()}/v1", key=SecretStr(KEY))
    absent = PydanticLLM("openai-chat:m", address, limits=Limits(attempts=2), timing=timing)
    assert failure(absent).endswith("cannot be reached; tried 2 times")


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, EngineUnavailable, "does not accept the key (401): set llm.key"),
        (403, EngineUnavailable, "does not accept the key (403): set llm.key"),
        (404, EngineUnavailable, "is not there (404): check llm.url and the model"),
        (402, EngineUnavailable, "says that the account is used up (402)"),
        (400, Refused, "refused the request (400)"),
        (413, Refused, "refused the request (413)"),
        (422, Refused, "refused the request (422)"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(pydantic, models, status, kind, said):
    models.faults = [Fault(status, content=json.dumps({"error": {"message": SAID}}).encode())]
    assert failure(pydantic, kind=kind).endswith(said)
    assert len(models.asked) == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"<html>", b"{}", b"[]", b'{"choices": []}'])
def test_what_is_no_completion_is_said(models, timing, content):
    models.faults = [Fault(200, {"content-type": "application/json"}, content)] * 9
    assert failure(pydantic_llm(models, timing, attempts=2)).startswith("the LLM pydantic-ai:openai-chat:gpt-4o ")


def test_a_provider_without_a_key_says_what_it_looks_for(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in failure(PydanticLLM("openai:gpt-4o", ServiceAddress()))


@pytest.mark.parametrize(
    ("spec", "url", "said"),
    [
        ("nobody:m", None, "the LLM pydantic-ai:nobody:m cannot be opened: "),
        ("gpt-4o", None, "the LLM pydantic-ai:gpt-4o cannot be opened: "),
        ("anthropic:claude-haiku-4-5", None, "pydantic-ai-slim["),
        ("azure:m", "http://127.0.0.1:9", "its provider takes no base_url from the settings"),
    ],
)
def test_a_provider_that_cannot_be_opened_says_why(spec, url, said):
    assert said in failure(PydanticLLM(spec, ServiceAddress(url=url)))


def test_a_fork_opens_connections_of_its_own(pydantic):
    pydantic.complete(PROMPT, timeout_s=60)
    ours = pydantic._model_of_process()
    pydantic._process -= 1  # as a fork finds it
    assert pydantic._model_of_process() is not ours
    assert pydantic.complete(PROMPT, timeout_s=60).text == SAID


def test_the_name_and_the_object_are_those_of_the_spec():
    assert llm("pydantic-ai:anthropic:claude-haiku-4-5").name == "pydantic-ai:anthropic:claude-haiku-4-5"
    assert llm("pydantic-ai:a:b") is llm("pydantic-ai:a:b")
