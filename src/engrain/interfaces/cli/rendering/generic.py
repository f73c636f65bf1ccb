"""Records and values of any type as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.interfaces.cli import output

_HOUR_MS = 3_600_000

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.records import Record


def record(answer: Record) -> str:
    """A line for each field that is not empty, and the content last, as it was given."""
    values = answer.to_dict()
    content = values.pop("content", None)
    return output.pairs(values) if content is None else f"{output.pairs(values)}\n\n{content}"


def line(item: Record) -> str:
    """A record in one line: the values of its fields that are not empty."""
    return output.one_line("  ".join(value(part) for part in item.to_dict().values() if part not in (None, "", [], {})))


def value(answer: Any) -> str:
    """A bare value, or each of several in its own line."""
    return "\n".join(map(str, answer)) if isinstance(answer, list) else output.plain(answer)


def flat(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of each kind under names of their own: `facts active`; an age in hours as `13 s` or `2.5 h`."""
    return dict(
        _counted(f"{name} {part.replace('_', ' ')}".strip(), count)
        for name, counted in counts.items()
        for part, count in (counted.items() if isinstance(counted, dict) else [("", counted)])
    )


def _counted(name: str, count: Any) -> tuple[str, Any]:
    in_hours = name.removesuffix(" hours")
    if in_hours == name or count is None:
        return name, count
    return in_hours, output.duration(count * _HOUR_MS)
