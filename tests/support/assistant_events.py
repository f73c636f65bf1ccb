"""What coding assistants send to their hooks, as their documentation shows it and Claude Code 2.1.330 was seen to."""

import json
import uuid

SESSION = "06ce2ae3-9999-4ded-bfc2-590875eda5d9"


def claude_code(folder, transcript, session=SESSION):
    """The events of one session of Claude Code by name."""
    shared = {"session_id": session, "transcript_path": str(transcript), "cwd": str(folder)}
    prompted = {**shared, "prompt_id": "6b6a0cce-cbd9-4ce0-8183-c41c5be5a078", "permission_mode": "default"}
    return {
        "SessionStart": {**shared, "hook_event_name": "SessionStart", "source": "startup"},
        "UserPromptSubmit": {**prompted, "hook_event_name": "UserPromptSubmit", "prompt": "Which port do we use?"},
        "Stop": {
            **prompted,
            "effort": {"level": "medium"},
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "The shop listens on port 8443.",
            "background_tasks": [],
            "session_crons": [],
        },
        "PreCompact": {
            **shared,
            "hook_event_name": "PreCompact",
            "trigger": "manual",
            "custom_instructions": None,
        },
        "SessionEnd": {**shared, "hook_event_name": "SessionEnd", "reason": "other"},
    }


def codex(folder, session="0199f3a1", turn="turn-1"):
    """The events of one turn of Codex, by codex-rs/hooks/schema/generated."""
    shared = {
        "session_id": session,
        "transcript_path": None,
        "cwd": str(folder),
        "model": "gpt-5-codex",
        "permission_mode": "default",
    }
    return {
        "SessionStart": {**shared, "hook_event_name": "SessionStart", "source": "startup"},
        "UserPromptSubmit": {
            **shared,
            "hook_event_name": "UserPromptSubmit",
            "turn_id": turn,
            "prompt": "The shop listens on port 8443",
        },
        "PreCompact": {**shared, "hook_event_name": "PreCompact", "turn_id": turn, "trigger": "auto"},
        "Stop": {
            **shared,
            "hook_event_name": "Stop",
            "turn_id": turn,
            "stop_hook_active": False,
            "last_assistant_message": "Noted: port 8443 for the shop.",
        },
    }


def cursor(folder, session="conv-123", turn="gen-456"):
    """The events of one turn of Cursor."""
    shared = {
        "conversation_id": session,
        "generation_id": turn,
        "model": "gpt-5",
        "cursor_version": "2.0.77",
        "workspace_roots": [str(folder)],
        "user_email": "ana@example.com",
        "transcript_path": None,
    }
    return {
        "sessionStart": {
            **shared,
            "hook_event_name": "sessionStart",
            "session_id": session,
            "is_background_agent": False,
            "composer_mode": "agent",
        },
        "beforeSubmitPrompt": {
            **shared,
            "hook_event_name": "beforeSubmitPrompt",
            "prompt": "The shop listens on port 8443",
            "attachments": [],
        },
        "afterAgentResponse": {
            **shared,
            "hook_event_name": "afterAgentResponse",
            "text": "Noted: port 8443 for the shop.",
        },
        "stop": {**shared, "hook_event_name": "stop", "status": "completed", "loop_count": 0},
        "preCompact": {**shared, "hook_event_name": "preCompact", "trigger": "auto"},
        "sessionEnd": {**shared, "hook_event_name": "sessionEnd", "session_id": session, "reason": "completed"},
    }


def gemini(folder, session="gem-1", at="2026-11-20T10:00:00.000Z"):
    """The events of one turn of Gemini CLI."""
    shared = {"session_id": session, "transcript_path": "", "cwd": str(folder), "timestamp": at}
    return {
        "SessionStart": {**shared, "hook_event_name": "SessionStart", "source": "startup"},
        "BeforeAgent": {**shared, "hook_event_name": "BeforeAgent", "prompt": "The shop listens on port 8443"},
        "AfterAgent": {
            **shared,
            "hook_event_name": "AfterAgent",
            "prompt": "The shop listens on port 8443",
            "prompt_response": "Noted: port 8443 for the shop.",
            "stop_hook_active": False,
        },
        "PreCompress": {**shared, "hook_event_name": "PreCompress", "trigger": "auto"},
        "SessionEnd": {**shared, "hook_event_name": "SessionEnd", "reason": "exit"},
    }


class Transcript:
    """A transcript of Claude Code as it writes it: lines are appended, and a fork copies them under its own session."""

    def __init__(self, path, session=SESSION):
        self.path = path
        self.session = session
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(
            type="queue-operation", operation="enqueue", content="The shop listens on port 8443", sessionId=session
        )

    def user(self, text, **more):
        return self._turn("user", {"role": "user", "content": text}, **more)

    def assistant(self, text, message=None, **more):
        content = [{"type": "text", "text": text}]
        return self._turn("assistant", {"id": message or f"msg_{self._count}", "content": content}, **more)

    def queued(self, text, mode="prompt"):
        """A prompt that is given while the model works, or news of what works in the background."""
        self._write(type="queue-operation", operation="enqueue", content=text, sessionId=self.session)
        self._count += 1
        self._write(
            type="attachment",
            attachment={"type": "queued_command", "prompt": text, "commandMode": mode},
            uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}/{self._count}")),
            timestamp=f"2026-11-20T10:{self._count // 60 % 60:02d}:{self._count % 60:02d}.652Z",
            isSidechain=False,
            sessionId=self.session,
        )

    def tool(self):
        """A call of a tool and its answer."""
        use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat .env"}}
        self._turn("assistant", {"id": f"msg_{self._count}", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "the answer of a tool"}
        self._turn("user", {"role": "user", "content": [result]})

    def noise(self):
        """What is no turn: reminders, commands, their output, a summary, a subagent, an interruption, an error."""
        self.user("<local-command-caveat>noise</local-command-caveat>", isMeta=True)
        self.user("<command-name>/compact</command-name>\n<command-message>noise</command-message>")
        self.user("<local-command-stdout>noise</local-command-stdout>")
        self.user("This session is being continued: noise", isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self.user("noise of a subagent", isSidechain=True)
        self.user("[Request interrupted by user] noise")
        self.user("Caveat: The messages below were generated by the user while running local commands. noise")
        self.queued("<task-notification>noise</task-notification>", mode="task-notification")
        self.user("<system-reminder>noise</system-reminder>")
        self.assistant("noise: API error", isApiErrorMessage=True)
        self._write(type="system", subtype="compact_boundary", content="noise", isMeta=False)
        self._write(type="attachment", attachment={"type": "environment"}, rendered=[{"content": "noise"}])

    def fork(self, path, session):
        copied = [{**json.loads(line), "sessionId": session} for line in self.path.read_text().splitlines()]
        other = Transcript(path, session)
        other.path.write_text("".join(_line(entry) for entry in copied))
        other._count = self._count + 1_000
        return other

    def _turn(self, kind, message, **more):
        self._count += 1
        self._write(
            type=kind,
            message={"role": kind, **message},
            uuid=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}/{self._count}")),
            timestamp=f"2026-11-20T10:{self._count // 60 % 60:02d}:{self._count % 60:02d}.652Z",
            isSidechain=more.pop("isSidechain", False),
            sessionId=self.session,
            **more,
        )

    def _write(self, **entry):
        with self.path.open("a") as file:
            file.write(_line(entry))


def _line(entry):
    return json.dumps(entry, separators=(",", ":")) + "\n"
