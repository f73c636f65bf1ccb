-- Pools that agents share, and the jobs that keep a memory tidy.

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

CREATE TABLE jobs (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    dedupe_key TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'running', 'done', 'dead_letter', 'skipped')),
    run_at TIMESTAMPTZ NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    lease_until TIMESTAMPTZ,
    worker TEXT COLLATE "C",
    report JSON NOT NULL DEFAULT '{}',
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    PRIMARY KEY (tenant_id, id)
);
-- one job for each firing of a schedule
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant_id, name, dedupe_key) WHERE dedupe_key IS NOT NULL;
-- what is due
CREATE INDEX jobs_due ON jobs (tenant_id, run_at, id) WHERE status IN ('waiting', 'running');

-- The second wall, behind the tenant_id of every statement: a transaction sees the tenant it says it is of.
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
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON jobs USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
