"""Room on pages for new versions of rows."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(12, "room on pages")
