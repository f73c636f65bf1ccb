"""Annotated types of arguments that several tools take."""

from typing import Annotated, Literal

from pydantic import Field

from engrain.domain.records import EntityType, Kind, Permanence

Content = Annotated[str, Field(description="What to remember, as one text.")]
Importance = Annotated[float, Field(description="0 to 10; 5 is the middle.")]
Scope = Annotated[
    str | None,
    Field(
        description="global (every agent sees it), this agent's own name, or pool:NAME; if left out global, or the own "
        "scope of a caller that may not write there."
    ),
]
WithinScope = Annotated[
    str | None, Field(description="Leave what is of this scope and of global; everything in sight if left out.")
]
Tags = Annotated[list[str] | None, Field(description="Words to file it under.")]
Limit = Annotated[int, Field(description="How many at most.")]
Kinds = Annotated[list[Kind] | None, Field(description="Of these kinds alone; all if left out.")]
MemoryType = Annotated[Kind, Field(description="The kind of the memory that the id names.")]
MemoryId = Annotated[str, Field(description="Id of a memory, as a search gives it.")]
RuleId = Annotated[str, Field(description="Id of a rule.")]
FactId = Annotated[str, Field(description="Id of a fact.")]
EntityId = Annotated[str, Field(description="Id of an entity.")]
EntityTypeName = Annotated[EntityType, Field(description="What sort of thing it is.")]
Mode = Annotated[
    Literal["hybrid", "semantic", "keyword"],
    Field(description="By meaning and words, by meaning alone, or by words alone."),
]
PermanenceName = Annotated[Permanence, Field(description="How slowly it fades when nobody confirms it.")]
ButlerName = Annotated[str, Field(description="The agent of this server; another name is refused.")]
TenantId = Annotated[
    str, Field(description="The tenant of this server, or default, which means it; another is refused.")
]
IdempotencyKey = Annotated[
    str | None, Field(description="The same key again gives what was stored first, and stores nothing.")
]
SessionId = Annotated[str, Field(description="Name of a conversation.")]
NoteKey = Annotated[str, Field(description="Key of the note, such as project:alpha.")]
