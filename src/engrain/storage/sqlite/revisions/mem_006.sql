-- Logs: exact JSON entries in order, by session, of one agent for one user.

-- Every session of a log; a subkey is a log of its own inside a session, '' the session's main one. last_sequence never
-- falls: the number of an entry that was taken off is not used again.
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
-- the session of a name; the subkeys of a session
CREATE UNIQUE INDEX log_sessions_name ON log_sessions (tenant_id, scope, log, session, subkey);
-- the sessions of a log, last written first
CREATE INDEX log_sessions_time ON log_sessions (tenant_id, scope, log, updated_at, session) WHERE subkey = '';
-- the sessions of a user
CREATE INDEX log_sessions_user ON log_sessions (tenant_id, user_id, id) WHERE user_id <> '';

-- Entries as ASCII JSON, in which every character of a text survives.
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
-- one entry for a key
CREATE UNIQUE INDEX log_entries_key ON log_entries (tenant_id, session_id, entry_key) WHERE entry_key IS NOT NULL;
