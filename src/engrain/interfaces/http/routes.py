"""Routes: one for each row of the table of verbs, with its parameters, role and answer."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import cache, partial
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import AfterValidator
from starlette.concurrency import run_in_threadpool

from engrain.agent.agent import Agent
from engrain.domain import checks
from engrain.domain.records import Entity, Episode, Fact, Rule
from engrain.errors import Forbidden, InvalidInput, NotFound
from engrain.interfaces.access import caller_arguments
from engrain.interfaces.http import answers, files
from engrain.interfaces.http.openapi.schemas import answer_type, reference, summary_of
from engrain.interfaces.http.problems import Refused
from engrain.interfaces.http.request_identity import (
    AGENT,
    SESSION,
    USER,
    AdmittedCaller,
    Identified,
    RequestIdentity,
    decode_header,
    identify,
)
from engrain.interfaces.json_arguments import body_of, described, field_type
from engrain.service import Memory
from engrain.verbs.signatures import Parameter, Signature, signatures
from engrain.verbs.table import Verb
from engrain.verbs.words import Word

IDEMPOTENCY_KEY, IF_NONE_MATCH = "Idempotency-Key", "If-None-Match"
_CALLER_HEADERS = {"agent": AGENT, "user": USER, "session": SESSION}
_CONDITIONS = frozenset({"if-match", "if-unmodified-since"})
_JSON = "application/json"
_KEY_WORD = Word("The same key again gives what was stored first, and stores nothing; another body is refused.")
_TAG_WORD = Word("ETags that are known: 304 where it is one of them.")
# The name of a file in an answer, by its media type.
_FILE_NAMES = {
    "application/gzip": "engrain-backup.gz",
    "application/jsonl": "engrain-export.jsonl",
    "text/markdown": "engrain-export.md",
}
_FILE_NAME = Parameter(
    name="filename",
    word=Word("Name of the file; its ending tells Markdown."),
    json_type=str,
    default="import",
    is_optional=False,
)
# Groups of the verbs that have none of their own.
_UNGROUPED = {
    "agent": ("memories", "Episodes and facts, searches, and what is done with one memory."),
    "memory": ("maintenance", "Work on all memories of a tenant: decay, learning, runs, files."),
}
CALLER = Verb("caller")


class VerbRoute(APIRoute):
    """A route that checks the key for the role of its verb, before it reads anything else of a request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        verb = verb_of(self)
        known = frozenset(parameter.alias for parameter in self.dependant.query_params)
        takes_key = any(header.alias == IDEMPOTENCY_KEY for header in self.dependant.header_params)
        has_body = self.body_field is not None

        async def admit(request: Request) -> Response:
            request.state.identity = await identify(request, verb.role)
            for name in request.query_params:
                if name not in known:
                    raise InvalidInput(checks.describe_unknown(name, sorted(known), name="parameter"))
            if has_body and not _is_json(request):
                message = "the body must be JSON; send Content-Type: application/json"
                raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
            if verb.role != "reader" and not _CONDITIONS.isdisjoint(request.headers):
                message = f"{verb.name} cannot be done on a condition, so nothing was done; leave If-Match out"
                raise Refused(HTTPStatus.PRECONDITION_FAILED, message)
            if IDEMPOTENCY_KEY in request.headers and request.method == "POST" and not takes_key:
                raise InvalidInput(f"{verb.name} takes no Idempotency-Key; leave it out")
            return await handle(request)

        return admit


def verb_of(route: APIRoute) -> Verb:
    """Return the row of the table behind a route."""
    verb: Verb = route.endpoint.__engrain_verb__  # type: ignore[attr-defined]  # set by _add
    return verb


@cache
def router() -> APIRouter:
    """Make the routes of all verbs, in the order of the table."""
    made = APIRouter(prefix="/v1", route_class=VerbRoute)
    for signature in signatures():
        _add(made, signature.verb, _endpoint(signature), signature)
    _add(made, CALLER, caller, None)
    return made


def caller(identity: Identified) -> Response:
    """Say as whom the request is served: tenant, agent, user, session, and the rights of its key."""
    return answers.json_response(identity.admitted().to_dict())


def tags() -> list[dict[str, str]]:
    """Return name and description of every group of routes."""
    named = dict(_tag(signature.verb) for signature in signatures())
    return [{"name": name, "description": description} for name, description in named.items()]


