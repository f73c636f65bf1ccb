"""Routes of mem0's own client, over a memory of ours: `MemoryClient(api_key=KEY, host="http://host:port/mem0")`.

https://docs.mem0.ai/api-reference, and the client of mem0ai 2.2. A user_id is an end user, and an agent_id, app_id or
run_id without one is an agent of ours, `run:r1`, so that owners are as separate as users and agents. A message is
stored as an episode, verbatim.
"""

import json
import uuid
from collections.abc import Callable, Coroutine, Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from engrain.agent.compat import list_all
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.records import Episode
from engrain.errors import EngrainError, InvalidInput, NotFound
from engrain.interfaces.compat.mem0 import conversion, filters
from engrain.interfaces.compat.mem0.filters import Json, Owner, Selection
from engrain.interfaces.compat.mem0.owners import agent_of, check_owner, load_live, load_versions, may_act_for
from engrain.interfaces.http.problems import problem_of
from engrain.interfaces.http.request_identity import Identified, RequestIdentity, identify

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.domain.access.keys import Role

PREFIX = "/mem0"
_REGISTER = "mem0"  # the agent whose notes name the owners there are
_ADD = ("messages", "user_id", "agent_id", "app_id", "run_id", "filters", "metadata", "timestamp", "expiration_date")
SEARCH = ("query", "filters", "top_k", "limit", "threshold", "rerank", "fields", "metadata")
LIST = ("filters", "start_date", "end_date", "page", "page_size")
UPDATE = ("text", "metadata", "timestamp", "expiration_date")
_PAGE = 100

DONE = "SUCCEEDED"  # the state of an add when it is answered
Posted = Annotated[dict[str, Any], Body()]
Page = Annotated[int, Query(ge=1)]
PageSize = Annotated[int, Query(ge=1)]
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


def _with_key(request: Request) -> Request:
    """Return a request with the key of `X-API-Key`, as clients of mem0's server send it, in `Authorization`."""
    key = request.headers.get("x-api-key")
    if key is None or "authorization" in request.headers:
        return request
    headers = [*request.scope["headers"], (b"authorization", f"Bearer {key}".encode("latin-1"))]
    return Request({**request.scope, "headers": headers}, request.receive)


class Route(APIRoute):
    """A route whose faults are as mem0's client reads them: JSON with a `detail`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        needs: Role = self.endpoint.__engrain_role__  # type: ignore[attr-defined]  # set by Router

        async def admitted(request: Request) -> Response:
            try:
                request = _with_key(request)
                request.state.identity = await identify(request, needs)
                return await handle(request)
            except EngrainError as error:
                return _refusal_of(request, error)
            except RequestValidationError as error:
                return JSONResponse({"detail": _refusal(error)}, HTTPStatus.BAD_REQUEST)

        return admitted


def _refusal_of(request: Request, error: EngrainError) -> Response:
    """Make the answer for an error of ours: the same document as elsewhere, but 400 for what is refused."""
    answer = problem_of(request, error)
    document = json.loads(bytes(answer.body))
    if answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        document |= {"status": int(HTTPStatus.BAD_REQUEST), "title": HTTPStatus.BAD_REQUEST.phrase}
    kept = {name: value for name, value in answer.headers.items() if name not in ("content-length", "content-type")}
    return JSONResponse(document, document["status"], kept)


def _refusal(error: RequestValidationError) -> str:
    """Describe the part of a request that the framework cannot read: a number in its query, else its body."""
    numbers = [f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors() if fault["loc"][0] == "query"]
    return "; ".join(numbers)[:300] or "the body must be a JSON object"


class Router(APIRouter):
    """A router of mem0's addresses, outside our own document."""

    def __init__(self) -> None:
        super().__init__(prefix=PREFIX, route_class=Route, include_in_schema=False)

    def at(self, route: str, role: "Role") -> Callable[[_Endpoint], _Endpoint]:
        """Return a decorator that serves a route, such as `GET /v1/ping/`, to keys of a role."""
        method, _, path = route.partition(" ")

        def add(endpoint: _Endpoint) -> _Endpoint:
            endpoint.__engrain_role__ = role  # type: ignore[attr-defined]  # read by Route
            self.add_api_route(path, endpoint, methods=[method])
            return endpoint

        return add


router = Router()


@router.at("GET /v1/ping/", "reader")
def ping(identity: Identified) -> Json:
    """Answer that the key is valid; the client sends this first."""
    return {"status": "ok", "org_id": "engrain", "project_id": identity.tenant, "user_email": None}


