"""Indexes of what statistics count."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(14, "indexes of statistics")
