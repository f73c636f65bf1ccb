-- Events: what was done, by whom, when; and what is left of the erased.

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
