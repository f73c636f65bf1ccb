"""Tree of all settings: typed, frozen sections with a description of every setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from engrain.config.jobs import Jobs, parse_time_zone
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

    model: str = setting("minilm", "provider:model of the embedder; none for keywords alone")
    threads: int = setting(2, "Threads the embedder computes with", ge=1, le=64)
    wait_s: float = setting(2.0, "How long a search waits for vectors of new memories", ge=0, le=60)
    url: str | None = setting(None, "Base address, if not the provider's own", parse=_parse_address)
    key: Secret | None = setting(None, "Key of the service; never shown")
    dims: int | None = setting(None, "Length of vectors, if a model has several", ge=1, le=65_535)
    cache_entries: int = setting(10_000, "Cached vectors; 0 for none", ge=0, le=10_000_000)
    cache_ttl_s: float = setting(86_400.0, "How long a vector is cached", gt=0)


class Reranking(Section):
    """Re-ranker of deep searches: model, time budget and address."""

    model: str = setting("none", "provider:model; llm for the language model, none for no re-ranker")
    budget_s: float = setting(2.0, "How long a deep search waits for its re-ranker", gt=0, le=600)
    url: str | None = setting(None, "Base address, if not the provider's own", parse=_parse_address)
    key: Secret | None = setting(None, "Key of the service; never shown")


class Llm(Section):
    """Language model: address, limits and prices."""

    model: str = setting("none", "openai:MODEL, pydantic-ai:PROVIDER:MODEL, command; none for no LLM")
    url: str | None = setting(None, "Base address, if not the provider's own", parse=_parse_address)
    key: Secret | None = setting(None, "Key of the service; never shown")
    command: tuple[str, ...] = setting((), "Program and arguments; prompt on its input, answer on its output")
    timeout_s: float = setting(60.0, "How long a call may take, retries included", gt=0, le=3600)
    attempts: int = setting(3, "Attempts to call a busy or unreachable service", ge=1, le=20)
    max_parallel: int = setting(4, "How many calls a Memory makes at once", ge=1, le=64)
    max_tokens: int | None = setting(None, "Longest answer; None for the provider's own limit", ge=1)
    input_usd_per_million: float | None = setting(None, "Price of input; None for unknown", ge=0)
    output_usd_per_million: float | None = setting(None, "Price of output; None for unknown", ge=0)


class Entities(Section):
    """Name finder, and when it links memories to entities."""

    name_finder: str = setting("none", "provider:model; llm for the language model, none for spelling alone")
    link: Literal["off", "fast"] = setting("off", "fast adds mentions to new memories, by spelling")


class Episodes(Section):
    """Time to live of episodes."""

    ttl_days: float | None = setting(None, "Time to live of episodes without their own", ge=0, le=36_500)


class Storage(Section):
    """Use of the database: timeouts, connections and durability."""

    busy_timeout_s: float = setting(
        5.0, "How long a call waits for the server, or for who writes to a SQLite file", ge=0, le=600
    )
    pool_size: int = setting(8, "Connections to each PostgreSQL server at once", ge=1, le=1000)
    shards: dict[str, Secret] = setting(
        {}, "URLs of further PostgreSQL servers of the tenants, by name; that of `db` is `home`"
    )
    synchronous: Literal["normal", "full"] = setting(
        "normal", "full also survives a power cut; normal survives the end of the process at any moment"
    )
    cache_mb: int = setting(
        1024,
        "Vectors of the namespaces that were searched, in this process; the least used leave first",
        ge=1,
        le=1_000_000,
    )


class ScoreWeights(Section):
    """Weights of the ranking `recall`."""

    relevance: float = setting(0.4, "Weight of relevance in `recall`", gt=0, le=1000)
    importance: float = setting(0.3, "Weight of importance in `recall`", ge=0, le=1000)
    recency: float = setting(0.2, "Weight of recent use in `recall`", ge=0, le=1000)
    confidence: float = setting(0.1, "Weight of confidence in `recall`", ge=0, le=1000)


class HybridWeights(Section):
    """Weights of the ranking `weighted`."""

    recency: float = setting(0.3, "Weight of newness in `weighted`", ge=0, le=1000)
    similarity: float = setting(0.5, "Weight of similarity in `weighted`", ge=0, le=1000)
    importance: float = setting(0.2, "Weight of importance in `weighted`", ge=0, le=1000)


class Retrieval(Section):
    """Ranking of searches, and limits of their hits."""

    preset: str = setting("engrain", "Ranking of searches without a preset")
    presets: dict[str, Any] = setting({}, "Your own rankings: base, weights, min_confidence")
    score_weights: ScoreWeights = ScoreWeights()
    hybrid_weights: HybridWeights = HybridWeights()
    limit: int = setting(10, "How many hits a search without a limit returns", ge=0, le=1000)
    max_limit: int = setting(1000, "Largest limit of a search", ge=0, le=1000)
    timezone: str = setting(
        "UTC",
        "The time zone of days in words (`yesterday`), and of the headings in blocks",
        parse=parse_time_zone,
    )

    def check(self) -> None:
        if self.limit > self.max_limit:
            raise ValueError(f"limit is {self.limit}, more than max_limit, which is {self.max_limit}")


class Context(Section):
    """Sections and budget of context blocks, and the shares of a model's window."""

    recipe: str = setting("engrain", "Recipe of context blocks without one")
    budget_tokens: int = setting(1000, "Budget of context blocks without one", ge=0, le=10_000_000)
    count_tokens: str = setting(
        "characters", "How tokens are counted: characters (four each in English), wordpiece, tiktoken:ENCODING"
    )
    order: list[str] = setting(
        ["profile", "facts", "rules", "recent", "said", "reflection"],
        "Sections of a block, in their order; others are left out",
    )
    quotas: dict[str, float] = setting(
        {"facts": 0.3, "rules": 0.1, "recent": 0.1, "said": 0.4, "reflection": 0.1},
        "Share of the budget reserved for each section; none for others",
    )
    recent_episodes: int = setting(0, "Newest episodes that a block always shows", ge=0, le=100)
    session_turns: int = setting(
        50, "Newest turns of the current session that a block leaves out: the model has them", ge=0, le=100_000
    )
    candidates: int = setting(150, "How many memories a block is chosen from", ge=1, le=1000)
    min_evidence: float = setting(
        0.05,
        "Evidence score below which a block holds a profile and standing rules alone; a fifth of it for a question",
        ge=0,
        le=1,
    )
    profile_share: float = setting(0.2, "Share of the budget that such a block may fill", ge=0, le=1)
    window_tokens: int = setting(128_000, "Size of a model's window", ge=1, le=100_000_000)
    memory_share: float = setting(0.7, "Largest share of the window for memories", ge=0, le=1)
    turns_share: float = setting(0.5, "Largest share of that for the turns of the current session", ge=0, le=1)
    system_share: float = setting(0.05, "Recommended share for a system prompt", ge=0, le=1)
    system_tokens: int = setting(4000, "The same in tokens; the smaller one applies", ge=0)
    output_share: float = setting(0.1, "Share of the window reserved for the answer", ge=0, le=1)
    output_tokens: int = setting(4000, "The same in tokens; the smaller one applies", ge=0)
    tool_tokens: int = setting(500, "Tokens of a tool without a schema", ge=0)
    message_tokens: int = setting(4, "Tokens of a message besides its content", ge=0, le=1000)
    summary_tokens: int = setting(2000, "Size of the summary of memories that do not fit", ge=0)


