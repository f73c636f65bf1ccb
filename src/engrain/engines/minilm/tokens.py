"""Text to the token ids all-MiniLM-L6-v2 reads, at a price that does not grow with what lies past its 256 tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 256  # the published model's max_seq_length, [CLS] and [SEP] included
FIRST_CHARS = 2048  # 254 word pieces of prose are about 1,200 characters
GROWTH = 8


def open_tokenizer(path: Path) -> Tokenizer:
    """The published tokenizer, cutting at MAX_TOKENS and never padding (its file says 128 for both)."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def leading_ids(tokenizer: Tokenizer, text: str, first_chars: int = FIRST_CHARS) -> list[int]:
    """The first MAX_TOKENS ids of the text, exactly those of tokenising it whole.

    Reads `first_chars` characters, and more only while they do not settle the ids: megabytes of blanks, or one word of
    a million letters, are read to their end, about a second per million characters.
    """
    length = first_chars
    while True:
        encoding = tokenizer.encode(well_formed(text[:length]))
        if length >= len(text) or _is_settled(encoding):
            return encoding.ids
        length *= GROWTH


def _is_settled(encoding: Encoding) -> bool:
    """Whether no text after this prefix can change the ids kept.

    The tokenizer works word by word (https://arxiv.org/abs/1810.04805, section 3), so only a prefix's end can come to
    read differently: its last word, where the cut fell inside it, or its last two, where the cut fell inside the
    brackets of a special token such as [MASK]. The ids are settled once the last one kept lies before those two.
    """
    if not encoding.overflowing:
        return False
    kept, read = encoding.word_ids[-2], encoding.overflowing[-1].word_ids[-2]
    return kept is not None and read is not None and kept <= read - 2


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, which no tokenizer accepts, and surrogate pairs joined."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
