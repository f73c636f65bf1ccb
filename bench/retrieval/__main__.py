"""`python -m bench.retrieval DATA`: how much of the known evidence each preset finds, and what it costs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.retrieval import findings, locomo, longmemeval, runner
from bench.retrieval.corpus import Conversation, Corpus, UnknownData
from bench.retrieval.vector_cache import CachedEmbedder
from engrain import EngrainError, engines
from engrain.retrieval.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_FORMATS: Mapping[str, tuple[Callable[[object], bool], Callable[[Any], Corpus]]] = {
    "locomo": (locomo.recognises, locomo.load),
    "longmemeval": (longmemeval.recognises, longmemeval.load),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the data, run it, print the table; 2 where the data or an argument is of no use."""
    asked = _parser().parse_args(arguments)
    try:
        corpus = _narrowed(_load(asked.data, asked.format), asked.conversations, asked.limit_questions)
        run = _run(corpus, asked)
    except (EngrainError, UnknownData, OSError) as error:
        print(f"bench.retrieval: {error}", file=sys.stderr)
        return 2
    print(findings.table(run))
    if asked.json is not None:
        asked.json.write_text(json.dumps(findings.as_json(run), indent=2) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="LoCoMo's or LongMemEval's JSON file")
    parser.add_argument("--format", choices=["auto", *_FORMATS], default="auto", help="what DATA is (default: see)")
    parser.add_argument(
        "--preset", nargs="+", choices=list(PRESETS), default=list(PRESETS), metavar="NAME", help="default: all"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--limit-questions", type=_positive, metavar="N", help="ask only the first N questions")
    parser.add_argument(
        "--conversations", type=_positive, nargs="+", metavar="N", help="only these, by their place in DATA from 1"
    )
    parser.add_argument(
        "--embedder", default="minilm", metavar="NAME", help="provider:model, or none (default: minilm)"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path.home() / ".cache" / "engrain-bench",
        metavar="DIR",
        help="where vectors are kept from one run to the next (default: ~/.cache/engrain-bench)",
    )
    parser.add_argument("--db", metavar="URL", help="an empty database to remember it in (default: a temporary file)")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not 1 or more")
    return value


def _load(path: Path, format_name: str) -> Corpus:
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnknownData(f"{path} is not JSON: {error}") from error
    for name, (recognises, load) in _FORMATS.items():
        if format_name in ("auto", name) and recognises(samples):
            return load(samples)
    expected = "LoCoMo's list of samples or LongMemEval's list of questions" if format_name == "auto" else format_name
    raise UnknownData(f"{path} is not {expected}")


def _narrowed(corpus: Corpus, numbers: Sequence[int] | None, most: int | None) -> Corpus:
    """The corpus with those conversations alone, and its first questions; a conversation nobody asks of is left out."""
    kept: list[Conversation] = []
    left = most
    for number, conversation in enumerate(corpus.conversations, start=1):
        if numbers is None or number in numbers:
            questions = conversation.questions[:left]
            left = None if left is None else left - len(questions)
            if questions:
                kept.append(replace(conversation, questions=questions))
    if not kept:
        raise UnknownData(f"no question is left to ask: the data has {len(corpus.conversations)} conversations")
    return replace(corpus, conversations=tuple(kept))


def _run(corpus: Corpus, asked: argparse.Namespace) -> runner.Run:
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:7.1f} s  {text}", file=sys.stderr, flush=True)

    engine = engines.embedder(asked.embedder)
    cached = None if engine is None else CachedEmbedder(engine, asked.cache)
    try:
        return runner.run(corpus, asked.preset, embedder=cached, say=say, db=asked.db)
    finally:
        if cached is not None:
            cached.close()


if __name__ == "__main__":
    sys.exit(main())