class Decay(Section):
    """Decay of facts and rules that nobody confirms."""

    curve: Literal["exponential", "steps"] = setting(
        "exponential", "Curve of the decay: by the rate of each fact and rule, or in steps of age"
    )
    anchor: Literal["confirmation", "access"] = setting(
        "confirmation", "Start of the decay: the last confirmation; access also counts the last use"
    )
    fading_below: float = setting(0.2, "Confidence below which a fact or rule fades", ge=0, le=1)
    expired_below: float = setting(0.05, "Confidence below which it expires", ge=0, le=1)


class Maturity(Section):
    """Thresholds that make a candidate an established rule, a proven rule, or a warning."""

    established_successes: int = setting(5, "Helps that establish a rule", ge=1, le=1_000_000)
    established_effectiveness: float = setting(0.6, "Effectiveness of an established rule", ge=0, le=1)
    proven_successes: int = setting(15, "Helps that prove an established rule", ge=1, le=1_000_000)
    proven_effectiveness: float = setting(0.8, "Effectiveness of a proven rule", ge=0, le=1)
    proven_days: float = setting(30.0, "Least age of a proven rule in days", ge=0, le=36_500)
    warning_harms: int = setting(3, "Harms that make a rule a warning", ge=1, le=1_000_000)
    warning_effectiveness: float = setting(0.3, "Effectiveness below which harms do so", ge=0, le=1)


