-- prepare_episode --
-- Prepare a new episode, where its id is not taken by any kind or by a tombstone: no doc, the number after
-- its session's last turn (0 without a session), and whether its speaker is known there, and stays known until the end
-- of the transaction. Whoever has the turn writes this session alone until then, so docs ascend with turns if clocks agree
WITH taken AS (
    SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL SELECT 1 FROM facts WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL SELECT 1 FROM rules WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND id = :id
), turned AS (
    INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
    SELECT CAST(:tenant_id AS text), CAST(:scope AS text), CAST(:session AS text), 1, CAST(:at AS timestamptz)
    WHERE CAST(:session AS text) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM taken)
    ON CONFLICT (tenant_id, scope, session) DO UPDATE SET last_turn = sessions_consolidations.last_turn + 1,
        first_seen_at = least(sessions_consolidations.first_seen_at, excluded.first_seen_at),
        consolidated_at = CASE WHEN CAST(:waits AS boolean) THEN NULL ELSE sessions_consolidations.consolidated_at END
    RETURNING last_turn AS turn
), place AS (
    SELECT turn FROM turned
    UNION ALL SELECT 0 WHERE CAST(:session AS text) IS NULL AND NOT EXISTS (SELECT 1 FROM taken)
)
SELECT NULL, turn, EXISTS (
        SELECT 1 FROM speakers
        WHERE tenant_id = :tenant_id AND scope = :scope AND speaker = :speaker AND turn IS NOT NULL FOR KEY SHARE
    ),
    FALSE
FROM place;

-- take_turns --
-- Take the next turns of some sessions, given as (place, scope, session, turns, first seen at, whether they wait): whoever
-- has them writes these sessions alone until the end of the transaction. Answers the last turn before them
WITH given AS (
    SELECT CAST(value ->> 0 AS integer) AS place, value ->> 1 AS scope, value ->> 2 AS session,
        CAST(value ->> 3 AS integer) AS turns, CAST(value ->> 4 AS timestamptz) AS first_seen_at,
        CAST(value ->> 5 AS boolean) AS waits
    FROM EACH :sessions AS given
), taken AS (
    INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
    SELECT CAST(:tenant_id AS text), scope, session, turns, first_seen_at FROM given ORDER BY scope, session
    ON CONFLICT (tenant_id, scope, session) DO UPDATE SET
        last_turn = sessions_consolidations.last_turn + excluded.last_turn,
        first_seen_at = least(sessions_consolidations.first_seen_at, excluded.first_seen_at),
        consolidated_at = CASE
            WHEN (excluded.scope, excluded.session) IN (SELECT scope, session FROM given WHERE waits) THEN NULL
            ELSE sessions_consolidations.consolidated_at
        END
    RETURNING scope, session, last_turn
)
SELECT place, last_turn - turns, FALSE FROM taken JOIN given USING (scope, session);

-- hold_speakers --
-- List the known ones of some speakers, given as (scope, speaker), which stay known until the end of the transaction
SELECT scope, speaker FROM speakers
WHERE tenant_id = :tenant_id AND (scope, speaker) IN (
    SELECT given.value ->> 0, given.value ->> 1 FROM EACH :speakers AS given
)
ORDER BY scope, speaker FOR KEY SHARE;

-- lock_sessions_of --
-- Lock the sessions of some episodes
SELECT 1 FROM sessions_consolidations
WHERE tenant_id = :tenant_id AND (scope, session) IN (
    SELECT scope, session FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids AND scope IN :scopes
)
ORDER BY scope, session FOR NO KEY UPDATE;

-- scopes_of --
-- List the scopes of a tenant
SELECT DISTINCT scope FROM namespaces WHERE tenant_id = :tenant_id;

-- lock_speakers_of --
-- Lock the speakers of some episodes
SELECT 1 FROM speakers
WHERE tenant_id = :tenant_id AND (scope, speaker) IN (
    SELECT scope, speaker FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids AND scope IN :scopes
)
ORDER BY scope, speaker FOR UPDATE;

-- recount_turns --
-- Count the turns of some sessions, given as (scope, session), again after some were erased
UPDATE sessions_consolidations SET last_turn = (
    SELECT coalesce(max(turn), 0) FROM episodes
    WHERE episodes.tenant_id = :tenant_id AND episodes.scope = sessions_consolidations.scope
        AND episodes.session = sessions_consolidations.session
)
WHERE tenant_id = :tenant_id AND (scope, session) IN (
    SELECT given.value ->> 0, given.value ->> 1 FROM EACH :sessions AS given
);

