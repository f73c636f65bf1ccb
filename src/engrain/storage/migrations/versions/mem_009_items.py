"""Items: exact JSON objects by namespace and key."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_009"
down_revision = "mem_008"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "items")