class TenantCleanup(Section):
    """Retention of one tenant; None for the general setting of that name."""

    retention_days: float | None = setting(None, "As `cleanup.retention_days`", ge=0, le=36_500)
    max_entries: int | None = setting(None, "As `cleanup.max_entries`", ge=0)
    fact_days: float | None = setting(None, "As `cleanup.fact_days`", ge=0, le=36_500)
    event_days: float | None = setting(None, "As `events.keep_days`", ge=0, le=36_500)


class Cleanup(Section):
    """Retention of episodes, facts and rules."""

    retention_days: float = setting(0.0, "How many days expired and forgotten episodes stay", ge=0, le=36_500)
    max_entries: int = setting(10_000, "Largest number of removable episodes of a tenant", ge=0)
    fact_days: float = setting(
        0.0,
        "How many days facts and rules stay after they were superseded, retracted or forgotten, expired as "
        "nobody confirmed them, or their period ended; 0 for ever. Live ones never go by age",
        ge=0,
        le=36_500,
    )
    tenants: dict[str, TenantCleanup] = setting(
        {}, "Retention of single tenants by name: retention_days, max_entries, fact_days, event_days"
    )


class Events(Section):
    """Retention of the audit log."""

    keep_days: float = setting(
        0.0,
        "How many days audit events stay; 0 for ever. Erasures, merges and what an undo took "
        "back stay at any age. A run whose events are gone cannot be undone",
        ge=0,
        le=36_500,
    )


class Privacy(Section):
    """Policy for what should not be stored."""

    secrets: Literal["mask", "refuse", "keep"] = setting(
        "mask", "Keys, tokens and card numbers in a text: mask them, refuse the text, or keep them"
    )


class Handling(Section):
    """Policy of `handle` for requests and statements: do, propose or leave."""

    forget: Literal["do", "propose", "leave"] = setting(
        "propose", "A request to forget: do it, propose what to forget, or leave it an episode"
    )
    remember: Literal["do", "propose", "leave"] = setting(
        "do", "A statement that one fact can hold: remember it, propose it, or leave it an episode"
    )


class Notes(Section):
    """Cache of notes."""

    cache_entries: int = setting(1_000, "Cached notes; 0 for none", ge=0, le=10_000_000)
    cache_ttl_s: float = setting(
        300.0, "How long a note is cached; newer reflections by other processes may be unseen until then", gt=0
    )
    tenant_share: float = setting(
        0.5, "Share of one tenant, beyond which its own notes make room for others", gt=0, le=1
    )


class Backup(Section):
    """Keys that sign and encrypt backups."""

    signing_key: Secret | None = setting(None, "Key that signs backups, if no file has it; never shown", min_length=32)
    signing_key_file: str | None = setting(None, "File of that key; made beside the database, if neither is set")
    passphrase: Secret | None = setting(None, "Passphrase that encrypts backups; never shown", min_length=12)
    encryption_key_file: str | None = setting(None, "File of a key that encrypts backups, in place of a passphrase")


class Audit(Section):
    """Limit of audits."""

    memories: int = setting(20_000, "Memories to read: facts, rules, then episodes", ge=1, le=1_000_000)


