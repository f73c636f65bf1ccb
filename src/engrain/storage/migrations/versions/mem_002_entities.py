"""Entities: the people and things that facts are about."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(2, "entities")
