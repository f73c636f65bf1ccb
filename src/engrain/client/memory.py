"""Memory of a server: `Memory` and its agents with every verb of the table replaced by a request.

The classes are made from the table: a verb gets the signature and docstring of the method that it replaces, and what is
no verb (settings, engines, health) is refused with a message, as it is about the server's own process.
"""

from __future__ import annotations

import inspect
import os
import threading
from dataclasses import dataclass, replace
from functools import cache, wraps
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from engrain.agent.agent import Agent
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.arguments import parse_agent
from engrain.client.address import parse_address
from engrain.client.answers import decode, parse_answer
from engrain.client.connection import Connection
from engrain.client.hooks import RemoteOutbox
from engrain.client.requests import Request, build_request, check_tenant, identity_headers
from engrain.domain import checks
from engrain.domain.records import Caller
from engrain.errors import DatabaseUnreachable, InvalidInput, NotFound
from engrain.portability.sealed_files import create_file, write_errors
from engrain.service import Memory
from engrain.verbs.signatures import Signature, owner_of, signature
from engrain.verbs.table import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engrain.agent.jobs import Jobs
    from engrain.agent.keys import Keys
    from engrain.agent.wiring.view import View

_DEFAULT_TIMEOUT_S = 60.0
_VIEWS = frozenset({"parts", "keys", "jobs", *(verb.group for verb in VERBS)})
_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True, slots=True)
class RemoteParts:
    """The connection and the outbox that the agents of a server's memory share."""

    connection: Connection
    outbox: RemoteOutbox


def open_remote(location: str, *, key: str | None, timeout_s: float | None) -> RemoteMemory:
    """Open the memory of the server at a URL; `Memory.open` says what the parameters mean.

    Raises:
        InvalidInput: the address or the key is none.
        DatabaseUnreachable, Unauthenticated, Forbidden, RateLimited: the server is not there, or refuses the key.
    """
    limit_s = _DEFAULT_TIMEOUT_S if timeout_s is None else timeout_s
    seconds = checks.number(limit_s, name="timeout_s", low=0.001, high=86_400)
    connection = Connection(parse_address(location), key, timeout_s=seconds)
    try:
        return RemoteMemory(connection, _load_caller(connection))
    except BaseException:
        connection.close()
        raise


def _load_caller(connection: Connection) -> Caller:
    """Ask the server as whom it takes the key, which shows that it is one of ours."""
    document = connection.send(Request(verb="caller", method="GET", path="/v1/caller"), retries=False)
    if not isinstance(document, dict) or "tenant_id" not in document:
        raise DatabaseUnreachable(f"{connection.url} answers, but not as an engrain server does; check the address")
    caller: Caller = decode(Caller, document)
    return caller


def _call(connection: Connection, verb: str, caller: Caller | None, arguments: dict[str, Any]) -> Any:
    """Send a verb and return its answer as the library gives it."""
    described = signature(verb)
    request = build_request(described, caller, arguments)
    if described.verb.sends:
        return _download(connection, described, request, checks.path(arguments["path"], name="path"))
    try:
        answer = parse_answer(described, connection.send(request))
    except NotFound:
        if described.is_optional:
            return None
        raise
    return replace(answer, path=str(request.file)) if request.file is not None else answer


def _download(connection: Connection, described: Signature, request: Request, path: str) -> Any:
    """Write the file that a verb answers with, whole or not at all; return its report."""
    target = Path(path)
    with create_file(target, replaces=described.verb.name == "backup") as stream:

        def receive(pieces: Iterator[bytes]) -> None:
            with write_errors(target):
                stream.seek(0)
                stream.truncate()
            for piece in pieces:
                with write_errors(target):
                    stream.write(piece)

        report = connection.download(request, receive)
    return replace(decode(described.answer, report), path=str(target))


