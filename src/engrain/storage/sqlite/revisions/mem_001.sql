-- Baseline: episodes, facts and rules, their links, who may see them, and the index of searches. Times are microseconds
-- since 1970 in UTC; lists and objects are JSON.

-- Settings of the whole database (tenant_id '') or of one tenant.
CREATE TABLE memory_metadata (
    tenant_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant_id, key)
) WITHOUT ROWID;

-- Numbers handed out under the write lock: 'change' orders what happens to vectors, 'namespace' counts namespaces, and
-- 'settled' is the last doc that is settled.
CREATE TABLE sequences (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITHOUT ROWID;

-- Namespaces, each searched as a whole: one integer for (tenant, kind, scope), glued to every indexed word, and the
-- totals that a word's weight is judged by.
CREATE TABLE namespaces (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    namespace INTEGER NOT NULL,
    memories INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, kind, scope)
) WITHOUT ROWID;
-- totals of a search's namespaces
CREATE UNIQUE INDEX namespaces_number ON namespaces (namespace);

CREATE TABLE episodes (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    session TEXT,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    speaker TEXT,
    content TEXT NOT NULL,
    event_time INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    importance REAL NOT NULL DEFAULT 5.0,
    asking REAL NOT NULL DEFAULT 0.0, -- the share of its words that ask
    tokens INTEGER,
    model TEXT,
    tool_calls TEXT NOT NULL DEFAULT '[]',
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    consolidation_status TEXT NOT NULL DEFAULT 'pending'
        CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
    consolidated INTEGER GENERATED ALWAYS AS (consolidation_status = 'consolidated') VIRTUAL,
    consolidation_attempts INTEGER NOT NULL DEFAULT 0,
    last_consolidation_error TEXT,
    next_consolidation_retry_at INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    enriched INTEGER GENERATED ALWAYS AS (metadata -> '$.enriched_at' IS NOT NULL) VIRTUAL
);
-- get, and the guard of idempotent writes
CREATE UNIQUE INDEX episodes_id ON episodes (tenant_id, id);
-- the turns around a turn; filters by session
CREATE INDEX episodes_session ON episodes (tenant_id, scope, session, turn);
-- the newest; filters by time
CREATE INDEX episodes_time ON episodes (tenant_id, scope, event_time);
-- the newest that nobody has read again for names
CREATE INDEX episodes_unenriched ON episodes (tenant_id, scope, event_time) WHERE NOT enriched;
-- the most important
CREATE INDEX episodes_importance ON episodes (tenant_id, scope, importance, event_time);
-- what runs out
CREATE INDEX episodes_expiry ON episodes (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
-- the next batch to consolidate
CREATE INDEX episodes_pending ON episodes (tenant_id, agent, created_at, id) WHERE consolidation_status = 'pending';
-- the oldest that are consolidated, which go first where there are too many
CREATE INDEX episodes_consolidated ON episodes (tenant_id, created_at, id) WHERE consolidation_status = 'consolidated';

-- Speakers of each scope.
CREATE TABLE speakers (
    tenant_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    speaker TEXT NOT NULL,
    PRIMARY KEY (tenant_id, scope, speaker)
) WITHOUT ROWID;

-- Every session of a scope, its last turn, and since when none of its episodes waits to be consolidated. Written when turns
-- are settled.
CREATE TABLE sessions_consolidations (
    tenant_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    session TEXT NOT NULL,
    last_turn INTEGER NOT NULL DEFAULT 0,
    first_seen_at INTEGER NOT NULL,
    consolidated_at INTEGER,
    PRIMARY KEY (tenant_id, scope, session)
) WITHOUT ROWID;

CREATE TABLE facts (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL DEFAULT 'global',
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    entity_id TEXT,
    content TEXT NOT NULL,
    category TEXT NOT NULL DEFAULT 'fact',
    source TEXT,
    confidence REAL NOT NULL DEFAULT 1.0,
    importance REAL NOT NULL DEFAULT 5.0,
    permanence TEXT NOT NULL DEFAULT 'standard'
        CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    decay_rate REAL NOT NULL DEFAULT 0.008,
    validity TEXT NOT NULL DEFAULT 'active' CHECK (validity IN ('active', 'superseded', 'expired', 'retracted')),
    valid_from INTEGER,
    valid_to INTEGER,
    created_at INTEGER NOT NULL,
    invalidated_at INTEGER,
    supersedes_id TEXT,
    source_episode_id TEXT,
    last_confirmed_at INTEGER,
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    enriched INTEGER GENERATED ALWAYS AS (metadata -> '$.enriched_at' IS NOT NULL) VIRTUAL,
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id),
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id),
    FOREIGN KEY (tenant_id, supersedes_id) REFERENCES facts (tenant_id, id)
);
-- get, and the guard of idempotent writes
CREATE UNIQUE INDEX facts_id ON facts (tenant_id, id);
-- one truth at a time: the fact a new one supersedes
CREATE UNIQUE INDEX facts_active_subject ON facts (tenant_id, scope, subject, predicate)
WHERE validity = 'active' AND entity_id IS NULL;
-- the history of a subject
CREATE INDEX facts_subject ON facts (tenant_id, subject, predicate);
-- the newest; filters by time
CREATE INDEX facts_time ON facts (tenant_id, scope, coalesce(valid_from, created_at));
-- the newest that nobody has read again for names
CREATE INDEX facts_unenriched ON facts (tenant_id, scope, coalesce(valid_from, created_at)) WHERE NOT enriched;
-- the most important
CREATE INDEX facts_importance ON facts (tenant_id, scope, importance, coalesce(valid_from, created_at));
-- what came from an episode that goes
CREATE INDEX facts_source ON facts (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;
-- what superseded a fact that goes
CREATE INDEX facts_supersedes ON facts (tenant_id, supersedes_id) WHERE supersedes_id IS NOT NULL;

CREATE TABLE rules (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL DEFAULT 'global',
    content TEXT NOT NULL,
    maturity TEXT NOT NULL DEFAULT 'candidate'
        CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
    confidence REAL NOT NULL DEFAULT 0.5,
    permanence TEXT NOT NULL DEFAULT 'standard'
        CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    decay_rate REAL NOT NULL DEFAULT 0.008,
    effectiveness_score REAL NOT NULL DEFAULT 0.0,
    applied_count INTEGER NOT NULL DEFAULT 0,
    success_count INTEGER NOT NULL DEFAULT 0,
    harmful_count INTEGER NOT NULL DEFAULT 0,
    source_episode_id TEXT,
    created_at INTEGER NOT NULL,
    invalidated_at INTEGER,
    last_applied_at INTEGER,
    last_evaluated_at INTEGER,
    last_confirmed_at INTEGER,
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id)
);
-- get, and the guard of idempotent writes
CREATE UNIQUE INDEX rules_id ON rules (tenant_id, id);
-- the newest; filters by time
CREATE INDEX rules_time ON rules (tenant_id, scope, created_at);
-- what came from an episode that goes
CREATE INDEX rules_source ON rules (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;

-- Outcomes of applications of rules.
CREATE TABLE rule_applications (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('helpful', 'harmful')),
    context TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
-- a rule's record
CREATE INDEX rule_applications_rule ON rule_applications (tenant_id, rule_id, created_at);

-- Directed edges between memories; the kinds say in which table each end lies.
CREATE TABLE memory_links (
    tenant_id TEXT NOT NULL,
    source_kind TEXT NOT NULL CHECK (source_kind IN ('episode', 'fact', 'rule')),
    source_id TEXT NOT NULL,
    target_kind TEXT NOT NULL CHECK (target_kind IN ('episode', 'fact', 'rule')),
    target_id TEXT NOT NULL,
    relation TEXT NOT NULL
        CHECK (relation IN ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
    weight REAL NOT NULL DEFAULT 1.0,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, source_kind, source_id, target_kind, target_id, relation)
) WITHOUT ROWID;
-- edges that come in
CREATE INDEX memory_links_target ON memory_links (tenant_id, target_kind, target_id);

-- Pools and their members.
CREATE TABLE pools (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, name)
) WITHOUT ROWID;

