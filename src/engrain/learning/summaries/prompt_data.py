"""Memories as a model is shown them: data in escaped tags, which no memory can close; and what a model says, bare."""

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

    from engrain.learning.summaries.extractive import Passage

# More than any answer that was asked for; the rest of a longer one is not read.
_MOST_CHARACTERS = 400_000
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?(?:memories|memory|summary|reflection|answer|output)\b[^>\n]{0,200}>", re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.DOTALL)


@cache
def template(name: str) -> Template:
    """A prompt of ours by its name and version, such as `summary_1`."""
    return Template(files("engrain.learning").joinpath("templates", f"{name}.md").read_text(encoding="utf-8"))


def as_data(passages: Iterable[Passage]) -> str:
    """Each passage in a tag of its own, numbered m1, m2, ..., all in one; `<`, `>` and `&` of theirs are escaped."""
    shown = [
        f'<memory id="m{place}"{_said(passage.label)}>{html.escape(passage.text, quote=False)}</memory>'
        for place, passage in enumerate(passages, start=1)
    ]
    return "\n".join(["<memories>", *shown, "</memories>"])


def bare(reply: str) -> str:
    """What a model says, without its thoughts, a fence around it, and tags such as ours; possibly empty."""
    said = _THOUGHT.sub("", reply[:_MOST_CHARACTERS]).strip()
    fenced = _FENCE.match(said)
    return clean(_TAG.sub("", fenced[1] if fenced else said))


def _said(label: str) -> str:
    return f' said="{html.escape(" ".join(label.split()))}"' if label else ""
