-- next_numbers --
-- Reserve numbers of a sequence; returns the last of them
UPDATE sequences SET value = value + :count WHERE tenant_id = '' AND name = :name RETURNING value;

-- searched --
-- Read the active version, the newest change of the file, the last doc indexed and whether anything is not, and the
-- namespaces of some scopes: totals, whether they hold something expired, whether something waits for its vector, and how
-- often their words were rewritten
SELECT version, dims, change, indexed, has_unindexed, kind, scope, namespace, memories, words,
    EXISTS (
        SELECT 1 FROM memory_index
        WHERE memory_index.namespace = namespaces.namespace AND state < 3 AND expires_at <= :now
    ),
    EXISTS (SELECT 1 FROM memory_index WHERE memory_index.namespace = namespaces.namespace AND state = 1),
    (SELECT ifnull(sum(value), 0) FROM sequences WHERE sequences.tenant_id = '' AND name IN ('rewrites', 'rewrites ' || namespace))
FROM (
    SELECT version, dims, change.value AS change, settled.value AS indexed,
        EXISTS (SELECT 1 FROM episodes WHERE doc > settled.value)
            OR EXISTS (SELECT 1 FROM facts WHERE doc > settled.value)
            OR EXISTS (SELECT 1 FROM rules WHERE doc > settled.value) AS has_unindexed
    FROM sequences AS change JOIN sequences AS settled ON settled.tenant_id = '' AND settled.name = 'settled'
    LEFT JOIN embedding_versions ON embedding_versions.tenant_id = '' AND state = 'active'
    WHERE change.tenant_id = '' AND change.name = 'change'
)
LEFT JOIN namespaces ON tenant_id = :tenant_id AND kind IN ('episode', 'fact', 'rule') AND scope IN :scopes;

-- newest_change --
-- Read the newest change of the file, and the active version
SELECT value, version, dims FROM sequences LEFT JOIN embedding_versions
    ON embedding_versions.tenant_id = '' AND state = 'active'
WHERE sequences.tenant_id = '' AND sequences.name = 'change';

-- find_namespace --
-- Find the number of a tenant's kind and scope
SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = :kind AND scope = :scope;

-- add_namespace --
-- Number a tenant's kind and scope
INSERT INTO namespaces (tenant_id, kind, scope, namespace) VALUES (:tenant_id, :kind, :scope, :namespace);

-- prepare_episode --
-- Prepare a new episode, where its id is not taken by any kind or by a tombstone: its doc, the number after
-- its session's last turn (live or not; 0 without a session), whether its speaker is known there, and whether it
-- reopens a session that is consolidated
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

-- next_doc --
-- Number the next doc
SELECT 1 + max(
    ifnull((SELECT max(doc) FROM episodes), 0),
    ifnull((SELECT max(doc) FROM facts), 0),
    ifnull((SELECT max(doc) FROM rules), 0),
    ifnull((SELECT max(doc) FROM memory_index), 0)
);

-- take_turns --
-- Read the last turn of some sessions, given as (place, scope, session, turns, first seen at, whether they wait), live or
-- not, and whether new turns reopen one that is consolidated
SELECT CAST(given.value ->> 0 AS integer), ifnull((
        SELECT turn FROM episodes
        WHERE tenant_id = :tenant_id AND scope = given.value ->> 1 AND session = given.value ->> 2
        ORDER BY turn DESC LIMIT 1
    ), 0), given.value ->> 5 AND EXISTS (
        SELECT 1 FROM sessions_consolidations
        WHERE tenant_id = :tenant_id AND scope = given.value ->> 1 AND session = given.value ->> 2
            AND consolidated_at IS NOT NULL
    )
FROM EACH :sessions AS given;

-- hold_speakers --
-- List the known ones of some speakers, given as (scope, speaker)
SELECT scope, speaker FROM EACH :speakers AS given CROSS JOIN speakers
WHERE tenant_id = :tenant_id AND scope = given.value ->> 0 AND speaker = given.value ->> 1;

