"""Words of turns stored once, in PostgreSQL: those of their neighbours are joined when they are read."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(16, "words that are stored once")
