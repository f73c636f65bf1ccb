"""Token counters that split a text as a model does: word pieces and tiktoken encodings."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from engrain.engines.embedders.minilm import FOLDER
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

_REMEDY = 'reinstall it with `pip install --force-reinstall engrain`, or count "characters"'


class WordPieces:
    """Counter of the default embedder's word pieces, without the two it adds. Loaded on first use."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._tokenizer: Any = None

    def __call__(self, text: str) -> int:
        """Count the word pieces of a text.

        Raises:
            EngineUnavailable: the tokenizer's file is missing or damaged.
        """
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = _open_tokenizer(self._folder)
        return len(self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids)


class Tiktoken:
    """Counter by an encoding of tiktoken (extra `tiktoken`); special tokens count as text. Loaded on first use."""

    def __init__(self, encoding: str) -> None:
        self._name = encoding
        self._lock = threading.Lock()
        self._encoding: Any = None

    def __call__(self, text: str) -> int:
        """Count the tokens of a text.

        Raises:
            EngineUnavailable: tiktoken is not installed, or cannot get the encoding's vocabulary.
            InvalidInput: it knows no such encoding.
        """
        with self._lock:
            if self._encoding is None:
                self._encoding = _encoding(self._name)
        return len(self._encoding.encode_ordinary(text))


def _open_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # tokenizers raises bare Exception
        raise EngineUnavailable(f"the token counter wordpiece cannot be loaded ({error}); {_REMEDY}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _encoding(name: str) -> Any:
    label = f"the token counter tiktoken:{name}"
    try:
        import tiktoken
    except ImportError as error:
        raise EngineUnavailable(f"{label} needs a package: pip install 'engrain[tiktoken]'") from error
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise InvalidInput(f"{label} is unknown; choose one of: {', '.join(known)}")
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:  # it downloads the vocabulary, and lets whatever went wrong through
        remedy = "it downloads its vocabulary once: connect, or set TIKTOKEN_CACHE_DIR to a folder that holds it"
        raise EngineUnavailable(f"{label} cannot be loaded ({error}); {remedy}") from error
