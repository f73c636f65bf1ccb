"""What the answer of every language model has to be, and what is said to one that nothing holds to a schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from engrain.engines.endpoint import Refused, sendable
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.runs.completions import Prompt

_Answer = TypeVar("_Answer")

# What the answer to one question may be; a model that says more has lost its way.
MOST_BYTES: Final = 5_000_000
# How a service is held to a schema, from the tightest: by the schema, to JSON of any form, not at all.
Hold = Literal["json_schema", "json_object", "none"]
HOLDS: Final[tuple[Hold, ...]] = get_args(Hold)
# A request that is refused with one of these would be refused whatever the form of the answer.
_OF_THE_PROMPT: Final = frozenset({"context_length_exceeded", "content_filter", "content_policy_violation"})

_MOST_TRIES: Final = 1_000  # of places where JSON may begin: each may cost as much as all that follows it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How often a language model is asked the same thing, and how long its answer may be.

    Attributes:
        attempts: requests for one answer; where an engine leaves that to a program or a function, they count.
        max_tokens: of an answer to a prompt that names no number; None for the provider's own limit.
    """

    attempts: int = 3
    max_tokens: int | None = None


class Grip:
    """How far a service can be held to a schema: found out by its refusals, and remembered. Thread-safe."""

    def __init__(self) -> None:
        self._at = 0

    def ask(self, prompt: Prompt, ask: Callable[[Hold], _Answer]) -> _Answer:
        """The answer to a prompt, held as tightly as the service has ever allowed.

        Raises:
            Refused: however loosely it was held; then nothing is remembered, for the prompt is at fault.
        """
        if prompt.schema is None:
            return ask("none")
        first, refused = self._at, None
        for at in range(first, len(HOLDS)):
            try:
                answer = ask(HOLDS[at])
            except Refused as error:
                if error.status not in {400, 422} or error.reason in _OF_THE_PROMPT:
                    raise
                refused = refused or error
                continue
            self._at = max(self._at, at)
            return answer
        assert refused is not None
        raise refused


def text_of(said: object, who: str) -> str:
    """An answer that is of use, as text that can be kept; of lone surrogates there are none.

    Raises:
        EngineUnavailable: it is none; the message says what it is and quotes nothing of it.
    """
    if isinstance(said, bytes | bytearray):
        try:
            said = said.decode()
        except UnicodeDecodeError:
            raise EngineUnavailable(f"{who} answered binary data, not text in UTF-8") from None  # it would be quoted
    if not isinstance(said, str):
        raise EngineUnavailable(f"{who} answered {type(said).__name__}, not text")
    if not said.strip():
        raise EngineUnavailable(f"{who} gave an empty answer")
    if "\0" in said:
        raise EngineUnavailable(f"{who} answered binary data, not text: it holds NUL")
    if len(said) > MOST_BYTES or len(said.encode(errors="surrogatepass")) > MOST_BYTES:
        raise too_long(who)
    return sendable(said)


def too_long(who: str) -> EngineUnavailable:
    """The error for an answer that was not read to its end."""
    return EngineUnavailable(f"{who} answered more than {MOST_BYTES // 1_000_000} MB")


def system_of(prompt: Prompt, *, hold: Hold = "none") -> str:
    """What a model is to do, and the schema in words where nothing else holds it to that."""
    if prompt.schema is None or hold == "json_schema":
        return sendable(prompt.system)
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    return sendable(f"{prompt.system}\n\nAnswer with JSON of this schema, and with nothing else:\n{schema}")


def json_in(text: str, who: str) -> Any:
    """The JSON that an answer is or holds: of its objects and lists the first that can be read to its end.

    Raises:
        EngineUnavailable: there is none.
    """
    reader = json.JSONDecoder()
    at = -1
    for _ in range(_MOST_TRIES):
        at = _opening(text, at + 1)
        if at < 0:
            break
        try:
            return reader.raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            continue
    raise EngineUnavailable(f"{who} answered without any JSON")


def _opening(text: str, start: int) -> int:
    """Where the next object or list may begin; -1 where none does."""
    found = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(found, default=-1)
