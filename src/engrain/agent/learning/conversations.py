"""Conversations: the messages of a chat stored at once, and learned from now, in the background or later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.queries import Queries
from engrain.agent.wiring.acts import new_act
from engrain.domain import checks
from engrain.domain.ids import later_id
from engrain.domain.records import Caller, Degraded, Episode, Fact, Rule
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.agent.learning.summaries import Choice
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.runs.additions import AddedMessages
    from engrain.domain.runs.summaries import Summary
    from engrain.verbs import chat_words, words

_FIELDS = ("role", "content", "speaker", "name", "event_time")
_MOST_MESSAGES = 1_000


@instrument()
class Conversations(Queries):
    """The verbs of an agent that take a whole conversation, or tell it shortly."""

    __slots__ = ()

    def add(
        self,
        messages: chat_words.ChatMessages,
        *,
        learn: chat_words.LearnWhen = "now",
        session: words.Session | None = None,
        event_time: words.EventTime | None = None,
        ttl_days: words.TtlDays | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> AddedMessages:
        """Store the messages of a chat as episodes, in one transaction, and learn facts and rules from them.

        With a language model it learns from what waits in the session, or without a session in all of the agent's:
        `now`, so that the answer has what was learned, or in the `background`. Without one, or with `later`, the
        messages wait for `consolidate`. A message is `{"role", "content", "speaker", "event_time"}`; a text alone is
        the user's. A failure of the model is in the answer's `failures`, and loses no message.

        Raises:
            InvalidInput: no message, a value that `observe` refuses, or a key that was used for something else; nothing
                was written.
        """
        from engrain.agent.learning import consolidation_triggers as triggers
        from engrain.agent.writes.episodes import new_episode
        from engrain.agent.writes.memories import store_conversation
        from engrain.domain.runs.additions import LEARNING_TIMES, AddedMessages

        parts, caller = self._parts(), self._caller
        when = checks.choice(learn, LEARNING_TIMES, name="learn")
        key = checks.optional_name(idempotency_key, name="idempotency_key")
        act = new_act(parts, caller)
        turns = [{"event_time": event_time, **message} for message in _parse_messages(messages)]
        for_all: dict[str, Any] = {"session": session, "ttl_days": ttl_days, "tags": tags, "metadata": metadata}
        episodes: list[Episode] = []
        for index, message in enumerate(turns):
            with checks.locate(f"messages[{index}]"):
                made = new_episode(parts, caller, at=act.at, idempotency_key=key, **for_all, **message)
            episodes.append(made if key is None else replace(made, id=later_id(made.id, index)))
        times = [message["event_time"] for message in turns]
        stored = store_conversation(parts, act, episodes, times=times, idempotency_key=key)
        if parts.llm is None or when == "later":
            triggers.consolidate_after_switch(parts, caller, stored[0])
            return AddedMessages(episodes=stored, learning="no_model" if parts.llm is None else "later")
        if when == "background":
            triggers.consolidate_in_background(parts, caller, stored[0].session)
            return AddedMessages(episodes=stored, learning="background")
        return _learn(parts, caller, stored)

    def summarize(
        self,
        query: words.SummaryQuery | None = None,
        *,
        session: words.SummarySession | None = None,
        ids: words.SummaryIds | None = None,
        strategy: words.SummaryStrategy | None = None,
        target_tokens: words.TargetTokens | None = None,
        store: words.StoreSummary = False,
    ) -> Summary:
        """Summarize a search, a session or some memories in at most `target_tokens`.

        Without any of the three, this agent's own session; at most the newest 1,000 memories. Where a model is asked
        for that is not there or fails, the summary is extractive (the memories' own sentences) and `degraded` says so;
        without a model and a strategy it is extractive, too.

        A stored summary is a fact of category "summary" in this agent's own scope, derived_from its sources; it
        supersedes an earlier one of the same, and its `run_id` can be undone. An empty one is not stored.

        Raises:
            InvalidInput: nothing is named and there is no session, or more than one; an unknown strategy.
            NotFound: this agent does not see one of `ids`.
            DatabaseBusy: another summary of this agent is being stored; nothing was written.
        """
        from engrain.agent.learning import summaries
        from engrain.agent.writes.episodes import MOST_TOKENS
        from engrain.domain.runs.summaries import STRATEGIES

        parts, caller = self._parts(), self._caller
        choice = self._choice(query, session, ids)
        target = parts.settings.summarization.target_tokens if target_tokens is None else target_tokens
        is_stored = checks.flag(store, name="store")
        summary = summaries.summarize(
            parts,
            caller,
            choice,
            strategy=None if strategy is None else checks.choice(strategy, STRATEGIES, name="strategy"),
            target_tokens=checks.count(target, name="target_tokens", high=MOST_TOKENS),
        )
        return summaries.store_summary(parts, caller, choice, summary) if is_stored and summary.text else summary

    def _choice(self, query: object, session: object, ids: Iterable[str] | str | None) -> Choice:
        """Return the choice of memories to summarize."""
        from engrain.agent.learning.summaries import Choice

        names = [name for name, value in (("query", query), ("session", session), ("ids", ids)) if value is not None]
        if len(names) > 1:
            raise InvalidInput(f"{' and '.join(names)} are given; name one of query, session and ids")
        if ids is not None:
            return Choice(by="ids", ids=checks.names(ids, name="id"))
        if query is not None:
            return Choice(by="query", text=checks.content(query, name="query"))
        own = self._caller.session if session is None else checks.name(session, name="session")
        if own is None:
            raise InvalidInput("summarize needs a query, a session or ids")
        return Choice(by="session", text=own)


def _learn(parts: Parts, caller: Caller, stored: Sequence[Episode]) -> AddedMessages:
    """Learn from the session of the messages now, and return what came of it."""
    from engrain.agent.learning import consolidation_triggers as triggers
    from engrain.domain.runs.additions import AddedMessages, Learning
    from engrain.storage.selection import load_memories

    assert parts.llm is not None
    session = stored[0].session
    report = triggers.consolidate_now(parts, parts.llm, caller, () if session is None else (session,))
    ids = [episode.id for episode in stored]
    learned_ids = list(dict.fromkeys(change.memory_id for change in report.learned))
    memories = parts.store.read(caller, load_memories, [*ids, *learned_ids])
    episodes = tuple(memory for memory in memories if isinstance(memory, Episode))
    is_waiting = any(episode.consolidation_status == "pending" for episode in episodes)
    state: Learning = "waiting" if is_waiting else "done"
    return AddedMessages(
        episodes=episodes,
        learning=state,
        learned=tuple(memory for memory in memories if isinstance(memory, Fact | Rule)),
        run_ids=report.run_ids,
        failures=tuple(Degraded(code=one.code, message=one.message, detail=one.detail) for one in report.failures),
    )


def _parse_messages(messages: object) -> list[dict[str, Any]]:
    """Return the messages as arguments of an episode.

    Raises:
        InvalidInput: none, too many, or one that is no message.
    """
    if isinstance(messages, str):
        return [{"content": messages}]
    if isinstance(messages, bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(f"messages must be a text or a list of objects, not {type(messages).__name__}")
    listed = list(messages)
    if not listed:
        raise InvalidInput("messages is empty; give at least one")
    checks.count(len(listed), name="number of messages", high=_MOST_MESSAGES)
    return [_parse_message(message, index) for index, message in enumerate(listed)]


def _parse_message(message: object, index: int) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        raise InvalidInput(f"messages[{index}] must be an object, not {type(message).__name__}; nothing was stored")
    with checks.locate(f"messages[{index}]"):
        given = {checks.choice(name, _FIELDS, name="field"): value for name, value in message.items()}
    speaker = given.pop("name", None)
    return {"content": None, **({} if speaker is None else {"speaker": speaker}), **given}
