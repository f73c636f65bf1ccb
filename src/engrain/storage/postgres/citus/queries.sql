-- take_turn --
-- Take the next turns of a session; answers the last of them
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
VALUES (:tenant_id, :scope, :session, :turns, :at)
ON CONFLICT (tenant_id, scope, session) DO UPDATE SET
    last_turn = sessions_consolidations.last_turn + excluded.last_turn,
    first_seen_at = least(sessions_consolidations.first_seen_at, excluded.first_seen_at),
    consolidated_at = CASE WHEN :waits THEN NULL ELSE sessions_consolidations.consolidated_at END
RETURNING last_turn;

-- hold_speaker --
-- Check whether a speaker is known, who stays so until the end of the transaction
SELECT 1 FROM speakers WHERE tenant_id = :tenant_id AND scope = :scope AND speaker = :speaker FOR KEY SHARE;

-- add_event_of --
-- Add an event
INSERT INTO memory_events (
    tenant_id, id, event_type, scope, actor, request_id, memory_id, run_id, payload, created_at
) VALUES (
    :tenant_id, :id, :event_type, :scope, :actor, :request_id, :memory_id, :run_id, :payload, :at
);

-- entries_before --
-- Total the memories that are searched among some, by namespace
SELECT namespace, count(*), sum(own + near) FROM memory_index
WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3 GROUP BY namespace;

-- write_places --
-- Write the index entries of memories
INSERT INTO memory_index (tenant_id, doc, namespace, state, expires_at, own, near, packed, lenders)
SELECT namespaces.tenant_id, new.doc, new.namespace, new.state, new.expires_at, new.own, new.near, new.packed, new.lenders
FROM namespaces JOIN unnest(
    CAST(:docs AS bigint[]), CAST(:namespaces AS bigint[]), CAST(:states AS integer[]), CAST(:ends AS timestamptz[]),
    CAST(:owns AS integer[]), CAST(:nears AS integer[]), CAST(:packed AS bytea[]), CAST(:lenders AS bytea[])
) AS new (doc, namespace, state, expires_at, own, near, packed, lenders) ON new.namespace = namespaces.namespace
WHERE namespaces.tenant_id = :tenant_id
ON CONFLICT (tenant_id, doc) DO UPDATE SET
    own = excluded.own, near = excluded.near, packed = excluded.packed, lenders = excluded.lenders;

-- hold_entries --
-- Lock those of some memories that are searched; answers doc, namespace and words
SELECT doc, namespace, own + near FROM memory_index
WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3 ORDER BY doc FOR NO KEY UPDATE;

-- drop_entries --
-- Take memories out of the searches that are locked
UPDATE memory_index SET state = 3, own = 0, near = 0, packed = NULL, lenders = NULL
WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3;

-- how_many_vectors --
-- Estimate the number of vectors in the graph of a tenant's shard: the graph of a shard has the shard's number in its name
SELECT coalesce(pg_relation_size(to_regclass(
    :index || substr(CAST(CAST(tableoid AS regclass) AS text), length('memory_vectors_'))
)), 0) / (2 * vector_dims(embedding) + 400.0)
FROM memory_vectors WHERE tenant_id = :tenant_id LIMIT 1;

-- add_vectors_of --
-- Add vectors of a tenant, unless their memories have got some meanwhile
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, in_graph, embedding)
SELECT memory_index.tenant_id, :version, memory_index.doc, memory_index.namespace, new.in_graph, new.embedding
FROM memory_index JOIN unnest(
    CAST(:docs AS bigint[]), CAST(:in_graph AS boolean[]), CAST(:embeddings AS vector[])
) AS new (doc, in_graph, embedding) ON new.doc = memory_index.doc
WHERE memory_index.tenant_id = :tenant_id
ON CONFLICT DO NOTHING;

-- remove_vectors_of --
-- Remove vectors of a tenant
DELETE FROM memory_vectors WHERE tenant_id = :tenant_id AND version = :version AND doc IN :docs;

-- are_embedded_of --
-- Mark memories of a tenant as embedded by the active version
UPDATE memory_index SET state = 2 WHERE tenant_id = :tenant_id AND doc IN :docs AND state = 1;

-- retired_vectors --
-- List some vectors of retired versions
SELECT tenant_id, version, doc FROM memory_vectors
WHERE version IN (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'retired') LIMIT :limit;

-- size --
-- Measure our tables in bytes, on every node, their indexes included
SELECT coalesce(sum(citus_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname IN :tables;

-- searched_version --
-- Read the active version
SELECT max(version), max(dims) FROM embedding_versions WHERE tenant_id = '' AND state = 'active';

-- searched_namespaces --
-- List the namespaces of some scopes with their totals
SELECT kind, scope, namespace, memories, words, has_words FROM namespaces WHERE tenant_id = :tenant_id AND scope IN :scopes;

-- has_expired --
-- Check whether anything in some namespaces has run out
SELECT 1 FROM memory_index
WHERE tenant_id = :tenant_id AND namespace IN :namespaces AND state < 3 AND expires_at <= :now LIMIT 1;

-- has_waiting --
-- Check whether anything in some namespaces waits for a vector
SELECT 1 FROM memory_index WHERE tenant_id = :tenant_id AND namespace IN :namespaces AND state = 1 LIMIT 1;

-- reopen_sessions --
-- Reopen the sessions of some episodes
UPDATE sessions_consolidations SET consolidated_at = NULL
WHERE tenant_id = :tenant_id AND EXISTS (
    SELECT 1 FROM episodes
    WHERE episodes.tenant_id = :tenant_id AND episodes.id IN :ids AND episodes.scope = sessions_consolidations.scope
        AND episodes.session = sessions_consolidations.session
);

-- old_jobs --
-- List jobs that ended long ago, but for the last firing of each schedule
SELECT tenant_id, id FROM jobs WHERE finished_at < :before AND NOT EXISTS (
    SELECT 1 FROM (
        SELECT tenant_id, name, max(dedupe_key) AS newest FROM jobs
        WHERE dedupe_key IS NOT NULL GROUP BY tenant_id, name
    ) AS firings
    WHERE firings.tenant_id = jobs.tenant_id AND firings.name = jobs.name AND newest = jobs.dedupe_key
) ORDER BY finished_at LIMIT :limit;

-- drop_job --
-- Remove a job
DELETE FROM jobs WHERE tenant_id = :tenant_id AND id = :id;

-- has_active_vector --
-- Check whether a memory has a vector of the active version
SELECT 1 FROM memory_vectors
WHERE tenant_id = :tenant_id AND doc = :doc
    AND version = (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active');

-- put_back_as --
-- Put a memory back into the searches, in a state
UPDATE memory_index SET state = :state WHERE tenant_id = :tenant_id AND doc = :doc AND state = 3;

-- erase_speaker --
-- Remove a speaker without episodes
DELETE FROM speakers WHERE tenant_id = :tenant_id AND scope = :scope AND speaker = :speaker AND NOT EXISTS (
    SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND scope = :scope AND speaker = :speaker
);

-- erase_session --
-- Remove a session without episodes
DELETE FROM sessions_consolidations
WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session AND NOT EXISTS (
    SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session
);

-- recount_turns_of --
-- Count the turns of a session again after some were erased
UPDATE sessions_consolidations SET last_turn = (
    SELECT coalesce(max(turn), 0) FROM episodes WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session
)
WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session;
