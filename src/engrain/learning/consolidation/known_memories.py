"""What the store knows already that bears on a batch: asked for before anything is decided, and nothing is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.filters import Filter
from engrain.domain.records import KINDS, Fact, Rule
from engrain.domain.requests import Request
from engrain.domain.text.analysis import terms
from engrain.learning.consolidation.prompt import MOST_FACTS, MOST_RULES, by_bearing
from engrain.learning.consolidation.proposals import Guidance, Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller, Episode, Kind, MemoryRecord
    from engrain.learning.consolidation.proposals import ConsolidationResult

    HybridSearch = Callable[[Caller, str, Sequence[Kind], int], Sequence[MemoryRecord]]

# Of what a batch is about, so many are looked at for each episode or proposal.
_EACH = 10
# Of what may come back, more: the turns of a conversation share its words with each other first of all.
_ECHOES = 40
_MOST_TERMS = 100
_MOST_QUERY = 1_000


def known(store: Store, caller: Caller, episodes: Sequence[Episode], now: datetime) -> list[Fact | Rule]:
    """The facts and rules to show, what bears on the episodes first: all there are, or the best matches and the newest.

    Costs two statements, and two for each episode where there are more facts or rules than can be shown.
    """
    found: dict[str, Fact | Rule] = {}
    kinds: Mapping[Kind, int] = {"fact": MOST_FACTS, "rule": MOST_RULES}
    for kind, most in kinds.items():
        request = Request(caller=caller, filter=Filter(kinds=(kind,)), now=now)
        newest = store.recent(request, most + 1)
        if len(newest) > most:
            for each in episodes:
                found |= _by_id(_keyword(store, request, each.content))
        found |= _by_id(newest)
    return by_bearing(found.values(), episodes)


def handed_out(store: Store, caller: Caller, episodes: Sequence[Episode], now: datetime) -> list[MemoryRecord]:
    """Memories of any kind whose words the episodes share, and that somebody asked for: what may come back as an echo.

    An echo has the words of its source, so words are enough to find it: two statements for each episode.
    """
    request = Request(caller=caller, filter=Filter(kinds=KINDS), now=now)
    found: dict[str, MemoryRecord] = {}
    for each in episodes:
        near = _keyword(store, request, each.content, _ECHOES)
        found |= {memory.id: memory for memory in near if memory.last_referenced_at is not None}
    return list(found.values())


def of_proposals(
    store: Store, caller: Caller, result: ConsolidationResult, scope: str, *, search: HybridSearch, most: int
) -> list[Fact | Rule]:
    """What may say the same as a proposal, or otherwise: by a hybrid search each, and whatever holds its very place.

    Of the first `most` proposals that say something.
    """
    found: dict[str, Fact | Rule] = {}
    says = [proposal.says for proposal in result if proposal.says is not None]
    for each in says[:most]:
        match each:
            case Statement():
                query = f"{each.subject} {each.predicate} {each.content}"
                found |= _by_id(search(caller, query[:_MOST_QUERY], ("fact",), _EACH))
                holder = store.held(caller, scope=scope, subject=each.subject, predicate=each.predicate)
                found |= _by_id([] if holder is None else [holder])
            case Guidance():
                found |= _by_id(search(caller, each.content[:_MOST_QUERY], ("rule",), _EACH))
    return list(found.values())


def _keyword(store: Store, request: Request, text: str, most: int = _EACH) -> Iterable[MemoryRecord]:
    asked = tuple(dict.fromkeys(terms(text)))[:_MOST_TERMS]
    refs = [each.ref for each in store.keyword(request, asked, most)] if asked else []
    return store.load(request, refs).values() if refs else []


def _by_id(memories: Iterable[MemoryRecord]) -> dict[str, Fact | Rule]:
    return {each.id: each for each in memories if isinstance(each, Fact | Rule)}
