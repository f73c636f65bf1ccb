"""`python -m bench.everyday`: the share of expectations that hold in scripted conversations of several days.

Each script is a conversation with what a good memory answers at its steps. Nothing needs a language model. The baseline
is plain vectors: every text as it was said, by the same embedder, the nearest by cosine first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.everyday import report
from bench.everyday.engrain_host import EngrainHost
from bench.everyday.languages import LANGUAGES, format_languages, load_translation
from bench.everyday.parsing import KINDS, SCRIPTS, ScriptError, load_scripts
from bench.everyday.runner import judge_script
from bench.everyday.shared_embedder import SharedEmbedder
from bench.everyday.showing_host import ShowingHost
from bench.everyday.vectors_host import VectorsHost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.everyday.runner import Verdict
    from bench.everyday.script import Script


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scripts and print the tables; 2 where a script is not valid."""
    parser = argparse.ArgumentParser(prog="python -m bench.everyday", description=__doc__)
    parser.add_argument("--kind", choices=KINDS, help="only the scripts of one kind")
    parser.add_argument("--script", metavar="NAME", help="only one script, such as companion/cat_name")
    parser.add_argument("--scripts", type=Path, metavar="FOLDER", default=SCRIPTS, help="your own, by kind")
    parser.add_argument("--baseline", choices=["vectors", "none"], default="vectors", help="what to compare with")
    parser.add_argument("--db", default=":memory:", metavar="URL", help="an empty PostgreSQL database")
    parser.add_argument("--languages", action="store_true", help="twelve short scripts in seven languages instead")
    parser.add_argument("--verbose", action="store_true", help="list what fails with the baseline, too")
    parser.add_argument("--show", action="store_true", help="show the conversations instead of the tables")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure and verdict there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the shares by kind there as SVG")
    chosen = parser.parse_args(arguments)
    try:
        scripts = load_scripts(chosen.kind, chosen.script, folder=chosen.scripts)
    except ScriptError as error:
        print(f"bench.everyday: {error}", file=sys.stderr)
        return 2
    if chosen.languages:
        return _compare_languages(chosen)
    if chosen.show:
        show_scripts(scripts, location=chosen.db)
        return 0
    begun = time.process_time()
    verdicts = judge_scripts(scripts, location=chosen.db, with_vectors=chosen.baseline == "vectors")
    for memory, of_memory in verdicts.items():
        if memory == "engrain" or chosen.verbose:
            print(f"What fails with {memory}:\n{report.format_failures(of_memory)}\n")
    for grouping in report.GROUPINGS:
        print(f"{report.format_table(verdicts, grouping)}\n")
    spent_s = time.process_time() - begun
    print(f"{len(scripts)} scripts, {sum(len(script.steps) for script in scripts):,} steps; {spent_s:.0f} s of CPU")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(report.as_json(verdicts), indent=2) + "\n", encoding="utf-8")
    if chosen.plot is not None:
        chosen.plot.write_text(report.draw(verdicts), encoding="utf-8")
    return 0


def _compare_languages(chosen: argparse.Namespace) -> int:
    """Print what fails in each language, and the shares beside each other."""
    verdicts = {
        language: judge_scripts(
            [load_translation(language)], location=chosen.db, with_vectors=chosen.baseline == "vectors"
        )
        for language in LANGUAGES
    }
    for language, of_memory in verdicts.items():
        print(f"What fails in {LANGUAGES[language]}:\n{report.format_failures(of_memory['engrain'])}\n")
    print(format_languages(verdicts))
    if chosen.json is not None:
        figures = {language: report.as_json(of_memory) for language, of_memory in verdicts.items()}
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def show_scripts(scripts: Sequence[Script], *, location: str = ":memory:") -> None:
    """Print scripts as they go, and how many of their expectations hold."""
    embedder = SharedEmbedder()
    for script in scripts:
        print(f"{script.title}\n")
        with EngrainHost(script, embedder=embedder, location=location) as host:
            verdicts = list(judge_script(script, ShowingHost(host)))
        print(f"\n{sum(verdict.holds for verdict in verdicts)} of {len(verdicts)} expectations hold\n")


def judge_scripts(
    scripts: Sequence[Script], *, location: str = ":memory:", with_vectors: bool = True
) -> dict[str, list[Verdict]]:
    """Run scripts with engrain, and with plain vectors if asked for; return the verdicts of each in order."""
    embedder = SharedEmbedder()
    verdicts: dict[str, list[Verdict]] = {"engrain": []}
    if with_vectors:
        verdicts["vectors"] = []
    for script in scripts:
        with EngrainHost(script, embedder=embedder, location=location) as host:
            verdicts["engrain"] += judge_script(script, host)
        if with_vectors:
            verdicts["vectors"] += judge_script(script, VectorsHost(embedder=embedder))
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
