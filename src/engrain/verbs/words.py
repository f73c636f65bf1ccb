"""The vocabulary of parameters: the type, bounds, sentence and example of each word that a verb takes.

A verb of the library annotates its parameters with these types (`limit: words.Limit | None = None`); the routes,
tools, commands and reference pages read the same objects. The type is the library's: `signatures` derives from it the
JSON type that a client sends. The verb itself checks what a word allows, with `domain.checks`.

Types of records that few verbs take stand as texts: `signatures` imports them for a verb that takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from engrain.domain.checks import MAX_LIMIT
from engrain.domain.maintenance.findings import FindingKind
from engrain.domain.memories.trust import TrustLevel
from engrain.domain.records import EntityType, Kind, MemoryRecord, Permanence, Relation, Role
from engrain.domain.requests import Direction

if TYPE_CHECKING:
    from engrain.domain.access import keys
    from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation
    from engrain.domain.memories.erasure import Cascade
    from engrain.domain.memories.notes import SearchMode
    from engrain.domain.runs.jobs import JobName, JobStatus
    from engrain.domain.runs.runs import RunKind
    from engrain.domain.runs.summaries import Strategy

# argument: whoever calls says it. caller: the caller's identity says it on every remote surface. key: the access key
# says it, where it is bound to one agent. library: a Python object, which no other surface can send.
Origin = Literal["argument", "caller", "key", "library"]
Identified = Literal["memory", "entity", "run", "job", "key"]
MAX_DAYS = 36_500
MAX_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)  # one object a word: an example need not have a hash
class Word:
    """Describes one parameter for every surface.

    Attributes:
        sentence: what it means, in one sentence; what its absence means too, where it may be left out.
        example: a JSON value that it may have.
        low, high: inclusive bounds of a number.
        most: the largest number of items of a list.
        option: its option on the command line, where that is not its name.
        metavar: what stands for its value in the help of the command line.
        id_of: the kind of thing that it is an id of.
        origin: who says it.
    """

    sentence: str
    _: KW_ONLY
    example: Any = None
    low: float | None = None
    high: float | None = None
    most: int | None = None
    option: str | None = None
    metavar: str | None = None
    id_of: Identified | None = None
    origin: Origin = "argument"


Time: TypeAlias = datetime | str
Names: TypeAlias = Iterable[str] | str

# Of a memory.
Id = Annotated[str, Word("Id of a memory, as a search gives it.", metavar="ID", id_of="memory")]
OfMemory = Annotated[str, Word("Of the memory of this id alone.", metavar="ID", id_of="memory")]
Ids = Annotated[Names, Word("Ids of memories.", option="--id", metavar="ID", id_of="memory")]
CascadeOfErasure = Annotated[
    "Cascade", Word("What was derived from it: none names it, seen erases what the agent sees of it, tenant all of it.")
]
Content = Annotated[str, Word("Text to remember, at most 10 MB.", example="I moved to Lisbon in May.", metavar="TEXT")]
TurnRole = Annotated[Role, Word("Role of whoever speaks.", example="user")]
Speaker = Annotated[str, Word("Name of whoever said it.", example="Ana", metavar="NAME")]
Session = Annotated[str, Word("Name of the conversation; else the current one.", example="2026-11-21", metavar="NAME")]
OneSession = Annotated[str, Word("Name of a conversation.", example="2026-11-21", metavar="NAME")]
OtherSession = Annotated[str, Word("Name of a conversation to leave for later.", example="2026-11-21", metavar="NAME")]
EventTime = Annotated[
    Time,
    Word(
        "Time it happened, ISO 8601 or words; now if left out.",
        example="2026-11-21T09:30:00Z",
        option="--time",
        metavar="TIME",
    ),
]
Importance = Annotated[
    float, Word("Importance, 0 to 10; told from its words if left out.", low=0, high=10, metavar="X")
]
TtlDays = Annotated[float, Word("Days until it expires; else the setting `episodes.ttl_days`.", low=0, metavar="DAYS")]
Tokens = Annotated[int, Word("Number of tokens it took.", low=0, metavar="N")]
Model = Annotated[str, Word("Name of the model that wrote it.", metavar="NAME")]
ToolCalls = Annotated[
    Iterable[Any], Word("Tool calls of the turn, as JSON values.", option="--tool-call", metavar="JSON")
]
Tags = Annotated[Names, Word("Tags to file it under.", example=["home"], option="--tag", metavar="TAG")]
Metadata = Annotated[Mapping[str, Any], Word("JSON object of your own.", metavar="JSON")]
IdempotencyKey = Annotated[
    str, Word("Key of this write: the same key again gives what was stored first, and stores nothing.", metavar="KEY")
]
Subject = Annotated[str, Word("Name of whom or what it is about.", example="Ana", metavar="NAME")]
Predicate = Annotated[str, Word("Relation of the subject to the content.", example="lives in", metavar="WORDS")]
OwnSubject = Annotated[
    str, Word("Name of whom or what it is about; its agent or user if left out.", example="Ana", metavar="NAME")
]
OwnPredicate = Annotated[
    str,
    Word(
        "Relation of the subject to the content; if left out, the content stands for itself.",
        example="lives in",
        metavar="WORDS",
    ),
]
Statement = Annotated[str, Word("Content that is true of the subject and predicate.", example="Lisbon", metavar="TEXT")]
AboutEntity = Annotated[
    str, Word("Id of the entity that the subject names.", option="--entity", metavar="ID", id_of="entity")
]
Scope = Annotated[
    str,
    Word(
        "Scope: the agent's own if left out, user (all agents for its user), pool:NAME, or global (all).",
        example="global",
        metavar="NAME",
    ),
]
WithinScope = Annotated[
    str, Word("Only what is of this scope or of global; everything in sight if left out.", metavar="NAME")
]
ValidFrom = Annotated[
    Time, Word("True since then, ISO 8601 or words.", example="2026-05-01", option="--from", metavar="TIME")
]
ValidTo = Annotated[Time, Word("True until then, ISO 8601 or words.", option="--to", metavar="TIME")]
Category = Annotated[
    str, Word("Category of the fact; told from its words if left out.", example="person", metavar="WORD")
]
HowLong = Annotated[Permanence, Word("How slowly it fades when nobody confirms it.", example="standard")]
Confidence = Annotated[float, Word("Confidence in it, 0 to 1.", low=0, high=1, metavar="P")]
Source = Annotated[str, Word("Where it comes from, in your words.", metavar="WORDS")]
SourceEpisode = Annotated[
    str, Word("Id of the episode it was learned from.", option="--source-episode", metavar="ID", id_of="memory")
]
LinkSource = Annotated[str, Word("Id of the memory that bears on the other.", metavar="SOURCE", id_of="memory")]
LinkTarget = Annotated[str, Word("Id of the other memory.", metavar="TARGET", id_of="memory")]
LinkRelation = Annotated[Relation, Word("Relation of the source to the target.")]
OfRelation = Annotated[Relation, Word("Only links of this relation.")]
LinkWeight = Annotated[float, Word("Strength of the link, 0 to 1.", low=0, high=1, metavar="X")]
LinkDirection = Annotated[
    Direction, Word("Links where the memory is the source (outgoing), the target (incoming) or either (both).")
]
EventType = Annotated[str, Word("Only events of this type, such as fact_created.", option="--type", metavar="TYPE")]

# Of a rule.
RuleId = Annotated[str, Word("Id of a rule.", metavar="ID", id_of="memory")]
Guidance = Annotated[str, Word("Way to go about something.", example="Book an aisle seat.", metavar="TEXT")]
HarmReason = Annotated[str, Word("Why it did harm.", example="Ana overslept", metavar="WORDS")]

# Of a search.
Query = Annotated[
    str, Word("Question or text to search for, in any words.", example="Where does Ana live?", metavar="QUERY")
]
Limit = Annotated[
    int, Word("Most answers; the setting `retrieval.limit` if left out.", low=0, high=MAX_LIMIT, metavar="N")
]
PageLimit = Annotated[int, Word("Most items of a page.", low=0, high=MAX_LIMIT, metavar="N")]
MostOfEach = Annotated[int, Word("Most items of each list.", low=0, high=100, metavar="N")]
After = Annotated[str, Word("Cursor: `next` of the page before; the first page if left out.", metavar="CURSOR")]
PresetName = Annotated[
    str, Word("Name of the ranking; the setting `retrieval.preset` if left out.", example="engrain", metavar="NAME")
]
Kinds = Annotated[Iterable[Kind] | Kind, Word("Only memories of these kinds.", option="--kind")]
Sessions = Annotated[Names, Word("Only episodes of these conversations.", option="--session", metavar="NAME")]
ExcludeSessions = Annotated[
    Names, Word("No episodes of these conversations.", option="--exclude-session", metavar="NAME")
]
Roles = Annotated[Iterable[Role] | Role, Word("Only turns of these roles.", option="--role")]
Speakers = Annotated[Names, Word("Only what these said, in any case of letters.", option="--speaker", metavar="NAME")]
Subjects = Annotated[Names, Word("Only facts about these.", option="--subject", metavar="NAME")]
OfKind = Annotated[Kind, Word("Only memories of this kind.")]
OfSubject = Annotated[str, Word("Only facts about this subject.", metavar="NAME")]
OfPredicate = Annotated[str, Word("Only facts with this predicate.", metavar="WORDS")]
AllTags = Annotated[Names, Word("Only memories with all of these tags.", option="--tag", metavar="TAG")]
Since = Annotated[Time, Word("Not before this time, ISO 8601 or words.", metavar="TIME")]
Until = Annotated[Time, Word("Before this time, ISO 8601 or words.", metavar="TIME")]
AsOf = Annotated[Time, Word("What was believed then, ISO 8601 or words, not now.", metavar="TIME")]
ValidAt = Annotated[Time, Word("Facts that were true then, ISO 8601 or words, not now.", metavar="TIME")]
IncludeInactive = Annotated[bool, Word("Also what is superseded, retracted, expired or forgotten.")]
MinConfidence = Annotated[float, Word("Least confidence; else the preset's.", low=0, high=1, metavar="P")]
MinTrust = Annotated[TrustLevel, Word("Only memories of this trust level, or a higher one.")]
Pending = Annotated[bool, Word("Only facts that wait for a confirmation.")]
Deep = Annotated[bool, Word("Let the re-ranker put the best 50 in order.")]
Neighbours = Annotated[
    int, Word("Number of turns before and after each episode to give with it.", low=0, high=5, metavar="N")
]
Explain = Annotated[bool, Word("Tell also of candidates that are no hits, and why.")]
CountReferences = Annotated[bool, Word("Count a reference to each memory of the answer.", option="--count")]

# Of a context block, messages and summaries.
Prompt = Annotated[
    str, Word("Prompt that the agent is about to answer.", example="Book Ana's trip home", metavar="TEXT")
]
BudgetTokens = Annotated[
    int,
    Word(
        "Most tokens of the block; the setting if left out.",
        example=800,
        low=0,
        high=MAX_TOKENS,
        option="--budget",
        metavar="TOKENS",
    ),
]
WindowTokens = Annotated[
    int,
    Word(
        "Tokens of the model's window; the setting if left out.",
        low=0,
        high=MAX_TOKENS,
        option="--window",
        metavar="TOKENS",
    ),
]
CountTokens = Annotated[
    Callable[[str], int] | str,
    Word(
        "Token counter: characters, wordpiece or tiktoken:ENCODING; the setting if left out.",
        option="--count",
        metavar="NAME",
    ),
]
RecipeName = Annotated[
    str, Word("Recipe of the block: engrain, butler or assistant; the setting if left out.", metavar="NAME")
]
RecentEpisodes = Annotated[
    int,
    Word(
        "Number of the newest episodes to show whatever the query; the setting if left out.",
        low=0,
        high=100,
        option="--recent",
        metavar="N",
    ),
]
IncludeSuperseded = Annotated[
    bool, Word("Also facts that hold no more, marked, behind those that do.", option="--superseded")
]
WithDates = Annotated[bool, Word("Show days and times.", option="--dates")]
WithSources = Annotated[bool, Word("End each line with where it comes from.", option="--sources")]
Summarize = Annotated[
    Callable[[Sequence[MemoryRecord], int], str],
    Word("Function that makes one message of memories within some tokens.", origin="library"),
]
SummaryQuery = Annotated[str, Word("Summarize what a search for this finds.", metavar="QUERY")]
SummarySession = Annotated[
    str, Word("Summarize this conversation; the current one if nothing is named.", example="2026-11-21", metavar="NAME")
]
SummaryIds = Annotated[Names, Word("Summarize the memories of these ids.", option="--id", metavar="ID", id_of="memory")]
SummaryStrategy = Annotated["Strategy", Word("Strategy; the setting if left out.", example="extractive")]
TargetTokens = Annotated[int, Word("Most tokens; the setting if left out.", low=0, option="--tokens", metavar="N")]
StoreSummary = Annotated[bool, Word("Store it as a fact, derived from its sources.")]

# Of counts, overviews and audits.
Days = Annotated[int, Word("Number of days to look back, today included.", low=0, high=366, metavar="N")]
FindingKinds = Annotated[Iterable[FindingKind] | FindingKind, Word("Only findings of these kinds.", option="--kind")]
Skip = Annotated[int, Word("Number of findings of each kind to pass over.", low=0, high=1_000_000, metavar="N")]
UnusedDays = Annotated[
    float, Word("Age in days from which an unused memory is a finding.", low=0, high=MAX_DAYS, metavar="DAYS")
]

# Of entities.
EntityId = Annotated[str, Word("Id of an entity.", metavar="ID", id_of="entity")]
EntityName = Annotated[str, Word("Name of the entity.", example="Ana", metavar="NAME")]
NewEntityName = Annotated[str, Word("Its name from now on.", example="Ana", metavar="NAME")]
EntityIdOrName = Annotated[str, Word("Id or name of an entity.", example="Ana", metavar="NAME")]
TypeOfEntity = Annotated[EntityType, Word("Type of the entity.", example="person", option="--type")]
OfEntityType = Annotated[EntityType, Word("Only entities of this type.", option="--type")]
Aliases = Annotated[Iterable[str], Word("All its other names.", example=["Ana Reis"], option="--alias", metavar="NAME")]
MergedMetadata = Annotated[Mapping[str, Any], Word("JSON object, added key by key to its metadata.", metavar="JSON")]
NameHints = Annotated[
    Mapping[str, Any], Word("Hints: `topic`, `mentioned_with` (names), `domain_scores` (by entity id).", metavar="JSON")
]
Fuzzy = Annotated[bool, Word("Also names that are merely alike.")]
MergeSource = Annotated[str, Word("Id of the entity that becomes a tombstone.", metavar="SOURCE", id_of="entity")]
MergeTarget = Annotated[str, Word("Id of the entity that takes it in.", metavar="TARGET", id_of="entity")]
MergedEntity = Annotated[str, Word("Id of the entity that was merged.", metavar="SOURCE", id_of="entity")]
EnrichStrategy = Annotated[
    Literal["accurate", "fast"], Word("accurate (the name finder, and spelling) or fast (spelling).")
]
Publish = Annotated[bool, Word("Names out of private memories may enter the registry of the tenant.")]
MostEntities = Annotated[
    int,
    Word(
        "Only memories that mention at most so many entities.",
        low=0,
        high=MAX_LIMIT,
        option="--max-entities",
        metavar="N",
    ),
]

# Of the graph.
NewNodes = Annotated[
    Iterable["GraphEntity"], Word("Entities to add, each once.", most=1000, option="--entity", metavar="JSON")
]
Relations = Annotated[
    Iterable["GraphRelation"],
    Word("Relations between entities, each once.", most=1000, option="--relation", metavar="JSON"),
]
Observations = Annotated[
    Iterable["EntityObservations"], Word("Observations, by entity.", most=1000, option="--observation", metavar="JSON")
]
NodeNames = Annotated[
    Iterable[str], Word("Names of entities.", example=["Ana"], most=1000, option="--name", metavar="NAME")
]
GraphQuery = Annotated[str, Word("Part of a name, type or observation, in any case.", metavar="QUERY")]

# Of notes, pools, working memory and hooks.
NoteKey = Annotated[str, Word("Key of the note.", example="project:alpha", metavar="KEY")]
NoteKeyOrId = Annotated[str, Word("Key or id of a note.", example="project:alpha", metavar="KEY")]
NoteText = Annotated[str, Word("Text of the note.", example="Launch moved to June.", metavar="TEXT")]
NoteMode = Annotated["SearchMode", Word("fast, or deep: the re-ranker puts the best in order.")]
NoteCategory = Annotated[str, Word("Only notes of this category.", example="project", metavar="WORD")]
PreferredCategory = Annotated[str, Word("Only notes of this category, unless that would leave none.", metavar="WORD")]
MinSimilarity = Annotated[float, Word("Least score before age counts, 0 to 1.", low=0, high=1, metavar="X")]
OlderThanDays = Annotated[
    float, Word("Only notes that were not saved for so many days.", low=0, high=MAX_DAYS, metavar="N")
]
PoolName = Annotated[str, Word("Name of the pool.", example="docs", metavar="NAME")]
PoolMembers = Annotated[Names, Word("Other agents of the tenant to let in.", example=["coder"], metavar="AGENT")]
PoolMember = Annotated[str, Word("Name of an agent of the tenant.", example="coder", metavar="AGENT")]
ToolName = Annotated[str, Word("Name of the tool.", example="timetable", metavar="NAME")]
ToolValue = Annotated[Any, Word("Answer of the tool, any JSON value.", example={"first": "09:00"})]
ScratchpadText = Annotated[
    str, Word("Text of the scratchpad from now on.", example="Ana hates early trams.", metavar="TEXT")
]
Durable = Annotated[
    bool, Word("Durable when it returns; false: stored with others soon, as the settings `batching` say.")
]


# Of consolidation, runs, jobs and keys.
class ExtractedFact(TypedDict):
    """A fact that a session teaches."""

    subject: Subject
    predicate: Predicate
    content: Statement
    importance: NotRequired[Importance]
    confidence: NotRequired[Confidence]
    permanence: NotRequired[HowLong]
    valid_from: NotRequired[ValidFrom]
    tags: NotRequired[Tags]
    source_ids: NotRequired[Annotated[Iterable[str], Word("Ids of the episodes that say so.")]]


ExtractedFacts = Annotated[
    Iterable[ExtractedFact],
    Word(
        "Facts that the session teaches, each once.",
        example=[{"subject": "Ana", "predicate": "lives in", "content": "Lisbon"}],
        most=1000,
        option="--fact",
        metavar="JSON",
    ),
]
FactId = Annotated[str, Word("Id of a fact.", metavar="ID", id_of="memory")]
DoubtedFact = Annotated[str, Word("Id of the fact that is doubted from now on.", metavar="OLD", id_of="memory")]
StandingFact = Annotated[str, Word("Id of the fact that stands against it.", metavar="NEW", id_of="memory")]
PageNumber = Annotated[int, Word("Number of the page, from 0.", low=0, high=1_000_000, metavar="N")]
DryRun = Annotated[bool, Word("Only say what would be done; nothing is written.")]
MaxEntries = Annotated[int, Word("Most episodes that may stay; the setting if left out.", low=0, metavar="N")]
TryNow = Annotated[bool, Word("Also try what waits after a failure, at once.")]
MaxBatches = Annotated[int, Word("Most batches for each agent.", low=0, high=1000, metavar="N")]
Force = Annotated[bool, Word("Pass over the days there should be between.")]
RunId = Annotated[str, Word("Id of a run.", metavar="ID", id_of="run")]
OfRun = Annotated[str, Word("Of the run of this id alone.", metavar="ID", id_of="run")]
OfRunKind = Annotated["RunKind", Word("Only runs of this kind.")]
NameOfJob = Annotated["JobName", Word("Name of the job.", example="decay", metavar="NAME")]
OfJobName = Annotated["JobName", Word("Only jobs of this name.")]
OfJobStatus = Annotated["JobStatus", Word("Only jobs of this status.")]
JobId = Annotated[str, Word("Id of a job that is a dead letter.", metavar="ID", id_of="job")]
Enqueue = Annotated[bool, Word("Leave it to a worker.")]
KeyRole = Annotated["keys.Role", Word("Role: reader reads, writer also writes memories, admin may do everything.")]
KeyName = Annotated[str, Word("Purpose of the key.", example="ci", metavar="WORDS")]
ExpiresAt = Annotated[
    Time,
    Word(
        "Time until when it opens anything, ISO 8601 or words; for ever if left out.",
        option="--expires",
        metavar="WHEN",
    ),
]
KeyId = Annotated[str, Word("Id of a key.", metavar="KEY", id_of="key")]
OverlapDays = Annotated[
    float,
    Word(
        "Days for which the old key opens beside the new one.", option="--overlap", low=0, high=MAX_DAYS, metavar="DAYS"
    ),
]
Secret = Annotated[str, Word("Secret of a key.", origin="library")]

# Of files, and of everything that takes long.
LateEvents = Annotated[bool, Word("Also events that are older than the last seal.")]
SealHash = Annotated[str, Word("Hash of a seal that was kept elsewhere.", metavar="HASH")]
FilePath = Annotated[str | Path, Word("Path of the file.", metavar="FILE")]
ImportFormat = Annotated[str, Word("Format of the file: auto, or its name.", example="auto", metavar="NAME")]
ExportFormat = Annotated[Literal["jsonl", "markdown"], Word("jsonl, which import reads back, or markdown.")]
ExportKinds = Annotated[
    Iterable[Literal["entity", "episode", "fact", "log", "note", "rule"]],
    Word("Only records of these kinds.", option="--kinds"),
]
Strict = Annotated[bool, Word("Stop at the first broken record.")]
WithVectors = Annotated[bool, Word("Include the vectors; without them it is smaller, and a restore makes them anew.")]
Replace = Annotated[bool, Word("Remove the memories of the agent or tenant first.")]
WithErased = Annotated[bool, Word("Bring back also what was erased since.")]
Untrusted = Annotated[bool, Word("Believe whoever made it: this installation need not have signed it.")]
Progress = Annotated[Callable[[int], None], Word("Function that is told how much is done.", origin="library")]
StepProgress = Annotated[
    Callable[[str, int], None], Word("Function that is told the step and how much is done.", origin="library")
]

# The caller, of verbs of the whole memory.
Tenant = Annotated[str, Word("Name of the tenant; all tenants if left out.", origin="caller")]
BoundAgent = Annotated[str, Word("Name of the only agent in question; any if left out.", origin="key")]
KeyGrant = Annotated["keys.Grant", Word("Rights of the key that asks; all if left out.", origin="key")]
NamedTenant = Annotated[str, Word("Name of the tenant: the caller's own.", metavar="NAME", example="acme")]
NamedUser = Annotated[str, Word("Name of the end user.", metavar="NAME", example="ana")]
CallerUser = Annotated[str, Word("Name of the end user; the setting if left out.", origin="caller")]
CallerAgent = Annotated[str, Word("Name of the agent; the setting if left out.", origin="caller")]
OfAgent = Annotated[str, Word("Only this agent's; all agents' if left out.", metavar="NAME", origin="argument")]
OfUser = Annotated[str, Word("Only this user's; any user's if left out.", metavar="NAME", origin="argument")]
