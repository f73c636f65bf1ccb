"""Episodes, facts, and the index they are found by."""

from __future__ import annotations

from alembic import op

from engrain.storage.migrations import statements

revision = "mem_001"
down_revision = None
branch_labels = ("memory",)
depends_on = None


def upgrade() -> None:
    """Run the baseline's SQL for the database at hand."""
    for statement in statements(op.get_context().dialect.name, revision):  # type: ignore[arg-type]  # those we support
        op.execute(statement)


def downgrade() -> None:
    """Refused: a memory is not thrown away by a migration."""
    raise NotImplementedError("engrain's baseline cannot be undone; delete the database instead")
