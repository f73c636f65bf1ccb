"""`python -m bench.portability.imports`: memory and time of imports of files of any size.

Each import is a process of its own. Files are exports of conversations as they are (zip, JSON, JSON lines), and hostile
ones: a small archive of a great many small values, and lines that are all broken. The exit code is 1 where an import
took more than 200 MB beyond what the open memory had. No vectors are made: their memory is the model's.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from engrain import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_MB = 200
_WORDS = "tram harbour ticket evening garden letter window coffee morning bridge river market lantern orchard".split()


def main(arguments: Sequence[str] | None = None) -> int:
    """Import a file of each kind and size; 1 where one took too much memory."""
    parser = argparse.ArgumentParser(prog="python -m bench.portability.imports", description=__doc__)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100], help="sizes of the unpacked files")
    parser.add_argument("--kinds", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--step", nargs=2, metavar=("DB", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.step:
        return _step(*map(Path, asked.step))
    worst = 0.0
    for megabytes in asked.megabytes:
        for kind in asked.kinds:
            with tempfile.TemporaryDirectory() as folder:
                path = FILES[kind](Path(folder), megabytes * 1_000_000)
                command = [
                    sys.executable,
                    "-m",
                    "bench.portability.imports",
                    "--step",
                    f"{folder}/memory.db",
                    str(path),
                ]
                found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                print(f"{kind}, {megabytes} MB ({path.stat().st_size / 1e6:,.1f} MB on disk): {found['result']}")
                took = f"{found['seconds']:.1f} s, CPU {found['cpu']:.1f} s"
                print(f"  {took}, {found['grown_mb']:.0f} MB beyond {found['before_mb']:.0f} MB", flush=True)
                worst = max(worst, found["grown_mb"])
    return int(worst > _MOST_MB)


def _step(db: Path, path: Path) -> int:
    """One import; what it took, as a line of JSON."""
    with Memory.open(db, embedder="none") as memory:
        before, peak, is_over = _private_mb(), [0.0], threading.Event()

        def watch() -> None:
            while not is_over.wait(0.005):
                peak[0] = max(peak[0], _private_mb())

        watching = threading.Thread(target=watch)
        watching.start()
        start, cpu = time.perf_counter(), time.process_time()
        report = memory.agent().import_file(path)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        is_over.set()
        watching.join()
    result = f"{report.added:,} added, {report.sessions:,} sessions, {report.broken_count:,} broken"
    print(
        json.dumps(
            {"result": result, "seconds": seconds, "cpu": cpu, "before_mb": before, "grown_mb": peak[0] - before}
        )
    )
    return 0


def _private_mb() -> float:
    """Memory of this process that is no mapped file, such as the database: Linux counts it as RssAnon."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def _write(
    path: Path, most: int, item: Callable[[random.Random, int], str], *, opening: str, between: str, end: str
) -> Path:
    numbers, size, number = random.Random(3), 0, 0  # made-up talk
    with path.open("w", encoding="utf-8") as file:
        file.write(opening)
        while size < most:
            size += file.write((between if number else "") + item(numbers, number))
            number += 1
        file.write(end)
    return path


def _conversation(numbers: random.Random, number: int) -> str:
    nodes: dict[str, object] = {}
    for turn in range(numbers.randint(4, 60)):
        text = " ".join(numbers.choices(_WORDS, k=numbers.randint(5, 200)))
        message = {"id": f"{number}-{turn}", "author": {"role": "user"}, "create_time": 1.7e9 + turn}
        message["content"] = {"content_type": "text", "parts": [text]}
        nodes[f"{turn}"] = {"message": message, "parent": f"{turn - 1}" if turn else None}
    return json.dumps({"id": str(number), "title": "talk", "current_node": f"{len(nodes) - 1}", "mapping": nodes})


def _line(numbers: random.Random, number: int) -> str:
    text = " ".join(numbers.choices(_WORDS, k=numbers.randint(5, 200)))
    return json.dumps({"id": str(number), "session": f"s{number // 20}", "role": "user", "content": text})


def _document(folder: Path, most: int) -> Path:
    return _write(folder / "conversations.json", most, _conversation, opening="[", between=",", end="]")


def _zipped(path: Path) -> Path:
    with zipfile.ZipFile(path.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, "conversations.json")
    path.unlink()
    return path.with_suffix(".zip")


def _lines(folder: Path, most: int) -> Path:
    return _write(folder / "turns.jsonl", most, _line, opening="", between="\n", end="\n")


def _small_values(folder: Path, most: int) -> Path:
    def item(numbers: random.Random, _: int) -> str:
        return f'{{"mapping":{{}},"id":{numbers.getrandbits(3)}}}'

    return _zipped(_write(folder / "conversations.json", most, item, opening="[", between=",", end="]"))


def _broken_lines(folder: Path, most: int) -> Path:
    first = '{"role": "user", "content": "tram"}\n'
    return _write(folder / "turns.jsonl", most, lambda _, number: str(number), opening=first, between="\n", end="\n")


FILES: dict[str, Callable[[Path, int], Path]] = {
    "document": _document,
    "zip": lambda folder, most: _zipped(_document(folder, most)),
    "lines": _lines,
    "small-values": _small_values,
    "broken-lines": _broken_lines,
}

if __name__ == "__main__":
    sys.exit(main())
