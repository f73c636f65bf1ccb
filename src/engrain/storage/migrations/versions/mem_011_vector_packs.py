"""Packs of vectors, for a process that begins to search a file."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_011"
down_revision = "mem_010"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "packs of vectors")
