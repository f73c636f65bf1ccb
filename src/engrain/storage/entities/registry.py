"""Registry of entities as rows: their names and trigrams, and their changes.

Entities are locked in the order of their ids, and before the memories that refer to them: two merges at once, or a
merge and a write of a fact, wait for each other and never in a circle.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.entities.registry import merged_into, new_names
from engrain.domain.records import Entity, Fact
from engrain.domain.text.names import name_key
from engrain.domain.text.similarity import trigrams
from engrain.errors import InvalidInput
from engrain.storage import selection
from engrain.storage.write import updates

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engrain.domain.entities.merges import Conflict
    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import UnitOfWork

# An address is exactly what it is: none is merely like another.
_NEVER_ALIKE = frozenset({"email", "url"})
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def name_keys(entity: Entity) -> list[str]:
    """Return the keys of all names of an entity, sorted; of a tombstone none."""
    if merged_into(entity) is not None:
        return []
    return sorted({name_key(name) for name in (entity.canonical_name, *entity.aliases)} - {""})


def name_trigrams(entity: Entity) -> list[str]:
    """Return the trigrams of its keys, sorted; of addresses none."""
    keys = [] if entity.entity_type in _NEVER_ALIKE else name_keys(entity)
    return sorted({trigram for key in keys for trigram in trigrams(key)})


def count_strays(tx: Transaction) -> int:
    """Count names of entities that are missing or stray; where none is, the difference in trigrams."""
    called: set[tuple[str, str, str]] = set()
    expected = 0
    for tenant_id, id_, canonical_name, entity_type, aliases, metadata in tx.rows("all_names"):
        entity = Entity(
            id=id_,
            canonical_name=canonical_name,
            entity_type=entity_type,
            aliases=tuple(tx.dialect.parsed(aliases)),
            metadata=tx.dialect.parsed(metadata),
            created_at=_ANY_TIME,
            updated_at=_ANY_TIME,
        )
        called |= {(tenant_id, id_, key) for key in name_keys(entity)}
        expected += len(name_trigrams(entity))
    strangers = len(called.symmetric_difference(map(tuple, tx.rows("names_of_all"))))
    [(there,)] = tx.rows("count_trigrams")
    return strangers or abs(int(there) - expected)


def lock_entities(
    tx: Transaction, tenant_id: str, ids: Collection[str], *, lock: str | None = None
) -> dict[str, Entity]:
    """Load and lock entities that the tenant knows, by id: nobody merges them until the end of the transaction."""
    if not ids:
        return {}
    found = tx.load(
        tx.statements.records.entities,
        "FROM entities WHERE tenant_id = :tenant_id AND id IN :ids "
        f"ORDER BY id {tx.dialect.hold if lock is None else lock}",
        {"tenant_id": tenant_id, "ids": tx.dialect.listed(sorted(set(ids)))},
    )
    return {entity.id: entity for entity in found}


def known_to(entities: Iterable[Entity], user: str | None) -> list[Entity]:
    """Return those entities that a memory may refer to: of the tenant's registry, and of its user's."""
    return [entity for entity in entities if entity.user_id in {"", user}]


def check_unmerged(
    ids: Iterable[str], entities: Mapping[str, Entity], *, of: str | None = None, what: str = "entity"
) -> None:
    """Check that memories of a user, or of none, may refer to entities.

    Raises:
        InvalidInput: one is unknown, or was merged into another.
    """
    known = {entity.id: entity for entity in known_to(entities.values(), of)}
    for id_ in sorted(ids):
        if id_ not in known:
            raise InvalidInput(f"{what} {id_!r} does not exist; create the entity first")
        into = merged_into(known[id_])
        if into is not None:
            raise InvalidInput(f"{what} {id_!r} was merged into {into}; use {into}")


def check_own(work: UnitOfWork, entities: Iterable[Entity]) -> None:
    """Check that entities are in the registry that the caller changes: its user's, or without a user the tenant's.

    Raises:
        InvalidInput: one is in another registry; of another user's it says no more than of an unknown one.
        Forbidden: as `check_publishing`, of the tenant's registry.
    """
    for entity in entities:
        if entity.user_id == "" != work.user_id:
            raise InvalidInput(
                f"entity {entity.id} is everybody's, and this agent acts for user {work.user_id!r}: "
                "change it without a user"
            )
        if entity.user_id != work.user_id:
            raise InvalidInput(f"entity {entity.id!r} does not exist; create the entity first")
        updates.check_publishing(work.act.caller, entity.scope, "the registry of entities")


def put_entity(work: UnitOfWork, entity: Entity) -> Entity:
    """Add an entity to the registry of the tenant or of the caller's user, with one name and type.

    Raises:
        InvalidInput: the id, or the name with this type, is taken, or it is of another tenant.
    """
    if entity.tenant_id != work.tenant_id:
        raise InvalidInput(f"entity {entity.id} is of another tenant than its caller; nothing was written")
    check_own(work, [entity])
    _check_free(work, entity, id_=entity.id)
    work.add(work.statements.records.entities, "entities", entity)
    change_names(work, entity)
    work.record(events.entity_created(work.act, entity, work.ids))
    return entity


def change_entity(
    work: UnitOfWork,
    id_: str,
    *,
    canonical_name: str | None = None,
    aliases: Sequence[str] | None = None,
    also: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Entity | None:
    """Replace the name and all aliases, merge the metadata; None leaves a part. None where there is no such entity.

    `also` is added to the aliases that it has by then (`entities.registry.new_names`): concurrent calls each add their
    own. A call without any change writes nothing.

    Raises:
        InvalidInput: the name is taken with this type, or the entity was merged; nothing was written.
    """
    # What refers to an entity need not wait for another alias of it, and may add one itself.
    lock = work.dialect.lock if canonical_name is None else work.dialect.lock_whole
    before = lock_known(work, [id_], lock).get(id_)
    if before is None:
        return None
    check_own(work, [before])
    check_unmerged([id_], {id_: before}, of=before.user_id)
    name = before.canonical_name if canonical_name is None else canonical_name
    names = before.aliases if aliases is None else tuple(aliases)
    new = new_names((name, *names), also)
    if also and not new and canonical_name is None and aliases is None and metadata is None:
        return before
    after = replace(
        before,
        canonical_name=name,
        aliases=(*names, *new),
        metadata={**before.metadata, **(metadata or {})},
        updated_at=work.act.at,
    )
    if after.canonical_name != before.canonical_name:
        _check_free(work, after)
    write_entity(work, after, before)
    work.record(events.entity_updated(work.act, before, after, work.ids))
    return after


def lock_known(work: UnitOfWork, ids: Collection[str], lock: str) -> dict[str, Entity]:
    """Load and lock entities of the tenant's registry and of the caller's user, by id; another user's are unknown."""
    found = lock_entities(work, work.tenant_id, ids, lock=lock)
    return {entity.id: entity for entity in known_to(found.values(), work.user_id)}


