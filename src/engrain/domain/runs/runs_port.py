"""Runs of learning: their part of the Store port. Claims with leases, execution of plans, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from engrain.domain.filters import TimePosition
    from engrain.domain.records import Caller, Fact
    from engrain.domain.requests import Act
    from engrain.domain.runs.plans import ActionResult, Plan
    from engrain.domain.runs.retries import Retry
    from engrain.domain.runs.runs import AgentBacklog, Batch, Claim, PendingSession, Run, RunKind, UndoResult


class Runs(Protocol):
    """Runs of an agent: at most one of a kind is running, whichever worker runs it.

    An episode is claimed by one running run: it waits (`pending`), is claimed, and ends as `consolidated`, `failed` or
    `dead_letter`, or waits again. Only `undo` brings it back from there. An expired episode is not waiting. Episodes
    are those that the agent itself stored, in the scopes its caller sees.

    Only the worker of a run has its id: a run that was taken over is `abandoned`, and its id is good for nothing more.
    The events of a run (`run_started`, `run_done`, `run_failed`, `run_abandoned`, `run_undone`) are in the scope of the
    agent, and every event of a change in a run carries its id.
    """

    def backlogs(self, now: datetime, *, tenant_id: str | None = None) -> list[AgentBacklog]:
        """Agents with due episodes, by tenant, then agent: of one tenant, or of all (maintenance)."""

    def pending_sessions(self, caller: Caller, now: datetime, *, exclude: Collection[str] = ()) -> list[PendingSession]:
        """The caller's sessions with a waiting episode, if only for a retry, by first time seen, then name."""

    def is_session_consolidated(self, caller: Caller, session: str, now: datetime) -> bool:
        """True if the session is known and no episode of the caller in it waits."""

    def claim(self, act: Act, claim: Claim) -> Batch | None:
        """Begin a run; None if one of this kind is running for the agent, or nothing is due.

        A run whose lease is over is `abandoned`: nothing of it was written. Every waiting episode that it had claimed
        gets one attempt more, WORKER_GONE in `last_consolidation_error`, and the status of `runs.after_loss` by the
        claim's `retry` (`episode_consolidation_failed`). Waiting ones may be claimed again at once.

        A consolidation claims the oldest waiting episodes (created_at, id) whose `next_consolidation_retry_at` is past:
        at most `limit`, all with as many attempts as the oldest, so that an episode that fails again and again takes no
        fresh ones with it. Other kinds claim no episodes and are always due.

        Raises:
            InvalidInput: the limit or the lease is not positive.
        """

    def renew(self, act: Act, run_id: str, lease_s: float) -> bool:
        """Extend the lease to `lease_s` from now; False if the run is no longer running."""

    def carry_out(self, act: Act, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
        """Execute a plan in one transaction; returns the result of every action, in order.

        None, and nothing was written, if the run is no longer running. An action that fails writes nothing, has its
        error in its result, and stops no other. In the order of the plan:

        A new fact or rule is stored as by `put`, and linked `derived_from` its sources with weight 1 (`link_created`);
        sources are any memories the caller sees. An id that is there already adds nothing and is no error, unless an
        undo took that memory back: then it is stored under a new id, which its result names. An update also closes its
        target, a live fact the caller sees, in whatever slot. A confirmation is that of `confirm`. Doubted facts that
        are still live have DOUBTED_CONFIDENCE at most from now on (`fact_doubted`), and the new fact is linked
        `supersedes` to them.

        Then the episodes of the plan that this run has claimed and that still wait are `consolidated`
        (`episode_consolidated`; other ids are ignored), a session without waiting episodes has its `consolidated_at`,
        and the run is `done` with its report. Claimed episodes that the plan does not name wait on.
        """

    def doubt(self, act: Act, id_: str, by_id: str) -> Fact | None:
        """Lower the confidence of a fact that another contradicts, as the doubts of a plan; returns it as it is now.

        None if the caller does not see both. A fact that is no longer active stays as it is, and a second call changes
        nothing.

        Raises:
            InvalidInput: one of them is no fact, or both are one; nothing was written.
        """

    def give_up(self, act: Act, run_id: str, error: str, retry: Retry) -> Run | None:
        """End a run as `failed`; None if it is no longer running.

        Every waiting episode that it has claimed gets one attempt more, the error in `last_consolidation_error`, and
        the status of `runs.after_failure` (`episode_consolidation_failed`).
        """

    def runs(
        self, caller: Caller, *, kind: RunKind | None = None, limit: int = 50, after: TimePosition | None = None
    ) -> list[Run]:
        """Runs of the caller's agent, newest first (then the larger id), after the position of one of them."""

    def undo(self, act: Act, run_id: str) -> UndoResult:
        """Undo all changes of a run, by its events, in one transaction; every reversal has an event of its own.

        Added facts are retracted and added rules forgotten (`fact_taken_back`, `rule_taken_back`): out of the searches,
        readable by id. Facts that they superseded are active and searched again (`fact_restored`); confirmations
        (`fact_confirmation_undone`, `rule_confirmation_undone`) and confidences (`fact_doubt_undone`) are as before;
        links are removed (`link_removed`); episodes wait again with their old attempts (`episode_reopened`), and so do
        their sessions. The run is `undone`.

        Changes made since are kept, with what depends on them, and `UndoResult.kept` says why: a new fact or rule that
        was confirmed, marked, superseded or forgotten since, a fact whose slot another one has taken, one that was
        confirmed or doubted again, an episode that is no longer there.

        Raises:
            NotFound: the agent has no such run.
            InvalidInput: it is running, was abandoned and had claimed nothing, or is undone already; or it wrote to a
                scope the caller does not see. Nothing was written.
        """
