"""Words by language: what is indexed is indexed again where its words have other stems now."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(7, "words by language")
