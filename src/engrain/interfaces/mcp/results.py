"""Results of tools: JSON of the library's own `to_dict()`, ids as strings, times as ISO 8601, no vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from engrain.agent.agent import Agent
from engrain.domain.entities.registry import EntityMatch, RelatedEntity
from engrain.domain.maintenance.stats import FactStats, RuleStats, Stats
from engrain.domain.memories.notes import Note, NoteHit, NoteRelation
from engrain.domain.records import Answer, Degraded, Entity, Episode, Fact, Hit, Kind, MemoryRecord, Record, Rule
from engrain.interfaces.mcp.identity import current_identity
from engrain.interfaces.redaction import redact


def _to_json(record: Record) -> dict[str, Any]:
    document = record.to_dict()
    return document if current_identity().is_operator else redact(document)


def reason_text(reason: Degraded) -> str:
    """Return a reason as one text; its detail is for the operator alone."""
    return str(reason) if current_identity().is_operator else str(redact(reason.to_dict())["message"])


def reason_texts(reasons: Sequence[Degraded]) -> list[str]:
    """Return every reason as one text."""
    return [reason_text(reason) for reason in reasons]


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """Schema of a record of ours: pydantic neither checks it nor reads its fields at every start."""

    description: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Accept any value, and serialize it as a JSON object."""
        document = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
        return core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(_to_json, return_schema=document)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe an object; docs/library.md has the fields of each record."""
        return {"type": "object", "description": self.description}


MemoryJson = Annotated[Episode | Fact | Rule, JsonSchema("The memory, whole: id, kind, content, scope, times, ...")]
EpisodeJson = Annotated[Episode, JsonSchema("An episode, whole: id, content, role, speaker, session, event_time, ...")]
FactJson = Annotated[Fact, JsonSchema("A fact, whole: id, subject, predicate, content, confidence, validity, ...")]
RuleJson = Annotated[Rule, JsonSchema("A rule, whole: id, content, maturity, confidence, ...")]
EntityJson = Annotated[Entity, JsonSchema("An entity, whole: id, canonical_name, entity_type, aliases, metadata, ...")]
NoteJson = Annotated[Note, JsonSchema("A note, whole: key, content, category, times, ...")]
NoteHitJson = Annotated[NoteHit, JsonSchema("A note that was found, its score and where that comes from.")]
NoteRelationJson = Annotated[NoteRelation, JsonSchema("A note, and how many words it shares.")]


class Result(BaseModel):
    """An answer to one call."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    request_id: str | None = Field(default=None, description="The request_id of the call's request_context.")

    def for_request(self, agent: Agent) -> Self:
        """Return the same result, naming the request of an agent's caller."""
        return self.model_copy(update={"request_id": agent.caller.request_id})


class OptionalResult(Result):
    """The one value of a result, or `found` false where it is not there."""

    found: bool

    @classmethod
    def of(cls, value: object) -> Self:
        """Make the result of a value, None where it is not there."""
        *_, field = cls.model_fields
        return cls.model_validate({"found": value is not None, field: value})


class StoredMemory(Result):
    """A memory that was stored; `id` names it from now on."""

    id: str
    memory: MemoryJson

    @classmethod
    def of(cls, memory: MemoryRecord) -> Self:
        return cls(id=memory.id, memory=memory)


class FoundMemory(OptionalResult):
    """A memory as it stands now, or `found` false where there is no such one."""

    memory: MemoryJson | None = None


class HitJson(BaseModel):
    """One hit; `why` says what each part of the ranking gave to its score."""

    score: float
    memory: MemoryJson
    why: str


class SearchHits(Result):
    """The hits of a search, best first; `degraded` has a sentence for each thing it had to do without."""

    hits: list[HitJson]
    evidence: str | None = Field(description="Whether the answer is there: none, weak, strong; null: cannot be told.")
    degraded: list[str]

    @classmethod
    def of(cls, answer: Answer) -> Self:
        hits = [HitJson(score=hit.score, memory=hit.memory, why=str(hit.why)) for hit in answer]
        return cls(hits=hits, evidence=answer.evidence, degraded=reason_texts(answer.degraded))


class MemorySummary(BaseModel):
    """One memory in short."""

    id: str
    kind: Kind
    content: str
    about: str | None = Field(description="Subject and predicate of a fact, or who said it.")
    at: datetime = Field(description="When it happened, or since when it is true.")
    score: float

    @classmethod
    def of(cls, hit: Hit) -> Self:
        memory = hit.memory
        match memory:
            case Fact():
                about: str | None = memory.about or None
            case Episode():
                about = memory.speaker or memory.role
            case Rule():
                about = None
        return cls(
            id=memory.id,
            kind=memory.kind,
            content=memory.content,
            about=about,
            at=memory.happened_at,
            score=hit.score,
        )


