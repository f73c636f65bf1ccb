-- Keys of whoever comes over a network; of their secrets only digests.

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

-- The second wall, behind the tenant_id of every statement: a transaction sees the tenant it says it is of.
ALTER TABLE access_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON access_keys USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
