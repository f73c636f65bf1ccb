"""What several commands take, written once."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from engrain.errors import InvalidInput


def one_of(words: Iterable[str]) -> str:
    """The choices, as a help text says them."""
    return f"One of: {', '.join(words)}."


Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a memory, as recall shows it.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: any text.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag to file it under; may be repeated.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many at most, 0-1000; 100 if left out.")]
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


def parsed(texts: Iterable[str] | None, *, what: str) -> list[Any] | None:
    """The JSON value of each text.

    Raises:
        InvalidInput: one of them is no JSON.
    """
    if texts is None:
        return None
    values = []
    for text in texts:
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{what} {text[:80]!r} is not JSON: {error}") from error
    return values
