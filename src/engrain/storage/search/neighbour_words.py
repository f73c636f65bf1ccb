"""Words of neighbouring turns: a turn is found by those of the turns around it too, at a lower weight."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, groupby, pairwise
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from engrain.domain.text.indexing import NEIGHBOURS, content_terms_of, heading_terms
from engrain.storage.dialects import as_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Episode
    from engrain.domain.text import bm25
    from engrain.domain.text.bm25 import Terms
    from engrain.storage.search.index import StoredTurns
    from engrain.storage.transaction import Transaction

# Own words and those of the neighbours, by doc.
Words = dict[int, "bm25.Text"]
# Tenant, scope and session.
Session = tuple[str, str, str]
# Turn of a session as the index needs it: turn, doc, speaker, event_time, content, expires_at.
_Turn = tuple[int, int, "str | None", "datetime", str, "datetime | None"]
_CONTENT: Final = 4


class WordsAround(NamedTuple):
    """Words of some turns of a session, by doc, and the docs of those near each that lend it theirs."""

    words: Words
    lenders: dict[int, list[int]]


session_of = attrgetter("tenant_id", "scope", "session")
_text_of = attrgetter("speaker", "event_time", "content", "expires_at")
_OFFSETS = [offset for offset in range(-NEIGHBOURS, NEIGHBOURS + 1) if offset != 0]


def group_by_session(episodes: Iterable[Episode]) -> dict[Session, list[Episode]]:
    """Group the turns of sessions; episodes without a session are left out."""
    sessions: dict[Session, list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.session is not None:
            sessions[session_of(episode)].append(episode)
    return sessions


def find_lent(own: Sequence[bm25.Terms]) -> bm25.Terms:
    """Find what a turn lends among its own words, as `load_words_around` gives them."""
    _, begins, _ = own
    return begins


def load_words_around(
    tx: Transaction, changed: Iterable[Episode], *, at_hand: Mapping[int, Episode], now: datetime | None = None
) -> dict[Session, WordsAround]:
    """Load the words of the turns at most two places from turns that changed, those included; one statement a tenant.

    A turn lends its words to those near it unless it was forgotten, or has expired by `now`: by default when the newest
    changed turn of its session was created. Turns `at_hand`, by doc, are not read again.
    """
    sessions = group_by_session(changed)
    turns: dict[Session, list[_Turn]] = defaultdict(list)
    for doc, episode in at_hand.items():
        turns[session_of(episode)].append((episode.turn, doc, *_text_of(episode)))
    for tenant_id, of_tenant in groupby(sorted(sessions), itemgetter(0)):
        keys = list(of_tenant)
        stretches = [
            [place, scope, session, first, last]
            for place, (_, scope, session) in enumerate(keys)
            for first, last in _find_stretches({episode.turn for episode in sessions[keys[place]]})
        ]
        rows = tx.rows(
            "turns_around", tenant_id=tenant_id, stretches=as_json(stretches), docs=tx.dialect.listed(at_hand)
        )
        moment = tx.dialect.moment
        for place, turn, doc, speaker, event_time, content, expires_at in rows:
            ends = None if expires_at is None else moment(expires_at)
            turns[keys[place]].append((turn, doc, speaker, moment(event_time), content, ends))
    terms = content_terms_of({turn[_CONTENT] for key in sessions for turn in turns[key]})
    return {
        key: _collect_words(
            turns[key],
            {episode.turn for episode in episodes},
            terms,
            now or max([episode.created_at for episode in episodes]),
        )
        for key, episodes in sessions.items()
    }


def load_words_of_turns(tx: Transaction, stored: StoredTurns) -> Words:
    """Load the words of new turns, and of those before them to which they lend theirs, as `load_words_around` does."""
    turns, docs = stored.turns, stored.docs
    terms = content_terms_of(set(turns.contents))
    texts = zip(turns.speakers, turns.event_times, turns.contents, strict=True)
    owns = [(heading_terms(speaker, at.date()), *terms[content]) for speaker, at, content in texts]
    words: Words = {}
    continued: list[list[int]] = []  # where sessions go on that have turns already
    for session, positions in _group_positions(turns.sessions).items():
        if session is None:
            words |= {docs[position]: (owns[position], ()) for position in positions}
            continue
        lent = [find_lent(owns[position]) for position in positions]
        for at, position in enumerate(positions):
            words[docs[position]] = (
                owns[position],
                lent[max(at - NEIGHBOURS, 0) : at] + lent[at + 1 : at + 1 + NEIGHBOURS],
            )
        if stored.numbers[positions[0]] > 1:
            continued.append(positions[: 2 * NEIGHBOURS + 1])
    if continued:
        at_hand = stored.choose(sorted(chain.from_iterable(continued))).build()
        for around in load_words_around(
            tx, [at_hand[docs[first]] for first, *_ in continued], at_hand=at_hand
        ).values():
            words |= around.words
    return words


def _group_positions(sessions: Sequence[str | None]) -> dict[str | None, list[int]]:
    positions: dict[str | None, list[int]] = {session: [] for session in sessions}
    for position, session in enumerate(sessions):
        positions[session].append(position)
    return positions


def _find_stretches(changed: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last turn of each part of a session that lends words to turns near the changed ones."""
    reach = 2 * NEIGHBOURS
    turns = sorted(changed)
    breaks = [place for place in range(1, len(turns)) if turns[place] - turns[place - 1] > 2 * reach]
    for start, end in pairwise([0, *breaks, len(turns)]):
        yield turns[start] - reach, turns[end - 1] + reach


def _collect_words(
    session: Iterable[_Turn], changed: Collection[int], contents: Mapping[str, tuple[Terms, Terms]], now: datetime
) -> WordsAround:
    """Collect the words of the turns near the changed ones of a session, each with those of the live ones near it."""
    near = {turn + offset for turn in changed for offset in (0, *_OFFSETS)}
    owns: dict[int, tuple[int, Sequence[bm25.Terms]]] = {}
    lent: dict[int, tuple[list[int], list[bm25.Terms]]] = {}  # by turn: docs, and their words
    for turn, doc, speaker, event_time, content, expires_at in session:
        begins, goes_on = contents[content]
        if turn in near:
            owns[doc] = (turn, (heading_terms(speaker, event_time.date()), begins, goes_on))
        if expires_at is None or expires_at > now:
            if turn in lent:
                lent[turn][0].append(doc)
                lent[turn][1].append(begins)
            else:
                lent[turn] = [doc], [begins]
    around = WordsAround({}, {})
    for doc, (turn, own) in owns.items():
        lenders: list[int] = []
        words: list[bm25.Terms] = []
        for offset in _OFFSETS:
            if turn + offset in lent:
                docs, terms = lent[turn + offset]
                lenders += docs
                words += terms
        around.words[doc] = own, words
        around.lenders[doc] = lenders
    return around
