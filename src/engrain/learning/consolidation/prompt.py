"""What a model is asked of a batch of episodes: a template's words, and data that cannot break out of it. Pure."""

from __future__ import annotations

import html
from collections import Counter
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from engrain.domain.checks import MAX_NAME_LENGTH
from engrain.domain.records import Fact
from engrain.domain.runs.completions import Prompt
from engrain.domain.text.analysis import terms
from engrain.learning.consolidation.reply_schema import REPLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engrain.domain.records import Episode, Rule

VERSION = "consolidation_1"
MOST_FACTS, MOST_RULES = 100, 50
LEAST_CHARACTERS, DEFAULT_CHARACTERS = 20_000, 60_000
# Of the characters of a prompt, so much may go to what is known already.
_KNOWN_SHARE = 0.4
_MOST_KNOWN = 600  # characters of one fact or rule
_MOST_NAME = 80
# Of an episode that is too long, so much of what is kept is from its beginning.
_HEAD = 2 / 3
_NOTE = "\n[... {:,} characters of this episode are left out here ...]\n"


@cache
def template(version: str = VERSION) -> str:
    """The instructions of a version, as they stand in the package."""
    found = resources.files("engrain.learning").joinpath("templates", f"{version}.md")
    return found.read_text(encoding="utf-8")


def build(
    episodes: Sequence[Episode], known: Sequence[Fact | Rule], *, most_characters: int = DEFAULT_CHARACTERS
) -> tuple[Prompt, tuple[Fact | Rule, ...]]:
    """The question to a model, and which of `known` stand in it, in their order; equal to the byte for equal input.

    Episodes are named e1, e2, ... in their order. The data have at most `most_characters` (20,000 at least): known
    things that do not fit are left out from the last on, and of the longest episodes the middle, which a note says.
    """
    room = max(most_characters, LEAST_CHARACTERS)
    shown = _fitting(known, int(room * _KNOWN_SHARE))
    facts = [_fact(each) for each in shown if isinstance(each, Fact)]
    rules = [_rule(each) for each in shown if not isinstance(each, Fact)]
    before = [*_element("known_facts", facts), *_element("known_rules", rules)]
    left = room - sum(map(len, before)) - len(before) - len("<episodes></episodes>") - 2
    data = "\n".join([*before, *_element("episodes", _episodes(episodes, left))])
    return Prompt(system=template(), user=data, schema=REPLY), tuple(shown)


def by_bearing(memories: Iterable[Fact | Rule], episodes: Iterable[Episode]) -> list[Fact | Rule]:
    """Those that share most words with the episodes first, rare words counting more; then the newest, then by id."""
    said = Counter(term for each in episodes for term in set(terms(each.content)))
    held = [(each, set(terms(_statement(each)))) for each in memories]
    spread = Counter(term for _, words in held for term in words)
    shared = {each.id: sum(1 / spread[term] for term in words if term in said) for each, words in held}
    newest = sorted((each for each, _ in held), key=lambda each: (each.happened_at, each.id), reverse=True)
    return sorted(newest, key=lambda each: -shared[each.id])


def _statement(memory: Fact | Rule) -> str:
    return f"{memory.subject} {memory.predicate} {memory.content}" if isinstance(memory, Fact) else memory.content


def _fitting(known: Sequence[Fact | Rule], room: int) -> list[Fact | Rule]:
    """The first facts and rules, up to their numbers and as long as there is room."""
    shown: list[Fact | Rule] = []
    left = {True: MOST_FACTS, False: MOST_RULES}
    for each in known:
        is_fact = isinstance(each, Fact)
        size = len(_fact(each) if isinstance(each, Fact) else _rule(each)) + 1
        if left[is_fact] and size <= room:
            shown.append(each)
            left[is_fact] -= 1
            room -= size
    return shown


def _element(name: str, lines: Sequence[str]) -> list[str]:
    return [f"<{name}>", *lines, f"</{name}>"]


def _fact(fact: Fact) -> str:
    since = f' since="{fact.valid_from.date()}"' if fact.valid_from else ""
    named = f'id="{fact.id}" subject="{_attribute(fact.subject)}" predicate="{_attribute(fact.predicate)}"{since}'
    return f"<fact {named}>{_clipped(_line(fact.content), _MOST_KNOWN)}</fact>"


def _rule(rule: Rule) -> str:
    warning = ' maturity="anti_pattern"' if rule.maturity == "anti_pattern" else ""
    return f'<rule id="{rule.id}"{warning}>{_clipped(_line(rule.content), _MOST_KNOWN)}</rule>'


def _episodes(episodes: Sequence[Episode], room: int) -> list[str]:
    opened = [_opening(place, each) for place, each in enumerate(episodes, 1)]
    closed = "</episode_content>"
    room -= sum(len(tag) + len(closed) + 3 for tag in opened)
    sizes = [len(_escaped(each.content)) for each in episodes]
    shares = _shares(sizes, max(room, 0))
    return [
        f"{tag}\n{_clipped(each.content, share)}\n{closed}"
        for tag, each, share in zip(opened, episodes, shares, strict=True)
    ]


def _opening(place: int, episode: Episode) -> str:
    said = {
        "session": episode.session,
        "role": episode.role,
        "speaker": episode.speaker,
        "time": episode.event_time.isoformat(timespec="minutes"),
    }
    named = " ".join(f'{name}="{_attribute(value)}"' for name, value in said.items() if value is not None)
    return f'<episode_content id="e{place}" {named}>'


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """What each may have, so that together they fit: whoever asks for less than an even share has it, others share."""
    shares = [0] * len(sizes)
    waiting = sorted(range(len(sizes)), key=lambda place: (sizes[place], place))
    for done, place in enumerate(waiting):
        shares[place] = min(sizes[place], room // (len(waiting) - done))
        room -= shares[place]
    return shares


def _clipped(text: str, most: int) -> str:
    """The text escaped, in at most so many characters: of a longer one beginning and end, and how much is gone."""
    escaped = _escaped(text)
    if len(escaped) <= most:
        return escaped
    room = most - len(_NOTE.format(len(text)))
    if room <= 0:
        return ""
    head = _longest(text, int(room * _HEAD))
    tail = _longest(text[::-1], room - len(_escaped(text[:head])))
    gone = len(text) - head - tail
    return f"{_escaped(text[:head])}{_NOTE.format(gone)}{_escaped(text[len(text) - tail :])}"


def _longest(text: str, most: int) -> int:
    """How many characters of the beginning fit when they are escaped."""
    low, high = 0, min(len(text), most)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_escaped(text[:middle])) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _escaped(text: str) -> str:
    """As it stands in an element: whatever it says, it opens and closes nothing."""
    return html.escape(text, quote=False)


def _attribute(value: str) -> str:
    """A name as an attribute holds it: its first characters, at most 80 once they are escaped."""
    said = ""
    for letter in _line(value[:MAX_NAME_LENGTH]):
        piece = html.escape(letter, quote=True)
        if len(said) + len(piece) > _MOST_NAME:
            break
        said += piece
    return said


def _line(text: str) -> str:
    return " ".join(text.split())
