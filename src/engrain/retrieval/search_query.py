"""A search query, validated, with its options."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from engrain.domain.memories.decay import DecayPolicy
from engrain.domain.text.analysis import lookup_terms, terms
from engrain.domain.text.dialogue.questions import strip_asking_words
from engrain.domain.text.dialogue.word_forms import find_forms
from engrain.retrieval import channels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.retrieval.presets import Preset


@dataclass(frozen=True, kw_only=True)
class SearchQuery:
    """A search query, validated, with its options.

    `prompt`: the whole of what `text` was taken from. `deep`: a reranker orders the best hits. `min_confidence` is
    the preset's where None. `min_similarity` applies to the score before its age counts, `category` to facts: one that
    leaves none is ignored. `neighbours`: the number of turns before and after an episode that come with it, one
    statement for each hit. `explains`: the answer lists what did not become a hit. `explains_hits` false: only hits
    that evidence is judged by say why. `decay`: how confidence decays. `time_zone`: of the days that the text names.
    """

    text: str
    preset: Preset
    limit: int
    prompt: str | None = None
    deep: bool = False
    min_confidence: float | None = None
    min_similarity: float = 0.0
    category: str | None = None
    neighbours: int = 0
    explains: bool = False
    explains_hits: bool = True
    decay: DecayPolicy = DecayPolicy()  # noqa: RUF009  # frozen
    time_zone: tzinfo = UTC

    @property
    def least_confidence(self) -> float:
        """The effective confidence below which nothing is a hit."""
        return self.preset.min_confidence if self.min_confidence is None else self.min_confidence

    @cached_property
    def terms(self) -> Sequence[str]:
        """The distinct index terms of the text, in order."""
        return tuple(dict.fromkeys(terms(self.text)))

    @cached_property
    def lookup_terms(self) -> tuple[str, ...]:
        """The distinct terms to look up, those of the text before other forms of them ("lose", "lost")."""
        own, language = lookup_terms(strip_asking_words(self.text))
        forms, found = find_forms(language), dict.fromkeys(own)
        for term in own:
            if term in forms:
                found.update(dict.fromkeys(forms[term]))
        return tuple(found)[: channels.MAX_TERMS]
