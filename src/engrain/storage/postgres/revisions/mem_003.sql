-- Events, runs and jobs: what was done, by whom, when; and what is left of the erased.

CREATE TABLE memory_events (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    request_id TEXT COLLATE "C",
    memory_id TEXT COLLATE "C",
    run_id TEXT COLLATE "C",
    payload JSON NOT NULL DEFAULT '{}',
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- events, newest first
CREATE INDEX memory_events_time ON memory_events (tenant_id, created_at);
-- what is older than the retention of events, of every tenant
CREATE INDEX memory_events_age ON memory_events USING brin (created_at);
-- events of a type
CREATE INDEX memory_events_type ON memory_events (tenant_id, event_type, created_at);
-- what happened to a memory
CREATE INDEX memory_events_memory ON memory_events (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
-- what a run of learning did, in order
CREATE INDEX memory_events_run ON memory_events (tenant_id, run_id, id) WHERE run_id IS NOT NULL;

-- Ids that are never taken again.
CREATE TABLE tombstones (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    erased_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- Runs of learning: who works for an agent, until when nobody else does, and what came of it.
CREATE TABLE runs (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('consolidation', 'reflection', 'summary')),
    agent TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'failed', 'abandoned', 'undone')),
    worker TEXT COLLATE "C" NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    model TEXT COLLATE "C",
    prompt_version TEXT COLLATE "C",
    episode_ids TEXT[] NOT NULL DEFAULT '{}',
    report JSON NOT NULL DEFAULT '{}',
    error TEXT,
    PRIMARY KEY (tenant_id, id)
);
-- one of a kind at a time for an agent
CREATE UNIQUE INDEX runs_running ON runs (tenant_id, agent, kind) WHERE status = 'running';
-- an agent's, newest first
CREATE INDEX runs_time ON runs (tenant_id, agent, started_at, id);

-- Background work: when it is due, who does it until when, and what came of it.
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
ALTER TABLE memory_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_events FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_events USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON tombstones USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON jobs USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE runs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON runs USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
