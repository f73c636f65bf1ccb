"""`python -m bench.names`: precision and recall of name finders, over seventy sentences with all their names marked.

A name counts where its kind, beginning and end are right. spaCy comes with `pip install "engrain[ner]"`; without it
spelling is measured alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.names.sentences import SENTENCES, SPELT
from engrain.engines.name_finders.regex import RegexNames
from engrain.engines.name_finders.spacy import DEFAULT_MODEL, SpacyNames
from engrain.entities.recognition import find_names
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.ports import NameFinder

_NAMED = frozenset({"person", "organization", "place"})
KINDS: Mapping[str, frozenset[str]] = {
    "mentions, hashtags, addresses, dates": SPELT,
    "people, organizations, places": _NAMED,
    "all of them": SPELT | _NAMED,
}


@dataclass(frozen=True, slots=True)
class Score:
    """Names found, names that stand there, and names that are both."""

    found: int
    there: int
    right: int

    def describe(self) -> str:
        """Precision and recall, with what they are made of."""
        return f"{_share(self.right, self.found)} {_share(self.right, self.there)}"


def score(finders: Sequence[NameFinder], kinds: frozenset[str]) -> Score:
    """The names of some kinds that several finders find together.

    Raises:
        EngineUnavailable: one of them cannot answer.
    """
    found = there = right = 0
    for sentence in SENTENCES:
        got = {(name.kind, name.start, name.end) for name in find_names(sentence.text, finders) if name.kind in kinds}
        gold = {each for each in sentence.names if each[0] in kinds}
        found, there, right = found + len(got), there + len(gold), right + len(got & gold)
    return Score(found, there, right)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each finder and group of kinds; 0 also where spaCy is not installed."""
    parser = argparse.ArgumentParser(prog="python -m bench.names", description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="an installed spaCy pipeline")
    model = parser.parse_args(arguments).model
    spelling, spacy = RegexNames(), SpacyNames(model)
    measured: Mapping[str, Sequence[NameFinder]] = {"regex": [spelling], "spacy": [spacy], "both": [spelling, spacy]}
    print(f"{'':8} {'':38} {'precision':>16} {'recall':>16}")
    for name, finders in measured.items():
        try:
            scores = {kinds: score(finders, wanted) for kinds, wanted in KINDS.items()}
        except EngineUnavailable as missing:
            print(f"{name:8} left out: {missing}")
            continue
        for kinds, each in scores.items():
            print(f"{name:8} {kinds:38} {each.describe()}")
    return 0


def _share(part: int, whole: int) -> str:
    return f"{part / whole if whole else 0:6.3f} ({part:>3}/{whole:>3})"


if __name__ == "__main__":
    sys.exit(main())
