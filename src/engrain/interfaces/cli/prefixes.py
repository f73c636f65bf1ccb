"""Ids by unique prefix: whoever types one may stop as soon as it means one thing alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.agent.agent import Agent
    from engrain.verbs.signatures import Signature
    from engrain.verbs.words import Identified

# Part of a UUID, at least four characters; an ellipsis at its end is of a list that shortens.
_PREFIX = re.compile(r"([0-9a-f][0-9a-f-]{3,34})(?:…|\.\.\.)?")
_SHOWN = 4


def with_whole_ids(agent: Agent, made: Signature, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a verb, with prefixes of ids made whole; what no id begins with stays as it is.

    Raises:
        InvalidInput: several ids begin with one of them.
    """
    kinds = {name: made.by_name[name].word.id_of for name in arguments if name in made.by_name}
    return {
        name: value if kinds.get(name) is None else _whole(agent, kinds[name] or "memory", value)
        for name, value in arguments.items()
    }


def check_whole_ids(made: Signature, arguments: Mapping[str, Any]) -> None:
    """Check that no id is a prefix, for a server, which looks for whole ids alone.

    Raises:
        InvalidInput: one is.
    """
    for name, value in arguments.items():
        kind = made.by_name[name].word.id_of if name in made.by_name else None
        for text in [] if kind is None else value if isinstance(value, list) else [value]:
            if _PREFIX.fullmatch(text):
                raise InvalidInput(
                    f"{text} is the beginning of an id, and a memory on a server knows whole ids alone: "
                    f"--json shows that of each {kind or 'memory'}"
                )


def _whole(agent: Agent, kind: Identified, value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(agent, kind, text) for text in value]
    prefix = _PREFIX.fullmatch(value)
    if prefix is None:
        return value
    from engrain.agent.reads.lookups import find_ids

    ids = find_ids(agent, kind, prefix[1], limit=_SHOWN + 1)
    if len(ids) > 1:
        more = " and more" if len(ids) > _SHOWN else ""
        raise InvalidInput(f"{kind} {value} is ambiguous: {', '.join(ids[:_SHOWN])}{more} begin so; type more of it")
    return ids[0] if ids else value
