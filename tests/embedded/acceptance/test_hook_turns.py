"""Turns that hooks store: all that somebody said."""

import pytest

from tests.support.assistants import Assistant


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
