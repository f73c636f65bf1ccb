"""Verbs of an agent that belong together: rules, and the registry of entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.agent.parts import writable
from engrain.domain import checks
from engrain.domain.records import ENTITY_TYPES, Entity, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from engrain.agent.parts import Parts
    from engrain.domain.records import Caller


class Rules:
    """What worked and what did not, as guidance."""

    __slots__ = ("_caller", "_parts")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Agent.rules`."""
        self._parts = parts
        self._caller = caller

    def add(
        self,
        content: str,
        *,
        scope: str | None = None,
        source_episode_id: str | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Rule:
        """Remember how to go about something: a candidate of confidence 0.5, until outcomes speak for or against it.

        `scope` is "global" (every agent of the tenant follows it) or this agent's own name; `source_episode_id` is the
        episode it was learned from. With an `idempotency_key` a repeat gives the rule stored first.

        Raises:
            InvalidInput: an empty or unknown value, or a key that was used for something else; nothing was written.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        key = checks.optional_name(idempotency_key, what="idempotency_key")
        rule = Rule(
            id=parts.id_for(self._caller, key),
            tenant_id=self._caller.tenant_id,
            agent=self._caller.agent,
            scope=writable(self._caller, scope),
            content=checks.content(content),
            source_episode_id=checks.optional_name(source_episode_id, what="source_episode_id"),
            created_at=act.at,
            last_confirmed_at=act.at,
            tags=checks.names(tags, what="tag"),
            metadata=checks.metadata(metadata),
        )
        return parts.keep(act, rule, idempotency_key=key)


class Entities:
    """Whom and what facts are about: a registry that all agents of a tenant share."""

    __slots__ = ("_caller", "_parts")

    def __init__(self, parts: Callable[[], Parts], caller: Caller) -> None:
        """Made by `Agent.entities`."""
        self._parts = parts
        self._caller = caller

    def create(
        self,
        name: str,
        entity_type: str = "other",
        *,
        aliases: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Entity:
        """Add somebody or something under its canonical name; `remember(..., entity_id=)` says facts about it.

        `entity_type` is person, organization, place, project, email, url or other.

        Raises:
            InvalidInput: the name is taken by another entity of this type, or a value is refused; nothing was written.
        """
        parts = self._parts()
        act = parts.act(self._caller)
        entity = Entity(
            id=parts.ids(),
            tenant_id=self._caller.tenant_id,
            canonical_name=checks.name(name, what="name"),
            entity_type=checks.choice(entity_type, ENTITY_TYPES, what="entity_type"),
            aliases=checks.names(aliases, what="alias"),
            created_at=act.at,
            updated_at=act.at,
            metadata=checks.metadata(metadata),
        )
        return parts.store.put_entity(act, entity)

    def get(self, id_: str) -> Entity | None:
        """One entity by id; None where the tenant knows none of that id."""
        return next(iter(self._parts().store.entities(self._caller, [checks.name(id_, what="id")])), None)
