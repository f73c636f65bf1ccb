"""Hook of a coding assistant: `engrain hook EVENT`, a process that stores turns and gives context.

It may never hold up or fail its assistant: whatever goes wrong is a line in a log and exit code 0. It loads no parser
of command lines, and no database where a process that has it open answers, or a server does.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain.domain.checks import is_address
from engrain.errors import DatabaseUnreachable, EngrainError, InvalidInput
from engrain.interfaces.assistants import protocols
from engrain.interfaces.assistants.protocols import PROTOCOLS, Moment, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.config.tree import Settings
    from engrain.domain.text.secrets import SecretPolicy
    from engrain.interfaces.assistants.session_state import SessionState
    from engrain.interfaces.assistants.spool import Message
    from engrain.interfaces.assistants.verb_calls import Connection
    from engrain.portability.assistants.turns import Turn

DEFAULT_CLIENT = "claude-code"
USAGE = f"engrain hook EVENT [--client {'|'.join(PROTOCOLS)}] [--db PATH] [--agent NAME] [--user NAME] [--tenant NAME]"
_SETTINGS = frozenset({"db", "agent", "user", "tenant"})
_OPTIONS = _SETTINGS | {"client", "config"}
_MOST_INPUT_BYTES = 32 * 2**20
_MOST_QUERY = 4_000
_SECONDS = 5.0  # of all calls; an assistant waits 10 for a hook
_FOLDER_VARIABLE = "CLAUDE_PROJECT_DIR"
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
    "storage": {"busy_timeout_s": 0.5},
    "working": {"waiting": 0},  # what is not stored waits in the spool
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
        return PROTOCOLS[self.client]

    @property
    def moment(self) -> Moment:
        return self.protocol.events[self.event]


def run(arguments: Sequence[str]) -> int:
    """Run one hook with the assistant's JSON on stdin; the exit code, which is always 0."""
    gc.disable()  # the process ends before garbage could matter, and looking for it is a tenth of its time
    command: HookCommand | None = None
    context = ""
    try:
        command = parse_command(arguments)
        context, failure = _work(command, _read_input())
    except Exception as error:  # noqa: BLE001  # an assistant goes on without its memory, whatever happens
        failure = error
    message = "" if failure is None else _report(command, arguments, failure, did_nothing=not context)
    answer = (
        {} if command is None else protocols.answer(command.protocol, command.event, context=context, message=message)
    )
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


def _work(command: HookCommand, payload: Mapping[str, Any]) -> tuple[str, Exception | None]:
    """Do what an event asks for; return the context for the model, and the first failure."""
    from engrain.config import load
    from engrain.interfaces.assistants.session_state import SessionState, drop_oldest

    settings = load(command.settings, file=command.config)
    if not settings.hooks.enabled:
        return "", None
    session = protocols.session_of(command.protocol, payload)
    state = SessionState.load(command.client, session)
    if command.moment == "start":
        drop_oldest()
        if not protocols.continues(payload):
            state.shorten()
    conversation = Conversation(command=command, payload=payload, settings=settings, state=state, session=session)
    failures: list[Exception] = []
    for step in (
        conversation.store_waiting,
        conversation.give_context,
        conversation.store_turns,
        conversation.end,
        conversation.calls.close,
    ):
        try:
            step()
        except Exception as error:  # noqa: BLE001  # whatever it is, the next steps are not lost by it
            failures.append(error)
    return conversation.context, next(iter(failures), None)