-- record_session --
-- Record how far a session has come; turns that waited until after its consolidation, or wait still, reopen it
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at)
VALUES (:tenant_id, :scope, :session, :last_turn, :first_seen_at)
ON CONFLICT (tenant_id, scope, session) DO UPDATE SET last_turn = max(last_turn, excluded.last_turn),
    first_seen_at = min(first_seen_at, excluded.first_seen_at),
    consolidated_at = CASE WHEN :waits_until > consolidated_at THEN NULL ELSE consolidated_at END;

-- replace_words --
-- Index a memory's words, in place of earlier ones
INSERT OR REPLACE INTO memory_words (rowid, own, near) VALUES (:doc, :own, :near);

-- add_words --
-- Index a new memory's words
INSERT INTO memory_words (rowid, own, near) VALUES (:doc, :own, :near);

-- indexed_lengths --
-- Read states and namespaces of some memories, and how many words each is indexed under, if it is
SELECT doc, state, namespace, CASE WHEN packed IS NOT NULL THEN own + near END FROM memory_index WHERE doc IN :docs;

-- drop_words --
-- Remove memories from the keyword index
DELETE FROM memory_words WHERE rowid IN :docs;

-- set_terms --
-- Store the same words with their counts, for ranking
UPDATE memory_index SET own = :own, near = :near, packed = :packed WHERE doc = :doc;

-- terms_of --
-- Read the counts of some memories
SELECT doc, own, near, packed FROM EACH :docs AS wanted CROSS JOIN memory_index ON doc = wanted.value
WHERE packed IS NOT NULL;

-- words_of_namespace --
-- Read the counts of a namespace's next memories
SELECT doc, own, near, packed FROM memory_index
WHERE namespace = :namespace AND packed IS NOT NULL AND doc IN (
    SELECT doc FROM episodes WHERE tenant_id = :tenant_id AND scope = :scope AND doc > :first
    UNION ALL SELECT doc FROM facts WHERE tenant_id = :tenant_id AND scope = :scope AND doc > :first
    UNION ALL SELECT doc FROM rules WHERE tenant_id = :tenant_id AND scope = :scope AND doc > :first
) ORDER BY doc LIMIT :limit;

-- words_since --
-- Read the counts of a namespace's memories that came since a doc was the last, and of the turns near them
SELECT doc, own, near, packed FROM memory_index
WHERE namespace = :namespace AND packed IS NOT NULL AND doc IN (
    SELECT doc FROM memory_index WHERE doc > :seen
    UNION ALL SELECT near.doc FROM episodes AS came CROSS JOIN episodes AS near
        ON near.tenant_id = came.tenant_id AND near.scope = came.scope AND near.session = came.session
        AND near.turn BETWEEN came.turn - :reach AND came.turn + :reach
    WHERE came.doc > :seen AND +came.tenant_id = :tenant_id AND +came.scope = :scope
) ORDER BY doc;

-- count_words --
-- Update a namespace's totals
UPDATE namespaces SET memories = memories + :memories, words = words + :words WHERE namespace = :namespace;

-- postings --
-- List the docs that match; one statement reads those of every term
SELECT group_concat(rowid) FROM memory_words WHERE memory_words MATCH ?;

-- use_vocabulary --
-- Make FTS5's vocabulary a table of this connection: the number of memories with each term
CREATE VIRTUAL TABLE IF NOT EXISTS temp.memories_by_word USING fts5vocab(main, memory_words, row);

-- memories_of_terms --
-- Count the memories that hold each of some terms, given as (place, term)
SELECT CAST(given.value ->> 0 AS integer), doc FROM EACH :terms AS given
CROSS JOIN temp.memories_by_word WHERE term = given.value ->> 1;

