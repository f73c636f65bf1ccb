"""`python -m bench.learning DATA`: what a language model learns from conversations, and what it does for evidence."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.learning import facts as learned_facts
from bench.learning.replies import ReplyFolder, Traffic
from bench.retrieval import budgets, runner, variants
from bench.retrieval.corpus import UnknownData
from bench.retrieval.data_files import drop_apart, load_corpus, narrow
from bench.retrieval.vector_cache import CachedEmbedder
from engrain import EngrainError, Fact, Memory, engines
from engrain.agent.wiring.engines import configured_llm
from engrain.config import load as load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.retrieval.corpus import Corpus, Place
    from bench.retrieval.runner import Say
    from engrain.learning.consolidation.report import ConsolidationReport

BUDGETS = (200, 400, 1_000)
_NAME, _CELL = 24, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRecall:
    """The share of one question's evidence that stands in one block, before or after learning."""

    learned: bool
    budget: int
    category: str
    recall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that one run found: the facts, what is wrong with them, the traffic, and evidence by question."""

    report: ConsolidationReport
    traffic: Traffic
    facts: tuple[Fact, ...]
    near_identical: tuple[tuple[Fact, Fact], ...]
    invented: tuple[tuple[Fact, list[str]], ...]
    recalls: tuple[BlockRecall, ...]

    @property
    def duplicates(self) -> float:
        """The share of facts that say nearly the same as an older one."""
        return len({later.id for _, later in self.near_identical}) / max(1, len(self.facts))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the data, learn from it, print the table; 2 where the data, the model or an argument is of no use."""
    asked = _parser().parse_args(arguments)
    try:
        found = _run(asked)
    except (EngrainError, UnknownData, OSError) as error:
        print(f"bench.learning: {error}", file=sys.stderr)
        return 2
    print(table(found))
    for failure in found.report.failures:
        print(f"bench.learning: {failure.code}: {failure.message}", file=sys.stderr)
    if asked.facts:
        print(_list_facts(found))
    if asked.json is not None:
        asked.json.write_text(json.dumps(as_json(found), indent=2) + "\n", encoding="utf-8")
    return 0 if not found.report.failures else 1


def measure(
    corpus: Corpus, folder: ReplyFolder, embedder: CachedEmbedder | None, *, asked: Sequence[int], say: Say
) -> Findings:
    """Learn from all conversations of a corpus, and judge its questions before and after."""
    with runner.remembered(corpus, embedder=embedder, say=say, llm=folder) as (memory, _):
        recalls = _judge(memory, corpus, asked, None)
        say(f"asked {len(recalls) // len(asked)} questions before learning")
        traced: dict[str, frozenset[Place]] = {}
        facts: list[Fact] = []
        near: list[tuple[Fact, Fact]] = []
        invented: list[tuple[Fact, list[str]]] = []
        report: ConsolidationReport | None = None
        for conversation in corpus.conversations:
            done = memory.consolidate(
                agent=conversation.name, progress=lambda count: say(f"learned from {count} turns")
            )
            report = done if report is None else report + done
            agent = memory.agent(conversation.name)
            active = learned_facts.list_active_facts(agent)
            sources = learned_facts.trace_turns(agent, active)
            traced |= sources
            facts += active
            near += learned_facts.find_near_identical(active, embedder)
            invented += learned_facts.list_invented(active, sources, conversation)
        assert report is not None
        memory.flush()
        recalls += _judge(memory, corpus, asked, traced)
        say(f"asked {len(recalls) // len(asked) // 2} questions after learning")
    return Findings(
        report=report,
        traffic=folder.traffic,
        facts=tuple(facts),
        near_identical=tuple(near),
        invented=tuple(invented),
        recalls=tuple(recalls),
    )


def table(found: Findings) -> str:
    """The facts and what is wrong with them, then recall of evidence before and after, by budget and category."""
    report, traffic = found.report, found.traffic
    reasons = Counter(rejection.reason for rejection in report.rejected)
    refused = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
    cost = f"{traffic.tokens_in:,} tokens in, {traffic.tokens_out:,} out"
    lines = [
        f"{traffic.prompts} prompts for {report.episodes} turns: {cost} ({traffic.changed} are not as recorded)",
        f"{len(found.facts)} facts; {report.new} new, {report.updated} updates, {report.confirmed} confirmations",
        f"near-identical: {100 * found.duplicates:.1f} %   naming what no source has: {len(found.invented)}",
        f"refused: {refused}   unreadable entries: {len(report.parse_errors)}   failures: {len(report.failures)}",
        "",
    ]
    asked = sorted({recall.budget for recall in found.recalls})
    for figure in ("recall", "recall_all"):
        lines.append(f"{figure:<{_NAME}}" + "".join(f"{f'{budget:,}':>{_CELL}}{'after':>{_CELL}}" for budget in asked))
        for category in ("overall", *sorted({recall.category for recall in found.recalls})):
            cells = [
                _figures(found, category, budget, learned=learned) for budget in asked for learned in (False, True)
            ]
            label = f"{category}, {cells[0]['questions']:.0f}"
            lines.append(f"{label:<{_NAME}}" + "".join(f"{cell[figure]:>{_CELL}.3f}" for cell in cells))
        lines.append("")
    return "\n".join(lines)


