"""A memory as an MCP server: its tools, and what a fault of theirs looks like outside."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, InputRequiredResult, TextContent
from pydantic import ValidationError

from engrain import __version__
from engrain.errors import EngrainError, InvalidInput
from engrain.interfaces import logs
from engrain.interfaces.mcp.identity import Identity, asking, on_behalf, speaking, within
from engrain.interfaces.mcp.json_schemas import plain
from engrain.interfaces.mcp.offers import Offer
from engrain.interfaces.mcp.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from engrain.service import Memory

Identify: TypeAlias = Callable[[ServerRequestContext[Any, Any]], Identity]


class MemoryServer(MCPServer[Any]):
    """The tools of one profile; `identify` says on whose behalf each message is answered."""

    def __init__(self, profile: Profile, identify: Identify, *, tell: Callable[[EngrainError], str] = str) -> None:
        """`tell` says what a client may hear of a fault."""
        tools = [_tool(offer) for offer in profile.offers]
        super().__init__(
            "engrain",
            instructions=profile.instructions,
            version=__version__,
            tools=tools,
            log_level="WARNING",
            middleware=[self._on_behalf],
        )
        self._identify = identify
        self._tell = tell
        self._offers = {offer.name: offer for offer in profile.offers}
        self._parameters = {each.name: frozenset(each.parameters["properties"]) for each in tools}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call one tool; what is refused, or fails on purpose, is a result that says so by its code.

        Raises:
            ToolError: there is no such tool, or it failed as nobody foresaw.
        """
        offer = self._offers.get(name)
        try:
            if offer is not None:
                asking().require(offer.needs, name)
                arguments = self._known(offer, arguments)
            return await super().call_tool(name, arguments, context)
        except EngrainError as fault:
            return self._fault(fault)
        except ToolError as error:
            match error.__cause__:
                case EngrainError() as cause:
                    return self._fault(cause)
                case ValidationError() as refused if not isinstance(error, UnexpectedToolError):
                    return self._fault(InvalidInput(f"{name}: {_refusals(refused)}"))
                case _:
                    raise

    async def _on_behalf(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one message on behalf of whoever sent it."""
        try:
            who = within(self._identify(ctx), (ctx.params or {}).get("_meta"))
        except EngrainError as fault:
            raise MCPError(code=INVALID_PARAMS, message=f"{fault.code}: {self._tell(fault)}") from fault
        with speaking(who):
            return await call_next(ctx)

    def _known(self, offer: Offer, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments that a tool has.

        Raises:
            InvalidInput: there are others, and the tool does not pass them over.
        """
        known = self._parameters[offer.name]
        unknown = sorted(set(arguments) - known)
        if unknown and not offer.ignores_unknown:
            takes = ", ".join(sorted(known)) or "nothing"
            raise InvalidInput(f"{offer.name} takes no {', '.join(unknown):.200}; it takes {takes}")
        return {name: value for name, value in arguments.items() if name in known}

    def _fault(self, fault: EngrainError) -> CallToolResult:
        """What a client is told of a fault: the code and the message, for a model and for a program."""
        message = self._tell(fault)
        return CallToolResult(
            content=[TextContent(type="text", text=f"{fault.code}: {message}")],
            structured_content={"error": {"code": fault.code, "message": message}},
            is_error=True,
        )


def server_of(memory: "Memory", profile: str) -> MemoryServer:
    """The server of a profile, for the tenant and agent of the memory's settings."""
    caller = memory.agent().caller
    who = Identity(memory=memory, tenant=caller.tenant_id, agent_name=caller.agent)
    return MemoryServer(PROFILES[profile], lambda _: who)


def serve_stdio(memory: "Memory", profile: str) -> None:
    """Speak the protocol on stdin and stdout until the client closes its end; what is logged goes to stderr."""
    # A host that reads no stderr has its pipe filled by many lines, and this process would wait for it.
    logs.configure(memory.settings.logging, level="warning")
    server_of(memory, profile).run("stdio")


def _tool(offer: Offer) -> Tool:
    tool = Tool.from_function(
        on_behalf(offer.call),
        title=offer.title,
        description=_told(offer),
        annotations=offer.effect,
        structured_output=True,
    )
    tool.parameters = plain(tool.parameters)
    tool.fn_metadata.output_schema = plain(tool.fn_metadata.output_schema)
    return tool


def _told(offer: Offer) -> str:
    return " ".join((offer.call.__doc__ or "").split())


def _refusals(refused: ValidationError) -> str:
    """Which arguments are wrong, and how; not what they said."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in refused.errors())
