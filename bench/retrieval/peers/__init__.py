"""Other memories and stores on the same turns, vectors and questions; each is used only where it is installed.

Each gets what its own guide would have a user store: every turn as "Speaker: text", one namespace for each
conversation, nothing tuned. None of them is told sessions, neighbours or dates, because their interfaces have no place
for them that a search looks at.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bench.retrieval.corpus import UnknownData, places
from bench.retrieval.runner import LIMIT, AnsweredQuestion, Ingest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.retrieval.corpus import Conversation, Corpus, Turn
    from bench.retrieval.runner import Say
    from bench.retrieval.vector_cache import CachedEmbedder

# Nothing is told to anybody, and no model is looked for: what a peer lacks it goes without.
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MEM0_TELEMETRY": "False",
    "POSTHOG_DISABLED": "true",
    "TRANSFORMERS_OFFLINE": "1",
}


class Peer(Protocol):
    """A store of texts in namespaces, opened with the bench's embedder and an empty folder."""

    def remember(self, namespace: str, texts: Sequence[str]) -> None:
        """Keep the texts, in their order, in a namespace that is new."""

    def search(self, namespace: str, question: str, limit: int) -> Sequence[int]:
        """The places of the best texts in their namespace, from 0, best first."""

    def close(self) -> None:
        """Release what is open."""


class Vectors:
    """The bench's vectors as plain lists, which is what peers take."""

    def __init__(self, embedder: CachedEmbedder) -> None:
        self._embedder = embedder
        self.dims = embedder.dims
        self.is_asking = False

    def whichever(self, texts: Sequence[str]) -> list[list[float]]:
        """For peers with one function for both: documents, and once `is_asking` questions, which no file remembers."""
        return [self.question(text) for text in texts] if self.is_asking else self.documents(texts)

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(each) for each in row] for row in self._embedder.embed(texts, role="document")]

    def question(self, text: str) -> list[float]:
        return [float(each) for each in self._embedder.embed([text], role="query")[0]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A peer that may be run: the modules it needs, what installs them, and how it is opened.

    `lacks`: what it needs besides and this machine has not.
    """

    modules: tuple[str, ...]
    install: str
    open: Callable[[Vectors, Path], Peer]
    lacks: str | None = None

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be run, and what would help."""
        if any(not _is_there(module) for module in self.modules):
            return f"not installed: {self.install}"
        return None if self.lacks is None else f"needs {self.lacks}"


def offers() -> Mapping[str, Offer]:
    """Every peer by name."""
    from bench.retrieval.peers import chroma, langgraph_store, mem0_memory, txtai_index

    return {
        "langgraph": langgraph_store.IN_MEMORY,
        "langgraph-sqlite": langgraph_store.IN_SQLITE,
        "mem0": mem0_memory.OFFER,
        "chroma": chroma.OFFER,
        "txtai": txtai_index.OFFER,
    }


def chosen(names: Sequence[str], known: Mapping[str, Offer]) -> dict[str, Offer]:
    """The offers of those names; all where none is named.

    Raises:
        UnknownData: a name that is no peer's.
    """
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownData(f"no peer is called {unknown[0]!r}; there are {', '.join(known)}")
    return {name: known[name] for name in names or known}


def run(
    corpus: Corpus, offered: Mapping[str, Offer], *, embedder: CachedEmbedder, say: Say
) -> tuple[dict[str, tuple[AnsweredQuestion, ...]], dict[str, Ingest]]:
    """Run the peers that can be run, with their costs; `say` gets the reason for the others."""
    os.environ.update(_QUIET)
    answers: dict[str, tuple[AnsweredQuestion, ...]] = {}
    ingests: dict[str, Ingest] = {}
    for name, offer in offered.items():
        obstacle = offer.obstacle
        if obstacle is not None:
            say(f"{name} is left out: {obstacle}")
            continue
        with tempfile.TemporaryDirectory(prefix="engrain-peer-", ignore_cleanup_errors=True) as folder:
            vectors = Vectors(embedder)
            peer = offer.open(vectors, Path(folder))
            try:
                ingests[name] = _remembered(peer, corpus, embedder)
                say(f"{name} remembers {ingests[name].memories:,} turns")
                vectors.is_asking = True
                answers[name] = tuple(each for talk in corpus.conversations for each in _ask(peer, talk, embedder))
                say(f"asked {len(answers[name])} questions of {name}")
            finally:
                peer.close()
    return answers, ingests


def text(turn: Turn) -> str:
    """The text of a turn that is stored: speaker and content, as engrain embeds it."""
    return f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def _remembered(peer: Peer, corpus: Corpus, embedder: CachedEmbedder) -> Ingest:
    before, start = (embedder.embedded, embedder.seconds), time.perf_counter()
    for conversation in corpus.conversations:
        peer.remember(conversation.name, [text(turn) for turn in conversation.turns])
    return Ingest(
        memories=sum(len(conversation.turns) for conversation in corpus.conversations),
        seconds=time.perf_counter() - start,
        embedded=embedder.embedded - before[0],
        embedder_seconds=embedder.seconds - before[1],
    )


def _ask(peer: Peer, conversation: Conversation, embedder: CachedEmbedder) -> list[AnsweredQuestion]:
    where = places(conversation.turns)
    asked = []
    for question in conversation.questions:
        spared, start = embedder.spared_s, time.perf_counter()
        embedded, cpu = embedder.questions_cpu_s, time.process_time()
        found = peer.search(conversation.name, question.text, LIMIT)
        cpu = time.process_time() - cpu - (embedder.questions_cpu_s - embedded)
        seconds = time.perf_counter() - start + embedder.spared_s - spared
        places_found = tuple(where[at] for at in found)
        asked.append(AnsweredQuestion(question=question, found=places_found, seconds=seconds, search_cpu_s=cpu))
    return asked
