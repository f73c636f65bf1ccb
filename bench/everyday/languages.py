"""Languages: twelve short scripts in seven languages, and the share of their expectations that hold in each."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bench.everyday.parsing import ScriptError
from bench.everyday.report import share
from bench.everyday.script import Expectation, Script, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.everyday.runner import Verdict

FOLDER = Path(__file__).parent / "translations"
LANGUAGES: Mapping[str, str] = {
    "en": "English",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
_BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
_PAUSE, _STEP = timedelta(days=3), timedelta(minutes=1)
_TOP = 3


def load_translation(language: str, *, folder: Path = FOLDER) -> Script:
    """Read the scripts of one language as one: all that is said in them, a session each, then all questions.

    So every question is asked of a memory of all scripts.

    Raises:
        ScriptError: a line is none of `=== kind/name`, `---`, `Name: text` and `? question | answer`.
    """
    path = folder / f"{language}.txt"
    statements: list[Step] = []
    questions: list[Step] = []
    session, at = "", _BEGIN
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if text.startswith("=== ") or text == "---":
            session = text.removeprefix("=== ") if text != "---" else f"{session} later"
            at += _PAUSE
        elif text.strip() and not text.startswith("#"):
            if not session:
                raise ScriptError(f"{path}:{line}: a step needs a script before it: '=== kind/name'")
            step = _read_step(path, line, text)
            at += _STEP
            if step.verb == "say":
                statements.append(replace(step, at=at, session=session))
            else:
                questions.append(replace(step, session="questions"))
    asked = tuple(replace(step, at=at + _PAUSE + number * _STEP) for number, step in enumerate(questions))
    return Script(kind="companion", name=language, title=LANGUAGES[language], steps=(*statements, *asked))


def format_languages(verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]]) -> str:
    """Format the share by language: a line for each, a column for each memory, then the aspects of engrain."""
    memories = next(iter(verdicts.values()))
    lines = [f"{'language':12} {'expected':>8}" + "".join(f" {memory:>9}" for memory in memories)]
    lines[0] += "".join(f" {aspect:>8}" for aspect in ("first", f"top {_TOP}", "block"))
    for language, of_memory in verdicts.items():
        ours = of_memory["engrain"]
        cells = [share(found) for found in of_memory.values()]
        cells += [
            share([verdict for verdict in ours if verdict.expectation is not None and verdict.expectation.name == name])
            for name in ("first", "top", "block")
        ]
        shown = [
            f"{'-' if cell is None else f'{100 * cell:.1f} %':>{9 if n < len(of_memory) else 8}}"
            for n, cell in enumerate(cells)
        ]
        lines.append(f"{LANGUAGES[language]:12} {len(ours):>8} " + " ".join(shown))
    return "\n".join(lines)


def _read_step(path: Path, line: int, text: str) -> Step:
    bare = Step(verb="say", text="", line=line, at=_BEGIN, session="", topic="plain", agent="companion")
    if text.startswith("? "):
        question, divided, answer = text.removeprefix("? ").partition(" | ")
        if not divided:
            raise ScriptError(f"{path}:{line}: a question is '? question | answer'")
        return replace(bare, verb="ask", text=question, expectations=tuple(_expect(answer, line)))
    speaker, divided, said = text.partition(": ")
    if not divided:
        raise ScriptError(f"{path}:{line}: a step is 'Name: text' or '? question | answer'")
    return replace(bare, text=said, speaker=speaker)


def _expect(answer: str, line: int) -> list[Expectation]:
    wanted = (answer,)
    return [
        Expectation(name="first", aspect="hits", line=line, text=f"first: {answer}", wanted=wanted),
        Expectation(name="top", aspect="hits", line=line, text=f"top {_TOP}: {answer}", wanted=wanted, number=_TOP),
        Expectation(name="block", aspect="block", line=line, text=f"block: {answer}", wanted=wanted),
    ]
