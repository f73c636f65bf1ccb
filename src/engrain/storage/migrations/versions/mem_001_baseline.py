"""Episodes, facts and rules, their links, who may see them, and the index of searches."""

from engrain.storage.migrations.steps import make_steps

branch_labels = ("memory",)
revision, down_revision, upgrade, downgrade = make_steps(1, "baseline")
