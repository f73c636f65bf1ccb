"""`python -m bench.retrieval DATA`: how much of the known evidence each preset finds, and what it costs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bench import plots
from bench.retrieval import (
    budgets,
    choosing,
    comparison,
    evidence,
    findings,
    peers,
    pools,
    runner,
    variants,
)
from bench.retrieval.corpus import UnknownData
from bench.retrieval.data_files import FORMATS, drop_apart, load_corpus, narrow
from bench.retrieval.vector_cache import CachedEmbedder
from engrain import EngrainError, engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.retrieval.corpus import Corpus
    from bench.retrieval.runner import Run, Say

Report: TypeAlias = tuple[str, object]
"""What is printed, and the same as JSON."""

# The default and what it is made of, alone and fused the usual way: a minute for LoCoMo once its vectors are cached.
_USUAL = (variants.DEFAULT, "semantic", "keyword", "hybrid")
_PLOTTED = ("recall@5", "recall@10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the data, run it, print the table; 2 where the data or an argument is of no use."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.plot is not None and (asked.evidence or asked.cross_validate or asked.half is not None):
        parser.error("--plot draws presets, ablations, peers and budgets alone")
    if asked.plot is not None and len(asked.budget or ()) > plots.MOST_BARS:
        parser.error(f"--plot draws at most {plots.MOST_BARS} budgets, not {len(asked.budget)}")
    try:
        corpus = narrow(load_corpus(asked.data, asked.format), asked.conversations, asked.limit_questions)
        printed, found = _measured(corpus, asked)
    except (EngrainError, UnknownData, pools.NotReproduced, OSError) as error:
        print(f"bench.retrieval: {error}", file=sys.stderr)
        return 2
    print(printed)
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if asked.plot is not None:
        asked.plot.write_text(_plot(found, asked), encoding="utf-8")
    return 0


def _plot(found: Any, asked: argparse.Namespace) -> str:
    """The figures of a comparison or of budgets as bars."""
    if asked.budget is not None:
        title = "Share of the evidence in a block, by its tokens"
        budgets_of = {name: {budget: row["recall"] for budget, row in rows.items()} for name, rows in found.items()}
        return plots.bars(title, budgets_of)
    overall = {name: rows["turn"]["overall"] for name, rows in found.items()}
    title = "Share of the evidence among the first hits"
    return plots.bars(title, {name: {each: row[each] for each in _PLOTTED} for name, row in overall.items()})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="LoCoMo's or LongMemEval's JSON file")
    parser.add_argument("--format", choices=["auto", *FORMATS], default="auto", help="what DATA is (default: see)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--presets", nargs="+", metavar="NAME", help=f"these, or all of them (default: {' '.join(_USUAL)})"
    )
    what.add_argument("--ablations", action="store_true", help="the default, and without each of its parts")
    what.add_argument(
        "--peers", nargs="*", metavar="NAME", help=f"the default beside other stores: {', '.join(peers.offers())}"
    )
    what.add_argument(
        "--budget", type=_positive, nargs="+", metavar="TOKENS", help="evidence inside context blocks of such budgets"
    )
    what.add_argument("--evidence", action="store_true", help="whether answers know when they have none")
    what.add_argument(
        "--cross-validate", action="store_true", help="choose weights on all conversations but one, report on that one"
    )
    what.add_argument("--half", choices=choosing.HALVES, help="choose weights on this half, report on the other")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them there as SVG")
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


def _measured(corpus: Corpus, asked: argparse.Namespace) -> Report:
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:7.1f} s  {text}", file=sys.stderr, flush=True)

    engine = engines.embedder(asked.embedder)
    embedder = None if engine is None else CachedEmbedder(engine, asked.cache)
    try:
        if asked.budget is not None:
            return _within_budgets(corpus, asked, embedder, say)
        if asked.evidence:
            return _evidence(corpus, embedder, say, asked.db)
        if asked.cross_validate or asked.half is not None:
            return _chosen(corpus, asked, embedder, say)
        if asked.peers is not None:
            return _beside_peers(corpus, asked, embedder, say)
        if asked.ablations:
            corpus, chosen = drop_apart(corpus), (variants.default(), *variants.ablations())
        else:
            chosen = variants.of_presets(asked.presets or _USUAL)
        found = runner.run(corpus, chosen, embedder=embedder, say=say, db=asked.db)
        return _compared(found, by_category=not asked.ablations)
    finally:
        if embedder is not None:
            embedder.close()


def _compared(run: Run, *, by_category: bool) -> Report:
    """The figures of each, then their differences where the default is among them."""
    tables = [findings.table(run, by_category=by_category)]
    found: dict[str, dict[str, object]] = findings.as_json(run)
    if variants.DEFAULT in run.answers and len(run.answers) > 1:
        tables.append(comparison.table(run, variants.DEFAULT))
        for name, differences in comparison.as_json(run, variants.DEFAULT).items():
            found[name]["difference"] = differences
    return "\n\n".join(tables), found


def _beside_peers(corpus: Corpus, asked: argparse.Namespace, embedder: CachedEmbedder | None, say: Say) -> Report:
    if embedder is None:
        raise UnknownData("--peers compares searches over the same vectors: leave --embedder none out")
    offered = peers.chosen(asked.peers, peers.offers())
    ours = runner.run(corpus, [variants.default()], embedder=embedder, say=say, db=asked.db)
    answers, ingests = peers.run(corpus, offered, embedder=embedder, say=say)
    both = replace(ours, answers={**ours.answers, **answers}, ingests={**ours.ingests, **ingests})
    return _compared(both, by_category=True)


def _within_budgets(corpus: Corpus, asked: argparse.Namespace, embedder: CachedEmbedder | None, say: Say) -> Report:
    corpus = drop_apart(corpus)
    with runner.remembered(corpus, embedder=embedder, say=say, db=asked.db) as (memory, _):
        judged = budgets.judge(memory, corpus, asked.budget, say)
    return budgets.table(judged), budgets.as_json(judged)


def _evidence(corpus: Corpus, embedder: CachedEmbedder | None, say: Say, db: str | None) -> Report:
    with runner.remembered(corpus, embedder=embedder, say=say, db=db) as (memory, _):
        judged = evidence.judge(memory, corpus, say)
    return evidence.table(judged), evidence.as_json(judged)


def _chosen(corpus: Corpus, asked: argparse.Namespace, embedder: CachedEmbedder | None, say: Say) -> Report:
    default = variants.default()
    with runner.remembered(corpus, embedder=embedder, say=say, db=asked.db) as (memory, _):
        recorded = pools.recorded(memory, corpus, default, say)
    conversations = [conversation.name for conversation in corpus.conversations]
    if asked.half is None:
        folds, how = choosing.leave_one_out(conversations), "each conversation held out in turn"
    else:
        folds, how = choosing.halves(conversations, asked.half), f"chosen on the {asked.half} half, held out the other"
    choices = choosing.choose(recorded, default.preset.weights, folds)
    if not choices:
        raise UnknownData("weights are chosen on some conversations and reported on others: give two or more")
    return choosing.table(choices, default.preset.weights, how=how), choosing.as_json(choices)


if __name__ == "__main__":
    sys.exit(main())
