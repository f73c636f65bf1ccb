"""MCP server of a memory: the tools, resources and prompts of a profile, and the codes of their faults."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from anyio import CancelScope, run, to_thread
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
    EmptyResult,
    GetPromptResult,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import AnyUrl, ValidationError

from engrain import __version__, metrics
from engrain.domain.access.keys import Grant
from engrain.errors import EngrainError, Forbidden, InvalidInput, NotFound
from engrain.interfaces import logs
from engrain.interfaces.mcp.handshake import Opening
from engrain.interfaces.mcp.identity import Identity, act_as, apply_request_context, bind_identity, current_identity
from engrain.interfaces.mcp.instructions import INSTRUCTIONS, SUBSCRIBABLE
from engrain.interfaces.mcp.pipes import open_streams
from engrain.interfaces.mcp.profiles import Profile, profile_of
from engrain.interfaces.mcp.prompts import PROMPTS
from engrain.interfaces.mcp.resources import RESOURCES, proposals
from engrain.interfaces.mcp.schemas import inline_references, simplify_arguments
from engrain.interfaces.mcp.tools import ToolDefinition

if TYPE_CHECKING:
    from engrain.service import Memory

# Nothing in an address is the path of a file: an entity may be called "../x".
_NO_PATHS = ResourceSecurity(reject_path_traversal=False, reject_absolute_paths=False)
Identify: TypeAlias = Callable[[ServerRequestContext[Any, Any]], Identity]


class MemoryServer(MCPServer[Any]):
    """Serves the tools of one profile; `identify` gives the identity of each message.

    A server of one client, on pipes, can tell it of changes: see `take_subscriptions`.
    """

    def __init__(self, profile: Profile, identify: Identify, *, describe: Callable[[EngrainError], str] = str) -> None:
        """Set up the tools; `describe` gives the public message of a fault."""
        tools = [_tool(definition) for definition in profile.tools]
        super().__init__(
            "engrain",
            instructions=INSTRUCTIONS[profile.name],
            version=__version__,
            tools=tools,
            log_level="WARNING",
            middleware=[self._identify_sender],
            subscriptions=False,
            resource_security=_NO_PATHS,
        )
        for resource in (*RESOURCES, *profile.resources):
            self.resource(
                resource.uri,
                name=resource.name,
                title=resource.title,
                description=_description(resource.call),
                mime_type=resource.mime_type,
            )(bind_identity(resource.call))
        for prompt in PROMPTS:
            self.add_prompt(
                Prompt.from_function(
                    bind_identity(prompt.call), title=prompt.title, description=_description(prompt.call)
                )
            )
        self.completion()(self._complete)  # type: ignore[no-untyped-call]  # the SDK does not annotate it
        self._identify = identify
        self._describe = describe
        self._subscribed: set[str] = set()
        self._definitions = {definition.name: definition for definition in profile.tools}
        self._changing = {resource.uri for resource in profile.resources}
        self._parameters = {tool.name: frozenset(tool.parameters["properties"]) for tool in tools}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call one tool; a refusal or an error of ours is a result with its code.

        Raises:
            MCPError: there is no such tool.
            ToolError: it failed unforeseen.
        """
        definition = self._definitions.get(name)
        if definition is None:
            raise self._refusal(NotFound(f"there is no tool {name!r:.80}; tools/list shows those there are"))
        try:
            current_identity().require(definition.needs, name)
            arguments = self._known_arguments(definition, arguments)
            result = await super().call_tool(name, arguments, context)
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
        if self._subscribed and context is not None and not definition.effect.read_only_hint:
            for uri in self._subscribed & self._changing:
                await context.request_context.session.send_resource_updated(uri)
        return result

    def take_subscriptions(self) -> None:
        """Let the client subscribe to the profile's own resources, by the older handshake's requests.

        After each call that may have changed them it is told so, whether they did, as the reference memory server does.
        """
        core = self._lowlevel_server
        core.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        core.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)

    async def _subscribe(self, _: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        self._subscribed.add(params.uri)
        return EmptyResult()

    async def _unsubscribe(self, _: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        self._subscribed.discard(params.uri)
        return EmptyResult()

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read the contents of a resource.

        Raises:
            MCPError: nothing is there, or it cannot be read; with the code of the error.
            ResourceError: it failed unforeseen.
        """
        with self._translate_faults():
            return await super().read_resource(uri, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Make one prompt from the memory.

        Raises:
            MCPError: there is none of that name, an argument is missing, or the memory cannot answer.
        """
        prompt = next((prompt for prompt in await self.list_prompts() if prompt.name == name), None)
        if prompt is None:
            raise self._refusal(NotFound(f"there is no prompt {name!r:.80}"))
        takes = {argument.name: argument.required for argument in prompt.arguments or []}
        missing = [argument for argument, required in takes.items() if required and argument not in (arguments or {})]
        unknown = sorted(set(arguments or {}) - set(takes))
        if missing or unknown:
            message = f"prompt {name} takes {', '.join(takes)}"
            raise self._refusal(
                InvalidInput(f"{message}; {', '.join([*missing, *unknown]):.200} is missing or not known")
            )
        with self._translate_faults():
            return await super().get_prompt(name, arguments, context)

    async def _complete(
        self,
        ref: PromptReference | ResourceTemplateReference,  # noqa: ARG002  # the same argument means the same everywhere
        argument: CompletionArgument,
        context: CompletionContext | None,  # noqa: ARG002  # none of them depends on another
    ) -> Completion:
        with self._translate_faults():
            values = await to_thread.run_sync(proposals, current_identity(), argument.name, argument.value)
        return Completion(values=values, total=None, has_more=None)

    @contextmanager
    def _translate_faults(self) -> Iterator[None]:
        """Turn an error of ours, or one that the SDK has wrapped, into an error of the protocol."""
        try:
            yield
        except (EngrainError, ResourceError, ValueError) as error:
            fault = _fault_behind(error)
            if fault is None:
                raise
            raise self._refusal(fault) from error

    def _refusal(self, fault: EngrainError) -> MCPError:
        """Make an error of the protocol from a fault, where there is no result to carry it."""
        is_bad_request = isinstance(fault, InvalidInput | NotFound)
        message = self._describe(fault)
        data = {"error": {"code": fault.code, "message": message}}
        code = INVALID_PARAMS if is_bad_request else INTERNAL_ERROR
        return MCPError(code=code, message=f"{fault.code}: {message}", data=data)

    async def _identify_sender(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer one message under the identity of its sender."""
        with self._translate_faults():
            identity = apply_request_context(self._identify(ctx), (ctx.params or {}).get("_meta"))
        with act_as(identity):
            return await call_next(ctx)

    def _known_arguments(self, definition: ToolDefinition, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that a tool has.

        Raises:
            InvalidInput: there are others, and the tool does not ignore them.
        """
        known = self._parameters[definition.name]
        unknown = sorted(set(arguments) - known)
        if unknown and not definition.ignores_unknown:
            takes = ", ".join(sorted(known)) or "nothing"
            raise InvalidInput(f"{definition.name} takes no {', '.join(unknown):.200}; it takes {takes}")
        return {name: value for name, value in arguments.items() if name in known}

    def _fault(self, fault: EngrainError) -> CallToolResult:
        """Make the result of a fault: code and message, as text for a model and in `_meta` for a program.

        Never as structured content: clients hold it to the tool's output schema, in errors too, and would show the
        mismatch in place of the fault.
        """
        if isinstance(fault, Forbidden):
            metrics.count("rejected_requests", reason=fault.code)
        message = self._describe(fault)
        return CallToolResult(
            content=[TextContent(type="text", text=f"{fault.code}: {message}")],
            _meta={"error": {"code": fault.code, "message": message}},
            is_error=True,
        )


def make_server(memory: "Memory", profile: str, *, project: str | None = None) -> MemoryServer:
    """Make the server of a profile, for the tenant, agent and user of the memory's settings.

    What its profile `assistant` remembers gets the tag of the `project`.
    """
    caller = memory.agent().caller
    identity = Identity(
        memory=memory,
        rights=Grant(key_id=None, tenant_id=caller.tenant_id, agent=None, user_id=caller.user, role="admin"),
        agent_name=caller.agent,
        user=caller.user,
        project=project,
    )
    server = MemoryServer(profile_of(profile), lambda _: identity)
    if profile in SUBSCRIBABLE:
        server.take_subscriptions()
    return server


def serve_stdio(memory: "Memory", profile: str, opening: Opening, *, project: str | None) -> None:
    """Serve the protocol on stdin and stdout until the client closes its end; logs go to stderr."""
    # A host that reads no stderr has its pipe filled by many lines, and this process would wait for it.
    logs.configure(memory.settings.logging, level="warning")
    run(_serve_streams, make_server(memory, profile, project=project), opening)


async def _serve_streams(server: MemoryServer, opening: Opening) -> None:
    core = server._lowlevel_server  # noqa: SLF001  # the SDK's own run_stdio_async opens streams of its own
    with CancelScope() as serving:
        # asyncio's own handler cancels once, and what just ends swallows it; a scope cancels until all has ended.
        with suppress(NotImplementedError):  # Windows has asyncio's alone
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, serving.cancel)
        async with open_streams(opening) as (reading, writing):
            await core.run(reading, writing, core.create_initialization_options())
    if serving.cancelled_caught:
        raise KeyboardInterrupt


@cache
def _tool(definition: ToolDefinition) -> Tool:
    """Build a tool, once for all servers of a process: the schemas of 80 take 0.2 s."""
    tool = Tool.from_function(
        definition.bind(),
        title=definition.title,
        description=_description(definition.call),
        annotations=definition.effect,
        structured_output=not definition.answers_text,
    )
    tool.parameters = simplify_arguments(tool.parameters)
    tool.fn_metadata.output_schema = inline_references(tool.fn_metadata.output_schema)
    return tool


def _description(call: Callable[..., object]) -> str:
    return " ".join((call.__doc__ or "").split())


def _fault_behind(error: BaseException | None) -> EngrainError | None:
    """Return an error of ours, or the one that the SDK has wrapped; None where there is none."""
    return error if error is None or isinstance(error, EngrainError) else _fault_behind(error.__cause__)


def _refusals(refused: ValidationError) -> str:
    """Name the arguments that are wrong, and the reasons; never quote the values."""
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in refused.errors())
