-- Events, runs and jobs: what was done, by whom, when; and what is left of the erased.

CREATE TABLE memory_events (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    scope TEXT NOT NULL,
    actor TEXT,
    request_id TEXT,
    memory_id TEXT,
    run_id TEXT,
    payload TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
-- events, newest first
CREATE INDEX memory_events_time ON memory_events (tenant_id, created_at);
-- events of a type
CREATE INDEX memory_events_type ON memory_events (tenant_id, event_type, created_at);
-- what happened to a memory
CREATE INDEX memory_events_memory ON memory_events (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
-- what a run of learning did, in order
CREATE INDEX memory_events_run ON memory_events (tenant_id, run_id, id) WHERE run_id IS NOT NULL;

-- Ids that are never taken again.
CREATE TABLE tombstones (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    digest TEXT NOT NULL,
    erased_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- Runs of learning: who works for an agent, until when nobody else does, and what came of it.
CREATE TABLE runs (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('consolidation', 'reflection', 'summary')),
    agent TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'failed', 'abandoned', 'undone')),
    worker TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    model TEXT,
    prompt_version TEXT,
    episode_ids TEXT NOT NULL DEFAULT '[]',
    report TEXT NOT NULL DEFAULT '{}',
    error TEXT,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
-- one of a kind at a time for an agent
CREATE UNIQUE INDEX runs_running ON runs (tenant_id, agent, kind) WHERE status = 'running';
-- an agent's, newest first
CREATE INDEX runs_time ON runs (tenant_id, agent, started_at, id);

-- Background work: when it is due, who does it until when, and what came of it.
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
