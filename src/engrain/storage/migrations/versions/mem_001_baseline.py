"""Episodes, facts and rules, how they hang together, and the index they are found by."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_001"
down_revision = None
branch_labels = ("memory",)
depends_on = None
upgrade, downgrade = make_steps(revision, "baseline")
