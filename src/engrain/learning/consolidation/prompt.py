"""The consolidation prompt: a template's instructions, and data that cannot break out of its tags. Pure."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.checks import MAX_NAME_LENGTH
from engrain.domain.records import Episode, Fact, Rule
from engrain.domain.runs.completions import Prompt
from engrain.domain.text.bisection import find_largest
from engrain.learning.consolidation.reply_schema import REPLY
from engrain.learning.summaries.prompt_data import load_template

if TYPE_CHECKING:
    from collections.abc import Sequence


VERSION = "consolidation_2"
MOST_FACTS, MOST_RULES = 100, 50
LEAST_CHARACTERS, DEFAULT_CHARACTERS = 20_000, 60_000
# The share of the characters of a prompt that known facts and rules may have.
_KNOWN_SHARE = 0.4
_MOST_KNOWN = 600  # characters of one fact or rule
_MOST_NAME = 80
_DOUBTFUL = 0.7  # the confidence below which it is shown
# Of an excerpt of an episode that is too long, so much is from its beginning.
_HEAD = 2 / 3
_NOTE = "\n[... {:,} characters of this episode are left out here ...]\n"
# The share of what came before, and the characters of one turn of it or of a recap.
_EARLIER_SHARE, _MOST_EARLIER = 0.15, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTurns:
    """The turns of a session just before a batch, in order, and the recap that the batch before gave of it, if any."""

    session: str
    turns: tuple[Episode, ...]
    recap: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """The context of a batch in its sessions: what came before it, and whether its last session goes on after it."""

    earlier: tuple[EarlierTurns, ...] = ()
    is_cut: bool = False


def build_prompt(
    episodes: Sequence[Episode],
    known: Sequence[Fact | Rule],
    context: SessionContext = SessionContext(),
    *,
    most_characters: int = DEFAULT_CHARACTERS,
) -> tuple[Prompt, tuple[Fact | Rule, ...]]:
    """The prompt, and which of `known` stand in it, facts first; equal to the byte for equal input.

    What is known is named k1, k2, ... as it is returned, and a tag says `partial` where there is more. Episodes are
    named e1, e2, ... in their order; earlier turns have no name, so that none can be quoted. The data have at most
    `most_characters` (20,000 at least): facts and rules that do not fit are left out from the last on, and of the
    longest episodes the middle, which a note says.
    """
    room = max(most_characters, LEAST_CHARACTERS)
    shown = _select(known, int(room * _KNOWN_SHARE))
    before: list[str] = []
    for kind, name in (("fact", "known_facts"), ("rule", "known_rules")):
        listed = [_line(memory, f"k{number}") for number, memory in enumerate(shown, 1) if memory.kind == kind]
        is_partial = len(listed) < sum(memory.kind == kind for memory in known)
        before += _element(f"{name} partial" if is_partial else name, listed)
    before += _render_earlier(context.earlier, int(room * _EARLIER_SHARE))
    opening = "episodes cut" if context.is_cut else "episodes"
    left = room - sum(map(len, before)) - len(before) - len(f"<{opening}></episodes>") - 2
    data = "\n".join([*before, *_element(opening, _render_episodes(episodes, left))])
    return Prompt(system=load_template(VERSION).template, user=data, schema=REPLY), shown


def _select(known: Sequence[Fact | Rule], room: int) -> tuple[Fact | Rule, ...]:
    """The first facts, then the first rules, up to their numbers and as long as there is room for both."""
    shown: dict[str, list[Fact | Rule]] = {"fact": [], "rule": []}
    most = {"fact": MOST_FACTS, "rule": MOST_RULES}
    for memory in known:
        size = len(_line(memory, "k000")) + 1
        if len(shown[memory.kind]) < most[memory.kind] and size <= room:
            shown[memory.kind].append(memory)
            room -= size
    return (*shown["fact"], *shown["rule"])


def _line(memory: Fact | Rule, name: str) -> str:
    content = _clip(_flatten(memory.content), _MOST_KNOWN)
    if not isinstance(memory, Fact):
        warning = ' maturity="anti_pattern"' if memory.maturity == "anti_pattern" else ""
        return f'<rule id="{name}"{warning}>{content}</rule>'
    since = f' since="{memory.valid_from.date()}"' if memory.valid_from else ""
    doubt = f' confidence="{memory.confidence:.1g}"' if memory.confidence < _DOUBTFUL else ""
    about = f'subject="{_attribute(memory.subject)}" predicate="{_attribute(memory.predicate)}"'
    return f'<fact id="{name}" {about}{since}{doubt}>{content}</fact>'


def _element(name: str, lines: Sequence[str]) -> list[str]:
    return [f"<{name}>", *lines, f"</{name.partition(' ')[0]}>"]


def _render_earlier(sessions: Sequence[EarlierTurns], room: int) -> list[str]:
    """The elements of the first sessions, as long as there is room for a whole one."""
    lines: list[str] = []
    for earlier in sessions:
        texts = [] if earlier.recap is None else [f"<recap>{_clip(_flatten(earlier.recap), _MOST_EARLIER)}</recap>"]
        texts += (
            f"<turn {_attributes(turn, session=False)}>{_clip(_flatten(turn.content), _MOST_EARLIER)}</turn>"
            for turn in earlier.turns
        )
        element = _element(f'earlier_turns session="{_attribute(earlier.session)}"', texts)
        room -= sum(map(len, element)) + len(element)
        if room < 0:
            break
        lines += element
    return lines


def _render_episodes(episodes: Sequence[Episode], room: int) -> list[str]:
    openings = [f'<episode_content id="e{n}" {_attributes(episode)}>' for n, episode in enumerate(episodes, 1)]
    closing = "</episode_content>"
    room -= sum(len(tag) + len(closing) + 3 for tag in openings)
    shares = _divide([len(_escape(episode.content)) for episode in episodes], max(room, 0))
    return [
        f"{tag}\n{_clip(episode.content, share)}\n{closing}"
        for tag, episode, share in zip(openings, episodes, shares, strict=True)
    ]


def _attributes(episode: Episode, *, session: bool = True) -> str:
    attributes = {
        "session": episode.session if session else None,
        "role": episode.role,
        "speaker": episode.speaker,
        "time": episode.event_time.isoformat(timespec="minutes"),
    }
    return " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items() if value is not None)


def _divide(sizes: Sequence[int], room: int) -> list[int]:
    """Shares that fit together: a size below an even share is whole, the others share the rest."""
    shares = [0] * len(sizes)
    waiting = sorted(range(len(sizes)), key=lambda index: (sizes[index], index))
    for done, index in enumerate(waiting):
        shares[index] = min(sizes[index], room // (len(waiting) - done))
        room -= shares[index]
    return shares


def _clip(text: str, most: int) -> str:
    """The text escaped, in at most so many characters: of a longer one beginning and end, and how much is gone."""
    escaped = _escape(text)
    if len(escaped) <= most:
        return escaped
    room = most - len(_NOTE.format(len(text)))
    if room <= 0:
        return ""
    head = _count_fitting(text, int(room * _HEAD))
    tail = _count_fitting(text[::-1], room - len(_escape(text[:head])))
    gone = len(text) - head - tail
    return f"{_escape(text[:head])}{_NOTE.format(gone)}{_escape(text[len(text) - tail :])}"


def _count_fitting(text: str, most: int) -> int:
    """The number of characters of the beginning that fit when they are escaped."""
    return find_largest(min(len(text), most), lambda length: len(_escape(text[:length])) <= most)


def _escape(text: str) -> str:
    """The text as it stands in an element: whatever it says, it opens and closes nothing."""
    return html.escape(text, quote=False)


def _attribute(value: str) -> str:
    """A name as an attribute holds it: its first characters, at most 80 once they are escaped."""
    escaped = ""
    for letter in _flatten(value[:MAX_NAME_LENGTH]):
        piece = html.escape(letter, quote=True)
        if len(escaped) + len(piece) > _MOST_NAME:
            break
        escaped += piece
    return escaped


def _flatten(text: str) -> str:
    return " ".join(text.split())
