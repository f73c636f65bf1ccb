"""Tree of all settings: typed, frozen sections with a description of every setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from engrain.config.jobs import Jobs
from engrain.config.section import Secret, Section, Setting, setting
from engrain.config.server import Logging, Monitoring, Server

ENV_PREFIX = "ENGRAIN_"
ENV_DELIMITER = "__"


def default_location() -> Path:
    """Default path of the memory's file, in the user's data folder of the platform."""
    import platformdirs

    return Path(platformdirs.user_data_dir("engrain", appauthor=False)) / "memory.db"


def _parse_address(value: str) -> str:
    """The address; parts that could contain a secret are refused, so that messages may show it."""
    from urllib.parse import urlsplit  # only for an address

    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not value.isascii() or " " in value:
        raise ValueError("an address is http(s)://host[:port][/path]")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address has no user, password, query or fragment; the key has a setting of its own")
    return value


class Embedding(Section):
    """Embedder: model, address and cache."""

    model: str = setting(default="minilm", description="provider:model of the embedder; none for keywords alone")
    threads: int = setting(default=2, ge=1, le=64, description="Threads the embedder computes with")
    wait_s: float = setting(default=2.0, ge=0, le=60, description="How long a search waits for vectors of new memories")
    url: str | None = setting(default=None, parse=_parse_address, description="Base address, if not the provider's own")
    key: Secret | None = setting(default=None, description="Key of the service; never shown")
    dims: int | None = setting(default=None, ge=1, le=65_535, description="Length of vectors, if a model has several")
    cache_entries: int = setting(default=10_000, ge=0, le=10_000_000, description="Cached vectors; 0 for none")
    cache_ttl_s: float = setting(default=86_400.0, gt=0, description="How long a vector is cached")


class Reranking(Section):
    """Re-ranker of deep searches: model, time budget and address."""

    model: str = setting(
        default="none", description="provider:model; llm for the language model, none for no re-ranker"
    )
    budget_s: float = setting(default=2.0, gt=0, le=600, description="How long a deep search waits for its re-ranker")
    url: str | None = setting(default=None, parse=_parse_address, description="Base address, if not the provider's own")
    key: Secret | None = setting(default=None, description="Key of the service; never shown")


class Llm(Section):
    """Language model: address, limits and prices."""

    model: str = setting(
        default="none", description="openai:MODEL, pydantic-ai:PROVIDER:MODEL, command; none for no LLM"
    )
    url: str | None = setting(default=None, parse=_parse_address, description="Base address, if not the provider's own")
    key: Secret | None = setting(default=None, description="Key of the service; never shown")
    command: tuple[str, ...] = setting(
        default=(), description="Program and arguments; prompt on its input, answer on its output"
    )
    timeout_s: float = setting(default=60.0, gt=0, le=3600, description="How long a call may take, retries included")
    attempts: int = setting(default=3, ge=1, le=20, description="Attempts to call a busy or unreachable service")
    max_parallel: int = setting(default=4, ge=1, le=64, description="How many calls a Memory makes at once")
    max_tokens: int | None = setting(
        default=None, ge=1, description="Longest answer; None for the provider's own limit"
    )
    input_usd_per_million: float | None = setting(default=None, ge=0, description="Price of input; None for unknown")
    output_usd_per_million: float | None = setting(default=None, ge=0, description="Price of output; None for unknown")


class Entities(Section):
    """Name finder, and when it links memories to entities."""

    name_finder: str = setting(
        default="none", description="provider:model; llm for the language model, none for spelling alone"
    )
    link: Literal["off", "fast"] = setting(default="off", description="fast adds mentions to new memories, by spelling")


class Episodes(Section):
    """Time to live of episodes."""

    ttl_days: float | None = setting(
        default=None, ge=0, le=36_500, description="Time to live of episodes without their own"
    )


class Storage(Section):
    """Use of the database: timeouts, connections and durability."""

    busy_timeout_s: float = setting(
        default=5.0, ge=0, le=600, description="How long a call waits for a lock, or the server"
    )
    pool_size: int = setting(default=8, ge=1, le=1000, description="Connections to each PostgreSQL server at once")
    shards: dict[str, Secret] = setting(
        default={}, description="URLs of further PostgreSQL servers of the tenants, by name; that of `db` is `home`"
    )
    synchronous: Literal["normal", "full"] = setting(
        default="normal",
        description="full also survives a power cut; normal survives the end of the process at any moment",
    )
    cache_mb: int = setting(
        default=1024,
        ge=1,
        le=1_000_000,
        description="Vectors of the namespaces that were searched, in this process; the least used leave first",
    )


class ScoreWeights(Section):
    """Weights of the ranking `recall`."""

    relevance: float = setting(default=0.4, gt=0, le=1000, description="Weight of relevance in `recall`")
    importance: float = setting(default=0.3, ge=0, le=1000, description="Weight of importance in `recall`")
    recency: float = setting(default=0.2, ge=0, le=1000, description="Weight of recent use in `recall`")
    confidence: float = setting(default=0.1, ge=0, le=1000, description="Weight of confidence in `recall`")


class HybridWeights(Section):
    """Weights of the ranking `weighted`."""

    recency: float = setting(default=0.3, ge=0, le=1000, description="Weight of newness in `weighted`")
    similarity: float = setting(default=0.5, ge=0, le=1000, description="Weight of similarity in `weighted`")
    importance: float = setting(default=0.2, ge=0, le=1000, description="Weight of importance in `weighted`")


class Retrieval(Section):
    """Ranking of searches, and limits of their hits."""

    preset: str = setting(default="engrain", description="Ranking of searches without a preset")
    presets: dict[str, Any] = setting(default={}, description="Your own rankings: base, weights, min_confidence")
    score_weights: ScoreWeights = ScoreWeights()
    hybrid_weights: HybridWeights = HybridWeights()
    limit: int = setting(default=10, ge=0, le=1000, description="How many hits a search without a limit returns")
    max_limit: int = setting(default=1000, ge=0, le=1000, description="Largest limit of a search")

    def check(self) -> None:
        if self.limit > self.max_limit:
            raise ValueError(f"limit is {self.limit}, more than max_limit, which is {self.max_limit}")


class Context(Section):
    """Sections and budget of context blocks, and the shares of a model's window."""

    recipe: str = setting(default="engrain", description="Recipe of context blocks without one")
    budget_tokens: int = setting(default=1000, ge=0, le=10_000_000, description="Budget of context blocks without one")
    count_tokens: str = setting(
        default="characters", description="How tokens are counted: characters (four each), wordpiece, tiktoken:ENCODING"
    )
    order: list[str] = setting(
        default=["profile", "facts", "rules", "recent", "said", "reflection"],
        description="Sections of a block, in their order; others are left out",
    )
    quotas: dict[str, float] = setting(
        default={"facts": 0.3, "rules": 0.1, "recent": 0.1, "said": 0.4, "reflection": 0.1},
        description="Share of the budget reserved for each section; none for others",
    )
    recent_episodes: int = setting(default=0, ge=0, le=100, description="Newest episodes that a block always shows")
    session_turns: int = setting(
        default=50,
        ge=0,
        le=100_000,
        description="Newest turns of the current session that a block leaves out: the model has them",
    )
    candidates: int = setting(default=150, ge=1, le=1000, description="How many memories a block is chosen from")
    min_evidence: float = setting(
        default=0.05,
        ge=0,
        le=1,
        description="Evidence score below which a block holds a profile and standing rules alone",
    )
    profile_share: float = setting(
        default=0.2, ge=0, le=1, description="Share of the budget that such a block may fill"
    )
    window_tokens: int = setting(default=128_000, ge=1, le=100_000_000, description="Size of a model's window")
    memory_share: float = setting(default=0.7, ge=0, le=1, description="Largest share of the window for memories")
    turns_share: float = setting(
        default=0.5, ge=0, le=1, description="Largest share of that for the turns of the current session"
    )
    system_share: float = setting(default=0.05, ge=0, le=1, description="Recommended share for a system prompt")
    system_tokens: int = setting(default=4000, ge=0, description="The same in tokens; the smaller one applies")
    output_share: float = setting(default=0.1, ge=0, le=1, description="Share of the window reserved for the answer")
    output_tokens: int = setting(default=4000, ge=0, description="The same in tokens; the smaller one applies")
    tool_tokens: int = setting(default=500, ge=0, description="Tokens of a tool without a schema")
    message_tokens: int = setting(default=4, ge=0, le=1000, description="Tokens of a message besides its content")
    summary_tokens: int = setting(default=2000, ge=0, description="Size of the summary of memories that do not fit")


