-- Baseline: episodes, facts and rules, their links, who may see them, and the index of searches. Made to be sharded by
-- tenant: every key and every unique index begins with tenant_id. Objects are JSON and not JSONB, which gives back other
-- numbers than it was given, and another order of names.

CREATE EXTENSION IF NOT EXISTS vector;

-- Docs, in the order memories arrive, and the numbers of namespaces.
CREATE SEQUENCE memory_docs AS BIGINT;
CREATE SEQUENCE memory_namespaces AS BIGINT;

-- Settings of the whole database (tenant_id '') or of one tenant.
CREATE TABLE memory_metadata (
    tenant_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant_id, key)
);

-- Namespaces, each searched as a whole: one integer for (tenant, kind, scope), glued to every indexed word, and the
-- totals that a word's weight is judged by.
CREATE TABLE namespaces (
    tenant_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    namespace BIGINT NOT NULL,
    memories BIGINT NOT NULL DEFAULT 0,
    words BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, kind, scope)
);
-- totals of a search's namespaces
CREATE UNIQUE INDEX namespaces_number ON namespaces (tenant_id, namespace);

CREATE TABLE episodes (
    doc BIGINT NOT NULL,
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C",
    turn BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'assistant', 'tool', 'system')),
    speaker TEXT COLLATE "C",
    content TEXT NOT NULL,
    event_time TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    importance DOUBLE PRECISION NOT NULL DEFAULT 5.0,
    asking DOUBLE PRECISION NOT NULL DEFAULT 0.0, -- the share of its words that ask
    tokens BIGINT,
    model TEXT COLLATE "C",
    tool_calls JSON NOT NULL DEFAULT '[]',
    reference_count BIGINT NOT NULL DEFAULT 0,
    last_referenced_at TIMESTAMPTZ,
    consolidation_status TEXT COLLATE "C" NOT NULL DEFAULT 'pending'
        CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
    consolidated BOOLEAN GENERATED ALWAYS AS (consolidation_status = 'consolidated') STORED,
    consolidation_attempts BIGINT NOT NULL DEFAULT 0,
    last_consolidation_error TEXT,
    next_consolidation_retry_at TIMESTAMPTZ,
    tags TEXT[] NOT NULL DEFAULT '{}',
    metadata JSON NOT NULL DEFAULT '{}',
    enriched BOOLEAN GENERATED ALWAYS AS ((metadata -> 'enriched_at') IS NOT NULL) STORED,
    PRIMARY KEY (tenant_id, id)
);
-- what a search found
CREATE UNIQUE INDEX episodes_doc ON episodes (tenant_id, doc);
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
    tenant_id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    speaker TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, scope, speaker)
);

-- Every session of a scope, its last turn, and since when none of its episodes waits to be consolidated.
CREATE TABLE sessions_consolidations (
    tenant_id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    last_turn BIGINT NOT NULL DEFAULT 0,
    first_seen_at TIMESTAMPTZ NOT NULL,
    consolidated_at TIMESTAMPTZ,
    PRIMARY KEY (tenant_id, scope, session)
);

