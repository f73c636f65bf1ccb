"""`python -m bench.speed`: what engrain costs, each figure beside the raw limit measured in the same run.

CPU time and medians throughout: the clock on the wall measures whoever else uses the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.speed import floor, installed, language, operations, report
from bench.speed.vectors import real

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.speed.operations import Figures

_SIZES = [1_000, 10_000, 100_000]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each size, the embedder and the install; print the tables."""
    asked = _parser().parse_args(arguments)
    if asked.floor:
        print("\n".join(text for size in asked.sizes for text in _floor(size)), flush=True)
        return 0
    embedder = None if asked.embedder == "none" else asked.embedder
    sizes = {size: _size(size, embedder) for size in asked.sizes}
    print("\n".join(report.by_size(sizes)), flush=True)
    embedding: Figures = {}
    if embedder is not None:
        _say("the embedder")
        with tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder:
            embedding = operations.embedding(embedder, Path(folder))
        print("\n" + "\n".join(report.embedding(embedding)), flush=True)
    _say("the install")
    imports, distributions = _imports(), installed.distribution_sizes()
    print("\n" + "\n".join(report.installed(imports, distributions)))
    if asked.json is not None:
        found = {
            "sizes": {str(size): figures for size, figures in sizes.items()},
            "embedding": embedding,
            "installed": {**imports, "distribution_bytes": distributions},
        }
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=_size_of, nargs="+", default=_SIZES, metavar="N", help="memories (1000 10000 100000)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--embedder", default="minilm", metavar="NAME", help="the real one, or none (default: minilm)")
    parser.add_argument("--floor", action="store_true", help="only what the statements of an import take by themselves")
    return parser


def _floor(size: int) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder:
        return list(floor.report(size, *floor.measure(language.talk(size), Path(folder))))


def _size_of(text: str) -> int:
    size = int(text)
    if size < 10:
        raise argparse.ArgumentTypeError(f"{size} is fewer than 10 memories")
    return size


def _size(size: int, embedder: str | None) -> Figures:
    """Every figure of one size."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="engrain-bench-") as folder:
        _say(f"{size:,} memories")
        bench = operations.prepared(size, Path(folder))
        figures |= operations.ingest(bench)
        _say(f"{size:,} memories: searches")
        figures |= operations.search(bench, None if embedder is None else real(embedder))
        figures |= operations.catch_up(bench)
        figures |= operations.cold_start(bench, embedder)
        _say(f"{size:,} memories: limits")
        figures |= operations.limits(bench)
    return figures


def _imports() -> Figures:
    found: Figures = {}
    for name, statement in (("import", "import engrain"), ("import_memory", "from engrain import Memory")):
        seconds, modules = installed.import_cost(statement)
        found |= {f"{name}_ms": seconds * 1e3, f"{name}_modules": modules}
    return found


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