class Consolidation(Section):
    """Consolidation of episodes into facts and rules."""

    batch: int = setting(30, "Episodes in one prompt to the language model", ge=1, le=1000)
    scope: Literal["agent", "global"] = setting(
        "agent", "Scope of learned memories: the agent alone, or every agent of its tenant"
    )
    on_session_switch: bool = setting(
        True, "Whether a new session starts the consolidation of earlier ones in the background"
    )
    prompt_characters: int = setting(60_000, "Largest data of one prompt", ge=20_000, le=10_000_000)
    lease_s: float = setting(60.0, "Lease of a batch beyond the model's timeout", gt=0, le=86_400)
    max_attempts: int = setting(5, "How often an episode is tried before it is given up", ge=1, le=20)
    retry_pause_s: float = setting(300.0, "First pause after a failure; it doubles", ge=0, le=86_400)


class Summarization(Section):
    """Summaries: strategy and size."""

    strategy: Literal["simple", "hierarchical", "map_reduce", "extractive"] = setting(
        "hierarchical", "Strategy with a language model; without one summaries are extractive"
    )
    target_tokens: int = setting(2_000, "Size of a summary without a target", ge=0, le=1_000_000)


class Reflection(Section):
    """Reflection: window and limits."""

    min_facts: int = setting(3, "Least number of facts in the window", ge=1, le=1_000)
    window_days: float = setting(7.0, "Window of a reflection in days", gt=0, le=36_500)
    min_days_between: float = setting(6.0, "Least days between reflections", ge=0, le=36_500)
    most_memories: int = setting(200, "How many of the newest memories it reads", ge=1, le=1_000)


class Working(Section):
    """Working memory and waiting messages of this process."""

    waiting: int = setting(1_000, "Messages that may wait for the database", ge=0, le=1_000_000)
    sessions: int = setting(1_000, "How many sessions working memory has", ge=1, le=1_000_000)
    most_bytes: int = setting(500_000_000, "Largest size of working memory, as estimated", ge=1)
    ttl_s: float = setting(1_800.0, "How long working memory has a session that is not used", gt=0)
    tenant_share: float = setting(
        0.5, "Share of one tenant, beyond which its own sessions make room for others", gt=0, le=1
    )
    flush_tokens: int = setting(32_000, "Size above which a session's oldest messages become episodes", ge=0)


class Redis(Section):
    """Redis cache of the newest turns of sessions."""

    url: Secret | None = setting(None, "Address of a Redis, redis://...; never shown")
    prefix: str = setting("engrain", "Prefix of the keys in Redis", min_length=1)
    ttl_s: float = setting(86_400.0, "How long Redis has a session without new messages", gt=0)
    timeout_s: float = setting(0.25, "How long a call waits for Redis", gt=0, le=60)


class Hooks(Section):
    """Hooks of coding assistants: whether they do anything, and how much context they give."""

    enabled: bool = setting(True, "Whether `engrain hook` stores turns and gives context")
    start_tokens: int = setting(800, "Budget of the context at the start of a session; 0 for none", ge=0, le=100_000)
    prompt_tokens: int = setting(400, "Budget of the context of each prompt; 0 for none", ge=0, le=100_000)


class Batching(Section):
    """Batches of messages that need not be durable when the call returns."""

    size: int = setting(100, "How many waiting messages are written at once", ge=1, le=10_000)
    seconds: float = setting(0.0, "How long a message may wait; 0 to write each at once", ge=0, le=3_600)


class Settings(Section):
    """All settings. `engrain.config.load` reads them from the caller, then `ENGRAIN_*`, then one TOML file."""

    db: str = setting(lambda: str(default_location()), "Path of a file, postgresql://..., or https://... of a server")
    tenant: str = setting("default", "Tenant of callers without one")
    agent: str = setting("assistant", "Agent of the command line")
    user: str | None = setting(None, "End user that it acts for; None for memories of no user")
    key: Secret | None = setting(None, "Access key of the server that db names; never shown")
    defaults: Literal["engrain", "butler", "layered"] = setting("engrain", "Whose defaults apply")
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
