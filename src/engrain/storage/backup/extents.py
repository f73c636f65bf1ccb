"""Conditions for the rows of an extent (an agent, a tenant, all) over a table that is called `kept`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.storage.rows import KIND_TABLES

if TYPE_CHECKING:
    from engrain.domain.maintenance.backups import Extent

_ALL, _NONE = "1 = 1", "1 = 0"


def bindings(extent: Extent) -> dict[str, Any]:
    """Return the values that the conditions are bound to."""
    named = {"tenant_id": extent.tenant_id, "agent": extent.agent}
    return {name: value for name, value in named.items() if value is not None}


def extent_condition(extent: Extent, table: str) -> str:
    """Build the condition for the rows of a table that belong to the extent."""
    tenant = "kept.tenant_id <> ''" if extent.tenant_id is None else "kept.tenant_id = :tenant_id"
    return f"{tenant} AND {_table_condition(extent, table)}"


def own_condition(extent: Extent, row: str) -> str:
    """Build the condition for memories: of an agent those of its scope and those it wrote for all, else every one."""
    if extent.agent is None:
        return _ALL
    return f"({row}.scope = :agent OR ({row}.scope = 'global' AND {row}.agent = :agent))"


def memory_exists(extent: Extent, table: str, column: str, *, row: str = "kept") -> str:
    """Build a condition: the memory that a column names exists and belongs to the extent."""
    return (
        f"EXISTS (SELECT 1 FROM {table} AS memory WHERE memory.tenant_id = {row}.tenant_id "  # noqa: S608  # names of the schema
        f"AND memory.id = {row}.{column} AND {own_condition(extent, 'memory')})"
    )


def memory_of_kind_exists(extent: Extent, kind: str, column: str, *, row: str = "kept") -> str:
    """Build a condition: the memory named by a kind column and an id column exists and belongs to the extent."""
    conditions = (
        f"({row}.{kind} = '{name}' AND {memory_exists(extent, table, column, row=row)})"
        for name, table in KIND_TABLES.items()
    )
    return f"({' OR '.join(conditions)})"


def _table_condition(extent: Extent, table: str) -> str:
    match table:
        case "rule_applications":
            return memory_exists(extent, "rules", "rule_id")
        case "memory_links":
            ends = (("source_kind", "source_id"), ("target_kind", "target_id"))
            return " AND ".join(memory_of_kind_exists(extent, kind, column) for kind, column in ends)
        case "memory_entities":
            return memory_of_kind_exists(extent, "memory_kind", "memory_id")
        case "episodes" | "facts" | "rules":
            return own_condition(extent, "kept")
        case "runs":  # one that goes on is a worker's business
            return "kept.status <> 'running'" + ("" if extent.agent is None else " AND kept.agent = :agent")
        case _:
            return _ALL if extent.agent is None else _agent_condition(extent, table)


def _agent_condition(extent: Extent, table: str) -> str:
    match table:
        case "entities":
            mentions = memory_of_kind_exists(extent, "memory_kind", "memory_id", row="mention")
            return (
                f"(EXISTS (SELECT 1 FROM facts AS fact WHERE fact.tenant_id = kept.tenant_id "  # noqa: S608  # names of the schema
                f"AND fact.entity_id = kept.id AND {own_condition(extent, 'fact')}) "
                f"OR EXISTS (SELECT 1 FROM memory_entities AS mention WHERE mention.tenant_id = kept.tenant_id "
                f"AND mention.entity_id = kept.id AND {mentions}))"
            )
        case "memory_events":
            return "(kept.scope = :agent OR (kept.scope = 'global' AND kept.actor = :agent))"
        case "sessions_consolidations" | "tombstones":
            return "kept.scope = :agent"
        case "memory_metadata" | "pools" | "pool_members":
            return _NONE  # the tenant's
        case _:
            return _ALL  # by the id of their memory
