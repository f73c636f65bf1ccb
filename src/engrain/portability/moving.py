"""What a row of a backup says where it is restored: the same of the same agent, under new ids of another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engrain.domain.ids import derived_id, moment_of
from engrain.domain.maintenance.backups import Extent
from engrain.errors import UnusableBackup

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.maintenance.backups import Row

_ID_LENGTH = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """From whom to whom."""

    source: Extent
    target: Extent

    @property
    def is_same(self) -> bool:
        """Whether everything stays what it is."""
        return self.source == self.target

    def tenant(self, tenant: str) -> str:
        """The tenant of what was of this one."""
        return self.target.tenant_id or tenant

    def agent(self, agent: str) -> str:
        """The agent of what was this one's."""
        return self.target.agent if self.target.agent is not None and agent == self.source.agent else agent

    def id(self, id_: str, *, scope: str | None) -> str:
        """The id of what had this one: the same for all that the two share, otherwise the same at every repeat.

        Within a tenant `global` is shared, so what an agent wrote there stays the very same memory.
        """
        stays = self.source.tenant_id == self.target.tenant_id and (
            self.source.agent == self.target.agent or scope != self.source.agent
        )
        if stays:
            return id_
        whose = (self.target.tenant_id or "", self.target.agent or "")
        return derived_id("restored", *whose, id_, at=moment_of(id_))

    def owned(self, row: Row) -> dict[str, Any]:
        """The row as the target's: tenant, scope and agent; a note of the agent is one of the other agent."""
        said = {**row, "tenant_id": self.tenant(row["tenant_id"])}
        if self.source.agent == self.target.agent:
            return said
        is_own = row.get("scope") == self.source.agent
        for column in ("scope", "agent"):
            if column in row:
                said[column] = self.agent(row[column])
        if is_own and "subject" in row:
            said["subject"] = self.agent(row["subject"])
        return said


def move(source: Extent, *, tenant: str | None, agent: str | None, here: str) -> Move:
    """Where a backup goes that is restored by somebody of the tenant `here`, who may name another tenant or agent.

    Raises:
        UnusableBackup: it is another tenant's and no tenant is named, or more than one agent's or tenant's.
    """
    if source.tenant_id is None:
        if tenant is not None or agent is not None:
            raise UnusableBackup(
                "this is a backup of a whole database, every tenant of it: name no tenant and no agent"
            )
        return Move(source=source, target=source)
    if source.agent is None and agent is not None:
        raise UnusableBackup(f"this is a backup of all agents of tenant {source.tenant_id}: name no agent")
    if tenant is None and source.tenant_id != here:
        raise UnusableBackup(
            f"this is a backup of tenant {source.tenant_id}, and you are in tenant {here}: "
            f"name the tenant to restore it to, {here} or {source.tenant_id} (--tenant)"
        )
    target = Extent(tenant_id=tenant or here, agent=agent or source.agent)
    return Move(source=source, target=target)


def renamed(value: Any, target: Callable[[str], str | None]) -> Any:
    """JSON in which every text that is the id of something restored is what that became."""
    match value:
        case str() if len(value) == _ID_LENGTH:
            return target(value) or value
        case list():
            return [renamed(each, target) for each in value]
        case dict():
            return {key: renamed(each, target) for key, each in value.items()}
        case _:
            return value
