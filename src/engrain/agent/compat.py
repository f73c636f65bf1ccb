"""Compatibility: what the tool profiles of other systems need of an agent beside its verbs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engrain.agent.reads.lookups import find_memory
from engrain.agent.reads.profiles import load_profile
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.view import enter
from engrain.agent.writes import corrections, handling
from engrain.agent.writes.memories import replace_fact
from engrain.domain import checks
from engrain.domain.memories.fact_keys import USER
from engrain.domain.memories.predicates import is_free_text
from engrain.domain.records import DECAY_RATES, Episode, Fact, MemoryRecord
from engrain.domain.requests import Request
from engrain.domain.text.analysis import words
from engrain.domain.text.small_talk import is_about_speaker
from engrain.retrieval.speakers import list_named
from engrain.storage.search.recency import load_newest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.agent.agent import Agent
    from engrain.domain.filters import Filter
    from engrain.domain.memories.routing import Routing
    from engrain.domain.ports import TokenCounter
    from engrain.storage.transaction import Transaction

_PAGE: Final = 1_000


def is_of_kind(agent: Agent, id_: str, kind: str) -> bool:
    """Return whether the agent sees a memory of this id and kind; not counted as a reference."""
    parts, caller = enter(agent)
    memory = parts.store.read(caller, find_memory, checks.name(id_, name="id"))
    return memory is not None and memory.kind == kind


def protect_fact(agent: Agent, id_: str) -> Fact:
    """Supersede an active fact by itself, believed in full and permanent.

    Raises:
        NotFound, InvalidInput: as `Agent.correct`; nothing was written.
    """
    parts, caller = enter(agent)
    certain = {"confidence": 1.0, "permanence": "permanent", "decay_rate": DECAY_RATES["permanent"]}
    return replace_fact(parts, new_act(parts, caller), id_, **certain)


def remember_statement(
    agent: Agent, routing: Routing, content: str, *, tags: Sequence[str] = ()
) -> tuple[Episode, Fact]:
    """Remember words that say more than their fact as an episode, and the fact, which is learned from it."""
    parts, caller = enter(agent)
    return handling.remember_statement(parts, caller, routing, {"content": content, "tags": tags})


def correct_memory(agent: Agent, id_: str, content: str) -> MemoryRecord:
    """Put what some words say in the place of a memory of any kind, in one transaction; return what stands there now.

    Raises:
        NotFound, InvalidInput: as `corrections.correct_memory`; nothing was written.
    """
    parts, caller = enter(agent)
    return corrections.correct_memory(parts, caller, checks.name(id_, name="id"), content)


def facts_about_user(agent: Agent) -> tuple[list[Fact], list[Fact]]:
    """List the newest facts about the user or whoever speaks to the agent, and the statements of no known subject.

    The standing ones come first; notes are left out. A statement without a subject is about the user where its words
    say so.
    """
    parts, caller = enter(agent)
    names = (USER,) if caller.user is None else (USER, caller.user)
    about: list[Fact] = []
    others: list[Fact] = []
    for fact in parts.store.read(caller, load_profile, parts.clock(), standing=False):
        if fact.subject != caller.agent:
            about.append(fact)
        elif is_free_text(fact.predicate):  # else it is a note
            is_own = is_about_speaker(fact.content) or list_named(fact.content, names)
            (about if is_own else others).append(fact)
    return about, others


def list_all(agent: Agent, narrowed: Filter) -> list[MemoryRecord]:
    """List every memory that an agent sees and a filter lets through, newest first; not counted as references."""
    parts, caller = enter(agent)
    found: list[MemoryRecord] = []
    while True:
        request = Request(caller=caller, filter=narrowed, now=parts.clock())
        page = parts.store.read(caller, load_newest, request, _PAGE)
        found += page
        if len(page) < _PAGE:
            return found
        narrowed = replace(narrowed, after=(page[-1].happened_at, page[-1].id))


def texts_that_name(agent: Agent, name: str, limit: int) -> list[Fact]:
    """Find facts in free text that have a name among their words, best first: of `limit` facts that a search finds."""
    wanted = words(name)
    if not wanted:
        return []
    found = agent.recall(name, preset="keyword", kinds=["fact"], limit=limit, count_references=False)
    texts = [hit.memory for hit in found if isinstance(hit.memory, Fact) and is_free_text(hit.memory.predicate)]
    return [text for text in texts if _has_in_a_row(words(text.content), wanted)]


def _has_in_a_row(text: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if words stand in a text one after the other."""
    starts = range(len(text) - len(wanted) + 1)
    return any(list(text[start : start + len(wanted)]) == list(wanted) for start in starts)


def token_counter(agent: Agent) -> TokenCounter:
    """Return the counter of tokens that the settings name."""
    return enter(agent)[0].count_tokens


def find_whose(agent: Agent, id_: str) -> tuple[str, str | None] | None:
    """Find the agent and the user of an episode of the agent's tenant by its id alone; None where there is none.

    It is no answer to a caller: who may not act for the two is told that there is no such memory.
    """
    parts, caller = enter(agent)

    def find(tx: Transaction) -> tuple[str, str | None] | None:
        found = tx.one("whose_episode", tenant_id=caller.tenant_id, id=id_)
        return None if found is None else (str(found[0]), str(found[1]) or None)

    return parts.store.inspect(caller.tenant_id, find)
