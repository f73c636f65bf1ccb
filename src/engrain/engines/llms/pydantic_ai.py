"""LLMs of every provider that pydantic-ai supports; extra `llm`, imported with the first prompt."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import weakref
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engrain.domain.runs.completions import Completion, Prompt, Usage
from engrain.engines.endpoint import Refused, RetryPolicy, Timing, TransientFailure, retry
from engrain.engines.llms.responses import Limits, SchemaFallback, SchemaMode, system_prompt, to_completion
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pydantic_ai.messages import ModelRequestPart, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

    from engrain.engines.endpoint_config import ServiceAddress

_Result = TypeVar("_Result")
# Time to wait for an answer beyond the library's own deadline.
_GRACE_S: Final = 5.0


class PydanticLLM:
    """LLM of pydantic-ai. Thread-safe: its requests share one event loop, in a thread of its own.

    Where the settings give no key or address, the provider looks for its own variables (ANTHROPIC_API_KEY, ...).
    """

    def __init__(
        self, model: str, address: ServiceAddress, *, limits: Limits | None = None, timing: Timing | None = None
    ) -> None:
        """Ask `model`, in the notation of pydantic-ai, "provider:model"."""
        self.name: Final = f"pydantic-ai:{model}"
        self._label = f"the LLM {self.name}"
        self._spec = model
        self._address = address
        self._limits = limits or Limits()
        self._timing = timing or Timing()
        self._schema_fallback = SchemaFallback()
        self._model_lock = threading.Lock()
        self._model: Model | None = None
        self._process = 0

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            Refused: the prompt is too long, or the model will not answer it.
        """
        deadline = self._timing.clock() + timeout_s

        def send(mode: SchemaMode) -> Completion:
            policy = RetryPolicy(attempts=self._limits.attempts, total_s=deadline - self._timing.clock())
            return retry(
                lambda deadline: self._send(prompt, mode, deadline),
                policy=policy,
                timing=self._timing,
                where=self._label,
            )

        return self._schema_fallback.request(prompt, send)

    def _send(self, prompt: Prompt, mode: SchemaMode, deadline: float) -> Completion | TransientFailure:
        model = self._model_of_process()
        left_s = max(deadline - self._timing.clock(), 0.001)
        try:
            answer = _run(self._request(model, prompt, mode, left_s), left_s + _GRACE_S)
        except EngineUnavailable:
            raise
        except TimeoutError:
            return TransientFailure("did not answer in time")
        except Exception as error:  # noqa: BLE001  # the packages of many providers, each with errors of its own
            return self._classify(error)
        return to_completion(
            answer.text,
            self._label,
            is_filtered=answer.finish_reason == "content_filter",
            is_cut=answer.finish_reason == "length",
            usage=Usage(calls=1, input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens),
        )

    def _request(
        self, model: Model, prompt: Prompt, mode: SchemaMode, left_s: float
    ) -> Coroutine[Any, Any, ModelResponse]:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        parts: list[ModelRequestPart] = [
            SystemPromptPart(system_prompt(prompt, mode=mode)),
            UserPromptPart(replace_surrogates(prompt.user or " ")),
        ]
        form = ModelRequestParameters()
        if prompt.schema is not None and mode != "none":
            if mode == "json_schema" and not model.profile.get("supports_json_schema_output", False):
                raise Refused(f"{self._label} takes no schema", status=400)
            form = ModelRequestParameters(
                output_mode="native" if mode == "json_schema" else "prompted",
                output_object=OutputObjectDefinition(name="answer", json_schema=dict(prompt.schema)),
                prompted_output_template=None if mode == "json_schema" else False,
            )
        settings = ModelSettings(request_timeout=left_s)
        if "max_retries" not in model.unsupported_settings:
            settings["max_retries"] = 0  # retries happen here
        max_tokens = self._limits.max_tokens if prompt.max_tokens is None else prompt.max_tokens
        if max_tokens is not None:
            settings["max_tokens"] = max_tokens
        return model_request(
            model, [ModelRequest(parts)], model_settings=settings, model_request_parameters=form, instrument=False
        )

    def _classify(self, error: Exception) -> TransientFailure:
        """The failure, where it may pass.

        Raises:
            Refused: the request itself is at fault.
            EngineUnavailable: it will not pass. No message quotes the library's, which may quote the prompt.
        """
        from pydantic_ai import exceptions

        status, reason = getattr(error, "status_code", None), getattr(error, "provider_error_code", None)
        shown = f" ({status})" if status else ""
        match error:
            case exceptions.ModelAuthenticationError():
                raise EngineUnavailable(f"{self._label} does not accept the key{shown}: set llm.key") from None
            case exceptions.ModelNotFoundError():
                raise EngineUnavailable(f"{self._label} is not there{shown}: check llm.url and the model") from None
            case exceptions.ModelQuotaExceededError():
                raise EngineUnavailable(f"{self._label} says that the account is used up{shown}") from None
            case exceptions.ModelRequestTimeout():
                return TransientFailure("did not answer in time")
            case exceptions.ModelConnectionError():
                return TransientFailure("cannot be reached", error.retry_after or 0.0)
            case exceptions.ModelRateLimitError() | exceptions.ModelUnavailableError() | exceptions.ModelServerError():
                return TransientFailure(f"answered {status or type(error).__name__}", error.retry_after or 0.0)
            case exceptions.ModelRequestRejectedError() | exceptions.ContentFilterError():
                raise Refused(f"{self._label} refused the request{shown}", status=status, reason=reason) from None
        if status == 413:  # noqa: PLR2004  # of HTTP: too large
            raise Refused(f"{self._label} refused the request{shown}", status=status, reason=reason) from None
        raise EngineUnavailable(f"{self._label} failed with {type(error).__name__}{shown}") from None

    def _model_of_process(self) -> Model:
        """The model of this process; a fork opens its own, for its parent's connections stay the parent's."""
        with self._model_lock:
            if self._model is None or self._process != os.getpid():
                self._model = self._open()
                self._process = os.getpid()
                _run(self._model.__aenter__(), _GRACE_S)
                weakref.finalize(self, _close, self._model, self._process)
            return self._model

    def _open(self) -> Model:
        try:
            from pydantic_ai.exceptions import UserError
            from pydantic_ai.models import infer_model
            from pydantic_ai.providers import infer_provider
        except ImportError as error:
            raise EngineUnavailable(
                f"{self._label} needs a package that is not installed: pip install 'engrain[llm]'"
            ) from error
        has_address = self._address.url is not None or self._address.key is not None
        try:
            return infer_model(self._spec, provider_factory=self._provider if has_address else infer_provider)
        except (ImportError, UserError, ValueError) as error:  # of a package that is missing, a variable, a name
            raise EngineUnavailable(f"{self._label} cannot be opened: {error}") from error

    def _provider(self, name: str) -> Provider[Any]:
        from pydantic_ai.providers import infer_provider_class

        key = None if self._address.key is None else self._address.key.get_secret_value()
        options = {"base_url": self._address.url, "api_key": key}
        kind = infer_provider_class(name)
        accepted = inspect.signature(kind.__init__).parameters
        for parameter, value in options.items():
            if value is not None and parameter not in accepted:
                raise EngineUnavailable(
                    f"{self._label}: its provider takes no {parameter} from the settings; leave llm.url and llm.key "
                    "out, and set the provider's own variables"
                )
        provider: Provider[Any] = kind(**{name: value for name, value in options.items() if value is not None})
        return provider


_LOOPS_LOCK: Final = threading.Lock()
_LOOPS: Final[dict[int, asyncio.AbstractEventLoop]] = {}
_LOOP_THREAD: Final = "engrain-llm-loop"


def _loop() -> asyncio.AbstractEventLoop:
    """The event loop that all models of this process share; it runs until the process ends."""
    with _LOOPS_LOCK:
        loop = _LOOPS.get(os.getpid())
        if loop is None:
            loop = _LOOPS[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name=_LOOP_THREAD, daemon=True).start()
        return loop


def _run(work: Coroutine[Any, Any, _Result], timeout_s: float) -> _Result:
    """Run a coroutine on the shared loop and return its result.

    Raises:
        TimeoutError: it took longer, and was cancelled.
    """
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result(timeout_s)
    except BaseException:
        future.cancel()
        raise


def _close(model: Model, process: int) -> None:
    """Close a model's connections; where the loop itself collects garbage, it cannot wait for itself."""
    if process != os.getpid():
        return
    future = asyncio.run_coroutine_threadsafe(model.__aexit__(None, None, None), _LOOPS[process])
    if threading.current_thread().name != _LOOP_THREAD:
        wait([future], _GRACE_S)
