"""Turns that hooks store: all that somebody said, and none is lost while the database cannot be written."""

import json
import stat

import pytest

from engrain.errors import DatabaseUnreachable
from engrain.interfaces.assistants import spool
from engrain.interfaces.assistants.spool import Message, Spool
from tests.support import assistant_events as events
from tests.support.assistants import Assistant

FACT = "The shop listens on port 8443"
REPLY = "Noted: port 8443 for the shop."
TURNS = {
    "codex": (events.codex, "UserPromptSubmit", "Stop"),
    "cursor": (events.cursor, "beforeSubmitPrompt", "afterAgentResponse"),
    "gemini": (events.gemini, "AfterAgent", "SessionEnd"),
}


@pytest.fixture
def assistant(tmp_path):
    return Assistant(tmp_path, tmp_path / "memory.db")


class TestTranscripts:
    def test_prompts_that_begin_as_the_programs_own_do_are_stored(self, assistant):
        transcript, told = assistant.transcript(), assistant.events()
        prompts = [
            "Caveat: never migrate the staging database on Fridays",
            "<task-list> is our custom element; never rename it",
            "/etc/hosts must map shop.test to 127.0.0.1",
        ]
        for prompt in prompts:
            transcript.user(prompt)
        transcript.noise()
        assistant.hook("Stop", told["Stop"])
        assert assistant.turns() == [("user", prompt) for prompt in prompts]

    def test_a_prompt_that_was_given_while_the_model_worked_is_stored(self, assistant):
        transcript, told = assistant.transcript(), assistant.events()
        transcript.user("Refactor the router")
        transcript.assistant("Let me look.")
        transcript.tool()
        transcript.queued("Stop: never touch the payments module")
        transcript.assistant("Understood.")
        assistant.hook("Stop", told["Stop"])
        assert assistant.turns() == [
            ("user", "Refactor the router"),
            ("assistant", "Let me look."),
            ("user", "Stop: never touch the payments module"),
            ("assistant", "Understood."),
        ]

    def test_all_that_is_left_is_stored_at_the_end_of_a_session(self, assistant):
        transcript, told = assistant.transcript(), assistant.events()
        said = [f"prompt {number}" for number in range(230)]
        for text in said:
            transcript.user(text)
        assistant.hook("SessionEnd", told["SessionEnd"])
        assert assistant.turns() == [("user", text) for text in said]


class TestBusyDatabase:
    @pytest.mark.parametrize("client", TURNS)
    def test_turns_wait_and_are_stored_once_and_in_order_by_the_next_hook(self, assistant, client):
        make, first, second = TURNS[client]
        before, told = make(assistant.project, session="0"), make(assistant.project)
        assistant.hook(first, before[first], client)
        stored = assistant.turns()
        with assistant.busy():
            assistant.hook(first, told[first], client)
        assert assistant.turns() == stored
        assert [line["error"] for line in assistant.log] == ["DatabaseUnreachable"]
        assert "a later hook sends it again" in assistant.log[0]["why"]
        assistant.hook(second, told[second], client)
        assert assistant.turns() == [*stored, ("user", FACT), ("assistant", REPLY)]
        assert assistant.waiting == []

    def test_turns_wait_in_files_that_only_their_user_can_read_without_secrets(self, assistant):
        secret = "sk-proj-4hT8kQ2mVx9Zr7Lw3Ny6Bc1Df5Gj0Ps8"
        told = {**events.codex(assistant.project)["UserPromptSubmit"], "prompt": f"The key is {secret}"}
        assistant.hook("Stop", events.codex(assistant.project)["Stop"], "codex")
        with assistant.busy():
            assistant.hook("UserPromptSubmit", told, "codex")
        [path] = assistant.waiting
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert secret not in path.read_text()
        assert "The key is " in path.read_text()

    def test_what_a_session_of_claude_code_ends_with_is_stored_by_a_hook_of_another(self, assistant):
        other = assistant.transcript("other.jsonl", "other")
        other.user("Good morning")
        assistant.hook("Stop", assistant.events("other.jsonl", "other")["Stop"])
        transcript, told = assistant.transcript(), assistant.events()
        transcript.user(FACT)
        with assistant.busy():
            assistant.hook("SessionEnd", told["SessionEnd"])
        assistant.hook("Stop", assistant.events("other.jsonl", "other")["Stop"])
        assert sorted(assistant.turns()) == [("user", "Good morning"), ("user", FACT)]
        assert assistant.sessions() == {"other", transcript.session}

    def test_turns_of_one_memory_are_not_stored_in_another(self, assistant):
        told = events.codex(assistant.project)
        assistant.hook("Stop", told["Stop"], "codex")
        with assistant.busy():
            assistant.hook("UserPromptSubmit", told["UserPromptSubmit"], "codex")
        assistant.hook("Stop", told["Stop"], "codex", ENGRAIN_AGENT="somebody")
        assistant.hook("Stop", told["Stop"], "codex", ENGRAIN_DB=str(assistant.folder / "other.db"))
        assert len(assistant.waiting) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"ENGRAIN_DB": "http://127.0.0.1:9"},
        {"ENGRAIN_DB": "http://127.0.0.1:9", "ENGRAIN_KEY": "a key\nthat no header can carry"},
    ],
)
def test_a_turn_waits_where_the_memory_cannot_be_opened(assistant, settings):
    told = events.codex(assistant.project)
    assistant.hook("UserPromptSubmit", told["UserPromptSubmit"], "codex", **settings)
    [path] = assistant.waiting
    assert json.loads(path.read_text())["arguments"]["content"] == FACT


class TestSpool:
    def messages(self, *numbers):
        return [Message("session", {"content": f"turn {number}"}) for number in numbers]

    def drained(self, waiting):
        sent = []
        waiting.drain(lambda message: sent.append(message.arguments["content"]))
        return sent

    def test_turns_are_sent_in_order_until_one_cannot_be(self, tmp_path):
        waiting = Spool(tmp_path / "spool")
        assert waiting.add(self.messages(*range(12))) == 0
        waiting.add(self.messages(12))
        sent = []

        def send(message):
            if len(sent) == 3:
                raise DatabaseUnreachable("gone")
            sent.append(message.arguments["content"])

        with pytest.raises(DatabaseUnreachable):
            waiting.drain(send)
        assert sent == ["turn 0", "turn 1", "turn 2"]
        assert self.drained(waiting) == [f"turn {number}" for number in range(3, 13)]
        assert self.drained(waiting) == []

    def test_the_oldest_turns_leave_where_too_many_wait(self, tmp_path):
        waiting = Spool(tmp_path / "spool")
        waiting.add(self.messages(*range(spool.MOST_TURNS)))
        assert waiting.add(self.messages("new")) == 1
        sent = self.drained(waiting)
        assert (len(sent), sent[0], sent[-1]) == (spool.MOST_TURNS, "turn 1", "turn new")

    def test_a_file_that_holds_no_turn_is_removed(self, tmp_path):
        waiting = Spool(tmp_path / "spool")
        waiting.add(self.messages(1))
        (waiting.folder / "0.json").write_text("[]")
        assert self.drained(waiting) == ["turn 1"]
        assert list(waiting.folder.iterdir()) == []
