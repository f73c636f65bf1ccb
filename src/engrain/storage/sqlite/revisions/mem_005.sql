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
