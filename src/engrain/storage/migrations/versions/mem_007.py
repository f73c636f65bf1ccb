"""Words by language: what is indexed is indexed again where its words have other stems now."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_007"
down_revision = "mem_006"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "words by language")
