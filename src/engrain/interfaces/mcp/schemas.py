"""JSON schemas of tools, in one piece for clients that cannot follow references."""

from typing import Any


def simplify_arguments(schema: Any) -> Any:
    """Return a tool's argument schema in one piece, where what may be left out is no alternative to null.

    The server takes a null all the same. It would be a third of what a model reads of the arguments.
    """
    return _drop_null(inline_references(schema))


def _drop_null(schema: Any) -> Any:
    match schema:
        case {"anyOf": [dict() as only, {"type": "null"}], "default": None, **rest}:
            return _drop_null({**only, **rest})
        case {"default": None, **rest}:
            return _drop_null(rest)
        case dict():
            return {name: _drop_null(value) for name, value in schema.items()}
        case list():
            return [_drop_null(item) for item in schema]
        case _:
            return schema


def inline_references(schema: Any) -> Any:
    """Return a schema without references, which some clients cannot follow, and without titles: a third of its size.

    Recursive schemas are not supported; none of ours is.
    """
    return _inline(schema, schema.get("$defs", {}) if isinstance(schema, dict) else {})


def _inline(schema: Any, known: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(ref), **rest}:
            return _inline({**known[ref.removeprefix("#/$defs/")], **rest}, known)
        case dict():
            return {
                name: _inline(value, known)
                for name, value in schema.items()
                if name != "$defs" and not (name == "title" and isinstance(value, str))
            }
        case list():
            return [_inline(item, known) for item in schema]
        case _:
            return schema
