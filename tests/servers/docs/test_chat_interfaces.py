"""docs/chat-interfaces.md: the filter of Open WebUI, run as it runs one, and the headers that LibreChat sends."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.support.engrain import keyed_server

PAGE = (Path(__file__).parents[3] / "docs" / "chat-interfaces.md").read_text()
ANA, BO = {"id": "ana-1", "name": "Ana"}, {"id": "bo-2", "name": "Bo"}
COFFEE = "I like strong coffee."


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    with keyed_server(tmp_path_factory.mktemp("chat") / "memory.db", writer={"role": "writer"}) as (server, keys):
        yield server, keys["writer"]


@pytest.fixture
def hook(keyed):
    """The filter as Open WebUI makes it of the page's code."""
    namespace = {}
    exec(re.search(r"^```python no-run\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1], namespace)
    made = namespace["Filter"]()
    made.valves = made.Valves(url=keyed[0].address, key=keyed[1])
    return made


def asked(text):
    return {"messages": [{"role": "user", "content": text}]}


def test_the_filter_stores_a_conversation_once_and_begins_the_next_with_it(hook):
    turns = [
        {"id": "1", "role": "user", "content": COFFEE},
        {"id": "2", "role": "assistant", "content": "Noted."},
    ]
    for _ in range(2):  # an answer that is made anew comes with the same question
        asyncio.run(hook.outlet({"chat_id": "monday", "messages": turns}, __user__=ANA))
    body = asyncio.run(hook.inlet(asked("What coffee do I like?"), __user__=ANA, __metadata__={"chat_id": "tuesday"}))
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"].count(COFFEE) == 1
    assert asyncio.run(hook.inlet(asked("What coffee do I like?"), __user__=BO)) == asked("What coffee do I like?")


def test_an_edited_turn_is_stored_and_the_texts_of_a_list_are_joined(hook):
    def known(query):
        body = asyncio.run(hook.inlet({"messages": [{"role": "user", "content": query}]}, __user__=ANA))
        return body["messages"][0]["content"]

    bike = [{"type": "text", "text": "My bike is"}, {"type": "image_url"}, {"type": "text", "text": "a blue Gazelle"}]
    for content in ("My bike is a red Gazelle", bike):
        turns = [{"id": "b1", "role": "user", "content": content}, {"id": "b2", "role": "assistant"}]
        asyncio.run(hook.outlet({"chat_id": "bikes", "messages": turns}, __user__=ANA))
    assert "red Gazelle" in known("Which Gazelle?")
    assert "My bike is a blue Gazelle" in known([{"type": "text", "text": "Which Gazelle?"}])


def test_names_of_any_script_are_sent(hook, capsys):
    dora, chat, cake = {"id": "\u30c9\u30e9"}, "\u6708\u66dc\u65e5", "I bake a plum cake."
    asyncio.run(hook.outlet({"chat_id": chat, "messages": [{"id": "1", "role": "user", "content": cake}]}, dora))
    body = asyncio.run(hook.inlet(asked("Which cake?"), __user__=dora, __metadata__={"chat_id": chat + "2"}))
    assert cake in body["messages"][0]["content"]
    assert capsys.readouterr().out == ""


def test_a_chat_without_a_user_stores_nothing_that_all_would_see(hook, capsys):
    said = "The vault is opened with 9321."
    asyncio.run(hook.outlet({"chat_id": "n", "messages": [{"id": "n", "role": "user", "content": said}]}))
    assert "a chat without a user" in capsys.readouterr().out
    assert asyncio.run(hook.inlet(asked("What opens the vault?"), __user__=BO)) == asked("What opens the vault?")


@pytest.mark.parametrize(("url", "chat"), [("memory.example", "monday"), (None, "a\nb")])
def test_a_wrong_address_or_a_chat_that_no_header_can_name_fails_no_chat(hook, capsys, url, chat):
    hook.valves.url = url or hook.valves.url
    body = asyncio.run(hook.inlet(asked("Coffee?"), __user__=ANA, __metadata__={"chat_id": chat}))
    assert body == asked("Coffee?")
    assert "engrain: " in capsys.readouterr().out


def test_a_memory_out_of_reach_fails_no_chat(hook, capsys):
    hook.valves.key = "ek_wrong"
    assert asyncio.run(hook.inlet(asked("Coffee?"), __user__=ANA)) == asked("Coffee?")
    assert "engrain: HTTP Error 401" in capsys.readouterr().out


def test_the_headers_of_librechat_say_whose_a_memory_is(keyed):
    server, key = keyed
    headers = dict(re.findall(r'^      ([A-Za-z-]+): "(.*)"$', PAGE, re.MULTILINE))
    assert set(headers) == {"Authorization", "Engrain-Agent", "Engrain-User"}

    def call(user, name, arguments):
        sent = {
            header: value.replace("${ENGRAIN_KEY}", key).replace("{{LIBRECHAT_USER_ID}}", user)
            for header, value in headers.items()
        }
        accepts = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        asks = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        answered = server.ask("POST", "/mcp", json.dumps(asks).encode(), **sent, **accepts)
        return str(answered)

    assert '"error"' not in call("u1", "remember", {"content": "I live in Porto"})
    assert "Porto" in call("u1", "search", {"query": "Porto"})
    assert "Porto" not in call("u2", "search", {"query": "where"})
