"""Routes of mem0's self-hosted server, whose clients send their key as `X-API-Key`.

https://docs.mem0.ai/open-source/features/rest-api
"""

from typing import Any

from fastapi import Request

from engrain.domain import checks
from engrain.errors import InvalidInput, NotFound
from engrain.interfaces import access
from engrain.interfaces.compat.mem0 import conversion, filters, routes
from engrain.interfaces.compat.mem0.filters import Json
from engrain.interfaces.compat.mem0.routes import Posted, Router
from engrain.interfaces.http.request_identity import Identified, RequestIdentity

_MOST = 1_000  # of a list without owner
_OWNER = ("user_id", "agent_id", "run_id")
_SEARCH = (*_OWNER, "query", "filters", "top_k", "threshold")
_ADD = frozenset((*_OWNER, "messages", "metadata", "expiration_date"))
router = Router()


@router.at("POST /memories", "writer")
def add(identity: Identified, body: Posted) -> Json:
    """Store messages verbatim, one episode each."""
    return {"results": routes.add_messages(identity, conversion.supported_fields(body, _ADD))[1]}


@router.at("GET /memories", "reader")
def get_all(request: Request, identity: Identified) -> Json:
    """List the memories of an owner, newest first; those of all owners for an admin who names none."""
    asked = conversion.supported_fields(dict(request.query_params), (*_OWNER, "top_k"))
    most = checks.count(_number(asked.pop("top_k", str(_MOST))), name="top_k", high=_MOST)
    documents = (
        routes.documents_of(identity, filters.select_owner(asked)) if asked else _documents_of_all(identity, most)
    )
    return {"results": documents[:most]}


@router.at("DELETE /memories", "admin")
def delete_all(request: Request, identity: Identified) -> Json:
    """Forget the memories of an owner."""
    routes.delete_all(request, identity)
    return {"message": "All relevant memories deleted"}


@router.at("GET /memories/{memory_id}", "reader")
def get(identity: Identified, memory_id: str) -> Any:
    """Return the current version of a memory; null where there is none."""
    try:
        return routes.get(identity, memory_id)
    except (InvalidInput, NotFound):
        return None


@router.at("PUT /memories/{memory_id}", "writer")
def update(identity: Identified, memory_id: str, body: Posted) -> Json:
    """Replace a memory by a new version."""
    routes.update(identity, memory_id, body)
    return {"message": "Memory updated successfully!"}


@router.at("DELETE /memories/{memory_id}", "writer")
def delete(identity: Identified, memory_id: str) -> Json:
    """Forget one memory, all its versions."""
    routes.delete(identity, memory_id)
    return {"message": "Memory deleted successfully"}


@router.at("GET /memories/{memory_id}/history", "reader")
def history(identity: Identified, memory_id: str) -> Any:
    """List the events of a memory, oldest first."""
    return routes.history(identity, memory_id)


@router.at("POST /search", "reader")
def search(identity: Identified, body: Posted) -> Json:
    """Find the best memories of an owner for a question, best first; other names in filters are keys of metadata."""
    wanted = conversion.supported_fields(body, _SEARCH)
    beside = [{name: wanted[name]} for name in _OWNER if name in wanted]
    selection = filters.parse_filters(filters.join(wanted.get("filters") or None, *beside), takes_metadata=True)
    return {"results": routes.find(identity, wanted, selection)}


@router.at("POST /reset", "admin")
def reset(identity: Identified) -> Json:
    """Erase all owners with all they have, for good."""
    for owner in routes.users(identity)["results"]:
        routes.delete_user(identity, owner["type"], owner["name"])
    return {"message": "All memories reset"}


@router.at("GET /entities", "reader")
def list_entities(identity: Identified) -> list[Json]:
    """List the owners with the numbers of their memories."""
    owners = routes.users(identity)["results"]
    documents = [
        {"id": owner["name"], **{name: owner[name] for name in ("type", "total_memories", "created_at", "updated_at")}}
        for owner in owners
    ]
    return sorted(documents, key=lambda document: (document["type"], document["id"]))


@router.at("DELETE /entities/{kind}/{name:path}", "admin")
def delete_entity(identity: Identified, kind: str, name: str) -> Json:
    """Erase an owner with all it has, for good."""
    routes.delete_user(identity, kind, name)
    return {"message": "Entity deleted"}


@router.at("GET /configure", "reader")
def get_configuration(identity: Identified) -> Json:  # noqa: ARG001  # every route is somebody's
    """Tell what keeps the memories, in the words of mem0's configuration."""
    return {"version": "v1.1", "vector_store": {"provider": "engrain", "config": {}}}


@router.at("POST /configure", "admin")
def configure(identity: Identified, body: Posted) -> Json:  # noqa: ARG001  # every route is somebody's
    """Refuse another configuration.

    Raises:
        InvalidInput: always.
    """
    raise InvalidInput("this memory is configured by its own settings, not over HTTP; docs/settings.md has them")


def _documents_of_all(identity: RequestIdentity, most: int) -> list[Json]:
    """Return the newest documents of all owners.

    Raises:
        Forbidden: the key is no admin's.
    """
    access.require(identity.grant, "admin")
    documents: list[Json] = []
    for owner in routes.users(identity)["results"]:
        selection = filters.select_owner({f"{owner['type']}_id": owner["name"]})
        documents += routes.documents_of(identity, selection)[:most]
    return sorted(documents, key=lambda document: str(document["created_at"]), reverse=True)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise InvalidInput(f"top_k {text!r:.40} is no whole number")
    return int(text)
