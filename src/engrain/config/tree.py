"""Every setting there is: one typed tree of frozen sections. What each means stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from engrain.config.jobs import Jobs
from engrain.config.operating import Logging, Monitoring
from engrain.config.section import Section, WithoutTruthValues
from engrain.config.server import Server

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

ENV_PREFIX = "ENGRAIN_"
ENV_DELIMITER = "__"


def default_location() -> Path:
    """Where the memory lives when nobody says: the user's data folder of the platform."""
    return Path(platformdirs.user_data_dir("engrain", appauthor=False)) / "memory.db"


def _is_an_address(value: str) -> str:
    """As given; whatever could hold a secret is kept out of an address, so that it may be shown."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not value.isascii() or " " in value:
        raise ValueError("an address is http(s)://host[:port][/path]")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address has no user, password, query or fragment; the key has a setting of its own")
    return value


Address = Annotated[str, AfterValidator(_is_an_address)]


class Embedding(Section):
    """Who turns texts into vectors, and how it is reached."""

    model: str = Field(default="minilm", description="provider:model of the embedder; none for keywords alone")
    threads: int = Field(default=2, ge=1, le=64, description="Threads the embedder computes with")
    wait_s: float = Field(
        default=2.0, ge=0, le=60, description="How long a search waits for the vectors of the newest memories"
    )
    url: Address | None = Field(
        default=None, description="Base address of the service that embeds, where it is not the provider's own"
    )
    key: SecretStr | None = Field(default=None, description="The key of the service that embeds; never shown")
    dims: int | None = Field(
        default=None, ge=1, le=65_535, description="Length of the vectors to ask a model for that offers several"
    )
    cache_entries: int = Field(
        default=10_000, ge=0, le=10_000_000, description="How many vectors are kept in memory by their text; 0 for none"
    )
    cache_ttl_s: float = Field(default=86_400.0, gt=0, description="How long a vector is kept there")


class Reranking(Section):
    """Who puts the best hits of a deep search in order, and how it is reached."""

    model: str = Field(
        default="none",
        description="provider:model of the re-ranker of deep searches; llm for the language model, none for no such",
    )
    budget_s: float = Field(default=2.0, gt=0, le=600, description="How long a deep search waits for its re-ranker")
    url: Address | None = Field(
        default=None, description="Base address of the service that re-ranks, where it is not the provider's own"
    )
    key: SecretStr | None = Field(default=None, description="The key of the service that re-ranks; never shown")


class Llm(Section):
    """Which language model is asked where one helps, how it is reached, and what it costs."""

    model: str = Field(
        default="none",
        description="openai:MODEL, pydantic-ai:PROVIDER:MODEL or command, the language model; none for no such",
    )
    url: Address | None = Field(
        default=None, description="Base address of the service of the model, where it is not the provider's own"
    )
    key: SecretStr | None = Field(default=None, description="The key of the service of the model; never shown")
    command: tuple[str, ...] = Field(
        default=(), description="Program and arguments of the model command: prompt on its input, answer on its output"
    )
    timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="How long an answer is waited for, retries included"
    )
    attempts: int = Field(default=3, ge=1, le=20, description="How often a service is asked that is busy or away")
    max_parallel: int = Field(default=4, ge=1, le=64, description="How many questions a Memory asks at once")
    max_tokens: int | None = Field(
        default=None, ge=1, description="How long an answer may be; None for the provider's own limit"
    )
    input_usd_per_million: float | None = Field(
        default=None, ge=0, description="What a million tokens of questions cost; None for unknown"
    )
    output_usd_per_million: float | None = Field(
        default=None, ge=0, description="What a million tokens of answers cost; None for unknown"
    )


class Entities(Section):
    """Who finds names, and when."""

    name_finder: str = Field(
        default="none",
        description="provider:model of who finds names in texts; llm for the language model, none for spelling alone",
    )
    link: Literal["off", "fast"] = Field(
        default="off", description="fast notes whom each new memory mentions, by the spelling of names"
    )


class Episodes(Section):
    """How long what happened is kept."""

    ttl_days: float | None = Field(
        default=None,
        ge=0,
        le=36_500,
        description="How many days an episode lives that is observed without a `ttl_days`",
    )


class Storage(Section):
    """How the database is used."""

    busy_timeout_s: float = Field(
        default=5.0, ge=0, le=600, description="How long a write waits for another process's, or a call for the server"
    )
    pool_size: int = Field(default=8, ge=1, le=1000, description="Connections to PostgreSQL at once")
    synchronous: Literal["normal", "full"] = Field(
        default="normal",
        description="full also survives a power cut; normal survives the end of the process at any moment",
    )


class ScoreWeights(Section):
    """What counts in the ranking `recall`."""

    relevance: float = Field(default=0.4, gt=0, le=1000, description="What being found counts in `recall`")
    importance: float = Field(default=0.3, ge=0, le=1000, description="What importance counts in `recall`")
    recency: float = Field(default=0.2, ge=0, le=1000, description="What having been used lately counts in `recall`")
    confidence: float = Field(default=0.1, ge=0, le=1000, description="What confidence counts in `recall`")


class HybridWeights(Section):
    """What counts in the ranking `weighted`."""

    recency: float = Field(default=0.3, ge=0, le=1000, description="What being new counts in `weighted`")
    similarity: float = Field(default=0.5, ge=0, le=1000, description="What being alike counts in `weighted`")
    importance: float = Field(default=0.2, ge=0, le=1000, description="What importance counts in `weighted`")


class Retrieval(Section):
    """How a search ranks, and how much it returns."""

    preset: str = Field(default="engrain", description="The ranking of a search that names none")
    presets: dict[str, Any] = Field(
        default={}, description="Rankings of your own, by name: base, weights, min_confidence"
    )
    score_weights: ScoreWeights = ScoreWeights()
    hybrid_weights: HybridWeights = HybridWeights()
    limit: int = Field(default=10, ge=0, le=1000, description="How many hits a search returns that asks for no number")
    max_limit: int = Field(default=1000, ge=0, le=1000, description="How many hits a search may ask for")

    @model_validator(mode="after")
    def _limit_is_allowed(self) -> Self:
        if self.limit > self.max_limit:
            raise ValueError(f"limit is {self.limit}, more than max_limit, which is {self.max_limit}")
        return self


class Context(Section):
    """What a context block is made of, and how a model's window is divided."""

    recipe: str = Field(default="engrain", description="How a block is made that names no recipe")
    budget_tokens: int = Field(
        default=1000, ge=0, le=10_000_000, description="The budget of a context block that names none"
    )
    count_tokens: str = Field(
        default="characters", description="How tokens are counted: characters (four each), wordpiece, tiktoken:ENCODING"
    )
    order: list[str] = Field(
        default=["facts", "rules", "recent", "said", "reflection"],
        description="The sections of a block, in the order they stand in; one that is not named has no place",
    )
    quotas: dict[str, float] = Field(
        default={"facts": 0.3, "rules": 0.1, "recent": 0.1, "said": 0.4, "reflection": 0.1},
        description="Share of the budget that each section is sure of; one that is not named of nothing",
    )
    recent_episodes: int = Field(
        default=0, ge=0, le=100, description="How many of the newest episodes a block shows, whatever was asked"
    )
    candidates: int = Field(default=150, ge=1, le=1000, description="How many memories a block is chosen from")
    window_tokens: int = Field(
        default=128_000,
        ge=1,
        le=100_000_000,
        description="What a model reads and answers, where messages name no window",
    )
    memory_share: float = Field(default=0.7, ge=0, le=1, description="Most of the window that memories may take")
    system_share: float = Field(
        default=0.05, ge=0, le=1, description="Share of the window a system prompt should keep to"
    )
    system_tokens: int = Field(default=4000, ge=0, description="The same in tokens; the smaller one holds")
    output_share: float = Field(default=0.1, ge=0, le=1, description="Share of the window kept for the answer")
    output_tokens: int = Field(default=4000, ge=0, description="The same in tokens; the smaller one holds")
    tool_tokens: int = Field(default=500, ge=0, description="What a tool takes whose schema is not given")
    message_tokens: int = Field(default=4, ge=0, le=1000, description="What a message takes beside its content")
    summary_tokens: int = Field(
        default=2000, ge=0, description="Most that the summary of memories may take that do not fit"
    )