-- add_namespace --
-- Number a tenant's kind and scope, unless it has a number or another of the tenant's has this one
INSERT INTO namespaces (tenant_id, kind, scope, namespace) VALUES (:tenant_id, :kind, :scope, :namespace)
ON CONFLICT DO NOTHING RETURNING namespace, memories, has_words;

-- find_namespace --
-- Find the number of a tenant's kind and scope, how many memories it has, and whether their words are in the keyword index
SELECT namespace, memories, has_words FROM namespaces WHERE tenant_id = :tenant_id AND kind = :kind AND scope = :scope;

-- scopes_of_user --
-- List the scopes of a user's memories
SELECT DISTINCT scope FROM namespaces WHERE tenant_id = :tenant_id AND user_id = :user_id;

-- scopes_of_pool --
-- List the scopes of a pool's memories, given that of no user
SELECT DISTINCT scope FROM namespaces
WHERE tenant_id = :tenant_id
    AND scope IN (:scope, 'user:' || replace(replace(user_id, '%', '%25'), '/', '%2F') || '/' || :scope);

-- tenants --
-- List tenants that have memories, or items that expire
SELECT tenant_id FROM namespaces UNION
SELECT tenant_id FROM items WHERE expires_at IS NOT NULL ORDER BY tenant_id;

-- count_words --
-- Update a namespace's totals, and whether its words are in the keyword index. An error where `known`, by which memories
-- were written, is no longer so; nobody else adds to the namespace from here on
UPDATE namespaces SET memories = memories + :memories, words = words + :words, has_words = CASE
        WHEN CAST(:known AS boolean) IS NULL THEN has_words
        WHEN has_words = CAST(:known AS boolean) THEN CAST(:has_words AS boolean)
    END
WHERE tenant_id = :tenant_id AND namespace = :namespace;

-- searched --
-- Read the active version and the namespaces of some scopes: totals, whether they hold something expired, and
-- whether something waits for its vector. Nothing is ever left unindexed
SELECT version, dims, 0, 0, FALSE, kind, scope, namespace, memories, words,
    EXISTS (
        SELECT 1 FROM memory_index
        WHERE memory_index.tenant_id = :tenant_id AND memory_index.namespace = namespaces.namespace
            AND state < 3 AND expires_at <= :now
    ),
    EXISTS (
        SELECT 1 FROM memory_index
        WHERE memory_index.tenant_id = :tenant_id AND memory_index.namespace = namespaces.namespace AND state = 1
    ), 0, has_words
FROM (SELECT max(version) AS version, max(dims) AS dims FROM embedding_versions WHERE tenant_id = '' AND state = 'active')
LEFT JOIN namespaces ON tenant_id = :tenant_id AND scope IN :scopes;

-- write_entries --
-- Write the index entries of memories, in place of earlier ones; answers the totals of those
WITH new AS (
    SELECT * FROM unnest(
        CAST(:docs AS bigint[]), CAST(:namespaces AS bigint[]), CAST(:states AS integer[]), CAST(:ends AS timestamptz[]),
        CAST(:owns AS integer[]), CAST(:nears AS integer[]), CAST(:packed AS bytea[]), CAST(:lenders AS bytea[])
    ) AS new (doc, namespace, state, expires_at, own, near, packed, lenders)
), placed AS (
    INSERT INTO memory_index (tenant_id, doc, namespace, state, expires_at, own, near, packed, lenders)
    SELECT CAST(:tenant_id AS text), doc, namespace, state, expires_at, own, near, packed, lenders FROM new
    ON CONFLICT (tenant_id, doc) DO UPDATE SET
        own = excluded.own, near = excluded.near, packed = excluded.packed, lenders = excluded.lenders
)
SELECT namespace, count(*), sum(own + near) FROM memory_index
WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3 GROUP BY namespace;

-- write_words --
-- Write the words of memories into the keyword index. A node of a cluster writes what is given beside a row of the tenant's
INSERT INTO memory_words (tenant_id, doc, words)
SELECT namespaces.tenant_id, new.doc, CAST(new.words AS tsvector) FROM namespaces JOIN unnest(
    CAST(:docs AS bigint[]), CAST(:words AS text[])
) AS new (doc, words) ON namespaces.namespace = :namespace
WHERE namespaces.tenant_id = :tenant_id
ON CONFLICT (tenant_id, doc) DO UPDATE SET words = excluded.words;

