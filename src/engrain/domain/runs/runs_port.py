"""The part of the Store port that lets workers learn: claims with leases, what comes of one carried out whole, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from engrain.domain.filters import Place
    from engrain.domain.records import Caller, Fact
    from engrain.domain.requests import Act
    from engrain.domain.runs.plans import ActionResult, Plan
    from engrain.domain.runs.runs import AgentBacklog, Batch, Claim, PendingSession, Retry, Run, RunKind, UndoResult


class Runs(Protocol):
    """Runs of an agent: at most one of each kind is running, whoever works for it.

    An episode is claimed by the run that is running, and by no other: it waits (`pending`), is claimed, and ends as
    `consolidated`, `failed` or `dead_letter`, or waits again. Nothing but `undo` brings it back from there. An episode
    that has run out is not waiting. Episodes are those that the agent itself stored, in the scopes its caller sees.

    A run is named by its id, which its worker alone has: a run that somebody took over is `abandoned`, and nothing can
    be done in its name any more. Its events (`run_started`, `run_done`, `run_failed`, `run_abandoned`, `run_undone`)
    are in the scope of the agent, and every event of what was done in a run carries its id.
    """

    def backlogs(self, now: datetime, *, tenant_id: str | None = None) -> list[AgentBacklog]:
        """Whose episodes can be claimed now, by tenant, then agent: of one tenant, or of every one (housekeeping).

        Without those whose consolidation is running under a lease that is not over.
        """

    def pending_sessions(self, caller: Caller, now: datetime, *, exclude: Collection[str] = ()) -> list[PendingSession]:
        """The caller's sessions in which an episode waits, if only for a retry, by when first seen, then name."""

    def is_session_consolidated(self, caller: Caller, session: str, now: datetime) -> bool:
        """Whether the session is known and no episode of the caller's in it waits."""

    def claim(self, act: Act, claim: Claim) -> Batch | None:
        """Begin a run; None where one of this kind is running for the agent, or nothing is due.

        A run whose lease is over is `abandoned`: nothing of it was written. Each episode it had claimed and that still
        waits has one attempt more behind it, WORKER_GONE in `last_consolidation_error`, and stands as
        `runs.after_loss` says of the claim's `retry` (`episode_consolidation_failed`). What waits may be claimed
        anew at once.

        A consolidation claims the oldest episodes (created_at, id) that wait, whose `next_consolidation_retry_at` has
        come: at most `limit`, all with as many attempts behind them as the oldest, so that one that fails again and
        again takes no fresh ones with it. Other kinds claim no episodes and are never out of work.

        Raises:
            InvalidInput: the limit or the lease is not positive.
        """

    def renew(self, act: Act, run_id: str, lease_s: float) -> bool:
        """Let the lease last `lease_s` from now; False where the run is not running any more."""

    def carry_out(self, act: Act, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
        """Do what a plan says, all in one transaction; what came of each action, in order.

        None, and nothing was written, where the run is not running any more. An action that fails leaves nothing of
        itself, says why in its Done, and stops no other. In the order of the plan:

        A new fact or rule is put as `put` puts it, and linked `derived_from` each of its sources with weight 1, which
        `link_created` tells of; sources are any memories the caller sees. An id that is there already adds nothing and
        is no error, unless an undo took that memory back: then it is put under a new id, which its Done names. An
        update also closes its target, a live fact the caller sees, wherever that stands. A confirmation confirms its
        target as `confirm` does. Each of the doubts, where it is still live, is worth DOUBTED_CONFIDENCE at most from
        now on (`fact_doubted`) and linked `supersedes` from the new fact.

        Then each episode of the plan that this run has claimed and that still waits is `consolidated`
        (`episode_consolidated`; other ids are ignored), a session without any that waits has its `consolidated_at`,
        and the run is `done` with its report. What the run claimed and the plan does not name waits on.
        """

    def doubt(self, act: Act, id_: str, by_id: str) -> Fact | None:
        """Let one fact cast doubt on another, as the doubts of a plan do; the doubted one as it is now.

        None where the caller does not see both. One that is no longer active stays as it is, and a second call lowers
        and links nothing.

        Raises:
            InvalidInput: one of them is no fact, or both are one; nothing was written.
        """

    def give_up(self, act: Act, run_id: str, error: str, retry: Retry) -> Run | None:
        """End a run as `failed`; None where it is not running any more.

        Each episode it has claimed and that still waits has one attempt more behind it and the error in
        `last_consolidation_error`, and stands as `runs.after_failure` says (`episode_consolidation_failed`).
        """

    def runs(
        self, caller: Caller, *, kind: RunKind | None = None, limit: int = 50, after: Place | None = None
    ) -> list[Run]:
        """The runs of the caller's agent, newest first (then the larger id), after the place of one of them."""

    def undo(self, act: Act, run_id: str) -> UndoResult:
        """Take back all that a run did, from its events, in one transaction; each reversal has an event of its own.

        What it added is retracted or forgotten (`fact_taken_back`, `rule_taken_back`): out of the searches, readable by
        id. What that superseded is believed again and searched (`fact_restored`); confirmations
        (`fact_confirmation_undone`, `rule_confirmation_undone`) and confidences (`fact_doubt_undone`) are what they
        were; its links are gone (`link_removed`); its episodes wait again with their old attempts (`episode_reopened`),
        and so do their sessions. The run is `undone`.

        Changes made since are kept, with what depends on them, and `UndoResult.kept` says why: a new fact or rule that
        was confirmed, marked, superseded or forgotten since, a fact whose slot another one has taken, one that was
        confirmed or doubted again, an episode that is no longer there.

        Raises:
            NotFound: the agent has no such run.
            InvalidInput: it is running, was abandoned and had claimed nothing, or is undone already; or it wrote to a
                scope the caller does not see. Nothing was written.
        """