class Decay(Section):
    """How facts and rules lose their worth that nobody confirms."""

    curve: Literal["exponential", "steps"] = Field(
        default="exponential",
        description="How confidence decays: by each fact's or rule's own rate, or in steps of age",
    )
    anchor: Literal["confirmation", "access"] = Field(
        default="confirmation",
        description="From when it decays: the last confirmation, or access for the last use as well",
    )
    fading_below: float = Field(default=0.2, ge=0, le=1, description="Confidence below which a fact or rule fades")
    expired_below: float = Field(default=0.05, ge=0, le=1, description="Confidence below which it expires")


class Maturity(Section):
    """What makes of a candidate an established rule, a proven one, or a warning."""

    established_successes: int = Field(default=5, ge=1, le=1_000_000, description="Helps that establish a rule")
    established_effectiveness: float = Field(
        default=0.6, ge=0, le=1, description="Effectiveness that establishes a rule, and below which it no longer is"
    )
    proven_successes: int = Field(default=15, ge=1, le=1_000_000, description="Helps that prove an established rule")
    proven_effectiveness: float = Field(
        default=0.8, ge=0, le=1, description="Effectiveness that proves it, and below which it no longer is proven"
    )
    proven_days: float = Field(default=30.0, ge=0, le=36_500, description="How old a proven rule is at least")
    warning_harms: int = Field(default=3, ge=1, le=1_000_000, description="Harms that make a warning of a rule")
    warning_effectiveness: float = Field(default=0.3, ge=0, le=1, description="Effectiveness below which they do")


