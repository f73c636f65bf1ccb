"""Hook of a coding assistant: `engrain hook EVENT`, a process that stores turns and gives context.

It may never hold up or fail its assistant: whatever goes wrong is a line in a log and exit code 0. It loads no parser
of command lines, and no database where a process that has it open answers, or a server does.
"""

from __future__ import annotations

import gc
import json
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain.domain.checks import is_address
from engrain.errors import EngrainError, InvalidInput
from engrain.interfaces.assistants import protocols
from engrain.interfaces.assistants.protocols import PROTOCOLS, Moment, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engrain.config.tree import Settings
    from engrain.interfaces.assistants.session_state import SessionState
    from engrain.portability.assistants.turns import Turn

DEFAULT_CLIENT = "claude-code"
USAGE = f"engrain hook EVENT [--client {'|'.join(PROTOCOLS)}] [--db PATH] [--agent NAME] [--user NAME] [--tenant NAME]"
_SETTINGS = frozenset({"db", "agent", "user", "tenant"})
_OPTIONS = _SETTINGS | {"client", "config"}
_MOST_INPUT_BYTES = 32 * 2**20
_MOST_QUERY = 4_000
_CALL_TIMEOUT_S = 5.0
_PROJECT_SHARE = 0.6
_START_QUERY = "What do I prefer, and which conventions do I follow?"
_MOST_LOG_BYTES = 500_000
# A process that lives for one hook loads no model. What it stores gets its vector from the next process that stays.
_LIGHT: Mapping[str, Any] = {
    "embedding": {"model": "none"},
    "llm": {"model": "none"},
    "reranking": {"model": "none"},
    "entities": {"name_finder": "none"},
    "consolidation": {"on_session_switch": False},
    "storage": {"busy_timeout_s": 2.0},
}


@dataclass(frozen=True, slots=True)
class HookCommand:
    """Command line of a hook, parsed."""

    event: str
    client: str = DEFAULT_CLIENT
    config: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def protocol(self) -> Protocol:
        """The protocol of its assistant."""
        return PROTOCOLS[self.client]

    @property
    def moment(self) -> Moment:
        """The moment that its event is."""
        return self.protocol.events[self.event]


def run(arguments: Sequence[str]) -> int:
    """Run one hook with the assistant's JSON on stdin; the exit code, which is always 0."""
    gc.disable()  # the process ends before garbage could matter, and looking for it is a tenth of its time
    command: HookCommand | None = None
    try:
        command = parse_command(arguments)
        payload = _read_input()
        answer = _answer(command, payload)
    except Exception as error:  # noqa: BLE001  # an assistant goes on without its memory, whatever happens
        answer = _report(command, arguments, error)
    with suppress(OSError):
        if answer:
            sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    gc.enable()
    return 0


def parse_command(arguments: Sequence[str]) -> HookCommand:
    """Parse the words after `engrain hook`.

    Raises:
        InvalidInput: an unknown option, assistant or event.
    """
    values: dict[str, str] = {}
    words, rest = [], iter(arguments)
    for word in rest:
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            words.append(word)
        elif name not in _OPTIONS or (following := value if has_value else next(rest, None)) is None:
            raise InvalidInput(f"{word!r:.80} is no option of a hook, or lacks its value; {USAGE}")
        else:
            values[name] = following
    client, config = values.pop("client", DEFAULT_CLIENT), values.pop("config", None)
    if client not in PROTOCOLS or len(words) != 1 or words[0] not in PROTOCOLS[client].events:
        known = ", ".join(PROTOCOLS.get(client, PROTOCOLS[DEFAULT_CLIENT]).events)
        raise InvalidInput(f"{' '.join(words)!r:.80} is no event of {client!r:.40}, which has {known}; {USAGE}")
    return HookCommand(event=words[0], client=client, config=config, settings=values)


def _read_input() -> dict[str, Any]:
    if sys.stdin.isatty():
        raise InvalidInput("a hook reads its assistant's JSON from stdin")
    payload = json.loads(sys.stdin.buffer.read(_MOST_INPUT_BYTES) or b"{}")
    if not isinstance(payload, dict):
        raise InvalidInput("the JSON on stdin is no object")
    return payload