-- write_entries --
-- Write the index entry of a memory with the counts of its words, in place of earlier ones
INSERT INTO memory_index (doc, tenant_id, namespace, state, expires_at, own, near, packed)
VALUES (:doc, :tenant_id, :namespace, :state, :expires_at, :own, :near, :packed)
ON CONFLICT (doc) DO UPDATE SET own = excluded.own, near = excluded.near, packed = excluded.packed;

-- state --
-- Read the state of an indexed memory
SELECT state FROM memory_index WHERE doc = :doc;

-- take_out --
-- Take memories out of the searches
UPDATE memory_index SET state = 3, own = 0, near = 0, packed = NULL WHERE doc IN :docs;

-- put_back --
-- Put a memory back into the searches, with the vector it had
UPDATE memory_index SET state = CASE WHEN EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.doc = memory_index.doc AND embedding IS NOT NULL AND version = (
        SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active'
    )
) THEN 2 ELSE 1 END WHERE doc = :doc AND state = 3;

-- put_back_vectors --
-- Put its vectors back into the search
UPDATE memory_vectors SET gone = 0, change = :change WHERE doc = :doc AND embedding IS NOT NULL AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- take_out_vectors --
-- Take vectors out of the search, each doc with a change of its own
UPDATE memory_vectors SET gone = 1, change = :change + leaving.place FROM (
    SELECT value AS doc, row_number() OVER () - 1 AS place FROM EACH :docs
) AS leaving
WHERE memory_vectors.doc = leaving.doc AND version IN (SELECT version FROM embedding_versions WHERE tenant_id = '');

-- erase_vectors --
-- Erase the vectors of some memories; their rows stay empty, so that every process notices
UPDATE memory_vectors SET embedding = NULL WHERE doc IN :docs AND version IN (
    SELECT version FROM embedding_versions WHERE tenant_id = ''
);

-- add_vector --
-- Add a vector, unless the memory went or got one meanwhile
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, change, embedding)
SELECT tenant_id, :version, doc, namespace, :change, :embedding FROM memory_index WHERE doc = :doc AND state < 3
ON CONFLICT DO NOTHING;

-- restore_vector --
-- Restore a vector of another database, in place of one made here, for a memory that is indexed, searched or not
INSERT INTO memory_vectors (tenant_id, version, doc, namespace, change, gone, embedding)
SELECT tenant_id, :version, doc, namespace, :change, state = 3, :embedding FROM memory_index WHERE doc = :doc
ON CONFLICT (version, doc) DO UPDATE SET embedding = excluded.embedding, change = excluded.change
WHERE embedding IS NOT excluded.embedding;

-- is_embedded --
-- Mark a memory as embedded by the active version
UPDATE memory_index SET state = 2 WHERE doc = :doc AND state = 1;

-- changed_vectors --
-- List some changes of a namespace after one and up to another, oldest first
SELECT doc, change, CASE WHEN gone THEN NULL ELSE embedding END FROM memory_vectors
WHERE version = :version AND namespace = :namespace AND change > :seen AND change <= :until ORDER BY change LIMIT :limit;

-- vector_packs --
-- List the stretches of changes of a namespace that are packed, in order
SELECT rowid, changes_after, last_change FROM memory_vector_packs
WHERE version = :version AND namespace = :namespace ORDER BY last_change;

-- vector_pack --
-- Read one pack
SELECT docs, scales, codes, bits FROM memory_vector_packs WHERE rowid = :pack;

-- pack_centre --
-- Read the centre that the packs of a namespace have
SELECT centre FROM memory_vector_packs WHERE version = :version AND namespace = :namespace LIMIT 1;

-- add_pack --
-- Add a pack of vectors
INSERT INTO memory_vector_packs (
    tenant_id, version, namespace, changes_after, last_change, first_doc, last_doc, centre, docs, scales, codes, bits
) SELECT tenant_id, :version, :namespace, :seen, :last, :first_doc, :last_doc, :centre, :docs, :scales, :codes, :bits
FROM namespaces WHERE namespace = :namespace;

