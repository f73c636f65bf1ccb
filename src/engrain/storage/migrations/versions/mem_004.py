"""End users: whose memory a row is, beside the tenant and the audience among its agents."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_004"
down_revision = "mem_003"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "users")
