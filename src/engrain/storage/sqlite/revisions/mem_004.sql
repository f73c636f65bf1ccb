-- Pools that agents share, and the jobs that keep a memory tidy.

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
-- the pools of an agent
CREATE INDEX pool_members_agent ON pool_members (tenant_id, agent);

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
-- one job for each firing of a schedule
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant_id, name, dedupe_key) WHERE dedupe_key IS NOT NULL;
-- what is due
CREATE INDEX jobs_due ON jobs (tenant_id, run_at, id) WHERE status IN ('waiting', 'running');