-- is_out --
-- Check whether a memory of the transaction's tenant is out of the searches
SELECT 1 FROM memory_index WHERE tenant_id = current_setting('engrain.tenant_id') AND doc = :doc AND state = 3;

-- take_out --
-- Take memories out of the searches; answers their number and words by namespace
WITH before AS (
    SELECT doc, own + near AS words FROM memory_index
    WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3 ORDER BY doc FOR NO KEY UPDATE
), dropped AS (
    UPDATE memory_index SET state = 3, own = 0, near = 0, packed = NULL, lenders = NULL FROM before
    WHERE memory_index.tenant_id = :tenant_id AND memory_index.doc = before.doc
    RETURNING memory_index.namespace, before.words
)
SELECT namespace, count(*), sum(words) FROM dropped GROUP BY namespace;

-- drop_words --
-- Remove memories from the keyword index
DELETE FROM memory_words WHERE tenant_id = :tenant_id AND doc IN :docs;

-- put_back --
-- Put a memory back into the searches, with the vector it had
UPDATE memory_index SET state = CASE WHEN EXISTS (
    SELECT 1 FROM memory_vectors
    WHERE memory_vectors.tenant_id = memory_index.tenant_id AND memory_vectors.doc = memory_index.doc AND version = (
        SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active'
    )
) THEN 2 ELSE 1 END WHERE tenant_id = :tenant_id AND doc = :doc AND state = 3;

-- put_back_vectors --
-- Put its vectors back into the search
UPDATE memory_vectors SET gone = false
WHERE tenant_id = :tenant_id AND doc = :doc AND gone AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- take_out_vectors --
-- Take vectors out of the search, but for questions about the past
UPDATE memory_vectors SET gone = true
WHERE tenant_id = :tenant_id AND doc IN :docs AND NOT gone
    AND version IN (SELECT version FROM embedding_versions WHERE tenant_id = '');

-- erase_entries --
-- Erase the index entries of some memories
DELETE FROM memory_index WHERE tenant_id = :tenant_id AND doc IN :docs;

-- erase_vectors --
-- Erase the vectors of some memories
DELETE FROM memory_vectors
WHERE tenant_id = :tenant_id AND doc IN :docs
    AND version IN (SELECT version FROM embedding_versions WHERE tenant_id = '');

-- words_of_all --
-- Read all words of some namespaces, side by side: docs, lengths, sizes, the words, how many bytes name those
-- that lend each theirs, the docs of these, and whether it has expired
SELECT string_agg(int8send(doc), ''), string_agg(int4send(own + near), ''), string_agg(int4send(length(packed)), ''),
    string_agg(packed, ''), string_agg(int4send(coalesce(length(lenders), 0)), ''), string_agg(lenders, ''),
    string_agg(CASE WHEN expires_at <= :now THEN '\x01'::bytea ELSE '\x00'::bytea END, '')
FROM memory_index WHERE tenant_id = :tenant_id AND namespace IN :namespaces AND state < 3;

-- words_of --
-- Read the words of some memories, side by side: docs, lengths, sizes, the words, how many bytes name those that lend
-- each theirs, and the docs of these
SELECT string_agg(int8send(doc), ''), string_agg(int4send(own + near), ''), string_agg(int4send(length(packed)), ''),
    string_agg(packed, ''), string_agg(int4send(coalesce(length(lenders), 0)), ''), string_agg(lenders, '')
FROM memory_index WHERE tenant_id = :tenant_id AND doc IN :docs AND state < 3;

-- postings --
-- List for each query the docs that hold any of its words, and those that hold any in its other form; each row
-- is visited once for both, and each query read once
WITH asked AS MATERIALIZED (
    SELECT CAST(query AS tsquery) AS query, CAST(own AS tsquery) AS own, place
    FROM unnest(CAST(:queries AS text[]), CAST(:owns AS text[])) WITH ORDINALITY AS asked (query, own, place)
)
SELECT found.docs, found.owners FROM asked CROSS JOIN LATERAL (
    SELECT string_agg(int8send(doc), '') AS docs,
        string_agg(int8send(doc), '') FILTER (WHERE words @@ asked.own) AS owners
    FROM memory_words WHERE tenant_id = :tenant_id AND words @@ asked.query
) AS found
ORDER BY place;

