"""Write the reference tables of docs/ from the verbs and the settings, between `<!-- KIND NAME -->` and `<!-- end -->`.

And the types of the TypeScript client (`generate_typescript`), the newest schema of SQLite (`generate_schema`), and the
plots of measured figures (`bench.plots`).
`python tools/generate_reference.py` writes them, `--check` fails where one is out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engrain import errors
from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, fields
from engrain.interfaces.cli.commands import SECTIONS, LazyCommand, parser
from engrain.metrics import COUNTERS, HISTOGRAMS
from engrain.verbs.signatures import signatures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.config.section import Setting
    from engrain.verbs.signatures import Parameter, Signature

DOCS = Path(__file__).resolve().parent.parent / "docs"
OTHERS = [Path(__file__).with_name(name) for name in ("generate_typescript.py", "generate_schema.py")]
BLOCK = re.compile(r"^<!-- (?P<kind>\w+) (?P<name>[^\n]+) -->\n(?P<body>.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
# Headings of the routes of verbs without a group, by the facade that has them.
UNGROUPED = {"agent": "memories", "memory": "maintenance"}
# Options of every command, which stand once in the page.
SHARED = frozenset({"--db", "--agent", "--user", "--tenant", "--config", "--key", "--json", "--help"})


def command_options(name: str) -> str:
    """The arguments and options of a command, or of every command (`engrain`), as rows of a table."""
    if name == "engrain":
        return _table(parser().params)
    command: Any = parser()
    for word in name.split():
        command = command.commands[word]
    assert isinstance(command, LazyCommand)
    return _table([parameter for parameter in command.command.params if not SHARED & set(parameter.opts)])


def commands(_: str) -> str:
    """All commands by what they are for, each with a link to its section."""
    rows = []
    for title, names in SECTIONS.items():
        links = [f"[{path}](#{path.replace(' ', '-')})" for path in _paths(names)]
        rows.append(f"| {title} | {', '.join(links)} |")
    return "\n".join(["| to | commands |", "|---|---|", *rows, ""])


def _paths(names: Sequence[str]) -> list[str]:
    """What is typed to run commands, and those of groups: `rules add`."""
    paths = []
    for name in names:
        group = getattr(parser().commands[name], "commands", None)
        paths += [name] if group is None else [f"{name} {inner}" for inner in group]
    return paths


def routes(_: str) -> str:
    """The routes of all verbs by group, with the role that each needs and what it does."""
    rows, group = ["| route | verb | role | |", "|---|---|---|---|"], None
    for found in signatures():
        if (name := found.verb.group or UNGROUPED[found.verb.owner]) != group:
            group = name
            rows.append(f"| **{group}** | | | |")
        method, path = found.verb.route.split()
        route = f"{method} /v1{path.replace('_}', '}')}"
        notes = [" Answers pages."] if found.has_pages else []
        notes += [" Takes an Idempotency-Key."] if found.takes_key else []
        rows.append(f"| `{route}` | `{found.verb.name}` | {found.verb.role} | {found.summary}{''.join(notes)} |")
    return "\n".join([*rows, "| `GET /v1/caller` | `caller` | reader | Say as whom the request is served. |", ""])


def tools(_: str) -> str:
    """The tools of the profile `all`, with their arguments and what each does."""
    rows = [
        f"| `{found.verb.identifier}({', '.join(map(_argument, _arguments(found)))})` | {found.summary} |"
        for found in signatures()
        if found.verb.tool
    ]
    return "\n".join(["| tool | |", "|---|---|", *rows, ""])


def verbs(owner: str) -> str:
    """The verbs of the memory, of an agent or of one group, with their parameters, their answers and what they do."""
    rows = [
        f"| `.{found.verb.name}({', '.join(_parameters(found))})` | {_answer(found)} | {_cell(found)} |"
        for found in signatures()
        if (found.verb.group or found.verb.owner) == owner
    ]
    return "\n".join(["| verb | answer | |", "|---|---|---|", *rows, ""])


def error_classes(_: str) -> str:
    """Every error below the root with the class it is a kind of, its code and what it says."""
    rows = [
        f"| `{kind.__name__}`{_kind_of(kind)} | `{kind.code}` | {inspect.getdoc(kind) or ''}".partition("\n")[0] + " |"
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.EngrainError) and kind is not errors.EngrainError
    ]
    return "\n".join(["| error | code | |", "|---|---|---|", *rows, ""])


def _kind_of(kind: type) -> str:
    bases = [base.__name__ for base in kind.__bases__ if base is not errors.EngrainError]
    return f" (`{'`, `'.join(bases)}`)" if bases else ""


def metrics(_: str) -> str:
    """Every counter and histogram of a process, with what it counts or times."""
    rows = [f"| `{name}` | {text} |" for name, text in sorted({**COUNTERS, **HISTOGRAMS}.items())]
    return "\n".join(["| number | |", "|---|---|", *rows, ""])


def settings(_: str) -> str:
    """Every setting with its variable, its default and what it is for."""
    rows = [
        f"| `{name}` | `{ENV_PREFIX}{name.upper().replace('.', ENV_DELIMITER)}` | {_default(name, field)} "
        f"| {field.description} |"
        for name, field in fields().items()
    ]
    return "\n".join(["| setting | environment | default | |", "|---|---|---|---|", *rows, ""])


def _default(name: str, field: Setting) -> str:
    """The default of a setting; that of the database depends on the machine."""
    return "the user's data folder, `memory.db`" if name == "db" else f"`{field.default}`"


def _parameters(found: Signature) -> list[str]:
    """Those of the method in Python, with their defaults; `name=` for None."""
    declared = list(inspect.signature(found.method).parameters.values())[1:]
    return [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={_python(parameter.default)}"
        for parameter in declared
    ]


def _python(default: Any) -> str:
    """A default as Python has it, texts in double quotes; empty for None."""
    if default is None:
        return ""
    return json.dumps(default) if isinstance(default, str) else repr(default)


def _answer(found: Signature) -> str:
    """The annotation of the answer, without None."""
    annotation = str(inspect.signature(found.method).return_annotation)
    kinds = [kind for kind in annotation.split(" | ") if kind != "None"]
    return " or ".join(
        [*(f"`{kind}`" for kind in kinds), *(["None"] if len(kinds) < annotation.count(" | ") + 1 else [])]
    )


def _cell(found: Signature) -> str:
    """The docstring up to its errors, as the cell of a table."""
    return f"{found.summary} {found.description}".strip().replace("|", "\\|")


def _arguments(found: Signature) -> list[Parameter]:
    """Those of a tool: the agent of a verb of the whole memory is the server's."""
    is_own = found.verb.owner == "agent"
    return [parameter for parameter in found.parameters if is_own or parameter.name != "agent"]


