"""Write the types of the TypeScript client from the description of the HTTP API, and its errors from the library's.

They are src/api.ts and src/errors.ts of clients/typescript; `--check` fails where one is out of date.
`generate_reference.py` runs this too.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain import errors
from engrain.domain.pagination import Page
from engrain.errors import EngrainError
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.service import Memory
from engrain.verbs.signatures import signatures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engrain.verbs.signatures import Signature

SOURCE = Path(__file__).resolve().parent.parent / "clients" / "typescript" / "src"
HEAD = "// Written by tools/generate_typescript.py; do not edit."
REF = "#/components/schemas/"
# What a JSON value of any type is described as.
ANY = {"array", "boolean", "null", "number", "object", "string"}
TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
VALUES: Mapping[Any, str] = {
    int: "number",
    str: "string",
    bool: "boolean",
    list[str]: "Array<string>",
    dict[str, Any]: "Record<string, unknown>",
}
ERROR = """
/** Root of all errors of the client; `code` is stable across releases. */
export class EngrainError extends Error {
  readonly code: string;
  /** The HTTP status; undefined where no server answered. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The seconds after which to try again; 0 where nothing says so. */
  readonly retryAfterS: number;

  constructor(code: string, message: string, about: ErrorAbout = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = about.status;
    this.requestId = about.requestId;
    this.retryAfterS = about.retryAfterS ?? 0;
  }
}

/** What is known of an error besides its code and message. */
export interface ErrorAbout {
  status?: number;
  requestId?: string;
  retryAfterS?: number;
  cause?: unknown;
}
"""


def files() -> dict[Path, str]:
    """The generated files, by their paths."""
    with Memory.open(":memory:", embedder="none") as memory:
        document = create_app(memory, gate=Gate(memory, keys_required=True)).openapi()
    return {SOURCE / "api.ts": _api(document), SOURCE / "errors.ts": _errors()}


def _errors() -> str:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EngrainError)]
    classes = [
        f"/** {_sentence(kind.__doc__)} */\nexport class {kind.__name__} extends {kind.__base__.__name__} {{}}\n"
        for kind in kinds
        if kind is not EngrainError and kind.__base__ is not None
    ]
    table = "".join(f"  {kind.code}: {kind.__name__},\n" for kind in kinds)
    head = "/** The classes of errors by their codes. */\nexport const ERRORS: Record<string, typeof EngrainError> = {"
    return "\n".join([HEAD, ERROR, *classes, f"{head}\n{table}}};", ""])


def _api(document: Mapping[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    operations = {
        operation["x-engrain-verb"]: operation
        for path in document["paths"].values()
        for operation in path.values()
        if "x-engrain-verb" in operation
    }
    arguments = [_arguments(found, operations[found.verb.name], schemas) for found in signatures()]
    groups: dict[str | None, list[Signature]] = {}
    for found in signatures():
        groups.setdefault(found.verb.group, []).append(found)
    verbs = [_verbs(group, members, operations) for group, members in groups.items() if group is not None]
    own = _verbs(None, groups[None], operations, [f"  readonly {group}: {_group(group)};" for group in groups if group])
    body = "\n".join([*arguments, *verbs, own, _table()])
    records = [_declaration(name, schemas[name]) for name in _reachable(f"{body} AdmittedCaller", schemas)]
    imports = 'import type { CallOptions, Download, Operation, Paged } from "./connection.js";'
    return "\n".join([HEAD, "", imports, "", *records, body])


def _reachable(body: str, schemas: Mapping[str, Any]) -> list[str]:
    """The schemas that the verbs name, and those inside them."""
    found: set[str] = set()
    waiting = [name for name in schemas if re.search(rf"\b{name}\b", body)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return sorted(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str) and reference.startswith(REF):
            yield reference.removeprefix(REF)
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    described = f"/** {_sentence(schema.get('description'))} */\n"
    if "properties" not in schema:
        return f"{described}export type {name} = {_type(schema)};\n"
    return f"{described}export interface {name} {{\n{_properties(schema)}}}\n"


def _properties(schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    return "".join(
        _property(name, of, is_required=name in required) for name, of in schema.get("properties", {}).items()
    )


def _property(name: str, schema: Mapping[str, Any], *, is_required: bool) -> str:
    described = f"  /** {_sentence(schema['description'])} */\n" if "description" in schema else ""
    return f"{described}  {name}{'' if is_required else '?'}: {_type(schema)};\n"


def _type(schema: Mapping[str, Any]) -> str:
    """The TypeScript type of a schema."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " | ".join(dict.fromkeys(_type(choice) for choice in choices))
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    return _plain_type(schema)


def _plain_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return "unknown" if set(kind) == ANY else " | ".join(_plain_type({**schema, "type": name}) for name in kind)
    if kind == "array":
        return f"Array<{_type(schema['items'])}>"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if isinstance(values, dict) and values else 'unknown'}>"
    return TYPES.get(str(kind), "unknown")