def lock_facts_about(tx: Transaction, tenant_id: str, entity_ids: Collection[str]) -> dict[str, tuple[int, Fact]]:
    """Load and lock the facts about some entities, whoever sees them, in the order of their ids."""
    bound = {"tenant_id": tenant_id, "entities": tx.dialect.listed(entity_ids)}
    about, order = "tenant_id = :tenant_id AND entity_id IN :entities", f"ORDER BY id {tx.dialect.lock}"
    found = selection.select_facts(tx, about, bound, order=order, by="INDEXED BY facts_entity")
    return {fact.id: (doc, fact) for doc, fact in found}


def supersede_loser(work: UnitOfWork, doc: int, conflict: Conflict) -> bool:
    """Supersede the loser of a slot, and tell whether the two were not linked so before."""
    updates.close(work, doc, conflict.loser, conflict.winner)
    return updates.connect_superseded(work, conflict.winner, conflict.loser)


def load_merges(tx: Transaction, tenant_id: str, target_id: str) -> list[Mapping[str, Any]]:
    """Load the payloads of the merges into an entity and of their reversals, whoever sees them; no erased ones."""
    types = tx.dialect.listed(["entity_merge", "entity_unmerge"])
    rows = tx.rows("payloads_of", tenant_id=tenant_id, id=target_id, types=types)
    return [parsed for (payload,) in rows if (parsed := tx.dialect.parsed(payload))]


def _check_free(tx: Transaction, entity: Entity, *, id_: str = "") -> None:
    """Check that nobody else has the name with this type, or the id."""
    taken = tx.one(
        "has_entity_name",
        tenant_id=entity.tenant_id,
        id=id_,
        canonical_name=entity.canonical_name,
        entity_type=entity.entity_type,
        user_id=entity.user_id,
    )
    if taken is not None:
        name = f"{entity.entity_type} {entity.canonical_name!r}"
        raise InvalidInput(f"the {name} exists already, as entity {taken[0]}; use that one or another name")


def write_entity(tx: Transaction, entity: Entity, before: Entity) -> None:
    """An entity's row as it is now, and what it is found by."""
    rows = tx.statements.records.entities
    values = dict(zip(rows.names, rows.values(entity), strict=True))
    names = ("canonical_name", "aliases", "mention_count", "metadata", "updated_at")
    tx.run("change_entity", tenant_id=entity.tenant_id, id=entity.id, **{name: values[name] for name in names})
    change_names(tx, entity, before=before)


def remove_row(tx: Transaction, entity: Entity) -> None:
    """Remove the row of an entity, its names and the mentions of it."""
    change_names(tx, None, before=entity)
    tx.run("drop_mentions_of", tenant_id=entity.tenant_id, entity_id=entity.id)
    tx.run("remove_entity", tenant_id=entity.tenant_id, id=entity.id)


def change_names(tx: Transaction, entity: Entity | None, *, before: Entity | None = None) -> None:
    """Update the name keys and trigrams of an entity that was added, changed or removed."""
    either = entity or before
    assert either is not None
    named = {"tenant_id": either.tenant_id, "entity_id": either.id}
    for what, of, drop, add in (
        ("name", name_keys, "drop_entity_name", "add_entity_name"),
        ("trigram", name_trigrams, "drop_entity_trigram", "add_entity_trigram"),
    ):
        old, new = set() if before is None else set(of(before)), set() if entity is None else set(of(entity))
        for verb, changed in ((drop, old - new), (add, new - old)):
            if changed:
                owned = named if verb == drop else {**named, "user_id": either.user_id}
                tx.run_each(verb, [{**owned, what: text} for text in sorted(changed)])
