"""Tenants on several servers: no sequences, and references that may be checked at the end of a transaction."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_010"
down_revision = "mem_009"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "tenants on several servers")