-- namespaces_of_vectors --
-- List the namespaces of some vectors
SELECT DISTINCT namespace FROM memory_vectors INDEXED BY memory_vectors_doc WHERE version = :version AND doc IN :docs;

-- drop_packs --
-- Remove the packs that may hold a vector of some memories
DELETE FROM memory_vector_packs WHERE version IN (SELECT version FROM embedding_versions WHERE tenant_id = '')
    AND namespace IN (SELECT namespace FROM memory_index WHERE doc IN :docs) AND EXISTS (
        SELECT 1 FROM memory_index
        WHERE doc IN :docs AND memory_index.namespace = memory_vector_packs.namespace
            AND doc BETWEEN first_doc AND last_doc
    );

-- prune_packs --
-- Remove the packs of retired versions
DELETE FROM memory_vector_packs
WHERE version IN (SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'retired');

-- count_vector_changes --
-- Count the changes of a namespace since a number
SELECT count(*) FROM memory_vectors WHERE version = :version AND namespace = :namespace AND change > :seen;

-- exact_vectors --
-- Read the float32 vectors of some memories, on demand those out of the searches too
SELECT doc, embedding FROM EACH :docs AS wanted
CROSS JOIN memory_vectors INDEXED BY memory_vectors_doc ON version = :version AND doc = wanted.value
WHERE namespace IN :namespaces AND gone <= :gone AND embedding IS NOT NULL;

-- vectors_of --
-- Read the stored vectors of some memories of a tenant
SELECT doc, embedding FROM memory_vectors INDEXED BY memory_vectors_doc
WHERE version = :version AND doc IN :docs AND tenant_id = :tenant_id AND embedding IS NOT NULL;

-- unembedded --
-- List some indexed memories without a vector
SELECT doc FROM memory_index INDEXED BY memory_index_waiting WHERE state = 1 LIMIT :limit;

-- without_vector --
-- List live memories that lack a vector of some version, oldest first
SELECT doc FROM memory_index WHERE state < 3 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.version = :version AND memory_vectors.doc = memory_index.doc
) ORDER BY doc LIMIT :limit;

-- mark_embedded --
-- Mark memories as embedded or not, after another version became active
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
-- List tenants that have memories, or items that expire; what is not indexed has no namespace yet
SELECT tenant_id FROM namespaces UNION
SELECT tenant_id FROM items WHERE expires_at IS NOT NULL UNION
SELECT tenant_id FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
ORDER BY tenant_id;

-- scopes_of_user --
-- List the scopes of a user's memories; what is not indexed has no namespace yet
SELECT scope FROM namespaces WHERE tenant_id = :tenant_id AND user_id = :user_id UNION
SELECT scope FROM episodes
WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled') AND +tenant_id = :tenant_id
    AND user_id = :user_id;

-- scopes_of_pool --
-- List the scopes of a pool's memories, given that of no user; what is not indexed has no namespace yet
SELECT scope FROM (
    SELECT scope, user_id FROM namespaces WHERE tenant_id = :tenant_id UNION
    SELECT scope, user_id FROM episodes
    WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled') AND +tenant_id = :tenant_id
)
WHERE scope IN (:scope, 'user:' || replace(replace(user_id, '%', '%25'), '/', '%2F') || '/' || :scope);

-- unindexed_docs --
-- List the oldest docs that are not indexed
SELECT doc FROM (
    SELECT doc FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM facts WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM rules WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
) ORDER BY doc LIMIT :limit;

-- has_unindexed --
-- Tell whether any doc is not indexed
SELECT EXISTS (SELECT 1 FROM episodes WHERE doc > value) OR EXISTS (SELECT 1 FROM facts WHERE doc > value)
    OR EXISTS (SELECT 1 FROM rules WHERE doc > value)
FROM sequences WHERE tenant_id = '' AND name = 'settled';

