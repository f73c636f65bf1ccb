"""Identity of a call: tenant, agent and role, which no argument can change."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema

from engrain.domain.access.keys import Grant, Role, allows
from engrain.domain.records import DEFAULT_TENANT
from engrain.errors import Forbidden, InvalidInput

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.service import Memory


class RequestContext(BaseModel):
    """The request that a call belongs to, as the host describes it; other fields are ignored."""

    model_config = ConfigDict(extra="allow", frozen=True)

    request_id: str | None = None  # comes back in the answer, and stands in the events
    session_id: str | None = None  # the conversation that is going on


# The instructions of a profile describe it, once for all of its tools: a client reads the schemas in every request.
RequestContextArgument = Annotated[
    RequestContext | None, WithJsonSchema({"type": "object", "description": "The host's."})
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Rights, agent and user of whoever asks: of the server itself on stdio, over HTTP of the key of a request.

    `session` and `request_id` are those of the request; the call's own `request_context` goes before.
    `is_operator`: whether the caller runs the memory, and so may read details of the machine. `project`: the tag of the
    repository that a server on stdio was started in.
    """

    memory: "Memory"
    rights: Grant
    agent_name: str
    user: str | None = None
    is_operator: bool = True
    session: str | None = None
    request_id: str | None = None
    project: str | None = None

    @property
    def tenant(self) -> str:
        return self.rights.tenant_id

    def agent(self, context: RequestContext | None = None, *, session: str | None = None) -> "Agent":
        """Return the memory as the call's agent sees it."""
        context = context or RequestContext()
        return self.memory.agent(
            self.agent_name,
            user=self.user,
            is_user_bound=self.rights.user_id is not None,
            may_publish=self.rights.may_publish(self.memory.settings.server.publishing_role),
            tenant=self.tenant,
            session=session or context.session_id or self.session,
            request_id=context.request_id or self.request_id,
        )

    @property
    def grant(self) -> Grant | None:
        """Rights of the key that asks; None for whoever runs the memory."""
        return None if self.is_operator and not self.rights.is_bound else self.rights

    def require(self, needs: Role, tool: str) -> None:
        """Check that the role allows a tool.

        Raises:
            Forbidden: it does not.
        """
        if not allows(self.rights.role, needs):
            raise Forbidden(f"{tool} needs the role {needs}, and the key has the role {self.rights.role}")

    def require_butler(self, butler: str) -> None:
        """Check that a butler which a tool names is the server's own agent.

        Raises:
            InvalidInput: it is another.
        """
        if butler != self.agent_name:
            message = f"butler {butler!r:.80} is not the agent that this call speaks for, {self.agent_name!r}"
            raise InvalidInput(f"{message}; name that one, or start the server with --agent")

    def require_tenant(self, tenant_id: str) -> None:
        """Check that a tenant which a tool names is the server's own, or "default", which means the same.

        Raises:
            InvalidInput: it is another.
        """
        if tenant_id not in (self.tenant, DEFAULT_TENANT):
            message = f"tenant_id {tenant_id!r:.80} is not the tenant of this server"
            raise InvalidInput(f"{message}; leave it {DEFAULT_TENANT!r}, or start the server with --tenant")


def apply_request_context(identity: Identity, meta: object) -> Identity:
    """Add the `request_context` in a request's `_meta` to an identity.

    Raises:
        InvalidInput: it is no such object.
    """
    value = meta.get("request_context") if isinstance(meta, Mapping) else None
    if value is None:
        return identity
    try:
        context = RequestContext.model_validate(value)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, fault["loc"])) or "it" for fault in error.errors())
        raise InvalidInput(f"_meta.request_context is no request context: {wrong} is wrong") from error
    return replace(
        identity, session=context.session_id or identity.session, request_id=context.request_id or identity.request_id
    )


_Answer = TypeVar("_Answer")
_CURRENT: ContextVar[Identity] = ContextVar("engrain_mcp_identity")


@contextmanager
def act_as(identity: Identity) -> Iterator[None]:
    """Set the identity of all calls inside the block, in this task and the threads it starts."""
    token = _CURRENT.set(identity)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_identity() -> Identity:
    """Return the identity of the current call.

    Raises:
        LookupError: there is none; the call did not come through the server.
    """
    return _CURRENT.get()


def bind_identity(call: Callable[..., _Answer]) -> Callable[..., _Answer]:
    """Return a function without its parameter `identity`, which is the current one at each call."""

    @wraps(call)
    def bound(*args: object, **named: object) -> _Answer:
        return call(current_identity(), *args, **named)

    signature = inspect.signature(call)
    bound.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]  # PEP 362: what signature() answers
    bound.__annotations__ = {name: hint for name, hint in call.__annotations__.items() if name != "identity"}
    del bound.__wrapped__  # whose signature has the parameter
    return bound
