"""Language models of every provider that pydantic-ai knows; extra `llm`, imported with the first prompt."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import weakref
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engrain.domain.runs.completions import Completion, Usage
from engrain.engines.answers import Grip, Limits, system_of, text_of
from engrain.engines.endpoint import Patience, Refused, Setback, Timing, patiently, sendable
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pydantic_ai.messages import ModelRequestPart, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

    from engrain.domain.runs.completions import Prompt
    from engrain.engines import Reach
    from engrain.engines.answers import Hold

_Result = TypeVar("_Result")
# How much longer than the library's own deadline its answer is waited for.
_GRACE_S: Final = 5.0


class PydanticLLM:
    """A model of pydantic-ai. Thread-safe: its requests share one event loop, in a thread of its own.

    Where the settings give no key or address, the provider looks for its own variables (ANTHROPIC_API_KEY, ...).
    """

    def __init__(self, model: str, reach: Reach, *, limits: Limits | None = None, timing: Timing | None = None) -> None:
        """Ask `model`, in the notation of pydantic-ai, "provider:model"."""
        self.name: Final = f"pydantic-ai:{model}"
        self._who = f"the LLM {self.name}"
        self._spec = model
        self._reach = reach
        self._limits = limits or Limits()
        self._timing = timing or Timing()
        self._grip = Grip()
        self._opening = threading.Lock()
        self._model: Model | None = None
        self._process = 0

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            Refused: the prompt is too long, or the model will not answer it.
        """
        ends = self._timing.clock() + timeout_s

        def ask(hold: Hold) -> Completion:
            patience = Patience(attempts=self._limits.attempts, total_s=ends - self._timing.clock())
            return patiently(
                lambda ends: self._try(prompt, hold, ends), patience=patience, timing=self._timing, where=self._who
            )

        return self._grip.ask(prompt, ask)

    def _try(self, prompt: Prompt, hold: Hold, ends: float) -> Completion | Setback:
        model = self._opened()
        left_s = max(ends - self._timing.clock(), 0.001)
        try:
            answer = _run(self._asked(model, prompt, hold, left_s), left_s + _GRACE_S)
        except EngineUnavailable:
            raise
        except TimeoutError:
            return Setback("did not answer in time")
        except Exception as error:  # noqa: BLE001  # the packages of many providers, each with errors of its own
            return self._failed(error)
        if answer.finish_reason == "content_filter":
            raise Refused(f"{self._who} will not answer this")
        said = answer.text or ""
        if not said and answer.finish_reason == "length":
            raise EngineUnavailable(f"{self._who} used up its tokens before it answered: raise llm.max_tokens")
        spent = Usage(calls=1, input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens)
        return Completion(text=text_of(said, self._who), usage=spent)

    def _asked(self, model: Model, prompt: Prompt, hold: Hold, left_s: float) -> Coroutine[Any, Any, ModelResponse]:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        parts: list[ModelRequestPart] = [
            SystemPromptPart(system_of(prompt, hold=hold)),
            UserPromptPart(sendable(prompt.user)),
        ]
        form = ModelRequestParameters()
        if prompt.schema is not None and hold != "none":
            if hold == "json_schema" and not model.profile.get("supports_json_schema_output", False):
                raise Refused(f"{self._who} takes no schema", status=400)
            form = ModelRequestParameters(
                output_mode="native" if hold == "json_schema" else "prompted",
                output_object=OutputObjectDefinition(name="answer", json_schema=dict(prompt.schema)),
                prompted_output_template=None if hold == "json_schema" else False,
            )
        asked = ModelSettings(request_timeout=left_s)
        if "max_retries" not in model.unsupported_settings:
            asked["max_retries"] = 0  # it is tried again here
        most = self._limits.max_tokens if prompt.max_tokens is None else prompt.max_tokens
        if most is not None:
            asked["max_tokens"] = most
        return model_request(
            model, [ModelRequest(parts)], model_settings=asked, model_request_parameters=form, instrument=False
        )

    def _failed(self, error: Exception) -> Setback:
        """What was in the way and may pass.

        Raises:
            Refused: the request itself is at fault.
            EngineUnavailable: it will not pass. No message quotes the library's, which may quote the prompt.
        """
        from pydantic_ai import exceptions as said

        status, reason = getattr(error, "status_code", None), getattr(error, "provider_error_code", None)
        shown = f" ({status})" if status else ""
        match error:
            case said.ModelAuthenticationError():
                raise EngineUnavailable(f"{self._who} does not accept the key{shown}: set llm.key") from None
            case said.ModelNotFoundError():
                raise EngineUnavailable(f"{self._who} is not there{shown}: check llm.url and the model") from None
            case said.ModelQuotaExceededError():
                raise EngineUnavailable(f"{self._who} says that the account is used up{shown}") from None
            case said.ModelRequestTimeout():
                return Setback("did not answer in time")
            case said.ModelConnectionError():
                return Setback("cannot be reached", error.retry_after or 0.0)
            case said.ModelRateLimitError() | said.ModelUnavailableError() | said.ModelServerError():
                return Setback(f"answered {status or type(error).__name__}", error.retry_after or 0.0)
            case said.ModelRequestRejectedError() | said.ContentFilterError():
                raise Refused(f"{self._who} refused the request{shown}", status=status, reason=reason) from None
        if status == 413:  # noqa: PLR2004  # of HTTP: too large
            raise Refused(f"{self._who} refused the request{shown}", status=status, reason=reason) from None
        raise EngineUnavailable(f"{self._who} failed with {type(error).__name__}{shown}") from None

    def _opened(self) -> Model:
        """The model of this process; a fork opens its own, for its parent's connections stay the parent's."""
        with self._opening:
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
                f"{self._who} needs a package that is not installed: pip install 'engrain[llm]'"
            ) from error
        has_reach = self._reach.url is not None or self._reach.key is not None
        try:
            return infer_model(self._spec, provider_factory=self._provider if has_reach else infer_provider)
        except (ImportError, UserError, ValueError) as error:  # of a package that is missing, a variable, a name
            raise EngineUnavailable(f"{self._who} cannot be opened: {error}") from error

    def _provider(self, name: str) -> Provider[Any]:
        from pydantic_ai.providers import infer_provider_class

        key = None if self._reach.key is None else self._reach.key.get_secret_value()
        given = {"base_url": self._reach.url, "api_key": key}
        kind = infer_provider_class(name)
        taken = inspect.signature(kind.__init__).parameters
        for parameter, value in given.items():
            if value is not None and parameter not in taken:
                raise EngineUnavailable(
                    f"{self._who}: its provider takes no {parameter} from the settings; leave llm.url and llm.key out, "
                    "and set the provider's own variables"
                )
        made: Provider[Any] = kind(**{parameter: value for parameter, value in given.items() if value is not None})
        return made


_STARTING: Final = threading.Lock()
_LOOPS: Final[dict[int, asyncio.AbstractEventLoop]] = {}
_LOOP_THREAD: Final = "engrain-llm-loop"


def _loop() -> asyncio.AbstractEventLoop:
    """The one that all models of this process share; it runs until the process ends."""
    with _STARTING:
        loop = _LOOPS.get(os.getpid())
        if loop is None:
            loop = _LOOPS[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name=_LOOP_THREAD, daemon=True).start()
        return loop


def _run(work: Coroutine[Any, Any, _Result], timeout_s: float) -> _Result:
    """What the coroutine returns.

    Raises:
        TimeoutError: it took longer, and was cancelled.
    """
    begun = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return begun.result(timeout_s)
    except BaseException:
        begun.cancel()
        raise


def _close(model: Model, process: int) -> None:
    """Let go of a model's connections; where the loop itself collects garbage, it cannot wait for itself."""
    if process != os.getpid():
        return
    begun = asyncio.run_coroutine_threadsafe(model.__aexit__(None, None, None), _LOOPS[process])
    if threading.current_thread().name != _LOOP_THREAD:
        wait([begun], _GRACE_S)
