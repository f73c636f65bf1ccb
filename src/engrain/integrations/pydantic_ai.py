"""Memory store of the Pydantic AI harness: its files as items of an agent's store, searched by words and meaning.

https://github.com/pydantic/pydantic-ai-harness, `pydantic_ai_harness.memory.MemoryStore`: an object with its methods.
"""

from __future__ import annotations

import hashlib
import uuid
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperationConflictError,
    MemorySearchMatch,
    MemorySearchResult,
)
from pydantic_ai_harness.memory._store import (
    decode_metadata,
    encode_metadata,
    validate_store_path,
    validate_store_prefix,
)

from engrain.errors import VersionConflict
from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation, iterate_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai_harness.memory import MemoryOperation

    from engrain.domain.items import StoredItem

_FILES, _RECEIPTS = "pydantic-ai", "pydantic-ai-operations"  # namespaces, beside others of the agent
_RECEIPT_TTL_S = 30 * 86_400.0
_CONTENT = "content"


class EngrainMemoryStore(Adapter):
    """Stores the files of the harness: `Agent(..., capabilities=[Memory(EngrainMemoryStore("agent.db"))])`.

    Versions, receipts of operations and metadata are the harness's; `search_memory` finds files by words and meaning.
    """

    def __init__(self, memory: MemoryOrLocation, *, agent: str | None = None, user: str | None = None) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self._store = self._connection.agent.store

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Read the beginning of a file; None where there is none."""
        validate_store_path(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        found = await self._connection.call(self._find, path)
        if found is None:
            return None
        content: str = found.value[_CONTENT]
        return MemoryFile(
            content=content[:max_chars],
            version=found.value["version"],
            operation_id=found.value["operation"],
            truncated=len(content) > max_chars,
            metadata=decode_metadata(found.value["metadata"]),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return what an operation did before."""
        return await self._connection.call(self._find_receipt, operation)

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Create or replace a file that has the version, None for none at all; once for an operation."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Write a file as `write` does, with metadata of this write."""
        validate_store_path(path)
        value = {
            _CONTENT: content,
            "version": uuid.uuid4().hex,
            "operation": None if operation is None else operation.id,
            "metadata": encode_metadata(metadata),
        }
        return await self._connection.call(self._change, path, value, expected_version, operation)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete a file that has the version; once for an operation."""
        validate_store_path(path)
        return await self._connection.call(self._change, path, None, expected_version, operation)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """List the paths that begin so, sorted."""
        validate_store_prefix(prefix)
        if limit <= 0:
            raise ValueError("limit must be positive")
        found = await self._connection.call(self._list, prefix)
        return sorted(found)[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Find the files directly below a prefix that answer a query best."""
        validate_store_prefix(prefix)
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        children = await self._connection.call(self._search_children, prefix, query, max_files)
        ranked = [item for item in children[:max_files] if item.score]
        matches, left = [], max_chars
        for item in ranked[:limit]:
            path = _path(item)
            left -= len(path) - len(prefix)
            if left <= 0:
                break
            snippet = _snippet(item.value[_CONTENT][:max_file_chars], query, left)
            left -= len(snippet)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=item.score or 0.0))
        is_cut = len(ranked) > len(matches) or len(children) > max_files
        return MemorySearchResult(matches=matches, scanned=min(len(children), max_files), truncated=is_cut)

    def _find(self, path: str) -> StoredItem | None:
        return self._store.get(**_address(path))

    def _find_receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        found = self._store.get(**_receipt_address(operation))
        if found is None:
            return None
        if found.value["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
        return MemoryMutation(version=found.value["version"], replayed=True, existed=found.value["existed"])

    def _change(
        self, path: str, value: dict[str, Any] | None, expected_version: str | None, operation: MemoryOperation | None
    ) -> MemoryMutation:
        """Write or delete a file with the receipt of its operation, in one transaction."""
        if operation is not None and (receipt := self._find_receipt(operation)) is not None:
            return receipt
        found = self._find(path)
        if (None if found is None else found.value["version"]) != expected_version:
            return self._resolve_conflict(path, operation)
        mutation = MemoryMutation(
            version=None if value is None else value["version"], replayed=False, existed=found is not None
        )
        changes: list[Any] = [
            {
                **_address(path),
                "value": value,
                "index": [_CONTENT],
                "expected_version": 0 if found is None else found.version,
            }
        ]
        if operation is not None:
            told = {"fingerprint": operation.fingerprint, "version": mutation.version, "existed": mutation.existed}
            receipt_address = _receipt_address(operation)
            changes.append({**receipt_address, "value": told, "ttl_s": _RECEIPT_TTL_S, "expected_version": 0})
        try:
            self._store.write(changes)
        except VersionConflict:
            return self._resolve_conflict(path, operation)
        return mutation

    def _resolve_conflict(self, path: str, operation: MemoryOperation | None) -> MemoryMutation:
        """Return the receipt of whoever was first with this very operation.

        Raises:
            MemoryConflictError: it was another one.
        """
        if operation is not None and (receipt := self._find_receipt(operation)) is not None:
            return receipt
        raise MemoryConflictError(f"memory path {path!r} changed before it could be written")

    def _search_children(self, prefix: str, query: str, most: int) -> list[StoredItem]:
        """Search the files directly below a prefix, up to one more than `most`."""
        namespace = tuple(_address(prefix)["namespace"])
        found = iterate_pages(self._store.search, query=query, namespace=namespace)
        children = (item for item in found if item.namespace == namespace and _path(item).startswith(prefix))
        return list(islice(children, most + 1))

    def _list(self, prefix: str) -> list[str]:
        """List all paths that begin so."""
        found = iterate_pages(self._store.search, namespace=_address(prefix)["namespace"])
        return [path for item in found if (path := _path(item)).startswith(prefix)]


def _address(path: str) -> dict[str, Any]:
    """Return the names of the item of a path; the folders of a prefix are its namespace."""
    *folders, name = path.split("/")
    return {"namespace": [_FILES, *folders], "key": name}


def _path(item: StoredItem) -> str:
    return "/".join([*item.namespace[1:], item.key])


def _receipt_address(operation: MemoryOperation) -> dict[str, Any]:
    """Return the names of the item of a receipt; an operation may be called anything."""
    return {"namespace": [_RECEIPTS], "key": hashlib.sha256(operation.id.encode(errors="surrogatepass")).hexdigest()}


def _snippet(content: str, query: str, most: int) -> str:
    """Return the part of a text about the first word of a query that stands in it, or its beginning."""
    lower = content.lower()
    places = [place for word in query.lower().split() if (place := lower.find(word)) >= 0]
    start = max(min(places, default=0) - most // 3, 0)
    return content[max(min(start, len(content) - most), 0) :][:most]
