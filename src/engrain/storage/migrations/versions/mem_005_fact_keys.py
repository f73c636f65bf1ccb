"""Keys of facts: one slot for all spellings of a subject and a predicate."""

from engrain.storage.migrations.steps import make_steps

revision, down_revision, upgrade, downgrade = make_steps(5, "keys of facts")