-- scores_of_all --
-- Compare a vector with all of some namespaces: docs and scores, side by side
SELECT string_agg(int8send(doc), ''), string_agg(float4send(CAST(-(CAST(embedding AS vector) <#> CAST(:vector AS vector)) AS real)), '')
FROM memory_vectors WHERE tenant_id = :tenant_id AND version = :version AND namespace IN :namespaces AND NOT gone;

-- nearest_of_all --
-- Find the best of some namespaces, one by one: the query's half precision chooses a few more, which are then scored
SELECT doc, -(CAST(embedding AS vector) <#> CAST(:vector AS vector)) AS raw FROM (
    SELECT doc, embedding FROM memory_vectors
    WHERE tenant_id = :tenant_id AND version = :version AND namespace IN :namespaces AND NOT gone
    ORDER BY embedding <#> (SELECT CAST(CAST(:vector AS vector) AS halfvec)), doc DESC LIMIT :count
) AS near
ORDER BY raw DESC, doc DESC LIMIT :limit;

-- nearest_of --
-- Find the best of some memories, on demand those out of the searches too
SELECT doc, -(CAST(embedding AS vector) <#> CAST(:vector AS vector)) AS raw FROM memory_vectors
WHERE tenant_id = :tenant_id AND version = :version AND doc IN :docs AND namespace IN :namespaces
    AND (NOT gone OR CAST(:past AS boolean))
ORDER BY raw DESC, doc DESC LIMIT :limit;

-- vectors_of --
-- Read the stored vectors of some memories of a tenant
SELECT doc, CAST(embedding AS vector) FROM memory_vectors
WHERE tenant_id = :tenant_id AND version = :version AND doc IN :docs;

-- how_many_vectors --
-- Estimate the number of vectors in the graph of a version, of every tenant, as the planner knows it
SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = to_regclass(:index);

-- count_waiting --
-- Count the memories of some scopes that wait for a vector, up to a bound
SELECT count(*) FROM (
    SELECT 1 FROM memory_index WHERE tenant_id = :tenant_id AND state = 1 AND namespace IN (
        SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND scope IN :scopes
    ) LIMIT :limit
);

-- unembedded --
-- List the oldest memories without a vector, of every tenant
SELECT doc, tenant_id FROM memory_index WHERE state = 1 ORDER BY doc LIMIT :limit;

-- activity --
-- Count events of some types by day, in some scopes, the newest of a tenant first up to a bound
SELECT to_char(day, 'YYYY-MM-DD'), event_type, count(*), min(created_at) FROM (
    SELECT created_at, CAST(created_at AT TIME ZONE 'UTC' AS date) AS day, event_type FROM memory_events
    WHERE tenant_id = :tenant_id AND created_at >= :since AND event_type IN :types AND scope IN :scopes
    ORDER BY created_at DESC LIMIT :limit
) AS newest GROUP BY day, event_type;

-- waiting_docs --
-- List the oldest memories of every tenant that wait for a vector
SELECT doc FROM memory_index WHERE state = 1 ORDER BY doc LIMIT :limit;

-- without_vector --
-- List the oldest memories that lack a vector of some version, of every tenant
SELECT doc, tenant_id FROM memory_index WHERE state < 3 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors
    WHERE memory_vectors.tenant_id = memory_index.tenant_id AND version = :version AND memory_vectors.doc = memory_index.doc
)
ORDER BY doc LIMIT :limit;

-- lock_versions --
-- Lock the embedding versions
SELECT 1 FROM embedding_versions WHERE tenant_id = '' FOR SHARE;

-- entries_of --
-- Find tenants and namespaces of some docs that are searched, of some tenants or of all, and whether these are large
SELECT doc, tenant_id, namespace, memories > :graph_from FROM memory_index JOIN namespaces USING (tenant_id, namespace)
WHERE doc IN :docs AND (CAST(:tenants AS text[]) IS NULL OR tenant_id IN :tenants) AND state < 3;

-- lock_entries --
-- Lock some docs of known tenants that are searched
SELECT doc, tenant_id FROM memory_index WHERE tenant_id IN :tenants AND doc IN :docs AND state < 3
ORDER BY tenant_id, doc FOR NO KEY UPDATE;

-- add_vectors --
-- Add vectors, unless their memories have got some meanwhile
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, in_graph, embedding)
SELECT tenant_id, :version, doc, namespace, in_graph, embedding FROM unnest(
    CAST(:tenants AS text[]), CAST(:docs AS bigint[]), CAST(:namespaces AS bigint[]), CAST(:in_graph AS boolean[]),
    CAST(:embeddings AS vector[])
) AS new (tenant_id, doc, namespace, in_graph, embedding)
ORDER BY doc ON CONFLICT DO NOTHING;

-- large_namespaces --
-- List the namespaces of every tenant whose vectors are in the graph
SELECT tenant_id, namespace FROM namespaces WHERE has_words AND memories > :graph_from;

-- outside_graph --
-- Lock some vectors of a namespace that are not in the graph, but those that somebody else has locked
SELECT doc FROM memory_vectors
WHERE tenant_id = :tenant_id AND version = :version AND namespace = :namespace AND NOT gone AND NOT in_graph
LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED;

-- put_in_graph --
-- Put vectors of a namespace into the graph
UPDATE memory_vectors SET in_graph = true WHERE tenant_id = :tenant_id AND version = :version AND doc IN :docs;

-- remove_vectors --
-- Remove vectors whose memories went meanwhile
DELETE FROM memory_vectors
WHERE tenant_id IN :tenants AND version = :version AND doc IN :docs
    AND EXISTS (
        SELECT 1 FROM unnest(CAST(:tenants AS text[]), CAST(:docs AS bigint[])) AS those (tenant_id, doc)
        WHERE those.tenant_id = memory_vectors.tenant_id AND those.doc = memory_vectors.doc
    );

-- are_embedded --
-- Mark memories as embedded by the active version
UPDATE memory_index SET state = 2
WHERE tenant_id IN :tenants AND doc IN :docs AND state = 1
    AND EXISTS (
        SELECT 1 FROM unnest(CAST(:tenants AS text[]), CAST(:docs AS bigint[])) AS those (tenant_id, doc)
        WHERE those.tenant_id = memory_index.tenant_id AND those.doc = memory_index.doc
    );

-- mark_embedded --
-- Mark memories as embedded or not, after another version became active
UPDATE memory_index SET state = CASE WHEN state = 1 THEN 2 ELSE 1 END
WHERE state < 3 AND (state = 2) <> EXISTS (
    SELECT 1 FROM memory_vectors
    WHERE memory_vectors.tenant_id = memory_index.tenant_id AND version = :version AND memory_vectors.doc = memory_index.doc
);

-- prune_vectors --
-- Remove some vectors of retired versions
DELETE FROM memory_vectors WHERE (tenant_id, version, doc) IN (
    SELECT tenant_id, version, doc FROM memory_vectors
    WHERE version IN (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'retired') LIMIT :limit
) RETURNING 1;

-- may_index --
-- Check whether this role may make indexes of the vectors
SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = CAST('memory_vectors' AS regclass);

-- walk_settings --
-- Let HNSW, until the end of the transaction, look at so many at a time, go on until enough pass, and be preferred
SELECT set_config('hnsw.ef_search', :looked_at, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('enable_sort', 'off', true);

-- size --
-- Measure our tables in bytes, their indexes included
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname IN :tables;

-- count_entries --
-- Count the memories that are searched, and those of them without a vector
SELECT count(*), count(*) FILTER (WHERE state = 1) FROM memory_index WHERE state < 3;

-- count_out --
-- Count the memories that are out of the searches
SELECT count(*) FROM memory_index WHERE state = 3;

-- bypasses_walls --
-- Check whether row-level security does not bind this role
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user;

-- invalid_indexes --
-- List indexes of ours that a failed command left unusable
SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid IN (
    SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname IN :tables
) AND NOT indisvalid ORDER BY relname;

-- has_any_vector --
-- Check whether there is a vector of any tenant and version
SELECT 1 FROM memory_vectors LIMIT 1;

-- lock_vectors --
-- Lock all vectors until the end of the transaction; an error where somebody uses them at this moment
LOCK TABLE memory_vectors IN ACCESS EXCLUSIVE MODE NOWAIT;

-- queue_for_indexes --
-- Wait for another restore of vectors that have no index yet
SELECT pg_advisory_xact_lock(:lock);

-- are_indexes_free --
-- Check whether nobody restores vectors that have no index yet
SELECT pg_try_advisory_xact_lock(:lock);

-- index_settings --
-- Let an index be made in memory until the end of the transaction, beyond which a graph grows on disk, vector by
-- vector, and by one process: several share what a container often has too little of
SELECT set_config('maintenance_work_mem', :memory, true), set_config('max_parallel_maintenance_workers', '0', true)
WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes(:memory);

-- unknown_tables --
-- List tables of some size of which the planner knows nothing, where this role may have that changed
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname IN :tables
    AND reltuples <= 0 AND pg_relation_size(oid) >= :bytes AND pg_has_role(relowner, 'USAGE') ORDER BY relname;

-- has_index --
-- Check whether an index exists
SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = :name AND relkind IN ('i', 'I');

-- walls_down --
-- List tables of ours whose row-level security is off
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname IN :tables AND relname <> 'memory_words'
    AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname;

-- tables_not_writable --
-- List tables of ours that this role may not write to
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname IN :tables AND NOT (
    has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')
) ORDER BY relname;

-- missing_entries --
-- Count the memories without an index entry: none, unless something else changed the database
SELECT count(*) FROM (
    SELECT tenant_id, doc FROM episodes UNION ALL SELECT tenant_id, doc FROM facts UNION ALL SELECT tenant_id, doc FROM rules
    EXCEPT ALL SELECT tenant_id, doc FROM memory_index
);

-- stray_entries --
-- Count the index entries without a memory: none, unless something else changed the database
SELECT count(*) FROM (
    SELECT tenant_id, doc FROM memory_index
    EXCEPT ALL (
        SELECT tenant_id, doc FROM episodes UNION ALL SELECT tenant_id, doc FROM facts
        UNION ALL SELECT tenant_id, doc FROM rules
    )
);

-- missing_words --
-- Count the memories missing from the keyword index: none, unless something else changed the database
SELECT count(*) FROM (
    SELECT memory_index.tenant_id, doc FROM memory_index JOIN namespaces
        ON namespaces.tenant_id = memory_index.tenant_id AND namespaces.namespace = memory_index.namespace
    WHERE state < 3 AND has_words
    EXCEPT ALL SELECT tenant_id, doc FROM memory_words
);

-- stray_words --
-- Count the words of removed memories: none, unless something else changed the database
SELECT count(*) FROM (
    SELECT tenant_id, doc FROM memory_words EXCEPT ALL SELECT tenant_id, doc FROM memory_index WHERE state < 3
);

-- unvectored --
-- Count the memories marked as embedded without a vector: none, unless something else changed the database
SELECT count(*) FROM memory_index WHERE state = 2 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors
    WHERE memory_vectors.tenant_id = memory_index.tenant_id AND memory_vectors.doc = memory_index.doc
        AND NOT gone AND version = (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active')
);

-- miscounted --
-- Count namespaces with totals that their memories do not add up to: none, unless something else changed the database
SELECT count(*) FROM namespaces LEFT JOIN (
    SELECT tenant_id, namespace, count(*) AS memories, sum(own + near) AS words FROM memory_index
    WHERE state < 3 GROUP BY tenant_id, namespace
) AS held USING (tenant_id, namespace)
WHERE namespaces.memories <> coalesce(held.memories, 0) OR namespaces.words <> coalesce(held.words, 0);

-- restore_sessions --
-- Record how far each session has come, as its episodes say
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
SELECT tenant_id, scope, session, max(turn), min(created_at) FROM episodes
WHERE session IS NOT NULL GROUP BY tenant_id, scope, session ORDER BY tenant_id, scope, session
ON CONFLICT (tenant_id, scope, session) DO UPDATE SET last_turn = excluded.last_turn
WHERE sessions_consolidations.last_turn < excluded.last_turn;

-- restore_vector --
-- Restore a vector of another database, in place of one made here, for a memory that is indexed, searched or not
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, gone, embedding)
SELECT tenant_id, :version, doc, namespace, state = 3, CAST(:embedding AS vector) FROM memory_index
WHERE tenant_id = :tenant_id AND doc = :doc
ON CONFLICT (tenant_id, version, doc) DO UPDATE SET embedding = excluded.embedding
WHERE memory_vectors.embedding IS DISTINCT FROM excluded.embedding;

-- along_indexes --
-- Read rows in the order of a key along its index, until the end of the transaction
SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true), set_config('enable_material', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);

-- queue_for_slots --
-- Wait for those who hold the same numbers of a tenant, in the given order
SELECT pg_advisory_xact_lock(hashtext(:tenant_id), CAST(number AS integer))
FROM unnest(CAST(:queues AS bigint[])) AS queue (number);

-- tenant_record --
-- Read on which server a tenant is, as this one has it
SELECT value FROM memory_metadata WHERE tenant_id = :tenant_id AND key = 'server';

-- hold_tenant_record --
-- Read on which server a tenant is, which stays so until the end of the transaction. Who waits to move it comes before
-- those who ask later, as row locks alone would not have it; the row as it is after the wait is what FOR SHARE reads
SELECT value FROM memory_metadata
WHERE tenant_id = :tenant_id AND key = 'server'
    AND pg_advisory_xact_lock_shared(hashtext(:tenant_id), 256) IS NOT NULL FOR SHARE;

-- lock_tenant --
-- Wait until nobody writes to a tenant, and let nobody write until the end of the transaction
SELECT pg_advisory_xact_lock(hashtext(:tenant_id), 256);

-- set_tenant_record --
-- Record on which server a tenant is
INSERT INTO memory_metadata (tenant_id, key, value) VALUES (:tenant_id, 'server', :value)
ON CONFLICT (tenant_id, key) DO UPDATE SET value = excluded.value;

-- add_tenant_record --
-- Record on which server a tenant is, unless that is recorded
INSERT INTO memory_metadata (tenant_id, key, value) VALUES (:tenant_id, 'server', :value) ON CONFLICT DO NOTHING;

-- confirm_move --
-- Record that a copy has become the tenant, unless its record has changed
UPDATE memory_metadata SET value = :value WHERE tenant_id = :tenant_id AND key = 'server' AND value = :before;

-- claim_move --
-- Claim the moves of a tenant until the end of the transaction, unless somebody has
SELECT pg_try_advisory_xact_lock(hashtext(:tenant_id), 257);

-- tenant_records --
-- Read on which servers some tenants are, as this one has it
SELECT tenant_id, value FROM memory_metadata WHERE tenant_id IN :tenants AND key = 'server';

-- find_server --
-- Find the server of a tenant in the directory
SELECT value FROM memory_metadata WHERE tenant_id = '' AND key = :key;

-- add_server --
-- Add a tenant to the directory, unless it is there
INSERT INTO memory_metadata (tenant_id, key, value) VALUES ('', :key, :value) ON CONFLICT DO NOTHING;

-- set_server --
-- Set the server of a tenant in the directory
INSERT INTO memory_metadata (tenant_id, key, value) VALUES ('', :key, :value)
ON CONFLICT (tenant_id, key) DO UPDATE SET value = excluded.value;

-- has_tenant --
-- Tell whether there is anything of a tenant
SELECT 1 WHERE EXISTS (SELECT 1 FROM namespaces WHERE tenant_id = :tenant_id)
    OR EXISTS (SELECT 1 FROM memory_events WHERE tenant_id = :tenant_id)
    OR EXISTS (SELECT 1 FROM access_keys WHERE tenant_id = :tenant_id)
    OR EXISTS (SELECT 1 FROM log_sessions WHERE tenant_id = :tenant_id)
    OR EXISTS (SELECT 1 FROM memory_metadata WHERE tenant_id = :tenant_id);

-- oldest_transaction --
-- Read the oldest transaction that goes on: whatever is not visible now was written by it or by later ones
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint);

-- columns_of_tables --
-- List tables with the columns of their primary keys and those that are written
SELECT CAST(relname AS text), ARRAY(
        SELECT CAST(attname AS text) FROM unnest(indkey) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number ORDER BY place
    ), ARRAY(
        SELECT CAST(attname AS text) FROM pg_attribute
        WHERE attrelid = indrelid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
    )
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = current_schema()::regnamespace AND indisprimary;

-- episode_stats --
-- Count the live episodes in some scopes, their span, and since when the oldest waits to be consolidated: all that have an
-- index entry but for those that have expired. Where many wait, few are consolidated, so that these are counted. A
-- session or a speaker counts while an episode of it lives
WITH places AS (
    SELECT namespace, memories FROM namespaces WHERE tenant_id = :tenant_id AND scope IN :scopes AND kind = 'episode'
), expired AS MATERIALIZED (
    SELECT scope, session, speaker, consolidation_status FROM episodes
    WHERE tenant_id = :tenant_id AND expires_at <= :now AND scope IN :scopes
), spans AS MATERIALIZED (
    SELECT first.event_time AS first, last.event_time AS last, waiting.created_at AS waiting
    FROM unnest(CAST(:scopes AS text[])) AS place (scope)
    LEFT JOIN LATERAL (
        SELECT event_time FROM episodes
        WHERE tenant_id = :tenant_id AND episodes.scope = place.scope AND (expires_at IS NULL OR expires_at > :now)
        ORDER BY event_time LIMIT 1
    ) AS first ON TRUE
    LEFT JOIN LATERAL (
        SELECT event_time FROM episodes
        WHERE tenant_id = :tenant_id AND episodes.scope = place.scope AND (expires_at IS NULL OR expires_at > :now)
        ORDER BY event_time DESC LIMIT 1
    ) AS last ON TRUE
    LEFT JOIN LATERAL (
        SELECT created_at FROM episodes
        WHERE tenant_id = :tenant_id AND episodes.scope = place.scope AND consolidation_status = 'pending'
            AND (expires_at IS NULL OR expires_at > :now)
        ORDER BY created_at LIMIT 1
    ) AS waiting ON TRUE
), counted AS MATERIALIZED (
    SELECT CAST((SELECT coalesce(sum(memories), 0) FROM places) AS bigint) + (
        SELECT count(*) FROM memory_index
        WHERE tenant_id = :tenant_id AND namespace IN (SELECT namespace FROM places) AND state = 3
    ) - (SELECT count(*) FROM expired) AS total, (
        SELECT count(*) FROM unnest(CAST(:scopes AS text[])) AS place (scope) CROSS JOIN LATERAL (
            SELECT 1 FROM episodes
            WHERE tenant_id = :tenant_id AND episodes.scope = place.scope AND consolidation_status = 'pending'
            ORDER BY created_at LIMIT 2000
        ) AS waiting
    ) AS waiting, (
        SELECT count(*) FROM episodes
        WHERE tenant_id = :tenant_id AND scope IN :scopes AND consolidation_status IN ('failed', 'dead_letter')
            AND (expires_at IS NULL OR expires_at > :now)
    ) AS given_up
)
SELECT total, CASE
        WHEN waiting < 2000 THEN waiting - (SELECT count(*) FROM expired WHERE consolidation_status = 'pending')
        ELSE total - given_up - (
            SELECT count(*) FROM episodes
            WHERE tenant_id = :tenant_id AND scope IN :scopes AND consolidation_status = 'consolidated'
                AND (expires_at IS NULL OR expires_at > :now)
        )
    END,
    given_up,
    (SELECT min(waiting) FROM spans),
    (
        SELECT count(*) FROM (
            SELECT session FROM sessions_consolidations
            WHERE tenant_id = :tenant_id AND scope IN :scopes AND (scope, session) NOT IN (
                SELECT scope, session FROM expired WHERE session IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM episodes
                    WHERE tenant_id = :tenant_id AND episodes.scope = expired.scope AND episodes.session = expired.session
                        AND (expires_at IS NULL OR expires_at > :now)
                )
            ) GROUP BY session
        ) AS live
    ),
    (
        SELECT count(*) FROM (
            SELECT speaker FROM speakers
            WHERE tenant_id = :tenant_id AND scope IN :scopes AND (scope, speaker) NOT IN (
                SELECT scope, speaker FROM expired WHERE speaker IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM episodes
                    WHERE tenant_id = :tenant_id AND episodes.scope = expired.scope AND episodes.speaker = expired.speaker
                        AND (expires_at IS NULL OR expires_at > :now)
                )
            ) GROUP BY speaker
        ) AS live
    ),
    (SELECT min(first) FROM spans), (SELECT max(last) FROM spans)
