"""Items: exact JSON objects by namespace and key."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(9, "items")