def _add(router: APIRouter, verb: Verb, endpoint: Callable[..., Any], signature: Signature | None) -> None:
    method, path = verb.route.split()
    answer = AdmittedCaller if signature is None else signature.answer and answer_type(signature)
    status = HTTPStatus.CREATED if verb.creates else HTTPStatus.OK
    status = HTTPStatus.NO_CONTENT if answer is None else status
    summary, _, rest = (endpoint.__doc__ or "").partition("\n")
    endpoint.__engrain_verb__ = verb  # type: ignore[attr-defined]  # where a route keeps the row behind it
    router.add_api_route(
        path.replace("_}", "}"),
        endpoint,
        methods=[method],
        tags=[_tag(verb)[0]],
        operation_id=verb.identifier,
        name=verb.name,
        summary=summary.rstrip("."),
        description=f"{' '.join(rest.split())}\n\nNeeds the role `{verb.role}`.".strip(),
        status_code=status,
        response_model=None,
        response_class=Response if answer is None or verb.sends else JSONResponse,
        responses={int(status): _response(verb, answer)},
        openapi_extra=_openapi_extra(verb),
    )


def _endpoint(signature: Signature) -> Callable[..., Any]:
    """Make the function that FastAPI calls for a verb, with a signature from which FastAPI reads the parameters."""
    where = signature.placement
    parameters = [_keyword("identity", Identified), *_parameters(signature, where)]
    if signature.verb.takes:
        endpoint = _file_endpoint(signature)
        parameters[:0] = [_keyword("request", Request)]
    else:

        def endpoint(identity: RequestIdentity, **values: Any) -> Response:
            return _answer(signature, identity, _arguments(values), values.get("if_none_match"))

    endpoint.__name__ = signature.verb.identifier
    endpoint.__doc__ = f"{signature.summary}\n\n{signature.usage}"
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362
    return endpoint


def _file_endpoint(signature: Signature) -> Callable[..., Any]:
    """Make an endpoint whose body is a file, which is written to disk as it arrives."""

    async def endpoint(request: Request, identity: RequestIdentity, **values: Any) -> Response:
        name = values.pop("filename", "backup")
        limit: files.ImportLimit = request.app.state.imports

        def call(path: Any) -> Any:
            return _call(signature, identity, {**_arguments(values), "path": path})

        def import_file(path: Any) -> Any:
            files.check_unzipped(path, identity.memory.settings.server.max_file_bytes)
            with limit.hold(identity.tenant):
                return call(path)

        is_import = signature.verb.name == "import_file"
        if is_import:
            limit.check(identity.tenant)  # before the body is read; it is held only once all of it is here
        work = import_file if is_import else call
        async with files.receive_file(request, name=name) as path:
            report = await run_in_threadpool(files.read_received, path, work)
        return answers.json_response(replace(report, path=path.name).to_dict())

    return endpoint


def _parameters(signature: Signature, where: Mapping[str, str]) -> list[inspect.Parameter]:
    """Return the parameters of an endpoint: path, query and headers one by one, the body as one model."""
    made = [
        _declared(signature.by_name[name], Path if place == "path" else Query)
        for name, place in where.items()
        if place in {"path", "query"}
    ]
    in_body = {name: signature.by_name[name] for name, place in where.items() if place == "body"}
    if in_body:
        title = "".join(part.title() for part in signature.verb.identifier.split("_")) + "Request"
        headers = {**_CALLER_HEADERS, **({"idempotency_key": IDEMPOTENCY_KEY} if signature.takes_key else {})}
        made.append(_keyword("body", Annotated[body_of(title, in_body, headers=headers), Body()]))
    if signature.takes_key:
        made.append(_header("idempotency_key", IDEMPOTENCY_KEY, _KEY_WORD))
    if signature.is_optional:
        made.append(_header("if_none_match", IF_NONE_MATCH, _TAG_WORD))
    if signature.verb.name == "import_file":
        made.append(_declared(_FILE_NAME, Query))
    return made


def _declared(parameter: Parameter, kind: Callable[..., Any]) -> inspect.Parameter:
    annotation: Any = Annotated[field_type(parameter), kind(alias=parameter.json_name, **described(parameter.word))]
    default = inspect.Parameter.empty if parameter.is_required else parameter.default
    return _keyword(parameter.name, annotation, default)


