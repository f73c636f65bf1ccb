"""Words of turns stored once, in PostgreSQL: those of their neighbours are joined when they are read."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_016"
down_revision = "mem_015"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "words that are stored once")