class Conversation:
    """One event of a conversation, with what its settings and its session's state say."""

    def __init__(
        self,
        *,
        command: HookCommand,
        payload: Mapping[str, Any],
        settings: Settings,
        state: SessionState,
        session: str | None,
    ) -> None:
        from engrain.interfaces.assistants.spool import Spool
        from engrain.interfaces.assistants.verb_calls import TimedCalls

        self.calls = TimedCalls(partial(_connect, command, settings), seconds=_SECONDS)
        self.context = ""
        self._command = command
        self._payload = payload
        self._settings = settings
        self._state = state
        self._session = session
        self._spool = Spool.of(settings)
        self._failure: Exception | None = None  # of the first turn that could not be stored: those after it wait, too

    @cached_property
    def tag(self) -> str:
        """The tag of the project that the session began in."""
        from engrain.portability.assistants.projects import tag_of
        from engrain.portability.assistants.transcripts import read_folder

        named = os.environ.get(_FOLDER_VARIABLE) if self._command.protocol.has_transcript else None
        began_in = None if named or self._transcript is None else read_folder(self._transcript)
        return tag_of(named or began_in or protocols.folder_of(self._payload) or ".")

    @property
    def _transcript(self) -> str | None:
        path = self._payload.get("transcript_path") if self._command.protocol.has_transcript else None
        return path if isinstance(path, str) and Path(path).is_file() else None

    def store_waiting(self) -> None:
        """Store the turns that earlier hooks could not: before the context is made, which may have them."""
        try:
            self._spool.drain(self._send)
        except Exception as error:
            self._failure = error
            raise

    def give_context(self) -> None:
        """Read what the memory knows for a session that starts or a prompt; nothing at every other moment."""
        from engrain.domain.text.tokens import approximate_tokens
        from engrain.interfaces.assistants.context_text import merge

        moment, chosen = self._command.moment, self._settings.hooks
        is_start = moment == "start"
        most = chosen.start_tokens if is_start else chosen.prompt_tokens
        prompt = self._payload.get("prompt")
        asked = "" if is_start else prompt.strip() if isinstance(prompt, str) else ""
        if moment not in self._command.protocol.context_at or most == 0:
            return
        if protocols.continues(self._payload) if is_start else not asked or protocols.is_command(asked):
            return
        shared = {} if self._state.session_turns is None else {"session_turns": self._state.session_turns}
        of_project = {"query": asked[:_MOST_QUERY], "tags": [self.tag], "budget_tokens": int(most * _PROJECT_SHARE)}
        if is_start:
            of_project["recent_episodes"] = 5
        project = self.calls.call("context", of_project | shared, session=self._session)
        left = most - approximate_tokens(project["text"])
        whole = {"query": _START_QUERY if is_start else asked[:_MOST_QUERY], "budget_tokens": max(left, 0)}
        everything = self.calls.call("context", whole | shared, session=self._session)
        self.context = merge(project, everything, self._state, project=self.tag, most_tokens=most)
        self._state.save()

    def store_turns(self) -> None:
        """Store the turns that are new.

        Those that cannot be stored now are read again by a later hook, or wait in the spool where none would.
        """
        moment = self._command.moment
        if not self._command.protocol.has_transcript:
            if turns := protocols.turns_of(self._command.client, self._payload):
                self._store(turns)
                self._state.save()
        elif self._transcript is not None:
            while self._store_batch(self._transcript) and moment in {"shorten", "end"}:
                pass
        if moment == "shorten":
            self._state.shorten()
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Tell the memory that the session has ended."""
        if self._command.moment == "end" and self._session is not None and self._failure is None:
            self.calls.call("hooks.session_end", {}, session=self._session)

    def _store_batch(self, transcript: str) -> bool:
        """Store some new turns of a transcript; the offset moves once none of them can be lost. False at its end."""
        from engrain.portability.assistants.transcripts import read_turns

        before = self._state.offset_in(transcript)
        turns, end = read_turns(transcript, before)
        if end == before:
            return False
        self._store(turns)
        if self._failure is not None and self._command.moment != "end":
            return False
        self._state.transcript, self._state.offset = transcript, end
        self._state.save()
        return True

    def _store(self, turns: Sequence[Turn]) -> None:
        """Store turns in their order; from the first that cannot be on they wait, unless they are read again."""
        messages = [self._message(turn) for turn in turns]
        while messages and self._failure is None:
            try:
                self._send(messages[0])
            except Exception as error:  # noqa: BLE001  # `store_turns` raises it
                self._failure = error
            else:
                del messages[0]
        is_read_again = self._command.protocol.has_transcript and self._command.moment != "end"
        if messages and not is_read_again:
            self._keep(messages)

    def _message(self, turn: Turn) -> Message:
        from engrain.interfaces.assistants.spool import Message

        arguments = {"content": turn.text, "role": turn.role, "tags": [self.tag], "idempotency_key": turn.key}
        if turn.at is not None:
            arguments["event_time"] = turn.at
        return Message(self._session, arguments)

    def _send(self, message: Message) -> None:
        from engrain.interfaces.assistants.verb_calls import read_turn

        try:
            answer = self.calls.call("hooks.message", message.arguments, session=message.session)
        except InvalidInput as error:  # it will never be stored: it was erased, or its text is refused
            self._log(error)
            return
        turn = read_turn(answer, message.session)
        if message.session == self._session:
            self._state.turn = max(self._state.turn, turn)

    def _keep(self, messages: Sequence[Message]) -> None:
        """Write turns into the spool, with the time of now where the assistant gave them none."""
        from datetime import UTC, datetime

        from engrain.domain.text.secrets import apply_policy

        policy: SecretPolicy = "refuse" if self._settings.privacy.secrets == "refuse" else "mask"
        kept = []
        for message in messages:
            try:
                content = apply_policy(message.arguments["content"], policy)
            except InvalidInput as error:
                self._log(error)
                continue
            arguments = {"event_time": datetime.now(UTC).isoformat(), **message.arguments, "content": content}
            kept.append(replace(message, arguments=arguments))
        if lost := self._spool.add(kept):
            self._log(DatabaseUnreachable(f"{lost} turns that had waited longest are lost: only so many may wait"))

    def _log(self, error: Exception) -> None:
        _log(self._command.event, self._command.client, error)


def _connect(command: HookCommand, settings: Settings, timeout_s: float) -> Connection:
    """Open the way to the memory: a server's address, the socket of a process that has it open, or the database."""
    identity = {"tenant": settings.tenant, "agent": settings.agent, "user": settings.user}
    if is_address(settings.db):
        from engrain.client.plain_connection import PlainConnection
        from engrain.interfaces.local_token import find_key

        del identity["tenant"]  # the key's
        return PlainConnection(settings.db, find_key(settings), identity=identity)
    if "://" not in settings.db.removeprefix("sqlite:///") and settings.db != ":memory:":
        from engrain.interfaces.assistants.local_socket import connect

        path = Path(settings.db.removeprefix("sqlite:///")).expanduser()
        served = connect(path, identity, timeout_s=timeout_s)
        if served is not None:
            return served
    from engrain.interfaces.assistants.verb_calls import DirectConnection

    return DirectConnection({**command.settings, **_LIGHT}, command.config, identity)


def _report(command: HookCommand | None, arguments: Sequence[str], error: Exception, *, did_nothing: bool) -> str:
    """Log a failure, and say it where the assistant shows it; return what its user should read in the answer."""
    event = command.event if command is not None else next(iter(arguments), "")
    client = command.client if command is not None else "?"
    _log(event, client, error)
    text = f"engrain: this hook did nothing: {_describe(error)}"
    if did_nothing and (command is None or command.protocol.shows_stderr):
        with suppress(OSError):
            sys.stderr.write(text + "\n")
    return text if did_nothing and command is not None and command.moment == "start" else ""


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
