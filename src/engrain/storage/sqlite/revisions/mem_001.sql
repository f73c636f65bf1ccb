-- Baseline: episodes, facts, and the index they are found by. Times are microseconds since 1970 in UTC.

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

-- What is searched together: one integer for (tenant, kind, scope), glued to every indexed word, and the totals that a
-- word's weight is judged by.
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
    role TEXT NOT NULL,
    speaker TEXT,
    content TEXT NOT NULL,
    event_time INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    importance REAL NOT NULL DEFAULT 5.0,
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    consolidation_status TEXT NOT NULL DEFAULT 'pending',
    tags TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}'
);
-- get, and the guard of idempotent writes
CREATE UNIQUE INDEX episodes_id ON episodes (tenant_id, id);
-- the turns around a turn; filters by session
CREATE INDEX episodes_session ON episodes (tenant_id, scope, session, turn);
-- recent; filters by time
CREATE INDEX episodes_time ON episodes (tenant_id, scope, event_time);

-- Who ever spoke in a scope.
CREATE TABLE speakers (
    tenant_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    speaker TEXT NOT NULL,
    PRIMARY KEY (tenant_id, scope, speaker)
) WITHOUT ROWID;

CREATE TABLE facts (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL DEFAULT 'global',
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    content TEXT NOT NULL,
    confidence REAL NOT NULL DEFAULT 1.0,
    importance REAL NOT NULL DEFAULT 5.0,
    permanence TEXT NOT NULL DEFAULT 'standard',
    decay_rate REAL NOT NULL DEFAULT 0.008,
    validity TEXT NOT NULL DEFAULT 'active',
    valid_from INTEGER,
    valid_to INTEGER,
    created_at INTEGER NOT NULL,
    superseded_at INTEGER,
    supersedes_id TEXT,
    source_episode_id TEXT,
    last_confirmed_at INTEGER,
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}'
);
-- get, and the guard of idempotent writes
CREATE UNIQUE INDEX facts_id ON facts (tenant_id, id);
-- one truth at a time: the fact a new one supersedes
CREATE UNIQUE INDEX facts_active ON facts (tenant_id, scope, subject, predicate) WHERE validity = 'active';
-- recent; filters by time
CREATE INDEX facts_time ON facts (tenant_id, scope, coalesce(valid_from, created_at));

-- Every settled memory's place in the searches, and its vector. state: 1 waits for its vector, 2 has it, 3 gone (kept, so that
-- every process hears of it and no doc is used twice). A memory is settled once its neighbours' words are indexed too;
-- docs beyond the sequence 'settled' are not yet, and are found by their own words alone.
CREATE TABLE memory_index (
    doc INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    namespace INTEGER NOT NULL,
    state INTEGER NOT NULL,
    expires_at INTEGER,
    change INTEGER,
    embedding BLOB
);
-- what still has to be embedded
CREATE INDEX memory_index_waiting ON memory_index (namespace) WHERE state = 1;
-- what ran out but is still in the searches
CREATE INDEX memory_index_expiry ON memory_index (expires_at) WHERE state < 3 AND expires_at IS NOT NULL;
-- vectors that came or went since a process last looked
CREATE INDEX memory_index_change ON memory_index (namespace, change) WHERE state >= 2;

-- Stems glued to their namespace: a memory's own words, and those of the turns around it. Every printable character
-- belongs to a word here: the analyzer has already split them (domain/analysis.py).
CREATE VIRTUAL TABLE memory_words USING fts5 (
    own,
    near,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);

-- The same words with their counts, for ranking (domain/bm25.py): total own and near words, and 8 bytes for each term.
CREATE TABLE memory_terms (
    doc INTEGER PRIMARY KEY,
    own INTEGER NOT NULL,
    near INTEGER NOT NULL,
    packed BLOB NOT NULL
);

INSERT INTO sequences (tenant_id, name, value) VALUES
    ('', 'change', 0), ('', 'namespace', 0), ('', 'settled', 0);