def _sent(verb: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method that sends a verb, with the signature of the library's."""
    own = inspect.unwrap(method)
    parameters = inspect.signature(own)

    @wraps(own)
    def send(self: Any, *args: Any, **named: Any) -> Any:
        arguments = dict(parameters.bind(self, *args, **named).arguments)
        del arguments["self"]
        if not isinstance(self, RemoteMemory):
            left_out = {name for name in parameters.parameters if arguments.get(name) is None}
            arguments |= {name: value for name, value in self._defaults.items() if name in left_out}
        caller: Caller = self.default_caller if isinstance(self, RemoteMemory) else self._caller
        parts: Any = self.parts if isinstance(self, RemoteMemory) else self._parts()
        is_of_memory = "tenant" in parameters.parameters
        if is_of_memory:
            check_tenant(arguments.pop("tenant", None), caller.tenant_id)
        if verb.startswith("hooks."):
            return parts.outbox.call(verb, caller, arguments)
        return _call(parts.connection, verb, None if is_of_memory else caller, arguments)

    return send


def _refused(name: str, member: FunctionType | property) -> Any:
    """Return a member that says that the server alone has it."""

    def refuse(_self: Any, *_: Any, **__: Any) -> NoReturn:
        raise InvalidInput(f"{name} is about the server's own process; HTTP does not offer it: use it there")

    return property(refuse) if isinstance(member, property) else refuse


def _remote(owner: type, group: str | None, name: str) -> Callable[[_Class], _Class]:
    """Decorate a class whose public members, inherited from `owner`, are sent as verbs or refused."""
    verbs = {verb.method_name: verb.name for verb in VERBS if verb.group == group and verb.owner == name}

    def decorate(remote: _Class) -> _Class:
        for label, member in inspect.getmembers_static(owner):
            if label.startswith("_") or label in vars(remote) or label in _VIEWS:
                continue
            if label in verbs:
                setattr(remote, label, _sent(verbs[label], getattr(owner, label)))
            elif isinstance(member, FunctionType | property):
                setattr(remote, label, _refused(label, member))
        return instrument(group or "")(remote)

    return decorate


@cache
def _group(group: str, owner: str) -> type:
    """Return the class of a group of verbs, as `Agent.rules` is one, whose verbs are sent."""
    verb = next(verb for verb in VERBS if verb.group == group)
    local = owner_of(verb)
    return _remote(local, group, owner)(type(f"Remote{local.__name__}", (local,), {"__slots__": ()}))


def _view(group: str) -> property:
    def view(self: View) -> Any:
        return _group(group, "agent")(self._parts, self._caller)

    return property(view, doc=getattr(Agent, group).__doc__)


@_remote(Agent, None, "agent")
class RemoteAgent(Agent):
    """The memory of a server as one agent sees it."""

    __slots__ = ()

    @property
    def caller(self) -> Caller:
        """The tenant, agent, session and request id that every call carries."""
        return self._caller


@_remote(Memory, None, "memory")
class RemoteMemory(Memory):
    """The memory of a server, with one pool of connections. Thread-safe; close it when done."""

    def __init__(self, connection: Connection, caller: Caller) -> None:
        """Made by `open_remote`; `caller` is who the server takes the key for."""
        # `parts` gives it, unless this memory is closed or another process's.
        self._parts: Any = RemoteParts(connection, RemoteOutbox(connection))
        self._process = os.getpid()
        self._changing = threading.Lock()
        self.default_caller = caller

    def agent(
        self,
        name: str | None = None,
        *,
        user: str | None = None,
        session: str | None = None,
        tenant: str | None = None,
        request_id: str | None = None,
        is_user_bound: bool = False,
        may_publish: bool = True,
    ) -> Agent:
        """Return the memory as one agent sees it; without a name, as the agent of the key or of the server.

        Raises:
            InvalidInput: a name is empty, too long or no text that a header can carry, or `is_user_bound` or not
                `may_publish`, and the key is not so bound.
            Forbidden: the key is another tenant's.
        """
        default = self.default_caller
        check_tenant(tenant, default.tenant_id)
        if is_user_bound and not default.is_user_bound:
            raise InvalidInput("is_user_bound needs a key of the user over HTTP: make one by keys.create(user=...)")
        if default.may_publish and not may_publish:
            raise InvalidInput(
                "may_publish=False needs a key of the agent over HTTP: make one by keys.create(agent=...)"
            )
        caller = replace(
            default,
            agent=default.agent if name is None else parse_agent(name),
            user=default.user if user is None else checks.identity(user, name="user"),
            session=checks.optional_name(session, name="session"),
            request_id=checks.optional_name(request_id, name="request_id"),
        )
        identity_headers(caller)  # or the first verb would be the one that is refused
        return RemoteAgent(lambda: self.parts, caller)

    @property
    def keys(self) -> Keys:
        """Access keys: create, rotate, list and revoke them."""
        keys: Keys = _group("keys", "memory")(lambda: self.parts, self.default_caller)
        return keys

    @property
    def jobs(self) -> Jobs:
        """Background jobs: list, run and retry them."""
        jobs: Jobs = _group("jobs", "memory")(self, lambda: self.parts, self.default_caller)
        return jobs

    def close(self, *, flush: bool = True, wait_s: float = 0.0) -> None:  # noqa: ARG002  # of the server's vectors
        """Close the connections; a second call does nothing. The server goes on."""
        if self._is_inherited:
            return
        with self._changing:
            parts, self._parts = self._parts, None
        if parts is not None:
            parts.outbox.close()
            parts.connection.close()


for _name in dict.fromkeys(verb.group for verb in VERBS if verb.owner == "agent" and verb.group is not None):
    setattr(RemoteAgent, _name, _view(_name))
