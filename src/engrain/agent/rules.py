"""Rules: guidance of an agent, and the outcomes of following it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.reads.lookups import memory_not_found
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_scope, parse_text
from engrain.agent.wiring.view import View
from engrain.agent.writes.memories import new_rule, store_rule
from engrain.domain import checks, pagination
from engrain.domain.rules.maturity import Application, Outcome, Thresholds
from engrain.storage.search.history import load_applications
from engrain.storage.write import changes

if TYPE_CHECKING:
    from engrain.domain.pagination import Page
    from engrain.domain.records import Rule
    from engrain.verbs import words


@instrument("rules")
class Rules(View):
    """Guidance learned from outcomes."""

    __slots__ = ()

    def add(
        self,
        content: words.Guidance,
        *,
        scope: words.Scope | None = None,
        source_episode_id: words.SourceEpisode | None = None,
        tags: words.Tags | None = None,
        metadata: words.Metadata | None = None,
        idempotency_key: words.IdempotencyKey | None = None,
    ) -> Rule:
        """Remember a rule: a candidate of confidence 0.5, until outcomes speak for or against it.

        The same words again confirm the rule that has them in that scope, unless tags or metadata are new; it is
        returned.
        Its `scope` is the agent's own unless another is given; acting for a user, its own of this user.

        Raises:
            InvalidInput: an empty or unknown value, or a key that was used for something else; nothing was written.
        """
        parts, caller = self._parts(), self._caller
        act = new_act(parts, caller)
        key = checks.optional_name(idempotency_key, name="idempotency_key")
        rule = new_rule(
            parts,
            act,
            idempotency_key=key,
            scope=parse_scope(caller, scope),
            content=checks.content(content),  # `new_rule` masks it
            source_episode_id=checks.optional_name(source_episode_id, name="source_episode_id"),
            tags=checks.names(tags, name="tag"),
            metadata=checks.host_metadata(metadata),
        )
        return store_rule(parts, act, rule, idempotency_key=key)

    def mark_helpful(self, id_: words.RuleId) -> Rule:
        """Mark that following a rule helped; a rule that often helps is established, and in time proven.

        Raises:
            NotFound: this agent sees no such rule.
            InvalidInput: it is no rule, or forgotten; nothing was counted.
        """
        return self._mark(id_, "helpful", None)

    def mark_harmful(self, id_: words.RuleId, reason: words.HarmReason | None = None) -> Rule:
        """Mark that following a rule did harm, which weighs as much as four helps, and why.

        It may lose its maturity. After three harms, and with an effectiveness below 0.3 (or as the settings `maturity`
        say), it becomes a warning: an anti-pattern that says what not to do and for which reasons;
        `metadata["original_content"]` has the rule's former words.

        Raises:
            NotFound: this agent sees no such rule.
            InvalidInput: it is no rule, or forgotten; nothing was counted.
        """
        rule = self._mark(id_, "harmful", None if reason is None else parse_text(self._parts(), reason, name="reason"))
        self._parts().queue.announce()  # a warning waits for a vector of its own words
        return rule

    def applications(
        self, id_: words.RuleId, *, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[Application]:
        """List the outcomes of a rule each time it was marked, newest first.

        Empty where this agent sees no such rule.

        Raises:
            InvalidInput: the limit lies outside 0-1000, or a cursor of another list.
        """
        most = checks.count(limit, name="limit", high=1000)
        position = pagination.decode_moment("rules.applications", after)
        rule = checks.name(id_, name="id")
        marks = self._parts().store.read(self._caller, load_applications, rule, most + 1, after=position)
        return pagination.cut("rules.applications", marks, most, lambda mark: (mark.created_at, mark.id))

    def _mark(self, id_: str, outcome: Outcome, reason: str | None) -> Rule:
        parts, name = self._parts(), checks.name(id_, name="id")
        thresholds = Thresholds(**parts.settings.maturity.to_dict())
        act = new_act(parts, self._caller)
        marked = parts.store.write(act, changes.mark, name, outcome, reason=reason, thresholds=thresholds)
        if marked is None:
            raise memory_not_found(self._caller, name)
        return marked
