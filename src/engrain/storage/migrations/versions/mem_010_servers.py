"""Tenants on several servers: no sequences, and references that may be checked at the end of a transaction."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(10, "tenants on several servers")
