-- The newest schema, which a new file is made of: what all revisions make of an empty one.
-- Written by tools/generate_schema.py; a change of the schema is a new revision.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
CREATE TABLE memory_metadata (
    tenant_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant_id, key)
) WITHOUT ROWID;
CREATE TABLE sequences (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITHOUT ROWID;
CREATE TABLE namespaces (
    tenant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    namespace INTEGER NOT NULL,
    memories INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    PRIMARY KEY (tenant_id, kind, scope)
) WITHOUT ROWID;
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
, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL);
CREATE UNIQUE INDEX episodes_id ON episodes (tenant_id, id);
CREATE INDEX episodes_session ON episodes (tenant_id, scope, session, turn);
CREATE INDEX episodes_time ON episodes (tenant_id, scope, event_time);
CREATE INDEX episodes_importance ON episodes (tenant_id, scope, importance, event_time);
CREATE INDEX episodes_expiry ON episodes (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX episodes_pending ON episodes (tenant_id, agent, created_at, id) WHERE consolidation_status = 'pending';
CREATE INDEX episodes_consolidated ON episodes (tenant_id, created_at, id) WHERE consolidation_status = 'consolidated';
CREATE TABLE speakers (
    tenant_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    speaker TEXT NOT NULL, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    PRIMARY KEY (tenant_id, scope, speaker)
) WITHOUT ROWID;
CREATE TABLE sessions_consolidations (
    tenant_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    session TEXT NOT NULL,
    last_turn INTEGER NOT NULL DEFAULT 0,
    first_seen_at INTEGER NOT NULL,
    consolidated_at INTEGER, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
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
    enriched INTEGER GENERATED ALWAYS AS (metadata -> '$.enriched_at' IS NOT NULL) VIRTUAL, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL, subject_key TEXT NOT NULL DEFAULT '', predicate_key TEXT NOT NULL DEFAULT '', value_key TEXT NOT NULL DEFAULT '',
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id),
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id),
    FOREIGN KEY (tenant_id, supersedes_id) REFERENCES facts (tenant_id, id)
);
CREATE UNIQUE INDEX facts_id ON facts (tenant_id, id);
CREATE INDEX facts_time ON facts (tenant_id, scope, coalesce(valid_from, created_at));
CREATE INDEX facts_importance ON facts (tenant_id, scope, importance, coalesce(valid_from, created_at));
CREATE INDEX facts_source ON facts (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;
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
    metadata TEXT NOT NULL DEFAULT '{}', user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    FOREIGN KEY (tenant_id, source_episode_id) REFERENCES episodes (tenant_id, id)
);
CREATE UNIQUE INDEX rules_id ON rules (tenant_id, id);
CREATE INDEX rules_time ON rules (tenant_id, scope, created_at);
CREATE INDEX rules_source ON rules (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;
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
CREATE INDEX rule_applications_rule ON rule_applications (tenant_id, rule_id, created_at);
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
CREATE INDEX memory_links_target ON memory_links (tenant_id, target_kind, target_id);
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
CREATE INDEX pool_members_agent ON pool_members (tenant_id, agent);
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
    last_used_at INTEGER, user_id TEXT,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
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
CREATE UNIQUE INDEX embedding_versions_state ON embedding_versions (tenant_id, state) WHERE state <> 'retired';
CREATE TABLE memory_index (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    namespace INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    expires_at INTEGER,
    own INTEGER NOT NULL DEFAULT 0,
    near INTEGER NOT NULL DEFAULT 0,
    packed BLOB
, stale INTEGER NOT NULL DEFAULT 0);
CREATE INDEX memory_index_waiting ON memory_index (namespace) WHERE state = 1;
CREATE INDEX memory_index_expiry ON memory_index (namespace, expires_at)
WHERE state < 3 AND expires_at IS NOT NULL;
CREATE INDEX memory_index_gone ON memory_index (tenant_id, namespace, doc) WHERE state = 3;
CREATE TABLE memory_vectors (
    tenant_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    change INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    embedding BLOB
);
CREATE UNIQUE INDEX memory_vectors_doc ON memory_vectors (version, doc);
CREATE INDEX memory_vectors_change ON memory_vectors (version, namespace, change);
CREATE VIRTUAL TABLE memory_words USING fts5 (
    own,
    near,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
CREATE TABLE entities (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    canonical_name TEXT NOT NULL,
    entity_type TEXT NOT NULL
        CHECK (entity_type IN ('person', 'organization', 'place', 'project', 'email', 'url', 'other')),
    aliases TEXT NOT NULL DEFAULT '[]',
    mention_count INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}', user_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE entity_names (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    entity_id TEXT NOT NULL, user_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, name, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE entity_trigrams (
    tenant_id TEXT NOT NULL,
    trigram TEXT NOT NULL,
    entity_id TEXT NOT NULL, user_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, trigram, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE memory_entities (
    tenant_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    memory_kind TEXT NOT NULL CHECK (memory_kind IN ('episode', 'fact', 'rule')),
    memory_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    PRIMARY KEY (tenant_id, entity_id, memory_kind, memory_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX memory_entities_memory ON memory_entities (tenant_id, memory_kind, memory_id);
CREATE INDEX memory_entities_time ON memory_entities (tenant_id, entity_id, memory_kind, scope, happened_at, memory_id);
CREATE INDEX facts_about ON facts (tenant_id, entity_id, scope, coalesce(valid_from, created_at)) WHERE entity_id IS NOT NULL;
CREATE TABLE memory_events (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    scope TEXT NOT NULL,
    actor TEXT,
    request_id TEXT,
    memory_id TEXT,
    run_id TEXT,
    payload TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX memory_events_time ON memory_events (tenant_id, created_at);
CREATE INDEX memory_events_memory ON memory_events (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX memory_events_run ON memory_events (tenant_id, run_id, id) WHERE run_id IS NOT NULL;
CREATE TABLE tombstones (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    digest TEXT NOT NULL,
    erased_at INTEGER NOT NULL, user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE runs (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('consolidation', 'reflection', 'summary')),
    agent TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'failed', 'abandoned', 'undone')),
    worker TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    model TEXT,
    prompt_version TEXT,
    episode_ids TEXT NOT NULL DEFAULT '[]',
    report TEXT NOT NULL DEFAULT '{}',
    error TEXT, user_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX runs_time ON runs (tenant_id, agent, started_at, id);
CREATE TABLE jobs (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    dedupe_key TEXT,
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'running', 'done', 'dead_letter', 'skipped')),
    run_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    worker TEXT,
    report TEXT NOT NULL DEFAULT '{}',
    last_error TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant_id, name, dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX jobs_due ON jobs (tenant_id, run_at, id) WHERE status IN ('waiting', 'running');
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, canonical_name, entity_type, user_id);
CREATE INDEX entities_user ON entities (tenant_id, user_id, id) WHERE user_id <> '';
CREATE INDEX memory_events_user ON memory_events (tenant_id, user_id, id) WHERE user_id <> '';
CREATE UNIQUE INDEX runs_running ON runs (tenant_id, agent, user_id, kind) WHERE status = 'running';
CREATE UNIQUE INDEX facts_active_subject ON facts (tenant_id, scope, subject_key, predicate_key, value_key)
WHERE validity = 'active' AND entity_id IS NULL;
CREATE UNIQUE INDEX facts_active_entity ON facts (tenant_id, entity_id, scope, predicate_key, value_key)
WHERE validity = 'active' AND entity_id IS NOT NULL;
CREATE INDEX facts_subject ON facts (tenant_id, subject_key, predicate_key);
CREATE INDEX facts_entity ON facts (tenant_id, entity_id, predicate_key, scope) WHERE entity_id IS NOT NULL;
CREATE INDEX facts_unkeyed ON facts (tenant_id, doc) WHERE predicate_key = '';
CREATE TABLE log_sessions (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
    ) VIRTUAL,
    log TEXT NOT NULL,
    session TEXT NOT NULL,
    subkey TEXT NOT NULL,
    entries INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX log_sessions_name ON log_sessions (tenant_id, scope, log, session, subkey);
CREATE INDEX log_sessions_time ON log_sessions (tenant_id, scope, log, updated_at, session) WHERE subkey = '';
CREATE INDEX log_sessions_user ON log_sessions (tenant_id, user_id, id) WHERE user_id <> '';
CREATE TABLE log_entries (
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
    ) VIRTUAL,
    entry_key TEXT,
    entry TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, session_id, sequence)
);
CREATE UNIQUE INDEX log_entries_key ON log_entries (tenant_id, session_id, entry_key) WHERE entry_key IS NOT NULL;
CREATE INDEX memory_index_stale ON memory_index (tenant_id, doc) WHERE stale = 1;
CREATE INDEX memory_events_type ON memory_events (tenant_id, event_type, created_at)
WHERE event_type <> 'episode_created';
CREATE TABLE items (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
    ) VIRTUAL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    fields TEXT,
    ttl_s REAL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    replaced_at INTEGER,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX items_key ON items (tenant_id, scope, namespace, key) WHERE replaced_at IS NULL;
CREATE INDEX items_versions ON items (tenant_id, scope, namespace, key, version);
CREATE INDEX items_expiry ON items (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX items_user ON items (tenant_id, user_id, id) WHERE user_id <> '';
CREATE TABLE item_index (
    tenant_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    user_id TEXT NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
    ) VIRTUAL,
    version INTEGER NOT NULL,
    words INTEGER NOT NULL,
    packed BLOB NOT NULL,
    embedder TEXT,
    vectors BLOB,
    PRIMARY KEY (tenant_id, item_id)
);
CREATE TABLE memory_vector_packs (
    tenant_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    changes_after INTEGER NOT NULL,
    last_change INTEGER NOT NULL,
    first_doc INTEGER NOT NULL,
    last_doc INTEGER NOT NULL,
    centre BLOB NOT NULL, -- float32[dims]: the bits say on which side of it a row lies
    docs BLOB NOT NULL, -- int64[n]
    scales BLOB NOT NULL, -- float32[n]
    codes BLOB NOT NULL, -- int8[n, dims]
    bits BLOB NOT NULL -- uint64[words, n]
);
CREATE UNIQUE INDEX memory_vector_packs_change ON memory_vector_packs (version, namespace, last_change);
INSERT INTO alembic_version VALUES ('mem_017');
INSERT INTO sequences VALUES ('', 'change', 0);
INSERT INTO sequences VALUES ('', 'namespace', 0);
INSERT INTO sequences VALUES ('', 'settled', 0);
