"""What a file of another system says, as memories of whoever imports it: pure, but for looking up what is there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
from engrain.domain.entities.graph import known_type
from engrain.domain.entities.registry import merged_into
from engrain.domain.ids import derived_id, is_id, moment_of
from engrain.domain.memories import importance
from engrain.domain.records import (
    DECAY_RATES,
    GLOBAL_SCOPE,
    MATURITIES,
    RULE_CONFIDENCE,
    RULE_DECAY_RATE,
    Entity,
    Episode,
    Fact,
    MemoryRecord,
    Rule,
)
from engrain.domain.text.categories import fact_category
from engrain.errors import InvalidInput
from engrain.portability.formats import Guidance, Named, Statement, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.ports import Store
    from engrain.domain.requests import Act

_MOST = 2**63 - 1


@dataclass(kw_only=True)
class TakingOver:
    """One import: who imports, and what of the file is there by now."""

    store: Store
    act: Act
    entities: dict[str, str] = field(default_factory=dict)  # ids by name
    pending: set[str] = field(default_factory=set)  # ids of memories that are stored with the next

    def begin(self, act: Act) -> None:
        """Go on with records that are stored together, after what was stored before."""
        self.act = act
        self.pending.clear()

    def memory(self, record: Turn | Statement | Guidance) -> MemoryRecord:
        """The record as a memory of the importer.

        Raises:
            InvalidInput: a value that no memory can have.
        """
        memory: MemoryRecord
        match record:
            case Turn():
                memory = self._episode(record)
            case Statement():
                memory = self._in_place(self._fact(record))
            case Guidance():
                memory = self._rule(record)
        self.pending.add(memory.id)
        return memory

    def known(self, named: Named) -> tuple[str, bool]:
        """The id of somebody, who is put into the registry if nobody has that name and type, and whether that is new.

        Raises:
            InvalidInput: a name that nobody can have.
        """
        name, kind = checks.name(named.name, name="name"), known_type(named.type)
        there = self._standing(name)
        same = next((each for each in there if (each.canonical_name, each.entity_type) == (name, kind)), None)
        if same is not None:
            self.entities[named.name] = same.id
            return same.id, False
        caller = self.act.caller
        id_ = derived_id(caller.tenant_id, "entity", name, kind, at=None)
        if not self.store.entities(caller, [id_]):
            aliases = checks.names(named.aliases, name="alias")
            entity = Entity(
                id=id_,
                tenant_id=caller.tenant_id,
                canonical_name=name,
                entity_type=kind,
                aliases=aliases,
                created_at=self.act.at,
                updated_at=self.act.at,
                metadata=checks.metadata(named.metadata),
            )
            self.store.put_entity(self.act, entity)
            self.entities[named.name] = id_
            return id_, True
        self.entities[named.name] = id_ if any(each.id == id_ for each in there) else (there[0].id if there else "")
        return id_, False

    def _in_place(self, fact: Fact) -> Fact:
        """A fact as it stands beside what is there: the past of one that was learned later."""
        if fact.validity != "active" or fact.entity_id is not None:
            return fact
        held = self.store.held(self.act.caller, scope=fact.scope, subject=fact.subject, predicate=fact.predicate)
        if held is None or held.id == fact.id or held.created_at <= fact.created_at:
            return fact
        return replace(
            fact,
            validity="superseded",
            invalidated_at=held.created_at,
            valid_to=fact.valid_to or max(held.happened_at, fact.happened_at),
        )

    def _episode(self, turn: Turn) -> Episode:
        caller, kept = self.act.caller, turn.kept
        content = checks.content(turn.content)
        session = checks.optional_name(turn.session, name="session")
        parts = (caller.tenant_id, caller.agent, session or "", turn.source_id, turn.role, content)
        said = {**turn.metadata, **({"title": turn.title} if turn.title else {})}
        tokens = kept.get("tokens")
        return Episode(
            id=self._id(kept, *parts, at=turn.event_time),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=caller.agent,
            session=session,
            role=turn.role,
            speaker=checks.optional_name(turn.speaker, name="speaker"),
            content=content,
            event_time=turn.event_time or self.act.at,
            created_at=self.act.at,
            expires_at=checks.moment(kept.get("expires_at"), name="expires_at"),
            importance=_number(kept, "importance", importance.importance_of(content, role=turn.role), high=10),
            tokens=None if tokens is None else checks.count(tokens, name="tokens", high=_MOST),
            model=checks.optional_name(kept.get("model"), name="model"),
            tool_calls=checks.json_values(kept.get("tool_calls"), name="tool_calls"),
            tags=checks.names(turn.tags, name="tag"),
            metadata=checks.metadata(said),
        )

    def _fact(self, statement: Statement) -> Fact:
        caller, kept = self.act.caller, statement.kept
        subject = caller.agent if statement.subject is None else checks.name(statement.subject, name="subject")
        predicate, content = checks.name(statement.predicate, name="predicate"), checks.content(statement.content)
        permanence = checks.choice(kept.get("permanence", "standard"), DECAY_RATES, name="permanence")
        created_at = min(statement.said_at or self.act.at, self.act.at)
        start, end = statement.valid_from, statement.valid_to
        if start is not None and end is not None and end < start:
            raise InvalidInput(f"valid_to {end.isoformat()} lies before valid_from {start.isoformat()}")
        return Fact(
            id=self._id(
                kept, caller.tenant_id, caller.agent, "statement", subject, statement.source_id, at=statement.said_at
            ),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=_scope(kept, caller.agent, note=statement.subject is None),
            subject=subject,
            predicate=predicate,
            entity_id=None if statement.about is None else self._whom(statement.about),
            content=content,
            category=checks.optional_name(kept.get("category"), name="category") or fact_category(predicate, content),
            source=checks.optional_name(kept.get("source"), name="source"),
            confidence=_number(kept, "confidence", 1.0),
            importance=_number(kept, "importance", importance.importance_of(content), high=10),
            permanence=permanence,
            decay_rate=_number(kept, "decay_rate", DECAY_RATES[permanence], high=1_000),
            validity=checks.validity(kept.get("validity", "active")),
            valid_from=start,
            valid_to=end,
            created_at=created_at,
            invalidated_at=checks.moment(kept.get("invalidated_at"), name="invalidated_at"),
            supersedes_id=self._other(kept.get("supersedes_id")),
            source_episode_id=self._other(kept.get("source_episode_id")),
            last_confirmed_at=statement.confirmed_at or created_at,
            tags=checks.names(statement.tags, name="tag"),
            metadata=checks.metadata(statement.metadata),
        )

    def _rule(self, rule: Guidance) -> Rule:
        caller, kept = self.act.caller, rule.kept
        content = checks.content(rule.content)
        created_at = min(rule.said_at or self.act.at, self.act.at)
        return Rule(
            id=self._id(kept, caller.tenant_id, caller.agent, "guidance", rule.source_id, at=rule.said_at),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=_scope(kept, caller.agent),
            content=content,
            maturity=checks.choice(kept.get("maturity", "candidate"), MATURITIES, name="maturity"),
            confidence=_number(kept, "confidence", RULE_CONFIDENCE),
            permanence=checks.choice(kept.get("permanence", "standard"), DECAY_RATES, name="permanence"),
            decay_rate=_number(kept, "decay_rate", RULE_DECAY_RATE, high=1_000),
            effectiveness_score=_number(kept, "effectiveness_score", 0.0),
            source_episode_id=self._other(kept.get("source_episode_id")),
            created_at=created_at,
            last_confirmed_at=checks.moment(kept.get("last_confirmed_at"), name="last_confirmed_at") or created_at,
            tags=checks.names(rule.tags, name="tag"),
            metadata=checks.metadata(rule.metadata),
            applied_count=_count(kept, "applied_count"),
            success_count=_count(kept, "success_count"),
            harmful_count=_count(kept, "harmful_count"),
            invalidated_at=checks.moment(kept.get("invalidated_at"), name="invalidated_at"),
            last_applied_at=checks.moment(kept.get("last_applied_at"), name="last_applied_at"),
            last_evaluated_at=checks.moment(kept.get("last_evaluated_at"), name="last_evaluated_at"),
        )

    def _id(self, kept: Mapping[str, object], *parts: str, at: datetime | None) -> str:
        """The id of what a record says: of engrain's own the one it had, if it is still there, or one made of that."""
        had = kept.get("id")
        if isinstance(had, str) and is_id(had):
            return self._named(had)
        return derived_id(*parts, at=at)

    def _named(self, had: str) -> str:
        caller = self.act.caller
        if self.store.get(caller, [had]):
            return had
        return derived_id(caller.tenant_id, caller.agent, "imported", had, at=moment_of(had))

    def _other(self, had: object) -> str | None:
        """What a memory of the file refers to, where it is there by now."""
        if not isinstance(had, str) or not is_id(had):
            return None
        id_ = self._named(had)
        return id_ if id_ in self.pending or self.store.get(self.act.caller, [id_]) else None

    def _whom(self, name: str) -> str | None:
        if name not in self.entities:
            there = self._standing(checks.name(name, name="about"))
            self.entities[name] = there[0].id if there else ""
        return self.entities[name] or None

    def _standing(self, name: str) -> list[Entity]:
        """Whom a name names that were not merged, those first of whom it is the canonical one."""
        found = self.store.entities_named(self.act.caller, [name])
        there = [each for each in found if merged_into(each) is None]
        return sorted(there, key=lambda each: (each.canonical_name != name, each.id))


def _scope(kept: Mapping[str, object], agent: str, *, note: bool = False) -> str:
    """The importer's own scope, unless engrain says that it was everybody's."""
    return GLOBAL_SCOPE if kept.get("scope") == GLOBAL_SCOPE and not note else agent


def _number(kept: Mapping[str, Any], name: str, default: float, *, high: float = 1) -> float:
    return default if kept.get(name) is None else checks.number(kept[name], name=name, low=0, high=high)


def _count(kept: Mapping[str, Any], name: str) -> int:
    return checks.count(kept.get(name, 0), name=name, high=_MOST)
