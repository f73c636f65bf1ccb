"""Descriptions of the fields of answers, by name; those of one record alone by `Record.name`.

A name means the same in every record, so most need to be told once. Names that say it themselves have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS: Mapping[str, str] = {
    # Of memories.
    "tenant_id": "Its tenant.",
    "Episode.agent": "The agent that stored it.",
    "Fact.agent": "The agent that stored it.",
    "Rule.agent": "The agent that stored it.",
    "scope": "Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT.",
    "Episode.session": "The conversation that it is of.",
    "turn": "Its place in the session by arrival, from 1.",
    "speaker": "The name of whoever said it.",
    "event_time": "When it happened.",
    "created_at": "When it was made.",
    "invalidated_at": "When it ceased to be believed: superseded, expired, retracted or forgotten.",
    "expires_at": "When it expires; null: never.",
    "importance": "From 0 to 10.",
    "reference_count": "How often searches and reads have given it.",
    "last_referenced_at": "When one gave it last.",
    "last_confirmed_at": "When it was last stored or confirmed; its decay counts from then.",
    "consolidation_status": "Whether facts and rules were learned from it.",
    "consolidation_attempts": "How often that was tried in vain.",
    "last_consolidation_error": "Why it failed last, in engrain's words.",
    "next_consolidation_retry_at": "When it is tried again.",
    "tags": "The tags that it is filed under.",
    "metadata": "The host's own JSON object, with entries of engrain's beside it.",
    "trust": "Who has said it: tool, assistant, import or user.",
    "Fact.pending": "Whether only tools or assistants have said it, so that it waits for a confirmation.",
    "Fact.subject": "Whom or what it is about.",
    "Fact.predicate": "The relation of the subject to the content.",
    "subject_key": "The subject in the spelling by which slots are compared.",
    "predicate_key": "The predicate, likewise.",
    "Fact.entity_id": "The entity that the subject names, if the registry has it.",
    "Fact.source": "Where it comes from, in the words of whoever stored it.",
    "source_episode_id": "The episode that it was learned from.",
    "supersedes_id": "The fact whose place it took.",
    "Fact.confidence": "From 0 to 1, as stored: what it has lost since by decay is not taken off.",
    "Rule.confidence": "From 0 to 1, as stored: what it has lost since by decay is not taken off.",
    "permanence": "How slowly it decays.",
    "decay_rate": "Its confidence falls by exp(-rate x days since it was confirmed).",
    "validity": "Whether it is believed: active, superseded, retracted or expired.",
    "Fact.state": "Its validity, with fading apart from active.",
    "valid_from": "Since when it is true; null: since it was stored.",
    "valid_to": "Until when it is true; null: it has no end.",
    "maturity": "How its outcomes have proved it.",
    "effectiveness_score": "The share of helps among its outcomes, from 0 to 1; a harm weighs as much as four helps.",
    "applied_count": "Number of outcomes.",
    "success_count": "Number of times that it helped.",
    "harmful_count": "Number of times that it did harm.",
    # Of searches and blocks.
    "Hit.score": "The sum of the contributions in `why`; comparable within one answer alone.",
    "why": "What the score is made of.",
    "Hit.neighbours": "The turns around an episode, in order, where they were asked for.",
    "Hit.repeats": "The near-identical turns that it stands for; null: no other turn says the same.",
    "contributions": "A share of the score for each channel; they add up to it.",
    "matched_terms": "Stems of the query among the memory's own words.",
    "fused": "The contributions of the search itself, before a re-ranker.",
    "channel": "The part of the ranking that it comes from.",
    "Contribution.rank": "The place in the list of the channel, from 1; null where it has no order.",
    "Contribution.raw": "The channel's own number.",
    "Contribution.weight": "What the raw number counts.",
    "Contribution.value": "The share of the score.",
    "preset": "The name of the ranking.",
    "degraded": "What the answer had to do without; empty: nothing.",
    "Answer.mode": "deep: a re-ranker has put them in order.",
    "Answer.candidates": "Number of memories that were ranked.",
    "Answer.evidence": "Whether the answer is there: none, weak or strong; null if that cannot be told.",
    "evidence_score": "The probability behind `evidence`.",
    "dropped": "With `explain`: the best 50 candidates that are no hits.",
    "Answer.times": "The times that were given in words, as they were understood.",
    "budget_tokens": "The most tokens that it could have.",
    "ContextBlock.clipped": "Ids of the memories of which only a part stands in it.",
    "ContextBlock.left_out": "Number of memories that were found and did not fit.",
    "ContextBlock.times": "The times that were given in words, as they were understood.",
    "ContextBlock.evidence": "Whether the search behind it found an answer: none, weak or strong.",
    "request_id": "The id of the request that it was made for.",
    # Of entities, links and events.
    "canonical_name": "The name that it is listed by.",
    "aliases": "Its other names.",
    "mention_count": "How many memories name it.",
    "Entity.user_id": "The user whose registry it is in; empty: the tenant's.",
    "Link.weight": "From 0 to 1.",
    "event_type": "What was done.",
    "actor": "Who did it.",
    "Event.memory_id": "The memory that it is about.",
    "run_id": "The run of learning that it was part of.",
    "payload": "What was changed.",
}


def describe_field(record: type, name: str) -> Mapping[str, str]:
    """Describe a field of a record for its schema; empty where its name says all."""
    text = FIELDS.get(f"{record.__name__}.{name}") or FIELDS.get(name)
    return {} if text is None else {"description": text}