class Decay(Section):
    """Decay of facts and rules that nobody confirms."""

    curve: Literal["exponential", "steps"] = setting(
        default="exponential", description="Curve of the decay: by the rate of each fact and rule, or in steps of age"
    )
    anchor: Literal["confirmation", "access"] = setting(
        default="confirmation", description="Start of the decay: the last confirmation; access also counts the last use"
    )
    fading_below: float = setting(default=0.2, ge=0, le=1, description="Confidence below which a fact or rule fades")
    expired_below: float = setting(default=0.05, ge=0, le=1, description="Confidence below which it expires")


class Maturity(Section):
    """Thresholds that make a candidate an established rule, a proven rule, or a warning."""

    established_successes: int = setting(default=5, ge=1, le=1_000_000, description="Helps that establish a rule")
    established_effectiveness: float = setting(
        default=0.6, ge=0, le=1, description="Effectiveness of an established rule"
    )
    proven_successes: int = setting(default=15, ge=1, le=1_000_000, description="Helps that prove an established rule")
    proven_effectiveness: float = setting(default=0.8, ge=0, le=1, description="Effectiveness of a proven rule")
    proven_days: float = setting(default=30.0, ge=0, le=36_500, description="Least age of a proven rule in days")
    warning_harms: int = setting(default=3, ge=1, le=1_000_000, description="Harms that make a rule a warning")
    warning_effectiveness: float = setting(default=0.3, ge=0, le=1, description="Effectiveness below which harms do so")


