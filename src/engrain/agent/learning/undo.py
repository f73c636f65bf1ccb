"""Undo of a run of learning, and whose run it is where a caller without a user has it from a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.agent.wiring.acts import new_act
from engrain.errors import NotFound
from engrain.storage.runs import claims
from engrain.storage.runs.undo import undo_run

if TYPE_CHECKING:
    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller
    from engrain.domain.runs.runs import UndoResult


def undo(parts: Parts, caller: Caller, run_id: str) -> UndoResult:
    """Undo a run of a caller's agent and user in one transaction.

    Raises:
        NotFound: there is no such run. One that learned from a user is for that user to be undone: to a caller without
            a user, which is bound to none, the message says for whom.
        InvalidInput: it is running, was never carried out, or is undone already; nothing was changed.
    """
    try:
        return parts.store.write(new_act(parts, caller), undo_run, run_id)
    except NotFound:
        if caller.user is not None:
            raise
        user = parts.store.inspect(caller.tenant_id, claims.find_user_of_run, caller, run_id)
        if user is None:
            raise
        raise NotFound(
            f"run {run_id} of agent {caller.agent} learned from what user {user!r:.80} said; name the user to undo it: "
            "undo(run_id, user=...), --user, or the header Engrain-User"
        ) from None
    finally:
        parts.note_cache.drop_agent(caller)