CREATE TABLE facts (
    doc BIGINT NOT NULL,
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL DEFAULT 'global',
    subject TEXT COLLATE "C" NOT NULL,
    predicate TEXT COLLATE "C" NOT NULL,
    entity_id TEXT COLLATE "C",
    content TEXT NOT NULL,
    category TEXT COLLATE "C" NOT NULL DEFAULT 'fact',
    source TEXT,
    confidence DOUBLE PRECISION NOT NULL DEFAULT 1.0,
    importance DOUBLE PRECISION NOT NULL DEFAULT 5.0,
    permanence TEXT COLLATE "C" NOT NULL DEFAULT 'standard'
        CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    decay_rate DOUBLE PRECISION NOT NULL DEFAULT 0.008,
    validity TEXT COLLATE "C" NOT NULL DEFAULT 'active' CHECK (validity IN ('active', 'superseded', 'expired', 'retracted')),
    valid_from TIMESTAMPTZ,
    valid_to TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    invalidated_at TIMESTAMPTZ,
    supersedes_id TEXT COLLATE "C",
    source_episode_id TEXT COLLATE "C",
    last_confirmed_at TIMESTAMPTZ,
    reference_count BIGINT NOT NULL DEFAULT 0,
    last_referenced_at TIMESTAMPTZ,
    tags TEXT[] NOT NULL DEFAULT '{}',
    metadata JSON NOT NULL DEFAULT '{}',
    enriched BOOLEAN GENERATED ALWAYS AS ((metadata -> 'enriched_at') IS NOT NULL) STORED,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id),
    FOREIGN KEY (tenant_id, supersedes_id) REFERENCES facts (tenant_id, id)
);
-- what a search found
CREATE UNIQUE INDEX facts_doc ON facts (tenant_id, doc);
-- one truth at a time: the fact a new one supersedes
CREATE UNIQUE INDEX facts_active_subject ON facts (tenant_id, scope, subject, predicate)
WHERE validity = 'active' AND entity_id IS NULL;
-- the history of a subject
CREATE INDEX facts_subject ON facts (tenant_id, subject, predicate);
-- the newest; filters by time
CREATE INDEX facts_time ON facts (tenant_id, scope, (coalesce(valid_from, created_at)));
-- the newest that nobody has read again for names
CREATE INDEX facts_unenriched ON facts (tenant_id, scope, (coalesce(valid_from, created_at))) WHERE NOT enriched;
-- the most important
CREATE INDEX facts_importance ON facts (tenant_id, scope, importance, (coalesce(valid_from, created_at)));
-- what came from an episode that goes
CREATE INDEX facts_source ON facts (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;
-- what superseded a fact that goes
CREATE INDEX facts_supersedes ON facts (tenant_id, supersedes_id) WHERE supersedes_id IS NOT NULL;

CREATE TABLE rules (
    doc BIGINT NOT NULL,
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL DEFAULT 'global',
    content TEXT NOT NULL,
    maturity TEXT COLLATE "C" NOT NULL DEFAULT 'candidate'
        CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
    confidence DOUBLE PRECISION NOT NULL DEFAULT 0.5,
    permanence TEXT COLLATE "C" NOT NULL DEFAULT 'standard'
        CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
    decay_rate DOUBLE PRECISION NOT NULL DEFAULT 0.008,
    effectiveness_score DOUBLE PRECISION NOT NULL DEFAULT 0.0,
    applied_count BIGINT NOT NULL DEFAULT 0,
    success_count BIGINT NOT NULL DEFAULT 0,
    harmful_count BIGINT NOT NULL DEFAULT 0,
    source_episode_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    invalidated_at TIMESTAMPTZ,
    last_applied_at TIMESTAMPTZ,
    last_evaluated_at TIMESTAMPTZ,
    last_confirmed_at TIMESTAMPTZ,
    reference_count BIGINT NOT NULL DEFAULT 0,
    last_referenced_at TIMESTAMPTZ,
    tags TEXT[] NOT NULL DEFAULT '{}',
    metadata JSON NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id)
);
-- what a search found
CREATE UNIQUE INDEX rules_doc ON rules (tenant_id, doc);
-- the newest; filters by time
CREATE INDEX rules_time ON rules (tenant_id, scope, created_at);
-- what came from an episode that goes
CREATE INDEX rules_source ON rules (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;

-- Outcomes of applications of rules.
CREATE TABLE rule_applications (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    rule_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('helpful', 'harmful')),
    context TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- a rule's record
CREATE INDEX rule_applications_rule ON rule_applications (tenant_id, rule_id, created_at);

-- Directed edges between memories; the kinds say in which table each end lies.
CREATE TABLE memory_links (
    tenant_id TEXT COLLATE "C" NOT NULL,
    source_kind TEXT COLLATE "C" NOT NULL CHECK (source_kind IN ('episode', 'fact', 'rule')),
    source_id TEXT COLLATE "C" NOT NULL,
    target_kind TEXT COLLATE "C" NOT NULL CHECK (target_kind IN ('episode', 'fact', 'rule')),
    target_id TEXT COLLATE "C" NOT NULL,
    relation TEXT COLLATE "C" NOT NULL
        CHECK (relation IN ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
    weight DOUBLE PRECISION NOT NULL DEFAULT 1.0,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, source_kind, source_id, target_kind, target_id, relation)
);
-- edges that come in
CREATE INDEX memory_links_target ON memory_links (tenant_id, target_kind, target_id);

-- Pools and their members.
CREATE TABLE pools (
    tenant_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    metadata JSON NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, name)
);

CREATE TABLE pool_members (
    tenant_id TEXT COLLATE "C" NOT NULL,
    pool TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    joined_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, pool, agent),
    FOREIGN KEY (tenant_id, pool) REFERENCES pools (tenant_id, name)
);
-- the pools of an agent
CREATE INDEX pool_members_agent ON pool_members (tenant_id, agent);

-- Keys of callers over a network; of their secrets only digests.
CREATE TABLE access_keys (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C",
    role TEXT COLLATE "C" NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    name TEXT COLLATE "C",
    digest TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ,
    PRIMARY KEY (tenant_id, id)
);

