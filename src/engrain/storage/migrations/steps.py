"""Alembic steps of a revision: the upgrade runs its SQL for the database at hand, the downgrade is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import op

from engrain.storage.migrations import for_alembic

if TYPE_CHECKING:
    from collections.abc import Callable


def make_steps(revision: str, subject: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return the upgrade and the downgrade of a revision; a memory is not thrown away by a migration."""

    def upgrade() -> None:
        for statement in for_alembic(op.get_context().dialect.name, revision):
            op.execute(statement)

    def downgrade() -> None:
        raise NotImplementedError(f"engrain's {subject} cannot be undone; delete the database instead")

    return upgrade, downgrade
