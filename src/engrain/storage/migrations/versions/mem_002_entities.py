"""Entities: the people and things that facts are about."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_002"
down_revision = "mem_001"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "entities")