-- Every embedder whose vectors were searched (retired), are (active: at most one) or will be (building: at most one).
CREATE TABLE embedding_versions (
    tenant_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    dims INTEGER NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    created_at TIMESTAMPTZ NOT NULL,
    activated_at TIMESTAMPTZ,
    PRIMARY KEY (tenant_id, version)
);
-- one of each
CREATE UNIQUE INDEX embedding_versions_state ON embedding_versions (tenant_id, state) WHERE state <> 'retired';

-- Every memory's place in the searches, and how often it has each word, for ranking: total own and near words, and 8
-- bytes for each term. state: 1 waits for its vector, 2 has it, 3 gone (kept, so that no doc is used twice).
CREATE TABLE memory_index (
    doc BIGINT NOT NULL,
    tenant_id TEXT COLLATE "C" NOT NULL,
    namespace BIGINT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    expires_at TIMESTAMPTZ,
    own INTEGER NOT NULL DEFAULT 0,
    near INTEGER NOT NULL DEFAULT 0,
    packed BYTEA,
    PRIMARY KEY (tenant_id, doc)
);
-- all memories of a small namespace
CREATE INDEX memory_index_namespace ON memory_index (tenant_id, namespace);
-- how many of some scopes still have to be embedded
CREATE INDEX memory_index_waiting ON memory_index (tenant_id, namespace) WHERE state = 1;
-- what still has to be embedded of every tenant, the oldest first
CREATE INDEX memory_index_queue ON memory_index (doc) WHERE state = 1;
-- whose memory it is, for housekeeping over every tenant
CREATE INDEX memory_index_doc ON memory_index (doc);
-- what ran out but is still in the searches
CREATE INDEX memory_index_expiry ON memory_index (tenant_id, namespace, expires_at)
WHERE state < 3 AND expires_at IS NOT NULL;
-- what was believed once
CREATE INDEX memory_index_gone ON memory_index (tenant_id, namespace, doc) WHERE state = 3;

-- Vectors by the version that made them. One that is gone stays for questions about the past, unless it was erased. Each
-- version has its own index for nearest neighbours, made when the version is recorded (its dimensions are known then).
CREATE TABLE memory_vectors (
    tenant_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    doc BIGINT NOT NULL,
    namespace BIGINT NOT NULL,
    gone BOOLEAN NOT NULL DEFAULT false,
    embedding vector,
    PRIMARY KEY (tenant_id, version, doc)
);
-- all vectors of a small namespace
CREATE INDEX memory_vectors_namespace ON memory_vectors (tenant_id, version, namespace) WHERE NOT gone;

-- Words as codes glued to their namespace: own ("17o0a1b2c3d"), and of the turns around ("17n..."). Only codes and docs
-- are here, because PostgreSQL uses no GIN index behind row-level security: what they stand for is behind that wall.
CREATE TABLE memory_words (
    tenant_id TEXT COLLATE "C" NOT NULL,
    doc BIGINT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (tenant_id, doc)
);
-- the memories that hold a word, in large namespaces; every search reads what is not yet filed, which this keeps short
CREATE INDEX memory_words_words ON memory_words USING gin (words) WITH (gin_pending_list_limit = 512);

-- The second wall, behind the tenant_id of every statement: a transaction sees the tenant it says it is of.
ALTER TABLE namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespaces FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON namespaces USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE episodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE episodes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON episodes USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE speakers ENABLE ROW LEVEL SECURITY;
ALTER TABLE speakers FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON speakers USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE sessions_consolidations ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions_consolidations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON sessions_consolidations USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON facts USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE rules FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON rules USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE rule_applications ENABLE ROW LEVEL SECURITY;
ALTER TABLE rule_applications FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON rule_applications USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE memory_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_links FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_links USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE memory_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_index FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_index USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_vectors USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE pools ENABLE ROW LEVEL SECURITY;
ALTER TABLE pools FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON pools USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE pool_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE pool_members FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON pool_members USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE access_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON access_keys USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
-- What is of the whole database, every tenant may read; only housekeeping writes it.
ALTER TABLE memory_metadata ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_metadata FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_metadata USING (
    tenant_id = nullif(current_setting('engrain.tenant_id', true), '')
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY everybody_reads ON memory_metadata FOR SELECT USING (
    tenant_id = '' AND current_setting('engrain.tenant_id', true) <> ''
);
ALTER TABLE embedding_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedding_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON embedding_versions USING (
    tenant_id = nullif(current_setting('engrain.tenant_id', true), '')
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY everybody_reads ON embedding_versions FOR SELECT USING (
    tenant_id = '' AND current_setting('engrain.tenant_id', true) <> ''
);
