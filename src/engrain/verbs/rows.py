"""Rows of the table of verbs: all that a surface must know of a verb besides its parameters and its answer."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engrain.domain.access.keys import Role

# reads: changes nothing but use counts. adds: adds something, takes nothing away. replaces: puts something in the place
# of something else. removes: takes something away. learns: may ask a language model.
Effect = Literal["reads", "adds", "replaces", "removes", "learns"]
Owner = Literal["agent", "memory"]
# Operations on a memory by the GenAI conventions of OpenTelemetry, in development:
# https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md#memory
Operation = Literal["search_memory", "create_memory", "upsert_memory", "update_memory", "delete_memory"]
Timer = Literal["store_seconds", "recall_seconds"]
Media = Literal["application/gzip", "application/jsonl", "text/markdown", "application/octet-stream"]


@dataclass(frozen=True, slots=True)
class Verb:
    """Describes one verb.

    Attributes:
        name: its group and method, such as `rules.add`; a verb without a group stands alone.
        owner: whose verb it is: an agent's, or the whole memory's.
        effect: what it does to the memory.
        is_idempotent: whether a second call with the same arguments changes nothing more and answers the same, of a
            verb that changes something.
        needs: the role it needs, where the effect does not say it.
        route: HTTP method and path under /v1, with the parameters that stand in the path; where a row does not say it,
            GET for one that reads, else POST, and the name.
        creates: whether its route answers 201.
        command: its command with the parameters that stand by place; the others are options.
        tool: whether the MCP profile `all` offers it.
        operation: its telemetry operation.
        timer: the histogram of durations that it adds to, besides that of all verbs.
        field: the name of its answer in JSON, where the method gives no record.
        sends, takes: media types of the file that it answers or reads.
        is_local: whether it is about one process, so that another process answers otherwise.
    """

    name: str
    _: KW_ONLY
    owner: Owner = "agent"
    effect: Effect = "reads"
    is_idempotent: bool = False
    needs: Role | None = None
    route: str = ""
    creates: bool = False
    command: str | None = None
    tool: bool = True
    operation: Operation | None = None
    timer: Timer | None = None
    field: str | None = None
    sends: tuple[Media, ...] = ()
    takes: tuple[Media, ...] = ()
    is_local: bool = False

    def __post_init__(self) -> None:
        """Make the route of the name where there is none."""
        if not self.route:
            method = "GET" if self.effect == "reads" else "POST"
            object.__setattr__(self, "route", f"{method} /{self.name.replace('.', '/')}")

    @property
    def group(self) -> str | None:
        """The group that it belongs to; None where it stands alone."""
        return self.name.rpartition(".")[0] or None

    @property
    def method_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def role(self) -> Role:
        """The role it needs: reader where it only reads, else writer, unless the row says more."""
        return self.needs or ("reader" if self.effect == "reads" else "writer")

    @property
    def command_name(self) -> str | None:
        """Its command without the parameters: `rules add`."""
        return None if self.command is None else self.command.partition("{")[0].strip()

    @property
    def placed(self) -> tuple[str, ...]:
        """The parameters that its command takes by place."""
        return tuple(word[1:-1] for word in (self.command or "").split() if word.startswith("{"))

    @property
    def identifier(self) -> str:
        """Its name as a tool and as an operation of the HTTP API."""
        return self.name.replace(".", "_")
