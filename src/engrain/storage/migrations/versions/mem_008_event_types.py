"""Types of events: an index that leaves out the events of turns."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_008"
down_revision = "mem_007"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "types of events")
