"""Episodes, facts and rules, how they hang together, and the index they are found by."""

from __future__ import annotations

from alembic import op

from engrain.storage.migrations import for_alembic

revision = "mem_001"
down_revision = None
branch_labels = ("memory",)
depends_on = None


def upgrade() -> None:
    """Run the revision's SQL for the database at hand."""
    for statement in for_alembic(op.get_context().dialect.name, revision):
        op.execute(statement)


def downgrade() -> None:
    """Refused: a memory is not thrown away by a migration."""
    raise NotImplementedError("engrain's baseline cannot be undone; delete the database instead")
