// Written by tools/generate_typescript.py; do not edit.

import type { CallOptions, Download, Operation, Paged } from "./connection.js";

/** An access key without its secret, which nobody can read again. */
export interface AccessKey {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  agent: string | null;
  user_id: string | null;
  role: "reader" | "writer" | "admin";
  name: string | null;
  /** When it was made. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

/** The result of adding messages. */
export interface AddedMessages {
  episodes: Array<Episode>;
  learning: "done" | "waiting" | "background" | "later" | "no_model";
  learned: Array<Fact | Rule>;
  run_ids: Array<string>;
  failures: Array<Degraded>;
}

/** Identity of a request with the role of its key, and the agent and the user it is bound to. */
export interface AdmittedCaller {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  user: string | null;
  is_user_bound: boolean;
  may_publish: boolean;
  session: string | null;
  /** The id of the request that it was made for. */
  request_id: string | null;
  pools: Array<string>;
  key_role: "reader" | "writer" | "admin";
  key_agent: string | null;
  key_user: string | null;
}

/** Counts of the live memories that one agent stored, whatever their scope. */
export interface AgentCounts {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  episodes: number;
  facts: number;
  rules: number;
}

/** Hits of one recall, best first, and the parts that the search lacked. */
export interface Answer {
  query: string;
  /** The name of the ranking. */
  preset: string;
  hits: Array<Hit>;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
  /** deep: a re-ranker has put them in order. */
  mode: "fast" | "deep";
  /** Number of memories that were ranked. */
  candidates: number;
  /** Whether the answer is there: none, weak or strong; null if that cannot be told. */
  evidence: "none" | "weak" | "strong" | null;
  /** The probability behind `evidence`. */
  evidence_score: number | null;
  /** With `explain`: the best 50 candidates that are no hits. */
  dropped: Array<DroppedCandidate>;
  /** The times that were given in words, as they were understood. */
  times: Record<string, string>;
}

/** One use of a rule, with its outcome. */
export interface Application {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  rule_id: string;
  agent: string;
  outcome: "helpful" | "harmful";
  context: string | null;
  /** When it was made. */
  created_at: string;
}

/** Result of an audit with a page of its findings, by kind, then severity and ids. */
export interface Audit {
  at: string;
  memories: number;
  is_complete: boolean;
  counts: Record<string, number>;
  findings: Array<Finding>;
}

/** A record that an import skipped: its position, and the reason. */
export interface Broken {
  position: string;
  reason: string;
}

/** A message of a chat. */
export interface ChatMessageInput {
  /** Role of whoever speaks. */
  role?: "user" | "assistant" | "tool" | "system" | null;
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Name of whoever said it. */
  speaker?: string | null;
  /** Name of the speaker, as chat APIs have it. */
  name?: string | null;
  /** Time it happened, ISO 8601 or words; now if left out. */
  event_time?: string | null;
}

/** Counts of a cleanup: what it removed, or in a dry run would, and episodes that remain. */
export interface CleanupReport {
  tenants: number;
  expired_deleted: number;
  capacity_deleted: number;
  remaining: number;
  facts_deleted: number;
  rules_deleted: number;
  items_deleted: number;
  events_deleted: number;
  unverified_logs: number;
  dry_run: boolean;
}

/** Changes learned from episodes, rejected proposals with reasons, failures, and the cost. */
export interface ConsolidationReport {
  dry_run: boolean;
  groups: Array<Group>;
  waiting: Array<WaitingBacklog>;
  batches: number;
  episodes: number;
  learned: Array<Learned>;
  rejected: Array<Rejection>;
  parse_errors: Array<string>;
  failures: Array<Failure>;
  run_ids: Array<string>;
  usage: Usage;
}

/** A Markdown text of at most `budget_tokens`, and the memories it is made of, in the order they stand in it. */
export interface ContextBlock {
  text: string;
  tokens: number;
  /** The most tokens that it could have. */
  budget_tokens: number;
  sections: Array<ContextSection>;
  memories: Array<Memory>;
  /** Ids of the memories of which only a part stands in it. */
  clipped: Array<string>;
  /** Number of memories that were found and did not fit. */
  left_out: number;
  /** Whether the search behind it found an answer: none, weak or strong. */
  evidence: "none" | "weak" | "strong" | null;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
  /** The id of the request that it was made for. */
  request_id: string | null;
  /** The times that were given in words, as they were understood. */
  times: Record<string, string>;
}

/** Messages for a chat API (`role` and `content`), and what they are made of. */
export interface ContextMessages {
  messages: Array<Record<string, string>>;
  tokens: number;
  budget: WindowBudget;
  block: ContextBlock;
  turns: Array<string>;
  summarized: Array<string>;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** One section as it stands: its heading, a line for each memory, and their ids in the same order. */
export interface ContextSection {
  name: "profile" | "facts" | "rules" | "recent" | "said" | "reflection";
  heading: string;
  lines: Array<string>;
  ids: Array<string>;
}

/** Contribution of one channel to a score: `value`, from `raw` (the channel's own number) and `weight`. */
export interface Contribution {
  /** The part of the ranking that it comes from. */
  channel: string;
  /** The place in the list of the channel, from 1; null where it has no order. */
  rank: number | null;
  /** The channel's own number. */
  raw: number;
  /** What the raw number counts. */
  weight: number;
  /** The share of the score. */
  value: number;
}

/** A new key with its secret, which is here and nowhere else: store it now or create another key. */
export interface CreatedKey {
  secret: string;
  key: AccessKey;
}

/** Counts of one day (of UTC, as 2026-11-21): memories stored, by kind, and changes of others. */
export interface Day {
  day: string;
  episodes: number;
  facts: number;
  rules: number;
  consolidated: number;
  superseded: number;
  expired: number;
  forgotten: number;
}

/** Counts of a sweep: the facts, or rules, it looked at, and those that fade, fade no longer, or expired. */
export interface DecayCounts {
  looked_at: number;
  fading: number;
  recovered: number;
  expired: number;
}

/** Report of a sweep; in a dry run, of what it would have done. */
export interface DecayReport {
  tenants: number;
  facts: DecayCounts;
  rules: DecayCounts;
  dry_run: boolean;
}

/** One part that an answer had to do without, and why. */
export interface Degraded {
  code: string;
  message: string;
  detail: string | null;
}

/** A memory that was derived from an erased one and may have its text: a copy, a summary, what was learned. */
export interface DerivedMemory {
  id: string;
  kind: "episode" | "fact" | "rule";
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  derived_from: string;
}

/** A candidate that did not become a hit, with the reason. */
export interface DroppedCandidate {
  id: string | null;
  score: number;
  reason: string;
  /** What the score is made of. */
  why: Explanation;
}

/** Result of an enrichment: a second, slower search of memories for names. */
export interface Enrichment {
  enriched: number;
  links: number;
  created: number;
  skipped: string | null;
}

/** A person or thing that facts are about, with one name and aliases: its tenant's, or one user's. */
export interface Entity {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  /** The user whose registry it is in; empty: the tenant's. */
  user_id: string;
  /** The name that it is listed by. */
  canonical_name: string;
  entity_type: "person" | "organization" | "place" | "project" | "email" | "url" | "other";
  /** Its other names. */
  aliases: Array<string>;
  /** How many memories name it. */
  mention_count: number;
  /** When it was made. */
  created_at: string;
  updated_at: string;
  /** The host's own JSON object, with entries of engrain's beside it. */
  metadata: Record<string, unknown>;
}

/** One entity that a name may mean. */
export interface EntityMatch {
  entity_id: string;
  /** The name that it is listed by. */
  canonical_name: string;
  entity_type: string;
  score: number;
  name_match: "exact" | "alias" | "prefix" | "fuzzy";
  /** Its other names. */
  aliases: Array<string>;
}

/** Result of a merge of two entities, or of its reversal, with the facts that the caller sees. */
export interface EntityMerge {
  source: Entity;
  target: Entity;
  facts_repointed: Array<string>;
  facts_superseded: Array<string>;
  aliases_added: Array<string>;
}

/** Observations of one entity. */
export interface EntityObservations {
  entity_name: string;
  contents: Array<string>;
}

/** Observations of one entity. */
export interface EntityObservationsInput {
  /** Entity name. */
  entity_name: string;
  /** Contents. */
  contents?: Array<string>;
}

/** Profile of an entity: everything about it that a caller sees. */
export interface EntityProfile {
  entity: Entity;
  facts: Record<string, Array<Fact>>;
  episodes: Array<Episode>;
  rules: Array<Rule>;
  related: Array<RelatedEntity>;
  first_seen_at: string | null;
  last_seen_at: string | null;
}

/** An entity with the number of facts about it, of those looked at. */
export interface EntityShare {
  entity: Entity;
  facts: number;
}

/** An episode: one turn of a conversation, or one event. Append-only. */
export interface Episode {
  kind: "episode";
  /** Who has said it: tool, assistant, import or user. */
  trust: "tool" | "assistant" | "import" | "user";
  id: string;
  /** Its tenant. */
  tenant_id: string;
  /** The agent that stored it. */
  agent: string;
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  /** The conversation that it is of. */
  session: string | null;
  /** Its place in the session by arrival, from 1. */
  turn: number;
  role: "user" | "assistant" | "tool" | "system";
  /** The name of whoever said it. */
  speaker: string | null;
  content: string;
  /** When it happened. */
  event_time: string;
  /** When it was made. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  /** From 0 to 10. */
  importance: number;
  tokens: number | null;
  model: string | null;
  tool_calls: Array<unknown>;
  /** How often searches and reads have given it. */
  reference_count: number;
  /** When one gave it last. */
  last_referenced_at: string | null;
  /** Whether facts and rules were learned from it. */
  consolidation_status: "pending" | "consolidated" | "failed" | "dead_letter";
  /** How often that was tried in vain. */
  consolidation_attempts: number;
  /** Why it failed last, in engrain's words. */
  last_consolidation_error: string | null;
  /** When it is tried again. */
  next_consolidation_retry_at: string | null;
  /** The tags that it is filed under. */
  tags: Array<string>;
  /** The host's own JSON object, with entries of engrain's beside it. */
  metadata: Record<string, unknown>;
}

/** Counts of live episodes, and of those that wait to be consolidated. */
export interface EpisodeStats {
  total: number;
  unconsolidated: number;
  given_up: number;
  backlog_age_hours: number | null;
  sessions: number;
  speakers: number;
  first_event_at: string | null;
  last_event_at: string | null;
}

/** The rows of one table that went, by id. */
export interface ErasedRows {
  table: string;
  rows: number;
  ids: Array<string>;
}

/** One memory that was erased; its tombstone and its event `memory_erased` say the same later. */
export interface Erasure {
  id: string;
  kind: "episode" | "fact" | "rule";
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  digest: string;
  erased_at: string;
  derived_from: string | null;
}

/** Report of an erasure: what went, and what is left that was derived from it. True if anything went. */
export interface ErasureReport {
  ids: Array<string>;
  erased: Array<Erasure>;
  waiting: Array<string>;
  derived: Array<DerivedMemory>;
}

/** Audit record of one change: actor, time, request and payload. Never changed itself. */
export interface Event {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  /** What was done. */
  event_type: string;
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  /** Who did it. */
  actor: string;
  /** The id of the request that it was made for. */
  request_id: string | null;
  /** The memory that it is about. */
  memory_id: string | null;
  /** The run of learning that it was part of. */
  run_id: string | null;
  /** What was changed. */
  payload: Record<string, unknown>;
  /** When it was made. */
  created_at: string;
}

/** Explanation of a score; the contributions add up to it exactly. */
export interface Explanation {
  /** The name of the ranking. */
  preset: string;
  /** A share of the score for each channel; they add up to it. */
  contributions: Array<Contribution>;
  /** Stems of the query among the memory's own words. */
  matched_terms: Array<string>;
  /** The contributions of the search itself, before a re-ranker. */
  fused: Array<Contribution>;
}

/** A fact that a session teaches. */
export interface ExtractedFactInput {
  /** Name of whom or what it is about. */
  subject: string;
  /** Relation of the subject to the content. */
  predicate: string;
  /** Content that is true of the subject and predicate. */
  content: string;
  /** Importance, 0 to 10; told from its words if left out. */
  importance?: number | null;
  /** Confidence in it, 0 to 1. */
  confidence?: number | null;
  /** How slowly it fades when nobody confirms it. */
  permanence?: "permanent" | "stable" | "standard" | "volatile" | "ephemeral" | null;
  /** True since then, ISO 8601 or words. */
  valid_from?: string | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** Ids of the episodes that say so. */
  source_ids?: Array<string> | null;
}

/** A fact: one statement of subject, predicate and content, with source and interval of validity. */
export interface Fact {
  kind: "fact";
  /** Its validity, with fading apart from active. */
  state: "active" | "fading" | "superseded" | "expired" | "retracted";
  /** The subject in the spelling by which slots are compared. */
  subject_key: string;
  /** The predicate, likewise. */
  predicate_key: string;
  /** Who has said it: tool, assistant, import or user. */
  trust: "tool" | "assistant" | "import" | "user";
  /** Whether only tools or assistants have said it, so that it waits for a confirmation. */
  pending: boolean;
  id: string;
  /** Its tenant. */
  tenant_id: string;
  /** The agent that stored it. */
  agent: string;
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  /** Whom or what it is about. */
  subject: string;
  /** The relation of the subject to the content. */
  predicate: string;
  /** The entity that the subject names, if the registry has it. */
  entity_id: string | null;
  content: string;
  category: string;
  /** Where it comes from, in the words of whoever stored it. */
  source: string | null;
  /** From 0 to 1, as stored: what it has lost since by decay is not taken off. */
  confidence: number;
  /** From 0 to 10. */
  importance: number;
  /** How slowly it decays. */
  permanence: "permanent" | "stable" | "standard" | "volatile" | "ephemeral";
  /** Its confidence falls by exp(-rate x days since it was confirmed). */
  decay_rate: number;
  /** Whether it is believed: active, superseded, retracted or expired. */
  validity: "active" | "superseded" | "expired" | "retracted";
  /** Since when it is true; null: since it was stored. */
  valid_from: string | null;
  /** Until when it is true; null: it has no end. */
  valid_to: string | null;
  /** When it was made. */
  created_at: string;
  /** When it ceased to be believed: superseded, expired, retracted or forgotten. */
  invalidated_at: string | null;
  /** The fact whose place it took. */
  supersedes_id: string | null;
  /** The episode that it was learned from. */
  source_episode_id: string | null;
  /** When it was last stored or confirmed; its decay counts from then. */
  last_confirmed_at: string | null;
  /** How often searches and reads have given it. */
  reference_count: number;
  /** When one gave it last. */
  last_referenced_at: string | null;
  /** The tags that it is filed under. */
  tags: Array<string>;
  /** The host's own JSON object, with entries of engrain's beside it. */
  metadata: Record<string, unknown>;
}

/** An episode, a fact or a rule; `kind` says which. */
export type FactOrRule = Fact | Rule;

/** Counts of facts by state; an active fact that is fading counts as fading only. */
export interface FactStats {
  active: number;
  fading: number;
  superseded: number;
  expired: number;
  retracted: number;
}

/** A batch, or one action of it, that was not done. `code` is the error's; `run_id` None: no run had begun. */
export interface Failure {
  code: string;
  message: string;
  detail: string | null;
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  /** The run of learning that it was part of. */
  run_id: string | null;
  episodes: number;
}

/** One probable problem. Nothing was changed; `command` would fix it. */
export interface Finding {
  kind: "secret" | "contradiction" | "duplicate" | "near_duplicate" | "echo" | "stale" | "orphaned" | "never_recalled";
  severity: "high" | "medium" | "low";
  ids: Array<string>;
  says: string;
  evidence: Record<string, unknown>;
  command: string;
}

/** A node: an entity of any type with its observations, the oldest first. */
export interface GraphEntity {
  name: string;
  entity_type: string;
  observations: Array<string>;
}

/** A node: an entity of any type with its observations, the oldest first. */
export interface GraphEntityInput {
  /** Name. */
  name: string;
  /** Entity type. */
  entity_type: string;
  /** Observations. */
  observations?: Array<string>;
}

/** A directed relation between two entities, by their names, in active voice: `source` `relation_type` `target`. */
export interface GraphRelation {
  source: string;
  relation_type: string;
  target: string;
}

/** A directed relation between two entities, by their names, in active voice: `source` `relation_type` `target`. */
export interface GraphRelationInput {
  /** Source. */
  source: string;
  /** Relation type. */
  relation_type: string;
  /** Target. */
  target: string;
}

/** The number of an agent's episodes that were due when the consolidation began. */
export interface Group {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  user: string | null;
  episodes: number;
  sessions: number;
  leased_until: string | null;
}

/** Result of a routed input: what was stored, answered, forgotten or suggested, or the size of working memory. */
export interface HandledInput {
  routing: Routing;
  kept: Episode | Fact | Rule | Note | null;
  answer: Answer | null;
  working: WorkingStats | null;
  suggestion: Suggestion | null;
  forgotten: Array<Memory>;
}

/** A memory that a search returned, with its score and explanation. */
export interface Hit {
  /** The sum of the contributions in `why`; comparable within one answer alone. */
  score: number;
  memory: Memory;
  /** What the score is made of. */
  why: Explanation;
  /** The turns around an episode, in order, where they were asked for. */
  neighbours: Array<Memory>;
  /** The near-identical turns that it stands for; null: no other turn says the same. */
  repeats: Repeats | null;
}

/** Report of an import: `added` memories, `present` and `erased` ones that stay so, and `broken` records. */
export interface ImportReport {
  path: string;
  format: string;
  sessions: number;
  added: number;
  present: number;
  erased: number;
  kinds: Record<string, number>;
  users: Record<string, number>;
  entities: number;
  broken: Array<Broken>;
  broken_count: number;
  ignored_keys: Array<string>;
  other_agents: Record<string, number>;
}

/** A namespace, and how many items are in it, and in those below where it was cut. */
export interface ItemNamespace {
  namespace: Array<string>;
  items: number;
}

/** One job. While it runs, it belongs to `worker` in attempt number `attempts`, until its lease is over. */
export interface Job {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  name: "enrichment" | "consolidation" | "decay" | "reflection" | "cleanup" | "compaction" | "backup";
  dedupe_key: string | null;
  status: "waiting" | "running" | "done" | "dead_letter" | "skipped";
  run_at: string;
  attempts: number;
  lease_until: string | null;
  worker: string | null;
  report: Record<string, unknown>;
  last_error: string | null;
  /** When it was made. */
  created_at: string;
  finished_at: string | null;
}

/** A change of a run that an undo kept, with the reason. */
export interface KeptItem {
  memory_id: string;
  reason: string;
}

/** Entities and relations, both the oldest first. */
export interface KnowledgeGraph {
  entities: Array<GraphEntity>;
  relations: Array<GraphRelation>;
}

/** One change that was written: the memory that was stored or confirmed. */
export interface Learned {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  kind: "new_fact" | "updated_fact" | "new_rule" | "confirmation";
  memory_id: string;
}

/** A directed link between two memories: the source is derived from, supports, ... the target. */
export interface Link {
  source_id: string;
  target_id: string;
  relation: "derived_from" | "supports" | "contradicts" | "supersedes" | "related_to";
  /** From 0 to 1. */
  weight: number;
  /** When it was made. */
  created_at: string;
}

/** Result of an append. */
export interface LogAppend {
  log: string;
  session: string;
  subkey: string;
  added: number;
  skipped: number;
  entries: number;
  episode_ids: Array<string>;
}

/** An entry of a log: its number in the session, from 1 and never used again, and its JSON as it was given. */
export interface LogEntry {
  sequence: number;
  entry: Record<string, unknown>;
  /** When it was made. */
  created_at: string;
}

/** A session of a log: the number of its entries without those of subkeys, and when it was last written. */
export interface LogSession {
  log: string;
  session: string;
  entries: number;
  /** When it was made. */
  created_at: string;
  updated_at: string;
}

/** An episode, a fact or a rule; `kind` says which. */
export type Memory = Episode | Fact | Rule;

/** Receipt of one message: stored (`is_stored`), or queued in this process until the next call that works. */
export interface MessageReceipt {
  episode: Episode;
  is_stored: boolean;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** A write of one item among several; without a value it is deleted. */
export interface NewItemInput {
  /** Key of the item, exact. */
  key: string;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
  /** JSON object, which comes back as it is. */
  value?: Record<string, unknown> | null;
  /** Fields that a search with a query reads: title, author.name, tags[*], `$` for the whole value; none if left out. */
  index?: Array<string> | null;
  /** Seconds until it expires; never if left out. */
  ttl_s?: number | null;
  /** Version that it must have, 0 for no item at all; any if left out. */
  expected_version?: number | null;
  /** Keep the version that is overwritten. */
  keep_history?: boolean | null;
}

/** One version of a note; `archived` if a later one, or a summary, has superseded it. */
export interface Note {
  id: string;
  key: string;
  content: string;
  category: string;
  category_confidence: number | null;
  /** When it was made. */
  created_at: string;
  updated_at: string;
  archived: boolean;
}

/** Notes of one search, best first; `degraded` has a sentence for each missing part. */
export interface NoteAnswer {
  query: string;
  mode: "fast" | "deep";
  hits: Array<NoteHit>;
  total_candidates: number;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** Statistics of one agent's part of the note cache, since its Memory was opened. */
export interface NoteCacheStats {
  size: number;
  hits: number;
  misses: number;
}

/** A note that a search returned, and the search that ranked it. */
export interface NoteHit {
  note: Note;
  score: number;
  source: "fts5" | "tfidf" | "combined" | "llm";
}

/** A note that shares words with another; `score` is the Jaccard similarity, or the weight of an explicit link. */
export interface NoteRelation {
  note: Note;
  score: number;
}

/** Overview of an agent's memory at one moment. */
export interface Overview {
  at: string;
  stats: Stats;
  days: Array<Day>;
  days_since: string | null;
  newest_episodes: Array<Episode>;
  newest_facts: Array<Fact>;
  newest_rules: Array<Rule>;
  most_referenced: Array<Memory>;
  entities: Array<EntityShare>;
  looked_at: Record<string, number>;
  content_bytes: Record<string, number>;
  runs: Array<Run>;
  waiting_sessions: Array<PendingSession>;
}

/** A session with episodes that wait to be consolidated, and the time it was first seen. */
export interface PendingSession {
  session: string;
  first_seen_at: string;
  episodes: number;
}

/** A pool as its members see it. */
export interface Pool {
  name: string;
  /** Its tenant. */
  tenant_id: string;
  members: Array<string>;
  /** When it was made. */
  created_at: string;
  /** The host's own JSON object, with entries of engrain's beside it. */
  metadata: Record<string, unknown>;
}

/** Result of a copy from a pool: new copies, and slots with a different fact of the agent's own. */
export interface PoolSync {
  pool: string;
  copied: Array<string>;
  unchanged: number;
  kept: Array<string>;
}

/** The newest turns of a session, oldest first. */
export interface RecentTurns {
  episodes: Array<Episode>;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** The outcome of one agent's reflection; `said` is a sentence about it, `failure` why it failed. */
export interface ReflectionOutcome {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  outcome: "reflected" | "due" | "too_soon" | "too_few" | "running" | "failed";
  said: string;
  failure: Degraded | null;
  facts: number;
  memories: number;
  reflection: Fact | null;
  method: string | null;
  /** The run of learning that it was part of. */
  run_id: string | null;
  usage: Usage;
}

/** The outcomes of a call, an agent after the other. */
export interface ReflectionReport {
  dry_run: boolean;
  agents: Array<ReflectionOutcome>;
}

/** A rejected proposal of a model: `reason` is a code, `said` a sentence for people. */
export interface Rejection {
  kind: "new_fact" | "updated_fact" | "new_rule" | "confirmation";
  reason: string;
  said: string;
}

/** An entity that the same memories mention. */
export interface RelatedEntity {
  entity_id: string;
  /** The name that it is listed by. */
  canonical_name: string;
  entity_type: string;
  memories: number;
}

/** The near-identical turns that one hit stands for: their number with it, and when they were said. */
export interface Repeats {
  count: number;
  first_at: string;
  last_at: string;
  times: Array<string>;
}

/** Report of a restore or of its dry run; `added` counts rows by table, the rest counts memories. */
export interface RestoreReport {
  path: string;
  sha256: string;
  /** Its tenant. */
  tenant_id: string | null;
  agent: string | null;
  user: string | null;
  added: Record<string, number>;
  present: number;
  erased: number;
  superseded: number;
  cleared: number;
  vectors: string;
  dry_run: boolean;
}

/** A memory that an undo restored; `what` is the type of the event that it wrote. */
export interface RestoredItem {
  memory_id: string;
  kind: "episode" | "fact" | "rule";
  what: string;
}

/** Route of an input, with reasons: store `content` as an episode, fact, rule, note or message, or recall it. */
export interface Routing {
  route: "episode" | "fact" | "rule" | "note" | "recall" | "past" | "forget" | "working";
  content: string;
  reasons: Array<string>;
  subject: string | null;
  predicate: string | null;
  key: string | null;
  topic: string | null;
  of_everything: boolean;
  speaker_alone: boolean;
  is_part: boolean;
}

/** A rule: guidance learned from outcomes. Harmful evidence weighs more than helpful. */
export interface Rule {
  kind: "rule";
  /** Who has said it: tool, assistant, import or user. */
  trust: "tool" | "assistant" | "import" | "user";
  id: string;
  /** Its tenant. */
  tenant_id: string;
  /** The agent that stored it. */
  agent: string;
  /** Where it is visible: global, an agent, pool:NAME, or those of a user, user:NAME/AGENT. */
  scope: string;
  content: string;
  /** How its outcomes have proved it. */
  maturity: "candidate" | "established" | "proven" | "anti_pattern";
  /** From 0 to 1, as stored: what it has lost since by decay is not taken off. */
  confidence: number;
  /** How slowly it decays. */
  permanence: "permanent" | "stable" | "standard" | "volatile" | "ephemeral";
  /** Its confidence falls by exp(-rate x days since it was confirmed). */
  decay_rate: number;
  /** The share of helps among its outcomes, from 0 to 1; a harm weighs as much as four helps. */
  effectiveness_score: number;
  /** Number of outcomes. */
  applied_count: number;
  /** Number of times that it helped. */
  success_count: number;
  /** Number of times that it did harm. */
  harmful_count: number;
  /** The episode that it was learned from. */
  source_episode_id: string | null;
  /** When it was made. */
  created_at: string;
  /** When it ceased to be believed: superseded, expired, retracted or forgotten. */
  invalidated_at: string | null;
  last_applied_at: string | null;
  last_evaluated_at: string | null;
  /** When it was last stored or confirmed; its decay counts from then. */
  last_confirmed_at: string | null;
  /** How often searches and reads have given it. */
  reference_count: number;
  /** When one gave it last. */
  last_referenced_at: string | null;
  /** The tags that it is filed under. */
  tags: Array<string>;
  /** The host's own JSON object, with entries of engrain's beside it. */
  metadata: Record<string, unknown>;
}

/** Counts of rules by maturity; a forgotten rule counts as forgotten only. */
export interface RuleStats {
  candidate: number;
  established: number;
  proven: number;
  anti_pattern: number;
  forgotten: number;
}

/** One run of one kind for one agent, and one user that it acts for. */
export interface Run {
  id: string;
  /** Its tenant. */
  tenant_id: string;
  user_id: string;
  kind: "consolidation" | "reflection" | "summary";
  agent: string;
  status: "running" | "done" | "failed" | "abandoned" | "undone";
  worker: string;
  lease_until: string;
  started_at: string;
  finished_at: string | null;
  model: string | null;
  prompt_version: string | null;
  episode_ids: Array<string>;
  report: Record<string, unknown>;
  error: string | null;
}

/** The outcome of a batch: new facts, ids of known ones that say the same, and the number of exact repeats. */
export interface SavedFacts {
  saved: Array<Fact>;
  confirmed: Array<string>;
  repeated: number;
}

/** Outcome of sealing: how many events and seals, and the hash of the last seal, to be kept elsewhere. */
export interface SealReport {
  events: number;
  seals: number;
  head: string | null;
}

/** Answer at the end of a session: `pending` episodes wait to be consolidated, as far as they could be counted. */
export interface SessionEnd {
  session: string;
  pending: number;
  is_handed_over: boolean;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** Statistics of all memories that an agent sees. */
export interface Stats {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  episodes: EpisodeStats;
  facts: FactStats;
  rules: RuleStats;
  pending_embeddings: number;
}

/** An item: its value as it was given, and its version, which grows with every write. */
export interface StoredItem {
  namespace: Array<string>;
  key: string;
  value: Record<string, unknown>;
  version: number;
  /** When it was made. */
  created_at: string;
  updated_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  score: number | null;
}

/** Act that the words of a user ask for, for the host to confirm: nothing was done. */
export interface Suggestion {
  verb: "forget" | "remember";
  calls: Array<Record<string, unknown>>;
  memories: Array<Memory>;
}

/** A summary with its strategy and sources. */
export interface Summary {
  text: string;
  strategy: "simple" | "hierarchical" | "extractive" | "map_reduce";
  source_ids: Array<string>;
  tokens: number;
  target_tokens: number;
  source_tokens: number;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
  usage: Usage;
  model: string | null;
  prompt_version: string | null;
  memory_id: string | null;
  /** The run of learning that it was part of. */
  run_id: string | null;
}

/** Proof of the erasure of a tenant or of one of its agents, or in a dry run the plan of one. */
export interface TenantErasure {
  /** Its tenant. */
  tenant_id: string;
  agent: string | null;
  erased_at: string;
  rows: Record<string, number>;
  copies: Array<string>;
  sha256: string;
  dry_run: boolean;
}

/** Result of the undo of a run. */
export interface UndoResult {
  run: Run;
  restored: Array<RestoredItem>;
  kept: Array<KeptItem>;
}

/** Usage of a model as the provider reports it: tokens, and US dollars where prices are known. */
export interface Usage {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unpriced_calls: number;
}

/** Counts of the live memories of one end user, whichever agents stored them. */
export interface UserCounts {
  /** Its tenant. */
  tenant_id: string;
  user_id: string;
  episodes: number;
  facts: number;
  rules: number;
}

/** Proof of the erasure of a user, or in a dry run the plan of one. */
export interface UserErasure {
  /** Its tenant. */
  tenant_id: string;
  user_id: string;
  erased_at: string;
  tables: Array<ErasedRows>;
  copies: Array<string>;
  sha256: string;
  dry_run: boolean;
}

/** Outcome of a verification of the sealed events. */
export interface Verification {
  sealed: number;
  erased: number;
  unsealed: number;
  late: number;
  head: string | null;
  removed: number;
  broken: string | null;
  reason: "changed" | "missing" | "seal_changed" | "seal_missing" | "other_key" | "head_missing" | null;
}

/** An agent's episodes, of one user or of none, that wait for another attempt after a failure. */
export interface WaitingBacklog {
  /** Its tenant. */
  tenant_id: string;
  agent: string;
  user: string | null;
  episodes: number;
  retry_at: string;
  reason: string;
}

/** A window in tokens: what a system prompt should keep to, and what tools, memories and the answer get. */
export interface WindowBudget {
  window: number;
  system: number;
  tools: number;
  memory: number;
  output: number;
}

/** Size of one agent's working memory of one session, in this process. */
export interface WorkingStats {
  messages: number;
  tokens: number;
  tool_results: number;
  scratchpad_characters: number;
  estimated_bytes: number;
  /** What the answer had to do without; empty: nothing. */
  degraded: Array<Degraded>;
}

/** Result of a write: the version that the item has now, 0 where it was deleted, and whether there was one. */
export interface WrittenItem {
  namespace: Array<string>;
  key: string;
  version: number;
  existed: boolean;
  /** When it expires; null: never. */
  expires_at: string | null;
}

/** Arguments of `observe`. */
export interface ObserveArguments {
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Role of whoever speaks. `"user"` if left out. */
  role?: "user" | "assistant" | "tool" | "system";
  /** Name of whoever said it. */
  speaker?: string | null;
  /** Name of the conversation; else the current one. */
  session?: string | null;
  /** Time it happened, ISO 8601 or words; now if left out. */
  event_time?: string | null;
  /** Importance, 0 to 10; told from its words if left out. */
  importance?: number | null;
  /** Days until it expires; else the setting `episodes.ttl_days`. */
  ttl_days?: number | null;
  /** Number of tokens it took. */
  tokens?: number | null;
  /** Name of the model that wrote it. */
  model?: string | null;
  /** Tool calls of the turn, as JSON values. */
  tool_calls?: Array<unknown> | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}

/** Arguments of `add`. */
export interface AddArguments {
  /** Messages of the chat, in their order. */
  messages: Array<ChatMessageInput>;
  /** Learn from them now, in the background, or later (when `consolidate` runs). `"now"` if left out. */
  learn?: "now" | "background" | "later";
  /** Name of the conversation; else the current one. */
  session?: string | null;
  /** Time it happened, ISO 8601 or words; now if left out. */
  event_time?: string | null;
  /** Days until it expires; else the setting `episodes.ttl_days`. */
  ttl_days?: number | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}

/** Arguments of `remember`. */
export interface RememberArguments {
  /** Content that is true of the subject and predicate. */
  content: string;
  /** Name of whom or what it is about; its agent or user if left out. */
  subject?: string | null;
  /** Relation of the subject to the content; if left out, the content stands for itself. */
  predicate?: string | null;
  /** Id of the entity that the subject names. */
  entity_id?: string | null;
  /** Scope: the agent's own if left out, user (all agents for its user), pool:NAME, or global (all). */
  scope?: string | null;
  /** True since then, ISO 8601 or words. */
  valid_from?: string | null;
  /** True until then, ISO 8601 or words. */
  valid_to?: string | null;
  /** Category of the fact; told from its words if left out. */
  category?: string | null;
  /** How slowly it fades when nobody confirms it. `"standard"` if left out. */
  permanence?: "permanent" | "stable" | "standard" | "volatile" | "ephemeral";
  /** Importance, 0 to 10; told from its words if left out. */
  importance?: number | null;
  /** Confidence in it, 0 to 1. `1.0` if left out. */
  confidence?: number;
  /** Where it comes from, in your words. */
  source?: string | null;
  /** Id of the episode it was learned from. */
  source_episode_id?: string | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}

/** Arguments of `list`. */
export interface ListArguments {
  /** Only memories of this kind. */
  kind?: "episode" | "fact" | "rule" | null;
  /** Also what is superseded, retracted, expired or forgotten. */
  include_inactive?: boolean;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `episodes`. */
export interface EpisodesArguments {
  /** Name of a conversation. */
  session?: string | null;
  /** Also what is superseded, retracted, expired or forgotten. */
  include_inactive?: boolean;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `facts`. */
export interface FactsArguments {
  /** Only facts about this subject. */
  subject?: string | null;
  /** Only facts with this predicate. */
  predicate?: string | null;
  /** What was believed then, ISO 8601 or words, not now. */
  as_of?: string | null;
  /** Facts that were true then, ISO 8601 or words, not now. */
  valid_at?: string | null;
  /** Only facts that wait for a confirmation. */
  pending?: boolean;
  /** Only memories of this trust level, or a higher one. */
  min_trust?: "tool" | "assistant" | "import" | "user" | null;
  /** Also what is superseded, retracted, expired or forgotten. */
  include_inactive?: boolean;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `get`. */
export interface GetArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
  /** What was believed then, ISO 8601 or words, not now. */
  as_of?: string | null;
  /** Count a reference to each memory of the answer. */
  count_references?: boolean;
}

/** Arguments of `history`. */
export interface HistoryArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
}

/** Arguments of `links`. */
export interface LinksArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
  /** Links where the memory is the source (outgoing), the target (incoming) or either (both). */
  direction?: "outgoing" | "incoming" | "both";
  /** Only links of this relation. */
  relation?: "derived_from" | "supports" | "contradicts" | "supersedes" | "related_to" | null;
}

/** Arguments of `correct`. */
export interface CorrectArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
  /** Content that is true of the subject and predicate. */
  content: string;
  /** True since then, ISO 8601 or words. */
  valid_from?: string | null;
  /** True until then, ISO 8601 or words. */
  valid_to?: string | null;
  /** Confidence in it, 0 to 1. `1.0` if left out. */
  confidence?: number;
  /** Where it comes from, in your words. */
  source?: string | null;
  /** Id of the episode it was learned from. */
  source_episode_id?: string | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
}

/** Arguments of `confirm`. */
export interface ConfirmArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
}

/** Arguments of `forget`. */
export interface ForgetArguments {
  /** Id of a memory, as a search gives it. */
  id: string;
}

/** Arguments of `erase`. */
export interface EraseArguments {
  /** Ids of memories. */
  ids: Array<string>;
  /** What was derived from it: none names it, seen erases what the agent sees of it, tenant all of it. `"none"` if left out. */
  cascade?: "none" | "seen" | "tenant";
}

/** Arguments of `link`. */
export interface LinkArguments {
  /** Id of the memory that bears on the other. */
  source_id: string;
  /** Id of the other memory. */
  target_id: string;
  /** Relation of the source to the target. */
  relation: "derived_from" | "supports" | "contradicts" | "supersedes" | "related_to";
  /** Strength of the link, 0 to 1. `1.0` if left out. */
  weight?: number;
}

/** Arguments of `events`. */
export interface EventsArguments {
  /** Of the memory of this id alone. */
  id?: string | null;
  /** Only events of this type, such as fact_created. */
  event_type?: string | null;
  /** Of the run of this id alone. */
  run_id?: string | null;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}


/** Arguments of `route`. */
export interface RouteArguments {
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Role of whoever speaks. `"user"` if left out. */
  role?: "user" | "assistant" | "tool" | "system";
  /** Name of whoever said it. */
  speaker?: string | null;
}

/** Arguments of `handle`. */
export interface HandleArguments {
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Role of whoever speaks. `"user"` if left out. */
  role?: "user" | "assistant" | "tool" | "system";
  /** Name of whoever said it. */
  speaker?: string | null;
}

/** Arguments of `recall`. */
export interface RecallArguments {
  /** Question or text to search for, in any words. */
  query: string;
  /** Most answers; the setting `retrieval.limit` if left out. */
  limit?: number | null;
  /** Name of the ranking; the setting `retrieval.preset` if left out. */
  preset?: string | null;
  /** Only memories of these kinds. */
  kinds?: Array<"episode" | "fact" | "rule"> | null;
  /** Only what is of this scope or of global; everything in sight if left out. */
  scope?: string | null;
  /** Only episodes of these conversations. */
  sessions?: Array<string> | null;
  /** No episodes of these conversations. */
  exclude_sessions?: Array<string> | null;
  /** Only turns of these roles. */
  roles?: Array<"user" | "assistant" | "tool" | "system"> | null;
  /** Only what these said, in any case of letters. */
  speakers?: Array<string> | null;
  /** Only facts about these. */
  subjects?: Array<string> | null;
  /** Only memories with all of these tags. */
  tags?: Array<string> | null;
  /** Not before this time, ISO 8601 or words. */
  since?: string | null;
  /** Before this time, ISO 8601 or words. */
  until?: string | null;
  /** What was believed then, ISO 8601 or words, not now. */
  as_of?: string | null;
  /** Facts that were true then, ISO 8601 or words, not now. */
  valid_at?: string | null;
  /** Also what is superseded, retracted, expired or forgotten. `false` if left out. */
  include_inactive?: boolean;
  /** Least confidence; else the preset's. */
  min_confidence?: number | null;
  /** Only memories of this trust level, or a higher one. */
  min_trust?: "tool" | "assistant" | "import" | "user" | null;
  /** Let the re-ranker put the best 50 in order. `false` if left out. */
  deep?: boolean;
  /** Number of turns before and after each episode to give with it. `0` if left out. */
  neighbours?: number;
  /** Tell also of candidates that are no hits, and why. `false` if left out. */
  explain?: boolean;
  /** Count a reference to each memory of the answer. `true` if left out. */
  count_references?: boolean;
}

/** Arguments of `context`. */
export interface ContextArguments {
  /** Prompt that the agent is about to answer. */
  query: string;
  /** Most tokens of the block; the setting if left out. */
  budget_tokens?: number | null;
  /** Token counter: characters, wordpiece or tiktoken:ENCODING; the setting if left out. */
  count_tokens?: string | null;
  /** Recipe of the block: engrain, butler or assistant; the setting if left out. */
  recipe?: string | null;
  /** Number of the newest episodes to show whatever the query; the setting if left out. */
  recent_episodes?: number | null;
  /** Number of the newest turns of the session to leave out: the model has them; the setting if left out. */
  session_turns?: number | null;
  /** Only memories with all of these tags. */
  tags?: Array<string> | null;
  /** Only memories of this trust level, or a higher one. */
  min_trust?: "tool" | "assistant" | "import" | "user" | null;
  /** What was believed then, ISO 8601 or words, not now. */
  as_of?: string | null;
  /** Facts that were true then, ISO 8601 or words, not now. */
  valid_at?: string | null;
  /** Also facts that hold no more, marked, behind those that do. `false` if left out. */
  include_superseded?: boolean;
  /** Show days and times. `true` if left out. */
  with_dates?: boolean;
  /** End each line with where it comes from. `false` if left out. */
  with_sources?: boolean;
  /** Count a reference to each memory of the answer. `true` if left out. */
  count_references?: boolean;
}

/** Arguments of `messages`. */
export interface MessagesArguments {
  /** Prompt that the agent is about to answer. */
  asked: string;
  /** System prompt of the chat. `""` if left out. */
  system?: string;
  /** Schemas of the tools, which are counted, or their number. `0` if left out. */
  tools?: Array<Record<string, unknown> | string> | number;
  /** Tokens of the model's window; the setting if left out. */
  window_tokens?: number | null;
  /** Token counter: characters, wordpiece or tiktoken:ENCODING; the setting if left out. */
  count_tokens?: string | null;
  /** Recipe of the block: engrain, butler or assistant; the setting if left out. */
  recipe?: string | null;
  /** Number of the newest episodes to show whatever the query; the setting if left out. */
  recent_episodes?: number | null;
  /** Only memories of this trust level, or a higher one. */
  min_trust?: "tool" | "assistant" | "import" | "user" | null;
}

/** Arguments of `summarize`. */
export interface SummarizeArguments {
  /** Summarize what a search for this finds. */
  query?: string | null;
  /** Summarize this conversation; the current one if nothing is named. */
  session?: string | null;
  /** Summarize the memories of these ids. */
  ids?: Array<string> | null;
  /** Strategy; the setting if left out. */
  strategy?: "simple" | "hierarchical" | "extractive" | "map_reduce" | null;
  /** Most tokens; the setting if left out. */
  target_tokens?: number | null;
  /** Store it as a fact, derived from its sources. `false` if left out. */
  store?: boolean;
}

/** Arguments of `stats`. */
export interface StatsArguments {
  /** Only what is of this scope or of global; everything in sight if left out. */
  scope?: string | null;
}

/** Arguments of `overview`. */
export interface OverviewArguments {
  /** Number of days to look back, today included. */
  days?: number;
  /** Most items of each list. */
  limit?: number;
}

/** Arguments of `audit`. */
export interface AuditArguments {
  /** Only findings of these kinds. */
  kinds?: Array<"secret" | "contradiction" | "duplicate" | "near_duplicate" | "echo" | "stale" | "orphaned" | "never_recalled"> | null;
  /** Most items of a page. */
  limit?: number;
  /** Number of findings of each kind to pass over. */
  skip?: number;
  /** Age in days from which an unused memory is a finding. */
  unused_days?: number;
}

/** Arguments of `rules.add`. */
export interface RulesAddArguments {
  /** Way to go about something. */
  content: string;
  /** Scope: the agent's own if left out, user (all agents for its user), pool:NAME, or global (all). */
  scope?: string | null;
  /** Id of the episode it was learned from. */
  source_episode_id?: string | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}

/** Arguments of `rules.mark_helpful`. */
export interface RulesMarkHelpfulArguments {
  /** Id of a rule. */
  id: string;
}

/** Arguments of `rules.mark_harmful`. */
export interface RulesMarkHarmfulArguments {
  /** Id of a rule. */
  id: string;
  /** Why it did harm. */
  reason?: string | null;
}

/** Arguments of `rules.applications`. */
export interface RulesApplicationsArguments {
  /** Id of a rule. */
  id: string;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `entities.create`. */
export interface EntitiesCreateArguments {
  /** Name of the entity. */
  name: string;
  /** Type of the entity. `"other"` if left out. */
  entity_type?: "person" | "organization" | "place" | "project" | "email" | "url" | "other";
  /** All its other names. */
  aliases?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
}

/** Arguments of `entities.find`. */
export interface EntitiesFindArguments {
  /** Only entities of this type. */
  entity_type?: "person" | "organization" | "place" | "project" | "email" | "url" | "other" | null;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
  /** Most items of a page. */
  limit?: number;
}

/** Arguments of `entities.profile`. */
export interface EntitiesProfileArguments {
  /** Id or name of an entity. */
  id_or_name: string;
}

/** Arguments of `entities.to_enrich`. */
export interface EntitiesToEnrichArguments {
  /** Only memories that mention at most so many entities. */
  most_entities?: number;
  /** Most items of a page. */
  limit?: number;
}

/** Arguments of `entities.get`. */
export interface EntitiesGetArguments {
  /** Id of an entity. */
  id: string;
}

/** Arguments of `entities.update`. */
export interface EntitiesUpdateArguments {
  /** Id of an entity. */
  id: string;
  /** Its name from now on. */
  name?: string | null;
  /** All its other names. */
  aliases?: Array<string> | null;
  /** JSON object, added key by key to its metadata. */
  metadata?: Record<string, unknown> | null;
}

/** Arguments of `entities.resolve`. */
export interface EntitiesResolveArguments {
  /** Name of the entity. */
  name: string;
  /** Only entities of this type. */
  entity_type?: "person" | "organization" | "place" | "project" | "email" | "url" | "other" | null;
  /** Hints: `topic`, `mentioned_with` (names), `domain_scores` (by entity id). */
  hints?: Record<string, unknown> | null;
  /** Also names that are merely alike. `false` if left out. */
  fuzzy?: boolean;
  /** Most answers; the setting `retrieval.limit` if left out. */
  limit?: number | null;
}

/** Arguments of `entities.merge`. */
export interface EntitiesMergeArguments {
  /** Id of the entity that becomes a tombstone. */
  source_id: string;
  /** Id of the entity that takes it in. */
  target_id: string;
}

/** Arguments of `entities.unmerge`. */
export interface EntitiesUnmergeArguments {
  /** Id of the entity that was merged. */
  source_id: string;
}

/** Arguments of `entities.enrich`. */
export interface EntitiesEnrichArguments {
  /** Ids of memories. */
  ids: Array<string>;
  /** accurate (the name finder, and spelling) or fast (spelling). `"accurate"` if left out. */
  strategy?: "accurate" | "fast";
  /** Names out of private memories may enter the registry of the tenant. `false` if left out. */
  publish?: boolean;
}

/** Arguments of `entities.enrich_waiting`. */
export interface EntitiesEnrichWaitingArguments {
  /** Only memories that mention at most so many entities. `2` if left out. */
  most_entities?: number;
  /** Most items of a page. `50` if left out. */
  limit?: number;
  /** Names out of private memories may enter the registry of the tenant. `false` if left out. */
  publish?: boolean;
}

/** Arguments of `graph.create_entities`. */
export interface GraphCreateEntitiesArguments {
  /** Entities to add, each once. */
  entities: Array<GraphEntityInput>;
}

/** Arguments of `graph.create_relations`. */
export interface GraphCreateRelationsArguments {
  /** Relations between entities, each once. */
  relations: Array<GraphRelationInput>;
}

/** Arguments of `graph.add_observations`. */
export interface GraphAddObservationsArguments {
  /** Observations, by entity. */
  observations: Array<EntityObservationsInput>;
}

/** Arguments of `graph.delete_entities`. */
export interface GraphDeleteEntitiesArguments {
  /** Names of entities. */
  names: Array<string>;
}

/** Arguments of `graph.delete_observations`. */
export interface GraphDeleteObservationsArguments {
  /** Observations, by entity. */
  observations: Array<EntityObservationsInput>;
}

/** Arguments of `graph.delete_relations`. */
export interface GraphDeleteRelationsArguments {
  /** Relations between entities, each once. */
  relations: Array<GraphRelationInput>;
}


/** Arguments of `graph.search`. */
export interface GraphSearchArguments {
  /** Part of a name, type or observation, in any case. */
  query: string;
}

/** Arguments of `graph.open`. */
export interface GraphOpenArguments {
  /** Names of entities. */
  names: Array<string>;
}

/** Arguments of `notes.save`. */
export interface NotesSaveArguments {
  /** Key of the note. */
  key: string;
  /** Text of the note. */
  content: string;
}

/** Arguments of `notes.recall`. */
export interface NotesRecallArguments {
  /** Key of the note. */
  key: string;
}

/** Arguments of `notes.list`. */
export interface NotesListArguments {
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `notes.list_by_category`. */
export interface NotesListByCategoryArguments {
  /** Only notes of this category. */
  category: string;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `notes.related`. */
export interface NotesRelatedArguments {
  /** Key or id of a note. */
  note: string;
  /** Most items of a page. */
  limit?: number;
}

/** Arguments of `notes.search`. */
export interface NotesSearchArguments {
  /** Question or text to search for, in any words. */
  query: string;
  /** fast, or deep: the re-ranker puts the best in order. `"fast"` if left out. */
  mode?: "fast" | "deep";
  /** Most answers; the setting `retrieval.limit` if left out. */
  limit?: number | null;
  /** Only notes of this category, unless that would leave none. */
  category?: string | null;
  /** Least score before age counts, 0 to 1. `0.0` if left out. */
  min_similarity?: number;
}

/** Arguments of `notes.forget`. */
export interface NotesForgetArguments {
  /** Key of the note. */
  key: string;
}

/** Arguments of `notes.summarize_old`. */
export interface NotesSummarizeOldArguments {
  /** Only notes that were not saved for so many days. `30` if left out. */
  older_than_days?: number;
}




/** Arguments of `log.append`. */
export interface LogAppendArguments {
  /** Entries to append, JSON objects, which come back as they are. */
  entries: Array<Record<string, unknown>>;
  /** Name of the session, exact; the current one if left out. */
  session?: string | null;
  /** Name of a log inside the session; empty for the main one. `""` if left out. */
  subkey?: string;
  /** Field that identifies an entry: one whose value the session has is skipped. */
  id_field?: string | null;
  /** Also remember the messages of users and assistants among them as episodes. `false` if left out. */
  remember?: boolean;
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
}

/** Arguments of `log.read`. */
export interface LogReadArguments {
  /** Name of the session, exact; the current one if left out. */
  session?: string | null;
  /** Name of a log inside the session; empty for the main one. */
  subkey?: string;
  /** Number of entries from the end; all if left out. */
  last?: number | null;
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
}

/** Arguments of `log.pop`. */
export interface LogPopArguments {
  /** Name of the session, exact; the current one if left out. */
  session?: string | null;
  /** Name of a log inside the session; empty for the main one. `""` if left out. */
  subkey?: string;
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
}

/** Arguments of `log.delete`. */
export interface LogDeleteArguments {
  /** Name of the session, exact; the current one if left out. */
  session?: string | null;
  /** Only this log inside the session; the whole session if left out. */
  subkey?: string | null;
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
}

/** Arguments of `log.sessions`. */
export interface LogSessionsArguments {
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `log.subkeys`. */
export interface LogSubkeysArguments {
  /** Name of the session, exact; the current one if left out. */
  session?: string | null;
  /** Name of the log, exact; `default` if left out. */
  log?: string | null;
}

/** Arguments of `store.put`. */
export interface StorePutArguments {
  /** Key of the item, exact. */
  key: string;
  /** JSON object, which comes back as it is. */
  value: Record<string, unknown>;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
  /** Fields that a search with a query reads: title, author.name, tags[*], `$` for the whole value; none if left out. */
  index?: Array<string> | null;
  /** Seconds until it expires; never if left out. */
  ttl_s?: number | null;
  /** Version that it must have, 0 for no item at all; any if left out. */
  expected_version?: number | null;
  /** Keep the version that is overwritten. `false` if left out. */
  keep_history?: boolean;
}

/** Arguments of `store.get`. */
export interface StoreGetArguments {
  /** Key of the item, exact. */
  key: string;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
  /** Begin the time to live of what is given anew. */
  refresh?: boolean;
}

/** Arguments of `store.delete`. */
export interface StoreDeleteArguments {
  /** Key of the item, exact. */
  key: string;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
  /** Version that it must have, 0 for no item at all; any if left out. */
  expected_version?: number | null;
}

/** Arguments of `store.write`. */
export interface StoreWriteArguments {
  /** Writes of items, each with its key; one without a value deletes. */
  changes: Array<NewItemInput>;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
}

/** Arguments of `store.search`. */
export interface StoreSearchArguments {
  /** Question or text; the items put with an index are ranked by it. */
  query?: string | null;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
  /** Conditions on fields of the value: a value, an object of conditions, or an object of $eq, $ne, $gt, $gte, $lt and $lte. */
  fields?: Record<string, unknown> | null;
  /** Most items of a page. `100` if left out. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
  /** Begin the time to live of what is given anew. `false` if left out. */
  refresh?: boolean;
}

/** Arguments of `store.namespaces`. */
export interface StoreNamespacesArguments {
  /** Labels that the namespace begins with; `*` is any label. */
  namespace?: Array<string> | null;
  /** Labels that the namespace ends with; `*` is any label. */
  suffix?: Array<string> | null;
  /** Only the first labels, so many; longer ones count there. */
  depth?: number | null;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `store.history`. */
export interface StoreHistoryArguments {
  /** Key of the item, exact. */
  key: string;
  /** Labels of the namespace, exact, from the top; the one without labels if left out. */
  namespace?: Array<string> | null;
}

/** Arguments of `pools.create`. */
export interface PoolsCreateArguments {
  /** Name of the pool. */
  name: string;
  /** Other agents of the tenant to let in. */
  members?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
}


/** Arguments of `pools.add`. */
export interface PoolsAddArguments {
  /** Name of the pool. */
  name: string;
  /** Name of an agent of the tenant. */
  member: string;
}

/** Arguments of `pools.remove`. */
export interface PoolsRemoveArguments {
  /** Name of the pool. */
  name: string;
  /** Name of an agent of the tenant. */
  member: string;
}

/** Arguments of `pools.delete`. */
export interface PoolsDeleteArguments {
  /** Name of the pool. */
  name: string;
}

/** Arguments of `pools.contribute`. */
export interface PoolsContributeArguments {
  /** Name of the pool. */
  name: string;
  /** Id of a memory, as a search gives it. */
  id: string;
}

/** Arguments of `pools.query`. */
export interface PoolsQueryArguments {
  /** Name of the pool. */
  name: string;
  /** Question or text to search for, in any words. */
  query: string;
  /** Most answers; the setting `retrieval.limit` if left out. */
  limit?: number | null;
  /** Name of the ranking; the setting `retrieval.preset` if left out. */
  preset?: string | null;
}

/** Arguments of `pools.sync_to_agent`. */
export interface PoolsSyncToAgentArguments {
  /** Name of the pool. */
  name: string;
}

/** Arguments of `working.append`. */
export interface WorkingAppendArguments {
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Role of whoever speaks. `"user"` if left out. */
  role?: "user" | "assistant" | "tool" | "system";
  /** Name of whoever said it. */
  speaker?: string | null;
  /** Time it happened, ISO 8601 or words; now if left out. */
  event_time?: string | null;
  /** Number of tokens it took. */
  tokens?: number | null;
  /** Tool calls of the turn, as JSON values. */
  tool_calls?: Array<unknown> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}


/** Arguments of `working.tool_result`. */
export interface WorkingToolResultArguments {
  /** Name of the tool. */
  name: string;
  /** Answer of the tool, any JSON value. */
  value: unknown;
}



/** Arguments of `working.write_scratchpad`. */
export interface WorkingWriteScratchpadArguments {
  /** Text of the scratchpad from now on. */
  text: string;
}




/** Arguments of `hooks.session_start`. */
export interface HooksSessionStartArguments {
  /** Prompt that the agent is about to answer. */
  prompt: string;
  /** Most tokens of the block; the setting if left out. */
  budget_tokens?: number | null;
}

/** Arguments of `hooks.message`. */
export interface HooksMessageArguments {
  /** Text to remember, at most 10 MB. */
  content: string;
  /** Role of whoever speaks. `"user"` if left out. */
  role?: "user" | "assistant" | "tool" | "system";
  /** Name of whoever said it. */
  speaker?: string | null;
  /** Time it happened, ISO 8601 or words; now if left out. */
  event_time?: string | null;
  /** Number of tokens it took. */
  tokens?: number | null;
  /** Name of the model that wrote it. */
  model?: string | null;
  /** Tool calls of the turn, as JSON values. */
  tool_calls?: Array<unknown> | null;
  /** Tags to file it under. */
  tags?: Array<string> | null;
  /** JSON object of your own. */
  metadata?: Record<string, unknown> | null;
  /** Durable when it returns; false: stored with others soon, as the settings `batching` say. `true` if left out. */
  durable?: boolean;
  /** Key of this write; a fresh one if left out. */
  idempotency_key?: string;
}

/** Arguments of `hooks.recent`. */
export interface HooksRecentArguments {
  /** Most items of a page. */
  limit?: number;
}


/** Arguments of `consolidation.is_session_consolidated`. */
export interface ConsolidationIsSessionConsolidatedArguments {
  /** Name of a conversation. */
  session: string;
}

/** Arguments of `consolidation.episodes`. */
export interface ConsolidationEpisodesArguments {
  /** Name of a conversation. */
  session: string;
  /** Number of the page, from 0. */
  page?: number;
  /** Most items of a page. */
  limit?: number;
}

/** Arguments of `consolidation.save_facts`. */
export interface ConsolidationSaveFactsArguments {
  /** Facts that the session teaches, each once. */
  facts: Array<ExtractedFactInput>;
  /** Scope: the agent's own if left out, user (all agents for its user), pool:NAME, or global (all). */
  scope?: string | null;
}

/** Arguments of `consolidation.detect_conflicts`. */
export interface ConsolidationDetectConflictsArguments {
  /** Id of a fact. */
  fact_id: string;
}

/** Arguments of `consolidation.resolve_conflict`. */
export interface ConsolidationResolveConflictArguments {
  /** Id of the fact that is doubted from now on. */
  old_id: string;
  /** Id of the fact that stands against it. */
  new_id: string;
}

/** Arguments of `consolidation.mark_session`. */
export interface ConsolidationMarkSessionArguments {
  /** Name of a conversation. */
  session: string;
}

/** Arguments of `decay`. */
export interface DecayArguments {
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
}

/** Arguments of `cleanup`. */
export interface CleanupArguments {
  /** Most episodes that may stay; the setting if left out. */
  max_entries?: number | null;
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
}

/** Arguments of `consolidate`. */
export interface ConsolidateArguments {
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Name of a conversation. */
  session?: string | null;
  /** Name of a conversation to leave for later. */
  exclude_session?: string | null;
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
  /** Also try what waits after a failure, at once. `false` if left out. */
  now?: boolean;
  /** Most batches for each agent. */
  max_batches?: number | null;
}

/** Arguments of `reflect`. */
export interface ReflectArguments {
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
  /** Pass over the days there should be between. `false` if left out. */
  force?: boolean;
}

/** Arguments of `agents`. */
export interface AgentsArguments {
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `users`. */
export interface UsersArguments {
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `export_user`. */
export interface ExportUserArguments {
  /** Name of the end user. */
  name: string;
  /** jsonl, which import reads back, or markdown. */
  format?: "jsonl" | "markdown";
}

/** Arguments of `erase_user`. */
export interface EraseUserArguments {
  /** Name of the end user. */
  name: string;
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
}

/** Arguments of `erase_tenant`. */
export interface EraseTenantArguments {
  /** Name of the tenant: the caller's own. */
  name: string;
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Only say what would be done; nothing is written. `false` if left out. */
  dry_run?: boolean;
}

/** Arguments of `seal_events`. */
export interface SealEventsArguments {
  /** Also events that are older than the last seal. `false` if left out. */
  late?: boolean;
}

/** Arguments of `verify_events`. */
export interface VerifyEventsArguments {
  /** Hash of a seal that was kept elsewhere. */
  head?: string | null;
}


/** Arguments of `runs`. */
export interface RunsArguments {
  /** Only runs of this kind. */
  kind?: "consolidation" | "reflection" | "summary" | null;
  /** Most items of a page. */
  limit?: number;
  /** Cursor: `next` of the page before; the first page if left out. */
  after?: string | null;
}

/** Arguments of `undo`. */
export interface UndoArguments {
  /** Id of a run. */
  run_id: string;
}

/** Arguments of `backup`. */
export interface BackupArguments {
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Only this user's; any user's if left out. */
  user?: string | null;
  /** Include the vectors; without them it is smaller, and a restore makes them anew. */
  vectors?: boolean;
}

/** Arguments of `restore`. */
export interface RestoreArguments {
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Remove the memories of the agent or tenant first. */
  replace?: boolean;
  /** Bring back also what was erased since. */
  with_erased?: boolean;
  /** Believe whoever made it: this installation need not have signed it. */
  untrusted?: boolean;
  /** Only say what would be done; nothing is written. */
  dry_run?: boolean;
  /** The file. One of the disk: `await fs.openAsBlob(path)`. */
  file: Blob;
}

/** Arguments of `export`. */
export interface ExportArguments {
  /** jsonl, which import reads back, or markdown. */
  format?: "jsonl" | "markdown";
  /** Only records of these kinds. */
  kinds?: Array<"entity" | "episode" | "fact" | "log" | "note" | "rule"> | null;
}

/** Arguments of `import_file`. */
export interface ImportFileArguments {
  /** Format of the file: auto, or its name. */
  format?: string;
  /** Stop at the first broken record. */
  strict?: boolean;
  /** Name of the file; its ending tells Markdown. */
  filename?: string;
  /** The file. One of the disk: `await fs.openAsBlob(path)`. */
  file: Blob;
}

/** Arguments of `keys.create`. */
export interface KeysCreateArguments {
  /** Role: reader reads, writer also writes memories, admin may do everything. */
  role: "reader" | "writer" | "admin";
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Only this user's; any user's if left out. */
  user?: string | null;
  /** Purpose of the key. */
  name?: string | null;
  /** Time until when it opens anything, ISO 8601 or words; for ever if left out. */
  expires_at?: string | null;
}

/** Arguments of `keys.rotate`. */
export interface KeysRotateArguments {
  /** Id of a key. */
  key_id: string;
  /** Days for which the old key opens beside the new one. `7.0` if left out. */
  overlap_days?: number;
}

/** Arguments of `keys.list`. */
export interface KeysListArguments {
  /** Only this agent's; all agents' if left out. */
  agent?: string | null;
  /** Only this user's; any user's if left out. */
  user?: string | null;
}

/** Arguments of `keys.revoke`. */
export interface KeysRevokeArguments {
  /** Id of a key. */
  key_id: string;
}

/** Arguments of `jobs.list`. */
export interface JobsListArguments {
  /** Only jobs of this name. */
  name?: "enrichment" | "consolidation" | "decay" | "reflection" | "cleanup" | "compaction" | "backup" | null;
  /** Only jobs of this status. */
  status?: "waiting" | "running" | "done" | "dead_letter" | "skipped" | null;
  /** Most items of a page. */
  limit?: number;
}

/** Arguments of `jobs.run`. */
export interface JobsRunArguments {
  /** Name of the job. */
  name: "enrichment" | "consolidation" | "decay" | "reflection" | "cleanup" | "compaction" | "backup";
  /** Leave it to a worker. `false` if left out. */
  enqueue?: boolean;
}

/** Arguments of `jobs.retry`. */
export interface JobsRetryArguments {
  /** Id of a job that is a dead letter. */
  job_id: string;
}

/** Verbs of `rules`. */
export interface RulesVerbs {
  /** Remember a rule: a candidate of confidence 0.5, until outcomes speak for or against it. */
  add(args: RulesAddArguments, options?: CallOptions): Promise<Rule>;
  /** Mark that following a rule helped; a rule that often helps is established, and in time proven. */
  markHelpful(args: RulesMarkHelpfulArguments, options?: CallOptions): Promise<Rule>;
  /** Mark that following a rule did harm, which weighs as much as four helps, and why. */
  markHarmful(args: RulesMarkHarmfulArguments, options?: CallOptions): Promise<Rule>;
  /** List the outcomes of a rule each time it was marked, newest first. */
  applications(args: RulesApplicationsArguments, options?: CallOptions): Paged<Application>;
}

/** Verbs of `entities`. */
export interface EntitiesVerbs {
  /** Add an entity to the registry under its canonical name. */
  create(args: EntitiesCreateArguments, options?: CallOptions): Promise<Entity>;
  /** List the entities of the registry by canonical name, then type, without tombstones. */
  find(args?: EntitiesFindArguments, options?: CallOptions): Paged<Entity>;
  /** Show an entity's facts with their history, episodes, rules and related entities. */
  profile(args: EntitiesProfileArguments, options?: CallOptions): Promise<EntityProfile>;
  /** List the ids of the newest episodes and facts that mention few entities and were never enriched. */
  toEnrich(args?: EntitiesToEnrichArguments, options?: CallOptions): Promise<Array<string>>;
  /** Read one entity by id; None where the tenant has none of that id. */
  get(args: EntitiesGetArguments, options?: CallOptions): Promise<Entity | null>;
  /** Rename an entity, replace its aliases, or add to its metadata. */
  update(args: EntitiesUpdateArguments, options?: CallOptions): Promise<Entity>;
  /** Rank the entities that a name may mean, the likeliest first; create none. */
  resolve(args: EntitiesResolveArguments, options?: CallOptions): Promise<Array<EntityMatch>>;
  /** Merge one entity into another: facts, mentions, aliases and metadata move to the target. */
  merge(args: EntitiesMergeArguments, options?: CallOptions): Promise<EntityMerge>;
  /** Undo the merge of an entity: its facts, mentions and aliases go back to it. */
  unmerge(args: EntitiesUnmergeArguments, options?: CallOptions): Promise<EntityMerge>;
  /** Read memories for the names in them, and link them to the entities they mention. */
  enrich(args: EntitiesEnrichArguments, options?: CallOptions): Promise<Enrichment>;
  /** Enrich the newest episodes and facts that `to_enrich` lists, with the name finder. */
  enrichWaiting(args?: EntitiesEnrichWaitingArguments, options?: CallOptions): Promise<Enrichment>;
}

/** Verbs of `graph`. */
export interface GraphVerbs {
  /** Add entities with their observations; give those whose name was new. */
  createEntities(args: GraphCreateEntitiesArguments, options?: CallOptions): Promise<Array<GraphEntity>>;
  /** Add relations between entities; give those that were new. Their ends need not be known. */
  createRelations(args: GraphCreateRelationsArguments, options?: CallOptions): Promise<Array<GraphRelation>>;
  /** Add observations to entities that are there; give the texts that were new. */
  addObservations(args: GraphAddObservationsArguments, options?: CallOptions): Promise<Array<EntityObservations>>;
  /** Forget entities with their observations and relations; give the names that were there. */
  deleteEntities(args: GraphDeleteEntitiesArguments, options?: CallOptions): Promise<Array<string>>;
  /** Forget observations of entities; give the number of facts that said them. */
  deleteObservations(args: GraphDeleteObservationsArguments, options?: CallOptions): Promise<number>;
  /** Forget relations between entities; give the number of facts that said them. */
  deleteRelations(args: GraphDeleteRelationsArguments, options?: CallOptions): Promise<number>;
  /** Read the whole graph, the oldest entities first. */
  read(args?: {}, options?: CallOptions): Promise<KnowledgeGraph>;
  /** Find the entities whose name, type or observations hold a text, with their relations. */
  search(args: GraphSearchArguments, options?: CallOptions): Promise<KnowledgeGraph>;
  /** Read the entities of exactly these names, with their relations. */
  open(args: GraphOpenArguments, options?: CallOptions): Promise<KnowledgeGraph>;
}

/** Verbs of `notes`. */
export interface NotesVerbs {
  /** Save a note under a key; it supersedes the one that was there (`Agent.history` keeps that). */
  save(args: NotesSaveArguments, options?: CallOptions): Promise<Note>;
  /** Read the note under a key; None where there is none. */
  recall(args: NotesRecallArguments, options?: CallOptions): Promise<Note | null>;
  /** List the notes, newest first. */
  list(args?: NotesListArguments, options?: CallOptions): Paged<Note>;
  /** List the notes of one category, newest first. */
  listByCategory(args: NotesListByCategoryArguments, options?: CallOptions): Paged<Note>;
  /** List the notes that share words with one, the most alike first, then the newest. */
  related(args: NotesRelatedArguments, options?: CallOptions): Promise<Array<NoteRelation>>;
  /** Find the best notes for a question by the ranking `notes`, with the channel of each hit. */
  search(args: NotesSearchArguments, options?: CallOptions): Promise<NoteAnswer>;
  /** Forget the note under a key: it leaves every search at once, and stays readable by its id. */
  forget(args: NotesForgetArguments, options?: CallOptions): Promise<Note>;
  /** Supersede groups of old notes by one summary each, without a model; give the number of notes. */
  summarizeOld(args?: NotesSummarizeOldArguments, options?: CallOptions): Promise<number>;
  /** Drop this agent's notes from the cache; give their number. */
  invalidate(args?: {}, options?: CallOptions): Promise<number>;
  /** Drop every agent's notes from the cache of this Memory. */
  clearCache(args?: {}, options?: CallOptions): Promise<void>;
  /** Count this agent's notes in the cache, and the hits and misses of its recalls. */
  cacheStats(args?: {}, options?: CallOptions): Promise<NoteCacheStats>;
}

/** Verbs of `log`. */
export interface LogVerbs {
  /** Append entries to a session in their order, all or none; a missing session begins with them. */
  append(args: LogAppendArguments, options?: CallOptions): Promise<LogAppend>;
  /** Read all entries of a session, or the last ones, oldest first; none where it was never written. */
  read(args?: LogReadArguments, options?: CallOptions): Promise<Array<LogEntry>>;
  /** Take the last entry off a session and give it; None where there is none. Episodes made of it stay. */
  pop(args?: LogPopArguments, options?: CallOptions): Promise<LogEntry | null>;
  /** Delete a session with all its subkeys, or one subkey alone; give the number of entries that went. */
  delete(args?: LogDeleteArguments, options?: CallOptions): Promise<number>;
  /** List the sessions of a log, last written first; those that have subkeys alone are left out. */
  sessions(args?: LogSessionsArguments, options?: CallOptions): Paged<LogSession>;
  /** List the subkeys of a session, sorted. */
  subkeys(args?: LogSubkeysArguments, options?: CallOptions): Promise<Array<string>>;
}

/** Verbs of `store`. */
export interface StoreVerbs {
  /** Put a JSON object under a key, in the place of the one that was there; its version grows. */
  put(args: StorePutArguments, options?: CallOptions): Promise<WrittenItem>;
  /** Read the item of a key; None where there is none. */
  get(args: StoreGetArguments, options?: CallOptions): Promise<StoredItem | null>;
  /** Delete the item of a key with its history; give whether there was one. A restored backup has it no more. */
  delete(args: StoreDeleteArguments, options?: CallOptions): Promise<boolean>;
  /** Put and delete items in their order, all or none, as `put` and `delete` do; one without a value is deleted. */
  write(args: StoreWriteArguments, options?: CallOptions): Promise<Array<WrittenItem>>;
  /** List the items of a namespace and of those below, last written first; with a query the best answers first. */
  search(args?: StoreSearchArguments, options?: CallOptions): Paged<StoredItem>;
  /** List the namespaces that have items, below one, by their labels; `*` is any label. */
  namespaces(args?: StoreNamespacesArguments, options?: CallOptions): Paged<ItemNamespace>;
  /** List the versions of an item that are there: the one it has, and those that `keep_history` kept. */
  history(args: StoreHistoryArguments, options?: CallOptions): Promise<Array<StoredItem>>;
}

/** Verbs of `pools`. */
export interface PoolsVerbs {
  /** Create a pool of this agent and other members; only they see its memories. */
  create(args: PoolsCreateArguments, options?: CallOptions): Promise<Pool>;
  /** List the pools that this agent is in, by name. */
  list(args?: {}, options?: CallOptions): Promise<Array<Pool>>;
  /** Add an agent of the tenant to a pool; it sees the whole pool at once. Twice is once. */
  add(args: PoolsAddArguments, options?: CallOptions): Promise<Pool>;
  /** Remove a member from a pool, or leave it; its next call sees nothing of it. Twice is once. */
  remove(args: PoolsRemoveArguments, options?: CallOptions): Promise<Pool>;
  /** Delete an empty pool. */
  delete(args: PoolsDeleteArguments, options?: CallOptions): Promise<void>;
  /** Copy a memory that this agent sees into a pool; the copy is linked `derived_from` it. */
  contribute(args: PoolsContributeArguments, options?: CallOptions): Promise<Memory>;
  /** Find the best memories of a pool for a question, best first, as `Agent.recall` does. */
  query(args: PoolsQueryArguments, options?: CallOptions): Promise<Answer>;
  /** Copy the facts and rules of others in a pool into this agent's own scope, to stay there. */
  syncToAgent(args: PoolsSyncToAgentArguments, options?: CallOptions): Promise<PoolSync>;
}

/** Verbs of `working`. */
export interface WorkingVerbs {
  /** Add a message to the session; the oldest become episodes where there are too many tokens. */
  append(args: WorkingAppendArguments, options?: CallOptions): Promise<WorkingStats>;
  /** List the messages of the session that are not stored yet, oldest first. */
  messages(args?: {}, options?: CallOptions): Promise<Array<Episode>>;
  /** Store the answer of a tool under its name, in place of an earlier one. */
  toolResult(args: WorkingToolResultArguments, options?: CallOptions): Promise<WorkingStats>;
  /** Read the answers of tools, by name. */
  toolResults(args?: {}, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Read the scratchpad of the session. */
  scratchpad(args?: {}, options?: CallOptions): Promise<string>;
  /** Replace the text of the scratchpad. */
  writeScratchpad(args: WorkingWriteScratchpadArguments, options?: CallOptions): Promise<string>;
  /** Store all messages as episodes. */
  flush(args?: {}, options?: CallOptions): Promise<WorkingStats>;
  /** Drop messages, tool results and scratchpad; none of them becomes an episode. */
  clear(args?: {}, options?: CallOptions): Promise<void>;
  /** Count the messages, tokens and tool results of the session. */
  stats(args?: {}, options?: CallOptions): Promise<WorkingStats>;
}

/** Verbs of `hooks`. */
export interface HooksVerbs {
  /** Begin a session: give the context block for a prompt, or an empty one that says why. */
  sessionStart(args: HooksSessionStartArguments, options?: CallOptions): Promise<ContextBlock>;
  /** Remember one turn of the session, with links to the entities it mentions, in one transaction. */
  message(args: HooksMessageArguments, options?: CallOptions): Promise<MessageReceipt>;
  /** Read the newest turns of the session, oldest first, from Redis or the database. */
  recent(args?: HooksRecentArguments, options?: CallOptions): Promise<RecentTurns>;
  /** End the session: store what waits in this process, and start to consolidate its episodes. */
  sessionEnd(args?: {}, options?: CallOptions): Promise<SessionEnd>;
}

/** Verbs of `consolidation`. */
export interface ConsolidationVerbs {
  /** Check whether this agent has episodes in a session and none of them waits for consolidation. */
  isSessionConsolidated(args: ConsolidationIsSessionConsolidatedArguments, options?: CallOptions): Promise<boolean>;
  /** Read a page of the episodes of a session, in their order; empty past the last one. */
  episodes(args: ConsolidationEpisodesArguments, options?: CallOptions): Promise<Array<Episode>>;
  /** Store extracted facts, each once: repeats are dropped, and known facts confirmed. */
  saveFacts(args: ConsolidationSaveFactsArguments, options?: CallOptions): Promise<SavedFacts>;
  /** Find active facts of the same subject that may contradict one, by a hybrid search. */
  detectConflicts(args: ConsolidationDetectConflictsArguments, options?: CallOptions): Promise<Array<Fact>>;
  /** Lower the confidence of an older fact to 0.3 at most, as a newer one contradicts it. */
  resolveConflict(args: ConsolidationResolveConflictArguments, options?: CallOptions): Promise<Fact>;
  /** Mark all of a session as consolidated; give the number of episodes that waited. */
  markSession(args: ConsolidationMarkSessionArguments, options?: CallOptions): Promise<number>;
}

/** Verbs of `keys`. */
export interface KeysVerbs {
  /** Create a key; its secret is in this answer and nowhere else, as only a digest is stored. */
  create(args: KeysCreateArguments, options?: CallOptions): Promise<CreatedKey>;
  /** Create a key in place of another, which opens for some days more, so that clients change over meanwhile. */
  rotate(args: KeysRotateArguments, options?: CallOptions): Promise<CreatedKey>;
  /** List the keys of a tenant, or of one of its agents or users, newest first. */
  list(args?: KeysListArguments, options?: CallOptions): Promise<Array<AccessKey>>;
  /** Revoke a key of a tenant, or of one of its agents, in any process. Twice is once. */
  revoke(args: KeysRevokeArguments, options?: CallOptions): Promise<AccessKey>;
}

/** Verbs of `jobs`. */
export interface JobsVerbs {
  /** List the jobs of a tenant, or of all and of the whole database, newest first. */
  list(args?: JobsListArguments, options?: CallOptions): Promise<Array<Job>>;
  /** Run a job now, for one tenant or for all, in this process; or leave it to a worker. */
  run(args: JobsRunArguments, options?: CallOptions): Promise<Job>;
  /** Let a worker try a dead letter again, as often as at first. */
  retry(args: JobsRetryArguments, options?: CallOptions): Promise<Job>;
}

/** Verbs of a memory, and its groups of verbs. */
export interface Verbs {
  /** Remember one turn of a conversation as an episode. */
  observe(args: ObserveArguments, options?: CallOptions): Promise<Episode>;
  /** Store the messages of a chat as episodes, in one transaction, and learn facts and rules from them. */
  add(args: AddArguments, options?: CallOptions): Promise<AddedMessages>;
  /** Remember a fact: `subject` `predicate` `content`, or free text; it supersedes the fact in its slot. */
  remember(args: RememberArguments, options?: CallOptions): Promise<Fact>;
  /** List the memories that this agent sees, of one kind or of all, newest first. */
  list(args?: ListArguments, options?: CallOptions): Paged<Memory>;
  /** List the episodes that this agent sees, of one conversation or of all, newest first. */
  episodes(args?: EpisodesArguments, options?: CallOptions): Paged<Memory>;
  /** List the facts about a subject, with a predicate or both, newest first. */
  facts(args?: FactsArguments, options?: CallOptions): Paged<Fact>;
  /** Read one memory by id, be it live, superseded or forgotten; None where this agent sees none. */
  get(args: GetArguments, options?: CallOptions): Promise<Memory | null>;
  /** List every fact that was ever in the slot of this one, oldest first. */
  history(args: HistoryArguments, options?: CallOptions): Promise<Array<Fact>>;
  /** List the links of a memory whose both ends this agent sees, oldest first. */
  links(args: LinksArguments, options?: CallOptions): Promise<Array<Link>>;
  /** Supersede an active fact by the same statement with other content. */
  correct(args: CorrectArguments, options?: CallOptions): Promise<Fact>;
  /** Confirm that a fact or a rule still holds: its decay starts anew. */
  confirm(args: ConfirmArguments, options?: CallOptions): Promise<FactOrRule>;
  /** Forget a memory: it leaves every search at once, and stays readable by its id. Twice is once. */
  forget(args: ForgetArguments, options?: CallOptions): Promise<Memory>;
  /** Erase memories for good, with their vectors and links; report what went, and what was derived from it. */
  erase(args: EraseArguments, options?: CallOptions): Promise<ErasureReport>;
  /** Link one memory to another by a relation; a link that is there stays as it is. */
  link(args: LinkArguments, options?: CallOptions): Promise<Link>;
  /** List the changes of one memory or run, or of all that this agent sees, newest first. */
  events(args?: EventsArguments, options?: CallOptions): Paged<Event>;
  /** Read the newest reflection of this agent (`Memory.reflect`); None before the first. */
  latestReflection(args?: {}, options?: CallOptions): Promise<Fact | null>;
  /** Say where an input belongs, and why, by its role and words; nothing is stored. */
  route(args: RouteArguments, options?: CallOptions): Promise<Routing>;
  /** Store an input where `route` says, hold it in working memory, answer it by `recall`, or forget. */
  handle(args: HandleArguments, options?: CallOptions): Promise<HandledInput>;
  /** Find the best memories for a question, best first, with the reasons for each hit's rank. */
  recall(args: RecallArguments, options?: CallOptions): Promise<Answer>;
  /** Build a Markdown block for a prompt from the best memories that fit its budget. */
  context(args: ContextArguments, options?: CallOptions): Promise<ContextBlock>;
  /** Build chat messages from a system prompt, a context block, the turns of this session and a prompt. */
  messages(args: MessagesArguments, options?: CallOptions): Promise<ContextMessages>;
  /** Summarize a search, a session or some memories in at most `target_tokens`. */
  summarize(args?: SummarizeArguments, options?: CallOptions): Promise<Summary>;
  /** Count the memories of this agent by kind and state. */
  stats(args?: StatsArguments, options?: CallOptions): Promise<Stats>;
  /** Show counts, activity by day, newest and most used memories, entities, runs and backlog. */
  overview(args?: OverviewArguments, options?: CallOptions): Promise<Overview>;
  /** Audit the memories for problems, with evidence and a command for each finding; change nothing. */
  audit(args?: AuditArguments, options?: CallOptions): Promise<Audit>;
  /** Mark the facts and rules that fade or expire as nobody confirmed them for too long. */
  decay(args?: DecayArguments, options?: CallOptions): Promise<DecayReport>;
  /** Remove expired episodes, of too many the oldest consolidated ones, and facts that ended long ago, for good. */
  cleanup(args?: CleanupArguments, options?: CallOptions): Promise<CleanupReport>;
  /** Learn facts and rules from the episodes that wait for it. */
  consolidate(args?: ConsolidateArguments, options?: CallOptions): Promise<ConsolidationReport>;
  /** Write a reflection for each agent that learned something of late. */
  reflect(args?: ReflectArguments, options?: CallOptions): Promise<ReflectionReport>;
  /** List the agents of a tenant, or of all, with counts of the live memories that each stored. */
  agents(args?: AgentsArguments, options?: CallOptions): Paged<AgentCounts>;
  /** List the end users of a tenant, or of all, with counts of their live memories. */
  users(args?: UsersArguments, options?: CallOptions): Paged<UserCounts>;
  /** Export all that a tenant has of an end user, by whichever agents, into a new file. */
  exportUser(args: ExportUserArguments, options?: CallOptions): Promise<Download>;
  /** Erase all that a tenant has of an end user, by whichever agents, for good; give the proof of what went. */
  eraseUser(args: EraseUserArguments, options?: CallOptions): Promise<UserErasure>;
  /** Erase all that there is of a tenant, or of one of its agents, for good; give the proof of what went. */
  eraseTenant(args: EraseTenantArguments, options?: CallOptions): Promise<TenantErasure>;
  /** Seal the events of a tenant that have no seal: whoever changes or removes one after that is found out. */
  sealEvents(args?: SealEventsArguments, options?: CallOptions): Promise<SealReport>;
  /** Verify the sealed events of a tenant: the answer names the first that was changed or removed. */
  verifyEvents(args?: VerifyEventsArguments, options?: CallOptions): Promise<Verification>;
  /** Export the events of a tenant into a new file of JSON lines, oldest first. */
  exportEvents(args?: {}, options?: CallOptions): Promise<Download>;
  /** List the runs of an agent, newest first: what was learned, when, by whom, with which outcome. */
  runs(args?: RunsArguments, options?: CallOptions): Paged<Run>;
  /** Undo a run of an agent in one transaction; what was changed since stays. */
  undo(args: UndoArguments, options?: CallOptions): Promise<UndoResult>;
  /** Back up an agent, a user, a tenant or the whole database into one file, as of one moment. */
  backup(args?: BackupArguments, options?: CallOptions): Promise<Download>;
  /** Restore what is missing of a backup, for its own agent or tenant or another one. */
  restore(args: RestoreArguments, options?: CallOptions): Promise<RestoreReport>;
  /** Export the memories of an agent into a new file, for people or other systems. */
  export(args?: ExportArguments, options?: CallOptions): Promise<Download>;
  /** Import a file of another system: conversations, memories or Markdown notes. */
  importFile(args: ImportFileArguments, options?: CallOptions): Promise<ImportReport>;
  readonly rules: RulesVerbs;
  readonly entities: EntitiesVerbs;
  readonly graph: GraphVerbs;
  readonly notes: NotesVerbs;
  readonly log: LogVerbs;
  readonly store: StoreVerbs;
  readonly pools: PoolsVerbs;
  readonly working: WorkingVerbs;
  readonly hooks: HooksVerbs;
  readonly consolidation: ConsolidationVerbs;
  readonly keys: KeysVerbs;
  readonly jobs: JobsVerbs;
}

/** The request of each verb. */
export const OPERATIONS: ReadonlyArray<Operation> = [
  {"verb": "observe", "group": null, "name": "observe", "method": "POST", "path": "/v1/episodes", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "add", "group": null, "name": "add", "method": "POST", "path": "/v1/add", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "remember", "group": null, "name": "remember", "method": "POST", "path": "/v1/facts", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "list", "group": null, "name": "list", "method": "GET", "path": "/v1/memories", "query": ["kind", "include_inactive", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "episodes", "group": null, "name": "episodes", "method": "GET", "path": "/v1/episodes", "query": ["session", "include_inactive", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "facts", "group": null, "name": "facts", "method": "GET", "path": "/v1/facts", "query": ["subject", "predicate", "as_of", "valid_at", "pending", "min_trust", "include_inactive", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "get", "group": null, "name": "get", "method": "GET", "path": "/v1/memories/{id}", "query": ["as_of", "count_references"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "history", "group": null, "name": "history", "method": "GET", "path": "/v1/memories/{id}/history", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "links", "group": null, "name": "links", "method": "GET", "path": "/v1/memories/{id}/links", "query": ["direction", "relation"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "correct", "group": null, "name": "correct", "method": "POST", "path": "/v1/memories/{id}/correct", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "confirm", "group": null, "name": "confirm", "method": "POST", "path": "/v1/memories/{id}/confirm", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "forget", "group": null, "name": "forget", "method": "POST", "path": "/v1/memories/{id}/forget", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "erase", "group": null, "name": "erase", "method": "POST", "path": "/v1/erase", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "link", "group": null, "name": "link", "method": "POST", "path": "/v1/links", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "events", "group": null, "name": "events", "method": "GET", "path": "/v1/events", "query": ["id", "event_type", "run_id", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "latest_reflection", "group": null, "name": "latestReflection", "method": "GET", "path": "/v1/latest_reflection", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "route", "group": null, "name": "route", "method": "POST", "path": "/v1/route", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "handle", "group": null, "name": "handle", "method": "POST", "path": "/v1/handle", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "recall", "group": null, "name": "recall", "method": "POST", "path": "/v1/recall", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "context", "group": null, "name": "context", "method": "POST", "path": "/v1/context", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "messages", "group": null, "name": "messages", "method": "POST", "path": "/v1/messages", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "summarize", "group": null, "name": "summarize", "method": "POST", "path": "/v1/summarize", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "stats", "group": null, "name": "stats", "method": "GET", "path": "/v1/stats", "query": ["scope"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "overview", "group": null, "name": "overview", "method": "GET", "path": "/v1/dashboard", "query": ["days", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "audit", "group": null, "name": "audit", "method": "GET", "path": "/v1/audit", "query": ["kinds", "limit", "skip", "unused_days"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "rules.add", "group": "rules", "name": "add", "method": "POST", "path": "/v1/rules", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "rules.mark_helpful", "group": "rules", "name": "markHelpful", "method": "POST", "path": "/v1/rules/{id}/mark_helpful", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "rules.mark_harmful", "group": "rules", "name": "markHarmful", "method": "POST", "path": "/v1/rules/{id}/mark_harmful", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "rules.applications", "group": "rules", "name": "applications", "method": "GET", "path": "/v1/rules/{id}/applications", "query": ["limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "entities.create", "group": "entities", "name": "create", "method": "POST", "path": "/v1/entities", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "entities.find", "group": "entities", "name": "find", "method": "GET", "path": "/v1/entities", "query": ["entity_type", "after", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "entities.profile", "group": "entities", "name": "profile", "method": "GET", "path": "/v1/entities/profile", "query": ["id_or_name"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "entities.to_enrich", "group": "entities", "name": "toEnrich", "method": "GET", "path": "/v1/entities/to_enrich", "query": ["most_entities", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": {"field": "ids"}, "isOptional": false},
  {"verb": "entities.get", "group": "entities", "name": "get", "method": "GET", "path": "/v1/entities/{id}", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "entities.update", "group": "entities", "name": "update", "method": "PATCH", "path": "/v1/entities/{id}", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "entities.resolve", "group": "entities", "name": "resolve", "method": "POST", "path": "/v1/entities/resolve", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "entities.merge", "group": "entities", "name": "merge", "method": "POST", "path": "/v1/entities/merge", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "entities.unmerge", "group": "entities", "name": "unmerge", "method": "POST", "path": "/v1/entities/unmerge", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "entities.enrich", "group": "entities", "name": "enrich", "method": "POST", "path": "/v1/entities/enrich", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "entities.enrich_waiting", "group": "entities", "name": "enrichWaiting", "method": "POST", "path": "/v1/entities/enrich_waiting", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "graph.create_entities", "group": "graph", "name": "createEntities", "method": "POST", "path": "/v1/graph/create_entities", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "graph.create_relations", "group": "graph", "name": "createRelations", "method": "POST", "path": "/v1/graph/create_relations", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "graph.add_observations", "group": "graph", "name": "addObservations", "method": "POST", "path": "/v1/graph/add_observations", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "graph.delete_entities", "group": "graph", "name": "deleteEntities", "method": "POST", "path": "/v1/graph/delete_entities", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "names"}, "isOptional": false},
  {"verb": "graph.delete_observations", "group": "graph", "name": "deleteObservations", "method": "POST", "path": "/v1/graph/delete_observations", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "facts"}, "isOptional": false},
  {"verb": "graph.delete_relations", "group": "graph", "name": "deleteRelations", "method": "POST", "path": "/v1/graph/delete_relations", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "facts"}, "isOptional": false},
  {"verb": "graph.read", "group": "graph", "name": "read", "method": "GET", "path": "/v1/graph/read", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "graph.search", "group": "graph", "name": "search", "method": "GET", "path": "/v1/graph/search", "query": ["query"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "graph.open", "group": "graph", "name": "open", "method": "GET", "path": "/v1/graph/open", "query": ["names"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "notes.save", "group": "notes", "name": "save", "method": "POST", "path": "/v1/notes", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "notes.recall", "group": "notes", "name": "recall", "method": "GET", "path": "/v1/notes/recall", "query": ["key"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "notes.list", "group": "notes", "name": "list", "method": "GET", "path": "/v1/notes", "query": ["limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "notes.list_by_category", "group": "notes", "name": "listByCategory", "method": "GET", "path": "/v1/notes/list_by_category", "query": ["category", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "notes.related", "group": "notes", "name": "related", "method": "GET", "path": "/v1/notes/related", "query": ["note", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "notes.search", "group": "notes", "name": "search", "method": "POST", "path": "/v1/notes/search", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "notes.forget", "group": "notes", "name": "forget", "method": "POST", "path": "/v1/notes/forget", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "notes.summarize_old", "group": "notes", "name": "summarizeOld", "method": "POST", "path": "/v1/notes/summarize_old", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "notes"}, "isOptional": false},
  {"verb": "notes.invalidate", "group": "notes", "name": "invalidate", "method": "POST", "path": "/v1/notes/invalidate", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "notes"}, "isOptional": false},
  {"verb": "notes.clear_cache", "group": "notes", "name": "clearCache", "method": "POST", "path": "/v1/notes/clear_cache", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "none", "isOptional": false},
  {"verb": "notes.cache_stats", "group": "notes", "name": "cacheStats", "method": "GET", "path": "/v1/notes/cache_stats", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "log.append", "group": "log", "name": "append", "method": "POST", "path": "/v1/log/append", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "log.read", "group": "log", "name": "read", "method": "GET", "path": "/v1/log/read", "query": ["session", "subkey", "last", "log"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "log.pop", "group": "log", "name": "pop", "method": "POST", "path": "/v1/log/pop", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "log.delete", "group": "log", "name": "delete", "method": "POST", "path": "/v1/log/delete", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "entries"}, "isOptional": false},
  {"verb": "log.sessions", "group": "log", "name": "sessions", "method": "GET", "path": "/v1/log/sessions", "query": ["log", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "log.subkeys", "group": "log", "name": "subkeys", "method": "GET", "path": "/v1/log/subkeys", "query": ["session", "log"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": {"field": "subkeys"}, "isOptional": false},
  {"verb": "store.put", "group": "store", "name": "put", "method": "POST", "path": "/v1/store/put", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "store.get", "group": "store", "name": "get", "method": "GET", "path": "/v1/store/get", "query": ["key", "namespace", "refresh"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": true},
  {"verb": "store.delete", "group": "store", "name": "delete", "method": "POST", "path": "/v1/store/delete", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": {"field": "deleted"}, "isOptional": false},
  {"verb": "store.write", "group": "store", "name": "write", "method": "POST", "path": "/v1/store/write", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "store.search", "group": "store", "name": "search", "method": "POST", "path": "/v1/store/search", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "store.namespaces", "group": "store", "name": "namespaces", "method": "GET", "path": "/v1/store/namespaces", "query": ["namespace", "suffix", "depth", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "store.history", "group": "store", "name": "history", "method": "GET", "path": "/v1/store/history", "query": ["key", "namespace"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "pools.create", "group": "pools", "name": "create", "method": "POST", "path": "/v1/pools", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "pools.list", "group": "pools", "name": "list", "method": "GET", "path": "/v1/pools", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "pools.add", "group": "pools", "name": "add", "method": "POST", "path": "/v1/pools/add", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "pools.remove", "group": "pools", "name": "remove", "method": "POST", "path": "/v1/pools/remove", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "pools.delete", "group": "pools", "name": "delete", "method": "POST", "path": "/v1/pools/delete", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "none", "isOptional": false},
  {"verb": "pools.contribute", "group": "pools", "name": "contribute", "method": "POST", "path": "/v1/pools/contribute", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "pools.query", "group": "pools", "name": "query", "method": "POST", "path": "/v1/pools/query", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "pools.sync_to_agent", "group": "pools", "name": "syncToAgent", "method": "POST", "path": "/v1/pools/sync_to_agent", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "working.append", "group": "working", "name": "append", "method": "POST", "path": "/v1/working/append", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "working.messages", "group": "working", "name": "messages", "method": "GET", "path": "/v1/working/messages", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "working.tool_result", "group": "working", "name": "toolResult", "method": "POST", "path": "/v1/working/tool_result", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "working.tool_results", "group": "working", "name": "toolResults", "method": "GET", "path": "/v1/working/tool_results", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": {"field": "tool_results"}, "isOptional": false},
  {"verb": "working.scratchpad", "group": "working", "name": "scratchpad", "method": "GET", "path": "/v1/working/scratchpad", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": {"field": "text"}, "isOptional": false},
  {"verb": "working.write_scratchpad", "group": "working", "name": "writeScratchpad", "method": "PUT", "path": "/v1/working/scratchpad", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": {"field": "text"}, "isOptional": false},
  {"verb": "working.flush", "group": "working", "name": "flush", "method": "POST", "path": "/v1/working/flush", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "working.clear", "group": "working", "name": "clear", "method": "POST", "path": "/v1/working/clear", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "none", "isOptional": false},
  {"verb": "working.stats", "group": "working", "name": "stats", "method": "GET", "path": "/v1/working/stats", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "hooks.session_start", "group": "hooks", "name": "sessionStart", "method": "POST", "path": "/v1/hooks/session_start", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "hooks.message", "group": "hooks", "name": "message", "method": "POST", "path": "/v1/hooks/message", "query": [], "hasBody": true, "takes": null, "takesKey": true, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "hooks.recent", "group": "hooks", "name": "recent", "method": "GET", "path": "/v1/hooks/recent", "query": ["limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "hooks.session_end", "group": "hooks", "name": "sessionEnd", "method": "POST", "path": "/v1/hooks/session_end", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "consolidation.is_session_consolidated", "group": "consolidation", "name": "isSessionConsolidated", "method": "GET", "path": "/v1/consolidation/is_session_consolidated", "query": ["session"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": {"field": "is_consolidated"}, "isOptional": false},
  {"verb": "consolidation.episodes", "group": "consolidation", "name": "episodes", "method": "GET", "path": "/v1/consolidation/episodes", "query": ["session", "page", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "consolidation.save_facts", "group": "consolidation", "name": "saveFacts", "method": "POST", "path": "/v1/consolidation/save_facts", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "consolidation.detect_conflicts", "group": "consolidation", "name": "detectConflicts", "method": "GET", "path": "/v1/consolidation/detect_conflicts", "query": ["fact_id"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "items", "isOptional": false},
  {"verb": "consolidation.resolve_conflict", "group": "consolidation", "name": "resolveConflict", "method": "POST", "path": "/v1/consolidation/resolve_conflict", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": "record", "isOptional": false},
  {"verb": "consolidation.mark_session", "group": "consolidation", "name": "markSession", "method": "POST", "path": "/v1/consolidation/mark_session", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": false, "answer": {"field": "episodes"}, "isOptional": false},
  {"verb": "decay", "group": null, "name": "decay", "method": "POST", "path": "/v1/decay", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "cleanup", "group": null, "name": "cleanup", "method": "POST", "path": "/v1/cleanup", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "consolidate", "group": null, "name": "consolidate", "method": "POST", "path": "/v1/consolidate", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "reflect", "group": null, "name": "reflect", "method": "POST", "path": "/v1/reflect", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "agents", "group": null, "name": "agents", "method": "GET", "path": "/v1/agents", "query": ["limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "pages", "isOptional": false},
  {"verb": "users", "group": null, "name": "users", "method": "GET", "path": "/v1/users", "query": ["limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "pages", "isOptional": false},
  {"verb": "export_user", "group": null, "name": "exportUser", "method": "GET", "path": "/v1/users/export", "query": ["name", "format"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "file", "isOptional": false},
  {"verb": "erase_user", "group": null, "name": "eraseUser", "method": "POST", "path": "/v1/users/erase", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "erase_tenant", "group": null, "name": "eraseTenant", "method": "POST", "path": "/v1/tenants/erase", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "seal_events", "group": null, "name": "sealEvents", "method": "POST", "path": "/v1/events/seal", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "verify_events", "group": null, "name": "verifyEvents", "method": "GET", "path": "/v1/events/verify", "query": ["head"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "export_events", "group": null, "name": "exportEvents", "method": "GET", "path": "/v1/events/export", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "file", "isOptional": false},
  {"verb": "runs", "group": null, "name": "runs", "method": "GET", "path": "/v1/runs", "query": ["kind", "limit", "after"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": false, "answer": "pages", "isOptional": false},
  {"verb": "undo", "group": null, "name": "undo", "method": "POST", "path": "/v1/runs/{run_id}/undo", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "backup", "group": null, "name": "backup", "method": "GET", "path": "/v1/backup", "query": ["agent", "user", "vectors"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "file", "isOptional": false},
  {"verb": "restore", "group": null, "name": "restore", "method": "POST", "path": "/v1/restore", "query": ["agent", "replace", "with_erased", "untrusted", "dry_run"], "hasBody": false, "takes": "application/gzip", "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "export", "group": null, "name": "export", "method": "GET", "path": "/v1/export", "query": ["format", "kinds"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "file", "isOptional": false},
  {"verb": "import_file", "group": null, "name": "importFile", "method": "POST", "path": "/v1/import_file", "query": ["format", "strict", "filename"], "hasBody": false, "takes": "application/octet-stream", "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "keys.create", "group": "keys", "name": "create", "method": "POST", "path": "/v1/keys", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "keys.rotate", "group": "keys", "name": "rotate", "method": "POST", "path": "/v1/keys/{key_id}/rotate", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "keys.list", "group": "keys", "name": "list", "method": "GET", "path": "/v1/keys", "query": ["agent", "user"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "items", "isOptional": false},
  {"verb": "keys.revoke", "group": "keys", "name": "revoke", "method": "POST", "path": "/v1/keys/{key_id}/revoke", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "jobs.list", "group": "jobs", "name": "list", "method": "GET", "path": "/v1/jobs", "query": ["name", "status", "limit"], "hasBody": false, "takes": null, "takesKey": false, "changes": false, "isRepeatable": true, "isSlow": true, "answer": "items", "isOptional": false},
  {"verb": "jobs.run", "group": "jobs", "name": "run", "method": "POST", "path": "/v1/jobs", "query": [], "hasBody": true, "takes": null, "takesKey": false, "changes": true, "isRepeatable": false, "isSlow": true, "answer": "record", "isOptional": false},
  {"verb": "jobs.retry", "group": "jobs", "name": "retry", "method": "POST", "path": "/v1/jobs/{job_id}/retry", "query": [], "hasBody": false, "takes": null, "takesKey": false, "changes": true, "isRepeatable": true, "isSlow": true, "answer": "record", "isOptional": false},
];
