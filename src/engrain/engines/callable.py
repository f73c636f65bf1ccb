"""An embedder, a re-ranker and a language model, each made of a function."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.domain.runs.completions import Completion
from engrain.engines.in_time import InTime
from engrain.engines.vectors import unit_rows
from engrain.errors import EngineUnavailable, EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole
    from engrain.domain.runs.completions import Prompt

_MOST_OVERDUE = 8
_PARTS = ("system", "user")


class CallableEmbedder:
    """The embedder that a function of texts is, with the name and dimensions that are recorded beside its vectors.

    The function gets a list of texts, none of them empty, and returns one vector for each: any sequence of sequences of
    numbers, of any length but zero. It is called from several threads.
    """

    def __init__(self, embed: Callable[[list[str]], Any], *, name: str, dims: int) -> None:
        """Call `embed` for vectors; another `name` (such as "mine:v2") says that they are not comparable any more."""
        self.name = name
        self.dims = dims
        self._embed = embed

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:  # noqa: ARG002  # the function reads questions and documents alike
        """As the port says; the rows are brought to unit length."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        rows = self._embed([text or " " for text in texts])
        return unit_rows(rows, count=len(texts), who=f"the embedder {self.name}")


class CallableReranker:
    """The re-ranker that a function is: it gets a question and a list of texts.

    It returns a number for each text in their order, larger is better, or pairs (index, number) for those it judges.
    """

    def __init__(self, rerank: Callable[[str, list[str]], Sequence[Any]], *, name: str) -> None:
        """Call `rerank`; `name` stands in explanations."""
        self.name = name
        self._rerank = rerank

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:  # noqa: ARG002  # a function cannot be told when to stop
        """As the port says.

        Raises:
            EngineUnavailable: it returns numbers, and not one for each text.
        """
        said = self._rerank(query, list(documents))
        if all(isinstance(each, (tuple, list)) for each in said):
            return [(place, score) for place, score in said]
        if len(said) != len(documents):
            raise EngineUnavailable(f"the reranker {self.name} gave {len(said)} numbers for {len(documents)} texts")
        return [(place, float(score)) for place, score in enumerate(said)]


class CallableLLM:
    """The language model that a function is: of a `Prompt`, or of the system's and the user's part as two texts.

    It returns a text, or a `Completion` that says what it cost as well. It is called from several threads, and cannot
    be told when to stop: one that takes too long is left alone, and with eight of those nobody asks it any more.
    """

    def __init__(self, complete: Callable[..., Any], *, name: str) -> None:
        """Call `complete`; `name` stands beside what is made of its answers.

        Raises:
            InvalidInput: it is no function of one or two arguments, or one that has to be awaited.
        """
        self.name = name
        self._who = f"the LLM {name}"
        self._takes_parts = _takes_parts(complete)
        self._complete = complete
        self._in_time = InTime(self._who, thread_name="engrain-llm-call", most_overdue=_MOST_OVERDUE)

    def complete(self, prompt: Prompt, *, timeout_s: float) -> Completion:
        """As the port says.

        Raises:
            EngineUnavailable: the function raises anything of its own; its message may quote, and is left out.
        """
        from engrain.engines.answers import system_of, text_of

        args = (system_of(prompt), prompt.user) if self._takes_parts else (prompt,)
        try:
            said = self._in_time.ask(lambda: self._complete(*args), timeout_s)
        except EngrainError:
            raise
        except Exception as error:  # noqa: BLE001  # a function raises what it likes
            raise EngineUnavailable(f"{self._who} failed with {type(error).__name__}") from None
        if isinstance(said, Completion):
            return replace(said, text=text_of(said.text, self._who))
        return Completion(text=text_of(said, self._who))


def _takes_parts(complete: object) -> bool:
    """Whether a function wants two texts in place of a prompt."""
    if not callable(complete) or inspect.iscoroutinefunction(complete):
        raise InvalidInput(f"an LLM's function must be called, not awaited; {complete!r:.80} cannot be")
    try:
        parameters = inspect.signature(complete).parameters.values()
    except (TypeError, ValueError):  # builtins tell nothing
        return False
    placed = [each for each in parameters if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}]
    needed = [each for each in placed if each.default is each.empty]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if len(needed) > len(_PARTS) or not (placed or takes_any):
        raise InvalidInput("an LLM's function takes a Prompt, or system and user")
    return len(needed) == len(_PARTS)
