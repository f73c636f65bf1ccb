"""The routes of mem0's own client, over a memory of ours: `MemoryClient(api_key=KEY, host="http://host:port/mem0")`.

https://docs.mem0.ai/api-reference, and the client of mem0ai 2.2. Every owner (a user_id, else an agent_id, app_id or
run_id) is an agent of ours, `user:alice`, so that what keeps agents apart keeps owners apart. A message is kept as an
episode, as it was said.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from engrain.domain import checks
from engrain.domain.records import KINDS, Episode, Kind
from engrain.errors import EngrainError, Forbidden, InvalidInput
from engrain.interfaces.compat.mem0 import conversion
from engrain.interfaces.compat.mem0.conversion import Json, Owner, Where
from engrain.interfaces.http.problems import problem_of
from engrain.interfaces.http.request_identity import Identified, RequestIdentity, identify

if TYPE_CHECKING:
    from engrain.agent.agent import Agent
    from engrain.domain.access.keys import Role
    from engrain.domain.records import MemoryRecord

PREFIX = "/mem0"
_REGISTER = "mem0"  # the agent whose notes name the owners there are
_ADD = ("messages", "user_id", "agent_id", "app_id", "run_id", "filters", "metadata", "timestamp", "expiration_date")
_SEARCH = ("query", "filters", "top_k", "limit", "threshold", "rerank", "fields", "metadata")
_LIST = ("filters", "start_date", "end_date", "page", "page_size")
_UPDATE = ("text", "metadata", "timestamp", "expiration_date")
_PAGE = 100
_JUST_AFTER = timedelta(microseconds=1)

Posted = Annotated[dict[str, Any], Body()]


class _Route(APIRoute):
    """A route that tells faults as mem0's client reads them: JSON with a `detail`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        needs: Role = self.endpoint.__engrain_role__  # type: ignore[attr-defined]  # set by _needing

        async def admitted(request: Request) -> Response:
            try:
                request.state.identity = await identify(request, needs)
                return await handle(request)
            except EngrainError as error:
                found = problem_of(request, error)
                return Response(found.body, found.status_code, {**found.headers, "content-type": "application/json"})
            except RequestValidationError as error:
                return JSONResponse({"detail": _refusal(error)}, HTTPStatus.BAD_REQUEST)

        return admitted


def _refusal(error: RequestValidationError) -> str:
    """What of a request the framework cannot read: a number in its address, else its body."""
    identity = [f"{each['loc'][-1]}: {each['msg']}" for each in error.errors() if each["loc"][0] == "query"]
    return "; ".join(identity)[:300] or "the body must be a JSON object"


router = APIRouter(prefix=PREFIX, route_class=_Route, include_in_schema=False)


def _needing(role: "Role") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def mark(endpoint: Callable[..., Any]) -> Callable[..., Any]:
        endpoint.__engrain_role__ = role  # type: ignore[attr-defined]  # read by _Route
        return endpoint

    return mark


@router.get("/v1/ping/")
@_needing("reader")
def ping(identity: Identified) -> Json:
    """Whether a key opens anything; the client asks this first."""
    return {"status": "ok", "org_id": "engrain", "project_id": identity.tenant, "user_email": None}


@router.post("/v3/memories/add/")
@_needing("writer")
def add(identity: Identified, body: Posted) -> Json:
    """Keep messages as they are, each as an episode of its owner; `infer` changes nothing."""
    given = conversion.known(body, _ADD)
    named = given.get("filters") or {}
    if not isinstance(named, dict):
        raise InvalidInput(f"filters must be an object, not {type(named).__name__}")
    where = conversion.owned({**given, **named})
    said = conversion.messages(given.get("messages"))
    now = identity.memory.now
    agent = _agent(identity, where)
    about: Json = {
        "session": where.ids.get("run_id"),
        "event_time": conversion.moment(given.get("timestamp")),
        "ttl_days": conversion.ttl_days(given.get("expiration_date"), now),
        "tags": where.tags,
        "metadata": conversion.metadata_of(given.get("metadata"), where.ids, ends=given.get("expiration_date")),
    }
    _register(identity, where.owner)
    kept = [agent.observe(each.content, role=each.role, speaker=each.speaker, **about) for each in said]
    return {"results": [{"id": conversion.shown(each)["id"], "memory": each.content, "event": "ADD"} for each in kept]}


