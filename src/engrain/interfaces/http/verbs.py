"""A verb of the library as a route: what it calls, the role it needs, what it answers."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from engrain.domain import checks
from engrain.domain.access.keys import Role
from engrain.errors import InvalidInput
from engrain.interfaces.http.asking import identified
from engrain.interfaces.http.problems import Refused
from engrain.interfaces.http.schemas import Answers, File, reference, said_of

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])
IDEMPOTENCY_KEY = "idempotency-key"
_CONDITIONS = frozenset({"if-match", "if-unmodified-since"})
_JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What a route is for.

    Attributes:
        calls: the facade's method, unbound.
        group: the name by which an agent has the method's class; None for its own and the Memory's.
        takes: the file that its body is, where it is one.
        also: what tells apart a second route of one method, which reads and writes.
    """

    calls: Callable[..., Any]
    group: str | None
    needs: Role
    answers: Answers | None
    status: HTTPStatus
    also: str | None = None
    takes: File | None = None

    @property
    def name(self) -> str:
        """The verb as Python spells it."""
        name = self.calls.__name__
        return ".".join(each for each in (self.group, name, self.also) if each is not None)


class VerbRoute(APIRoute):
    """A route that lets in who may do it, and looks at nothing else of a request before."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        verb = verb_of(self)
        parameters = self.dependant.query_params
        known = frozenset(each.alias for each in parameters)
        has_body, takes_key = self.body_field is not None, IDEMPOTENCY_KEY in _headers(self)

        async def admitted(request: Request) -> Response:
            request.state.asking = await identified(request, verb.needs)
            for name in request.query_params:
                if name not in known:
                    raise InvalidInput(checks.describe_unknown(name, sorted(known), name="parameter"))
            if has_body and not _is_json(request):
                said = "the body must be JSON; send Content-Type: application/json"
                raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, said)
            if verb.needs != "reader" and not _CONDITIONS.isdisjoint(request.headers):
                said = f"{verb.name} cannot be done on a condition, so nothing was done; leave If-Match out"
                raise Refused(HTTPStatus.PRECONDITION_FAILED, said)
            if IDEMPOTENCY_KEY in request.headers and request.method == "POST" and not takes_key:
                raise InvalidInput(f"{verb.name} takes no Idempotency-Key; leave it out")
            return await handle(request)

        return admitted


class Room:
    """The routes of one group of verbs."""

    def __init__(self, tag: str, description: str, *, group: str | None = None) -> None:
        self.tag = {"name": tag, "description": description}
        self.router = APIRouter(prefix="/v1", tags=[tag], route_class=VerbRoute)
        self.verbs: list[Verb] = []
        self._group = group

    @property
    def routes(self) -> list[VerbRoute]:
        """Its routes, in the order in which they are tried."""
        return [each for each in self.router.routes if isinstance(each, VerbRoute)]

    def verb(
        self,
        method: Method,
        path: str,
        calls: Callable[..., Any],
        *,
        needs: Role,
        answers: Answers | None,
        status: HTTPStatus = HTTPStatus.OK,
        also: str | None = None,
        takes: File | None = None,
    ) -> Callable[[_Endpoint], _Endpoint]:
        """Make a function the route of a facade's verb; its docstring is what OpenAPI says of it."""
        verb = Verb(
            calls=calls,
            group=self._group,
            needs=needs,
            answers=answers,
            status=status,
            also=also,
            takes=takes,
        )
        self.verbs.append(verb)

        def add(endpoint: _Endpoint) -> _Endpoint:
            summary, _, rest = (endpoint.__doc__ or "").strip().partition("\n")
            self.router.add_api_route(
                path,
                _carrying(endpoint, verb),
                methods=[method],
                operation_id=verb.name,
                name=verb.name,
                summary=summary.rstrip("."),
                description=f"{' '.join(rest.split())}\n\nNeeds the role `{needs}`.".strip(),
                status_code=status,
                response_model=None,
                response_class=Response if answers is None or isinstance(answers, File) else JSONResponse,
                responses={int(status): _answer(verb)},
                openapi_extra=_more(verb),
            )
            return endpoint

        return add


def verb_of(route: APIRoute) -> Verb:
    """What a route of ours is for."""
    found: Verb = route.endpoint.__engrain_verb__  # type: ignore[attr-defined]  # set by _carrying
    return found


def _carrying(endpoint: _Endpoint, verb: Verb) -> _Endpoint:
    endpoint.__engrain_verb__ = verb  # type: ignore[attr-defined]  # where a route keeps what it is for
    return endpoint


def _headers(route: APIRoute) -> frozenset[str]:
    return frozenset(each.alias.lower() for each in route.dependant.header_params)


def _is_json(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == _JSON or (media_type.startswith("application/") and media_type.endswith("+json"))


def _more(verb: Verb) -> dict[str, Any]:
    """What OpenAPI is told besides."""
    said: dict[str, Any] = {"x-engrain-role": verb.needs}
    if verb.takes is not None:
        said["requestBody"] = {"required": True, "content": verb.takes.content}
    return said


def _answer(verb: Verb) -> dict[str, Any]:
    if verb.answers is None:
        return {"description": "Done; there is nothing to say."}
    if isinstance(verb.answers, File):
        return {"description": "The file.", "content": verb.answers.content}
    return {"description": said_of(verb.answers), "content": {_JSON: {"schema": reference(verb.answers)}}}
