"""What several commands take, written once."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from engrain.errors import InvalidInput
from engrain.retrieval.presets import PRESETS


def one_of(words: Iterable[str]) -> str:
    """The choices, as a help text says them."""
    return f"One of: {', '.join(words)}."


Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a memory, as recall shows it.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: any text.")]
PresetName = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help=f"How to rank (ENGRAIN_RETRIEVAL__PRESET). {one_of(PRESETS)}"),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag to file it under; may be repeated.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many at most, 0-1000; 100 if left out.")]
After = Annotated[
    str | None, typer.Option("--after", metavar="CURSOR", help="The next page: `next` of the page before.")
]
Scope = Annotated[
    str | None, typer.Option("--scope", metavar="NAME", help="global (every agent), the agent's name, or pool:NAME.")
]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was believed at that time, ISO 8601.")]
IncludeInactive = Annotated[
    bool,
    typer.Option("--include-inactive", help="Also what is superseded, retracted, expired or forgotten."),
]
ValidFrom = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Since when it is true, ISO 8601.")]
ValidTo = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Until when it is true, ISO 8601.")]
Source = Annotated[str | None, typer.Option("--source", metavar="WORDS", help="Where it comes from.")]
SourceEpisode = Annotated[
    str | None, typer.Option("--source-episode", metavar="ID", help="Episode it was learned from.")
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="The same key again gives what was stored first."),
]
ToolCalls = Annotated[
    list[str] | None, typer.Option("--tool-call", metavar="JSON", help="One tool call of the turn; may be repeated.")
]
Importance = Annotated[
    float | None,
    typer.Option("--importance", metavar="X", help="How much it matters, 0-10; the words tell if left out."),
]
Confidence = Annotated[float, typer.Option("--confidence", metavar="P", help="How sure it is, 0-1; 1 if left out.")]
Metadata = Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="A JSON object of your own.")]


def parsed(texts: Iterable[str] | None, *, what: str) -> list[Any] | None:
    """The JSON value of each text.

    Raises:
        InvalidInput: one of them is no JSON.
    """
    return None if texts is None else [_value(text, what=what) for text in texts]


def json_object(text: str | None, *, what: str) -> dict[str, Any] | None:
    """The JSON object that a text is.

    Raises:
        InvalidInput: it is no JSON, or no object.
    """
    if text is None:
        return None
    value = _value(text, what=what)
    if not isinstance(value, dict):
        raise InvalidInput(f"""{what} {text[:80]!r} is no JSON object; write it as '{{"name": "value"}}'""")
    return value


def _value(text: str, *, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} {text[:80]!r} is not JSON: {error}") from error
