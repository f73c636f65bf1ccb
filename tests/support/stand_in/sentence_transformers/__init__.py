"""As much of the sentence-transformers package as engrain calls, for machines that have no torch.

Its models are folders with a `stand_in.json`: {"dims": int}, or {"labels": int} for a cross-encoder.
"""

import hashlib
import json
import threading
from pathlib import Path

import numpy as np


class _Model:
    def __init__(self, name):
        path = Path(name) / "stand_in.json"
        if not path.is_file():
            raise OSError(f"{name} is not a local folder and is not a valid model identifier\nand more lines")
        self.facts = json.loads(path.read_text(encoding="utf-8"))
        self._inside = threading.Lock()

    def _alone(self):
        """The tokenizer underneath refuses a second thread."""
        if not self._inside.acquire(blocking=False):
            raise RuntimeError("Already borrowed")
        return self._inside


class SentenceTransformer(_Model):
    def __init__(self, model_name_or_path, *, truncate_dim=None):
        super().__init__(model_name_or_path)
        self.truncate_dim = truncate_dim

    def get_embedding_dimension(self):
        return self.truncate_dim or self.facts["dims"]

    def encode_query(self, sentences, **how):
        return self._encode([f"query: {each}" for each in sentences], **how)

    def encode_document(self, sentences, **how):
        return self._encode(sentences, **how)

    def _encode(self, sentences, *, normalize_embeddings, convert_to_numpy, show_progress_bar):
        assert normalize_embeddings
        assert convert_to_numpy
        assert not show_progress_bar
        alone = self._alone()
        try:
            rows = np.array([_numbers(each.encode(), self.facts["dims"]) for each in sentences], np.float32)
        finally:
            alone.release()
        rows = rows[:, : self.truncate_dim]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class CrossEncoder(_Model):
    def predict(self, pairs, *, convert_to_numpy, show_progress_bar):
        assert convert_to_numpy
        assert not show_progress_bar
        alone = self._alone()
        try:
            for pair in pairs:
                "".join(pair).encode()
            scores = [len(set(query.split()) & set(document.split())) for query, document in pairs]
        finally:
            alone.release()
        rows = np.array(scores, np.float32)
        return rows if self.facts["labels"] == 1 else np.stack([rows] * self.facts["labels"], axis=1)


def _numbers(said, dims):
    return np.frombuffer(hashlib.shake_256(said).digest(dims), np.uint8) - np.float32(127.5)
