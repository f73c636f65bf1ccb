"""Packs of a large namespace's vectors, as its index holds them: what a process reads that begins to search.

A pack holds one stretch of changes, and whatever is read after it has changed since, so that reading packs and then the
changes that are in none gives what reading every vector gives, for a third of the bytes and none of the arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from engrain.storage.sqlite.sign_bits import sign_bits
from engrain.storage.sqlite.vector_index import decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.storage.transaction import Transaction

ROWS: Final = 1_024
# Fewer vectors than these packs hold are compared in float32, which no pack has.
FEWEST: Final = 4
LAST_CHANGE: Final = 2**63 - 1


def pack_vectors(tx: Transaction, version: int, docs: Sequence[int], changes: range) -> None:
    """Pack the namespaces of vectors that were just added, each time the changes of the file pass another 1,024."""
    if changes.start // ROWS == changes.stop // ROWS:
        return
    for (namespace,) in tx.rows("namespaces_of_vectors", version=version, docs=tx.dialect.listed(docs)):
        _pack_namespace(tx, {"version": version, "namespace": namespace})


def list_stretches(tx: Transaction, bound: dict[str, Any]) -> list[tuple[int | None, int, int]]:
    """List the stretches of a namespace's changes in order: its pack, None where it has none, and its ends."""
    stretches: list[tuple[int | None, int, int]] = []
    seen = 0
    for pack, after, last in tx.rows("vector_packs", **bound):
        if after > seen:
            stretches.append((None, seen, after))
        stretches.append((pack, after, last))
        seen = last
    return [*stretches, (None, seen, LAST_CHANGE)]


def _pack_namespace(tx: Transaction, bound: dict[str, Any]) -> None:
    for pack, seen, until in list_stretches(tx, bound):
        if pack is None:
            _pack_stretch(tx, bound, seen, until)


def _pack_stretch(tx: Transaction, bound: dict[str, Any], seen: int, until: int) -> None:
    """Pack whole packs of the newest changes; where an erased vector took its pack, what is left if it is a half."""
    least = ROWS if until == LAST_CHANGE else ROWS // 2
    while len(rows := tx.rows("changed_vectors", **bound, seen=seen, until=until, limit=ROWS)) >= least:
        last = rows[-1][1] if len(rows) == ROWS else until
        _add_pack(tx, [(doc, blob) for doc, _, blob in rows if blob is not None], {**bound, "seen": seen, "last": last})
        seen = last


def _add_pack(tx: Transaction, rows: Sequence[tuple[int, bytes]], bound: dict[str, Any]) -> None:
    if not rows:
        return
    docs, blobs = zip(*rows, strict=True)
    codes, scales = encode(np.frombuffer(b"".join(blobs), np.float32).reshape(len(docs), -1))
    vectors = decode(codes, scales)
    centre = load_centre(tx, bound)
    if centre is None:
        centre = vectors.mean(axis=0)
    bits = np.ascontiguousarray(sign_bits(vectors, centre))
    tx.run(
        "add_pack",
        **bound,
        first_doc=min(docs),
        last_doc=max(docs),
        centre=centre.tobytes(),
        docs=np.array(docs, np.int64).tobytes(),
        scales=scales.tobytes(),
        codes=codes.tobytes(),
        bits=bits.tobytes(),
    )


def load_centre(tx: Transaction, bound: dict[str, Any]) -> NDArray[np.float32] | None:
    """Load the centre that all packs of a namespace have; None where it has none."""
    found = tx.one("pack_centre", version=bound["version"], namespace=bound["namespace"])
    return None if found is None else np.frombuffer(found[0], np.float32)
