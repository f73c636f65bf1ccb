"""Protocols of the hooks of coding assistants: their events, the JSON of these, and the answers they take.

https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks, https://cursor.com/docs/agent/hooks,
https://geminicli.com/docs/hooks/reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from engrain.portability.assistants.turns import Turn, make_key, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

Moment = Literal["start", "prompt", "turn", "shorten", "end"]
# Of these beginnings the model has the earlier context still, or gets it back with the history.
_CONTINUES = frozenset({"resume", "fork"})
_COMMAND = re.compile(r"/[\w:.-]+(?=\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Hooks of one assistant.

    Attributes:
        events: the moment that each event is; before `shorten` the model has the whole history.
        context_at: the moments at which it takes context.
        session: the field that names the session.
        has_transcript: whether its turns are read from the file that it names, not from the events.
        shows_stderr: whether its user sees what a hook that succeeds writes there.
        takes_messages: whether its answer may hold a message for the user.
    """

    events: Mapping[str, Moment]
    context_at: frozenset[Moment] = frozenset({"start", "prompt"})
    session: str = "session_id"
    has_transcript: bool = False
    shows_stderr: bool = False
    takes_messages: bool = True


CLAUDE_CODE: Mapping[str, Moment] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "turn",
    "PreCompact": "shorten",
    "SessionEnd": "end",
}
PROTOCOLS: Mapping[str, Protocol] = {
    "claude-code": Protocol(events=CLAUDE_CODE, has_transcript=True),
    "codex": Protocol(events=CLAUDE_CODE),
    "cursor": Protocol(
        events={
            "sessionStart": "start",
            "beforeSubmitPrompt": "prompt",
            "afterAgentResponse": "turn",
            "stop": "turn",
            "preCompact": "shorten",
            "sessionEnd": "end",
        },
        context_at=frozenset({"start"}),
        session="conversation_id",
        shows_stderr=True,
        takes_messages=False,
    ),
    "gemini": Protocol(
        events={
            "SessionStart": "start",
            "BeforeAgent": "prompt",
            "AfterAgent": "turn",
            "PreCompress": "shorten",
            "SessionEnd": "end",
        },
        shows_stderr=True,
    ),
}


def continues(payload: Mapping[str, Any]) -> bool:
    """True if a session that starts has the context of its earlier part."""
    return payload.get("source") in _CONTINUES


def session_of(protocol: Protocol, payload: Mapping[str, Any]) -> str | None:
    """Return the session that an event belongs to."""
    return _text(payload, protocol.session) or _text(payload, "session_id")


def is_command(prompt: str) -> bool:
    """True if a prompt is a command of the assistant, such as `/clear`; a path such as `/src/main.py` is none."""
    return _COMMAND.match(prompt) is not None


def folder_of(payload: Mapping[str, Any]) -> str | None:
    """Return the folder that the assistant works in, as far as the event says it."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else None
    return _text(payload, "cwd") or (first if isinstance(first, str) else None)


def turns_of(client: str, payload: Mapping[str, Any]) -> list[Turn]:
    """Return the turns that an event holds, for an assistant whose transcript is not read."""
    match client:
        case "codex":
            found = [("user", "prompt"), ("assistant", "last_assistant_message")]
            place = (_text(payload, "session_id"), _text(payload, "turn_id"))
        case "cursor":
            found = [("user", "prompt"), ("assistant", "text")]
            place = (_text(payload, "conversation_id"), _text(payload, "generation_id"))
        case _:
            # Gemini's answer to a turn says what was asked, too; a repeated attempt has the prompt of the first.
            is_answer = "prompt_response" in payload
            asks = [] if payload.get("stop_hook_active") else [("user", "prompt")]
            found = [*asks, ("assistant", "prompt_response")] if is_answer else []
            place = (_text(payload, "session_id"), _text(payload, "timestamp"))
    at = _text(payload, "timestamp")
    return [
        Turn(role="user" if role == "user" else "assistant", text=text, key=make_key(client, *place, role, text), at=at)
        for role, field in found
        if (text := shorten(_text(payload, field) or ""))
    ]


def answer(protocol: Protocol, event: str, *, context: str = "", message: str = "") -> dict[str, Any]:
    """Return what the assistant expects on stdout: context for its model, and a message for its user."""
    shown = {"systemMessage": message} if message and protocol.takes_messages else {}
    if protocol.session == "conversation_id":  # Cursor's
        return ({"additional_context": context} if context else {}) | (
            {"continue": True} if protocol.events[event] == "prompt" else {}
        )
    named = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}} if context else {}
    return named | shown


def _text(payload: Mapping[str, Any], name: str) -> str | None:
    value = payload.get(name)
    return value if isinstance(value, str) and value else None