@router.post("/v3/memories/search/")
@_needing("reader")
def search(identity: Identified, body: Posted) -> Json:
    """The best memories of an owner for a question, best first."""
    given = conversion.known(body, _SEARCH)
    where = conversion.narrowed(_with(given, "metadata"))
    most = checks.count(given.get("top_k", given.get("limit", 10)), name="top_k")
    least = checks.number(given.get("threshold", 0), name="threshold", low=0, high=1_000)
    answer = _agent(identity, where).recall(
        checks.query(given.get("query")),
        limit=_enough(identity, where, most),
        kinds="episode",
        deep=given.get("rerank") is True,
        **_narrowing(where),
    )
    found = [
        conversion.shown(hit.memory, score=hit.score)
        for hit in answer
        if isinstance(hit.memory, Episode) and where.holds(hit.memory) and hit.score >= least
    ]
    fields = checks.names(given.get("fields"), name="field")
    return {"results": [_only(each, fields) for each in found[:most]]}


@router.post("/v3/memories/")
@_needing("reader")
def get_all(
    identity: Identified,
    body: Posted,
    page: Annotated[int, Query(ge=1)] = 1,
    page_size: Annotated[int, Query(ge=1)] = _PAGE,
) -> Json:
    """What an owner has, the newest first."""
    given = conversion.known(body, _LIST)
    dates = {"gte": given.get("start_date"), "lte": given.get("end_date")}
    between = {name: value for name, value in dates.items() if value is not None}
    where = conversion.narrowed(_with({**given, "created_at": between} if between else given, "created_at"))
    found = [conversion.shown(each) for each in _all(identity, where)]
    first = (page - 1) * page_size
    later = None if first + page_size >= len(found) else f"{PREFIX}/v3/memories/?page={page + 1}&page_size={page_size}"
    earlier = None if page == 1 else f"{PREFIX}/v3/memories/?page={page - 1}&page_size={page_size}"
    return {"count": len(found), "next": later, "previous": earlier, "results": found[first : first + page_size]}


@router.get("/v1/memories/{memory_id}/")
@_needing("reader")
def get(identity: Identified, memory_id: str) -> Json:
    """One memory as it stands."""
    return conversion.shown(_live(identity, memory_id, _versions(identity, memory_id)))


@router.put("/v1/memories/{memory_id}/")
@_needing("writer")
def update(identity: Identified, memory_id: str, body: Posted) -> Json:
    """Put a new version in the place of a memory: text, metadata, or when it ends; the rest stays."""
    return _updated(identity, memory_id, conversion.known(body, _UPDATE), ends=body.get("expiration_date", ...))


@router.delete("/v1/memories/{memory_id}/")
@_needing("writer")
def delete(identity: Identified, memory_id: str) -> Json:
    """Forget one memory, all its versions."""
    _forget(identity, memory_id)
    return {"message": "Memory deleted successfully!"}


@router.get("/v1/memories/{memory_id}/history/")
@_needing("reader")
def history(identity: Identified, memory_id: str) -> list[Json]:
    """What happened to a memory, oldest first."""
    return conversion.history(_versions(identity, memory_id), identity.memory.now)


@router.delete("/v1/memories/")
@_needing("writer")
def delete_all(request: Request, identity: Identified) -> Json:
    """Forget what an owner has, narrowed by the other ids; nothing is forgotten where nobody is named."""
    where = conversion.owned(conversion.known(dict(request.query_params), ("user_id", "agent_id", "app_id", "run_id")))
    agent = _agent(identity, where)
    while found := _all(identity, where):
        for each in found:
            agent.forget(each.id)
    return {"message": "Memories deleted successfully!"}


@router.put("/v1/batch/")
@_needing("writer")
def batch_update(identity: Identified, body: Posted) -> Json:
    """Update several memories, one after the other; none where one of them is not there."""
    named = _batch(identity, body)
    for each in named:
        _updated(identity, each["memory_id"], {name: each[name] for name in ("text", "metadata") if each.get(name)})
    return {"message": f"Successfully updated {len(named)} memories"}


