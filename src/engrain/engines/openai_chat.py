"""Language models behind OpenAI's chat completions, and behind whoever speaks its language: vLLM, Ollama, llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engrain.domain.runs.completions import Completion, Usage
from engrain.engines.answers import MOST_BYTES, Grip, Limits, system_of, text_of
from engrain.engines.endpoint import Endpoint, Patience, Refused, Timing, sendable
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.runs.completions import Prompt
    from engrain.engines.answers import Hold
    from engrain.engines.endpoint import Access

URL: Final = "https://api.openai.com/v1"
PATH: Final = "/chat/completions"


class ChatLLM:
    """A model that is served over HTTP. Thread-safe; says nothing to the server before the first prompt."""

    def __init__(
        self, model: str, access: Access, *, limits: Limits | None = None, timing: Timing | None = None
    ) -> None:
        """Ask the model at `access`."""
        self.name: Final = f"openai:{model}"
        self._who = f"the LLM {self.name}"
        self._model = model
        self._set_url = access.set_url
        self._limits = limits or Limits()
        # The servers of others know the older name alone, and OpenAI's newer models the newer one.
        self._tokens_field = "max_completion_tokens" if access.url == URL + PATH else "max_tokens"
        self._clock = (timing or Timing()).clock
        self._endpoint = Endpoint(self._who, access, timing, most_bytes=MOST_BYTES)
        self._grip = Grip()

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            Refused: the prompt is too long, or the model will not answer it.
        """
        ends = self._clock() + timeout_s

        def ask(hold: Hold) -> Any:
            patience = Patience(attempts=self._limits.attempts, total_s=ends - self._clock())
            return self._endpoint.post(self._request(prompt, hold), patience=patience)

        return self._completion(self._grip.ask(prompt, ask))

    def _request(self, prompt: Prompt, hold: Hold) -> dict[str, Any]:
        """https://platform.openai.com/docs/api-reference/chat/create."""
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": system_of(prompt, hold=hold)},
                {"role": "user", "content": sendable(prompt.user)},
            ],
        }
        most = self._limits.max_tokens if prompt.max_tokens is None else prompt.max_tokens
        if most is not None:
            request[self._tokens_field] = most
        if prompt.schema is not None and hold == "json_schema":
            form = {"name": "answer", "schema": prompt.schema, "strict": is_strict(prompt.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        elif prompt.schema is not None and hold == "json_object":
            request["response_format"] = {"type": "json_object"}
        return request

    def _completion(self, answer: Any) -> Completion:
        try:
            choice = answer["choices"][0]
            message, ended = choice["message"], choice.get("finish_reason")
            said, refusal = message.get("content"), message.get("refusal")
        except (LookupError, TypeError, AttributeError):
            raise EngineUnavailable(
                f"{self._who} answered JSON that is no chat completion: check {self._set_url}"
            ) from None  # the cause may quote the answer
        if refusal or ended == "content_filter":
            raise Refused(f"{self._who} will not answer this")
        if not said and ended == "length":
            raise EngineUnavailable(f"{self._who} used up its tokens before it answered: raise llm.max_tokens")
        return Completion(text=text_of("" if said is None else said, self._who), usage=_usage(answer.get("usage")))


def is_strict(schema: Any) -> bool:
    """Whether a schema can be enforced: each object in it names all its properties, requires them, and has no others.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if isinstance(schema, list | tuple):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(schema.get("required", ())) != set(schema.get("properties", {})):
            return False
    return all(map(is_strict, schema.values()))


def _usage(said: Mapping[str, Any] | None) -> Usage:
    """What the service says of tokens, 0 where it says nothing."""
    told = said if isinstance(said, dict) else {}
    counts = [told.get(name) for name in ("prompt_tokens", "completion_tokens")]
    tokens = [each if type(each) is int and each >= 0 else 0 for each in counts]
    return Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])
