"""Vectors in half precision, in a graph where they are many."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_015"
down_revision = "mem_014"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "vectors in half precision")
