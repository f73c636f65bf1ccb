-- next_numbers --
-- Take so many numbers of a sequence; returns the last of them
UPDATE sequences SET value = value + :count WHERE tenant_id = '' AND name = :name RETURNING value;

-- searched --
-- Whose vectors are searched, the newest change of the file, and whether anything is not indexed; the namespaces of some
-- scopes: totals, whether something ran out that they hold, and whether something waits for its vector
SELECT version, dims, change, has_unindexed, kind, scope, namespace, memories, words,
    EXISTS (
        SELECT 1 FROM memory_index
        WHERE memory_index.namespace = namespaces.namespace AND state < 3 AND expires_at <= :now
    ),
    EXISTS (SELECT 1 FROM memory_index WHERE memory_index.namespace = namespaces.namespace AND state = 1)
FROM (
    SELECT version, dims, change.value AS change,
        EXISTS (SELECT 1 FROM episodes WHERE doc > settled.value)
            OR EXISTS (SELECT 1 FROM facts WHERE doc > settled.value)
            OR EXISTS (SELECT 1 FROM rules WHERE doc > settled.value) AS has_unindexed
    FROM sequences AS change JOIN sequences AS settled ON settled.tenant_id = '' AND settled.name = 'settled'
    LEFT JOIN embedding_versions ON embedding_versions.tenant_id = '' AND state = 'active'
    WHERE change.tenant_id = '' AND change.name = 'change'
)
LEFT JOIN namespaces ON tenant_id = :tenant_id AND kind IN ('episode', 'fact', 'rule') AND scope IN :scopes;

-- newest_change --
-- The newest change of the file, and whose vectors are searched
SELECT value, version, dims FROM sequences LEFT JOIN embedding_versions
    ON embedding_versions.tenant_id = '' AND state = 'active'
WHERE sequences.tenant_id = '' AND sequences.name = 'change';

-- find_namespace --
-- The number of a tenant's kind and scope
SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = :kind AND scope = :scope;

-- add_namespace --
-- Give a tenant's kind and scope its number
INSERT INTO namespaces (tenant_id, kind, scope, namespace) VALUES (:tenant_id, :kind, :scope, :namespace);

-- next_doc --
-- The number after every doc ever given out
SELECT 1 + max(
    ifnull((SELECT max(doc) FROM episodes), 0),
    ifnull((SELECT max(doc) FROM facts), 0),
    ifnull((SELECT max(doc) FROM rules), 0),
    ifnull((SELECT max(doc) FROM memory_index), 0)
);

-- arrive --
-- What an episode is to become, where its id is not taken by any kind or by what was erased: its doc, the number after
-- its session's last turn (live or not; 0 without a session), whether its speaker is known there, and whether it reopens
-- a session that is consolidated
SELECT 1 + max(
        ifnull((SELECT max(doc) FROM episodes), 0),
        ifnull((SELECT max(doc) FROM facts), 0),
        ifnull((SELECT max(doc) FROM rules), 0),
        ifnull((SELECT max(doc) FROM memory_index), 0)
    ),
    CASE WHEN :session IS NULL THEN 0 ELSE 1 + ifnull((
        SELECT turn FROM episodes
        WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session ORDER BY turn DESC LIMIT 1
    ), 0) END,
    EXISTS (SELECT 1 FROM speakers WHERE tenant_id = :tenant_id AND scope = :scope AND speaker = :speaker),
    :waits AND EXISTS (
        SELECT 1 FROM sessions_consolidations
        WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session AND consolidated_at IS NOT NULL
    )
WHERE NOT EXISTS (SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND id = :id)
    AND NOT EXISTS (SELECT 1 FROM facts WHERE tenant_id = :tenant_id AND id = :id)
    AND NOT EXISTS (SELECT 1 FROM rules WHERE tenant_id = :tenant_id AND id = :id)
    AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND id = :id);

-- know_session --
-- A session has come this far, and may wait to be consolidated
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
VALUES (:tenant_id, :scope, :session, :last_turn, :first_seen_at)
ON CONFLICT (tenant_id, scope, session) DO UPDATE SET last_turn = max(last_turn, excluded.last_turn),
    first_seen_at = min(first_seen_at, excluded.first_seen_at),
    consolidated_at = CASE WHEN :waits THEN NULL ELSE consolidated_at END;

-- turns_between --
-- A stretch of a session in order, without what was forgotten; whether each is live, and so lends its words
SELECT doc, turn, speaker, event_time, content, expires_at IS NULL OR expires_at > :now FROM episodes
WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session AND turn BETWEEN :first AND :last
    AND NOT EXISTS (SELECT 1 FROM memory_index WHERE memory_index.doc = episodes.doc AND state = 3)
