"""Routes of earlier versions of mem0's platform, /v1 and /v2, which the client of mem0ai 0.1 and 1 asks.

They name the owner beside the other fields, and answer bare lists unless `output_format` is v1.1 or a page is named.
"""

from typing import Any

from fastapi import Request

from engrain.domain import checks
from engrain.interfaces.compat.mem0 import conversion, filters, routes
from engrain.interfaces.compat.mem0.filters import IDS, Json
from engrain.interfaces.compat.mem0.routes import Page, PageSize, Posted, Router
from engrain.interfaces.http.request_identity import Identified, RequestIdentity

_PAGE = 100
router = Router()


@router.at("POST /v1/memories/", "writer")
def add(identity: Identified, body: Posted) -> Any:
    """Store messages verbatim, one episode each."""
    event_id, results, _ = routes.add_messages(identity, body)
    return _wrapped(body, [{**result, "event_id": event_id, "status": routes.DONE} for result in results])


@router.at("GET /v1/memories/", "reader")
def get_all(request: Request, identity: Identified, page: Page | None = None, page_size: PageSize = _PAGE) -> Any:
    """List the memories of an owner, newest first."""
    asked = {name: value for name, value in request.query_params.items() if name not in ("page", "page_size")}
    fields = conversion.supported_fields(asked, (*IDS, *routes.LIST))
    return _listed(identity, fields, path="/v1/memories/", page=page, page_size=page_size)


@router.at("POST /v2/memories/", "reader")
def get_filtered(identity: Identified, body: Posted, page: Page | None = None, page_size: PageSize = _PAGE) -> Any:
    """List the memories that filters select, newest first."""
    fields = conversion.supported_fields(body, (*IDS, *routes.LIST))
    numbers = {name: checks.count(fields[name], name=name) for name in ("page", "page_size") if name in fields}
    page, page_size = numbers.get("page", page), max(numbers.get("page_size", page_size), 1)
    return _listed(
        identity, fields, path="/v2/memories/", page=None if page is None else max(page, 1), page_size=page_size
    )


@router.at("POST /v1/memories/search/", "reader")
@router.at("POST /v2/memories/search/", "reader")
def search(identity: Identified, body: Posted) -> Any:
    """Find the best memories of an owner for a question, best first."""
    wanted = conversion.supported_fields(body, (*IDS, *routes.SEARCH))
    return _wrapped(body, routes.find(identity, wanted, filters.parse_filters(_filters(wanted, "metadata"))))


def _listed(identity: RequestIdentity, fields: Json, *, path: str, page: int | None, page_size: int) -> Any:
    documents = routes.documents_of(identity, routes.listed({**fields, "filters": _filters(fields)}))
    return documents if page is None else routes.paged(documents, page, page_size, path=f"{routes.PREFIX}{path}")


def _filters(fields: Json, *others: str) -> Json:
    """Return the filters of a request together with the ids, and some other fields, beside them."""
    beside = [{name: fields[name]} for name in (*IDS, *others) if name in fields]
    return filters.join(fields.get("filters"), *beside)


def _wrapped(body: Json, results: list[Json]) -> Any:
    return {"results": results, "relations": []} if body.get("output_format") == "v1.1" else results
