"""Tools of the profile `all`: one for each row of the table of verbs that is offered as a tool."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from engrain.context.block import ContextBlock
from engrain.errors import NotFound
from engrain.interfaces.access import caller_arguments
from engrain.interfaces.json_arguments import described, field_type, library_value
from engrain.interfaces.mcp.identity import Identity, RequestContext, RequestContextArgument
from engrain.interfaces.mcp.results import Result
from engrain.interfaces.mcp.tools import ToolDefinition
from engrain.interfaces.redaction import redact
from engrain.verbs.signatures import Parameter, Signature, signatures
from engrain.verbs.table import Verb

CONTEXT = "request_context"
_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_JSON_BOUNDS = {"ge": "minimum", "le": "maximum", "max_length": "maxItems"}


class VerbAnswer(Result):
    """The answer of a verb; `found` is false where what the call names is not there."""

    found: bool
    answer: dict[str, Any] | None = Field(
        default=None,
        description="The library's answer as JSON; a list is {items, next}. docs/library.md has the fields.",
    )


def tools() -> tuple[ToolDefinition, ...]:
    """Return the tools of all verbs that are offered, in the order of the table."""
    return tuple(
        ToolDefinition(_tool(signature), _annotations(signature.verb), role=signature.verb.role)
        for signature in signatures()
        if signature.verb.tool
    )


def _annotations(verb: Verb) -> ToolAnnotations:
    """Return hints for a client: whether a tool only reads, may destroy, can be repeated, and asks somebody outside."""
    if verb.effect == "reads":
        return ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=verb.effect in {"replaces", "removes"},
        idempotent_hint=verb.effect == "removes" or verb.is_idempotent,
        open_world_hint=verb.effect == "learns",
    )


def _tool(signature: Signature) -> Callable[..., Any]:
    """Make the function behind a tool; the SDK reads the parameters from its signature."""
    by_json_name = {parameter.json_name: parameter for parameter in _arguments(signature)}

    def call(identity: Identity, **values: Any) -> Any:
        context = values.pop(CONTEXT, None)
        arguments = {by_json_name[name].name: library_value(value) for name, value in values.items()}
        return _answer(signature, identity, context, arguments)

    parameters = [
        inspect.Parameter("who", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Identity),
        *(_declared(parameter) for parameter in by_json_name.values()),
        inspect.Parameter(CONTEXT, _KEYWORD_ONLY, annotation=RequestContextArgument, default=None),
    ]
    returned = Annotated[CallToolResult, VerbAnswer] if signature.answer is ContextBlock else VerbAnswer
    call.__name__ = signature.verb.identifier
    call.__doc__ = signature.summary
    call.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]  # PEP 362
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": returned}
    return call


def _arguments(signature: Signature) -> list[Parameter]:
    """Return the parameters of a tool: those of the verb, without the agent, which the identity gives."""
    return [
        parameter
        for parameter in signature.parameters
        if not (signature.verb.owner == "memory" and parameter.name == "agent")
    ]


def _declared(parameter: Parameter) -> inspect.Parameter:
    """Declare a parameter for the SDK; the library itself checks bounds, and names a wrong value."""
    options = described(parameter.word)
    bounds = {_JSON_BOUNDS[name]: options.pop(name) for name in _JSON_BOUNDS.keys() & options.keys()}
    annotation: Any = Annotated[field_type(parameter), Field(**options, json_schema_extra=bounds or None)]
    default = inspect.Parameter.empty if parameter.is_required else parameter.default
    return inspect.Parameter(parameter.json_name, _KEYWORD_ONLY, annotation=annotation, default=default)


def _answer(signature: Signature, identity: Identity, context: RequestContext | None, arguments: dict[str, Any]) -> Any:
    """Call the verb under an identity; something that is not there is an answer and no fault."""
    agent, name = identity.agent(context), identity.agent_name
    try:
        given = caller_arguments(
            signature, identity.rights, grant=identity.grant, agent=name, extent=name, user=identity.user
        )
        value = signature.bind(identity.memory, agent)(**arguments, **given)
    except NotFound:
        value, is_found = None, False
    else:
        is_found = not (value is None and signature.is_optional)
    json = signature.to_json(value)
    answer = VerbAnswer(
        found=is_found,
        answer=json if identity.is_operator else redact(json),
        request_id=agent.caller.request_id,
    )
    if not isinstance(value, ContextBlock):
        return answer
    return CallToolResult(
        content=[TextContent(type="text", text=value.text)], structured_content=answer.model_dump(mode="json")
    )