def _arguments(found: Signature, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """The interface of a verb's arguments, wherever a request carries them; empty where it takes none."""
    rows = [
        _property(parameter["name"], parameter["schema"] | _described(parameter), is_required=parameter["required"])
        for parameter in operation.get("parameters", ())
        if parameter.get("in") in {"path", "query"}
    ]
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        rows.append(_properties(schemas[content["application/json"]["schema"]["$ref"].removeprefix(REF)]))
    elif found.verb.takes:
        rows.append("  /** The file. One of the disk: `await fs.openAsBlob(path)`. */\n  file: Blob;\n")
    if found.takes_key:
        rows.append("  /** Key of this write; a fresh one if left out. */\n  idempotency_key?: string;\n")
    if not rows:
        return ""
    return (
        f"/** Arguments of `{found.verb.name}`. */\nexport interface {_arguments_name(found)} {{\n{''.join(rows)}}}\n"
    )


def _described(parameter: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": parameter["description"]} if "description" in parameter else {}


def _arguments_name(found: Signature) -> str:
    return f"{_pascal(found.verb.identifier)}Arguments"


def _verbs(
    group: str | None,
    members: Sequence[Signature],
    operations: Mapping[str, Mapping[str, Any]],
    more: Sequence[str] = (),
) -> str:
    rows = [_method(found, operations[found.verb.name]) for found in members]
    title = "Verbs of a memory, and its groups of verbs." if group is None else f"Verbs of `{group}`."
    return "\n".join([f"/** {title} */", f"export interface {_group(group)} {{", *rows, *more, "}", ""])


def _method(found: Signature, operation: Mapping[str, Any]) -> str:
    parameters = [name for name, place in found.placement.items() if place != "key"]
    is_required = found.verb.takes or any(found.by_name[name].is_required for name in parameters)
    takes_any = is_required or bool(parameters) or found.takes_key
    given = f"args{'' if is_required else '?'}: {_arguments_name(found)}, " if takes_any else "args?: {}, "
    name = _camel(found.verb.method_name)
    return f"  /** {found.summary} */\n  {name}({given}options?: CallOptions): {_answer(found, operation)};"


def _answer(found: Signature, operation: Mapping[str, Any]) -> str:
    """The type of a verb's answer, as a promise or as pages."""
    if found.verb.sends:
        return "Promise<Download>"
    if found.answer is None:
        return "Promise<void>"
    success = next(response for status, response in operation["responses"].items() if status in {"200", "201"})
    answer = _type(success["content"]["application/json"]["schema"])
    if found.verb.field is not None:
        return f"Promise<{_library_type(found.answer)}>"
    if found.item is not None:
        item = answer.removesuffix("Page")
        return f"Paged<{item}>" if _is_paged(found) else f"Promise<Array<{item}>>"
    return f"Promise<{answer}{' | null' if found.is_optional else ''}>"


def _library_type(of: Any) -> str:
    """The type of a bare value."""
    return VALUES[of]


def _is_paged(found: Signature) -> bool:
    return getattr(found.answer, "__origin__", None) is Page


def _table() -> str:
    """The requests of all verbs, for the code that sends them."""
    rows = "".join(f"  {json.dumps(_operation(found))},\n" for found in signatures())
    return f"/** The request of each verb. */\nexport const OPERATIONS: ReadonlyArray<Operation> = [\n{rows}];\n"


def _operation(found: Signature) -> dict[str, Any]:
    verb, places = found.verb, found.placement
    method, path = verb.route.split()
    return {
        "verb": verb.name,
        "group": verb.group,
        "name": _camel(verb.method_name),
        "method": method,
        "path": f"/v1{path.replace('_}', '}')}",
        "query": [
            *(found.by_name[name].json_name for name, place in places.items() if place == "query"),
            *(["filename"] if verb.name == "import_file" else []),
        ],
        "hasBody": "body" in places.values(),
        "takes": verb.takes[0] if verb.takes else None,
        "takesKey": found.takes_key,
        "changes": verb.effect != "reads",
        "isRepeatable": found.is_repeatable,
        "isSlow": found.is_slow,
        "answer": _answer_kind(found),
        "isOptional": found.is_optional,
    }


def _answer_kind(found: Signature) -> Any:
    if found.verb.sends:
        return "file"
    if found.answer is None:
        return "none"
    if found.verb.field is not None:
        return {"field": found.verb.field}
    if found.item is not None:
        return "pages" if _is_paged(found) else "items"
    return "record"


def _group(group: str | None) -> str:
    return "Verbs" if group is None else f"{_pascal(group)}Verbs"


def _pascal(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def _sentence(text: str | None) -> str:
    """A description as one line of a comment."""
    return " ".join((text or "").split()).replace("*/", "* /")


def main(arguments: list[str]) -> int:
    """Write the files, or with --check say which are out of date."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            sys.stderr.write(f"{path.name} of the TypeScript client is out of date: python {sys.argv[0]}\n")
        else:
            path.write_text(files()[path], encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
