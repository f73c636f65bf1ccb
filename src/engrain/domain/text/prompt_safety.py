"""Prompt safety: remembered text without what a chat template, a Markdown renderer or a model would act on. Pure."""

from __future__ import annotations

import re

from engrain.domain.text.patterns import lazy_pattern

# Each repetition of these patterns is possessive, or bounded by what stands before it: one that gave back what it took
# would need hours for a page of blanks behind a bracket, and every context block reads what strangers wrote.
# Bidirectional controls, zero-width and other invisible characters, and the tag characters that spell hidden ASCII.
_INVISIBLE = lazy_pattern(
    "[\N{SOFT HYPHEN}\N{COMBINING GRAPHEME JOINER}\N{ARABIC LETTER MARK}\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Scripts such as Persian, and emoji, need joiners; between ASCII characters they only hide a word.
_JOINER = "[\u200c\u200d]"
_IDLE_JOINER = lazy_pattern(f"(?<!{_JOINER})(?:(?<![^\x00-\x7f]){_JOINER}++|{_JOINER}++(?![^\x00-\x7f]))")
_IMAGE = lazy_pattern(r"(?<!!)!++(?=\[)")
_OPEN, _CLOSE = "[<\uff1c\ufe64]", ">\uff1e\ufe65"  # in full and small width, too
_BAR = "[|\uff5c\u00a6]"
# Tags with a meaning to chat templates, prompts and renderers; others, such as <div> or List<String>, stay.
_NAMES = (
    "s|bos|eos|pad|unk|mask|cls|sep|sys|system|user|human|assistant|developer|model|tool|tools|function|functions|"
    "start_of_turn|end_of_turn|start_of_image|unused|im_start|im_end|think|thinking|scratchpad|answer|output|result|"
    "context|memory|memories|instruction|instructions|important|secret|document|documents|data|prompt|message|messages|"
    "episode|episodes|known_facts|known_rules|fact|facts|rule|rules|"
    "img|image|picture|svg|iframe|frame|script|style|link|meta|base|object|embed|video|audio|source|input|form"
)
_NAME = rf"(?:{_NAMES})(?:[_:\-][\w:\-]*+|\d*+)(?:[\s/={_CLOSE}]|$)"
_TAG = lazy_pattern(
    rf"{_OPEN}(?=\s*+(?:/\s*+(?:[^\W\d]|{_BAR})|{_BAR}|(?:{_OPEN}\s*+(?:/\s*+)?)?{_NAME}))", re.IGNORECASE
)
_BRACKETED = lazy_pattern(
    r"\[(\s*+(?:/\s*+)?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|THINK|IMG\w*+|"
    r"PREFIX|MIDDLE|SUFFIX|CLS|SEP|MASK|PAD|UNK|BOS|EOS)\s*+)\]",
    re.IGNORECASE,
)


def neutralize(text: str) -> str:
    """The text without invisible characters, its markup defused: tags lose their bracket, images become links.

    Twice is the same as once. What is no markup stays as it is, code and other alphabets included.
    """
    if not text.isascii():
        text = _IDLE_JOINER.sub("", _INVISIBLE.sub("", text))
    if "[" in text:
        text = _BRACKETED.sub(r"(\1)", _IMAGE.sub("", text))
    return _TAG.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", text)


def flatten(text: str) -> str:
    """The text on one line, its markup defused: it passes for no heading, no other memory, no tag and no template."""
    return " ".join(neutralize(text).split())
