"""JSON schemas as clients read them best: in one piece, and without saying names again."""

from typing import Any


def plain(schema: Any) -> Any:
    """A schema without references, which some clients cannot follow, and without titles: a third of what is to be read.

    Schemas that hold themselves are none of ours.
    """
    return _plain(schema, schema.get("$defs", {}) if isinstance(schema, dict) else {})


def _plain(schema: Any, known: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(ref), **rest}:
            return _plain({**known[ref.removeprefix("#/$defs/")], **rest}, known)
        case dict():
            return {
                name: _plain(value, known)
                for name, value in schema.items()
                if name != "$defs" and not (name == "title" and isinstance(value, str))
            }
        case list():
            return [_plain(each, known) for each in schema]
        case _:
            return schema
