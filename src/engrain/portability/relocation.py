"""Relocation of restored rows to another tenant or agent, under new ids; in place they stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import audience_of, user_of, user_scope
from engrain.domain.ids import derived_id, moment_of
from engrain.domain.maintenance.backups import Extent, Row
from engrain.errors import UnusableBackup

if TYPE_CHECKING:
    from collections.abc import Callable


_ID_LENGTH = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    """Relocation of rows from one extent to another."""

    source: Extent
    target: Extent

    @property
    def is_unchanged(self) -> bool:
        """True if source and target are the same, and rows stay as they are."""
        return self.source == self.target

    def tenant(self, tenant: str) -> str:
        """The target of a source tenant."""
        return self.target.tenant_id or tenant

    def agent(self, agent: str) -> str:
        """The target of a source agent."""
        return self.target.agent if self.target.agent is not None and agent == self.source.agent else agent

    def id(self, id_: str, *, scope: str | None) -> str:
        """The target of a source id: the same id for rows that both extents share, otherwise the same at every repeat.

        Within a tenant `global` is shared, so a memory that an agent wrote there keeps its id.
        """
        is_shared = self.source.tenant_id == self.target.tenant_id and (
            self.source.agent == self.target.agent or scope is None or audience_of(scope) != self.source.agent
        )
        if is_shared:
            return id_
        whose = (self.target.tenant_id or "", self.target.agent or "")
        return derived_id("restored", *whose, id_, at=moment_of(id_))

    def move(self, row: Row) -> dict[str, Any]:
        """Set tenant, scope and agent of a row to the target's; a note of the agent becomes one of the other agent."""
        moved = {**row, "tenant_id": self.tenant(row["tenant_id"])}
        if self.source.agent == self.target.agent:
            return moved
        for column in ("agent", "actor"):
            if column in row:
                moved[column] = self.agent(row[column])
        audience = audience_of(row.get("scope", ""))
        is_own = audience == self.source.agent
        if "scope" in row:
            moved["scope"] = user_scope(user_of(row["scope"]), self.agent(audience))
        if is_own and "subject" in row:
            moved["subject"] = self.agent(row["subject"])
        return moved


def plan_relocation(source: Extent, *, tenant: str | None, agent: str | None, here: str) -> Relocation:
    """Plan the restore of a backup by a caller of the tenant `here`, who may name another tenant or agent.

    Raises:
        UnusableBackup: it is another tenant's and no tenant is named, or more than one agent's or tenant's.
    """
    if source.tenant_id is None:
        if tenant is not None or agent is not None:
            raise UnusableBackup(
                "this is a backup of a whole database, every tenant of it: name no tenant and no agent"
            )
        return Relocation(source=source, target=source)
    if source.agent is None and agent is not None:
        raise UnusableBackup(f"this is a backup of all agents of {source}: name no agent")
    if tenant is None and source.tenant_id != here:
        raise UnusableBackup(
            f"this is a backup of tenant {source.tenant_id}, and you are in tenant {here}: "
            f"name the tenant to restore it to, {here} or {source.tenant_id} (--tenant)"
        )
    target = Extent(tenant_id=tenant or here, agent=agent or source.agent, user=source.user)
    return Relocation(source=source, target=target)


def replace_ids(value: Any, target: Callable[[str], str | None]) -> Any:
    """Replace every text in JSON that is a source id by its target id."""
    match value:
        case str() if len(value) == _ID_LENGTH:
            return target(value) or value
        case list():
            return [replace_ids(item, target) for item in value]
        case dict():
            return {key: replace_ids(item, target) for key, item in value.items()}
        case _:
            return value
