"""Room on pages for new versions of rows."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_012"
down_revision = "mem_011"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "room on pages")
