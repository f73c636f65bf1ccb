"""Models of pydantic-ai over a real wire: what goes out, what its errors become, and what is missing."""

import json

import pytest
from pydantic import SecretStr

from engrain.domain.runs.completions import Prompt
from engrain.engines import ServiceAddress, llm
from engrain.engines.endpoint import Refused
from engrain.engines.llms.pydantic_ai import PydanticLLM
from engrain.engines.llms.responses import Limits
from engrain.errors import EngineUnavailable
from tests.support.models import KEY, Fault
from tests.support.ports import free_port

SAID = "what Ana said in confidence"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PROMPT = Prompt(system="Name somebody.", user=SAID)
SHAPED = Prompt(system="Name somebody.", user=SAID, schema=SCHEMA)


@pytest.fixture
def chat(models, timing):
    return made(models, timing)


def made(models, timing, **limits):
    address = ServiceAddress(url=f"{models.url}/v1", key=SecretStr(KEY))
    return PydanticLLM("openai-chat:gpt-4o", address, limits=Limits(**limits), timing=timing)


def failure(chat, prompt=PROMPT, kind=EngineUnavailable, timeout_s=60):
    with pytest.raises(kind) as raised:
        chat.complete(prompt, timeout_s=timeout_s)
    error = raised.value
    while error is not None:
        assert SAID not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return str(raised.value)


def formats(models):
    return [body.get("response_format", {}).get("type") for _, _, body in models.asked]


def test_system_and_user_go_out_apart_and_the_key_as_a_bearer(models, timing):
    chat = made(models, timing, max_tokens=9)
    completion = chat.complete(PROMPT, timeout_s=60)
    assert (completion.text, completion.usage.input_tokens, completion.usage.output_tokens) == (SAID, 11, 7)
    [(path, headers, body)] = models.asked
    assert (path, headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert [(each["role"], each["content"]) for each in body["messages"]] == [
        ("system", "Name somebody."),
        ("user", SAID),
    ]
    assert (body["model"], body["max_completion_tokens"]) == ("gpt-4o", 9)


def test_a_schema_goes_out_where_the_model_takes_one(chat, models):
    chat.complete(SHAPED, timeout_s=60)
    assert models.asked[0][2]["response_format"]["json_schema"]["schema"]["properties"]["name"] == {"type": "string"}
    assert models.asked[0][2]["messages"][0]["content"] == "Name somebody."


def test_a_service_that_takes_no_schema_is_asked_more_loosely_and_remembered(chat, models):
    models.refused_formats = {"json_schema"}
    chat.complete(SHAPED, timeout_s=60)
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_schema", "json_object", "json_object"]
    assert json.dumps(SCHEMA) in models.asked[-1][2]["messages"][0]["content"]


def test_a_model_that_is_known_to_take_no_schema_is_not_asked_with_one(chat, models, monkeypatch):
    monkeypatch.setitem(chat._model_of_process().profile, "supports_json_schema_output", False)
    chat.complete(SHAPED, timeout_s=60)
    assert formats(models) == ["json_object"]


def test_what_may_pass_is_tried_again_here_and_nowhere_else(chat, models, passing):
    models.faults = [Fault(429, {"retry-after": "7"}), Fault(503)]
    assert chat.complete(PROMPT, timeout_s=60).text == SAID
    assert passing.pauses == [7.0, 1.0]
    assert len(models.asked) == 3


def test_attempts_end(models, timing):
    models.faults = [Fault(500)] * 9
    said = failure(made(models, timing, attempts=2))
    assert said == "the LLM pydantic-ai:openai-chat:gpt-4o answered 500; tried 2 times"


def test_nobody_there_is_said(timing):
    address = ServiceAddress(url=f"http://127.0.0.1:{free_port()}/v1", key=SecretStr(KEY))
    chat = PydanticLLM("openai-chat:m", address, limits=Limits(attempts=2), timing=timing)
    assert failure(chat).endswith("cannot be reached; tried 2 times")


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
def test_what_will_not_pass_is_not_tried_again(chat, models, status, kind, said):
    models.faults = [Fault(status, content=json.dumps({"error": {"message": SAID}}).encode())]
    assert failure(chat, kind=kind).endswith(said)
    assert len(models.asked) == 1


def test_a_prompt_that_is_too_long_is_refused_at_once(chat, models):
    models.most_chars = 10
    failure(chat, SHAPED, Refused)
    assert len(models.asked) == 1


def test_a_model_that_will_not_answer_is_not_worth_asking_again(chat, models):
    models.ended = "content_filter"
    assert failure(chat, kind=Refused).endswith("will not answer this")


def test_a_model_that_thought_too_long_is_told_from_one_that_said_nothing(chat, models):
    models.reply = lambda _system, _user: None
    assert failure(chat).endswith("gave an empty answer")
    models.ended = "length"
    assert failure(chat).endswith("used up its tokens before it answered: raise llm.max_tokens")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"<html>", b"{}", b"[]", b'{"choices": []}'])
def test_what_is_no_completion_is_said(models, timing, content):
    models.faults = [Fault(200, {"content-type": "application/json"}, content)] * 9
    assert failure(made(models, timing, attempts=2)).startswith("the LLM pydantic-ai:openai-chat:gpt-4o ")


def test_a_provider_without_a_key_says_what_it_looks_for(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in failure(PydanticLLM("openai:gpt-4o", ServiceAddress()))


@pytest.mark.parametrize("spec", ["nobody:m", "gpt-4o"])
def test_an_unknown_provider_is_said(spec):
    assert failure(PydanticLLM(spec, ServiceAddress())).startswith(f"the LLM pydantic-ai:{spec} cannot be opened: ")


def test_a_package_of_a_provider_that_is_not_installed_is_named():
    assert "pydantic-ai-slim[" in failure(PydanticLLM("anthropic:claude-haiku-4-5", ServiceAddress()))


def test_a_provider_that_takes_no_address_says_so():
    said = failure(PydanticLLM("azure:m", ServiceAddress(url="http://127.0.0.1:9")))
    assert "its provider takes no base_url from the settings" in said


def test_a_fork_opens_connections_of_its_own(chat):
    chat.complete(PROMPT, timeout_s=60)
    ours = chat._model_of_process()
    chat._process -= 1  # as a fork finds it
    assert chat._model_of_process() is not ours
    assert chat.complete(PROMPT, timeout_s=60).text == SAID


def test_the_name_and_the_object_are_those_of_the_spec():
    assert llm("pydantic-ai:anthropic:claude-haiku-4-5").name == "pydantic-ai:anthropic:claude-haiku-4-5"
    assert llm("pydantic-ai:a:b") is llm("pydantic-ai:a:b")
