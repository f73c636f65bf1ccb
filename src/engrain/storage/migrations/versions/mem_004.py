"""End users: whose memory a row is, beside the tenant and the audience among its agents."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(4, "users")
