"""A memory as an MCP server: its tools, and what a fault of theirs looks like outside."""

import logging
import sys
from types import MethodType
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from pydantic import ValidationError

from engrain import __version__
from engrain.errors import EngrainError, InvalidInput
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.offers import Offer
from engrain.interfaces.mcp.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from engrain.service import Memory


class MemoryServer(MCPServer[Any]):
    """The tools of one profile, for one tenant and agent."""

    def __init__(self, profile: Profile, who: Identity) -> None:
        tools = [_tool(offer, who) for offer in profile.offers]
        super().__init__(
            "engrain",
            instructions=profile.instructions,
            version=__version__,
            tools=tools,
            log_level="WARNING",
        )
        self._parameters = {each.name: frozenset(each.parameters["properties"]) for each in tools}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call one tool; what is refused, or fails on purpose, is a result that says so by its code.

        Raises:
            ToolError: there is no such tool, or it failed as nobody foresaw.
        """
        unknown = sorted(set(arguments) - self._parameters.get(name, frozenset(arguments)))
        if unknown:
            known = ", ".join(sorted(self._parameters[name])) or "nothing"
            return _fault(InvalidInput.code, f"{name} takes no {', '.join(unknown):.200}; it takes {known}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            match error.__cause__:
                case EngrainError() as fault:
                    return _fault(fault.code, str(fault))
                case ValidationError() as refused if not isinstance(error, UnexpectedToolError):
                    return _fault(InvalidInput.code, f"{name}: {_refusals(refused)}")
                case _:
                    raise


def server_of(memory: "Memory", profile: str) -> MemoryServer:
    """The server of a profile, for the tenant and agent of the memory's settings."""
    caller = memory.agent().caller
    return MemoryServer(PROFILES[profile], Identity(memory=memory, tenant=caller.tenant_id, agent_name=caller.agent))


def serve_stdio(memory: "Memory", profile: str) -> None:
    """Speak the protocol on stdin and stdout until the client closes its end; what is logged goes to stderr."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    server_of(memory, profile).run("stdio")


def _tool(offer: Offer, who: Identity) -> Tool:
    tool = Tool.from_function(
        MethodType(offer.call, who), description=_told(offer), annotations=offer.effect, structured_output=True
    )
    tool.parameters = _untitled(tool.parameters)
    tool.fn_metadata.output_schema = _untitled(tool.fn_metadata.output_schema)
    return tool


def _untitled(schema: Any) -> Any:
    """A JSON schema without the titles that say the names again: a third of what a client has to read."""
    match schema:
        case dict():
            return {
                name: _untitled(value)
                for name, value in schema.items()
                if not (name == "title" and isinstance(value, str))
            }
        case list():
            return [_untitled(each) for each in schema]
        case _:
            return schema


def _told(offer: Offer) -> str:
    return " ".join((offer.call.__doc__ or "").split())


def _fault(code: str, message: str) -> CallToolResult:
    """What a client is told of a fault: the code and the message, for a model and for a program."""
    return CallToolResult(
        content=[TextContent(type="text", text=f"{code}: {message}")],
        structured_content={"error": {"code": code, "message": message}},
        is_error=True,
    )


def _refusals(refused: ValidationError) -> str:
    """Which arguments are wrong, and how; not what they said."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in refused.errors())
