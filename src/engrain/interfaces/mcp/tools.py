"""Tool definitions: rows of a profile's table with the function behind a tool and its effect on the memory."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from mcp_types import CallToolResult, TextContent, ToolAnnotations

from engrain.domain.access.keys import Role
from engrain.errors import NotFound
from engrain.interfaces.mcp.identity import Identity, RequestContext, RequestContextArgument, bind_identity
from engrain.interfaces.mcp.results import Result

_Answer = TypeVar("_Answer")

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CONFIRMS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
LEARNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)


@dataclass(frozen=True, slots=True, eq=False)
class ToolDefinition:
    """One tool: the function's name and docstring are the tool's, its first parameter is the identity or its agent.

    A tool of an agent takes `request_context` besides its own parameters, and its answer names the request. One that
    answers a text takes it in the request's `_meta` alone, and names the request in the result's.
    """

    call: Callable[..., object]
    effect: ToolAnnotations
    role: Role | None = None  # where the effect does not say which role it needs
    title: str | None = None
    ignores_unknown: bool = False  # whether unknown arguments are ignored, not refused
    answers_text: bool = False  # whether the function returns a text, for a model, in place of a structure

    @property
    def name(self) -> str:
        return self.call.__name__

    @property
    def needs(self) -> Role:
        """The role that calling it needs: that of a reader where it only reads, else of a writer."""
        return self.role or ("reader" if self.effect.read_only_hint else "writer")

    def bind(self) -> Callable[..., object]:
        """Return the function without its first parameter, which the current identity gives at each call."""
        first = next(iter(inspect.signature(self.call).parameters.values()))
        if self.answers_text:
            return bind_identity(_answer_text(self.call))
        return bind_identity(self.call if first.annotation is Identity else _take_request_context(self.call))


def _take_request_context(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool of an agent as a function of an identity, with `request_context` as its last parameter."""

    @wraps(call)
    def tool(identity: Identity, *args: Any, request_context: RequestContext | None = None, **named: Any) -> Any:
        agent = identity.agent(request_context)
        answer = call(agent, *args, **named)
        return answer.for_request(agent) if isinstance(answer, Result) else answer

    signature = inspect.signature(call)
    context = inspect.Parameter(
        "request_context", inspect.Parameter.KEYWORD_ONLY, annotation=RequestContextArgument, default=None
    )
    _, *parameters = signature.parameters.values()
    identity = inspect.Parameter("identity", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Identity)
    tool.__signature__ = signature.replace(parameters=[identity, *parameters, context])  # type: ignore[attr-defined]  # PEP 362
    tool.__annotations__ = {**call.__annotations__, context.name: context.annotation}
    return tool


def _answer_text(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool of an agent, or of an identity, that answers a text as a function of an identity."""
    first, *parameters = inspect.signature(call).parameters.values()

    @wraps(call)
    def tool(identity: Identity, *args: Any, **named: Any) -> CallToolResult:
        agent = identity.agent()
        content = TextContent(
            type="text", text=call(identity if first.annotation is Identity else agent, *args, **named)
        )
        request_id = agent.caller.request_id
        return CallToolResult(content=[content], _meta=None if request_id is None else {"request_id": request_id})

    identity = inspect.Parameter("identity", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Identity)
    tool.__signature__ = inspect.Signature([identity, *parameters])  # type: ignore[attr-defined]  # PEP 362
    tool.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return tool


def catch_not_found(act: Callable[[], _Answer]) -> _Answer | None:
    """Return the answer of an act; None where the act names something that is not there, which is no fault here."""
    try:
        return act()
    except NotFound:
        return None