ORDER BY turn;

-- replace_words --
-- Index a memory's words, in place of what was indexed before
INSERT OR REPLACE INTO memory_words (rowid, own, near) VALUES (:doc, :own, :near);

-- leaving --
-- Those of some memories that the searches hold, and how many words each is indexed under, if it is
SELECT doc, namespace, CASE WHEN packed IS NOT NULL THEN own + near END FROM memory_index
WHERE doc IN :docs AND state < 3;

-- drop_words --
-- Take memories out of the keyword index
DELETE FROM memory_words WHERE rowid IN :docs;

-- lengths --
-- How many words some memories are indexed under; no row where one is not
SELECT doc, own + near FROM memory_index WHERE doc IN :docs AND packed IS NOT NULL;

-- set_terms --
-- The same words with their counts, for ranking
UPDATE memory_index SET own = :own, near = :near, packed = :packed WHERE doc = :doc;

-- terms_of --
-- The counts of some memories
SELECT doc, own, near, packed FROM memory_index WHERE doc IN :docs AND packed IS NOT NULL;

-- count_words --
-- Keep a namespace's totals
UPDATE namespaces SET memories = memories + :memories, words = words + :words WHERE namespace = :namespace;

-- postings --
-- The docs that match; one statement asks for those of every term
SELECT group_concat(rowid) FROM memory_words WHERE memory_words MATCH ?;

-- place --
-- A indexed memory's place in the searches
INSERT INTO memory_index (doc, tenant_id, namespace, state, expires_at)
VALUES (:doc, :tenant_id, :namespace, :state, :expires_at) ON CONFLICT DO NOTHING;

-- state --
-- How far a indexed memory is
SELECT state FROM memory_index WHERE doc = :doc;

-- drop_places --
-- Memories left the searches
UPDATE memory_index SET state = 3, own = 0, near = 0, packed = NULL WHERE doc IN :docs;

-- return_place --
-- A memory is back in the searches, with the vector it had
UPDATE memory_index SET state = CASE WHEN EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.doc = memory_index.doc AND embedding IS NOT NULL AND version = (
        SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active'
    )
) THEN 2 ELSE 1 END WHERE doc = :doc AND state = 3;

-- return_vectors --
-- Its vectors are searched again
UPDATE memory_vectors SET gone = 0, change = :change WHERE doc = :doc AND embedding IS NOT NULL AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- drop_vectors --
-- Their vectors are no longer searched
UPDATE memory_vectors SET gone = 1, change = :change + doc WHERE doc IN :docs AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- erase_vectors --
-- Its vectors are no more; their places stay, so that every process hears of it
UPDATE memory_vectors SET embedding = NULL WHERE doc = :doc AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- add_vector --
-- A vector arrived, unless the memory went or got one meanwhile
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, change, embedding)
SELECT tenant_id, :version, doc, namespace, :change, :embedding FROM memory_index WHERE doc = :doc AND state < 3
ON CONFLICT DO NOTHING;

-- restore_vector --
-- A vector of another database, in place of one made here, for a memory that has its place, be it gone from the searches
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, change, gone, embedding)
SELECT tenant_id, :version, doc, namespace, :change, state = 3, :embedding FROM memory_index WHERE doc = :doc
ON CONFLICT (version, doc) DO UPDATE SET embedding = excluded.embedding, change = excluded.change
WHERE embedding IS NOT excluded.embedding;

-- is_embedded --
-- A memory has its vector of the active version
UPDATE memory_index SET state = 2 WHERE doc = :doc AND state = 1;

-- changed_vectors --
-- What a process has not seen of a namespace, oldest first
SELECT doc, change, CASE WHEN gone THEN NULL ELSE embedding END FROM memory_vectors
WHERE version = :version AND namespace = :namespace AND change > :seen ORDER BY change;

-- exact_vectors --
-- The float32 truth of some memories, those that are gone included where asked
SELECT doc, embedding FROM memory_vectors INDEXED BY memory_vectors_doc
WHERE version = :version AND doc IN :docs AND namespace IN :namespaces AND gone <= :gone AND embedding IS NOT NULL;

-- vectors_of --
-- The kept vectors of some memories of a tenant
SELECT doc, embedding FROM memory_vectors INDEXED BY memory_vectors_doc
WHERE version = :version AND doc IN :docs AND tenant_id = :tenant_id AND embedding IS NOT NULL;

-- unembedded --
-- Some indexed memories without a vector
SELECT doc FROM memory_index INDEXED BY memory_index_waiting WHERE state = 1 LIMIT :limit;

