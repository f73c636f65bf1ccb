"""`python -m bench.cold_start`: the start of a process up to its first answer, beside bare baselines.

By turns in one run: an interpreter that does nothing, one that imports the libraries that no search does without, one
that imports `Memory`, `engrain recall` as a command on a file of so many memories; then one that imports the SDK of
MCP, a server of the SDK with one tool of one line, and `engrain mcp` with each profile that is named. Seconds of CPU
(user and system, of the process and all it started) are the figures to compare on a machine that does other things
too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.speed import language
from bench.speed.vectors import RandomVectors
from engrain import Memory
from engrain.engines.embedders.minilm import MiniLM
from engrain.interfaces.mcp.instructions import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOTHING, _IMPORT, _BARE = "python -c pass", "python -c 'import mcp.server'", "a server of the SDK, one tool"
_LIBRARIES = "import numpy, apsw, onnxruntime, tokenizers"
_MEMORY = "from engrain import Memory"
# The command, and the most memory it held resident, which getrusage cannot say of a child.
_RECALL = """
import re, sys
from engrain.interfaces import cli
search = cli.main
def main():
    code = search(["recall", "When did Ana go to Lisbon?", "--db", sys.argv[1]])
    with open("/proc/self/status") as status:
        print("peak", re.search(r"VmHWM:\\s+(\\d+)", status.read())[1], flush=True)
    return code
cli.main = main
sys.exit(cli.run())
"""
_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
server.add_tool(lambda: "done", name="first")
server.run("stdio")
"""
# What answers at once, whatever is stored.
_FIRST: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "butler": ("memory_get", {"memory_type": "fact", "memory_id": "nothing"}),
    "assistant": ("correct", {"id": "nothing", "content": "x"}),
    "orchestrator": ("correct_fact", {"fact_id": "nothing", "content": "x"}),
    "consolidator": ("is_session_consolidated", {"session_id": "nothing"}),
    "notes": ("recall_note", {"key": "nothing"}),
    "graph": ("open_nodes", {"names": []}),
    "all": ("recall_note", {"key": "nothing"}),
}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class _QuickVectors(RandomVectors):
    """Vectors for next to nothing, under the name of the embedder that a command searches with."""

    name = MiniLM.name


@dataclass(frozen=True)
class Took:
    """Seconds of one start, until the first answer; a process that answers nothing, until it ended; and its peak."""

    wall_s: float
    cpu_s: float
    peak_mb: float | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Start each by turns, print medians and ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.cold_start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memories", type=int, default=1_000, metavar="N", help="memories in the file (1000)")
    parser.add_argument("--profiles", nargs="*", choices=PROFILES, default=["butler", "assistant", "graph"])
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every figure")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path) as memory:
            memory.agent().remember("Lisbon", subject="Ana", predicate="lives in")
        with Memory.open(path, embedder=_QuickVectors()) as memory:
            for turn in language.talk(asked.memories):
                memory.agent().observe(turn.content, speaker=turn.speaker, session=turn.session)
        took: dict[str, list[Took]] = defaultdict(list)
        for _ in range(asked.rounds + 1):
            for name, one in _round(path, asked.profiles).items():
                took[name].append(one)
    measured = {name: all_of[1:] for name, all_of in took.items()}  # the first has files to read that are cached after
    _report(measured)
    if asked.json:
        asked.json.write_text(json.dumps({name: [vars(one) for one in each] for name, each in measured.items()}))
    return 0


def _round(path: Path, profiles: Sequence[str]) -> dict[str, Took]:
    """Each once."""
    took = {
        _NOTHING: _started(["-c", "pass"]),
        f"python -c '{_LIBRARIES}'": _started(["-c", _LIBRARIES]),
        f"python -c '{_MEMORY}'": _started(["-c", _MEMORY]),
        "engrain recall": _started(["-c", _RECALL, str(path)]),
        _IMPORT: _started(["-c", "import mcp.server"]),
        _BARE: _started(["-c", _SERVER], first=("first", {})),
    }
    for profile in profiles:
        command = ["-m", "engrain", "mcp", "--profile", profile, "--db", str(path)]
        took[f"engrain mcp --profile {profile}"] = _started(command, first=_FIRST[profile])
    return took


def _started(command: Sequence[str], *, first: tuple[str, Mapping[str, Any]] | None = None) -> Took:
    """One start; the CPU until its end, which comes at once after the answer."""
    before = os.times()
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if first is not None:
            tool, given = first
            for message in (
                {"id": 1, "method": "initialize", "params": _HELLO},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": given}},
            ):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            while (answer := json.loads(process.stdout.readline())).get("id") != 2:
                pass
            assert not answer["result"]["isError"], answer
            wall_s = time.perf_counter() - start
        process.stdin.close()
        said = process.stdout.read().decode()
    after = os.times()
    cpu_s = (after.children_user + after.children_system) - (before.children_user + before.children_system)
    peak = said.rpartition("peak ")[2] if "peak " in said else None
    return Took(
        wall_s=time.perf_counter() - start if first is None else wall_s,
        cpu_s=cpu_s,
        peak_mb=None if peak is None else int(peak) * 1024 / 1e6,
    )


def _report(took: Mapping[str, Sequence[Took]]) -> None:
    bare = statistics.median(each.cpu_s for each in took[_BARE])
    for name, each in took.items():
        wall, cpu = statistics.median(one.wall_s for one in each), statistics.median(one.cpu_s for one in each)
        peaks = [one.peak_mb for one in each if one.peak_mb is not None]
        peak = f"   {statistics.median(peaks):4.0f} MB at most" if peaks else ""
        print(f"{name:62} {wall:6.2f} s   {cpu:6.2f} s of CPU   {cpu / bare:5.2f} x the SDK's server{peak}")


if __name__ == "__main__":
    sys.exit(main())