FROM counted;

-- episode_counts --
-- Count the episodes of a tenant, all of which have an index entry, and those that have expired
SELECT CAST((
        SELECT coalesce(sum(memories), 0) FROM namespaces WHERE tenant_id = :tenant_id AND kind = 'episode'
    ) AS bigint) + (
        SELECT count(*) FROM memory_index WHERE tenant_id = :tenant_id AND state = 3 AND namespace IN (
            SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = 'episode'
        )
    ),
    (SELECT count(*) FROM episodes WHERE tenant_id = :tenant_id AND expires_at < :before);

-- fact_stats --
-- Count the facts in some scopes by standing: those that ended or are fading, and the rest of what has an index entry
WITH places AS (
    SELECT namespace, memories FROM namespaces WHERE tenant_id = :tenant_id AND scope IN :scopes AND kind = 'fact'
), few AS MATERIALIZED (
    SELECT validity AS state, count(*) AS facts FROM facts
    WHERE tenant_id = :tenant_id AND scope IN :scopes AND validity <> 'active' GROUP BY validity
    UNION ALL SELECT 'fading', count(*) FROM facts
    WHERE tenant_id = :tenant_id AND scope IN :scopes AND validity = 'active' AND metadata ->> 'status' = 'fading'
)
SELECT state, facts FROM few
UNION ALL SELECT 'active', CAST((SELECT coalesce(sum(memories), 0) FROM places) AS bigint) + (
    SELECT count(*) FROM memory_index
    WHERE tenant_id = :tenant_id AND namespace IN (SELECT namespace FROM places) AND state = 3
) - CAST((SELECT coalesce(sum(facts), 0) FROM few) AS bigint);
