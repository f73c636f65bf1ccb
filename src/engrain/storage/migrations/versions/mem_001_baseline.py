"""Episodes, facts and rules, their links, who may see them, and the index of searches."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_001"
down_revision = None
branch_labels = ("memory",)
depends_on = None
upgrade, downgrade = make_steps(revision, "baseline")