CREATE TABLE pool_members (
    tenant_id TEXT NOT NULL,
    pool TEXT NOT NULL,
    agent TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, pool, agent),
    FOREIGN KEY (tenant_id, pool) REFERENCES pools (tenant_id, name)
) WITHOUT ROWID;
-- the pools of an agent
CREATE INDEX pool_members_agent ON pool_members (tenant_id, agent);

-- Keys of callers over a network; of their secrets only digests.
CREATE TABLE access_keys (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT,
    role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    name TEXT,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Every embedder whose vectors were searched (retired), are (active: at most one) or will be (building: at most one).
CREATE TABLE embedding_versions (
    tenant_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    dims INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    created_at INTEGER NOT NULL,
    activated_at INTEGER,
    PRIMARY KEY (tenant_id, version)
) WITHOUT ROWID;
-- one of each
CREATE UNIQUE INDEX embedding_versions_state ON embedding_versions (tenant_id, state) WHERE state <> 'retired';

-- Every settled memory's place in the searches, and how often it has each word, for ranking: total own and near words,
-- and 8 bytes for each term. state: 1 waits for its vector, 2 has it, 3 gone (kept, so that every process hears of it and
-- no doc is used twice). A memory is settled once its neighbours' words are indexed too; docs beyond the sequence
-- 'settled' are not yet, and are found by their own words alone.
CREATE TABLE memory_index (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    namespace INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    expires_at INTEGER,
    own INTEGER NOT NULL DEFAULT 0,
    near INTEGER NOT NULL DEFAULT 0,
    packed BLOB
);
-- what still has to be embedded
CREATE INDEX memory_index_waiting ON memory_index (namespace) WHERE state = 1;
-- what ran out but is still in the searches
CREATE INDEX memory_index_expiry ON memory_index (namespace, expires_at)
WHERE state < 3 AND expires_at IS NOT NULL;
-- what was believed once
CREATE INDEX memory_index_gone ON memory_index (tenant_id, namespace, doc) WHERE state = 3;

-- Vectors by the version that made them. One that is gone stays for questions about the past, unless it was erased.
CREATE TABLE memory_vectors (
    tenant_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    change INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    embedding BLOB
);
-- the vectors of some memories
CREATE UNIQUE INDEX memory_vectors_doc ON memory_vectors (version, doc);
-- vectors that came or went since a process last looked
CREATE INDEX memory_vectors_change ON memory_vectors (version, namespace, change);

-- Stems glued to their namespace: a memory's own words, and those of the turns around it. Every printable character
-- belongs to a word here: the analyzer has already split them.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    own,
    near,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);

INSERT INTO sequences (tenant_id, name, value) VALUES
    ('', 'change', 0), ('', 'namespace', 0), ('', 'settled', 0);
