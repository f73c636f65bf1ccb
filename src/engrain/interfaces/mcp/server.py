"""A memory as an MCP server: its tools, and what a fault of theirs looks like outside."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from anyio import to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
)
from pydantic import AnyUrl, ValidationError

from engrain import __version__, metrics
from engrain.errors import EngrainError, Forbidden, InvalidInput, NotFound
from engrain.interfaces import logs
from engrain.interfaces.mcp.identity import Identity, asking, on_behalf, speaking, within
from engrain.interfaces.mcp.json_schemas import plain
from engrain.interfaces.mcp.offers import Offer
from engrain.interfaces.mcp.profiles import Profile, profile_of
from engrain.interfaces.mcp.prompts import PROMPTS
from engrain.interfaces.mcp.resources import ADDRESSES, proposals

if TYPE_CHECKING:
    from engrain.service import Memory

# Nothing in an address is the path of a file: an entity may be called "../x".
_NO_PATHS = ResourceSecurity(reject_path_traversal=False, reject_absolute_paths=False)
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
            subscriptions=False,
            resource_security=_NO_PATHS,
        )
        for each in (*ADDRESSES, *profile.addresses):
            self.resource(
                each.uri, name=each.name, title=each.title, description=_told(each.call), mime_type=each.mime_type
            )(on_behalf(each.call))
        for choice in PROMPTS:
            self.add_prompt(
                Prompt.from_function(on_behalf(choice.call), title=choice.title, description=_told(choice.call))
            )
        self.completion()(self._proposed)  # type: ignore[no-untyped-call]  # the SDK does not annotate it
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

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The contents behind an address.

        Raises:
            MCPError: nothing is there, or it cannot be read; by the code of why.
            ResourceError: it failed as nobody foresaw.
        """
        try:
            return await super().read_resource(uri, context)
        except ResourceError as error:
            fault = _fault_behind(error)
            if fault is None:
                raise
            raise self._refusal(fault) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """One prompt, made of the memory.

        Raises:
            MCPError: there is none of that name, an argument is missing, or the memory cannot answer.
        """
        wanted = next((each for each in await self.list_prompts() if each.name == name), None)
        if wanted is None:
            raise self._refusal(NotFound(f"there is no prompt {name!r:.80}"))
        takes = {each.name: each.required for each in wanted.arguments or []}
        missing = [each for each, required in takes.items() if required and each not in (arguments or {})]
        unknown = sorted(set(arguments or {}) - set(takes))
        if missing or unknown:
            said = f"prompt {name} takes {', '.join(takes)}"
            raise self._refusal(InvalidInput(f"{said}; {', '.join([*missing, *unknown]):.200} is missing or not known"))
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            fault = _fault_behind(error)
            if fault is None:
                raise
            raise self._refusal(fault) from error

    async def _proposed(
        self,
        ref: PromptReference | ResourceTemplateReference,  # noqa: ARG002  # the same argument means the same everywhere
        argument: CompletionArgument,
        context: CompletionContext | None,  # noqa: ARG002  # none of them depends on another
    ) -> Completion:
        """How an argument may go on."""
        try:
            found = await to_thread.run_sync(proposals, asking(), argument.name, argument.value)
        except EngrainError as fault:
            raise self._refusal(fault) from fault
        return Completion(values=found, total=None, has_more=None)

    def _refusal(self, fault: EngrainError) -> MCPError:
        """A fault as an error of the protocol, where there is no result to say it in."""
        is_asked_wrong = isinstance(fault, InvalidInput | NotFound)
        message = self._tell(fault)
        data = {"error": {"code": fault.code, "message": message}}
        code = INVALID_PARAMS if is_asked_wrong else INTERNAL_ERROR
        return MCPError(code=code, message=f"{fault.code}: {message}", data=data)

    async def _on_behalf(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one message on behalf of whoever sent it."""
        try:
            who = within(self._identify(ctx), (ctx.params or {}).get("_meta"))
        except EngrainError as fault:
            raise self._refusal(fault) from fault
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
        if isinstance(fault, Forbidden):
            metrics.count("rejected_requests", reason=fault.code)
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
    return MemoryServer(profile_of(profile), lambda _: who)


def serve_stdio(memory: "Memory", profile: str) -> None:
    """Speak the protocol on stdin and stdout until the client closes its end; what is logged goes to stderr."""
    # A host that reads no stderr has its pipe filled by many lines, and this process would wait for it.
    logs.configure(memory.settings.logging, level="warning")
    server_of(memory, profile).run("stdio")


@cache
def _tool(offer: Offer) -> Tool:
    """Build the tool of an offer, once for all servers of a process: the schemas of 80 take 0.2 s."""
    tool = Tool.from_function(
        on_behalf(offer.call),
        title=offer.title,
        description=_told(offer.call),
        annotations=offer.effect,
        structured_output=True,
    )
    tool.parameters = plain(tool.parameters)
    tool.fn_metadata.output_schema = plain(tool.fn_metadata.output_schema)
    return tool


def _told(call: Callable[..., object]) -> str:
    return " ".join((call.__doc__ or "").split())


def _fault_behind(error: BaseException) -> EngrainError | None:
    """The error of ours that the SDK has wrapped; None where there is none."""
    cause = error.__cause__
    return cause if cause is None or isinstance(cause, EngrainError) else _fault_behind(cause)


def _refusals(refused: ValidationError) -> str:
    """Which arguments are wrong, and how; not what they said."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in refused.errors())
