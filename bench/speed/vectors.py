"""Embedders for measuring: vectors for next to nothing, and the real embedder's time on top of them."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engrain import engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder, EmbedRole

DIMS = 384
_EXAMPLES = Path(__file__).parents[2] / "examples"
MESSAGES = _EXAMPLES / "two_friends.jsonl"
_CLUSTERS, _NOISES = 256, 4096
_NOISE = 0.6


class RandomVectors:
    """Unit vectors in clusters, a few microseconds each and the same for the same text in every process.

    A vector is the centre of a cluster and two noises of a fixed store; which ones, the hash of the text says.
    """

    name = "bench:random"
    dims = DIMS

    def __init__(self) -> None:
        rng = np.random.default_rng(384)
        self._centres = rng.standard_normal((_CLUSTERS, DIMS), np.float32)
        self._noises = _NOISE * rng.standard_normal((_NOISES, DIMS), np.float32)
        self.seconds = 0.0  # CPU, on documents

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """The vectors of the texts; a question's is made as a document's is."""
        start = time.thread_time()
        digests = b"".join(hashlib.blake2b(text.encode(), digest_size=12).digest() for text in texts)
        which = np.frombuffer(digests, np.uint32).reshape(-1, 3)
        rows = self._centres[which[:, 0] % _CLUSTERS]
        rows = rows + self._noises[which[:, 1] % _NOISES] + self._noises[which[:, 2] % _NOISES]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        if role == "document":
            self.seconds += time.thread_time() - start
        return np.asarray(rows, np.float32)


class RealQuestions:
    """Vectors of `RandomVectors`; for a question, also all that the real embedder does with one in English.

    Made-up words fall into more pieces than real ones, so the question that is embedded is one of a list.
    """

    name = RandomVectors.name
    dims = DIMS

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._random = RandomVectors()
        self._questions = itertools.cycle(english_questions())

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """The vectors of `RandomVectors`, later."""
        if role == "query":
            self._real.embed([next(self._questions) for _ in texts], role=role)
        return self._random.embed(texts, role=role)


def real(name: str) -> Embedder:
    """An embedder of engrain's own by `provider:model`."""
    found = engines.embedder(name)
    assert found is not None
    return found


def english_questions() -> list[str]:
    """The questions of the examples' chat."""
    return [str(question["ask"]) for question in json.loads((_EXAMPLES / "questions.json").read_text(encoding="utf-8"))]


def english_messages() -> list[str]:
    """The turns of the examples' chat."""
    lines = MESSAGES.read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["content"]) for line in lines]
