"""Pools that agents share, and the jobs that keep a memory tidy."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_004"
down_revision = "mem_003"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "pools and jobs")
