"""Events, runs and jobs: what was done, by whom, when; and what is left of the erased."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(3, "events")
