"""What a monitor and an orchestrator ask: `/healthz`, `/readyz` and `/metrics`.

`/healthz` says that the process answers. `/readyz` says whether to send requests here, by status 200 or 503, and which
check says no; why, and `/metrics`, are for who runs the memory: an admin of its own tenant, which without keys is
everybody on this machine. They use no thread that the verbs use: where all of those wait for a database, these answer
still.
"""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from engrain.engines.deadlines import DeadlineRunner
from engrain.errors import DatabaseUnreachable, EngineUnavailable, EngrainError, Forbidden, MemoryClosed
from engrain.interfaces.access import require
from engrain.interfaces.http.exposition import Exposition

if TYPE_CHECKING:
    from engrain.domain.maintenance.readiness import Readiness
    from engrain.interfaces.access import Gate
    from engrain.service import Memory

_JSON = "application/json"
_AT_ONCE = 4
_Answer = TypeVar("_Answer")


class Operations:
    """The routes of one application."""

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
        """The process is alive."""
        return _said({"status": "alive"}, HTTPStatus.OK)

    async def readyz(self, request: Request) -> Response:
        """Whether requests may be sent here, and to an admin why not."""
        return await self._apart(lambda: self._ready(request))

    async def metrics(self, request: Request) -> Response:
        """The numbers, for an admin."""
        return await self._apart(lambda: self._measured(request))

    async def _apart(self, work: Callable[[], _Answer]) -> _Answer:
        """In one of a few threads that nothing else uses."""
        return await to_thread.run_sync(work, limiter=self._threads)

    def _ready(self, request: Request) -> Response:
        try:
            found = self._memory.readiness()
        except MemoryClosed:
            return _said({"status": "failed", "checks": []}, HTTPStatus.SERVICE_UNAVAILABLE)
        shows_why = found.is_ready and self._runs_it(request)
        status = HTTPStatus.OK if found.is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        return _said(_told(found, shows_why=shows_why), status)

    def _runs_it(self, request: Request) -> bool:
        try:
            self._check(request)
        except EngrainError:
            return False
        return True

    def _measured(self, request: Request) -> Response:
        self._check(request)
        text, media_type = self._exposition.written(request.headers.get("accept", ""))
        return Response(text, media_type=media_type)

    def _check(self, request: Request) -> None:
        """Refuse whoever does not run this memory: the numbers are of every tenant.

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
        if (grant.tenant_id, grant.agent) != (self._memory.settings.tenant, None):
            raise Forbidden("this needs a key of whoever runs the memory: role admin, of its own tenant, for any agent")


def _told(found: "Readiness", *, shows_why: bool) -> dict[str, Any]:
    """A failing database's message names its host, which no stranger is told."""
    document = found.to_dict()
    if not shows_why:
        document["checks"] = [{"name": each.name, "status": each.status} for each in found.checks]
    return document


def _said(document: dict[str, Any], status: HTTPStatus) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(json.dumps(document), status_code=status, media_type=_JSON, headers=headers)
