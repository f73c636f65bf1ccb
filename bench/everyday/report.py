"""Tables of verdicts: the share of expectations that hold by kind, topic and aspect, and what fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.everyday.runner import Verdict

GROUPINGS: Mapping[str, Callable[[Verdict], str]] = {
    "kind": lambda verdict: verdict.script.kind,
    "topic": lambda verdict: verdict.step.topic,
    "aspect": lambda verdict: "error" if verdict.expectation is None else verdict.expectation.aspect,
}


def share(verdicts: Sequence[Verdict]) -> float | None:
    """Return the share of verdicts that hold; None where there are none."""
    return sum(verdict.holds for verdict in verdicts) / len(verdicts) if verdicts else None


def group(verdicts: Sequence[Verdict], grouping: str) -> dict[str, list[Verdict]]:
    """Return the verdicts by kind, topic or aspect."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(GROUPINGS[grouping](verdict), []).append(verdict)
    return groups


def format_table(verdicts: Mapping[str, Sequence[Verdict]], grouping: str) -> str:
    """Format the share by one grouping: a line for each group, a column for each memory, and all together."""
    groups = {memory: group(of_memory, grouping) for memory, of_memory in verdicts.items()}
    names = sorted({name for of_memory in groups.values() for name in of_memory})
    counts = {name: max(len(of_memory.get(name, ())) for of_memory in groups.values()) for name in names}
    lines = [f"{grouping:16} {'expected':>8}" + "".join(f" {memory:>9}" for memory in verdicts)]
    lines += [_line(name, counts[name], [groups[memory].get(name, []) for memory in verdicts]) for name in names]
    if grouping == "kind":
        lines.append(_line("all", max(map(len, verdicts.values())), list(verdicts.values())))
    return "\n".join(lines)


def draw(verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    """Draw the share by kind as SVG: a bar for each memory, and all kinds together."""
    kinds = {memory: group(of_memory, "kind") | {"all": list(of_memory)} for memory, of_memory in verdicts.items()}
    shares = {
        kind: {memory: share(of_memory[kind]) or 0.0 for memory, of_memory in kinds.items()}
        for kind in kinds["engrain"]
    }
    return plots.bars(plots.PLOTS["everyday.svg"].title, shares)


def format_failures(verdicts: Sequence[Verdict]) -> str:
    """Format what fails: file and line of each step, then its expectations and what the reply had instead."""
    lines: list[str] = []
    before = None
    for verdict in verdicts:
        if verdict.holds:
            continue
        step = verdict.step
        if before != (verdict.script.id, step.line):
            head = step.speaker or (step.role if step.verb == "say" else step.verb)
            lines.append(f"{verdict.script.id}.txt:{step.line} [{step.topic}] {head}: {step.text}")
        before = verdict.script.id, step.line
        expected = "no error" if verdict.expectation is None else verdict.expectation.text
        lines.append(f"    {expected}  <- {verdict.problem}")
    return "\n".join(lines)


def as_json(verdicts: Mapping[str, Sequence[Verdict]]) -> dict[str, Any]:
    """Return every figure and every verdict, as JSON values."""
    return {
        memory: {
            "share": share(of_memory),
            **{
                grouping: {
                    name: {"expected": len(some), "share": share(some)}
                    for name, some in sorted(group(of_memory, grouping).items())
                }
                for grouping in GROUPINGS
            },
            "verdicts": [
                {
                    "script": verdict.script.id,
                    "line": (verdict.expectation or verdict.step).line,
                    "topic": verdict.step.topic,
                    "step": verdict.step.text,
                    "expected": None if verdict.expectation is None else verdict.expectation.text,
                    "problem": verdict.problem,
                }
                for verdict in of_memory
            ],
        }
        for memory, of_memory in verdicts.items()
    }


def _line(name: str, count: int, groups: Sequence[Sequence[Verdict]]) -> str:
    shares = [share(some) for some in groups]
    return f"{name:16} {count:>8,}" + "".join(f" {'' if one is None else f'{one:.3f}':>9}" for one in shares)
