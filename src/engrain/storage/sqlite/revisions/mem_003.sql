-- Events: what was done, by whom, when; and what is left of the erased.

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
