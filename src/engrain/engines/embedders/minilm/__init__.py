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
from dataclasses import dataclass, field
from itertools import count
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.embedders.minilm.tokens import leading_ids, open_tokenizer, unknown_share
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from engrain.domain.ports import EmbedRole

FOLDER = Path(__file__).parent
PACKED_RUNS = 8  # with 19 ms more each they cost what unpacking once does
MOST_UNKNOWN = 1 / 3  # of a question's tokens: Thai has all of them, Chinese two thirds, Japanese and Korean a fifth
MAX_BATCH, MAX_BATCH_TOKENS = 8, 512  # more texts or tokens in a run are no faster per text, and take more memory
REMEDY = 'reinstall it with `pip install --force-reinstall engrain`, or choose the embedder "none"'


@dataclass(frozen=True, slots=True)
class _Engine:
    """The tokenizer and the session, loaded on first use; both may be called from any thread.

    Attributes:
        is_unpacked: whether the session holds float32 weights; else it makes them at each run.
    """

    tokenizer: Tokenizer
    session: InferenceSession
    is_unpacked: bool
    runs: Iterator[int] = field(default_factory=count)


class MiniLM:
    """Embedder all-MiniLM-L6-v2. Imports and loads nothing before the first text. Thread-safe.

    The first calls with one text each unpack the weights as they reach them: three times slower a text, but such a
    session opens five times sooner than one that holds them unpacked and takes half its memory, so a command that asks
    one question ends sooner. A call with several texts makes the other session, and so does the ninth. The runtime maps
    the file of the weights: processes share it, and nothing copies it.

    Reads the first 256 tokens of a text. None and the empty text stand for one space. The same text gives the same
    vector, to 1e-6, whatever it is batched with. A question of which its vocabulary lacks more than a third has the
    length 0: one in Thai or Chinese would be as near to one text as to any other.

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
        role: EmbedRole,
    ) -> NDArray[np.float32]:
        """As the port says; EngineUnavailable where the model's files are missing or damaged."""
        import numpy as np

        vectors = np.empty((len(texts), self.dims), np.float32)
        if not texts:
            return vectors
        engine = self._load(unpacks=len(texts) > 1)
        rows = [leading_ids(engine.tokenizer, text or " ") for text in texts]
        for batch in batches([len(row) for row in rows]):
            vectors[batch] = self._run(engine.session, [rows[index] for index in batch])
        if role == "query":
            vectors[[unknown_share(engine.tokenizer, row) > MOST_UNKNOWN for row in rows]] = 0.0
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

    def _load(self, *, unpacks: bool) -> _Engine:
        """Load the engine in whichever thread comes first, and once more to have its weights unpacked."""
        with self._lock:
            loaded = self._engine
            if loaded is not None and not loaded.is_unpacked:
                unpacks = unpacks or next(loaded.runs) + 1 >= PACKED_RUNS
            if loaded is None or (unpacks and not loaded.is_unpacked):
                try:
                    self._engine = loaded = _open(self._folder, self._threads, unpacks=unpacks)
                except Exception as error:  # tokenizers raises bare Exception, onnxruntime errors of no other base
                    if isinstance(error.__cause__, KeyboardInterrupt):  # what compiled modules make of a Ctrl-C
                        raise error.__cause__ from None
                    raise EngineUnavailable(f"the embedder {self.name} cannot be loaded ({error}); {REMEDY}") from error
            return loaded


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


def _open(folder: Path, threads: int, *, unpacks: bool) -> _Engine:
    """Open a tokenizer and a session over the verified files of `folder`."""
    onnxruntime = _load_runtime()
    _verify(folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors: its warnings are about devices nobody asked for
    # A worker that spins after a run keeps a core busy for nothing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not unpacks:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # folds no constants
        options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED  # a layer's weights when it is their turn
        options.enable_cpu_mem_arena = False  # it would keep what one run needs
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    if unpacks:
        _return_freed_memory()
    return _Engine(open_tokenizer(folder / "tokenizer.json"), session, unpacks)


def _load_runtime() -> Any:
    """Import onnxruntime without its telemetry, unless the host of this process has chosen otherwise.

    Since 1.29 its wheels for Linux and macOS send events to Microsoft and keep a device id in the home folder, unless
    the variable is set before the import: https://github.com/microsoft/onnxruntime/pull/27379. Windows has a call.
    """
    is_hosts = "onnxruntime" in sys.modules or "ORT_DISABLE_TELEMETRY" in os.environ
    if not is_hosts:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    if not is_hosts:
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def _verify(folder: Path) -> None:
    """Raise where a file is not the one that was built: onnxruntime reports no damaged weights."""
    built = json.loads((folder / "provenance.json").read_bytes())["files"]
    for name, facts in built.items():
        path = folder / name
        if path.stat().st_size == 0:
            raise ValueError(f"{path} is damaged: it is empty")
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            checksum = zlib.crc32(content)
        if checksum != int(facts["crc32"], 16):
            raise ValueError(f"{path} is damaged: CRC-32 {checksum:08x}, expected {facts['crc32']}")


def _return_freed_memory() -> None:
    """Hand back the 80 MB that unpacking the weights leaves on glibc's heap, which keeps what it has freed."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # absent from musl
        trim(0)