@router.delete("/v1/batch/")
@_needing("writer")
def batch_delete(identity: Identified, body: Posted) -> Json:
    """Forget several memories, one after the other; none where one of them is not there."""
    named = _batch(identity, body)
    for memory_id in dict.fromkeys(each["memory_id"] for each in named):
        _forget(identity, memory_id)
    return {"message": f"Successfully deleted {len(named)} memories"}


@router.get("/v1/entities/")
@_needing("reader")
def users(identity: Identified) -> Json:
    """The owners there are, the newest first."""
    notes = _register_of(identity).list(limit=checks.MAX_LIMIT)
    owners = [(note, Owner(kind=kind, name=name)) for note in notes for kind, _, name in [note.key.partition(":")]]
    found = [
        {
            "id": note.id,
            "type": owner.kind,
            "name": owner.name,
            "total_memories": identity.memory.agent(owner.agent, tenant=identity.tenant).stats().episodes.total,
            "created_at": note.created_at.isoformat(),
            "updated_at": note.updated_at.isoformat(),
        }
        for note, owner in owners
        if identity.grant.agent in (None, owner.agent)
    ]
    return {"count": len(found), "next": None, "previous": None, "results": found}


@router.delete("/v2/entities/{kind}/{name:path}/")
@_needing("admin")
def delete_user(identity: Identified, kind: str, name: str) -> Json:
    """Erase an owner with all it has, for good."""
    where = conversion.owned({f"{checks.choice(kind, conversion.OWNERS, name='entity type')}_id": name})
    _check(identity, where.owner)
    agent = _agent(identity, where)
    while own := _own(identity, agent, where.owner):
        agent.erase(own)
    if _register_of(identity).recall(where.owner.agent) is not None:
        _register_of(identity).forget(where.owner.agent)
    return {"message": "Entity deleted successfully!"}


def _agent(identity: RequestIdentity, where: Where) -> "Agent":
    return _agent_of(identity, where.owner, session=where.ids.get("run_id"))


def _agent_of(identity: RequestIdentity, owner: Owner, *, session: str | None = None) -> "Agent":
    _check(identity, owner)
    return identity.memory.agent(owner.agent, tenant=identity.tenant, session=session, request_id=identity.request_id)


def _check(identity: RequestIdentity, owner: Owner) -> None:
    if identity.grant.agent not in (None, owner.agent):
        raise Forbidden(f"the key speaks for the agent {identity.grant.agent!r:.80} alone, not for {owner.agent!r:.80}")


def _register_of(identity: RequestIdentity) -> Any:
    return identity.memory.agent(_REGISTER, tenant=identity.tenant, request_id=identity.request_id).notes


def _register(identity: RequestIdentity, owner: Owner) -> None:
    """Note that there is such an owner."""
    notes = _register_of(identity)
    if notes.recall(owner.agent) is None:
        notes.save(owner.agent, owner.name)


def _with(given: Json, *names: str) -> Json:
    """The filters of a request, what it says beside them among them."""
    beside = [{name: given[name]} for name in names if name in given]
    return {"AND": [given.get("filters"), *beside]}


def _narrowing(where: Where) -> dict[str, Any]:
    return {"sessions": where.sessions, "tags": where.tags, "since": where.since, "until": where.until}


def _enough(identity: RequestIdentity, where: Where, most: int) -> int:
    """How many hits to ask for, so that `most` are left when what is not meant has gone."""
    return _most(identity) if where.metadata else min(most, _most(identity))


def _most(identity: RequestIdentity) -> int:
    return identity.memory.settings.retrieval.max_limit


def _all(identity: RequestIdentity, where: Where) -> list[Episode]:
    """What is there of an owner, newest first."""
    found = _listed(_agent(identity, where), ("episode",), most=_most(identity), **_narrowing(where))
    return [each for each in found if isinstance(each, Episode) and where.holds(each)]


