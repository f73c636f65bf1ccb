"""Tokenizer of all-MiniLM-L6-v2: token ids at a cost that does not grow with what lies past its 256 tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.engines.surrogates import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 256  # the published model's max_seq_length, [CLS] and [SEP] included
FIRST_CHARS = 2048  # 254 word pieces of prose are about 1,200 characters
GROWTH = 8


def open_tokenizer(path: Path) -> Tokenizer:
    """Open the published tokenizer, set to cut at MAX_TOKENS and never to pad (its file says 128 for both)."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def leading_ids(tokenizer: Tokenizer, text: str, first_chars: int = FIRST_CHARS) -> list[int]:
    """The first MAX_TOKENS ids of the text, exactly those of tokenising it whole.

    Reads `first_chars` characters, and more only while the ids may still change: megabytes of blanks, or one word of
    a million letters, are read to their end, about a second per million characters.
    """
    length = first_chars
    while True:
        encoding = tokenizer.encode(replace_surrogates(text[:length]))
        if length >= len(text) or _is_final(encoding):
            return encoding.ids
        length *= GROWTH


def unknown_share(tokenizer: Tokenizer, ids: Sequence[int]) -> float:
    """Share of a text's tokens, 0-1, that the vocabulary lacks; of its ids [CLS] and [SEP] are none of them."""
    unknown = tokenizer.token_to_id("[UNK]")
    return 0.0 if unknown is None else ids.count(unknown) / max(1, len(ids) - 2)


def _is_final(encoding: Encoding) -> bool:
    """True if no text after this prefix can change the first MAX_TOKENS ids.

    The tokenizer works word by word (https://arxiv.org/abs/1810.04805, section 3), so only a prefix's end can come to
    read differently: its last word, where the cut fell inside it, or its last two, where the cut fell inside the
    brackets of a special token such as [MASK]. The ids are final once the last of them lies before those two.
    """
    if not encoding.overflowing:
        return False
    last_id, last_read = encoding.word_ids[-2], encoding.overflowing[-1].word_ids[-2]
    return last_id is not None and last_read is not None and last_id <= last_read - 2
