"""Where a search looks: the namespaces of a caller's scopes, their totals, and whose vectors are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.storage.filters import seen_by

if TYPE_CHECKING:
    from engrain.domain.requests import Request
    from engrain.storage.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What one search looks at."""

    namespaces: tuple[int, ...]
    memories: int
    words: int
    has_expired: bool  # whether the namespaces hold something that has run out
    version: int | None  # of the embedder whose vectors are searched
    dims: int | None


def searched(tx: Transaction, request: Request) -> Searched:
    """The namespaces of the request's scopes and kinds; those nothing was ever written to do not exist."""
    rows = tx.rows("searched", **seen_by(request.caller, tx.dialect), now=request.now)
    chosen = [row[2:] for row in rows if row[3] in request.filter.kinds]
    version, dims = rows[0][:2]
    return Searched(
        namespaces=tuple(sorted(namespace for namespace, *_ in chosen)),
        memories=sum(memories for _, _, memories, _, _ in chosen),
        words=sum(words for _, _, _, words, _ in chosen),
        has_expired=any(has_expired for *_, has_expired in chosen),
        version=version,
        dims=dims,
    )
