-- Items: exact JSON objects by namespace and key, of one agent for one user.

-- The version of an item grows with every write, and no later item under its key has an earlier one's. A row with
-- replaced_at is a version that was overwritten. A namespace is /label/label/, with % and / escaped; fields are those
-- that a search reads, as a JSON list. Values are ASCII JSON, in which every character of a text survives.
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
-- the item of a key; the items and namespaces below one
CREATE UNIQUE INDEX items_key ON items (tenant_id, scope, namespace, key) WHERE replaced_at IS NULL;
-- the versions of an item
CREATE INDEX items_versions ON items (tenant_id, scope, namespace, key, version);
-- the items whose time to live is over
CREATE INDEX items_expiry ON items (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
-- the items of a user
CREATE INDEX items_user ON items (tenant_id, user_id, id) WHERE user_id <> '';

-- What a search reads of an item: its words, and the vectors of its texts by the embedder that is named, one after the
-- other. Of a version that is the item's no more, nothing is read.
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
