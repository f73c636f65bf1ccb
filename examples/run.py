"""Example of `make run`: imports a conversation, asks it questions, and shows the hits with their explanations.

    python examples/run.py
    python examples/run.py --file export.json --ask "Where did we park?"

Without --file it is the chat beside this file, with its six questions and the messages that answer them marked.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engrain import EngrainError, Episode, Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain import Agent, Hit

EXAMPLES = Path(__file__).resolve().parent
SAMPLE = EXAMPLES / "two_friends.jsonl"
QUESTIONS = EXAMPLES / "questions.json"
AGENT = "demo"
LIMIT = 7
BUDGET_TOKENS = 300


class Question(NamedTuple):
    """Question with the messages that answer it as (session, turn counted from 1), where they are known."""

    text: str
    evidence: frozenset[tuple[str, int]] = frozenset()
    shows: str = ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Import, ask, and say what to try next."""
    chosen = parse(arguments)
    questions = [Question(text) for text in chosen.ask] if chosen.ask else [] if chosen.file else sample_questions()
    chosen.db.parent.mkdir(parents=True, exist_ok=True)
    with Memory.open(chosen.db) as memory:
        agent = memory.agent(AGENT)
        print(f"memory: {chosen.db}")
        add(memory, agent, chosen.file or SAMPLE)
        found = sum(ask(agent, number, question) for number, question in enumerate(questions, start=1))
        wanted = sum(len(question.evidence) for question in questions)
        if wanted:
            print(
                f"\nOf the {wanted} messages that answer the questions, {found} are among the first {LIMIT} hits (-->)."
            )
        if questions:
            show_context(agent, questions[-1].text)
        else:
            show_stats(agent)
    show_commands(chosen.db, questions[0].text if questions else "your question")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with the file of the memory under the repository where none is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, help="an export: ChatGPT, Claude, Claude Code, OpenAI, LoCoMo or JSONL")
    parser.add_argument("--ask", metavar="QUESTION", nargs="+", action="extend", help="what to ask it")
    parser.add_argument("--db", type=Path, help="the memory's file (default: .engrain/ under the repository)")
    chosen = parser.parse_args(arguments)
    if chosen.db is None:
        name = "demo" if chosen.file is None else f"demo-{chosen.file.stem}"
        chosen.db = EXAMPLES.parent / ".engrain" / f"{name}.db"
    return chosen


def sample_questions() -> list[Question]:
    """The six questions about the chat."""
    return [
        Question(
            text=entry["ask"],
            evidence=frozenset((place["session"], place["turn"] + 1) for place in entry["evidence"]),
            shows=entry["why"],
        )
        for entry in json.loads(QUESTIONS.read_text(encoding="utf-8"))
    ]


def add(memory: Memory, agent: Agent, file: Path) -> None:
    """Import a file and make its vectors; a second time adds nothing."""
    start = time.perf_counter()
    report = agent.import_file(file)
    memory.flush()
    taken_s = time.perf_counter() - start
    print(f"imported {report.path} ({report.format}), vectors made, in {taken_s:.1f} s:")
    print(f"  {report.added:,} turns added, {report.present:,} already there, {report.sessions:,} sessions")
    for broken in report.broken[:5]:
        print(f"  passed over: {broken.position}: {broken.reason}")


def ask(agent: Agent, number: int, question: Question) -> int:
    """Print the hits of one question; how many messages that answer it are among them."""
    start = time.perf_counter()
    answer = agent.recall(question.text, limit=LIMIT)
    taken_ms = (time.perf_counter() - start) * 1000
    print(f"\n{number}. {question.text}   ({taken_ms:.0f} ms)")
    if question.shows:
        print(wrapped(question.shows, indent=3))
    for note in answer.degraded:
        print(f"   note: {note}")
    for hit in answer:
        show_hit(hit, is_evidence=place_of(hit) in question.evidence)
    if not answer:
        print("   nothing found")
    return len(question.evidence & {place_of(hit) for hit in answer})


def place_of(hit: Hit) -> tuple[str, int]:
    """Session and turn of what was said; facts have none."""
    memory = hit.memory
    return (memory.session or "", memory.turn) if isinstance(memory, Episode) else ("", 0)


def show_hit(hit: Hit, *, is_evidence: bool) -> None:
    """One hit, with an arrow where it is one of the answers."""
    memory = hit.memory
    speaker = (memory.speaker or memory.role) if isinstance(memory, Episode) else memory.subject
    said = wrapped(f"{memory.happened_at:%Y-%m-%d} {speaker}: {memory.content}", indent=7)
    shares = " + ".join(f"{contribution.channel} {contribution.value:.2f}" for contribution in hit.why.contributions)
    print(f"{'  --> ' if is_evidence else '      '}{said.removeprefix(' ' * 6)}")
    words = f", words: {' '.join(hit.why.matched_terms)}" if hit.why.matched_terms else ""
    print(wrapped(f"score {hit.score:.2f} = {shares}{words}", indent=9))


def show_context(agent: Agent, text: str) -> None:
    """The block an agent would put into its prompt."""
    block = agent.context(text, budget_tokens=BUDGET_TOKENS)
    print(f'\nThe context block for "{text}", {block.tokens} of {BUDGET_TOKENS} tokens:\n')
    print(textwrap.indent(block.text, "    "))


def show_stats(agent: Agent) -> None:
    """Describe the imported memories."""
    print()
    for name, value in agent.stats().to_dict().items():
        counts = value.items() if isinstance(value, dict) else [("", value)]
        for state, count in counts:
            print(f"   {f'{name} {state}':<28}{count}")


def show_commands(db: Path, question: str) -> None:
    """The command line on the same file."""
    command = [executable(), "--db", near(db), "--agent", AGENT]
    print("\nTry next:")
    for words in (
        ["recall", question],
        ["context", question, "--budget", "500"],
        ["remember", "Trieste", "--subject", "Noor", "--predicate", "lives in"],
        ["stats"],
    ):
        print(f"  {shlex.join([*command, *words])}")
    print('  make run FILE=export.json ASK="..."   your own export from ChatGPT, Claude or Claude Code')


def executable() -> str:
    """The command for engrain in this shell: the one beside this Python, which need not be on the PATH."""
    beside = Path(sys.executable).parent / "engrain"
    return near(beside) if beside.exists() else "engrain"


def near(path: Path) -> str:
    """The path as it is written from here, where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def wrapped(text: str, *, indent: int) -> str:
    """The text at the width of the terminal."""
    width = min(shutil.get_terminal_size((110, 24)).columns, 110)
    return textwrap.fill(
        " ".join(text.split()), width=width, initial_indent=" " * indent, subsequent_indent=" " * indent
    )


if __name__ == "__main__":
    try:
        main()
    except EngrainError as error:
        raise SystemExit(f"examples/run.py: {error}") from error
