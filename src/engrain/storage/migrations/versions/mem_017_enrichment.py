"""Enrichment without indexes of its own: a nightly job reads what it has not read along the time of a scope."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(17, "fewer indexes")
