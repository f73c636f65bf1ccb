-- Logs: exact JSON entries in order, by session, of one agent for one user.

-- Every session of a log; a subkey is a log of its own inside a session, '' the session's main one. last_sequence never
-- falls: the number of an entry that was taken off is not used again.
CREATE TABLE log_sessions (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
    ) STORED,
    log TEXT COLLATE "C" NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    subkey TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
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
    tenant_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
    ) STORED,
    entry_key TEXT COLLATE "C",
    entry TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, session_id, sequence)
);
-- one entry for a key
CREATE UNIQUE INDEX log_entries_key ON log_entries (tenant_id, session_id, entry_key) WHERE entry_key IS NOT NULL;

-- Both walls behind the tenant and the scope of every statement.
ALTER TABLE log_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE log_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON log_sessions USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON log_sessions AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE log_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE log_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON log_entries USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON log_entries AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