class TenantCleanup(Section):
    """Retention of one tenant; None for the general setting of that name."""

    retention_days: float | None = setting(default=None, ge=0, le=36_500, description="As `cleanup.retention_days`")
    max_entries: int | None = setting(default=None, ge=0, description="As `cleanup.max_entries`")
    fact_days: float | None = setting(default=None, ge=0, le=36_500, description="As `cleanup.fact_days`")
    event_days: float | None = setting(default=None, ge=0, le=36_500, description="As `events.keep_days`")


class Cleanup(Section):
    """Retention of episodes, facts and rules."""

    retention_days: float = setting(
        default=0.0, ge=0, le=36_500, description="How many days expired and forgotten episodes stay"
    )
    max_entries: int = setting(default=10_000, ge=0, description="Largest number of removable episodes of a tenant")
    fact_days: float = setting(
        default=0.0,
        ge=0,
        le=36_500,
        description="How many days facts and rules stay after they were superseded, retracted or forgotten, expired as "
        "nobody confirmed them, or their period ended; 0 for ever. Live ones never go by age",
    )
    tenants: dict[str, TenantCleanup] = setting(
        default={},
        description="Retention of single tenants by name: retention_days, max_entries, fact_days, event_days",
    )


class Events(Section):
    """Retention of the audit log."""

    keep_days: float = setting(
        default=0.0,
        ge=0,
        le=36_500,
        description="How many days audit events stay; 0 for ever. Erasures, merges and what an undo took "
        "back stay at any age. A run whose events are gone cannot be undone",
    )


class Privacy(Section):
    """Policy for what should not be stored."""

    secrets: Literal["mask", "refuse", "keep"] = setting(
        default="mask", description="Keys, tokens and card numbers in a text: mask them, refuse the text, or keep them"
    )


class Handling(Section):
    """Policy of `handle` for requests and statements: do, propose or leave."""

    forget: Literal["do", "propose", "leave"] = setting(
        default="propose", description="A request to forget: do it, propose what to forget, or leave it an episode"
    )
    remember: Literal["do", "propose", "leave"] = setting(
        default="do", description="A statement that one fact can hold: remember it, propose it, or leave it an episode"
    )


class Notes(Section):
    """Cache of notes."""

    cache_entries: int = setting(default=1_000, ge=0, le=10_000_000, description="Cached notes; 0 for none")
    cache_ttl_s: float = setting(
        default=300.0,
        gt=0,
        description="How long a note is cached; newer reflections by other processes may be unseen until then",
    )
    tenant_share: float = setting(
        default=0.5, gt=0, le=1, description="Share of one tenant, beyond which its own notes make room for others"
    )


class Backup(Section):
    """Keys that sign and encrypt backups."""

    signing_key: Secret | None = setting(
        default=None, min_length=32, description="Key that signs backups, if no file has it; never shown"
    )
    signing_key_file: str | None = setting(
        default=None, description="File of that key; made beside the database, if neither is set"
    )
    passphrase: Secret | None = setting(
        default=None, min_length=12, description="Passphrase that encrypts backups; never shown"
    )
    encryption_key_file: str | None = setting(
        default=None, description="File of a key that encrypts backups, in place of a passphrase"
    )


class Audit(Section):
    """Limit of audits."""

    memories: int = setting(
        default=20_000, ge=1, le=1_000_000, description="Memories to read: facts, rules, then episodes"
    )


class Consolidation(Section):
    """Consolidation of episodes into facts and rules."""

    batch: int = setting(default=30, ge=1, le=1000, description="Episodes in one prompt to the language model")
    scope: Literal["agent", "global"] = setting(
        default="agent", description="Scope of learned memories: the agent alone, or every agent of its tenant"
    )
    on_session_switch: bool = setting(
        default=True, description="Whether a new session starts the consolidation of earlier ones in the background"
    )
    prompt_characters: int = setting(default=60_000, ge=20_000, le=10_000_000, description="Largest data of one prompt")
    lease_s: float = setting(default=60.0, gt=0, le=86_400, description="Lease of a batch beyond the model's timeout")
    max_attempts: int = setting(
        default=5, ge=1, le=20, description="How often an episode is tried before it is given up"
    )
    retry_pause_s: float = setting(
        default=300.0, ge=0, le=86_400, description="First pause after a failure; it doubles"
    )


