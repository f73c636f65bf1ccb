"""On whose behalf a server speaks, which no argument of a tool can change."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from engrain.domain.records import DEFAULT_TENANT
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.agent import Agent
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
    """Tenant and agent of a server, fixed when it starts."""

    memory: "Memory"
    tenant: str
    agent_name: str

    def agent(self, context: RequestContext | None = None, *, session: str | None = None) -> "Agent":
        """The memory as the server's agent sees it, for one call."""
        said = context or RequestContext()
        return self.memory.agent(
            self.agent_name,
            tenant=self.tenant,
            session=said.session_id if session is None else session,
            request_id=said.request_id,
        )

    def require_butler(self, butler: str) -> None:
        """A butler that a tool names is the server's own agent.

        Raises:
            InvalidInput: it is another.
        """
        if butler != self.agent_name:
            said = f"butler {butler!r:.80} is not the agent of this server, {self.agent_name!r}"
            raise InvalidInput(f"{said}; name that one, or start the server with --agent")

    def require_tenant(self, tenant_id: str) -> None:
        """A tenant that a tool names is the server's own, which "default" means as well.

        Raises:
            InvalidInput: it is another.
        """
        if tenant_id not in (self.tenant, DEFAULT_TENANT):
            said = f"tenant_id {tenant_id!r:.80} is not the tenant of this server"
            raise InvalidInput(f"{said}; leave it {DEFAULT_TENANT!r}, or start the server with --tenant")
