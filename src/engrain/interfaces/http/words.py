"""What verbs take, written once: a word means the same wherever it stands."""

from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from engrain.domain import checks
from engrain.domain.checks import MAX_LIMIT
from engrain.domain.maintenance.findings import FindingKind
from engrain.domain.records import EntityType, Kind, Permanence, Relation, Role
from engrain.domain.requests import Direction
from engrain.domain.runs.runs import RunKind
from engrain.domain.runs.summaries import Strategy


class Body(BaseModel):
    """A JSON object with known fields, each of its type; what is left out is as the library has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_fields(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for name in given:
                if name not in cls.model_fields:
                    said = checks.describe_unknown(str(name), sorted(cls.model_fields), name="field")
                    raise PydanticCustomError("unknown_field", "{said}", {"said": said})
        return given

    def given(self) -> dict[str, Any]:
        """What was said, by the names of the library's parameters."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def _text(description: str, *examples: str) -> Any:
    return Field(description=description, examples=list(examples) or None)


# Of a memory.
Content = Annotated[str, _text("What to remember, as one text of at most 10 MB.", "I moved to Lisbon in May.")]
TurnRole = Annotated[Role, _text("Who speaks.", "user")]
Speaker = Annotated[str | None, _text("Name of whoever said it.", "Ana")]
Session = Annotated[str | None, _text("Conversation; that of Engrain-Session if left out.", "2026-11-21")]
OneSession = Annotated[str, _text("Conversation.", "2026-11-21")]
EventTime = Annotated[str | None, _text("When it happened, ISO 8601; now if left out.", "2026-11-21T09:30:00Z")]
Importance = Annotated[float | None, Field(ge=0, le=10, description="0 to 10; the words tell if left out.")]
TtlDays = Annotated[float | None, Field(ge=0, description="Forgotten that many days after now.")]
Tokens = Annotated[int | None, Field(ge=0, description="How many tokens it took.")]
Model = Annotated[str | None, _text("Model that wrote it.")]
ToolCalls = Annotated[list[Any] | None, _text("JSON values of the tools that were called.")]
Tags = Annotated[list[str] | None, Field(description="Words to file it under.", examples=[["home"]])]
Metadata = Annotated[dict[str, Any] | None, Field(description="A JSON object of your own.")]
Subject = Annotated[str, _text("Whom or what it is about.", "Ana")]
Predicate = Annotated[str, _text("What it says of the subject.", "lives in")]
Statement = Annotated[str, _text("What is true of the subject and predicate.", "Lisbon")]
AboutEntity = Annotated[str | None, _text("Id of the entity that the subject names.")]
ValidFrom = Annotated[str | None, _text("Since when it is true, ISO 8601.", "2026-05-01")]
ValidTo = Annotated[str | None, _text("Until when it is true, ISO 8601.")]
Category = Annotated[str | None, _text("What sort of fact it is; its words tell if left out.", "person")]
HowLong = Annotated[Permanence, _text("How slowly it fades when nobody confirms it.", "standard")]
Confidence = Annotated[float, Field(ge=0, le=1, description="How sure it is, 0 to 1.")]
Source = Annotated[str | None, _text("Where it comes from, in your words.")]
SourceEpisode = Annotated[str | None, _text("Id of the episode it comes from.")]
Scope = Annotated[str | None, _text("global (every agent sees it), the agent's own name, or pool:NAME.", "global")]
Guidance = Annotated[str, _text("How to go about something.", "Book an aisle seat.")]
Reason = Annotated[str | None, _text("Why it did harm.", "Ana overslept")]