def _header(name: str, alias: str, word: Word) -> inspect.Parameter:
    least = {"minLength": 1} if alias == IDEMPOTENCY_KEY else None
    text = Annotated[str, AfterValidator(partial(decode_header, header=alias))]
    return _keyword(
        name, Annotated[text | None, Header(alias=alias, description=word.sentence, json_schema_extra=least)], None
    )


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the verb among the values of an endpoint."""
    rest = {name: value for name, value in values.items() if name not in {"body", "if_none_match"}}
    body = values.get("body")
    return rest if body is None else {**rest, **body.arguments()}


def _call(signature: Signature, identity: RequestIdentity, arguments: dict[str, Any]) -> Any:
    """Call the verb on behalf of the request's identity.

    Raises:
        Forbidden: keys are made or revoked by somebody who showed none.
    """
    if identity.grant.key_id is None and signature.verb.group == "keys" and signature.verb.effect != "reads":
        raise Forbidden("this server asks nobody who they are, so it makes no keys: use engrain keys on its machine")
    given = caller_arguments(
        signature,
        identity.grant,
        grant=identity.grant,
        agent=identity.agent_name,
        extent=arguments.get("agent"),
        user=identity.user,
    )
    return signature.bind(identity.memory, identity.agent())(**arguments | given)


def _answer(
    signature: Signature, identity: RequestIdentity, arguments: dict[str, Any], if_none_match: str | None
) -> Response:
    if signature.verb.sends:
        _check_no_user(signature, identity, arguments)
        return _file(signature, identity, arguments)
    value = _call(signature, identity, arguments)
    if signature.answer is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    if value is None:
        named = ", ".join(
            f"{parameter.json_name} {arguments[parameter.name]!r:.80}"
            for parameter in signature.parameters
            if arguments.get(parameter.name, parameter.default) != parameter.default
        )
        raise NotFound(f"{signature.verb.name} finds nothing{f' of {named}' if named else ' yet'} that this agent sees")
    if signature.is_optional:
        return answers.versioned(value.to_dict(), if_none_match)
    status = HTTPStatus.CREATED if signature.verb.creates else HTTPStatus.OK
    return answers.json_response(signature.to_json(value), status=status, location=_location(signature, value))


def _location(signature: Signature, value: Any) -> str | None:
    """Return the path of a created record; None where it has none."""
    if not signature.verb.creates:
        return None
    match value:
        case Episode() | Fact() | Rule():
            return f"/v1/memories/{value.id}"
        case Entity():
            return f"/v1/entities/{value.id}"
        case _:
            return None


def _check_no_user(signature: Signature, identity: RequestIdentity, arguments: dict[str, Any]) -> None:
    """Check that a file of every user is not asked for in the name of one.

    Raises:
        InvalidInput: the header names a user, and the file would not be of that one.
    """
    is_of_user = arguments.get("user") is not None or "name" in arguments
    if identity.user is not None and identity.grant.user_id is None and not is_of_user:
        raise InvalidInput(
            f"{signature.verb.name} is not of one user: leave out {USER} {identity.user!r:.80}; "
            "GET /v1/users/export?name=NAME is all of a user"
        )


def _file(signature: Signature, identity: RequestIdentity, arguments: dict[str, Any]) -> Response:
    media = signature.verb.sends[0]
    if "format" in signature.by_name and arguments.get("format") != signature.by_name["format"].default:
        media = signature.verb.sends[-1]
    return files.send_file(
        _FILE_NAMES[media], media, lambda path: _call(signature, identity, {**arguments, "path": path})
    )


def _tag(verb: Verb) -> tuple[str, str]:
    """Return the group of a route, and its description."""
    if verb.group is None:
        return _UNGROUPED[verb.owner]
    owner = Agent if verb.owner == "agent" else Memory
    return verb.group, (inspect.getdoc(getattr(owner, verb.group)) or "").partition("\n")[0]


def _response(verb: Verb, answer: Any) -> dict[str, Any]:
    if answer is None:
        return {"description": "Done; there is nothing to say."}
    if verb.sends:
        return {"description": "The file.", "content": _binary(verb.sends)}
    return {"description": summary_of(answer), "content": {_JSON: {"schema": reference(answer)}}}


def _openapi_extra(verb: Verb) -> dict[str, Any]:
    extra: dict[str, Any] = {"x-engrain-role": verb.role, "x-engrain-verb": verb.name}
    if verb.takes:
        extra["requestBody"] = {"required": True, "content": _binary(verb.takes)}
    return extra


def _binary(media_types: tuple[str, ...]) -> dict[str, Any]:
    return {media: {"schema": {"type": "string", "format": "binary"}} for media in media_types}


def _is_json(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == _JSON or (media_type.startswith("application/") and media_type.endswith("+json"))