-- is_indexed_before --
-- Tell whether all docs before one are indexed
SELECT NOT EXISTS (SELECT 1 FROM episodes WHERE doc > value AND doc < :doc)
    AND NOT EXISTS (SELECT 1 FROM facts WHERE doc > value AND doc < :doc)
    AND NOT EXISTS (SELECT 1 FROM rules WHERE doc > value AND doc < :doc)
FROM sequences WHERE tenant_id = '' AND name = 'settled';

-- set_indexed --
-- Record that all docs up to this one are indexed
UPDATE sequences SET value = :doc WHERE tenant_id = '' AND name = 'settled';

-- use_docs --
-- Note the docs of memories of another database: from the first on they have to be indexed, some of them again, which
-- rewrites words of any namespace
INSERT INTO sequences (tenant_id, name, value) VALUES ('', 'settled', :first - 1), ('', 'rewrites', 1)
ON CONFLICT (tenant_id, name) DO UPDATE
SET value = CASE name WHEN 'settled' THEN min(value, excluded.value) ELSE value + 1 END;

-- count_rewrites --
-- Count that words of some memories' namespaces were rewritten
INSERT INTO sequences (tenant_id, name, value)
SELECT DISTINCT '', 'rewrites ' || namespace, 1 FROM memory_index WHERE doc IN :docs
ON CONFLICT (tenant_id, name) DO UPDATE SET value = value + 1;

-- count_waiting --
-- Count the memories of some scopes that wait for a vector, indexed or not, up to a bound. The plus keeps SQLite from
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
-- Count events of some types by day, in some scopes, the newest of a tenant first up to a bound
SELECT date(created_at / 1000000, 'unixepoch') AS day, event_type, count(*), min(created_at) FROM (
    SELECT created_at, event_type FROM memory_events INDEXED BY memory_events_time
    WHERE tenant_id = :tenant_id AND created_at >= :since AND event_type IN :types AND scope IN :scopes
    ORDER BY created_at DESC LIMIT :limit
) GROUP BY day, event_type;

-- waiting_docs --
-- List memories of every tenant that wait for a vector, indexed or not
SELECT doc FROM (
    SELECT doc FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM memory_index INDEXED BY memory_index_waiting WHERE state = 1
) LIMIT :limit;

-- count_indexed --
-- Count the memories in the keyword index
SELECT count(*) FROM memory_words_docsize;

-- count_searched --
-- Count the memories that are searched, by the totals of their namespaces
SELECT coalesce(sum(memories), 0) FROM namespaces;

-- missing_words --
-- Count the indexed live memories missing from the keyword index: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT doc FROM memory_index WHERE state < 3 EXCEPT SELECT id FROM memory_words_docsize
);

-- unvectored --
-- Count the memories marked as embedded without a vector: none, unless something else changed the file
SELECT count(*) FROM memory_index WHERE state = 2 AND NOT EXISTS (
    SELECT 1 FROM memory_vectors WHERE memory_vectors.doc = memory_index.doc AND version = (
        SELECT version FROM embedding_versions WHERE tenant_id = '' AND state = 'active'
    )
);

-- stray_words --
-- Count the words of removed memories: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT id FROM memory_words_docsize WHERE id <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index WHERE state < 3
);

-- missing_entries --
-- Count the indexed memories without an index entry: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT doc FROM (SELECT doc FROM episodes UNION ALL SELECT doc FROM facts UNION ALL SELECT doc FROM rules)
    WHERE doc <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index
);

-- stray_entries --
-- Count the index entries without a memory: none, unless something else changed the file or it was erased
SELECT count(*) FROM (
    SELECT doc FROM memory_index WHERE state < 3
    EXCEPT SELECT doc FROM episodes EXCEPT SELECT doc FROM facts EXCEPT SELECT doc FROM rules
);

-- size --
-- Measure the file in bytes, the write-ahead log not counted
SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size();
