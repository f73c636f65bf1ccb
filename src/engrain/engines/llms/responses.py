"""Prompts and responses of LLMs: the schema in the prompt, checks of the answer, and JSON in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines.endpoint import Refused
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable


_Answer = TypeVar("_Answer")

# The longest answer to one prompt; a model that goes on has lost its way.
MAX_ANSWER_BYTES: Final = 5_000_000
# Enforcement of a schema by the service, strictest first: of the schema, of JSON of any form, of nothing.
SchemaMode = Literal["json_schema", "json_object", "none"]
SCHEMA_MODES: Final[tuple[SchemaMode, ...]] = get_args(SchemaMode)
# A request that is refused with one of these would be refused whatever the form of the answer.
_PROMPT_FAULTS: Final = frozenset({"context_length_exceeded", "content_filter", "content_policy_violation"})

_MAX_TRIES: Final = 1_000  # of places where JSON may begin: each may cost as much as all that follows it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of an LLM: attempts for one answer, and the length of the answer.

    Attributes:
        attempts: requests for one answer; where an engine leaves that to a program or a function, they count.
        max_tokens: of an answer to a prompt that names no number; None for the provider's own limit.
    """

    attempts: int = 3
    max_tokens: int | None = None


class SchemaFallback:
    """Choice of the strictest schema mode that a service accepts, learned from its refusals. Thread-safe."""

    def __init__(self) -> None:
        self._index = 0

    def request(self, prompt: Prompt, send: Callable[[SchemaMode], _Answer]) -> _Answer:
        """Send a prompt in the strictest mode that the service has not refused yet.

        Raises:
            Refused: in every mode; then nothing is learned, as the prompt is at fault.
        """
        if prompt.schema is None:
            return send("none")
        first, refused = self._index, None
        for index in range(first, len(SCHEMA_MODES)):
            try:
                answer = send(SCHEMA_MODES[index])
            except Refused as error:
                if error.status not in {400, 422} or error.reason in _PROMPT_FAULTS:
                    raise
                refused = refused or error
                continue
            self._index = max(self._index, index)
            return answer
        assert refused is not None
        raise refused


def parse_text(answer: object, label: str) -> str:
    """Check an answer and return it as text that can be stored, without lone surrogates.

    Raises:
        EngineUnavailable: it is of no use; the message describes it and quotes nothing of it.
    """
    if isinstance(answer, bytes | bytearray):
        try:
            answer = answer.decode()
        except UnicodeDecodeError:
            raise EngineUnavailable(f"{label} answered binary data, not text in UTF-8") from None  # it would be quoted
    if not isinstance(answer, str):
        raise EngineUnavailable(f"{label} answered {type(answer).__name__}, not text")
    if not answer.strip():
        raise EngineUnavailable(f"{label} gave an empty answer")
    if "\0" in answer:
        raise EngineUnavailable(f"{label} answered binary data, not text: it holds NUL")
    if len(answer) > MAX_ANSWER_BYTES or len(answer.encode(errors="surrogatepass")) > MAX_ANSWER_BYTES:
        raise too_long_error(label)
    return replace_surrogates(answer)


def to_completion(text: object, label: str, *, is_filtered: bool, is_cut: bool, usage: Usage) -> Completion:
    """Make a completion of a service's answer.

    Raises:
        Refused: the service's content filter stopped it.
        EngineUnavailable: it is cut before its first character, or of no use.
    """
    if is_filtered:
        raise Refused(f"{label} will not answer this")
    if not text and is_cut:
        raise EngineUnavailable(f"{label} used up its tokens before it answered: raise llm.max_tokens")
    return Completion(text=parse_text("" if text is None else text, label), usage=usage)


def too_long_error(label: str) -> EngineUnavailable:
    """The error for an answer that is too long."""
    return EngineUnavailable(f"{label} answered more than {MAX_ANSWER_BYTES // 1_000_000} MB")


def system_prompt(prompt: Prompt, *, mode: SchemaMode = "none") -> str:
    """The system prompt, with the schema in words where the service does not enforce it."""
    if prompt.schema is None or mode == "json_schema":
        return replace_surrogates(prompt.system or " ")
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    return replace_surrogates(f"{prompt.system}\n\nAnswer with JSON of this schema, and with nothing else:\n{schema}")


def extract_json(text: str, label: str) -> Any:
    """Extract the JSON that an answer is or contains: the first object or list that parses to its end.

    Raises:
        EngineUnavailable: there is none.
    """
    reader = json.JSONDecoder()
    index = -1
    for _ in range(_MAX_TRIES):
        index = _next_opening(text, index + 1)
        if index < 0:
            break
        try:
            return reader.raw_decode(text, index)[0]
        except (ValueError, RecursionError):
            continue
    raise EngineUnavailable(f"{label} answered without any JSON")


def _next_opening(text: str, start: int) -> int:
    """The index of the next brace or bracket; -1 where there is none."""
    return min((index for index in (text.find("{", start), text.find("[", start)) if index >= 0), default=-1)