class Cleanup(Section):
    """Which episodes a cleanup removes."""

    retention_days: float = Field(
        default=0.0, ge=0, le=36_500, description="How many days a cleanup leaves an episode that has run out"
    )
    max_entries: int = Field(
        default=10_000, ge=0, description="How many episodes of a tenant a cleanup leaves, of those it may remove"
    )


class Notes(Section):
    """How notes are kept at hand."""

    cache_entries: int = Field(
        default=1_000,
        ge=0,
        le=10_000_000,
        description="How many notes are kept in memory by their agent and key; 0 for none",
    )
    cache_ttl_s: float = Field(
        default=300.0,
        gt=0,
        description="How long a note is kept there; until then another process's change may go unseen",
    )


class Audit(Section):
    """How far an audit looks."""

    memories: int = Field(
        default=20_000,
        ge=1,
        le=1_000_000,
        description="How many memories an audit looks at: facts, rules, then episodes",
    )


class Consolidation(Section):
    """How facts and rules are learned from episodes."""

    batch: int = Field(default=30, ge=1, le=1000, description="Episodes the language model is asked about at once")
    scope: Literal["agent", "global"] = Field(
        default="agent", description="Who sees what is learned: the agent alone, or every agent of its tenant"
    )
    on_session_switch: bool = Field(
        default=True,
        description="Whether the first turn of a session has the agent's earlier ones consolidated in the background",
    )
    prompt_characters: int = Field(
        default=60_000, ge=20_000, le=10_000_000, description="How long the data of one question may be"
    )
    lease_s: float = Field(
        default=60.0, gt=0, le=86_400, description="How long a batch is one's own beyond the time the model may take"
    )
    max_attempts: int = Field(default=5, ge=1, le=20, description="How often an episode is tried before it is given up")
    retry_pause_s: float = Field(
        default=300.0, ge=0, le=86_400, description="How long a failed episode waits at first; twice as long each time"
    )


class Summarization(Section):
    """How memories are summarised."""

    strategy: Literal["simple", "hierarchical", "map_reduce", "extractive"] = Field(
        default="hierarchical", description="How a language model summarises; without one a summary is extractive"
    )
    target_tokens: int = Field(
        default=2_000, ge=0, le=1_000_000, description="The most tokens of a summary that names no number"
    )


