"""Memory tool of Anthropic's SDK: the files of `/memories` as items of an agent's store.

https://github.com/anthropics/anthropic-sdk-python, `anthropic.lib.tools.BetaAbstractMemoryTool`. The answers and errors
are word for word those of the SDK's own tool, which the model was trained on.
"""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from engrain.errors import InvalidInput, VersionConflict
from engrain.integrations.connection import Adapter, AgentConnection, MemoryOrLocation, iterate_pages, write_items

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from engrain.agent.exact.item_store import ItemStore
    from engrain.domain.items import StoredItem

_ROOT = "memories"  # of the paths
_NAMESPACE = "anthropic-memory"  # of the files, beside other items of the agent
_MOST_LINES = 999_999
_NUMBER_WIDTH = 6
_DEPTH = 2
_FIELD = "text"


class MemoryFiles:
    """Files of the memory tool: a folder is a namespace, and is there while a file is in it or below."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or the files of a folder two levels deep."""
        parts = _split(command.path)
        found = self._find(parts)
        if found is not None:
            return _number_lines(command.path, found.value[_FIELD], command.view_range)
        files = self._list(parts)
        if parts and not files:
            _not_there(command.path)
        lines = [f"{_size(sum(files.values()))}\t{command.path}"]
        lines += [f"{_size(size)}\t{command.path}/{name}" for name, size in _tree(files).items()]
        head = f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
        return "\n".join([head, *lines])

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file where there is none."""
        parts = _split(command.path)
        if not parts or self._list(parts):
            raise ToolError(f"File {command.path} already exists")
        self._check_folders(command.path, parts)
        try:
            self._put(parts, command.file_text, expected_version=0)
        except VersionConflict as error:
            raise ToolError(f"File {command.path} already exists") from error
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        old, path = command.old_str, command.path

        def replace(text: str) -> str:
            lines = [text[:start].count("\n") + 1 for start in _find_all(text, old)]
            if not lines:
                raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
            if len(lines) > 1:
                shown = ", ".join(map(str, lines))
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {shown}. "
                    "Please ensure it is unique"
                )
            return text.replace(old, command.new_str)

        before, after = self._edit(path, replace)
        changed = before[: before.find(old)].count("\n")
        lines = after.split("\n")
        first = max(0, changed - 2)
        shown = _numbered(lines[first : changed + 3], first + 1)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file; 0 is its beginning."""

        def insert(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            joined = "\n".join(lines)
            return joined if joined.endswith("\n") else f"{joined}\n"

        self._edit(command.path, insert)
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with all that is in it."""
        parts = _split(command.path)
        if not parts:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self._move(parts, None):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename or move a file or a folder, at once, where nothing has the new name."""
        old, new = _split(command.old_path), _split(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or self._find(new) is not None or self._list(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        if new != old and new[: len(old)] == old:
            raise ToolError(f"The destination {command.new_path} lies in {command.old_path}")
        self._check_folders(command.new_path, new)
        if not self._move(old, new):
            raise ToolError(f"The path {command.old_path} does not exist")
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete all files."""
        self._move([], None)
        return "All memory cleared"

    def _check_folders(self, path: str, parts: Sequence[str]) -> None:
        """Check that no folder of a path is a file.

        Raises:
            ToolError: one is.
        """
        for depth in range(1, len(parts)):
            if self._find(parts[:depth]) is not None:
                raise ToolError(f"The path {path} lies in a file: /{_ROOT}/{'/'.join(parts[:depth])}")

    def _find(self, parts: Sequence[str]) -> StoredItem | None:
        if not parts:
            return None
        return self._store.get(parts[-1], namespace=[_NAMESPACE, *parts[:-1]])

    def _put(self, parts: Sequence[str], text: str, *, expected_version: int) -> None:
        self._store.put(
            parts[-1],
            {_FIELD: text},
            namespace=[_NAMESPACE, *parts[:-1]],
            index=[_FIELD],
            expected_version=expected_version,
        )

    def _edit(self, path: str, change: Callable[[str], str]) -> tuple[str, str]:
        """Change the text of a file, and return it before and after; who writes meanwhile is not overwritten."""
        parts = _split(path)
        while True:
            found = self._find(parts)
            if found is None:
                if not parts or self._list(parts):
                    raise ToolError(f"The path {path} is not a file.")
                _not_there(path)
            before: str = found.value[_FIELD]
            after = change(before)
            try:
                self._put(parts, after, expected_version=found.version)
            except VersionConflict:
                continue
            return before, after

    def _items(self, parts: Sequence[str]) -> list[StoredItem]:
        """Load the files of a folder and of those below."""
        return list(iterate_pages(self._store.search, namespace=[_NAMESPACE, *parts]))

    def _list(self, parts: Sequence[str]) -> dict[tuple[str, ...], int]:
        """List the files of a folder and of those below: their paths in it, and sizes in bytes."""
        depth = 1 + len(parts)
        return {
            (*item.namespace[depth:], item.key): len(item.value[_FIELD].encode("utf-8", "surrogatepass"))
            for item in self._items(parts)
        }

    def _move(self, old: Sequence[str], new: Sequence[str] | None) -> bool:
        """Move a file or a folder in one transaction, or delete it; return whether it was there."""
        one = self._find(old)
        found = self._items(old) if one is None else [one]
        changes: list[Any] = [
            {"namespace": item.namespace, "key": item.key, "expected_version": item.version} for item in found
        ]
        for item in found if new is not None else ():
            path = (*(new or ()), *(*item.namespace[1:], item.key)[len(old) :])
            named = {"namespace": [_NAMESPACE, *path[:-1]], "key": path[-1], "expected_version": 0}
            changes.append({**named, "value": item.value, "index": [_FIELD]})
        write_items(self._store, changes)
        return bool(found)


class _FileTool(Adapter):
    """A memory tool of the SDK, and the files that it works on."""

    def __init__(
        self,
        memory: MemoryOrLocation,
        *,
        agent: str | None = None,
        user: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Use an open memory, or open the one at a location, which `close` closes then."""
        super().__init__(cache_control=cache_control)  # type: ignore[call-arg]  # of the SDK's class
        self._connection = AgentConnection(memory, agent=agent, user=user)
        self.files = MemoryFiles(self._connection.agent.store)


def _command(work: Callable[..., str]) -> Callable[..., str]:
    """Make the method of a tool that carries out a command on its files; a refusal is told to the model."""

    @wraps(work)
    def answer(tool: _FileTool, *arguments: Any) -> str:
        try:
            return work(tool.files, *arguments)
        except (InvalidInput, VersionConflict) as error:
            raise ToolError(str(error)) from error

    return answer


def _awaited_command(work: Callable[..., str]) -> Callable[..., Awaitable[str]]:
    """Make the method that `_command` makes, in a worker thread."""
    answer = _command(work)

    @wraps(work)
    async def wait(tool: _FileTool, *arguments: Any) -> str:
        return await asyncio.to_thread(answer, tool, *arguments)

    return wait


class EngrainMemoryTool(_FileTool, BetaAbstractMemoryTool):
    """Memory tool whose files are in a memory: `tool_runner(tools=[EngrainMemoryTool("agent.db")])`.

    A search finds the files by words and meaning: `agent.store("anthropic-memory").search("coffee")`.
    """

    view = _command(MemoryFiles.view)
    create = _command(MemoryFiles.create)
    str_replace = _command(MemoryFiles.str_replace)
    insert = _command(MemoryFiles.insert)
    delete = _command(MemoryFiles.delete)
    rename = _command(MemoryFiles.rename)
    clear_all_memory = _command(MemoryFiles.clear_all_memory)


class AsyncEngrainMemoryTool(_FileTool, BetaAsyncAbstractMemoryTool):
    """`EngrainMemoryTool` for the awaited client; each command runs in a worker thread."""

    view = _awaited_command(MemoryFiles.view)
    create = _awaited_command(MemoryFiles.create)
    str_replace = _awaited_command(MemoryFiles.str_replace)
    insert = _awaited_command(MemoryFiles.insert)
    delete = _awaited_command(MemoryFiles.delete)
    rename = _awaited_command(MemoryFiles.rename)
    clear_all_memory = _awaited_command(MemoryFiles.clear_all_memory)


def _split(path: str) -> list[str]:
    """Return the names of a path below `/memories`, with `..` followed.

    Raises:
        ToolError: it is not below `/memories`.
    """
    if not path.startswith(f"/{_ROOT}"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    parts: list[str] = []
    for name in path[len(_ROOT) + 1 :].split("/"):
        if name == "..":
            if not parts:
                raise ToolError(f"Path {path} would escape /memories directory")
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    return parts


def _not_there(path: str) -> NoReturn:
    raise ToolError(f"The path {path} does not exist. Please provide a valid path.")


def _find_all(text: str, old: str) -> list[int]:
    """Return where a text stands in another, overlaps included."""
    return [start for start in range(len(text)) if text.startswith(old, start)] if old else []


def _number_lines(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if view_range and len(view_range) == 2:  # noqa: PLR2004  # from and to
        first, last = max(1, view_range[0]), len(lines) if view_range[1] == -1 else view_range[1]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines[first - 1 : last], first)}"


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _tree(files: dict[tuple[str, ...], int]) -> dict[str, int]:
    """Return the files and folders two levels deep with their sizes, sorted by name; hidden ones are left out."""
    sizes: dict[tuple[str, ...], int] = {}
    for path, size in files.items():
        for depth in range(1, min(len(path), _DEPTH) + 1):
            sizes[path[:depth]] = sizes.get(path[:depth], 0) + size
    shown = sorted(path for path in sizes if not any(name.startswith(".") for name in path))
    return {"/".join(path) + ("" if path in files else "/"): sizes[path] for path in shown}


def _size(size: int) -> str:
    """Return a size as the SDK shows it: 0B, 512B, 1.5K."""
    if size == 0:
        return "0B"
    unit = min((size.bit_length() - 1) // 10, 3)
    scaled = size / 1024**unit
    return f"{int(scaled) if scaled == int(scaled) else f'{scaled:.1f}'}{'BKMG'[unit]}"
