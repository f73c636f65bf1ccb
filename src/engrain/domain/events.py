"""Events: the audit records of changes, one for every memory, link or entity that changed.

Functions are named by the type of event, and return events to be written in the transaction of the change.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE, pool_scope, user_scope
from engrain.domain.records import EmbeddingVersion, Entity, Episode, Event, Fact, Link, MemoryRecord, Rule, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from datetime import datetime

    from engrain.domain.access.keys import AccessKey
    from engrain.domain.items import WrittenItem
    from engrain.domain.logs import LogAddress
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.maintenance.erasure import ErasureProof
    from engrain.domain.maintenance.retention import Removal
    from engrain.domain.memories.decay import AgingKind, Standing
    from engrain.domain.requests import Act
    from engrain.domain.rules.maturity import Outcome
    from engrain.domain.runs.runs import Run, Setback


EPISODE_CREATED = "episode_created"  # most events are
EVENTS_REMOVED = "events_removed"
EXTENT_ERASED = ("user_erased", "agent_erased", "tenant_erased")
KEPT_TYPES = frozenset(
    {"memory_erased", *EXTENT_ERASED, "entity_merge", "entity_unmerge", "fact_taken_back", "rule_taken_back"}
)
"""Types of events that stay at any age: proofs of erasure, and what a restore, an unmerge or a new learning reads."""


def memory_created(
    act: Act, memory: MemoryRecord, ids: Callable[[], str], *, original: MemoryRecord | None = None
) -> Event:
    """A memory was stored, perhaps with a period that ends before its `original` one. Its content is not in it."""
    payload = creation_payload(memory)
    if isinstance(memory, Fact) and isinstance(original, Fact) and memory.valid_to != original.valid_to:
        payload["valid_to"] = [format_time(original.valid_to), format_time(memory.valid_to)]
    return memory_event(act, f"{memory.kind}_created", memory, ids, payload=payload)


def creation_payload(memory: MemoryRecord) -> dict[str, Any]:
    """Payload of `memory_created`."""
    match memory:
        case Episode():
            return {"session": memory.session}
        case Fact():
            named = {"subject": memory.subject, "predicate": memory.predicate}
            return {**named, "supersedes_id": memory.supersedes_id}
        case Rule():
            return {"maturity": memory.maturity}


def fact_superseded(act: Act, before: Fact, new: Fact, ids: Callable[[], str], *, end: datetime) -> Event:
    """A newer fact superseded another, whose period has an end since then."""
    payload = {"superseded_by": new.id, "valid_to": [format_time(before.valid_to), format_time(end)]}
    return memory_event(act, "fact_superseded", before, ids, payload=payload)


def fact_period_changed(act: Act, before: Fact, ids: Callable[[], str], *, end: datetime | None, by: Fact) -> Event:
    """The period of a fact ends where another of its slot will begin, or has no end again."""
    payload = {"valid_to": [format_time(before.valid_to), format_time(end)], "by": by.id}
    return memory_event(act, "fact_period_changed", before, ids, payload=payload)


def memory_confirmed(act: Act, before: Fact | Rule, ids: Callable[[], str], *, accepts: bool = False) -> Event:
    """A caller confirmed a fact or a rule, which may have been fading, or been trusted less."""
    changed: dict[str, Any] = {"last_confirmed_at": [format_time(before.last_confirmed_at), format_time(act.at)]}
    if before.metadata.get("status") == "fading":
        changed["standing"] = ["fading", "active"]
    if accepts and before.trust != "user":
        changed["trust"] = [before.trust, "user"]
    return memory_event(act, f"{before.kind}_confirmed", before, ids, payload=changed)


def memory_forgotten(act: Act, before: MemoryRecord, ids: Callable[[], str]) -> Event:
    """A memory was forgotten: `episode_forgotten`, `fact_retracted` or `rule_forgotten`."""
    match before:
        case Episode():
            ends = act.at if before.is_live(act.at) else before.expires_at
            changed = {"expires_at": [format_time(before.expires_at), format_time(ends)]}
            return memory_event(act, "episode_forgotten", before, ids, payload=changed)
        case Fact():
            return memory_event(
                act, "fact_retracted", before, ids, payload={"validity": [before.validity, "retracted"]}
            )
        case Rule():
            return memory_event(act, "rule_forgotten", before, ids, payload={"forgotten": [before.is_forgotten, True]})


def standing_changed(kind: AgingKind, before: Standing, to: Standing) -> tuple[str, dict[str, Any]]:
    """Type and payload of a change by time alone: `fact_fading`, `fact_active`, `fact_expired`, and those of rules."""
    return f"{kind}_{to}", {"standing": [before, to]}


def rule_marked(act: Act, before: Rule, after: Rule, ids: Callable[[], str], *, outcome: Outcome) -> Event:
    """A caller reported the outcome of a rule: `rule_marked_helpful` or `rule_marked_harmful`.

    Reasons stay in the rule and its applications.
    """
    payload = {
        "effectiveness_score": [before.effectiveness_score, after.effectiveness_score],
        "maturity": [before.maturity, after.maturity],
        "applied_count": after.applied_count,
        "success_count": after.success_count,
        "harmful_count": after.harmful_count,
    }
    return memory_event(act, f"rule_marked_{outcome}", before, ids, payload=payload)


def rule_inverted(act: Act, before: Rule, ids: Callable[[], str]) -> Event:
    """A rule became a warning of itself."""
    return memory_event(act, "rule_inverted", before, ids, payload={"maturity": [before.maturity, "anti_pattern"]})


def episode_cleaned(act: Act, episode: Episode, why: Removal, ids: Callable[[], str]) -> Event:
    """A cleanup removed an episode because it had expired (`expired`), or because of the limit (`capacity`)."""
    return memory_event(act, "episode_cleaned", episode, ids, payload={"reason": why, "session": episode.session})


def extent_erased(act: Act, extent: Extent, proof: ErasureProof, ids: Callable[[], str]) -> Event:
    """All of a user, an agent or a tenant was erased: how much of it, and the hash of the proof.

    `user_erased`, `agent_erased` or `tenant_erased`, in the scope whose memories went; `global` is all of the tenant.
    """
    event_type = "user_erased" if extent.user else "agent_erased" if extent.agent else "tenant_erased"
    scope = user_scope(extent.user, extent.agent or GLOBAL_SCOPE)
    payload = {"rows": proof.rows, "sha256": proof.sha256}
    return make_event(act, event_type, ids, scope=scope, memory_id=None, payload=payload)


def events_removed(act: Act, before: datetime, ids: Callable[[], str]) -> Event:
    """The events of the tenant before a time were removed by their age; every agent sees this one."""
    payload = {"before": format_time(before)}
    return make_event(act, EVENTS_REMOVED, ids, scope=GLOBAL_SCOPE, memory_id=None, payload=payload)


def memory_erased(
    act: Act, memory: MemoryRecord, ids: Callable[[], str], *, digest: str = "", origin: str | None = None
) -> Event:
    """A memory was erased, or one that was derived from `origin`; only a digest of it is left."""
    payload = {"kind": memory.kind, "digest": digest or digest_memory(memory)}
    if origin is not None:
        payload["derived_from"] = origin
    return memory_event(act, "memory_erased", memory, ids, payload=payload)


def log_changed(act: Act, event_type: str, address: LogAddress, ids: Callable[[], str], *, entries: int) -> Event:
    """Entries of a log were appended, popped or deleted: how many, of which session."""
    payload = {**address._asdict(), "entries": entries}
    return make_event(act, event_type, ids, scope=act.caller.own_scope, memory_id=None, payload=payload)


def items_changed(act: Act, event_type: str, items: Collection[WrittenItem], ids: Callable[[], str]) -> Event:
    """Items were put or deleted: how many; of one alone, which."""
    named: dict[str, Any] = {}
    if len(items) == 1:
        [item] = items
        named = {"namespace": list(item.namespace), "key": item.key}
    return make_event(
        act, event_type, ids, scope=act.caller.own_scope, memory_id=None, payload={**named, "items": len(items)}
    )


def link_created(act: Act, link: Link, ids: Callable[[], str], *, ends: Collection[MemoryRecord]) -> Event:
    """A link was added; the event is visible only to agents that see both of its `ends`."""
    narrow = {memory.scope for memory in ends} - {GLOBAL_SCOPE}
    scope = act.caller.own_scope if len(narrow) > 1 else next(iter(narrow), GLOBAL_SCOPE)
    payload = {"target_id": link.target_id, "relation": link.relation, "weight": link.weight}
    return make_event(act, "link_created", ids, scope=scope, memory_id=link.source_id, payload=payload)


def entity_created(act: Act, entity: Entity, ids: Callable[[], str]) -> Event:
    """An entity was added to the registry of the tenant, or of a user."""
    payload = {"canonical_name": entity.canonical_name, "entity_type": entity.entity_type}
    return make_event(act, "entity_created", ids, scope=entity.scope, memory_id=entity.id, payload=payload)


def entity_updated(act: Act, before: Entity, after: Entity, ids: Callable[[], str]) -> Event:
    """Names or metadata of an entity changed; of metadata the event has only the keys."""
    changed: dict[str, Any] = {}
    if after.canonical_name != before.canonical_name:
        changed["canonical_name"] = [before.canonical_name, after.canonical_name]
    if after.aliases != before.aliases:
        changed["aliases"] = [list(before.aliases), list(after.aliases)]
    keys = [key for key, value in after.metadata.items() if key not in before.metadata or before.metadata[key] != value]
    payload = {**changed, "metadata": sorted(keys)}
    return registry_event(act, "entity_updated", payload, ids, entity_id=after.id, scope=after.scope)


def entity_removed(act: Act, entity: Entity, facts: Iterable[Fact], ids: Callable[[], str]) -> list[Event]:
    """An entity was removed: one event for the tenant, and one in every scope with facts about it."""
    identity = {"canonical_name": entity.canonical_name, "entity_type": entity.entity_type}
    about: dict[str, list[str]] = {entity.scope: []}
    for fact in facts:
        about.setdefault(fact.scope, []).append(fact.id)
    return [
        registry_event(
            act, "entity_removed", {**identity, "facts": sorted(about[scope])}, ids, entity_id=entity.id, scope=scope
        )
        for scope in sorted(about)
    ]


def registry_event(
    act: Act,
    event_type: str,
    payload: Mapping[str, Any],
    ids: Callable[[], str],
    *,
    entity_id: str,
    scope: str,
) -> Event:
    """An event of an entity, in one scope."""
    return make_event(act, event_type, ids, scope=scope, memory_id=entity_id, payload=payload)


def fact_doubted(act: Act, before: Fact, after: Fact, ids: Callable[[], str], *, by: Fact, linked: bool) -> Event:
    """A newer fact contradicts one in another slot; `linked` if this added a link between them."""
    payload = {"confidence": [before.confidence, after.confidence], "by": by.id, "linked": linked}
    return memory_event(act, "fact_doubted", before, ids, payload=payload)


def run_changed(act: Act, run: Run, ids: Callable[[], str], *, payload: Mapping[str, Any]) -> Event:
    """A run changed its status: `run_started`, `run_done`, `run_failed`, `run_abandoned` or `run_undone`."""
    status = "started" if run.status == "running" else run.status
    act = replace(act, run_id=run.id)
    return make_event(
        act, f"run_{status}", ids, scope=user_scope(run.user_id or None, run.agent), memory_id=run.id, payload=payload
    )


def episode_consolidated(act: Act, before: Episode, ids: Callable[[], str]) -> Event:
    """An episode was consolidated."""
    payload = {"status": [before.consolidation_status, "consolidated"]}
    return memory_event(act, "episode_consolidated", before, ids, payload=payload)


def consolidation_failed(act: Act, before: Episode, after: Setback, ids: Callable[[], str], *, error: str) -> Event:
    """The consolidation of an episode failed."""
    payload = {
        "status": [before.consolidation_status, after.status],
        "attempts": [before.consolidation_attempts, after.attempts],
        "retry_at": [format_time(before.next_consolidation_retry_at), format_time(after.retry_at)],
        "error": [before.last_consolidation_error, error],
    }
    return memory_event(act, "episode_consolidation_failed", before, ids, payload=payload)


def link_removed(act: Act, creation: Event, ids: Callable[[], str]) -> Event:
    """The link of an earlier `link_created` was removed."""
    payload = creation.payload
    return make_event(act, "link_removed", ids, scope=creation.scope, memory_id=creation.memory_id, payload=payload)


def fact_restored(act: Act, before: Fact, after: Fact, ids: Callable[[], str]) -> Event:
    """A fact that a merge of entities had superseded is active again."""
    changed: dict[str, Any] = {"validity": [before.validity, after.validity]}
    if before.valid_to != after.valid_to:
        changed["valid_to"] = [format_time(before.valid_to), format_time(after.valid_to)]
    return memory_event(act, "fact_restored", before, ids, payload=changed)


def memory_enriched(act: Act, memory: MemoryRecord, ids: Callable[[], str]) -> Event:
    """A memory was searched for names again."""
    return memory_event(act, "memory_enriched", memory, ids, payload={"enriched_at": format_time(act.at)})


def entities_mentioned(act: Act, memory: MemoryRecord, entity_ids: Collection[str], ids: Callable[[], str]) -> Event:
    """Mentions were added to a memory; only new ones."""
    return memory_event(act, "entities_mentioned", memory, ids, payload={"entity_ids": sorted(entity_ids)})


def pool_changed(act: Act, event_type: str, pool: str, ids: Callable[[], str], *, members: Collection[str]) -> Event:
    """A pool was created or deleted, or a member joined or left; visible to its members."""
    payload = {"pool": pool, "members": sorted(members)}
    return make_event(act, event_type, ids, scope=pool_scope(pool), memory_id=None, payload=payload)


def key_changed(act: Act, event_type: str, key: AccessKey, ids: Callable[[], str]) -> Event:
    """A key was created, rotated or revoked; visible to the agent it acts for. Without its secret and the digest."""
    payload = {"role": key.role, "agent": key.agent, "user_id": key.user_id, "expires_at": format_time(key.expires_at)}
    return make_event(
        act,
        event_type,
        ids,
        scope=user_scope(key.user_id, key.agent or GLOBAL_SCOPE),
        memory_id=key.id,
        payload=payload,
    )


def embeddings_switched(act: Act, version: EmbeddingVersion, ids: Callable[[], str]) -> Event:
    """Searches now use the vectors of another embedder."""
    payload = {"version": version.version, "name": version.name, "dims": version.dims}
    return make_event(act, "embeddings_switched", ids, scope=GLOBAL_SCOPE, memory_id=None, payload=payload)


def memory_event(
    act: Act, event_type: str, memory: MemoryRecord, ids: Callable[[], str], *, payload: Mapping[str, Any]
) -> Event:
    """An event of a memory."""
    return make_event(act, event_type, ids, scope=memory.scope, memory_id=memory.id, payload=payload)


def digest_memory(memory: MemoryRecord) -> str:
    """SHA-256 of the whole record, hexadecimal: proves to an owner of a copy what was there."""
    text = json.dumps(memory.to_dict(), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def make_event(
    act: Act,
    event_type: str,
    ids: Callable[[], str],
    *,
    scope: str,
    memory_id: str | None,
    payload: Mapping[str, Any],
) -> Event:
    """An event of an act."""
    return Event(
        id=ids(),
        tenant_id=act.caller.tenant_id,
        event_type=event_type,
        scope=scope,
        actor=act.caller.agent,
        request_id=act.caller.request_id,
        memory_id=memory_id,
        run_id=act.run_id,
        payload=payload,
        created_at=act.at,
    )