-- without_vector --
-- Live memories that lack a vector of some version, oldest first
SELECT doc FROM memory_index WHERE state < 3 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.version = :version AND memory_vectors.doc = memory_index.doc
) ORDER BY doc LIMIT :limit;

-- mark_embedded --
-- Another version is searched from now on: who has a vector of it
UPDATE memory_index SET state = 1 + EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.version = :version AND memory_vectors.doc = memory_index.doc
)
WHERE state < 3 AND state <> 1 + EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.version = :version AND memory_vectors.doc = memory_index.doc
);

-- prune_vectors --
-- Remove some vectors of retired versions
DELETE FROM memory_vectors WHERE rowid IN (
    SELECT rowid FROM memory_vectors
    WHERE version IN (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'retired') LIMIT :limit
) RETURNING 1;

-- tenants --
-- Whoever keeps anything; what is not indexed has no namespace yet
SELECT tenant_id FROM namespaces UNION
SELECT tenant_id FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
ORDER BY tenant_id;

-- unindexed_docs --
-- The oldest docs that are not indexed
SELECT doc FROM (
    SELECT doc FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM facts WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM rules WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
) ORDER BY doc LIMIT :limit;

-- set_indexed --
-- All docs up to this one are indexed
UPDATE sequences SET value = :doc WHERE tenant_id = '' AND name = 'settled';

-- reset_indexed --
-- Docs after this one have to be indexed, some of them anew
UPDATE sequences SET value = min(value, :doc) WHERE tenant_id = '' AND name = 'settled';

-- count_waiting --
-- How many memories of some scopes wait for a vector, indexed or not, each up to a bound. The plus keeps SQLite from
-- reading all of a tenant's episodes; only episodes are ever left unindexed
SELECT (
    SELECT count(*) FROM (
        SELECT 1 FROM memory_index WHERE state = 1 AND namespace IN (
            SELECT namespace FROM namespaces
            WHERE tenant_id = :tenant_id AND kind IN ('episode', 'fact', 'rule') AND scope IN :scopes
        ) LIMIT :limit
    )
) + (
    SELECT count(*) FROM (
        SELECT 1 FROM episodes
        WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
            AND +tenant_id = :tenant_id AND scope IN :scopes
        LIMIT :limit
    )
);

-- activity --
-- How many events of some types there were by day, in some scopes, the newest of a tenant first up to a bound
SELECT date(created_at / 1000000, 'unixepoch') AS day, event_type, count(*), min(created_at) FROM (
    SELECT created_at, event_type FROM memory_events INDEXED BY memory_events_time
    WHERE tenant_id = :tenant_id AND created_at >= :since AND event_type IN :types AND scope IN :scopes
    ORDER BY created_at DESC LIMIT :limit
) GROUP BY day, event_type;

-- waiting_docs --
-- Memories of every tenant that wait for a vector, indexed or not
SELECT doc FROM (
    SELECT doc FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM memory_index INDEXED BY memory_index_waiting WHERE state = 1
) LIMIT :limit;

-- count_memories --
-- All rows of the file
SELECT (SELECT count(*) FROM episodes) + (SELECT count(*) FROM facts) + (SELECT count(*) FROM rules);

-- count_indexed --
-- Memories the keyword index knows
SELECT count(*) FROM memory_words_docsize;

-- count_embedded --
-- Live memories with a vector
SELECT count(*) FROM memory_index WHERE state = 2;

-- count_unembedded --
-- Settled live memories without one
SELECT count(*) FROM memory_index WHERE state = 1;

-- unindexed --
-- Settled live memories the keyword index does not know: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT doc FROM memory_index WHERE state < 3 EXCEPT SELECT id FROM memory_words_docsize
);

-- unvectored --
-- Memories that say they have a vector and have none: none, unless something else changed the file
SELECT count(*) FROM memory_index WHERE state = 2 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.doc = memory_index.doc AND version = (
        SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active'
    )
);

-- stray_words --
-- Words of memories that are gone: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT id FROM memory_words_docsize WHERE id <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index WHERE state < 3
);

-- unplaced --
-- Settled memories without a place in the searches: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT doc FROM (SELECT doc FROM episodes UNION ALL SELECT doc FROM facts UNION ALL SELECT doc FROM rules)
    WHERE doc <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index
);

-- lost --
-- Places in the searches without a memory: none, unless something else changed the file or it was erased
SELECT count(*) FROM (
    SELECT doc FROM memory_index WHERE state < 3
    EXCEPT SELECT doc FROM episodes EXCEPT SELECT doc FROM facts EXCEPT SELECT doc FROM rules
);

-- size --
-- Bytes of the file, the write-ahead log not counted
SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size();
