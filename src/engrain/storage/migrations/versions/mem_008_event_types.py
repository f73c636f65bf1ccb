"""Types of events: an index that leaves out the events of turns."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(8, "types of events")
