"""On whose behalf a call is done, which no argument of it can change."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engrain.domain.access.keys import Role, allows
from engrain.domain.records import DEFAULT_TENANT
from engrain.errors import Forbidden, InvalidInput

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.service import Memory


class RequestContext(BaseModel):
    """What a host says of the request that a call belongs to; nothing else in it is looked at."""

    model_config = ConfigDict(extra="allow", frozen=True)

    request_id: str | None = Field(default=None, description="Comes back in the answer, and stands in the events.")
    session_id: str | None = Field(default=None, description="Conversation that is going on.")


RequestContextArgument = Annotated[
    RequestContext | None, Field(description="The request this call belongs to, as the host knows it.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Tenant, agent and role of whoever asks: of the server itself on stdio, of the key that a request shows over HTTP.

    `session` and `request_id` are what the request says around its call; what the call itself says goes before.
    `runs_it`: whether it is whoever runs the memory, and so may hear of the machine.
    """

    memory: "Memory"
    tenant: str
    agent_name: str
    role: Role = "admin"
    is_bound: bool = False  # whether it speaks for this agent alone, whatever its role
    runs_it: bool = True
    session: str | None = None
    request_id: str | None = None

    def agent(self, context: RequestContext | None = None, *, session: str | None = None) -> "Agent":
        """The memory as the agent sees it that the call speaks for."""
        said = context or RequestContext()
        return self.memory.agent(
            self.agent_name,
            tenant=self.tenant,
            session=session or said.session_id or self.session,
            request_id=said.request_id or self.request_id,
        )

    @property
    def whole_tenant(self) -> str:
        """The tenant, for what is done to all of it.

        Raises:
            Forbidden: the key speaks for one agent alone.
        """
        if self.is_bound:
            raise Forbidden(f"this is for the whole tenant, and the key speaks for the agent {self.agent_name!r:.80}")
        return self.tenant

    def require(self, needs: Role, what: str) -> None:
        """Whether the role allows something.

        Raises:
            Forbidden: it does not.
        """
        if not allows(self.role, needs):
            raise Forbidden(f"{what} needs the role {needs}, and the key has the role {self.role}")

    def require_butler(self, butler: str) -> None:
        """A butler that a tool names is the server's own agent.

        Raises:
            InvalidInput: it is another.
        """
        if butler != self.agent_name:
            said = f"butler {butler!r:.80} is not the agent that this call speaks for, {self.agent_name!r}"
            raise InvalidInput(f"{said}; name that one, or start the server with --agent")

    def require_tenant(self, tenant_id: str) -> None:
        """A tenant that a tool names is the server's own, which "default" means as well.

        Raises:
            InvalidInput: it is another.
        """
        if tenant_id not in (self.tenant, DEFAULT_TENANT):
            said = f"tenant_id {tenant_id!r:.80} is not the tenant of this server"
            raise InvalidInput(f"{said}; leave it {DEFAULT_TENANT!r}, or start the server with --tenant")


def within(who: Identity, meta: object) -> Identity:
    """Who asks, with what the request's `_meta` says in `request_context`.

    Raises:
        InvalidInput: it is no such object.
    """
    said = meta.get("request_context") if isinstance(meta, Mapping) else None
    if said is None:
        return who
    try:
        context = RequestContext.model_validate(said)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, each["loc"])) or "it" for each in error.errors())
        raise InvalidInput(f"_meta.request_context is no request context: {wrong} is wrong") from error
    return replace(who, session=context.session_id or who.session, request_id=context.request_id or who.request_id)


_Done = TypeVar("_Done")
_ASKING: ContextVar[Identity] = ContextVar("asking")


@contextmanager
def speaking(who: Identity) -> Iterator[None]:
    """Let whatever is called inside, in this task and the threads it starts, be done on somebody's behalf."""
    token = _ASKING.set(who)
    try:
        yield
    finally:
        _ASKING.reset(token)


def asking() -> Identity:
    """Whoever asks just now.

    Raises:
        LookupError: nobody does; a call came past the server's own door.
    """
    return _ASKING.get()


def on_behalf(call: Callable[..., _Done]) -> Callable[..., _Done]:
    """A function of somebody, as a function without that parameter: whoever asks when it is called."""

    @wraps(call)
    def called(*args: object, **named: object) -> _Done:
        return call(asking(), *args, **named)

    whole = inspect.signature(call)
    called.__signature__ = whole.replace(parameters=list(whole.parameters.values())[1:])  # type: ignore[attr-defined]  # PEP 362: what signature() answers
    called.__annotations__ = {name: each for name, each in call.__annotations__.items() if name != "who"}
    del called.__wrapped__  # whose signature has the parameter
    return called
