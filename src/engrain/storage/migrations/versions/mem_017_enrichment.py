"""Enrichment without indexes of its own: a nightly job reads what it has not read along the time of a scope."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_017"
down_revision = "mem_016"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "fewer indexes")
