-- Most events are of turns: they are read along the index of times, and cost the index of types nothing.

DROP INDEX memory_events_type;
-- the events of a type, newest first; who learned lately
CREATE INDEX memory_events_type ON memory_events (tenant_id, event_type, created_at)
WHERE event_type <> 'episode_created';
