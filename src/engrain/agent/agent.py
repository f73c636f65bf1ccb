"""Agent: the memory as one agent sees it, one short method for each verb. Arguments are parsed here, once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from engrain.agent.learning.conversations import Conversations
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_interval, parse_scope, parse_text
from engrain.domain import checks
from engrain.domain.records import DECAY_RATES, RELATIONS, ROLES, Episode, Fact, Link, MemoryRecord, Rule
from engrain.errors import Forbidden, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.agent.consolidation import Consolidation
    from engrain.agent.entities import Entities
    from engrain.agent.exact.item_store import ItemStore
    from engrain.agent.exact.log import Log
    from engrain.agent.graph import Graph
    from engrain.agent.hooks import Hooks
    from engrain.agent.notes import Notes
    from engrain.agent.pools import Pools
    from engrain.agent.rules import Rules
    from engrain.agent.working import Working
    from engrain.domain.memories.erasure import ErasureReport
    from engrain.domain.memories.routing import HandledInput, Routing
    from engrain.portability.imports import ImportReport
    from engrain.verbs import words


@instrument()
class Agent(Conversations):
    """The memory as one agent sees it: its own scope, "global" and its pools. Immutable and cheap."""

    __slots__ = ()

    @property
    def rules(self) -> Rules:
        """Rules: guidance learned from outcomes, and how it fared."""
        from engrain.agent.rules import Rules

        return Rules(self._parts, self._caller)

    @property
    def entities(self) -> Entities:
        """Entities: the registry of people, places and things that facts are about."""
        from engrain.agent.entities import Entities

        return Entities(self._parts, self._caller)

    @property
    def graph(self) -> Graph:
        """Graph: entities, observations of them, and their relations."""
        from engrain.agent.graph import Graph

        return Graph(self._parts, self._caller)

    @property
    def notes(self) -> Notes:
        """Notes: the agent's own, under keys."""
        from engrain.agent.notes import Notes

        return Notes(self._parts, self._caller)

    @property
    def pools(self) -> Pools:
        """Pools: memories shared with some agents of the tenant."""
        from engrain.agent.pools import Pools

        return Pools(self._parts, self._caller)

    @property
    def consolidation(self) -> Consolidation:
        """Consolidation, step by step, for an outside consolidator; `Memory.consolidate` does it by itself."""
        from engrain.agent.consolidation import Consolidation

        return Consolidation(self._parts, self._caller)

    @property
    def log(self) -> Log:
        """Logs: exact JSON entries in order, by session; `log(name)` is one of them."""
        from engrain.agent.exact.log import Log

        return Log(self._parts, self._caller)

    @property
    def store(self) -> ItemStore:
        """Item store: exact JSON objects by namespace and key; `store(namespace)` is one namespace."""
        from engrain.agent.exact.item_store import ItemStore

        return ItemStore(self._parts, self._caller)

    @property
    def hooks(self) -> Hooks:
        """Hooks: calls of a host around a conversation, which fail open where memory cannot be reached."""
        from engrain.agent.hooks import Hooks

        return Hooks(self._parts, self._caller)

    @property
    def working(self) -> Working:
        """Working memory: messages, tool results and scratchpad of the session, in this process alone."""
        from engrain.agent.working import Working

        return Working(self._parts, self._caller)

    def observe(
        self,
        content: words.Content,
        *,
        role: words.TurnRole = "user",
        speaker: words.Speaker | None = None,
        session: words.Session | None = None,
        event_time: words.EventTime | None = None,
        importance: words.Importance | None = None,
        ttl_days: words.TtlDays | None = None,
        tokens: words.Tokens | None = None,
        model: words.Model | None = None,
        tool_calls: words.ToolCalls | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Episode:
        """Remember one turn of a conversation as an episode.

        Durable when it returns; its vector follows soon. The `importance` told from its words is 5, and more for a
        name, a preference, a decision or a tool's result.

        Raises:
            InvalidInput: empty, too long (10 MB) or not text, another value out of range, or a key that was used for
                something else; nothing was written.
        """
        new_episode, store_turn = _load_writers()
        parts, caller = self._parts(), self._caller
        act = new_act(parts, caller)
        key = None if idempotency_key is None else checks.name(idempotency_key, name="idempotency_key")
        episode = new_episode(
            parts,
            caller,
            at=act.at,
            content=content,
            role=role,
            speaker=speaker,
            session=session,
            event_time=event_time,
            importance=importance,
            ttl_days=ttl_days,
            tokens=tokens,
            model=model,
            tool_calls=tool_calls,
            tags=tags,
            metadata=metadata,
            idempotency_key=key,
        )
        stored = store_turn(parts, act, episode, key, time=event_time)
        if parts.llm is not None:
            from engrain.agent.learning.consolidation_triggers import consolidate_after_switch

            consolidate_after_switch(parts, caller, stored)
        return stored

    def remember(
        self,
        content: words.Statement,
        *,
        subject: words.OwnSubject | None = None,
        predicate: words.OwnPredicate | None = None,
        entity_id: words.AboutEntity | None = None,
        scope: words.Scope | None = None,
        valid_from: words.ValidFrom | None = None,
        valid_to: words.ValidTo | None = None,
        category: words.Category | None = None,
        permanence: words.HowLong = "standard",
        importance: words.Importance | None = None,
        confidence: words.Confidence = 1.0,
        source: words.Source | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Fact:
        """Remember a fact: `subject` `predicate` `content`, or free text; it supersedes the fact in its slot.

        A text without a predicate stands for itself, beside all others of its subject; without a subject it is the
        agent's own, or the user's: of a text that begins with "User" or "The user's", and where the agent acts for one
        of a text in the first person.
        A slot is the same `predicate` of the same `entity_id`, or without one of the same `subject`, in the same
        `scope` (by default the agent's own; acting for a user, its own of this user), in whatever spelling: "lives_in"
        is "lives in", and a subject has all names that the registry knows of it. Where a subject has many values
        (likes, owns, ...) they stand side by side, and so do facts that tags name two projects of (`project:shop`).
        Saying the same again confirms the fact and gives it. Values that are not given are told from the words: the
        `importance` (5, and more for a name, a preference, a decision) and the `category` ("fact" where none fits).

        Raises:
            InvalidInput: an empty or unknown value, an entity or episode that is not there, an interval that ends
                before it begins, or a key that was used for something else; nothing was written.
        """
        from engrain.agent.writes.episodes import parse_importance
        from engrain.agent.writes.memories import default_subject, new_fact, store_fact
        from engrain.domain.memories.predicates import free_text_predicate
        from engrain.domain.text.categories import fact_category

        parts, caller = self._parts(), self._caller
        act = new_act(parts, caller)
        key = checks.optional_name(idempotency_key, name="idempotency_key")
        known = checks.choice(permanence, DECAY_RATES, name="permanence")
        start, end = parse_interval(valid_from, valid_to, act.at)
        text = parse_text(parts, content)
        relation = free_text_predicate(text) if predicate is None else checks.name(predicate, name="predicate")
        place, about = parse_scope(caller, scope), checks.optional_name(subject, name="subject")
        fact = new_fact(
            parts,
            act,
            idempotency_key=key,
            scope=place,
            subject=about or default_subject(caller, scope=place, predicate=relation, content=text),
            predicate=relation,
            entity_id=checks.optional_name(entity_id, name="entity_id"),
            content=text,
            category=checks.optional_name(category, name="category") or fact_category(relation, text),
            source=checks.optional_name(source, name="source"),
            confidence=checks.number(confidence, name="confidence", low=0, high=1),
            importance=parse_importance(importance, text),
            permanence=known,
            valid_from=start,
            valid_to=end,
            source_episode_id=checks.optional_name(source_episode_id, name="source_episode_id"),
            tags=checks.names(tags, name="tag"),
            metadata=checks.host_metadata(metadata),
        )
        return store_fact(parts, act, fact, idempotency_key=key, time=valid_from)

    def correct(
        self,
        id_: words.Id,
        content: words.Statement,
        *,
        valid_from: words.ValidFrom | None = None,
        valid_to: words.ValidTo | None = None,
        confidence: words.Confidence = 1.0,
        source: words.Source | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        metadata: words.Metadata | None = None,
    ) -> Fact:
        """Supersede an active fact by the same statement with other content.

        Subject, predicate, entity, scope, category, permanence, importance and tags stay; the rest is new. A fact whose
        period is over, or has not begun, is put right in that period where none is given: what holds now stays. With a
        `valid_to` that is past it was true until then, and holds no more.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is no fact, no longer active, or a value is refused; nothing was written.
        """
        from engrain.agent.writes.memories import replace_fact

        parts = self._parts()
        act = new_act(parts, self._caller)
        start, end = parse_interval(valid_from, valid_to, act.at)
        return replace_fact(
            parts,
            act,
            checks.name(id_, name="id"),
            content=parse_text(parts, content),
            source=checks.optional_name(source, name="source"),
            confidence=checks.number(confidence, name="confidence", low=0, high=1),
            valid_from=start,
            valid_to=end,
            source_episode_id=checks.optional_name(source_episode_id, name="source_episode_id"),
            metadata=checks.host_metadata(metadata),
        )

    def confirm(self, id_: words.Id) -> Fact | Rule:
        """Confirm that a fact or a rule still holds: its decay starts anew.

        One that only tools or assistants have said is trusted from now as what the user said: a pending fact takes its
        slot, and supersedes the fact that was there.

        Raises:
            NotFound: this agent sees no such memory.
            InvalidInput: it is an episode, or no longer active.
        """
        from engrain.agent.reads.lookups import memory_not_found
        from engrain.storage.write.acceptance import accept

        parts, name = self._parts(), checks.name(id_, name="id")
        confirmed = parts.store.write(new_act(parts, self._caller), accept, name)
        if confirmed is None:
            raise memory_not_found(self._caller, name)
        assert not isinstance(confirmed, Episode)
        return confirmed

    def forget(self, id_: words.Id) -> MemoryRecord:
        """Forget a memory: it leaves every search at once, and stays readable by its id. Twice is once.

        An episode expires, a fact is retracted, a rule gets `metadata["forgotten"]`. Searches of the past (`as_of`)
        leave it out, too, unless inactive memories are asked for; so they do what had expired or was superseded before.

        Raises:
            NotFound: this agent sees no such memory.
        """
        from engrain.agent.reads.lookups import memory_not_found
        from engrain.storage.write import removal

        parts, name = self._parts(), checks.name(id_, name="id")
        try:
            forgotten = parts.store.write(new_act(parts, self._caller), removal.forget, name)
        finally:
            parts.note_cache.drop_agent(self._caller)
        if forgotten is None:
            raise memory_not_found(self._caller, name)
        parts.buffers.drop_recent([forgotten])
        return forgotten

    def erase(
        self, ids: words.Ids, *, cascade: words.CascadeOfErasure = "none", grant: words.KeyGrant | None = None
    ) -> ErasureReport:
        """Erase memories for good, with their vectors and links; report what went, and what was derived from it.

        This cannot be undone. Memories that this agent does not see are left alone. The event `memory_erased` stays,
        with a digest of what was there, and other events lose its text; the id is never taken again. Messages that wait
        for the database in this process go, too.

        Copies in pools and of pools, summaries, reflections and what was learned keep the text of what they were
        derived from: the report names them (`derived`), or they go with it. `cascade` "seen" erases those that this
        agent sees, "tenant" those of every agent, which a key of one agent may not.

        Raises:
            InvalidInput: an id that is no text, or an unknown `cascade`; nothing was erased.
            Forbidden: `cascade` "tenant" with a key of one agent.
        """
        from engrain.agent.writes.erasures import erase_memories
        from engrain.domain.memories.erasure import Cascade

        names = checks.required_names(ids, name="id")
        chosen = checks.choice(cascade, get_args(Cascade), name="cascade")
        if chosen == "tenant" and grant is not None and grant.is_bound:
            raise Forbidden("the key speaks for one agent or user, not for all of the tenant; use the cascade seen")
        return erase_memories(self._parts(), self._caller, names, chosen)

    def link(
        self,
        source_id: words.LinkSource,
        target_id: words.LinkTarget,
        relation: words.LinkRelation,
        *,
        weight: words.LinkWeight = 1.0,
    ) -> Link:
        """Link one memory to another by a relation; a link that is there stays as it is.

        Raises:
            NotFound: this agent does not see one of the two.
            InvalidInput: an unknown relation, a weight out of range, or a memory linked to itself; or the source is
                everybody's, and this agent is bound to a user.
            Forbidden: the source is every agent's, and this agent may not publish.
        """
        from engrain.storage.write import changes

        parts = self._parts()
        act = new_act(parts, self._caller)
        link = Link(
            source_id=checks.name(source_id, name="source_id"),
            target_id=checks.name(target_id, name="target_id"),
            relation=checks.choice(relation, RELATIONS, name="relation"),
            weight=checks.number(weight, name="weight", low=0, high=1),
            created_at=act.at,
        )
        if link.source_id == link.target_id:
            raise InvalidInput(f"a memory cannot be linked to itself ({link.source_id}); name two")
        return parts.store.write(act, changes.link, link)

    def route(
        self, content: words.Content, *, role: words.TurnRole = "user", speaker: words.Speaker | None = None
    ) -> Routing:
        """Say where an input belongs, and why, by its role and words; nothing is stored.

        That is an episode, fact, rule or note, a question to recall now or of the past, a request to forget, or working
        memory. Statements of which a subject may have several (say likes) are no facts: one would supersede the other.
        Facts and requests to forget are read in English, German, Spanish, French, Italian, Portuguese and Dutch, the
        rest in English.

        Raises:
            InvalidInput: an empty input, or an unknown role.
        """
        from engrain.routing import router

        return router.route(
            checks.content(content),
            role=checks.choice(role, ROLES, name="role"),
            speaker=checks.optional_name(speaker, name="speaker"),
        )

    def handle(
        self, content: words.Content, *, role: words.TurnRole = "user", speaker: words.Speaker | None = None
    ) -> HandledInput:
        """Store an input where `route` says, hold it in working memory, answer it by `recall`, or forget.

        Facts and rules are stored in this agent's own scope, everything else as `observe`, `notes.save` and
        `working.append` do; words that say more than their fact, or tell something beside a question, are an episode,
        too. A question about what was believed is answered as of then. The settings `handling.forget` and
        `handling.remember` say whether a request to forget and a statement are done, proposed in `suggestion`, or left
        episodes; a request to forget is proposed by default, and not stored.

        Raises:
            InvalidInput: an empty input, or an unknown role; nothing was written.
        """
        from engrain.agent.writes import handling
        from engrain.domain.memories.routing import HandledInput

        parts, caller = self._parts(), self._caller
        routing, policy = self.route(content, role=role, speaker=speaker), parts.settings.handling
        text, done = routing.content, dict[str, Any]()
        match routing.route:
            case "recall" | "past":
                asked, then = handling.past_question(parts, routing)
                done |= {"answer": self.recall(asked, as_of=then)}
            case "working":
                done |= {"working": self.working.append(text, role=role, speaker=speaker)}
            case "note":
                assert routing.key is not None
                done |= {"kept": self.notes.save(routing.key, text)}
            case "rule":
                done |= {"kept": self.rules.add(text, scope=caller.own_scope)}
            case "fact" if policy.remember == "do" and not routing.is_part:
                done |= {"kept": self.remember(**handling.fact_arguments(routing, caller))}
            case "fact" if policy.remember == "do":
                turn = {"content": content, "role": role, "speaker": speaker}
                done |= {"kept": handling.remember_statement(parts, caller, routing, turn)[1]}
            case "forget" if policy.forget == "do":
                going = handling.find_meant(parts, caller, routing)
                done |= {"forgotten": tuple(self.forget(memory.id) for memory in going)}
            case "forget" if policy.forget == "propose":
                done |= {"suggestion": handling.suggest_removal(parts, caller, routing)}
            case _:
                is_proposed = routing.route == "fact" and policy.remember == "propose"
                suggestion = handling.suggest_fact(routing, caller) if is_proposed else None
                done |= {"kept": self.observe(content, role=role, speaker=speaker), "suggestion": suggestion}
        if "kept" not in done and handling.tells_more(routing, role):
            done |= {"kept": self.observe(text, role=role, speaker=speaker)}
        return HandledInput(routing=routing, **done)

    def import_file(
        self,
        path: words.FilePath,
        *,
        format: words.ImportFormat = "auto",  # noqa: A002  # the word of the command line
        strict: words.Strict = False,
        progress: words.Progress | None = None,
    ) -> ImportReport:
        """Import a file of another system: conversations, memories or Markdown notes.

        Formats are chatgpt, claude, claude-code, codex, gemini, openai, locomo, mem0, letta, langgraph, mcp-memory,
        markdown and jsonl, which `Memory.export` writes too. Facts are the agent's own, with their times and metadata;
        one older than the fact in its slot becomes its past. A repeat adds only what is new in the file; what was
        erased since an export stays erased; a line that names another agent is left out and counted. Maturity, counts
        and decay rates begin anew, and a rule's confidence is 0.5 at most. A broken record, or one whose id or key has
        other content, is reported and passed over. `Memory.flush` waits for the vectors, made in the background.

        Raises:
            UnreadableImport: the file is of no known format, or broken and `strict`.
        """
        from engrain.portability import imports
        from engrain.portability.formats import FORMATS

        parts = self._parts()
        try:
            return imports.import_file(
                parts.store,
                self._caller,
                Path(checks.path(path, name="path")),
                clock=parts.clock,
                format_name=checks.choice(format, ["auto", *FORMATS], name="format"),
                strict=checks.flag(strict, name="strict"),
                secrets=parts.settings.privacy.secrets,
                progress=progress,
            )
        finally:
            parts.note_cache.drop_agent(self._caller)
            parts.queue.announce()


@cache
def _load_writers() -> tuple[Callable[..., Episode], Callable[..., Episode]]:
    """Load what makes a turn and what stores it, once: an import statement takes as long as four calls each time."""
    from engrain.agent.writes.episodes import new_episode
    from engrain.agent.writes.memories import store_turn

    return new_episode, store_turn
