"""Keyword index of large namespaces alone."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(13, "keyword index of large namespaces")
