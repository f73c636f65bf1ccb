-- next_numbers --
-- Take so many numbers of a sequence; returns the last of them
UPDATE sequences SET value = value + ? WHERE tenant_id = '' AND name = ? RETURNING value;

-- last_change --
-- The newest change of the file
SELECT value FROM sequences WHERE tenant_id = '' AND name = 'change';

-- namespaces --
-- The namespaces of a tenant's scopes
SELECT kind, scope, namespace FROM namespaces
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes));

-- find_namespace --
-- The number of a tenant's kind and scope
SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = :kind AND scope = :scope;

-- add_namespace --
-- Give a tenant's kind and scope its number
INSERT INTO namespaces (tenant_id, kind, scope, namespace) VALUES (?, ?, ?, ?);

-- next_doc --
-- The number after every doc ever given out
SELECT 1 + max(
    ifnull((SELECT max(doc) FROM episodes), 0),
    ifnull((SELECT max(doc) FROM facts), 0),
    ifnull((SELECT max(doc) FROM memory_index), 0)
);

-- has_memory --
-- Whether an id is taken, by either kind
SELECT 1 FROM episodes WHERE tenant_id = ?1 AND id = ?2
UNION ALL SELECT 1 FROM facts WHERE tenant_id = ?1 AND id = ?2 LIMIT 1;

-- last_turn --
-- The number of a session's last turn, live or not
SELECT turn FROM episodes WHERE tenant_id = ? AND scope = ? AND session = ? ORDER BY turn DESC LIMIT 1;

-- add_episode --
-- One episode
INSERT INTO episodes (
    doc, id, tenant_id, agent, scope, session, turn, role, speaker, content, event_time, created_at, expires_at, importance,
    reference_count, last_referenced_at, consolidation_status, tags, metadata
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- has_speaker --
-- Whether somebody is known to speak in a scope
SELECT 1 FROM speakers WHERE tenant_id = ? AND scope = ? AND speaker = ?;

-- add_speaker --
-- Somebody new speaks in a scope
INSERT INTO speakers (tenant_id, scope, speaker) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- add_fact --
-- One fact
INSERT INTO facts (
    doc, id, tenant_id, agent, scope, subject, predicate, content, confidence, importance, permanence, decay_rate, validity,
    valid_from, valid_to, created_at, superseded_at, supersedes_id, source_episode_id, last_confirmed_at,
    reference_count, last_referenced_at, tags, metadata
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- active_fact --
-- The fact that a new one of the same subject, predicate and scope supersedes
SELECT doc, id FROM facts
WHERE tenant_id = ? AND scope = ? AND subject = ? AND predicate = ? AND validity = 'active';

-- supersede_fact --
-- Close the old interval: no longer believed, no longer true from where the new one begins
UPDATE facts SET validity = 'superseded', superseded_at = :at, valid_to = coalesce(valid_to, :valid_to) WHERE doc = :doc;

-- retract_fact --
-- Withdraw a fact
UPDATE facts SET validity = 'retracted' WHERE doc = :doc;

-- expire_episode --
-- End an episode's life
UPDATE episodes SET expires_at = :at WHERE doc = :doc;

-- turns_between --
-- A stretch of a session in order, without what was forgotten; whether each is live, and so lends its words
SELECT doc, turn, speaker, event_time, content, expires_at IS NULL OR expires_at > :now FROM episodes
WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session AND turn BETWEEN :first AND :last
    AND NOT EXISTS (SELECT 1 FROM memory_index WHERE memory_index.doc = episodes.doc AND state = 3)
ORDER BY turn;

-- replace_words --
-- Index a memory's words, in place of what was indexed before
INSERT OR REPLACE INTO memory_words (rowid, own, near) VALUES (?, ?, ?);

-- drop_words --
-- Take a memory out of the keyword index
DELETE FROM memory_words WHERE rowid = :doc;

-- lengths --
-- How many words some memories are indexed under; no row where one is not
SELECT doc, own + near FROM memory_terms WHERE doc IN (SELECT value FROM json_each(:docs));

-- add_terms --
-- The same words with their counts, for ranking
INSERT INTO memory_terms (doc, own, near, packed) VALUES (?, ?, ?, ?)
ON CONFLICT (doc) DO UPDATE SET own = excluded.own, near = excluded.near, packed = excluded.packed;

-- drop_terms --
-- Take a memory's counts away
DELETE FROM memory_terms WHERE doc = :doc;

-- terms_of --
-- The counts of some memories
SELECT doc, own, near, packed FROM memory_terms WHERE doc IN (SELECT value FROM json_each(:docs));

-- count_words --
-- Keep a namespace's totals
UPDATE namespaces SET memories = memories + :memories, words = words + :words WHERE namespace = :namespace;

-- corpus --
-- The totals of some namespaces
SELECT coalesce(sum(memories), 0), coalesce(sum(words), 0) FROM namespaces
WHERE namespace IN (SELECT value FROM json_each(:namespaces));

-- postings --
-- The docs that match; one statement asks for those of every term
SELECT group_concat(rowid) FROM memory_words WHERE memory_words MATCH ?;

-- place --
-- A settled memory's place in the searches
INSERT INTO memory_index (doc, tenant_id, namespace, state, expires_at) VALUES (?, ?, ?, ?, ?);

-- has_expired --
-- Whether the indexes may hold what is no longer live: something ran out, or is not settled yet
SELECT EXISTS (SELECT 1 FROM memory_index WHERE state < 3 AND expires_at <= :now) OR EXISTS (
    SELECT 1 FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
) OR EXISTS (
    SELECT 1 FROM facts WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
);

-- state --
-- How far a settled memory is
SELECT state FROM memory_index WHERE doc = ?;

-- drop_index --
-- A memory left the searches
UPDATE memory_index SET state = 3, embedding = NULL, change = :change WHERE doc = :doc;

-- attach_vector --
-- The vector arrived, unless the memory went or got one meanwhile
UPDATE memory_index SET state = 2, embedding = :embedding, change = :change WHERE doc = :doc AND state = 1;

-- changed_vectors --
-- What a process has not seen of a namespace, oldest first
SELECT doc, change, embedding FROM memory_index
WHERE namespace = :namespace AND change > :seen AND state >= 2 ORDER BY change;

-- exact_vectors --
-- The float32 truth of some memories
SELECT doc, embedding FROM memory_index NOT INDEXED
WHERE doc IN (SELECT value FROM json_each(:docs)) AND state = 2
    AND namespace IN (SELECT value FROM json_each(:namespaces));

-- unembedded --
-- Some settled memories without a vector
SELECT doc FROM memory_index INDEXED BY memory_index_waiting WHERE state = 1 LIMIT :limit;

-- unsettled --
-- The oldest docs that are not settled
SELECT doc FROM (
    SELECT doc FROM episodes WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    UNION ALL
    SELECT doc FROM facts WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
) ORDER BY doc LIMIT :limit;

-- set_settled --
-- All docs up to this one are settled
UPDATE sequences SET value = ? WHERE tenant_id = '' AND name = 'settled';

-- count_waiting --
-- How many memories of some scopes wait for a vector, settled or not, each up to a bound. The plus keeps SQLite from
-- reading all of a tenant's episodes; only episodes are ever left unsettled
SELECT (
    SELECT count(*) FROM (
        SELECT 1 FROM memory_index WHERE state = 1 AND namespace IN (
            SELECT namespace FROM namespaces
            WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes))
        ) LIMIT :limit
    )
) + (
    SELECT count(*) FROM (
        SELECT 1 FROM episodes
        WHERE doc > (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
            AND +tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes))
        LIMIT :limit
    )
);