def as_json(found: Findings) -> dict[str, object]:
    """Every figure of the run; no text of the data."""
    report, traffic = found.report, found.traffic
    categories = ("overall", *sorted({recall.category for recall in found.recalls}))
    return {
        "prompts": traffic.prompts,
        "changed_prompts": traffic.changed,
        "tokens_in": traffic.tokens_in,
        "tokens_out": traffic.tokens_out,
        "facts": len(found.facts),
        "new": report.new,
        "updated": report.updated,
        "confirmed": report.confirmed,
        "rejected": Counter(rejection.reason for rejection in report.rejected),
        "parse_errors": len(report.parse_errors),
        "failures": len(report.failures),
        "near_identical": found.duplicates,
        "invented": len(found.invented),
        "recall": {
            category: {
                str(budget): {
                    name: _figures(found, category, budget, learned=learned)
                    for name, learned in (("before", False), ("after", True))
                }
                for budget in sorted({recall.budget for recall in found.recalls})
            }
            for category in categories
        },
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.learning", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="LoCoMo's or LongMemEval's JSON file")
    parser.add_argument(
        "--replies", type=Path, metavar="FOLDER", help="recorded replies; what is missing is asked and recorded there"
    )
    parser.add_argument(
        "--llm", metavar="NAME", help="provider:model, or none to replay alone (default: the setting llm.model)"
    )
    parser.add_argument(
        "--conversations", type=int, nargs="+", metavar="N", help="only these, by their place in DATA from 1"
    )
    parser.add_argument("--budget", type=int, nargs="+", default=BUDGETS, metavar="TOKENS", help="sizes of blocks")
    parser.add_argument("--facts", action="store_true", help="list what was learned, and what is wrong with it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument(
        "--embedder", default="minilm", metavar="NAME", help="provider:model (default: minilm), or none"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path.home() / ".cache" / "engrain-bench",
        metavar="DIR",
        help="where vectors are kept",
    )
    return parser


def _run(asked: argparse.Namespace) -> Findings:
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:7.1f} s  {text}", file=sys.stderr, flush=True)

    corpus = drop_apart(narrow(load_corpus(asked.data), asked.conversations, None))
    inner = configured_llm(load_settings(), asked.llm)
    if inner is None and asked.replies is None:
        raise UnknownData("nobody learns: set llm.model (and llm.command), or name a folder of --replies")
    with ExitStack() as stack:
        folder = asked.replies or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="engrain-bench-")))
        engine = engines.embedder(asked.embedder)
        embedder = None if engine is None else CachedEmbedder(engine, asked.cache)
        if embedder is not None:
            stack.callback(embedder.close)
        return measure(corpus, ReplyFolder(folder, inner), embedder, asked=asked.budget, say=say)


def _judge(
    memory: Memory, corpus: Corpus, asked: Sequence[int], traced: Mapping[str, frozenset[Place]] | None
) -> list[BlockRecall]:
    """Every question that has evidence in every budget; a fact of `traced` carries the turns it was learned from."""
    recalls: list[BlockRecall] = []
    for conversation in corpus.conversations:
        agent = variants.agent(memory, conversation.name, [], now=conversation.now)
        for question in conversation.questions:
            for budget in asked if question.gold_turns else ():
                block = agent.context(question.text, budget_tokens=budget)
                there = budgets.standing(block, traced) & question.gold_turns
                recalls.append(
                    BlockRecall(
                        learned=traced is not None,
                        budget=budget,
                        category=question.category,
                        recall=len(there) / len(question.gold_turns),
                    )
                )
    return recalls


def _figures(found: Findings, category: str, budget: int, *, learned: bool) -> dict[str, float]:
    recalls = [
        item.recall
        for item in found.recalls
        if item.learned == learned and item.budget == budget and category in ("overall", item.category)
    ]
    count = max(1, len(recalls))
    return {
        "questions": len(recalls),
        "recall": math.fsum(recalls) / count,
        "recall_all": sum(recall == 1 for recall in recalls) / count,
    }


def _list_facts(found: Findings) -> str:
    lines = [f"{fact.subject} | {fact.predicate} | {fact.content}" for fact in found.facts]
    lines += ["", *(f"near-identical: {one.content} / {two.content}" for one, two in found.near_identical)]
    lines += ["", *(f"no source has {', '.join(names)}: {fact.content}" for fact, names in found.invented)]
    return "\n".join([*lines, "", *(str(error) for error in found.report.parse_errors)])


if __name__ == "__main__":
    sys.exit(main())