class Summarization(Section):
    """Summaries: strategy and size."""

    strategy: Literal["simple", "hierarchical", "map_reduce", "extractive"] = setting(
        default="hierarchical", description="Strategy with a language model; without one summaries are extractive"
    )
    target_tokens: int = setting(default=2_000, ge=0, le=1_000_000, description="Size of a summary without a target")


class Reflection(Section):
    """Reflection: window and limits."""

    min_facts: int = setting(default=3, ge=1, le=1_000, description="Least number of facts in the window")
    window_days: float = setting(default=7.0, gt=0, le=36_500, description="Window of a reflection in days")
    min_days_between: float = setting(default=6.0, ge=0, le=36_500, description="Least days between reflections")
    most_memories: int = setting(default=200, ge=1, le=1_000, description="How many of the newest memories it reads")


class Working(Section):
    """Working memory and waiting messages of this process."""

    waiting: int = setting(default=1_000, ge=0, le=1_000_000, description="Messages that may wait for the database")
    sessions: int = setting(default=1_000, ge=1, le=1_000_000, description="How many sessions working memory has")
    most_bytes: int = setting(default=500_000_000, ge=1, description="Largest size of working memory, as estimated")
    ttl_s: float = setting(default=1_800.0, gt=0, description="How long working memory has a session that is not used")
    tenant_share: float = setting(
        default=0.5, gt=0, le=1, description="Share of one tenant, beyond which its own sessions make room for others"
    )
    flush_tokens: int = setting(
        default=32_000, ge=0, description="Size above which a session's oldest messages become episodes"
    )


class Redis(Section):
    """Redis cache of the newest turns of sessions."""

    url: Secret | None = setting(default=None, description="Address of a Redis, redis://...; never shown")
    prefix: str = setting(default="engrain", min_length=1, description="Prefix of the keys in Redis")
    ttl_s: float = setting(default=86_400.0, gt=0, description="How long Redis has a session without new messages")
    timeout_s: float = setting(default=0.25, gt=0, le=60, description="How long a call waits for Redis")


class Hooks(Section):
    """Hooks of coding assistants: whether they do anything, and how much context they give."""

    enabled: bool = setting(default=True, description="Whether `engrain hook` stores turns and gives context")
    start_tokens: int = setting(
        default=800, ge=0, le=100_000, description="Budget of the context at the start of a session; 0 for none"
    )
    prompt_tokens: int = setting(
        default=400, ge=0, le=100_000, description="Budget of the context of each prompt; 0 for none"
    )


class Batching(Section):
    """Batches of messages that need not be durable when the call returns."""

    size: int = setting(default=100, ge=1, le=10_000, description="How many waiting messages are written at once")
    seconds: float = setting(
        default=0.0, ge=0, le=3_600, description="How long a message may wait; 0 to write each at once"
    )


class Settings(Section):
    """All settings. `engrain.config.load` reads them from the caller, then `ENGRAIN_*`, then one TOML file."""

    db: str = setting(
        default=lambda: str(default_location()),
        description="Path of a file, postgresql://..., or https://... of a server",
    )
    tenant: str = setting(default="default", description="Tenant of callers without one")
    agent: str = setting(default="assistant", description="Agent of the command line")
    user: str | None = setting(default=None, description="End user that it acts for; None for memories of no user")
    key: Secret | None = setting(default=None, description="Access key of the server that db names; never shown")
    defaults: Literal["engrain", "butler", "layered"] = setting(default="engrain", description="Whose defaults apply")
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
    events: Events = Events()
    handling: Handling = Handling()
    privacy: Privacy = Privacy()
    notes: Notes = Notes()
    backup: Backup = Backup()
    audit: Audit = Audit()
    consolidation: Consolidation = Consolidation()
    summarization: Summarization = Summarization()
    reflection: Reflection = Reflection()
    working: Working = Working()
    redis: Redis = Redis()
    batching: Batching = Batching()
    hooks: Hooks = Hooks()
    server: Server = Server()
    logging: Logging = Logging()
    monitoring: Monitoring = Monitoring()
    jobs: Jobs = Jobs()


def section(model: type[Section] | Section, name: str) -> Section | None:
    """The section of that name in the tree or in a section of it; None for a setting, or an unknown name."""
    declared = model.declared.get(name)
    return declared if isinstance(declared, Section) else None


def fields(model: type[Section] | Section = Settings, prefix: str = "") -> dict[str, Setting]:
    """All settings by dotted name: `db`, `embedding.url`, `retrieval.score_weights.recency`."""
    settings: dict[str, Setting] = {}
    for name, declared in model.declared.items():
        settings |= {prefix + name: declared} if isinstance(declared, Setting) else fields(declared, f"{prefix}{name}.")
    return settings
