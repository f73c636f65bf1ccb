"""Profile of the user and standing rules: what a block holds whatever is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.context.entries import MATURITY_RANKS
from engrain.domain.filters import Filter
from engrain.domain.memories.trust import levels_from
from engrain.domain.records import REFLECTION, SUMMARY, Fact, Rule
from engrain.domain.requests import Request
from engrain.domain.rules.standing import is_standing
from engrain.storage.search.history import count_confirmations
from engrain.storage.search.matching import list_speakers
from engrain.storage.search.recency import load_newest, load_newest_rules

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.storage.unit_of_work import Snapshot

_USER = ("user", "User")
_DERIVED = (REFLECTION, SUMMARY)
_MOST = 200  # facts or rules are looked at, the newest; far fewer fit
_MOST_RULES = 10


def load_standing_rules(snapshot: Snapshot, narrowed: Filter, now: datetime) -> list[Rule]:
    """Load at most ten standing rules that match: those that have proved themselves first, then the newest.

    Rules that only tools or assistants have said do not stand.
    """
    trust = tuple(level for level in levels_from("import") if not narrowed.trust or level in narrowed.trust)
    if not trust:
        return []
    matching = Filter(tags=narrowed.tags, trust=trust)
    newest = load_newest_rules(snapshot, Request(caller=snapshot.caller, filter=matching, now=now), _MOST)
    rules = filter(is_standing, newest)
    return sorted(rules, key=lambda rule: MATURITY_RANKS[rule.maturity])[:_MOST_RULES]


def load_profile(snapshot: Snapshot, now: datetime, *, standing: bool = True) -> list[Fact]:
    """Load the facts about the user, or whoever speaks here: the permanent and the confirmed ones, or all.

    The permanent ones come first, then those that were confirmed most often, the newest and the lower id. A text
    without a subject is about the agent, and counts as what the user told it.
    """
    caller = snapshot.caller
    named = () if caller.user is None else (caller.user,)
    about = dict.fromkeys((*_USER, caller.agent, *named, *list_speakers(snapshot)))
    narrowed = Filter(
        kinds=("fact",), subjects=tuple(about), standing=standing, trust=levels_from("import"), period="current"
    )
    found = load_newest(snapshot, Request(caller=caller, filter=narrowed, now=now), _MOST)
    facts = [fact for fact in found if isinstance(fact, Fact) and fact.category not in _DERIVED]
    counts = count_confirmations(snapshot, facts)
    return sorted(facts, key=lambda fact: (fact.permanence != "permanent", -counts.get(fact.id, 0)))
