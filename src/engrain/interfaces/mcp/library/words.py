"""What several of the library's tools take, written once."""

from typing import Annotated, Any

from pydantic import Field

from engrain.domain.records import Role

SessionName = Annotated[str | None, Field(description="Conversation it belongs to.")]
TurnRole = Annotated[Role, Field(description="Who speaks.")]
Speaker = Annotated[str | None, Field(description="Name of whoever said it.")]
Importance = Annotated[float | None, Field(description="0 to 10; the words tell if left out.")]
Confidence = Annotated[float, Field(description="How sure it is, 0 to 1.")]
OwnScope = Annotated[str | None, Field(description="global, this agent's own name, or pool:NAME; global if left out.")]
ValidFrom = Annotated[str | None, Field(description="Since when it is true, ISO 8601.")]
ValidTo = Annotated[str | None, Field(description="Until when it is true, ISO 8601.")]
Source = Annotated[str | None, Field(description="Where it comes from, in your words.")]
SourceEpisode = Annotated[str | None, Field(description="Id of the episode it comes from.")]
Metadata = Annotated[dict[str, Any] | None, Field(description="A JSON object of your own.")]
Asked = Annotated[str, Field(description="What is asked, in any words.")]
MostHits = Annotated[int | None, Field(description="How many at most; the server's setting if left out.")]
Preset = Annotated[str | None, Field(description="Name of the ranking, such as keyword; the setting's if left out.")]
AsOf = Annotated[str | None, Field(description="What was believed at that time, ISO 8601, in place of now.")]
IncludeInactive = Annotated[bool, Field(description="Also what is superseded, retracted, expired or forgotten.")]
CountTokens = Annotated[
    str | None,
    Field(description="Count tokens as characters, wordpiece or tiktoken:ENCODING; the setting's if left out."),
]
Recipe = Annotated[str | None, Field(description="engrain, butler or assistant; the setting's if left out.")]
RecentEpisodes = Annotated[int | None, Field(description="With so many of the newest episodes, 0 to 100.")]
After = Annotated[str | None, Field(description="`next` of the page before, unchanged.")]
DryRun = Annotated[bool, Field(description="Only say what would be done.")]
