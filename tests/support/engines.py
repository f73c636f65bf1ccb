"""Embedders for tests that need vectors and no model: one that is good, and what others may do wrong."""

import hashlib
import threading

import numpy as np


class HashEmbedder:
    """A text's vector is its hash: the same text is found with cosine 1, any other with about 0."""

    def __init__(self, name="test:hash", dims=64):
        self.name = name
        self.dims = dims
        self.embedded = []  # every text that was embedded as a document
        self.questions = []  # and every one that was embedded as a question

    def embed(self, texts, *, role):
        (self.embedded if role == "document" else self.questions).extend(texts)
        rows = np.array([self.numbers(text) for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def numbers(self, text):
        return np.frombuffer(hashlib.shake_256(text.encode()).digest(self.dims), np.uint8) - np.float32(127.5)


class FaultyEmbedder(HashEmbedder):
    """Good until it is given a fault: what it does instead of answering, a function of the right rows."""

    def __init__(self, fault=None):
        super().__init__()
        self.fault = fault
        self.calls = 0

    def embed(self, texts, *, role):
        self.calls += 1
        rows = super().embed(texts, role=role)
        return rows if self.fault is None else self.fault(rows)


class HeldEmbedder(HashEmbedder):
    """As slow as the test wants: documents wait until `release` is set. `reached` is set when the first one waits."""

    def __init__(self):
        super().__init__()
        self.reached = threading.Event()
        self.release = threading.Event()

    def embed(self, texts, *, role):
        if role == "document":
            self.reached.set()
            assert self.release.wait(60)
        return super().embed(texts, role=role)
