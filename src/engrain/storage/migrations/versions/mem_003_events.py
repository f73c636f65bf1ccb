"""Events, runs and jobs: what was done, by whom, when; and what is left of the erased."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_003"
down_revision = "mem_002"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "events")