-- turn_places --
-- Session, role and speaker of some episodes
SELECT doc, scope, session, role, speaker FROM episodes NOT INDEXED
WHERE doc IN (SELECT value FROM json_each(:docs))
    AND tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes));

-- speakers --
-- Who ever spoke in some scopes
SELECT DISTINCT speaker FROM speakers
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes)) ORDER BY speaker LIMIT :limit;

-- episode_stats --
-- Counts and span of the live episodes in some scopes
SELECT count(*), count(DISTINCT session), count(DISTINCT speaker), min(event_time), max(event_time) FROM episodes
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes))
    AND (expires_at IS NULL OR expires_at > :now);

-- fact_stats --
-- Active and other facts in some scopes
SELECT count(*) FILTER (WHERE validity = 'active'), count(*) FILTER (WHERE validity <> 'active') FROM facts
WHERE tenant_id = :tenant_id AND scope IN (SELECT value FROM json_each(:scopes));

-- get_setting --
-- A setting of the whole database
SELECT value FROM memory_metadata WHERE tenant_id = '' AND key = :key;

-- set_setting --
-- Record a setting of the whole database, unless it is recorded already
INSERT INTO memory_metadata (tenant_id, key, value) VALUES ('', :key, :value) ON CONFLICT DO NOTHING;

-- count_memories --
-- All rows of the file
SELECT (SELECT count(*) FROM episodes) + (SELECT count(*) FROM facts);

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

-- stray_words --
-- Words of memories that are gone: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT id FROM memory_words_docsize WHERE id <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index WHERE state < 3
);

-- unplaced --
-- Settled memories without a place in the searches: none, unless something else changed the file
SELECT count(*) FROM (
    SELECT doc FROM (SELECT doc FROM episodes UNION ALL SELECT doc FROM facts)
    WHERE doc <= (SELECT value FROM sequences WHERE tenant_id = '' AND name = 'settled')
    EXCEPT SELECT doc FROM memory_index
);

-- lost --
-- Places in the searches without a memory: none, unless something else changed the file
SELECT count(*) FROM (SELECT doc FROM memory_index EXCEPT SELECT doc FROM episodes EXCEPT SELECT doc FROM facts);

-- size --
-- Bytes of the file, the write-ahead log not counted
SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size();
