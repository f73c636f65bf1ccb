"""Retention of a tenant, from the settings."""

from __future__ import annotations

from engrain.config.tree import Settings, TenantCleanup
from engrain.domain.maintenance.retention import Retention


def retention_of(settings: Settings, tenant_id: str, *, max_entries: int | None) -> Retention:
    """Return the retention of a tenant: what was asked for, then its own settings, then the general ones."""
    own = vars(settings.cleanup.tenants.get(tenant_id, TenantCleanup()))
    general = {**vars(settings.cleanup), "event_days": settings.events.keep_days}
    chosen = {name: general[name] if own[name] is None else own[name] for name in TenantCleanup.declared}
    return Retention(
        expired_days=chosen["retention_days"],
        max_entries=chosen["max_entries"] if max_entries is None else max_entries,
        fact_days=chosen["fact_days"],
        event_days=chosen["event_days"],
    )
