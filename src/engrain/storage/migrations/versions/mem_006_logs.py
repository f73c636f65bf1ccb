"""Logs: exact JSON entries in order, by session."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(6, "logs")
