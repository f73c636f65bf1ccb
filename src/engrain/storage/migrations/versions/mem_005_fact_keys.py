"""Keys of facts: one slot for all spellings of a subject and a predicate."""

from engrain.storage.migrations.steps import make_steps

revision = "mem_005"
down_revision = "mem_004"
branch_labels = None
depends_on = None
upgrade, downgrade = make_steps(revision, "keys of facts")