class SearchSummary(Result):
    """The hits of a search, best first, in short."""

    memories: list[MemorySummary]
    evidence: str | None = Field(description="Whether the answer is there: none, weak, strong; null: cannot be told.")
    degraded: list[str]


class EpisodeCounts(BaseModel):
    """Live episodes, those that wait to be consolidated, and those that nobody tries to consolidate any more."""

    total: int
    unconsolidated: int
    given_up: int
    backlog_age_hours: float | None
    sessions: int
    speakers: int
    first_event_at: datetime | None
    last_event_at: datetime | None


class MemoryCounts(Result):
    """Counts of an agent's memories, by kind and state."""

    episodes: EpisodeCounts
    facts: FactStats
    rules: RuleStats
    pending_embeddings: int
    latest_at: datetime | None = Field(description="When something was last written.")

    @classmethod
    def of(cls, stats: Stats, latest_at: datetime | None) -> Self:
        return cls(
            episodes=EpisodeCounts.model_validate(stats.episodes, from_attributes=True),
            facts=stats.facts,
            rules=stats.rules,
            pending_embeddings=stats.pending_embeddings,
            latest_at=latest_at,
        )


class ContextText(Result):
    """A block for a prompt of at most `budget_tokens`, and the ids of the memories in it."""

    text: str
    tokens: int
    budget_tokens: int
    memory_ids: list[str]
    left_out: int
    degraded: list[str]


class FoundEntity(OptionalResult):
    """An entity, or `found` false where there is no such one."""

    entity: EntityJson | None = None


class EntityCandidates(Result):
    """The entities that a name may mean, the likeliest first."""

    candidates: list[EntityMatch]


class MergeResult(Result):
    """The changes of a merge; `source` is a tombstone now."""

    source: EntityJson
    target: EntityJson
    facts_repointed: list[str]
    facts_superseded: list[str]
    aliases_added: list[str]


class Profile(BaseModel):
    """Everything that is known of an entity: facts by predicate, the last active one holds."""

    model_config = ConfigDict(from_attributes=True)

    entity: EntityJson
    facts: dict[str, list[FactJson]]
    episodes: list[EpisodeJson]
    rules: list[RuleJson]
    related: list[RelatedEntity]
    first_seen_at: datetime | None
    last_seen_at: datetime | None


class EntityInfo(OptionalResult):
    """The profile of an entity, or `found` false where nobody has that name."""

    profile: Profile | None = None


class ConsolidationResult(Result):
    """The outcome of a consolidation; a dry run only counts the episodes that are due."""

    dry_run: bool
    due: int = Field(description="Episodes that were due.")
    episodes: int = Field(description="Episodes that were consolidated.")
    new: int
    updated: int
    confirmed: int
    rejected: int
    failures: list[str]
    run_ids: list[str]


class CleanupResult(Result):
    """The numbers of removed and remaining episodes."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int


class Episodes(Result):
    """A page of a session; `next_page` is null where there is no other."""

    session_id: str
    page: int
    episodes: list[EpisodeJson]
    next_page: int | None


class SavedBatch(Result):
    """The outcome of a batch: new facts, ids of known ones that say the same, repeats in the batch itself."""

    saved: list[FactJson]
    confirmed: list[str]
    repeated: int


class SessionMarked(Result):
    """The number of episodes of the session that waited until now."""

    session_id: str
    marked: int


class SessionState(Result):
    """The state of a session: consolidated or not."""

    session_id: str
    consolidated: bool


class Conflicts(Result):
    """Facts that may contradict the one that was asked about; `found` false where there is no such one."""

    found: bool
    conflicts: list[FactJson] = []


class SavedNote(Result):
    """The note as it is kept."""

    note: NoteJson


class FoundNote(OptionalResult):
    """A note, or `found` false where there is none under the key."""

    note: NoteJson | None = None


class NoteList(Result):
    """Notes, the newest first."""

    notes: list[NoteJson]


class FoundNotes(Result):
    """Notes that a search found, best first; `mode` fast where a deep search was not to be had."""

    mode: str
    hits: list[NoteHitJson]
    degraded: list[str]


class RelatedNotes(Result):
    """Notes that share words with one, the most alike first."""

    related: list[NoteRelationJson]