def _answer(command: HookCommand, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an event asks for and return what its assistant expects."""
    from engrain.config import load
    from engrain.interfaces.assistants.session_state import SessionState, drop_oldest

    settings = load(command.settings, file=command.config)
    if not settings.hooks.enabled:
        return protocols.answer(command.protocol, command.event)
    session = protocols.session_of(command.protocol, payload)
    state = SessionState.load(command.client, session)
    if command.moment == "start":
        drop_oldest()
        if not protocols.continues(payload):
            state.lines = []
    conversation = Conversation(command=command, payload=payload, settings=settings, state=state)
    with _open_calls(command, settings, session) as calls:
        context = conversation.give_context(calls)
        conversation.store_turns(calls)
        if command.moment == "end" and session is not None:
            calls.call("hooks.session_end", {})
    return protocols.answer(command.protocol, command.event, context=context)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One event of a conversation, with what its settings and its session's state say."""

    command: HookCommand
    payload: Mapping[str, Any]
    settings: Settings
    state: SessionState
    _tag: str | None = None

    @property
    def tag(self) -> str:
        """The tag of the project."""
        from engrain.portability.assistants.projects import tag_of

        self._tag = self._tag or tag_of(protocols.folder_of(self.payload) or ".")
        return self._tag

    def give_context(self, calls: Any) -> str:
        """Return what the memory knows for a session that starts or a prompt; empty at every other moment."""
        from engrain.interfaces.assistants.context_text import CHARACTERS_PER_TOKEN, merge

        moment, chosen = self.command.moment, self.settings.hooks
        if moment not in self.command.protocol.context_at:
            return ""
        is_start = moment == "start"
        most = chosen.start_tokens if is_start else chosen.prompt_tokens
        prompt = self.payload.get("prompt")
        asked = "" if is_start else prompt.strip() if isinstance(prompt, str) else ""
        if (
            most == 0
            or (is_start and protocols.continues(self.payload))
            or (not is_start and asked[:1] in {"", "/", "!"})
        ):
            return ""
        of_project = {"query": asked[:_MOST_QUERY], "tags": [self.tag], "budget_tokens": int(most * _PROJECT_SHARE)}
        if is_start:
            of_project["recent_episodes"] = 5
        project = calls.call("context", of_project)
        left = most - len(project["text"]) // CHARACTERS_PER_TOKEN
        whole = {"query": _START_QUERY if is_start else asked[:_MOST_QUERY], "budget_tokens": max(left, 0)}
        context = merge(project, calls.call("context", whole), self.state, project=self.tag, most_tokens=most)
        self.state.save()
        return context

    def store_turns(self, calls: Any) -> None:
        """Store the turns that are new; the offset moves once all are in the database."""
        from engrain.portability.assistants.transcripts import read_turns

        transcript = self.payload.get("transcript_path")
        if not self.command.protocol.has_transcript:
            turns, end = protocols.turns_of(self.command.client, self.payload), None
        elif isinstance(transcript, str) and Path(transcript).is_file():
            before = self.state.offset_in(transcript)
            turns, end = read_turns(transcript, before)
            end = None if end == before else end
        else:
            return
        for turn in turns:
            self._store(calls, turn)
        if end is not None:
            self.state.transcript, self.state.offset = str(transcript), end
            self.state.save()

    def _store(self, calls: Any, turn: Turn) -> None:
        from engrain.interfaces.assistants.verb_calls import check_stored

        arguments = {"content": turn.text, "role": turn.role, "tags": [self.tag], "idempotency_key": turn.key}
        if turn.at is not None:
            arguments["event_time"] = turn.at
        try:
            check_stored(calls.call("hooks.message", arguments))
        except InvalidInput as error:  # it will never be stored: it was erased, or its text is refused
            _log(self.command.event, self.command.client, error)


@contextmanager
def _open_calls(command: HookCommand, settings: Settings, session: str | None) -> Iterator[Any]:
    """Open the way to the memory: a server's address, the socket of a process that has it open, or the database."""
    identity = {"tenant": settings.tenant, "agent": settings.agent, "user": settings.user, "session": session}
    calls: Any = None
    if is_address(settings.db):
        from engrain.client.plain_connection import PlainConnection
        from engrain.interfaces.local_token import find_key

        del identity["tenant"]  # the key's
        calls = PlainConnection(settings.db, find_key(settings), identity=identity, timeout_s=_CALL_TIMEOUT_S)
    elif "://" not in settings.db.removeprefix("sqlite:///") and settings.db != ":memory:":
        from engrain.interfaces.assistants.local_socket import connect

        path = Path(settings.db.removeprefix("sqlite:///")).expanduser()
        calls = connect(path, identity, timeout_s=_CALL_TIMEOUT_S)
    if calls is None:
        from engrain.interfaces.assistants.verb_calls import DirectConnection

        calls = DirectConnection({**command.settings, **_LIGHT}, command.config, identity)
    try:
        yield calls
    finally:
        calls.close()


def _report(command: HookCommand | None, arguments: Sequence[str], error: Exception) -> dict[str, Any]:
    """Log why a hook did nothing, and say it where the assistant shows it; what it expects for an answer."""
    event = command.event if command is not None else next(iter(arguments), "")
    client = command.client if command is not None else "?"
    _log(event, client, error)
    text = f"engrain: this hook did nothing: {_describe(error)}"
    if command is None or command.protocol.shows_stderr:
        with suppress(OSError):
            sys.stderr.write(text + "\n")
    if command is None:
        return {}
    message = text if command.moment == "start" else ""
    return protocols.answer(command.protocol, command.event, message=message)


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, EngrainError) else type(error).__name__


def _log(event: str, client: str, error: Exception) -> None:
    """Write one line about a failure: no text of a memory, no secret."""
    from datetime import UTC, datetime

    from engrain.interfaces.assistants.session_state import state_folder

    at = datetime.now(UTC).isoformat(timespec="seconds")
    line = {"at": at, "event": event[:80], "client": client, "error": type(error).__name__, "why": _describe(error)}
    with suppress(OSError):
        path = state_folder() / "hooks.log"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_file() and path.stat().st_size > _MOST_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(json.dumps(line) + "\n")