def _argument(parameter: Parameter) -> str:
    if parameter.is_required:
        return parameter.json_name
    default = "" if parameter.default is None else json.dumps(parameter.default)
    return f"{parameter.json_name}={default}"


# The writers of tables, by the kind of their block.
WRITERS: Mapping[str, Callable[[str], str]] = {
    "command": command_options,
    "commands": commands,
    "errors": error_classes,
    "metrics": metrics,
    "routes": routes,
    "settings": settings,
    "tools": tools,
    "verbs": verbs,
}


def written(page: str) -> str:
    """A page with its tables as they should be."""
    return BLOCK.sub(
        lambda block: f"<!-- {block['kind']} {block['name']} -->\n{WRITERS[block['kind']](block['name'])}<!-- end -->",
        page,
    )


def main(arguments: list[str]) -> int:
    """Write the tables, or with --check say which pages are out of date."""
    code = max(subprocess.call([sys.executable, str(tool), *arguments]) for tool in OTHERS)
    code |= subprocess.call([sys.executable, "-m", "bench.plots", *arguments], cwd=DOCS.parent)
    for path in sorted(DOCS.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        fresh = written(page)
        if fresh == page:
            continue
        if "--check" in arguments:
            sys.stderr.write(f"docs/{path.name} is out of date: python tools/generate_reference.py\n")
            code = 1
        else:
            path.write_text(fresh, encoding="utf-8")
    return code


def _table(parameters: list[Any]) -> str:
    rows = [_row(parameter) for parameter in parameters]
    return "\n".join(["| | |", "|---|---|", *rows, ""]) if rows else ""


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.metavar
    else:
        value = f" {parameter.metavar}" if parameter.metavar else ""
        name = ", ".join([*(option for option in parameter.opts if option.startswith("--")), *parameter.secondary_opts])
        name = f"{name}{value}"
    notes = [parameter.help, *(["Required."] if parameter.required and parameter.param_type_name == "option" else [])]
    if isinstance(parameter.default, str):
        notes.append(f"Default: {parameter.default}.")
    return f"| `{name}` | {' '.join(notes)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
