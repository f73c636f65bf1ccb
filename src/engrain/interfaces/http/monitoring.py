"""Monitoring routes: `/healthz`, `/readyz` and `/metrics`.

`/healthz` says that the process answers. `/readyz` says by status 200 or 503 whether to send requests here, and names
the checks that failed; their messages, and `/metrics`, are for the operator: an admin of the memory's own tenant, which
is whoever shows the token of a loopback server, and everybody where nothing is asked for. These routes use no thread
that the verbs use: where all of those wait for a database, these still answer.
"""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from engrain.engines.deadlines import DeadlineRunner
from engrain.errors import DatabaseUnreachable, EngineUnavailable, EngrainError, Forbidden, MemoryClosed
from engrain.interfaces.access import Gate, require
from engrain.interfaces.http.exposition import Exposition

if TYPE_CHECKING:
    from engrain.service import Memory

_AT_ONCE = 4
_Answer = TypeVar("_Answer")


class Monitoring:
    """Monitoring routes of one application."""

    def __init__(self, memory: "Memory", gate: "Gate") -> None:
        self._memory = memory
        self._gate = gate
        self._exposition = Exposition(memory)
        self._threads = CapacityLimiter(_AT_ONCE)
        self._admission = DeadlineRunner("the database", thread_name="engrain-admission", max_overdue=_AT_ONCE)
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/healthz", self.healthz, response_model=None)
        self.router.add_api_route("/readyz", self.readyz, response_model=None)
        self.router.add_api_route("/metrics", self.metrics, response_model=None)

    async def healthz(self) -> Response:
        """Answer that the process is alive."""
        return _json({"status": "alive"}, HTTPStatus.OK)

    async def readyz(self, request: Request) -> Response:
        """Answer whether requests may be sent here, and to an admin why not."""
        return await self._run(lambda: self._answer_readiness(request))

    async def metrics(self, request: Request) -> Response:
        """Answer with the metrics, for an admin."""
        return await self._run(lambda: self._answer_metrics(request))

    async def _run(self, work: Callable[[], _Answer]) -> _Answer:
        """Run some work in one of a few threads that nothing else uses."""
        return await to_thread.run_sync(work, limiter=self._threads)

    def _answer_readiness(self, request: Request) -> Response:
        try:
            readiness = self._memory.readiness()
        except MemoryClosed:
            return _json({"status": "failed", "checks": []}, HTTPStatus.SERVICE_UNAVAILABLE)
        document = readiness.to_dict()
        if not (readiness.is_ready and self._is_operator(request)):  # a failing database's message names its host
            document["checks"] = [{"name": check.name, "status": check.status} for check in readiness.checks]
        return _json(document, HTTPStatus.OK if readiness.is_ready else HTTPStatus.SERVICE_UNAVAILABLE)

    def _is_operator(self, request: Request) -> bool:
        try:
            self._check(request)
        except EngrainError:
            return False
        return True

    def _answer_metrics(self, request: Request) -> Response:
        self._check(request)
        text, media_type = self._exposition.encode(request.headers.get("accept", ""))
        return Response(text, media_type=media_type)

    def _check(self, request: Request) -> None:
        """Refuse everybody but the operator: the metrics are of every tenant.

        Raises:
            Unauthenticated, RateLimited: as the gate says.
            Forbidden: the key is no admin's of the settings' tenant.
            DatabaseUnreachable: the gate does not say in time.
        """
        shown, address = request.headers.get("authorization"), request.client and request.client.host
        timeout_s = self._memory.settings.monitoring.timeout_s
        try:
            grant = self._admission.run(lambda: self._gate.admit(shown, address=address), timeout_s)
        except EngineUnavailable as late:
            raise DatabaseUnreachable(str(late)) from late
        require(grant, "admin")
        if (grant.tenant_id, grant.agent, grant.user_id) != (self._memory.settings.tenant, None, None):
            raise Forbidden("this needs a key of whoever runs the memory: role admin, of its own tenant, for any agent")


def _json(document: dict[str, Any], status: HTTPStatus) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(json.dumps(document), status_code=status, media_type="application/json", headers=headers)
