"""Engines made of functions: an embedder, a reranker, an LLM and a name finder."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from engrain.domain.entities.registry import NAME_KINDS, Name, NameKind
from engrain.domain.runs.completions import Completion, Prompt
from engrain.engines.deadlines import DeadlineRunner
from engrain.engines.embedders.vectors import unit_rows
from engrain.errors import EngineUnavailable, EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole

_MAX_OVERDUE: Final = 8
_PROMPT_PARTS: Final = 2  # system and user
_NAME_CONFIDENCE: Final = 0.85
# Above the first, confidences up to 1 lie closer, up to the second: below those of names recognised by their spelling.
_SURE_NAME: Final = 0.8
_MAX_NAME_CONFIDENCE: Final = 0.89


class CallableEmbedder:
    """Embedder made of a function of texts, with the name and dimensions that are recorded beside its vectors.

    The function gets a list of texts, none of them empty, and returns one vector for each: any sequence of sequences of
    numbers, of any length but zero. It is called from several threads.
    """

    def __init__(self, embed: Callable[[list[str]], Any], *, name: str, dims: int) -> None:
        """Call `embed` for vectors; another `name` (such as "mine:v2") says that they are not comparable any more.

        Raises:
            InvalidInput: it is no function, or one that has to be awaited.
        """
        _check_function(embed, "an embedder")
        self.name = name
        self.dims = dims
        self._embed = embed

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:  # noqa: ARG002  # the function reads questions and documents alike
        """As the port says; the rows are brought to unit length."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        rows = self._embed([text or " " for text in texts])
        return unit_rows(rows, count=len(texts), label=f"the embedder {self.name}")


class CallableReranker:
    """Reranker made of a function of a question and a list of texts.

    It returns a number for each text in their order, larger is better, or pairs (index, number) for those it scores.
    """

    def __init__(self, rerank: Callable[[str, list[str]], Sequence[Any]], *, name: str) -> None:
        """Call `rerank`; `name` stands in explanations.

        Raises:
            InvalidInput: it is no function, or one that has to be awaited.
        """
        _check_function(rerank, "a reranker")
        self.name = name
        self._rerank = rerank

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:  # noqa: ARG002  # a function cannot be interrupted
        """As the port says.

        Raises:
            EngineUnavailable: it returns numbers, and not one for each text.
        """
        scores = self._rerank(query, list(documents))
        if all(isinstance(score, (tuple, list)) for score in scores):
            return [(index, score) for index, score in scores]
        if len(scores) != len(documents):
            raise EngineUnavailable(f"the reranker {self.name} gave {len(scores)} numbers for {len(documents)} texts")
        return [(index, float(score)) for index, score in enumerate(scores)]


class CallableLLM:
    """LLM made of a function: of a `Prompt`, or of the system's and the user's part as two texts.

    It returns a text, or a `Completion` that has the usage as well. It is called from several threads, and cannot be
    interrupted: a call that takes too long is abandoned, and after eight of those no further call is made.
    """

    def __init__(self, complete: Callable[..., Any], *, name: str) -> None:
        """Call `complete`; `name` is recorded beside what is made of its answers.

        Raises:
            InvalidInput: it is no function of one or two arguments, or one that has to be awaited.
        """
        self.name = name
        self._label = f"the LLM {name}"
        self._takes_parts = _takes_parts(complete)
        self._complete = complete
        self._runner = DeadlineRunner(self._label, thread_name="engrain-llm-call", max_overdue=_MAX_OVERDUE)

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            EngineUnavailable: the function raises anything of its own; its message may quote, and is left out.
        """
        from engrain.engines.llms.responses import parse_text, system_prompt

        args = (system_prompt(prompt), prompt.user) if self._takes_parts else (prompt,)
        try:
            answer = self._runner.run(lambda: self._complete(*args), timeout_s)
        except EngrainError:
            raise
        except Exception as error:  # noqa: BLE001  # a function raises what it likes
            raise EngineUnavailable(f"{self._label} failed with {type(error).__name__}") from None
        if isinstance(answer, Completion):
            return replace(answer, text=parse_text(answer.text, self._label))
        return Completion(text=parse_text(answer, self._label))


class CallableNames:
    """Name finder made of a function of a text.

    It returns JSON, as text or parsed: a list, or an object whose `names` is one, of objects with `text`, `kind`
    (person, organization, place, project, email, url, date, mention, hashtag or other) and, where it knows,
    `confidence` in 0-1. The positions are looked up in the text; a name that is not in it was made up, and is left out.
    """

    def __init__(self, find: Callable[[str], Any], *, name: str) -> None:
        """Call `find`; `name` is recorded beside its names.

        Raises:
            InvalidInput: it is no function, or one that has to be awaited.
        """
        _check_function(find, "a name finder")
        self.name = name
        self._find = find

    def find(self, text: str) -> list[Name]:
        """As the port says: every position of every name; names of other kinds are left out.

        Raises:
            EngineUnavailable: the answer is not of that form.
        """
        return sorted(
            {name for item in self._items(text) for name in self._names(text, item)},
            key=lambda name: (name.start, name.end, name.kind, -name.confidence),
        )

    def _items(self, text: str) -> list[dict[str, Any]]:
        answer = self._find(text)
        try:
            parsed = json.loads(answer) if isinstance(answer, str | bytes) else answer
        except ValueError as error:
            raise EngineUnavailable(f"the name finder {self.name} gave no JSON: {error}") from error
        items = parsed.get("names") if isinstance(parsed, dict) else parsed
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise EngineUnavailable(f"the name finder {self.name} gave no list of names")  # what it gave may quote
        return items

    def _names(self, text: str, item: dict[str, Any]) -> Iterator[Name]:
        name, kind, confidence = item.get("text"), item.get("kind"), item.get("confidence", _NAME_CONFIDENCE)
        if not isinstance(name, str) or not name.strip() or kind not in NAME_KINDS:
            return
        if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            confidence = _NAME_CONFIDENCE
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            yield Name(
                text=name,
                kind=cast("NameKind", kind),
                start=start,
                end=end,
                confidence=_below_spelling(confidence),
                source=self.name,
            )
            start = text.find(name, end)


def _below_spelling(confidence: float) -> float:
    """Return a confidence between 0 and 1 as one below that of spelling, in the same order."""
    share = (_MAX_NAME_CONFIDENCE - _SURE_NAME) / (1 - _SURE_NAME)
    return min(float(confidence), round(_SURE_NAME + (confidence - _SURE_NAME) * share, 6))


def _check_function(function: object, whose: str) -> None:
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise InvalidInput(f"{whose}'s function must be called, not awaited; {function!r:.80} cannot be")


def _takes_parts(complete: Callable[..., Any]) -> bool:
    """True if a function takes two texts in place of a prompt."""
    _check_function(complete, "an LLM")
    try:
        parameters = inspect.signature(complete).parameters.values()
    except (TypeError, ValueError):  # builtins have no signature
        return False
    by_position = [one for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
    required = [one for one in by_position if one.default is one.empty]
    takes_any = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    if len(required) > _PROMPT_PARTS or not (by_position or takes_any):
        raise InvalidInput("an LLM's function takes a Prompt, or system and user")
    return len(required) == _PROMPT_PARTS
