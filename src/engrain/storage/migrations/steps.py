"""Alembic steps of a revision: the upgrade runs its SQL for the database at hand, the downgrade is refused."""

from __future__ import annotations

from collections.abc import Callable

from alembic import op

from engrain.storage.migrations import REVISIONS, for_alembic

Step = Callable[[], None]


def make_steps(number: int, subject: str) -> tuple[str, str | None, Step, Step]:
    """The revision of a number, the one before it, its upgrade and its downgrade: no migration throws a memory away."""
    revision = REVISIONS[number - 1]

    def upgrade() -> None:
        for statement in for_alembic(op.get_context().dialect.name, revision):
            op.execute(statement)

    def downgrade() -> None:
        raise NotImplementedError(f"engrain's {subject} cannot be undone; delete the database instead")

    return revision, REVISIONS[number - 2] if number > 1 else None, upgrade, downgrade
