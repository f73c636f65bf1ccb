"""Evidence: whether quotes stand in the episodes they name; no proposal is believed for a model's word alone. Pure."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.memories.trust import TrustLevel, lowest_trust
from engrain.domain.text.analysis import terms, words
from engrain.learning.consolidation.echoes import LEAST_WORDS, EpisodeText, find_spans
from engrain.learning.consolidation.equivalence import FoldedText, fold, strip_marks
from engrain.learning.grounding import extend_to_sentences
from engrain.learning.instructions import is_standing_instruction

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engrain.domain.records import Episode
    from engrain.learning.consolidation.proposals import Evidence

# Reasons why quotes prove nothing, the most telling first.
FLAWS: Mapping[str, str] = {
    "imitation": "it quotes an episode that imitates the prompt or a reply to it, or gives its reader orders",
    "echo": "it only repeats what the memory itself had handed out",
    "quote_not_found": "its quotes do not stand in the episodes they name",
    "quote_too_short": "its quotes are too short to prove anything",
    "unknown_episode": "it quotes episodes that were not shown",
    "no_evidence": "it quotes nothing",
}
_LEAST_BYTES = 8
_CAPTION = re.compile(r"\[photo: [^\]]*\]")
# Where a confirmation quotes nothing, so many of the words of what it confirms must stand in one episode.
_LEAST_SHARE = 0.75


class Proof(NamedTuple):
    """The episodes that bear out a proposal, oldest first, and the quotes that hold; a flaw where there are none."""

    episodes: tuple[Episode, ...]
    quotes: tuple[Evidence, ...] = ()
    flaw: str | None = None

    @property
    def trust(self) -> TrustLevel:
        """The trust level of the least trusted episode."""
        return lowest_trust(episode.trust for episode in self.episodes)


def prove(evidence: Sequence[Evidence], episodes: Mapping[str, EpisodeText]) -> Proof:
    """The episodes whose quotes hold; `episodes` is by the names that the prompt gave them.

    A quote holds where it stands in its episode as whole words, whatever its case, spaces and sorts of quotation mark,
    and says more there than what was handed out before. It needs two words, of which one carries meaning, and 8 bytes.
    """
    flaws = {quote: _find_flaw(quote, episodes) for quote in evidence}
    quotes = tuple(quote for quote, flaw in flaws.items() if flaw is None)
    if not quotes:
        return Proof((), flaw=next((flaw for flaw in FLAWS if flaw in flaws.values()), "no_evidence"))
    return Proof(_in_order({episodes[quote.episode].episode for quote in quotes}), quotes)


def prove_by_words(content: str, texts: Collection[EpisodeText]) -> Proof:
    """The episodes that say what a memory says: most of its words, the speaker's name among them, and no echo of it."""
    wanted = set(terms(content))
    least = max(_LEAST_SHARE * len(wanted), LEAST_WORDS)
    episodes = [text.episode for text in texts if not text.imitates and len(wanted & _terms_of(text)) >= least]
    return Proof(_in_order(episodes)) if episodes else Proof((), flaw="no_evidence")


def is_instruction(proof: Proof, episodes: Mapping[str, EpisodeText]) -> bool:
    """True if one of the quotes is an instruction in a user's or a system's turn."""
    return any(
        episodes[quote.episode].episode.role in {"user", "system"} and is_standing_instruction(fold(quote.quote))
        for quote in proof.quotes
    )


def is_caption(quote: Evidence, episodes: Mapping[str, EpisodeText]) -> bool:
    """True if a quote needs the caption of a photo, as imports write them: [photo: a dog]."""
    said = _CAPTION.sub(" ", episodes[quote.episode].folded)
    return not any(reading in said for reading in _readings(quote))


def list_sentences(quote: Evidence, episodes: Mapping[str, EpisodeText]) -> list[str]:
    """List the sentences of an episode in which a quote stands."""
    text = episodes[quote.episode].folded
    spans = {span for reading in _readings(quote) for span in find_spans(text, reading)}
    return [extend_to_sentences(text, *span) for span in sorted(spans)]


def _find_flaw(evidence: Evidence, episodes: Mapping[str, EpisodeText]) -> str | None:
    text = episodes.get(evidence.episode)
    if text is None:
        return "unknown_episode"
    if text.imitates:
        return "imitation"
    readings = _readings(evidence)
    if all(_is_too_short(reading) for reading in readings):
        return "quote_too_short"
    spans = [span for reading in readings for span in find_spans(text.folded, reading)]
    if not spans:
        return "quote_not_found"
    return None if any(map(text.says_anew, spans)) else "echo"


def _readings(quote: Evidence) -> set[FoldedText]:
    """The folded words of a quote: the prompt shows < as &lt;, and a model may copy either."""
    return {strip_marks(quote.quote), strip_marks(html.unescape(quote.quote))}


def _is_too_short(quote: FoldedText) -> bool:
    return len(quote.encode()) < _LEAST_BYTES or len(words(quote)) < LEAST_WORDS or not terms(quote)


def _terms_of(text: EpisodeText) -> set[str]:
    """The terms of an episode's own words, with its speaker's name: "I live in Lisbon" is about Ana."""
    return {*terms(text.episode.speaker or ""), *terms(text.own)}


def _in_order(episodes: Iterable[Episode]) -> tuple[Episode, ...]:
    return tuple(sorted(episodes, key=lambda episode: (episode.event_time, episode.created_at, episode.id)))
