"""Compares the memory tool with the SDK's own, which has files, over random commands, on one database, as argument."""

import asyncio
import random
import re
import sys
import tempfile
from functools import partial

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from engrain import AsyncMemory, Memory
from engrain.integrations.anthropic import AsyncEngrainMemoryTool, EngrainMemoryTool

PATHS = (
    *("/memories", "/memories/", "/memories/a.md", "/memories/b/c.txt", "/memories/b", "/memories/b/d/e.txt"),
    *("/memories/.hidden", "/memories/b/../a.md", "/memories/b/d/f/g.txt", "/memories/../x", "/etc/passwd"),
)
TEXTS = ("", "one", "one\ntwo\n", "one\ntwo\none\n", "ä 🎉\n\n", "x" * 3_000)


def command(chance):
    path, text = chance.choice(PATHS), chance.choice(TEXTS)
    match chance.randint(0, 6):
        case 0 | 1:
            return {"command": "create", "path": path, "file_text": text}
        case 2:
            old, new = chance.choice(["one", "two", "x", "ä"]), chance.choice(["one", "three\nfour", ""])
            return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
        case 3:
            return {"command": "insert", "path": path, "insert_line": chance.randint(-1, 4), "insert_text": text}
        case 4:
            return {"command": "delete", "path": path}
        case 5:
            return {"command": "rename", "old_path": path, "new_path": chance.choice(PATHS)}
        case _:
            span = chance.choice([None, [1, 1], [2, -1], [0, 2]])
            return {"command": "view", "path": path, **({"view_range": span} if span else {})}


def answer(call, asked):
    try:
        return call(asked)
    except ToolError as error:
        return f"error: {error}"


def without_sizes_of_folders(text):
    lines = text.split("\n")
    if not lines[0].startswith("Here're the files"):
        return text
    return [lines[0], *sorted(re.sub(r"^\S+\t(.*/|/memories\S*?[^.]*)$", r"\1", line) for line in lines[1:])]


def compare(tool, call, chance, rounds):
    """Run commands whose outcome does not hang on empty folders: each world begins anew."""
    count = 0
    for _ in range(rounds):
        clear(tool)
        with tempfile.TemporaryDirectory() as folder:
            reference = BetaLocalFilesystemMemoryTool(base_path=folder)
            for _ in range(8):
                asked = command(chance)
                try:
                    theirs = answer(reference.call, asked)
                except OSError:  # a file in the place of a folder
                    break
                ours = answer(partial(call, tool), asked)
                if asked["command"] in ("delete", "rename"):
                    assert ours == theirs, (asked, ours, theirs)
                    break  # the SDK's folders stay when they are empty
                assert without_sizes_of_folders(ours) == without_sizes_of_folders(theirs), (asked, ours, theirs)
                count += 1
    return count


def clear(tool):
    found = tool.clear_all_memory()
    return asyncio.run(found) if asyncio.iscoroutine(found) else found


def check_own(memory):
    tool = EngrainMemoryTool(memory, agent="own", cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}
    for name in ("a/one.md", "a/two.md", "b.md"):
        tool.call({"command": "create", "path": f"/memories/{name}", "file_text": f"Ana likes {name}"})
    assert tool.call({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c/d"}).startswith(
        "Success"
    )
    assert tool.call({"command": "view", "path": "/memories/c/d/one.md"}).endswith("     1\tAna likes a/one.md")
    assert tool.call({"command": "delete", "path": "/memories/c"}) == "Successfully deleted /memories/c"
    assert [item.key for item in memory.agent("own").store("anthropic-memory").search("likes")] == ["b.md"]
    assert (
        EngrainMemoryTool(memory, agent="own", user="ana")
        .call({"command": "view", "path": "/memories"})
        .endswith("0B\t/memories")
    )


def check_names(memory):
    """A name is a file or a folder, and nothing is moved into itself."""
    tool = EngrainMemoryTool(memory, agent="names")

    def create(path):
        return {"command": "create", "path": path, "file_text": path}

    def rename(old, new):
        return {"command": "rename", "old_path": old, "new_path": new}

    for path in ("/memories/ana", "/memories/d/e/f.md"):
        tool.call(create(path))
    in_file, in_itself = "lies in a file: /memories/ana", "The destination /memories/d/inner lies in /memories/d"
    for asked, why in (
        (create("/memories/ana/pin.md"), in_file),
        (create("/memories/ana/a/b.md"), in_file),
        (rename("/memories/d", "/memories/ana/q"), in_file),
        (rename("/memories/d", "/memories/d/inner"), in_itself),
        (rename("/memories/ana", "/memories/ana/q"), "lies in /memories/ana"),
    ):
        assert why in answer(tool.call, asked), asked
    assert tool.call(rename("/memories/d/e/f.md", "/memories/d/f.md")).startswith("Success")
    assert tool.call(rename("/memories/ana", "/memories/d/ana")).startswith("Success")
    paths = [line.split("\t")[1] for line in tool.call({"command": "view", "path": "/memories"}).split("\n")[1:]]
    assert paths == ["/memories", "/memories/d/", "/memories/d/ana", "/memories/d/f.md"]


def main(location):
    with Memory.open(location, embedder="none") as memory:
        tool = EngrainMemoryTool(memory, agent="sync")
        assert compare(tool, lambda tool, asked: tool.call(asked), random.Random(1), 60) > 80
        awaited = AsyncEngrainMemoryTool(AsyncMemory(memory), agent="async")
        assert compare(awaited, lambda tool, asked: asyncio.run(tool.call(asked)), random.Random(2), 30) > 30
        check_own(memory)
        check_names(memory)
    sys.stdout.write("ok\n")


main(sys.argv[1])
