"""Logs: exact JSON entries in order, by session."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_006"
down_revision = "mem_005"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "logs")
