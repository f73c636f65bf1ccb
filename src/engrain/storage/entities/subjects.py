"""Subjects of facts: all names of one subject, by the registry and by what a user is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain.access.scopes import audience_of
from engrain.domain.memories.fact_keys import USER, subject_key
from engrain.domain.text.names import name_key
from engrain.storage.filters import Namesakes, same_slot_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.records import Fact
    from engrain.storage.unit_of_work import Snapshot


class Subject(NamedTuple):
    """Subject of a fact in the caller's words, with the id of its entity if the caller gave one."""

    name: str
    entity_id: str | None = None


def find_namesakes(snapshot: Snapshot, subjects: Iterable[Subject]) -> dict[Subject, Namesakes]:
    """Find the other names of subjects, in two statements for all, or three.

    A name stands for an entity where no other entity has it. The user's name is the caller's, and what
    an active fact in the agent's scope or for all says: user, name, Ana.
    """
    wanted = list(dict.fromkeys(subjects))
    if not wanted:
        return {}
    spelled = {key for subject in wanted for key in (name_key(subject.name), subject_key(subject.name))}
    ids = {subject.entity_id for subject in wanted if subject.entity_id is not None}
    listed = {"names": snapshot.dialect.listed(sorted(spelled)), "ids": snapshot.dialect.listed(sorted(ids))}
    rows = snapshot.rows("entities_beside", tenant_id=snapshot.tenant_id, users=_users(snapshot), **listed)
    names = {id_: {name_key(name) for name in (name, *snapshot.dialect.parsed(aliases))} for id_, name, aliases in rows}
    shared = _find_shared(snapshot, {name for of_one in names.values() for name in of_one})
    keys = {id_: {subject_key(name) for name in of_one - shared} for id_, of_one in names.items()}
    caller = snapshot.identity
    scopes = snapshot.dialect.listed([caller.shared_scope, caller.own_scope])
    user = {subject_key(caller.user)} if caller.user else set()
    user |= {subject_key(name) for (name,) in snapshot.rows("user_names", tenant_id=snapshot.tenant_id, scopes=scopes)}
    return {subject: _join(subject, user, keys) for subject in wanted}


def _find_shared(snapshot: Snapshot, names: set[str]) -> set[str]:
    """Find those of some names that several entities have."""
    if not names:
        return set()
    listed = snapshot.dialect.listed(sorted(names))
    counted = snapshot.rows("count_bearers", tenant_id=snapshot.tenant_id, users=_users(snapshot), names=listed)
    return {name for name, bearers in counted if bearers > 1}


def _users(snapshot: Snapshot) -> Any:
    """The registries that the caller sees: the tenant's, and its user's."""
    return snapshot.dialect.listed(["", snapshot.user_id])


def _join(subject: Subject, user: set[str], entities: dict[str, set[str]]) -> Namesakes:
    """Put together the names of one subject; `user` has those of the user, `entities` those that one entity has."""
    if subject.entity_id is not None:
        return Namesakes(tuple(sorted(entities.get(subject.entity_id, ()))), (subject.entity_id,))
    keys = {subject_key(subject.name)}
    if keys <= {USER, *user}:
        keys |= {USER, *user}
    ids = {id_ for id_, names in entities.items() if keys & names}
    if len(ids) > 1:
        return Namesakes(tuple(sorted(keys)))
    keys |= {name for id_ in ids for name in entities[id_]}
    return Namesakes(tuple(sorted(keys)), tuple(sorted(ids)))


def find_slot(
    snapshot: Snapshot, fact: Fact, *, where: str = "TRUE", is_any_value: bool = False
) -> tuple[str, dict[str, Any]]:
    """Build a condition over facts, and its bindings: those in the slot of one under all names of its subject.

    A note has one. With `is_any_value` also those of other values, where values stand side by side.
    """
    subject = Subject(fact.subject, fact.entity_id)
    namesakes = Namesakes((subject_key(fact.subject),))
    if fact.subject != audience_of(fact.scope) or fact.entity_id is not None:
        namesakes = find_namesakes(snapshot, [subject])[subject]
    return same_slot_of(fact, namesakes, snapshot.dialect, where=where, is_any_value=is_any_value)


def expand_subjects(snapshot: Snapshot, names: Sequence[str]) -> Namesakes:
    """Return the keys and entity ids of several subjects together."""
    found = find_namesakes(snapshot, [Subject(name) for name in names]).values()
    return Namesakes(
        tuple(sorted({key for one in found for key in one.keys})),
        tuple(sorted({id_ for one in found for id_ in one.entity_ids})),
    )
