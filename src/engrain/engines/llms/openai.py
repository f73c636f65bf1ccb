"""LLMs behind OpenAI's chat completions API, which vLLM, Ollama and llama.cpp have too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines.endpoint import Endpoint, RetryPolicy, Timing
from engrain.engines.llms.responses import (
    MAX_ANSWER_BYTES,
    Limits,
    SchemaFallback,
    SchemaMode,
    system_prompt,
    to_completion,
)
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from engrain.engines.endpoint_config import EndpointConfig

URL: Final = "https://api.openai.com/v1"
PATH: Final = "/chat/completions"


class ChatLLM:
    """LLM that is served over HTTP. Thread-safe; sends nothing before the first prompt."""

    def __init__(
        self, model: str, config: EndpointConfig, *, limits: Limits | None = None, timing: Timing | None = None
    ) -> None:
        """Ask the model at the endpoint of `config`."""
        self.name: Final = f"openai:{model}"
        self._label = f"the LLM {self.name}"
        self._model = model
        self._url_setting = config.url_setting
        self._limits = limits or Limits()
        # The servers of others know the older name alone, and OpenAI's newer models the newer one.
        self._tokens_field = "max_completion_tokens" if config.url == URL + PATH else "max_tokens"
        self._clock = (timing or Timing()).clock
        self._endpoint = Endpoint(self._label, config, timing, max_bytes=MAX_ANSWER_BYTES)
        self._schema_fallback = SchemaFallback()

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            Refused: the prompt is too long, or the model will not answer it.
        """
        deadline = self._clock() + timeout_s

        def send(mode: SchemaMode) -> Any:
            policy = RetryPolicy(attempts=self._limits.attempts, total_s=deadline - self._clock())
            return self._endpoint.post(self._request(prompt, mode), policy=policy)

        return self._completion(self._schema_fallback.request(prompt, send))

    def _request(self, prompt: Prompt, mode: SchemaMode) -> dict[str, Any]:
        """https://platform.openai.com/docs/api-reference/chat/create."""
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": system_prompt(prompt, mode=mode)},
                {"role": "user", "content": replace_surrogates(prompt.user or " ")},
            ],
        }
        max_tokens = self._limits.max_tokens if prompt.max_tokens is None else prompt.max_tokens
        if max_tokens is not None:
            request[self._tokens_field] = max_tokens
        if prompt.schema is not None and mode == "json_schema":
            form = {"name": "answer", "schema": prompt.schema, "strict": is_strict(prompt.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        elif prompt.schema is not None and mode == "json_object":
            request["response_format"] = {"type": "json_object"}
        return request

    def _completion(self, answer: Any) -> Completion:
        try:
            choice = answer["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            text, refusal = message.get("content"), message.get("refusal")
        except (LookupError, TypeError, AttributeError):
            raise EngineUnavailable(
                f"{self._label} answered JSON that is no chat completion: check {self._url_setting}"
            ) from None  # the cause may quote the answer
        return to_completion(
            text,
            self._label,
            is_filtered=bool(refusal) or reason == "content_filter",
            is_cut=reason == "length",
            usage=_usage(answer.get("usage")),
        )


def is_strict(schema: Any) -> bool:
    """True if a schema can be enforced: each object in it requires all its properties and allows no others.

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


def _usage(reported: object) -> Usage:
    """The usage as the service reports it, 0 where it reports nothing."""
    fields = reported if isinstance(reported, dict) else {}
    counts = [fields.get(name) for name in ("prompt_tokens", "completion_tokens")]
    tokens = [count if type(count) is int and count >= 0 else 0 for count in counts]
    return Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])