class Reflection(Section):
    """When an agent looks back, and on how much."""

    min_facts: int = Field(default=3, ge=1, le=1_000, description="Facts in the window that a reflection takes")
    window_days: float = Field(default=7.0, gt=0, le=36_500, description="How many days it looks back on")
    min_days_between: float = Field(default=6.0, ge=0, le=36_500, description="Days between two reflections, at least")
    most_memories: int = Field(default=200, ge=1, le=1_000, description="How many memories it reads, the newest")


class Working(Section):
    """What this process holds of conversations."""

    waiting: int = Field(
        default=1_000, ge=0, le=1_000_000, description="How many messages wait here while the database takes none"
    )
    sessions: int = Field(
        default=1_000, ge=1, le=1_000_000, description="How many agents' sessions working memory holds"
    )
    most_bytes: int = Field(default=500_000_000, ge=1, description="How large working memory may be, as estimated")
    ttl_s: float = Field(default=1_800.0, gt=0, description="How long working memory holds a session that is not used")
    flush_tokens: int = Field(
        default=32_000,
        ge=0,
        description="Above how many tokens working memory makes episodes of a session's oldest messages",
    )


class Redis(Section):
    """Where the newest turns of sessions are held in front of the database."""

    url: SecretStr | None = Field(
        default=None, description="Address of a Redis for the newest turns of sessions, redis://...; never shown"
    )
    prefix: str = Field(default="engrain", min_length=1, description="What the names of its keys begin with")
    ttl_s: float = Field(default=86_400.0, gt=0, description="How long it holds a session that is not added to")
    timeout_s: float = Field(
        default=0.25, gt=0, le=60, description="How long a call waits for Redis before it does without"
    )


class Batching(Section):
    """How messages are gathered that need not be durable when the call returns."""

    size: int = Field(default=100, ge=1, le=10_000, description="How many messages that may wait are written at once")
    seconds: float = Field(
        default=0.0,
        ge=0,
        le=3_600,
        description="How long the first of them waits at most; 0 for writing each when it comes",
    )


class Settings(WithoutTruthValues, BaseSettings):
    """How engrain behaves. `engrain.config.load` reads it: from the caller, then `ENGRAIN_*`, then one TOML file."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    db: str = Field(
        default_factory=lambda: str(default_location()), description="Path of the memory's file, or postgresql://..."
    )
    tenant: str = Field(default="default", description="The tenant of a caller that names none")
    agent: str = Field(default="assistant", description="The agent the command line speaks for")
    defaults: Literal["engrain", "butler", "layered"] = Field(
        default="engrain", description="Whose values stand where nobody says otherwise"
    )
    embedding: Embedding = Embedding()
    reranking: Reranking = Reranking()
    llm: Llm = Llm()
    entities: Entities = Entities()
    episodes: Episodes = Episodes()
    storage: Storage = Storage()
    retrieval: Retrieval = Retrieval()
    context: Context = Context()
    decay: Decay = Decay()
    maturity: Maturity = Maturity()
    cleanup: Cleanup = Cleanup()
    notes: Notes = Notes()
    audit: Audit = Audit()
    consolidation: Consolidation = Consolidation()
    summarization: Summarization = Summarization()
    reflection: Reflection = Reflection()
    working: Working = Working()
    redis: Redis = Redis()
    batching: Batching = Batching()
    server: Server = Server()
    logging: Logging = Logging()
    monitoring: Monitoring = Monitoring()
    jobs: Jobs = Jobs()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # pydantic-settings names the parameters
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # likewise
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # likewise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What it is made of, and nothing else: `load` has read the sources, and knows which one said what."""
        return (init_settings,)


def section(model: type[BaseModel], name: str) -> type[Section] | None:
    """The section of that name in the tree or in a section of it; None where it is a setting, or nothing."""
    field = model.model_fields.get(name)
    kind = None if field is None else field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def fields(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, FieldInfo]:
    """Every setting by its dotted name: `db`, `embedding.url`, `retrieval.score_weights.recency`."""
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        inner = section(model, name)
        found |= {prefix + name: field} if inner is None else fields(inner, f"{prefix}{name}.")
    return found