@router.at("POST /v3/memories/add/", "writer")
def add(identity: Identified, body: Posted) -> Json:
    """Store messages verbatim, one episode each, for their owner, in one transaction.

    With a language model facts are learned from them in the background, or before it answers where `async_mode` is
    false; not where `infer` is. `results` has the messages, `learned` the facts and rules.
    """
    event_id, results, learned = add_messages(identity, body)
    answer = {"event_id": event_id, "status": DONE, "message": "Memories added", "results": results}
    return {**answer, "learned": learned}


def add_messages(identity: RequestIdentity, body: Json) -> tuple[str, list[Json], list[Json]]:
    """Store the messages of an add; return the id of the event, what became of each, and what was learned.

    The id is that of the first memory: by it alone the owner is found.
    """
    fields = conversion.supported_fields(body, _ADD)
    named = fields.get("filters") or {}
    if not isinstance(named, dict):
        raise InvalidInput(f"filters must be an object, not {type(named).__name__}")
    where = filters.select_owner({**fields, **named})
    messages = conversion.parse_messages(fields.get("messages"))
    agent, event, ends = _agent(identity, where), str(uuid.uuid4()), fields.get("expiration_date")
    about: Json = {
        "session": where.ids.get("run_id"),
        "event_time": conversion.parse_time(fields.get("timestamp")),
        "ttl_days": conversion.ttl_days(ends, identity.memory.now),
        "tags": where.tags,
        "metadata": conversion.make_metadata(fields.get("metadata"), where.ids, ends=ends, event=event),
    }
    _register(identity, where.owner)
    added = agent.add([message.arguments for message in messages], learn=conversion.learning_time(body), **about)
    learned = [{"id": memory.id, "memory": memory.content} for memory in added.learned]
    return added.episodes[0].id, [_addition(episode) for episode in added.episodes], learned


def _addition(episode: Episode) -> Json:
    text = episode.content
    return {"id": conversion.to_document(episode)["id"], "memory": text, "event": "ADD", "data": {"memory": text}}


@router.at("GET /v1/event/{event_id}/", "reader")
def get_event(identity: Identified, event_id: str) -> Json:
    """Return what became of an add: it was done when it was answered."""
    owner, (first, *_) = load_versions(identity, event_id)
    own = _all(identity, filters.select_owner({f"{owner.kind}_id": owner.name}))
    event = conversion.event_of(first)
    added = [episode for episode in reversed(own) if event is not None and conversion.event_of(episode) == event]
    if not added:
        raise NotFound(f"there is no event {event_id:.120}, or what it added is gone")
    at = min(conversion.to_document(episode)["created_at"] for episode in added)
    times = dict.fromkeys(("created_at", "updated_at", "started_at", "completed_at"), at)
    results = [_addition(episode) for episode in added]
    return {"id": event_id, "event_type": "ADD", "status": DONE, "results": results, "metadata": None, **times}


@router.at("POST /v3/memories/search/", "reader")
def search(identity: Identified, body: Posted) -> Json:
    """The best memories of an owner for a question, best first."""
    wanted = conversion.supported_fields(body, SEARCH)
    return {"results": find(identity, wanted, filters.parse_filters(_with(wanted, "metadata")))}


def find(identity: RequestIdentity, wanted: Json, where: Selection) -> list[Json]:
    """Find the best of the selected memories, best first; `wanted` says how many, how good and what of them."""
    most = checks.count(wanted.get("top_k", wanted.get("limit", 10)), name="top_k")
    least = checks.number(wanted.get("threshold", 0), name="threshold", low=0, high=1)
    bound = identity.memory.settings.retrieval.max_limit
    answer = _agent(identity, where).recall(
        checks.query(wanted.get("query")),
        limit=bound if where.conditions else min(most, bound),  # of what no search has some hits are left out
        kinds="episode",
        deep=wanted.get("rerank") is True,
        **_narrowing(where),
    )
    documents = [
        conversion.to_document(hit.memory, score=hit.score)
        for hit in answer
        if isinstance(hit.memory, Episode) and where.matches(hit.memory) and conversion.unit_score(hit.score) >= least
    ]
    fields = checks.names(wanted.get("fields"), name="field")
    return [_only(document, fields) for document in documents[:most]]


@router.at("POST /v3/memories/", "reader")
def get_all(identity: Identified, body: Posted, page: Page = 1, page_size: PageSize = _PAGE) -> Json:
    """List the memories of an owner, newest first."""
    where = listed(conversion.supported_fields(body, LIST))
    return paged(documents_of(identity, where), page, page_size, path=f"{PREFIX}/v3/memories/")


