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

-- The second wall, behind the tenant_id of every statement: a transaction sees the tenant it says it is of.
ALTER TABLE runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE runs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON runs USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
