"""Memories that a request to forget is about: all, those of a topic, or the last thing said, with what it taught."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engrain.agent.reads.search import search
from engrain.agent.wiring.arguments import find_preset
from engrain.domain import checks
from engrain.domain.filters import Filter
from engrain.domain.records import Caller, Episode, Fact, MemoryRecord
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms, words
from engrain.domain.text.repetition import asks_alone
from engrain.retrieval.search_query import SearchQuery
from engrain.storage.search.recency import load_newest
from engrain.storage.selection import load_learned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.wiring.parts import Parts
    from engrain.storage.unit_of_work import Snapshot

_MOST, _MOST_AT_ALL = 100, 1_000
_LEAST_COVER = 0.5
# A fact that was stored on its own belongs to the conversation while it is so young.
_JUST_NOW = timedelta(hours=1)


def find_topic(parts: Parts, caller: Caller, topic: str, *, speaker_alone: bool) -> list[MemoryRecord]:
    """Find what says something of a topic: whatever has most of its words, or else what answers it best.

    Questions are left out. With `speaker_alone` episodes of the user alone. What all users share is out of the reach of
    one of them, and what all agents share out of that of one without the right to publish.
    """
    everything = Filter(scopes=() if caller.user is None else (caller.own_scope, caller.shared_scope))
    question = SearchQuery(text=topic, preset=find_preset(parts, "keyword"), limit=_MOST)
    found = [hit.memory for hit in search(parts, caller, question, everything) if caller.may_change(hit.memory.scope)]
    stating = [memory for memory in found if _states(memory, speaker_alone=speaker_alone)]
    wanted = frozenset(terms(topic))
    covers = [_cover(topic, wanted, memory) for memory in stating]
    best = max(covers, default=0.0)
    if best >= _LEAST_COVER:
        chosen = [memory for memory, cover in zip(stating, covers, strict=True) if cover == best]
    else:
        answer = search(parts, caller, SearchQuery(text=topic, preset=find_preset(parts, None), limit=1), everything)
        chosen = [hit.memory for hit in answer if answer.evidence in ("weak", "strong")]
        chosen = [memory for memory in chosen if _states(memory, speaker_alone=speaker_alone)]
    return _with_learned(parts, caller, chosen)


def find_last_said(parts: Parts, caller: Caller) -> list[MemoryRecord]:
    """Find the user's last turn in this session, or the fact or rule that was stored on its own after it."""
    now = parts.clock()
    sessions = checks.names(caller.session, name="session")
    said = Request(caller=caller, filter=Filter(kinds=("episode",), sessions=sessions, roles=("user",)), now=now)
    stored = Request(caller=caller, filter=Filter(kinds=("fact", "rule"), since=now - _JUST_NOW), now=now)

    def read(snapshot: Snapshot) -> list[MemoryRecord]:
        own = [memory for memory in load_newest(snapshot, stored, _MOST) if _is_own(memory, caller)]
        return [*load_newest(snapshot, said, 1), *own]

    newest = sorted(parts.store.read(caller, read), key=lambda memory: (memory.created_at, memory.id))
    return _with_learned(parts, caller, newest[-1:])


def find_all_known(parts: Parts, caller: Caller) -> list[MemoryRecord]:
    """Find what is remembered in the caller's own scope, the newest thousand; `erase_user` removes more."""
    own = Request(caller=caller, filter=Filter(scopes=(caller.own_scope,)), now=parts.clock())
    return parts.store.read(caller, load_newest, own, _MOST_AT_ALL)


def _cover(topic: str, wanted: frozenset[str], memory: MemoryRecord) -> float:
    """The share of a topic's terms that a memory has; of one that has none ("my will") whether it has those words."""
    text = f"{memory.subject} {memory.predicate} {memory.content}" if isinstance(memory, Fact) else memory.content
    if wanted:
        return len(wanted.intersection(terms(text))) / len(wanted)
    return float(f" {' '.join(words(topic))} " in f" {' '.join(words(text))} ")


def _states(memory: MemoryRecord, *, speaker_alone: bool) -> bool:
    """True if a memory states something, in words of the user where these alone are meant."""
    if not isinstance(memory, Episode):
        return True
    return not asks_alone(memory.content, role=memory.role) and (memory.role == "user" or not speaker_alone)


def _is_own(memory: MemoryRecord, caller: Caller) -> bool:
    """True for a fact or rule that the caller stored by itself, and not for others."""
    is_alone = not isinstance(memory, Episode) and memory.source_episode_id is None
    return is_alone and memory.agent == caller.agent and memory.scope == caller.own_scope


def _with_learned(parts: Parts, caller: Caller, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Return the memories, and the live facts and rules that were learned from them, as far as they may be changed."""
    ids = [memory.id for memory in memories]
    learned = parts.store.read(caller, load_learned, ids) if ids else []
    live = [memory for memory in learned if memory.is_live(parts.clock())]
    return list({memory.id: memory for memory in (*memories, *live) if caller.may_change(memory.scope)}.values())