def listed(fields: Json) -> Selection:
    """Parse what a list selects: filters, and a time between two dates."""
    dates = {"gte": fields.get("start_date"), "lte": fields.get("end_date")}
    between = {name: value for name, value in dates.items() if value is not None}
    return filters.parse_filters(_with({**fields, "created_at": between} if between else fields, "created_at"))


def documents_of(identity: RequestIdentity, where: Selection) -> list[Json]:
    """Return the selected memories as documents, newest first."""
    return [conversion.to_document(episode) for episode in _all(identity, where)]


def paged(documents: Sequence[Json], page: int, page_size: int, *, path: str) -> Json:
    """Return one page of documents, with the addresses of those beside it."""
    first = (page - 1) * page_size
    is_last = first + page_size >= len(documents)
    return {
        "count": len(documents),
        "next": None if is_last else f"{path}?page={page + 1}&page_size={page_size}",
        "previous": None if page == 1 else f"{path}?page={page - 1}&page_size={page_size}",
        "results": documents[first : first + page_size],
    }


@router.at("GET /v1/memories/{memory_id}/", "reader")
def get(identity: Identified, memory_id: str) -> Json:
    """Return the current version of a memory."""
    return conversion.to_document(load_live(identity, memory_id)[1])


@router.at("PUT /v1/memories/{memory_id}/", "writer")
def update(identity: Identified, memory_id: str, body: Posted) -> Json:
    """Replace a memory by a new version: text, metadata, or its end; the rest stays."""
    return _update(
        identity, memory_id, conversion.supported_fields(body, UPDATE), ends=body.get("expiration_date", ...)
    )


@router.at("DELETE /v1/memories/{memory_id}/", "writer")
def delete(identity: Identified, memory_id: str) -> Json:
    """Forget one memory, all its versions."""
    _forget(identity, memory_id)
    return {"message": "Memory deleted successfully!"}


@router.at("GET /v1/memories/{memory_id}/history/", "reader")
def history(identity: Identified, memory_id: str) -> list[Json]:
    """List the events of a memory, oldest first."""
    return conversion.list_events(load_versions(identity, memory_id)[1], identity.memory.now)


@router.at("DELETE /v1/memories/", "writer")
def delete_all(request: Request, identity: Identified) -> Json:
    """Forget the memories of an owner, narrowed by the other ids; nothing is forgotten where no owner is named."""
    where = filters.select_owner(
        conversion.supported_fields(dict(request.query_params), ("user_id", "agent_id", "app_id", "run_id"))
    )
    agent = _agent(identity, where)
    while episodes := _all(identity, where):
        for episode in episodes:
            agent.forget(episode.id)
    return {"message": "Memories deleted successfully!"}


@router.at("PUT /v1/batch/", "writer")
def batch_update(identity: Identified, body: Posted) -> Json:
    """Update several memories, one after the other; none where one of them is not there."""
    named = _batch(identity, body)
    for change in named:
        _update(
            identity, change["memory_id"], {name: change[name] for name in ("text", "metadata") if change.get(name)}
        )
    return {"message": f"Successfully updated {len(named)} memories"}


@router.at("DELETE /v1/batch/", "writer")
def batch_delete(identity: Identified, body: Posted) -> Json:
    """Forget several memories, one after the other; none where one of them is not there."""
    named = _batch(identity, body)
    for memory_id in dict.fromkeys(entry["memory_id"] for entry in named):
        _forget(identity, memory_id)
    return {"message": f"Successfully deleted {len(named)} memories"}


@router.at("GET /v1/entities/", "reader")
def users(identity: Identified) -> Json:
    """List the owners, newest first."""
    users = [counts.user_id for counts in identity.memory.users(identity.tenant, limit=checks.MAX_LIMIT)]
    notes = [note for user in (None, *users) for note in _register_of(identity, user).list(limit=checks.MAX_LIMIT)]
    named = [(note, Owner(kind=kind, name=name)) for note in notes for kind, _, name in [note.key.partition(":")]]
    owners = sorted(named, key=lambda entry: (entry[0].created_at, entry[0].id), reverse=True)
    documents = [
        {
            "id": note.id,
            "type": owner.kind,
            "name": owner.name,
            "total_memories": agent_of(identity, owner).stats().episodes.total,
            "created_at": note.created_at.isoformat(),
            "updated_at": note.updated_at.isoformat(),
        }
        for note, owner in owners
        if may_act_for(identity, owner)
    ]
    return {"count": len(documents), "next": None, "previous": None, "results": documents}


