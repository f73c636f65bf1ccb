"""The default embedder: all-MiniLM-L6-v2 inside the package, with no download, no key and no torch.

`tools/build_minilm.py` makes the files beside this one; NOTICE and provenance.json say what they are.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engrain.engines.embedders.minilm.tokens import leading_ids, open_tokenizer
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from engrain.domain.ports import EmbedRole

FOLDER = Path(__file__).parent
MAX_BATCH, MAX_BATCH_TOKENS = 8, 512  # more texts or tokens in a run are no faster per text, and take more memory
REMEDY = 'reinstall it with `pip install --force-reinstall engrain`, or choose the embedder "none"'


@dataclass(frozen=True, slots=True)
class _Engine:
    """The tokenizer and the session, loaded on first use; both may be called from any thread."""

    tokenizer: Tokenizer
    session: InferenceSession


class MiniLM:
    """Embedder all-MiniLM-L6-v2. Imports and loads nothing before the first text. Thread-safe.

    Reads the first 256 tokens of a text. None and the empty text stand for one space. The same text gives the same
    vector, to 1e-6, whatever it is batched with.

    Args:
        threads: cores one call may use; the default is two, or one where there is one.
        folder: where the model's files are.
    """

    name: Final = "minilm:all-MiniLM-L6-v2"
    dims: Final = 384

    def __init__(self, *, threads: int | None = None, folder: Path = FOLDER) -> None:
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._folder = folder
        self._lock = threading.Lock()
        self._engine: _Engine | None = None

    def embed(
        self,
        texts: Sequence[str | None],
        *,
        role: EmbedRole,  # noqa: ARG002 - this model reads questions and documents alike
    ) -> NDArray[np.float32]:
        """As the port says; EngineUnavailable where the model's files are missing or damaged."""
        import numpy as np

        vectors = np.empty((len(texts), self.dims), np.float32)
        if not texts:
            return vectors
        engine = self._load_once()
        rows = [leading_ids(engine.tokenizer, text or " ") for text in texts]
        for batch in batches([len(row) for row in rows]):
            vectors[batch] = self._run(engine.session, [rows[index] for index in batch])
        return vectors

    def _run(self, session: InferenceSession, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Run the model once: the unit vectors of up to MAX_BATCH rows of token ids."""
        import numpy as np

        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        try:
            vectors: NDArray[np.float32] = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
        except Exception as error:  # onnxruntime's errors have no other base
            raise EngineUnavailable(
                f"the embedder {self.name} failed on a text ({error}); if memory is not short, {REMEDY}"
            ) from error
        return vectors

    def _load_once(self) -> _Engine:
        """Load the engine once, in whichever thread comes first."""
        with self._lock:
            if self._engine is None:
                try:
                    self._engine = _load(self._folder, self._threads)
                except Exception as error:  # tokenizers raises bare Exception, onnxruntime errors of no other base
                    raise EngineUnavailable(f"the embedder {self.name} cannot be loaded ({error}); {REMEDY}") from error
            return self._engine


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Every index of `lengths`, shortest first, in runs whose padded size keeps to both limits (one text always fits).

    Texts of like length share a run, so little is computed for padding.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        size = len(batch) + 1
        if batch and (size > MAX_BATCH or size * lengths[index] > MAX_BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _load(folder: Path, threads: int) -> _Engine:
    """Open a tokenizer and a session over the verified files of `folder`."""
    import onnxruntime

    _verify(folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors: its warnings are about devices nobody asked for
    # A worker that spins after a run keeps a core busy for nothing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    _return_freed_memory()
    return _Engine(open_tokenizer(folder / "tokenizer.json"), session)


def _verify(folder: Path) -> None:
    """Raise where a file is not the one that was built: onnxruntime reports no damaged weights."""
    built = json.loads((folder / "provenance.json").read_bytes())["files"]
    for name, facts in built.items():
        path = folder / name
        checksum = 0
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                checksum = zlib.crc32(piece, checksum)
        if checksum != int(facts["crc32"], 16):
            raise ValueError(f"{path} is damaged: CRC-32 {checksum:08x}, expected {facts['crc32']}")


def _return_freed_memory() -> None:
    """Hand back the 80 MB that unpacking the weights leaves on glibc's heap, which keeps what it has freed."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # absent from musl
        trim(0)
