"""Keyword index of large namespaces alone."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_013"
down_revision = "mem_012"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "keyword index of large namespaces")
