"""Working memory: the messages, tool results and scratchpad of the current session of an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.view import View
from engrain.agent.writes import fail_open
from engrain.agent.writes.episodes import new_episode
from engrain.agent.writes.memories import check_first_use
from engrain.domain import checks
from engrain.domain.text.tokens import approximate_tokens
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.domain.memories.routing import WorkingStats
    from engrain.domain.records import Episode
    from engrain.verbs import words
    from engrain.working.sessions import WorkingSession

_MOST_CHARACTERS = 10_000_000


@instrument("working")
class Working(View):
    """The messages, tool results and scratchpad of a session, in this process alone; they are not searched.

    A message that leaves it becomes an episode first, unless it is cleared. A host gives each turn to it or to
    `Agent.hooks`, not to both.
    """

    __slots__ = ()

    def append(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        event_time: words.EventTime | None = None,
        tokens: words.Tokens | None = None,
        tool_calls: words.ToolCalls | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> WorkingStats:
        """Add a message to the session; the oldest become episodes where there are too many tokens.

        Above `working.flush_tokens` they do so until at most half as many are left; tokens are counted by `characters`.
        Where the database takes none they stay, and `degraded` says so.

        Raises:
            InvalidInput: as `Agent.observe`; nothing was added.
        """
        parts, caller = self._parts(), self._caller
        key = checks.optional_name(idempotency_key, name="idempotency_key")
        message = new_episode(
            parts,
            caller,
            at=parts.clock(),
            content=content,
            role=role,
            speaker=speaker,
            event_time=event_time,
            tokens=approximate_tokens(checks.content(content)) if tokens is None else tokens,
            tool_calls=tool_calls,
            metadata=metadata,
            idempotency_key=key,
        )

        earlier: list[Episode] = []

        def work(session: WorkingSession) -> None:
            earlier[:] = [other for other in session.messages if other.id == message.id]
            if not earlier:
                session.messages.append(message)

        parts.buffers.working.change(caller, work)
        for other in earlier:
            check_first_use(other, message, key, time=event_time)
        return fail_open.flush_working(parts, caller, most_tokens=parts.settings.working.flush_tokens)

    def tool_result(self, name: words.ToolName, value: words.ToolValue) -> WorkingStats:
        """Store the answer of a tool under its name, in place of an earlier one.

        Raises:
            InvalidInput: no JSON value, one of more than 10 million characters, or more than working memory has.
        """
        parts = self._parts()
        tool, [answer] = checks.name(name, name="name"), checks.json_values([value], name="value")
        size = len(json.dumps(answer, ensure_ascii=False))
        if size > _MOST_CHARACTERS:
            raise InvalidInput(f"value of tool {tool!r:.80} has {size:,} characters; keep at most 10,000,000")

        def work(session: WorkingSession) -> None:
            session.tool_results[tool], session.result_sizes[tool] = answer, size

        return parts.buffers.working.change(
            self._caller, work, count_added=lambda session: size - session.result_sizes.get(tool, 0)
        )

    def tool_results(self) -> dict[str, Any]:
        """Read the answers of tools, by name."""
        return self._parts().buffers.working.copy(self._caller).tool_results

    def scratchpad(self) -> str:
        """Read the scratchpad of the session."""
        return self._parts().buffers.working.copy(self._caller).scratchpad

    def write_scratchpad(self, text: words.ScratchpadText) -> str:
        """Replace the text of the scratchpad.

        Raises:
            InvalidInput: no text, one of more than 10 million characters, or more than working memory has.
        """
        notes = checks.query(text)
        if len(notes) > _MOST_CHARACTERS:
            raise InvalidInput(f"the scratchpad has {len(notes):,} characters; keep at most 10,000,000")

        def work(session: WorkingSession) -> None:
            session.scratchpad = notes

        self._parts().buffers.working.change(
            self._caller, work, count_added=lambda session: len(notes) - len(session.scratchpad)
        )
        return notes

    def messages(self) -> list[Episode]:
        """List the messages of the session that are not stored yet, oldest first."""
        return self._read().messages

    def flush(self) -> WorkingStats:
        """Store all messages as episodes.

        Where the database takes none they stay, and `degraded` says so.
        """
        parts = self._parts()
        return fail_open.flush_working(parts, self._caller, most_tokens=None)

    def clear(self) -> None:
        """Drop messages, tool results and scratchpad; none of them becomes an episode."""
        self._parts().buffers.working.clear(self._caller)

    def stats(self) -> WorkingStats:
        """Count the messages, tokens and tool results of the session."""
        return self._read().stats()

    def _read(self) -> WorkingSession:
        """Copy the session; what grew too old in it, or in others, is stored first."""
        parts = self._parts()
        fail_open.store_evicted(parts)
        return parts.buffers.working.copy(self._caller)
