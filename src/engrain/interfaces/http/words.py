"""What verbs take, written once: a word means the same wherever it stands."""

from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from engrain.domain.checks import MAX_LIMIT
from engrain.domain.records import Kind, Permanence, Role
from engrain.interfaces.http.verbs import unknown


class Body(BaseModel):
    """A JSON object with known fields, each of its type; what is left out is as the library has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_fields(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for name in given:
                if name not in cls.model_fields:
                    said = unknown(str(name), frozenset(cls.model_fields), what="field")
                    raise PydanticCustomError("unknown_field", "{said}", {"said": said})
        return given

    def given(self) -> dict[str, Any]:
        """What was said, by the names of the library's parameters."""
        return {name: getattr(self, name) for name in self.model_fields_set}


Content = Annotated[str, Field(description="What to remember, as one text of at most 10 MB.")]
Query = Annotated[str, Field(description="What is asked, in any words.")]
TurnRole = Annotated[Role, Field(description="Who speaks.")]
Speaker = Annotated[str | None, Field(description="Name of whoever said it.")]
Session = Annotated[str | None, Field(description="Conversation it belongs to; else that of Engrain-Session.")]
EventTime = Annotated[str | None, Field(description="When it happened, ISO 8601; now if left out.")]
Importance = Annotated[float | None, Field(ge=0, le=10, description="0 to 10; the words tell if left out.")]
TtlDays = Annotated[float | None, Field(ge=0, description="Forgotten that many days after now.")]
Tokens = Annotated[int | None, Field(ge=0, description="How many tokens it took.")]
Model = Annotated[str | None, Field(description="Model that wrote it.")]
ToolCalls = Annotated[list[Any] | None, Field(description="JSON values of the tools that were called.")]
Tags = Annotated[list[str] | None, Field(description="Words to file it under.")]
Metadata = Annotated[dict[str, Any] | None, Field(description="A JSON object of your own.")]
Scope = Annotated[str | None, Field(description="global (every agent sees it), the agent's own name, or pool:NAME.")]
WithinScope = Annotated[str | None, Field(description="What is of this scope and of global; all in sight if left out.")]
Limit = Annotated[int | None, Field(ge=0, le=MAX_LIMIT, description="How many at most; the setting if left out.")]
Preset = Annotated[str | None, Field(description="Ranking, by its name; the setting `retrieval.preset` if left out.")]
Kinds = Annotated[list[Kind] | None, Field(description="Of these kinds alone.")]
Names = Annotated[list[str] | None, Field(description="Any of these.")]
Roles = Annotated[list[Role] | None, Field(description="Turns of these roles alone.")]
ExcludeSessions = Annotated[list[str] | None, Field(description="None of these conversations.")]
AllTags = Annotated[list[str] | None, Field(description="All of these.")]
Since = Annotated[str | None, Field(description="Not before this time, ISO 8601.")]
Until = Annotated[str | None, Field(description="Before this time, ISO 8601.")]
AsOf = Annotated[str | None, Field(description="What was believed at this time, ISO 8601, in place of what is now.")]
IncludeInactive = Annotated[bool, Field(description="Also what is superseded, retracted, expired or forgotten.")]
Confidence = Annotated[float, Field(ge=0, le=1, description="How sure it is, 0 to 1.")]
HowLong = Annotated[Permanence, Field(description="How slowly it fades when nobody confirms it.")]
MinConfidence = Annotated[
    float | None, Field(ge=0, le=1, description="Nothing that is believed less; the preset's if left out.")
]
Deep = Annotated[bool, Field(description="Let the re-ranker put the best 50 in order.")]
Neighbours = Annotated[int, Field(ge=0, le=5, description="So many turns before and after each episode.")]
Explain = Annotated[bool, Field(description="Tell also of candidates that are no hits, and why.")]

IdempotencyKey = Annotated[
    str | None,
    Header(description="The same key again gives what was stored first, and stores nothing; another body is refused."),
]
