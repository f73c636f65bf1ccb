"""Keys of whoever comes over a network."""

from __future__ import annotations

from alembic import op

from engrain.storage.migrations import for_alembic

revision = "mem_006"
down_revision = "mem_005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Run the revision's SQL for the database at hand."""
    for statement in for_alembic(op.get_context().dialect.name, revision):
        op.execute(statement)


def downgrade() -> None:
    """Refused: a memory is not thrown away by a migration."""
    raise NotImplementedError("engrain's keys cannot be undone; delete the database instead")