def _own(identity: RequestIdentity, agent: "Agent", owner: Owner) -> list[str]:
    """Ids of all that is an owner's, of whatever kind, live or not."""
    found = _listed(agent, KINDS, most=_most(identity), include_inactive=True)
    return [each.id for each in found if each.scope == owner.agent]


def _listed(agent: "Agent", kinds: Sequence[Kind], *, most: int, **narrowing: Any) -> "list[MemoryRecord]":
    """Everything an agent sees of some kinds, newest first: as many searches as one of them has too few places."""
    found: dict[str, MemoryRecord] = {}
    while True:
        answer = agent.recall("", preset="recency", limit=most, kinds=kinds, **narrowing)
        fresh = [hit.memory for hit in answer if hit.memory.id not in found]
        found |= {each.id: each for each in fresh}
        if not fresh:
            return list(found.values())
        narrowing["until"] = fresh[-1].happened_at + _JUST_AFTER


def _versions(identity: RequestIdentity, memory_id: str) -> list[Episode]:
    """Every version of a memory there ever was, oldest first.

    Raises:
        NotFound: no such memory is the owner's.
    """
    owner, inner = conversion.inner_id(memory_id)
    agent = _agent_of(identity, owner)
    found = agent.get(inner)
    if not isinstance(found, Episode) or found.scope != owner.agent:
        raise conversion.no_memory(memory_id)
    later = [agent.get(each.source_id) for each in agent.links(inner, direction="incoming", relation="supersedes")]
    return [found, *sorted((each for each in later if isinstance(each, Episode)), key=lambda each: each.created_at)]


def _live(identity: RequestIdentity, memory_id: str, versions: Iterable[Episode]) -> Episode:
    now = identity.memory.now
    live = [each for each in versions if each.is_live(now)]
    if not live:
        raise conversion.no_memory(memory_id)
    return live[-1]


def _updated(identity: RequestIdentity, memory_id: str, given: Json, *, ends: Any = ...) -> Json:
    versions = _versions(identity, memory_id)
    old = _live(identity, memory_id, versions)
    agent = _agent_of(identity, conversion.inner_id(memory_id)[0])
    text = given.get("text", old.content)
    own = given.get("metadata", {name: value for name, value in old.metadata.items() if name != conversion.OURS})
    now = identity.memory.now
    ends = conversion.end_of(old) if ends is ... else ends
    new = agent.observe(
        text,
        role=old.role,
        speaker=old.speaker,
        session=old.session,
        event_time=conversion.moment(given["timestamp"]) if "timestamp" in given else old.event_time,
        ttl_days=conversion.ttl_days(ends, now),
        tags=old.tags,
        metadata=conversion.metadata_of(own, conversion.ids_of(old), ends=ends, first=versions[0]),
    )
    agent.link(new.id, versions[0].id, "supersedes")
    agent.forget(old.id)
    return conversion.shown(new)


def _forget(identity: RequestIdentity, memory_id: str) -> None:
    now = identity.memory.now
    live = [each for each in _versions(identity, memory_id) if each.is_live(now)]
    if not live:
        raise conversion.no_memory(memory_id)
    agent = _agent_of(identity, conversion.inner_id(memory_id)[0])
    for each in live:
        agent.forget(each.id)


def _batch(identity: RequestIdentity, body: Json) -> list[Json]:
    """The memories that a batch names, all of them checked before the first is changed.

    Raises:
        InvalidInput: it names none, or one without an id, or what one should say is no text or no metadata.
        NotFound: one of them is not there.
    """
    named = body.get("memories")
    if not isinstance(named, list) or not named:
        raise InvalidInput("memories must be a list of {memory_id, ...}, and not empty")
    if not all(isinstance(each, dict) and isinstance(each.get("memory_id"), str) for each in named):
        raise InvalidInput("each of memories needs a memory_id")
    for each in named:
        if each.get("text"):
            checks.content(each["text"])
        conversion.metadata_of(each.get("metadata") or None, {}, ends=None)
        _live(identity, each["memory_id"], _versions(identity, each["memory_id"]))
    return named


def _only(document: Json, fields: Iterable[str]) -> Json:
    wanted = {"id", "memory", *fields}
    return {name: value for name, value in document.items() if name in wanted} if fields else document
