"""Chat completions over the wire: what goes out, how a service is held to a schema, and what its answers may be."""

import json

import pytest
from pydantic import SecretStr

from engrain import metrics
from engrain.domain.runs.completions import Prompt
from engrain.engines import ServiceAddress, llm
from engrain.engines.endpoint import Refused
from engrain.engines.endpoint_config import EndpointConfig
from engrain.engines.llms.openai import PATH, URL, ChatLLM, is_strict
from engrain.engines.llms.responses import Limits
from engrain.errors import EngineUnavailable
from tests.support.models import KEY, Fault

SAID = "what Ana said in confidence"
CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
PROMPT = Prompt(system="Name somebody.", user=SAID)
SHAPED = Prompt(system="Name somebody.", user=SAID, schema=CLOSED)


@pytest.fixture
def chat(models, timing):
    return made(models, timing)


def made(models, timing, **limits):
    config = EndpointConfig(
        url=f"{models.url}/v1/chat/completions",
        key=SecretStr(KEY),
        url_setting="llm.url",
        key_setting="llm.key",
        needs_key=False,
    )
    return ChatLLM("m", config, limits=Limits(**limits), timing=timing)


def failure(chat, prompt=PROMPT, kind=EngineUnavailable, timeout_s=60):
    with pytest.raises(kind) as raised:
        chat.complete(prompt, timeout_s=timeout_s)
    assert SAID not in str(raised.value)
    assert raised.value.__cause__ is None or SAID not in str(raised.value.__cause__)
    return str(raised.value)


def formats(models):
    return [body.get("response_format", {}).get("type") for _, _, body in models.asked]


def test_system_and_user_go_out_apart_and_the_key_as_a_bearer(chat, models):
    assert chat.complete(PROMPT, timeout_s=60).text == SAID
    [(path, headers, body)] = models.asked
    assert (path, headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Name somebody."}, {"role": "user", "content": SAID}],
    }


def test_a_number_of_tokens_is_the_prompts_or_else_the_settings(models, timing):
    chat = made(models, timing, max_tokens=100)
    chat.complete(PROMPT, timeout_s=60)
    chat.complete(Prompt(system="s", user="u", max_tokens=7), timeout_s=60)
    assert [body["max_tokens"] for _, _, body in models.asked] == [100, 7]


def test_openai_itself_knows_the_number_by_its_newer_name():
    config = EndpointConfig(url=URL + PATH, key=None, url_setting="u", key_setting="k", needs_key=True)
    assert (
        ChatLLM("m", config)._request(Prompt(system="s", user="u", max_tokens=7), "none")["max_completion_tokens"] == 7
    )


def test_a_schema_goes_out_whole_and_strict_where_it_can_be(chat, models):
    chat.complete(SHAPED, timeout_s=60)
    chat.complete(Prompt(system="s", user="u", schema={"type": "object"}), timeout_s=60)
    asked = [body["response_format"]["json_schema"] for _, _, body in models.asked]
    assert asked[0] == {"name": "answer", "schema": CLOSED, "strict": True}
    assert asked[1]["strict"] is False
    assert models.asked[0][2]["messages"][0]["content"] == "Name somebody."


@pytest.mark.parametrize(
    ("refused", "tried", "kept"),
    [
        ({"json_schema"}, ["json_schema", "json_object"], "json_object"),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", None], None),
    ],
)
def test_a_service_that_takes_no_schema_is_asked_more_loosely_and_remembered(chat, models, refused, tried, kept):
    models.refused_formats = refused
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == tried
    said = models.asked[-1][2]["messages"][0]["content"]
    assert said.startswith("Name somebody.")
    assert json.dumps(CLOSED) in said
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == [*tried, kept]


def test_a_refusal_that_no_form_changes_is_the_first_one_and_nothing_is_remembered(chat, models):
    models.faults = [Fault(422, content=b'{"error": {"code": "first"}}'), Fault(400), Fault(400)]
    with pytest.raises(Refused) as refused:
        chat.complete(SHAPED, timeout_s=60)
    assert (refused.value.status, refused.value.reason) == (422, "first")
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_schema", "json_object", None, "json_schema"]


def test_a_prompt_that_is_too_long_is_refused_at_once(chat, models):
    models.most_chars = 10
    assert failure(chat, SHAPED, Refused).endswith("refused the request (400 context_length_exceeded)")
    assert len(models.asked) == 1


def test_a_prompt_without_a_schema_is_refused_at_once(chat, models):
    models.faults = [Fault(400)]
    assert failure(chat, PROMPT, Refused).endswith("refused the request (400)")
    assert len(models.asked) == 1


def test_a_busy_service_says_when_to_come_back(chat, models, passing):
    models.faults = [Fault(429, {"retry-after": "7"}), Fault(500)]
    retries = metrics.snapshot().get("engine_retries", 0)
    assert chat.complete(PROMPT, timeout_s=60).text == SAID
    assert passing.pauses == [7.0, 1.0]
    assert metrics.snapshot()["engine_retries"] == retries + 2


def test_attempts_are_the_settings(models, timing):
    models.faults = [Fault(503)] * 9
    assert failure(made(models, timing, attempts=2)).endswith("answered 503; tried 2 times")


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


def test_a_model_that_thought_too_long_is_told_from_one_that_said_nothing(chat, models):
    models.reply = lambda _system, _user: None
    assert failure(chat).endswith("gave an empty answer")
    models.ended = "length"
    assert failure(chat).endswith("used up its tokens before it answered: raise llm.max_tokens")


@pytest.mark.parametrize("how", ["refusal", "filter"])
def test_a_model_that_will_not_answer_is_not_worth_asking_again(chat, models, how):
    def refusing(answer):
        answer["choices"][0]["message"]["refusal"] = "I cannot"
        return answer

    if how == "filter":
        models.ended = "content_filter"
    else:
        models.twist = refusing
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
