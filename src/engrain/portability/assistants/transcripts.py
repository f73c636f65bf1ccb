"""Transcripts of Claude Code: a JSON object a line, appended to as a session goes on, and copied by one that forks.

A turn has an id of its own, which copies keep. Lines of tools, subagents, commands and summaries are no turns.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain.portability.assistants.turns import Turn, make_key, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TURNS = 200
_TYPES = (b'"type":"user"', b'"type":"assistant"', b'"type": "user"', b'"type": "assistant"')
_NO_TURN = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
# What the program writes in the user's name: commands and their output, interruptions, news of background work.
_PROGRAM = re.compile(r"<(?:command-|local-command-|bash-|task-|user-memory-)|\[Request interrupted by user|Caveat: ")


def read_turns(path: str | Path, offset: int) -> tuple[list[Turn], int]:
    """Return the turns of a transcript from an offset on, and the offset after them.

    Of what the assistant says before the next prompt only the last message is a turn: the others lead from one tool to
    the next. A line that is still being written is left for the next time, as is what exceeds `MOST_TURNS`.
    """
    turns: list[Turn] = []
    reply: list[tuple[str, Turn]] = []  # the parts of one message
    with Path(path).open("rb") as file:
        end = offset = _start(file, offset)
        for line, after in _lines(file, offset):
            found = _parse(line) if any(kind in line for kind in _TYPES) else None
            if found is not None:
                message, turn = found
                if turn.role == "user":
                    if len(turns) >= MOST_TURNS:
                        break
                    turns += [*join_reply(reply), turn]
                    reply = []
                else:
                    reply = [*reply, found] if reply and reply[0][0] == message else [found]
            end = after
    return [*turns, *join_reply(reply)], end


def _start(file: Any, offset: int) -> int:
    """Return the offset to read from: the beginning, where the file is shorter than before."""
    size = file.seek(0, 2)
    return offset if 0 <= offset <= size else 0


def _lines(file: Any, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines with the offset after each."""
    file.seek(offset)
    for line in file:
        if not line.endswith(b"\n"):
            return
        offset += len(line)
        yield line, offset


def _parse(line: bytes) -> tuple[str, Turn] | None:
    try:
        return parse_entry(json.loads(line))
    except (ValueError, RecursionError):
        return None


def parse_entry(entry: object) -> tuple[str, Turn] | None:
    """Return the turn of a line that is parsed, and the id of its message; None where it is no turn."""
    if not isinstance(entry, dict) or any(entry.get(name) for name in _NO_TURN):
        return None
    message, role = entry.get("message"), entry.get("type")
    if not isinstance(message, dict) or role not in {"user", "assistant"} or message.get("model") == "<synthetic>":
        return None
    text = _text(message.get("content"))
    if role == "user":
        text = _REMINDER.sub("", text).strip()
        text = "" if _PROGRAM.match(text) else text
    if not text:
        return None
    at, id_ = entry.get("timestamp"), entry.get("uuid")
    at = at if isinstance(at, str) else None
    key = make_key("claude-code", id_) if isinstance(id_, str) else make_key("claude-code", at, role, text)
    turn = Turn(role="user" if role == "user" else "assistant", text=shorten(text), key=key, at=at)
    return str(message.get("id")), turn


def _text(content: Any) -> str:
    """Return the text of a message; none where a tool has answered."""
    if isinstance(content, str):
        return content.strip()
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def join_reply(reply: list[tuple[str, Turn]]) -> list[Turn]:
    """Return the turn of the parts of one message: under the key of the first."""
    if not reply:
        return []
    first = reply[0][1]
    text = shorten("\n\n".join(turn.text for _, turn in reply))
    return [Turn(role="assistant", text=text, key=first.key, at=first.at)]
