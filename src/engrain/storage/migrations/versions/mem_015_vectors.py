"""Vectors in half precision, in a graph where they are many."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(15, "vectors in half precision")
