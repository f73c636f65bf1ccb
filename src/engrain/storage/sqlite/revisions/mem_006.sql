-- Keys of whoever comes over a network; of their secrets only digests.

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
