-- Items: exact JSON objects by namespace and key, of one agent for one user.

-- The version of an item grows with every write, and no later item under its key has an earlier one's. A row with
-- replaced_at is a version that was overwritten. A namespace is /label/label/, with % and / escaped; fields are those
-- that a search reads, as a JSON list. Values are ASCII JSON, in which every character of a text survives.
CREATE TABLE items (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
    ) STORED,
    namespace TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    value TEXT NOT NULL,
    fields TEXT,
    ttl_s DOUBLE PRECISION,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ,
    replaced_at TIMESTAMPTZ,
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
    tenant_id TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE WHEN substr(scope, 1, 5) = 'user:'
            THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
    ) STORED,
    version BIGINT NOT NULL,
    words BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    embedder TEXT,
    vectors BYTEA,
    PRIMARY KEY (tenant_id, item_id)
);

-- Both walls behind the tenant and the scope of every statement.
ALTER TABLE items ENABLE ROW LEVEL SECURITY;
ALTER TABLE items FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON items USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON items AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE item_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE item_index FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON item_index USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON item_index AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