@router.at("DELETE /v2/entities/{kind}/{name:path}/", "admin")
def delete_user(identity: Identified, kind: str, name: str) -> Json:
    """Erase an owner with all it has, for good."""
    where = filters.select_owner({f"{checks.choice(kind, filters.OWNERS, name='entity type')}_id": name})
    check_owner(identity, where.owner)
    agent = _agent(identity, where)
    while own := _own(agent, where.owner):
        agent.erase(own)
    register = _register_of(identity, where.owner.user)
    if register.recall(where.owner.key) is not None:
        register.forget(where.owner.key)
    return {"message": "Entity deleted successfully!"}


def _agent(identity: RequestIdentity, where: Selection) -> "Agent":
    return agent_of(identity, where.owner, session=where.ids.get("run_id"))


def _register_of(identity: RequestIdentity, user: str | None) -> Any:
    """Return the notes that name the owners there are: a user's name is noted with the user alone."""
    return identity.memory.agent(_REGISTER, user=user, tenant=identity.tenant, request_id=identity.request_id).notes


def _register(identity: RequestIdentity, owner: Owner) -> None:
    """Note that there is such an owner."""
    notes = _register_of(identity, owner.user)
    if notes.recall(owner.key) is None:
        notes.save(owner.key, owner.name)


def _with(request: Json, *names: str) -> Json:
    """Return the filters of a request, together with some of its other fields."""
    beside = [{name: request[name]} for name in names if name in request]
    return {"AND": [request.get("filters"), *beside]}


def _narrowing(where: Selection) -> dict[str, Any]:
    return {"sessions": where.sessions, "tags": where.tags, "since": where.since, "until": where.until}


def _all(identity: RequestIdentity, where: Selection) -> list[Episode]:
    """Return the memories of an owner, newest first."""
    records = list_all(_agent(identity, where), Filter(kinds=("episode",), **_narrowing(where)))
    return [record for record in records if isinstance(record, Episode) and where.matches(record)]


def _own(agent: "Agent", owner: Owner) -> list[str]:
    """Return the ids of all memories of an owner, of any kind, live or not."""
    return [record.id for record in list_all(agent, Filter(include_inactive=True)) if record.scope == owner.scope]


def _update(identity: RequestIdentity, memory_id: str, changes: Json, *, ends: Any = ...) -> Json:
    owner, old, versions = load_live(identity, memory_id)
    agent = agent_of(identity, owner)
    text = changes.get("text", old.content)
    own = changes.get("metadata", {name: value for name, value in old.metadata.items() if name != filters.OURS})
    now = identity.memory.now
    ends = conversion.end_of(old) if ends is ... else ends
    new = agent.observe(
        text,
        role=old.role,
        speaker=old.speaker,
        session=old.session,
        event_time=conversion.parse_time(changes["timestamp"]) if "timestamp" in changes else old.event_time,
        ttl_days=conversion.ttl_days(ends, now),
        tags=old.tags,
        metadata=conversion.make_metadata(
            own, conversion.ids_of(old), ends=ends, event=conversion.event_of(old), first=versions[0]
        ),
    )
    agent.link(new.id, versions[0].id, "supersedes")
    agent.forget(old.id)
    return conversion.to_document(new)


def _forget(identity: RequestIdentity, memory_id: str) -> None:
    owner, _, versions = load_live(identity, memory_id)
    agent, now = agent_of(identity, owner), identity.memory.now
    for version in versions:
        if version.is_live(now):
            agent.forget(version.id)


def _batch(identity: RequestIdentity, body: Json) -> list[Json]:
    """Return the entries of a batch, all of them checked before the first memory is changed.

    Raises:
        InvalidInput: it names none, or one without an id, or a text or metadata is invalid.
        NotFound: one of them is not there.
    """
    named = body.get("memories")
    if not isinstance(named, list) or not named:
        raise InvalidInput("memories must be a list of {memory_id, ...}, and not empty")
    if not all(isinstance(entry, dict) and isinstance(entry.get("memory_id"), str) for entry in named):
        raise InvalidInput("each of memories needs a memory_id")
    for entry in named:
        if entry.get("text"):
            checks.content(entry["text"])
        conversion.make_metadata(entry.get("metadata") or None, {}, ends=None)
        load_live(identity, entry["memory_id"])
    return named


def _only(document: Json, fields: Iterable[str]) -> Json:
    wanted = {"id", "memory", *fields}
    return {name: value for name, value in document.items() if name in wanted} if fields else document