# Of a search.
Asked = Annotated[str, _text("What is asked, in any words.", "Where does Ana live?")]
WithinScope = Annotated[str | None, _text("What is of this scope and of global; all in sight if left out.")]
Limit = Annotated[int | None, Field(ge=0, le=MAX_LIMIT, description="How many at most; the setting's if left out.")]
Preset = Annotated[str | None, _text("Name of the ranking; the setting `retrieval.preset` if left out.")]
Kinds = Annotated[list[Kind] | None, _text("Of these kinds alone.")]
Sessions = Annotated[list[str] | None, _text("Of any of these conversations.")]
ExcludeSessions = Annotated[list[str] | None, _text("None of these conversations.")]
Roles = Annotated[list[Role] | None, _text("Turns of these roles alone.")]
Speakers = Annotated[list[str] | None, _text("Said by any of these.")]
Subjects = Annotated[list[str] | None, _text("About any of these.")]
AllTags = Annotated[list[str] | None, _text("With all of these.")]
Since = Annotated[str | None, _text("Not before this time, ISO 8601.")]
Until = Annotated[str | None, _text("Before this time, ISO 8601.")]
AsOf = Annotated[str | None, _text("What was believed at this time, ISO 8601, in place of what is now.")]
IncludeInactive = Annotated[bool, Field(description="Also what is superseded, retracted, expired or forgotten.")]
MinConfidence = Annotated[
    float | None, Field(ge=0, le=1, description="Nothing that is believed less; the preset's if left out.")
]
Deep = Annotated[bool, Field(description="Let the re-ranker put the best 50 in order.")]
Neighbours = Annotated[int, Field(ge=0, le=5, description="So many turns before and after each episode.")]
Explain = Annotated[bool, Field(description="Tell also of candidates that are no hits, and why.")]

# Of a context.
Prompt = Annotated[str, _text("What the agent is about to answer.", "Book Ana's trip home")]
BudgetTokens = Annotated[
    int | None, Field(ge=0, le=10_000_000, description="What it may take; the setting's if left out.", examples=[800])
]
CountTokens = Annotated[str | None, _text("Who counts tokens: characters, wordpiece or tiktoken:ENCODING.")]
Recipe = Annotated[str | None, _text("What the block is made of: engrain, butler or assistant.")]
RecentEpisodes = Annotated[int | None, Field(ge=0, le=MAX_LIMIT, description="So many of the newest turns, too.")]
SummaryStrategy = Annotated[Strategy | None, _text("How; the setting's if left out.", "extractive")]
TargetTokens = Annotated[int | None, Field(ge=0, description="What it may take; the setting's if left out.")]

# Of entities, notes, pools, runs.
EntityName = Annotated[str, _text("Name it is known by.", "Ana")]
TypeOfEntity = Annotated[EntityType, _text("What sort of thing it is.", "person")]
Aliases = Annotated[list[str] | None, Field(description="Other names.", examples=[["Ana Reis"]])]
Publish = Annotated[bool, Field(description="Names out of memories that not everybody sees may be told to everybody.")]
NoteKey = Annotated[str, _text("Key of the note.", "project:alpha")]
PoolName = Annotated[str, _text("Name of the pool.", "docs")]
Member = Annotated[str, _text("An agent of the tenant.", "coder")]
Ids = Annotated[list[str], _text("Ids of memories.")]
DryRun = Annotated[bool, Field(description="Only say what would be done.")]
OfAgent = Annotated[str | None, _text("Of this agent alone; of the whole tenant if left out and the key names none.")]

# In paths, parameters and headers.
MemoryId = Annotated[str, Path(alias="id", description="Id of a memory.")]
RuleId = Annotated[str, Path(alias="id", description="Id of a rule.")]
EntityId = Annotated[str, Path(alias="id", description="Id of an entity.")]
RunId = Annotated[str, Path(description="Id of a run.")]
PageLimit = Annotated[int, Query(ge=0, le=MAX_LIMIT, description="How many at most.")]
After = Annotated[str | None, Query(description="`next` of the page before; the first page if left out.")]
AsOfTime = Annotated[str | None, Query(description="What was believed at this time, ISO 8601.")]
LinkDirection = Annotated[Direction, Query(description="The memory is the source, the target, or either.")]
OfRelation = Annotated[Relation | None, Query(description="Of this relation alone.")]
OfEntityType = Annotated[EntityType | None, Query(description="Of this sort alone.")]
OfRunKind = Annotated[RunKind | None, Query(description="Of this kind alone.")]
FindingKinds = Annotated[list[FindingKind] | None, Query(description="Of these kinds alone; may be repeated.")]
SessionName = Annotated[str, Query(description="Conversation.")]
ExportKinds = Annotated[
    list[Literal["entity", "episode", "fact", "note", "rule"]] | None,
    Query(description="Of these kinds alone; may be repeated."),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The same key again gives what was stored first, and stores nothing; another body is refused.",
    ),
]
IfNoneMatch = Annotated[
    str | None, Header(alias="If-None-Match", description="ETags that are known: 304 where it is one of them.")
]
