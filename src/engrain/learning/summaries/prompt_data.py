"""Prompt data: memories in escaped tags, which no memory can close; prompt templates; and replies without wrapping."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from engrain.domain.checks import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engrain.learning.summaries.passages import Passage

# More than any answer that was asked for; the rest of a longer one is not read.
_MOST_CHARACTERS = 400_000
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?(?:memories|memory|summary|reflection|answer|output)\b[^>\n]{0,200}>", re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)


@cache
def load_template(name: str) -> Template:
    """A prompt of ours by its name and version, such as `summary_1`."""
    return Template(files("engrain.learning").joinpath("templates", f"{name}.md").read_text(encoding="utf-8"))


def render_passages(passages: Iterable[Passage]) -> str:
    """Each passage in a tag of its own, numbered m1, m2, ..., all in one; `<`, `>` and `&` of theirs are escaped."""
    tags = [
        f'<memory id="m{number}"{_attribute(passage.label)}>{html.escape(passage.text, quote=False)}</memory>'
        for number, passage in enumerate(passages, start=1)
    ]
    return "\n".join(["<memories>", *tags, "</memories>"])


def strip_wrapping(reply: str) -> str:
    """The reply of a model without its thoughts, a fence around it, and tags such as ours; possibly empty."""
    text = _THOUGHT.sub("", reply[:_MOST_CHARACTERS]).strip()
    fenced = _FENCE.match(text)
    return clean(_TAG.sub("", fenced[1] if fenced else text))


def _attribute(label: str) -> str:
    return f' said="{html.escape(" ".join(label.split()))}"' if label else ""
