"""Packs of vectors, for a process that begins to search a file."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(11, "packs of vectors")
