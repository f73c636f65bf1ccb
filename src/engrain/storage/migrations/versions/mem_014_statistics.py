"""Indexes of what statistics count."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_014"
down_revision = "mem_013"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "indexes of statistics")
