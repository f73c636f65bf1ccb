-- gone_docs --
-- List docs of some namespaces that are no longer searched, newest first
SELECT doc FROM memory_index
WHERE tenant_id = :tenant_id AND namespace IN :namespaces AND state = 3 ORDER BY doc DESC LIMIT :limit;

-- speakers --
-- List the speakers of some scopes
SELECT DISTINCT speaker FROM speakers
WHERE tenant_id = :tenant_id AND scope IN :scopes ORDER BY speaker LIMIT :limit;

-- has_memory --
-- Check whether an id is taken, by any kind or by a tombstone
SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT 1 FROM facts WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT 1 FROM rules WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND id = :id LIMIT 1;

-- entities_of_user --
-- List the entities of a user's registry
SELECT id FROM entities WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> '' ORDER BY id;

-- runs_of_user --
-- List the runs of learning from what a user said
SELECT id FROM runs WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY id;

-- user_of_run --
-- Find the user from whom a run of an agent learned
SELECT user_id FROM runs WHERE tenant_id = :tenant_id AND id = :id AND agent = :agent;

-- access_keys_of_user --
-- List the keys that are bound to a user
SELECT id FROM access_keys WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY id;

-- knows_user --
-- Check whether there is, or was, anything of a user but memories
SELECT 1 FROM entities WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> ''
UNION ALL SELECT 1 FROM memory_events WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> ''
UNION ALL SELECT 1 FROM log_sessions WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> ''
UNION ALL SELECT 1 FROM items WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> ''
UNION ALL SELECT 1 FROM access_keys WHERE tenant_id = :tenant_id AND user_id = :user_id
UNION ALL SELECT 1 FROM runs WHERE tenant_id = :tenant_id AND user_id = :user_id
UNION ALL SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND user_id = :user_id
LIMIT 1;

-- knows_agent --
-- Check whether there is, or was, anything of an agent but memories of its own
SELECT 1 FROM memory_events WHERE tenant_id = :tenant_id AND :agent IN (scope, actor)
UNION ALL SELECT 1 FROM access_keys WHERE tenant_id = :tenant_id AND agent = :agent
UNION ALL SELECT 1 FROM log_sessions WHERE tenant_id = :tenant_id AND scope = :agent
UNION ALL SELECT 1 FROM items WHERE tenant_id = :tenant_id AND scope = :agent
UNION ALL SELECT 1 FROM runs WHERE tenant_id = :tenant_id AND agent = :agent
UNION ALL SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND scope = :agent
LIMIT 1;

-- knows_tenant --
-- Check whether there is, or was, anything of a tenant
SELECT 1 FROM memory_events WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM episodes WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM facts WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM rules WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM entities WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM access_keys WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM log_sessions WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM items WHERE tenant_id = :tenant_id
UNION ALL SELECT 1 FROM pools WHERE tenant_id = :tenant_id
LIMIT 1;

-- whose_episode --
-- Find the agent and the user of an episode of a tenant
SELECT agent, user_id FROM episodes WHERE tenant_id = :tenant_id AND id = :id;

-- erasures --
-- List the erasures of a tenant, its users and its agents by their scopes, oldest first
SELECT scope, created_at FROM memory_events INDEXED BY memory_events_type
WHERE tenant_id = :tenant_id AND event_type IN ('user_erased', 'agent_erased', 'tenant_erased')
    AND event_type <> 'episode_created' ORDER BY created_at;

-- erase_payloads_of_user --
-- Erase the payloads of the events of a user's memories
UPDATE memory_events INDEXED BY memory_events_user SET payload = :payload
WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> '';

-- fates --
-- List the taken ids among some, and whether a tombstone takes each
SELECT id, FALSE FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids
UNION ALL SELECT id, FALSE FROM facts WHERE tenant_id = :tenant_id AND id IN :ids
UNION ALL SELECT id, FALSE FROM rules WHERE tenant_id = :tenant_id AND id IN :ids
UNION ALL SELECT id, TRUE FROM tombstones WHERE tenant_id = :tenant_id AND id IN :ids;

-- derived_of --
-- List the memories that were derived from some, with the one each was derived from
SELECT source_id, target_id FROM memory_links
WHERE tenant_id = :tenant_id AND target_kind IN ('episode', 'fact', 'rule') AND target_id IN :ids
    AND relation = 'derived_from'
UNION SELECT id, source_episode_id FROM facts INDEXED BY facts_source
WHERE tenant_id = :tenant_id AND source_episode_id IS NOT NULL AND source_episode_id IN :ids
UNION SELECT id, source_episode_id FROM rules INDEXED BY rules_source
WHERE tenant_id = :tenant_id AND source_episode_id IS NOT NULL AND source_episode_id IN :ids
ORDER BY 1, 2;

-- active_fact --
-- Check whether an active fact of some scopes has an id whose period is not over
SELECT 1 FROM facts WHERE tenant_id = :tenant_id AND id = :id AND scope IN :scopes AND validity = 'active'
    AND (valid_to IS NULL OR valid_to > :now);

-- erased_among --
-- List the erased ids among some, of tombstones in the caller's scopes
SELECT id FROM tombstones WHERE tenant_id = :tenant_id AND id IN :ids AND scope IN :scopes;

-- docs_of_ids --
-- Find the docs of some memories by their ids
SELECT id, doc FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids
UNION ALL SELECT id, doc FROM facts WHERE tenant_id = :tenant_id AND id IN :ids
UNION ALL SELECT id, doc FROM rules WHERE tenant_id = :tenant_id AND id IN :ids;

-- known_entity --
-- Find the id of a known entity: the given one, or the one with that name and type
SELECT id FROM entities WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT id FROM entities
WHERE tenant_id = :tenant_id AND canonical_name = :name AND entity_type = :type AND user_id = :user_id LIMIT 1;

-- name_superseded --
-- Set what a restored fact supersedes, which came after it
UPDATE facts SET supersedes_id = :supersedes_id WHERE tenant_id = :tenant_id AND id = :id;

-- drop_tombstones --
-- Remove tombstones: these ids may be taken again
DELETE FROM tombstones WHERE tenant_id = :tenant_id AND id IN :ids;

-- turns_around --
-- Read stretches of some sessions without forgotten turns and without those at hand, each with its stretch's place
SELECT CAST(stretch.value ->> 0 AS integer), turn, doc, speaker, event_time, content, expires_at
FROM EACH :stretches AS stretch CROSS JOIN episodes
WHERE tenant_id = :tenant_id AND scope = stretch.value ->> 1 AND session = stretch.value ->> 2
    AND turn BETWEEN CAST(stretch.value ->> 3 AS integer) AND CAST(stretch.value ->> 4 AS integer)
    AND NOT (doc IN :docs) AND NOT EXISTS (
        SELECT 1 FROM memory_index
        WHERE memory_index.tenant_id = :tenant_id AND memory_index.doc = episodes.doc AND state = 3
    );

-- held_slots --
-- List the places of those slots, given as (place, scope, predicate, subject, value, further validity), that facts fill at any time
SELECT CAST(given.value ->> 0 AS integer) FROM EACH :slots AS given
WHERE EXISTS (
    SELECT 1 FROM facts
    WHERE tenant_id = :tenant_id AND scope = given.value ->> 1 AND predicate_key = given.value ->> 2
        AND subject_key = given.value ->> 3 AND entity_id IS NULL AND validity IN ('active', given.value ->> 5)
        AND (value_key IN (given.value ->> 4, '?' || (given.value ->> 4), id) OR given.value ->> 4 = '')
);

-- entities_beside --
-- List the names of the entities that have one of some names, or ids
SELECT id, canonical_name, aliases FROM entities
WHERE tenant_id = :tenant_id AND id IN (
    SELECT entity_id FROM entity_names WHERE tenant_id = :tenant_id AND name IN :names AND user_id IN :users
)
UNION ALL
SELECT id, canonical_name, aliases FROM entities WHERE tenant_id = :tenant_id AND id IN :ids AND user_id IN :users;

-- count_bearers --
-- Count the entities of some names
SELECT name, count(*) FROM entity_names
WHERE tenant_id = :tenant_id AND name IN :names AND user_id IN :users GROUP BY name;

-- user_names --
-- List what the user is called in some scopes
SELECT content FROM facts
WHERE tenant_id = :tenant_id AND scope IN :scopes AND subject_key = 'user' AND predicate_key = 'name'
    AND entity_id IS NULL AND validity = 'active' AND substr(value_key, 1, 1) <> '?';

-- add_seal --
-- Add a seal of events
INSERT INTO memory_metadata (tenant_id, key, value) VALUES (:tenant_id, :key, :value);

-- seal_after --
-- Find the seal of events after one
SELECT key, value FROM memory_metadata
WHERE tenant_id = :tenant_id AND key > :key AND key < 'audit_seal/~' ORDER BY key LIMIT 1;

-- seal_before --
-- Find the seal of events before one
SELECT key, value FROM memory_metadata
WHERE tenant_id = :tenant_id AND key < :key AND key > 'audit_seal/' ORDER BY key DESC LIMIT 1;

-- set_seal --
-- Replace the text of a seal of events
UPDATE memory_metadata SET value = :value WHERE tenant_id = :tenant_id AND key = :key;

-- removable_event --
-- Check whether an event is older than a time, of no type among some
SELECT 1 FROM memory_events INDEXED BY memory_events_time
WHERE tenant_id = :tenant_id AND created_at < :before AND NOT event_type IN :kept ORDER BY created_at LIMIT 1;

-- count_removable_events --
-- Count the events that are older than a time, of no type among some
SELECT count(*) FROM memory_events INDEXED BY memory_events_time
WHERE tenant_id = :tenant_id AND created_at < :before AND NOT event_type IN :kept;

-- remove_events --
-- Remove some events
DELETE FROM memory_events WHERE tenant_id = :tenant_id AND id IN :ids;

-- count_events --
-- Count the events of a tenant
SELECT count(*) FROM memory_events WHERE tenant_id = :tenant_id;

-- forgotten_since --
-- List the facts and rules of some scopes that were forgotten, or retracted, since a time, the newest first
SELECT memory_id FROM memory_events INDEXED BY memory_events_type
WHERE tenant_id = :tenant_id AND event_type IN ('fact_retracted', 'rule_forgotten')
    AND event_type <> 'episode_created' AND created_at >= :said_at AND +scope IN :scopes
ORDER BY created_at DESC LIMIT :limit;

-- was_erased --
-- Tell whether a memory was erased, or all that is in one of some scopes
SELECT 1 FROM tombstones WHERE tenant_id = :tenant_id AND id = :memory_id
UNION ALL
SELECT 1 FROM memory_events AS erasing
WHERE erasing.tenant_id = :tenant_id AND erasing.event_type IN ('user_erased', 'agent_erased')
    AND erasing.event_type <> 'episode_created' AND erasing.scope IN :scopes
LIMIT 1;

-- memory_of_event --
-- Find the memory that an event is about
SELECT memory_id FROM memory_events WHERE tenant_id = :tenant_id AND id = :id;

-- has_leftovers --
-- Check whether a fact was stored before facts had keys, or a memory indexed before words had the stems of their language
SELECT 1 FROM facts WHERE predicate_key = '' UNION ALL SELECT 1 FROM memory_index WHERE stale = 1 LIMIT 1;

-- stale_docs --
-- List memories that were indexed before words had the stems of their language: tenant and doc
SELECT tenant_id, doc FROM memory_index WHERE stale = 1 ORDER BY tenant_id, doc LIMIT :limit;

-- set_fresh --
-- Note that memories are indexed by the stems of their language
UPDATE memory_index SET stale = 0 WHERE tenant_id = :tenant_id AND doc IN :docs;

-- unkeyed_facts --
-- List facts that were stored before facts had keys, the newest first: tenant, doc, scope, subject, predicate, content
SELECT tenant_id, doc, scope, subject, predicate, content FROM facts WHERE predicate_key = ''
ORDER BY doc DESC LIMIT :limit;

-- set_fact_key --
-- Set the key of a fact; its id is the key of its value where another active fact has its slot
UPDATE facts SET subject_key = :subject, predicate_key = :predicate, value_key = CASE
    WHEN validity = 'active' AND EXISTS (
        SELECT 1 FROM facts AS other
        WHERE other.tenant_id = facts.tenant_id AND other.scope = facts.scope AND other.validity = 'active'
            AND other.subject_key = :subject AND other.predicate_key = :predicate AND other.value_key = :value
            AND other.entity_id IS NULL AND facts.entity_id IS NULL
    ) OR validity = 'active' AND EXISTS (
        SELECT 1 FROM facts AS other
        WHERE other.tenant_id = facts.tenant_id AND other.scope = facts.scope AND other.validity = 'active'
            AND other.predicate_key = :predicate AND other.value_key = :value AND other.entity_id = facts.entity_id
    ) THEN id ELSE :value END
WHERE tenant_id = :tenant_id AND doc = :doc AND predicate_key = '';

-- add_speaker --
-- Add a speaker of a scope, and lock it until the end of the transaction, whoever came first
INSERT INTO speakers (tenant_id, scope, speaker) VALUES (:tenant_id, :scope, :speaker)
ON CONFLICT (tenant_id, scope, speaker) DO UPDATE SET speaker = excluded.speaker;

-- reopen_session --
-- Reopen a session: one of its episodes waits to be consolidated
UPDATE sessions_consolidations SET consolidated_at = NULL
WHERE tenant_id = :tenant_id AND scope = :scope AND session = :session;

-- supersede_fact --
-- Supersede a fact: close the old interval where the new one begins
UPDATE facts SET validity = 'superseded', invalidated_at = :at, valid_to = :valid_to
WHERE tenant_id = :tenant_id AND id = :id AND validity = 'active';

-- set_fact_end --
-- Set the end of the period of a fact that is, or was, believed: others may fill its slot before and after
UPDATE facts SET valid_to = :valid_to, value_key = id
WHERE tenant_id = :tenant_id AND id = :id AND validity IN ('active', 'superseded');

-- set_expiry --
-- Set when time alone takes a memory out of the searches
UPDATE memory_index SET expires_at = :expires_at WHERE tenant_id = :tenant_id AND doc = :doc;

-- superseded_by --
-- List the facts that a fact supersedes, or will
SELECT target_id FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind = 'fact' AND source_id = :id AND relation = 'supersedes'
    AND target_kind = 'fact';

-- run_out_episodes --
-- List the episodes that expired longest ago
SELECT id FROM episodes WHERE tenant_id = :tenant_id AND expires_at < :before ORDER BY expires_at LIMIT :limit;

-- oldest_consolidated --
-- List the oldest episodes that are consolidated and have not expired, but for some
SELECT id FROM episodes
WHERE tenant_id = :tenant_id AND consolidation_status = 'consolidated' AND (expires_at IS NULL OR expires_at >= :before)
    AND NOT id IN :needed
ORDER BY created_at, id LIMIT :limit;

-- needed_sources --
-- List the consolidated episodes that have a vector, while a fact or rule learned from them still waits for its own
SELECT memory_links.target_id FROM memory_index
JOIN facts ON facts.tenant_id = memory_index.tenant_id AND facts.doc = memory_index.doc
JOIN memory_links ON memory_links.tenant_id = facts.tenant_id AND source_kind = 'fact' AND source_id = facts.id
    AND target_kind = 'episode' AND relation = 'derived_from'
JOIN episodes ON episodes.tenant_id = memory_links.tenant_id AND episodes.id = target_id
JOIN memory_index AS place ON place.tenant_id = episodes.tenant_id AND place.doc = episodes.doc AND place.state = 2
WHERE memory_index.tenant_id = :tenant_id AND memory_index.state = 1 AND memory_index.namespace IN (
        SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = 'fact'
    )
    AND consolidation_status = 'consolidated' AND (episodes.expires_at IS NULL OR episodes.expires_at >= :before)
UNION
SELECT memory_links.target_id FROM memory_index
JOIN rules ON rules.tenant_id = memory_index.tenant_id AND rules.doc = memory_index.doc
JOIN memory_links ON memory_links.tenant_id = rules.tenant_id AND source_kind = 'rule' AND source_id = rules.id
    AND target_kind = 'episode' AND relation = 'derived_from'
JOIN episodes ON episodes.tenant_id = memory_links.tenant_id AND episodes.id = target_id
JOIN memory_index AS place ON place.tenant_id = episodes.tenant_id AND place.doc = episodes.doc AND place.state = 2
WHERE memory_index.tenant_id = :tenant_id AND memory_index.state = 1 AND memory_index.namespace IN (
        SELECT namespace FROM namespaces WHERE tenant_id = :tenant_id AND kind = 'rule'
    )
    AND consolidation_status = 'consolidated' AND (episodes.expires_at IS NULL OR episodes.expires_at >= :before);

-- episode_counts --
-- Count the episodes of a tenant, and those that have expired
SELECT
    (SELECT count(*) FROM episodes WHERE tenant_id = :tenant_id),
    (SELECT count(*) FROM episodes WHERE tenant_id = :tenant_id AND expires_at < :before);

-- count_consolidated --
-- Count the episodes of a tenant that are consolidated and have not expired, up to a bound
SELECT count(*) FROM (
    SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND consolidation_status = 'consolidated'
        AND (expires_at IS NULL OR expires_at >= :before) LIMIT :limit
) AS counted;

-- forget_episode --
-- Forget an episode: it expires now, and its metadata says so
UPDATE episodes SET expires_at = :at, metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- forget_fact --
-- Retract a fact now
UPDATE facts SET validity = 'retracted', invalidated_at = :at, metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- age_facts --
-- Change the standing of some facts: docs and metadata
UPDATE facts SET metadata = given.value -> 1 FROM EACH :rows AS given
WHERE +tenant_id = :tenant_id AND doc = CAST(given.value ->> 0 AS bigint);

-- expire_facts --
-- Expire some facts: docs and metadata
UPDATE facts SET metadata = given.value -> 1, validity = 'expired', invalidated_at = :at FROM EACH :rows AS given
WHERE +tenant_id = :tenant_id AND doc = CAST(given.value ->> 0 AS bigint);

-- age_rules --
-- Change the standing of some rules: docs and metadata
UPDATE rules SET metadata = given.value -> 1 FROM EACH :rows AS given
WHERE +tenant_id = :tenant_id AND doc = CAST(given.value ->> 0 AS bigint);

-- expire_rules --
-- Expire some rules: docs and metadata
UPDATE rules SET metadata = given.value -> 1, invalidated_at = :at FROM EACH :rows AS given
WHERE +tenant_id = :tenant_id AND doc = CAST(given.value ->> 0 AS bigint);

-- add_events --
-- Add an event of one type for each of some memories: ids of the events, scopes and ids of the memories, and payloads
INSERT INTO memory_events (
    tenant_id, id, event_type, scope, actor, request_id, memory_id, run_id, payload, created_at
)
SELECT :tenant_id, given.value ->> 0, :event_type, given.value ->> 1, :actor, :request_id, given.value ->> 2, :run_id,
    given.value -> 3, :at
FROM EACH :rows AS given;

-- mark_rule --
-- Update the content, maturity and counts of a rule after an outcome
UPDATE rules SET content = :content, maturity = :maturity, effectiveness_score = :effectiveness_score,
    applied_count = :applied_count, success_count = :success_count, harmful_count = :harmful_count,
    last_applied_at = :at, last_evaluated_at = :at, metadata = :metadata
WHERE tenant_id = :tenant_id AND id = :id;

-- move_rule --
-- Give a rule with new content a new doc: to the searches it is another memory
UPDATE rules SET doc = :doc WHERE tenant_id = :tenant_id AND id = :id;

-- applications --
-- List the applications of a rule, newest first
SELECT COLUMNS OF rule_applications FROM rule_applications
WHERE tenant_id = :tenant_id AND rule_id = :rule_id ORDER BY created_at DESC, id DESC LIMIT :limit;

-- more_applications --
-- List the applications of a rule, newest first, after a position in that order
SELECT COLUMNS OF rule_applications FROM rule_applications
WHERE tenant_id = :tenant_id AND rule_id = :rule_id AND (created_at, id) < (:after_at, :after_id)
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- forget_rule --
-- Forget a rule: its metadata says so
UPDATE rules SET metadata = :metadata, invalidated_at = :at WHERE tenant_id = :tenant_id AND id = :id;

-- count_references_to_episode --
-- Count references to an episode, if it is in some scopes
UPDATE episodes SET reference_count = reference_count + :count, last_referenced_at = :at
WHERE tenant_id = :tenant_id AND id = :id AND +scope IN :scopes;

-- count_references_to_fact --
-- Count references to a fact, if it is in some scopes
UPDATE facts SET reference_count = reference_count + :count, last_referenced_at = :at
WHERE tenant_id = :tenant_id AND id = :id AND +scope IN :scopes;

-- count_references_to_rule --
-- Count references to a rule, if it is in some scopes
UPDATE rules SET reference_count = reference_count + :count, last_referenced_at = :at
WHERE tenant_id = :tenant_id AND id = :id AND +scope IN :scopes;

-- confirm_fact --
-- Confirm a fact
UPDATE facts SET metadata = :metadata, last_confirmed_at = :at WHERE tenant_id = :tenant_id AND id = :id;

-- fill_slot --
-- Let a fact that was pending fill its slot
UPDATE facts SET value_key = :value, supersedes_id = :older WHERE tenant_id = :tenant_id AND id = :id;

-- confirm_rule --
-- Confirm a rule
UPDATE rules SET metadata = :metadata, last_confirmed_at = :at WHERE tenant_id = :tenant_id AND id = :id;

-- add_link --
-- Add a link, unless it exists
INSERT INTO memory_links (tenant_id, source_kind, source_id, target_kind, target_id, relation, weight, created_at)
VALUES (:tenant_id, :source_kind, :source_id, :target_kind, :target_id, :relation, :weight, :created_at)
ON CONFLICT DO NOTHING RETURNING 1;

-- link --
-- Read one link
SELECT weight, created_at FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind = :source_kind AND source_id = :source_id
AND target_kind = :target_kind AND target_id = :target_id AND relation = :relation;

-- links_out --
-- List the links from a memory
SELECT source_id, target_id, relation, weight, created_at FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind = :kind AND source_id = :id;

-- links_in --
-- List the links to a memory. SQLite, which judges a plan by the number of its columns alone, would rather read all of
-- a tenant in the order of the key
SELECT source_id, target_id, relation, weight, created_at FROM memory_links INDEXED BY memory_links_target
WHERE tenant_id = :tenant_id AND target_kind = :kind AND target_id = :id;

-- add_entity_name --
-- Add one of the names of an entity
INSERT INTO entity_names (tenant_id, name, entity_id, user_id) VALUES (:tenant_id, :name, :entity_id, :user_id);

-- set_episode_metadata --
-- Replace the metadata of an episode
UPDATE episodes SET metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- set_fact_metadata --
-- Replace the metadata of a fact
UPDATE facts SET metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- set_rule_metadata --
-- Replace the metadata of a rule
UPDATE rules SET metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- drop_entity_name --
-- Remove one of the names of an entity
DELETE FROM entity_names WHERE tenant_id = :tenant_id AND name = :name AND entity_id = :entity_id;

-- add_entity_trigram --
-- Add one of the trigrams of an entity's names
INSERT INTO entity_trigrams (tenant_id, trigram, entity_id, user_id)
VALUES (:tenant_id, :trigram, :entity_id, :user_id);

-- drop_entity_trigram --
-- Remove a trigram that no name of an entity has any more
DELETE FROM entity_trigrams WHERE tenant_id = :tenant_id AND trigram = :trigram AND entity_id = :entity_id;

-- count_trigrams --
-- Count the trigrams of all entities
SELECT count(*) FROM entity_trigrams;

-- change_entity --
-- Update an entity
UPDATE entities SET canonical_name = :canonical_name, aliases = :aliases, mention_count = :mention_count,
    metadata = :metadata, updated_at = :updated_at
WHERE tenant_id = :tenant_id AND id = :id;

-- entities_called --
-- Find entities by exact canonical name
SELECT id FROM entities WHERE tenant_id = :tenant_id AND canonical_name IN :names AND user_id IN :users;

-- names_holding --
-- Find names that contain a text
SELECT name, entity_id FROM entity_names
WHERE tenant_id = :tenant_id AND user_id IN :users AND name LIKE :pattern ESCAPE '!' ORDER BY name, entity_id LIMIT :limit;

-- alike_entities --
-- Find entities with many of some trigrams, those with most of them first
SELECT entity_id, count(*) AS shared FROM entity_trigrams
WHERE tenant_id = :tenant_id AND trigram IN :trigrams AND user_id IN :users
GROUP BY entity_id HAVING count(*) >= :least ORDER BY shared DESC, entity_id LIMIT :limit;

-- payloads_of --
-- List the payloads of some events of a memory or an entity, oldest first
SELECT payload FROM memory_events INDEXED BY memory_events_memory
WHERE tenant_id = :tenant_id AND memory_id = :id AND event_type IN :types ORDER BY id;

-- repoint_facts --
-- Move some facts from one entity to another
UPDATE facts SET entity_id = :target_id WHERE tenant_id = :tenant_id AND id IN :ids AND entity_id = :source_id;

-- unattribute_facts --
-- Detach some facts from their entity
UPDATE facts SET entity_id = NULL WHERE tenant_id = :tenant_id AND id IN :ids;

-- drop_mentions_of --
-- Remove all mentions of an entity
DELETE FROM memory_entities
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND memory_kind IN ('episode', 'fact', 'rule');

-- remove_entity --
-- Remove an entity
DELETE FROM entities WHERE tenant_id = :tenant_id AND id = :id;

-- drop_supersedes --
-- Remove the link by which a fact supersedes another
DELETE FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind = 'fact' AND source_id = :source_id
    AND target_kind = 'fact' AND target_id = :target_id AND relation = 'supersedes';

-- mentions_of --
-- List the memories that mention an entity
SELECT memory_id, scope, created_at FROM memory_entities INDEXED BY memory_entities_time
WHERE tenant_id = :tenant_id AND entity_id = :entity_id;

-- copy_mentions --
-- Add mentions of one entity to memories that mention another; answers the new ones
INSERT INTO memory_entities (tenant_id, entity_id, memory_kind, memory_id, scope, happened_at, created_at)
SELECT tenant_id, CAST(:to_id AS text), memory_kind, memory_id, scope, happened_at, created_at FROM memory_entities
WHERE tenant_id = :tenant_id AND entity_id = :from_id AND memory_kind IN ('episode', 'fact', 'rule')
    AND memory_id IN :ids
ON CONFLICT DO NOTHING RETURNING memory_id;

-- set_mentioned_at --
-- Set the time of a mention
UPDATE memory_entities SET created_at = :at
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND memory_kind IN ('episode', 'fact', 'rule')
    AND memory_id = :memory_id;

-- drop_mentions --
-- Remove the mentions of an entity by some memories
DELETE FROM memory_entities
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND memory_kind IN ('episode', 'fact', 'rule')
    AND memory_id IN :ids;

-- mentioned_entities --
-- List the entities that some memories mention
SELECT memory_id, entity_id FROM memory_entities INDEXED BY memory_entities_memory
WHERE tenant_id = :tenant_id AND memory_kind IN ('episode', 'fact', 'rule') AND memory_id IN :ids
ORDER BY memory_id, entity_id;

-- seen_span --
-- Find the first and last time at which memories of some scopes mention an entity or are about it
SELECT min(happened_at), max(happened_at) FROM memory_entities
WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND memory_kind IN ('episode', 'fact', 'rule')
    AND scope IN :scopes
UNION ALL
SELECT min(coalesce(valid_from, created_at)), max(coalesce(valid_from, created_at))
FROM facts INDEXED BY facts_about WHERE tenant_id = :tenant_id AND entity_id = :entity_id AND scope IN :scopes;

-- named_entities --
-- Find entities by name
SELECT DISTINCT entity_id FROM entity_names
WHERE tenant_id = :tenant_id AND name IN :names AND user_id IN :users ORDER BY entity_id;

-- names_of_all --
-- List every name of every entity
SELECT tenant_id, entity_id, name FROM entity_names;

-- all_names --
-- List every entity of every tenant, with its names
SELECT tenant_id, id, canonical_name, entity_type, aliases, metadata FROM entities;

-- add_mentions --
-- Add mentions of some entities by a memory; answers the new ones
INSERT INTO memory_entities (tenant_id, entity_id, memory_kind, memory_id, scope, happened_at, created_at)
SELECT tenant_id, id, :kind, :memory_id, :scope, :happened_at, :at FROM entities
WHERE tenant_id = :tenant_id AND id IN :ids AND user_id IN ('', :user_id) ORDER BY id
ON CONFLICT DO NOTHING RETURNING entity_id;

-- count_mentions --
-- Count the mentions of some entities by memories of some scopes
SELECT entity_id, count(*) FROM memory_entities
WHERE tenant_id = :tenant_id AND entity_id IN :ids AND memory_kind IN ('episode', 'fact', 'rule') AND scope IN :scopes
GROUP BY entity_id;

-- links_from --
-- List the links of some relations from some memories
SELECT source_id, target_id, relation, weight, created_at FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind IN ('episode', 'fact', 'rule') AND source_id IN :ids
    AND relation IN :relations;

-- linked_to --
-- List the memories that some are linked to, in either direction
SELECT target_id FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind IN ('episode', 'fact', 'rule') AND source_id IN :ids
UNION
SELECT source_id FROM memory_links INDEXED BY memory_links_target
WHERE tenant_id = :tenant_id AND target_kind IN ('episode', 'fact', 'rule') AND target_id IN :ids;

-- has_entity_name --
-- Find an entity by its name and type, or by its id
SELECT id FROM entities
WHERE tenant_id = :tenant_id AND canonical_name = :canonical_name AND entity_type = :entity_type AND user_id = :user_id
UNION ALL SELECT id FROM entities WHERE tenant_id = :tenant_id AND id = :id LIMIT 1;

-- erase_links_out --
-- Remove the links from some memories
DELETE FROM memory_links WHERE tenant_id = :tenant_id AND source_kind = :kind AND source_id IN :ids;

-- erase_relations --
-- Remove the relations of a superseded fact
DELETE FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind = 'fact' AND source_id = :id AND relation = 'related_to';

-- erase_links_in --
-- Remove the links to some memories
DELETE FROM memory_links INDEXED BY memory_links_target
WHERE tenant_id = :tenant_id AND target_kind = :kind AND target_id IN :ids;

-- erase_mentions --
-- Remove the mentions by some memories
DELETE FROM memory_entities INDEXED BY memory_entities_memory
WHERE tenant_id = :tenant_id AND memory_kind = :kind AND memory_id IN :ids;

-- erase_applications --
-- Remove the applications of some rules
DELETE FROM rule_applications INDEXED BY rule_applications_rule WHERE tenant_id = :tenant_id AND rule_id IN :ids;

-- count_confirmations --
-- Count how often some facts were confirmed
SELECT memory_id, count(*) FROM memory_events
WHERE tenant_id = :tenant_id AND memory_id IN :ids AND event_type = 'fact_confirmed' GROUP BY memory_id;

-- erase_event_payloads --
-- Erase the payloads of the events of some memories
UPDATE memory_events INDEXED BY memory_events_memory SET payload = :payload
WHERE tenant_id = :tenant_id AND memory_id IN :ids;

-- clear_fact_source --
-- Clear the source of facts that came from erased episodes
UPDATE facts INDEXED BY facts_source SET source_episode_id = NULL
WHERE tenant_id = :tenant_id AND source_episode_id IN :ids;

-- clear_rule_source --
-- Clear the source of rules that came from erased episodes
UPDATE rules INDEXED BY rules_source SET source_episode_id = NULL
WHERE tenant_id = :tenant_id AND source_episode_id IN :ids;

-- clear_supersedes --
-- Clear what facts superseded that is erased
UPDATE facts INDEXED BY facts_supersedes SET supersedes_id = NULL
WHERE tenant_id = :tenant_id AND supersedes_id IN :ids;

-- erase_episodes --
-- Remove some episodes
DELETE FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids;

-- erase_facts --
-- Remove some facts
DELETE FROM facts WHERE tenant_id = :tenant_id AND id IN :ids;

-- erase_rules --
-- Remove some rules
DELETE FROM rules WHERE tenant_id = :tenant_id AND id IN :ids;

-- erase_speakers --
-- Remove those of some speakers, given as (scope, speaker), that have no episodes
DELETE FROM speakers
WHERE tenant_id = :tenant_id AND (scope, speaker) IN (
    SELECT given.value ->> 0, given.value ->> 1 FROM EACH :speakers AS given
) AND NOT EXISTS (
    SELECT 1 FROM episodes
    WHERE episodes.tenant_id = :tenant_id AND episodes.scope = speakers.scope AND episodes.speaker = speakers.speaker
);

-- erase_sessions --
-- Remove those of some sessions, given as (scope, session), that have no episodes
DELETE FROM sessions_consolidations
WHERE tenant_id = :tenant_id AND (scope, session) IN (
    SELECT given.value ->> 0, given.value ->> 1 FROM EACH :sessions AS given
) AND NOT EXISTS (
    SELECT 1 FROM episodes
    WHERE episodes.tenant_id = :tenant_id AND episodes.scope = sessions_consolidations.scope
        AND episodes.session = sessions_consolidations.session
);

-- add_tombstone --
-- Add the tombstone of an erased memory
INSERT INTO tombstones (tenant_id, id, kind, scope, digest, erased_at)
VALUES (:tenant_id, :id, :kind, :scope, :digest, :erased_at);

-- add_tombstones --
-- Add the tombstones of erased memories: ids, kinds, scopes and digests
INSERT INTO tombstones (tenant_id, id, kind, scope, digest, erased_at)
SELECT :tenant_id, given.value ->> 0, given.value ->> 1, given.value ->> 2, given.value ->> 3, :erased_at
FROM EACH :rows AS given;

-- schema_revisions --
-- List our schema revisions; those of a host application stand beside them
SELECT version_num FROM alembic_version WHERE version_num LIKE 'mem_%';

-- memories_by_kind --
-- Count the indexed memories of every tenant by kind
SELECT kind, CAST(sum(memories) AS bigint) FROM namespaces GROUP BY kind;

-- job_vitals --
-- Count the jobs of every tenant by status, and those overdue, with the time of the first
SELECT count(*) FILTER (WHERE status = 'waiting'), count(*) FILTER (WHERE status = 'running'),
    count(*) FILTER (WHERE status = 'dead_letter'),
    count(*) FILTER (WHERE status = 'waiting' AND run_at <= :now OR status = 'running' AND lease_until <= :now),
    min(CASE status WHEN 'running' THEN lease_until ELSE run_at END)
        FILTER (WHERE status = 'waiting' AND run_at <= :now OR status = 'running' AND lease_until <= :now)
FROM jobs;

-- last_version --
-- Find the number of the newest version, 0 before the first
SELECT coalesce(max(version), 0) FROM embedding_versions WHERE tenant_id = '';

-- retire_version --
-- Retire the active version
UPDATE embedding_versions SET state = 'retired' WHERE tenant_id = '' AND state = 'active';

-- activate_version --
-- Activate a version
UPDATE embedding_versions SET state = 'active', activated_at = :at WHERE tenant_id = '' AND version = :version;

-- end_run --
-- End a run
UPDATE runs SET status = :status, finished_at = :finished_at, report = :report, error = :error
WHERE tenant_id = :tenant_id AND id = :id;

-- renew_run --
-- Renew the lease of a run
UPDATE runs SET lease_until = :lease_until
WHERE tenant_id = :tenant_id AND id = :id AND agent = :agent AND user_id = :user_id AND status = 'running' RETURNING 1;

-- pending_sessions --
-- List the sessions of an agent in which an episode waits to be consolidated, by scope: of those that wait longest
SELECT waiting.session, count(*), min(created_at), min(first_seen_at) FROM (
    SELECT scope, session, created_at FROM episodes INDEXED BY episodes_pending
    WHERE tenant_id = :tenant_id AND agent = :agent AND consolidation_status = 'pending' AND session IS NOT NULL
        AND (expires_at IS NULL OR expires_at > :now) AND +scope IN :scopes
    ORDER BY created_at, id LIMIT :limit
) AS waiting LEFT JOIN sessions_consolidations AS known
    ON known.tenant_id = :tenant_id AND known.scope = waiting.scope AND known.session = waiting.session
GROUP BY waiting.scope, waiting.session;

-- session_counts --
-- Count the episodes of an agent in a session, and those that wait to be consolidated
SELECT count(*), count(*) FILTER (WHERE consolidation_status = 'pending' AND (expires_at IS NULL OR expires_at > :now))
FROM episodes WHERE tenant_id = :tenant_id AND scope IN :scopes AND session = :session AND agent = :agent;

-- consolidate_episodes --
-- Mark some episodes as consolidated
UPDATE episodes SET consolidation_status = 'consolidated' WHERE tenant_id = :tenant_id AND id IN :ids;

-- set_consolidation --
-- Set the consolidation status of an episode
UPDATE episodes SET consolidation_status = :status, consolidation_attempts = :attempts,
    last_consolidation_error = :error, next_consolidation_retry_at = :retry_at
WHERE tenant_id = :tenant_id AND id = :id;

-- close_sessions --
-- Close those sessions of some episodes in which none waits any more
INSERT INTO sessions_consolidations (tenant_id, scope, session, last_turn, first_seen_at, consolidated_at)
SELECT tenant_id, scope, session, max(turn), min(created_at), :at FROM episodes
WHERE tenant_id = :tenant_id AND (scope, session) IN (
    SELECT scope, session FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids AND session IS NOT NULL
)
GROUP BY tenant_id, scope, session
HAVING count(*) FILTER (WHERE consolidation_status = 'pending' AND (expires_at IS NULL OR expires_at > :at)) = 0
ON CONFLICT (tenant_id, scope, session) DO UPDATE SET consolidated_at = excluded.consolidated_at;

-- reopen_sessions --
-- Reopen the sessions of some episodes
UPDATE sessions_consolidations SET consolidated_at = NULL
WHERE tenant_id = :tenant_id AND (scope, session) IN (
    SELECT scope, session FROM episodes WHERE tenant_id = :tenant_id AND id IN :ids AND session IS NOT NULL
);

-- doubt_fact --
-- Set the confidence of a fact
UPDATE facts SET confidence = :confidence WHERE tenant_id = :tenant_id AND id = :id;

-- set_fact_confirmation --
-- Set the last confirmation and the metadata of a fact
UPDATE facts SET last_confirmed_at = :last_confirmed_at, metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- set_rule_confirmation --
-- Set the last confirmation and the metadata of a rule
UPDATE rules SET last_confirmed_at = :last_confirmed_at, metadata = :metadata WHERE tenant_id = :tenant_id AND id = :id;

-- reactivate_fact --
-- Make a fact active again, and true until its earlier end
UPDATE facts SET validity = 'active', invalidated_at = NULL, valid_to = :valid_to
WHERE tenant_id = :tenant_id AND id = :id;

-- was_taken_back --
-- Check whether the undo of a run took a memory back
SELECT 1 FROM memory_events INDEXED BY memory_events_memory
WHERE tenant_id = :tenant_id AND memory_id = :id AND event_type IN ('fact_taken_back', 'rule_taken_back') LIMIT 1;

-- has_event --
-- Check whether an audit event is there
SELECT 1 FROM memory_events WHERE tenant_id = :tenant_id AND id = :id;

-- drop_link --
-- Remove a link; answers whether it existed
DELETE FROM memory_links
WHERE tenant_id = :tenant_id AND source_kind IN ('episode', 'fact', 'rule') AND source_id = :source_id
    AND target_kind IN ('episode', 'fact', 'rule') AND target_id = :target_id AND relation = :relation RETURNING 1;

-- pools_of --
-- List the pools of an agent
SELECT pool FROM pool_members WHERE tenant_id = :tenant_id AND agent = :agent ORDER BY pool;

-- pool --
-- Read one pool
SELECT created_at, metadata FROM pools WHERE tenant_id = :tenant_id AND name = :pool;

-- members --
-- List the members of a pool
SELECT agent FROM pool_members WHERE tenant_id = :tenant_id AND pool = :pool ORDER BY agent;

-- add_pool --
-- Add a pool, unless the name is taken
INSERT INTO pools (tenant_id, name, created_at, metadata) VALUES (:tenant_id, :name, :at, :metadata)
ON CONFLICT DO NOTHING RETURNING name;

-- add_member --
-- Add a member to a pool, unless it is one already
INSERT INTO pool_members (tenant_id, pool, agent, joined_at) VALUES (:tenant_id, :pool, :agent, :at)
ON CONFLICT DO NOTHING RETURNING agent;

-- remove_member --
-- Remove a member from a pool
DELETE FROM pool_members WHERE tenant_id = :tenant_id AND pool = :pool AND agent = :agent;

-- remove_members --
-- Remove all members of a pool
DELETE FROM pool_members WHERE tenant_id = :tenant_id AND pool = :pool;

-- remove_pool --
-- Remove a pool without members
DELETE FROM pools WHERE tenant_id = :tenant_id AND name = :pool;

-- count_in_scopes --
-- Count the memories of some scopes, live or not
SELECT
    (SELECT count(*) FROM episodes WHERE tenant_id = :tenant_id AND scope IN :scopes)
    + (SELECT count(*) FROM facts WHERE tenant_id = :tenant_id AND scope IN :scopes)
    + (SELECT count(*) FROM rules WHERE tenant_id = :tenant_id AND scope IN :scopes);

-- agents --
-- List the agents with a scope of their own or in a pool
SELECT scope FROM namespaces
WHERE tenant_id = :tenant_id AND NOT scope = 'global' AND NOT substr(scope, 1, 5) = 'pool:'
UNION SELECT agent FROM pool_members WHERE tenant_id = :tenant_id ORDER BY 1;

-- agent_counts --
-- Count the live memories of each kind by agent of a tenant
SELECT agent, sum(episodes), sum(facts), sum(rules) FROM (
    SELECT agent, count(*) AS episodes, 0 AS facts, 0 AS rules FROM episodes
    WHERE tenant_id = :tenant_id AND (expires_at IS NULL OR expires_at > :now) GROUP BY agent
    UNION ALL SELECT agent, 0, count(*), 0 FROM facts WHERE tenant_id = :tenant_id AND validity = 'active' GROUP BY agent
    UNION ALL SELECT agent, 0, 0, count(*) FROM rules WHERE tenant_id = :tenant_id AND invalidated_at IS NULL GROUP BY agent
) AS counts GROUP BY agent ORDER BY agent;

-- user_counts --
-- Count the live memories of each kind by user of a tenant, of whom there is anything, live or not
SELECT user_id, sum(episodes), sum(facts), sum(rules) FROM (
    SELECT user_id, count(*) FILTER (WHERE expires_at IS NULL OR expires_at > :now) AS episodes, 0 AS facts, 0 AS rules
    FROM episodes WHERE tenant_id = :tenant_id AND user_id <> '' GROUP BY user_id
    UNION ALL SELECT user_id, 0, count(*) FILTER (WHERE validity = 'active'), 0 FROM facts
    WHERE tenant_id = :tenant_id AND user_id <> '' GROUP BY user_id
    UNION ALL SELECT user_id, 0, 0, count(*) FILTER (WHERE invalidated_at IS NULL) FROM rules
    WHERE tenant_id = :tenant_id AND user_id <> '' GROUP BY user_id
    UNION ALL SELECT user_id, 0, 0, 0 FROM entities WHERE tenant_id = :tenant_id AND user_id <> '' GROUP BY user_id
) AS counts GROUP BY user_id ORDER BY user_id;

-- learners --
-- List the agents that stored a fact of a tenant (events of that type) since a moment, and the users they did so for
SELECT DISTINCT actor, user_id FROM memory_events
WHERE tenant_id = :tenant_id AND event_type = :event_type AND event_type <> 'episode_created'
    AND created_at >= :since;

-- keys_of --
-- List the keys of a tenant, newest first
SELECT COLUMNS OF access_keys FROM access_keys WHERE tenant_id = :tenant_id ORDER BY created_at DESC, id DESC;

-- find_key --
-- Read one key, and the digest of its secret
SELECT digest, COLUMNS OF access_keys FROM access_keys WHERE tenant_id = :tenant_id AND id = :id;

-- revoke_key --
-- Revoke a key, unless it is revoked already
UPDATE access_keys SET revoked_at = :at WHERE tenant_id = :tenant_id AND id = :id AND revoked_at IS NULL RETURNING id;

-- limit_key --
-- Set when a key that was replaced expires
UPDATE access_keys SET expires_at = :expires_at WHERE tenant_id = :tenant_id AND id = :id;

-- use_key --
-- Record the use of a key, unless one was recorded lately
UPDATE access_keys SET last_used_at = :at
WHERE tenant_id = :tenant_id AND id = :id AND (last_used_at IS NULL OR last_used_at < :since) RETURNING id;

-- add_job --
-- Add a job, unless its schedule's firing has one
INSERT INTO jobs (COLUMNS OF jobs) VALUES (VALUES OF jobs)
ON CONFLICT DO NOTHING RETURNING id;

-- set_job --
-- Update a job, where its status, worker and attempts are unchanged
UPDATE jobs SET status = :status, run_at = :run_at, attempts = :attempts, lease_until = :lease_until, worker = :worker,
    report = :report, last_error = :last_error, finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id AND status = :was AND attempts = :attempts_were
    AND worker IS NOT DISTINCT FROM :worker_was RETURNING 1;

-- begin_job --
-- Begin a job that is due, where nobody else was faster and no lease was renewed
UPDATE jobs SET status = :status, attempts = :attempts, lease_until = :lease_until, worker = :worker,
    last_error = :last_error, finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id AND attempts = :attempts_were AND run_at <= :now
    AND (status = 'waiting' OR status = 'running' AND lease_until <= :now) RETURNING 1;

-- renew_job --
-- Renew the lease of a job
UPDATE jobs SET lease_until = :lease_until
WHERE tenant_id = :tenant_id AND id = :id AND status = 'running' AND worker = :worker AND attempts = :attempts
RETURNING 1;

-- last_firing --
-- Find the last firing of a schedule, as the key of its job
SELECT dedupe_key FROM jobs
WHERE tenant_id = :tenant_id AND name = :name AND dedupe_key IS NOT NULL ORDER BY dedupe_key DESC LIMIT 1;

-- remove_jobs --
-- Remove the jobs of a tenant
DELETE FROM jobs WHERE tenant_id = :tenant_id;

-- prune_jobs --
-- Remove jobs that ended long ago, but for the last firing of each schedule
DELETE FROM jobs WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM jobs AS old WHERE old.finished_at < :before AND NOT EXISTS (
        SELECT 1 FROM (
            SELECT max(dedupe_key) AS newest FROM jobs AS named
            WHERE named.tenant_id = old.tenant_id AND named.name = old.name AND named.dedupe_key IS NOT NULL
        ) AS firings WHERE newest = old.dedupe_key
    ) ORDER BY old.finished_at LIMIT :limit
) RETURNING 1;

-- open_log --
-- Find the session of a log, begun where it is missing, and hold it until the end of the transaction
INSERT INTO log_sessions (tenant_id, id, scope, log, session, subkey, entries, last_sequence, created_at, updated_at)
VALUES (:tenant_id, :id, :scope, :log, :session, :subkey, 0, 0, :at, :at)
ON CONFLICT (tenant_id, scope, log, session, subkey) DO UPDATE SET updated_at = CASE
    WHEN log_sessions.updated_at > excluded.updated_at THEN log_sessions.updated_at ELSE excluded.updated_at END
RETURNING id, entries, last_sequence;

-- hold_log --
-- Find the session of a log and hold it until the end of the transaction
UPDATE log_sessions SET updated_at = CASE WHEN updated_at > :at THEN updated_at ELSE :at END
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND session = :session AND subkey = :subkey
RETURNING id;

-- count_log --
-- Set how many entries a session of a log has, and the number of its last one
UPDATE log_sessions SET entries = entries + :added, last_sequence = last_sequence + :numbered
WHERE tenant_id = :tenant_id AND id = :session_id RETURNING entries;

-- known_log_keys --
-- List the keys among some that entries of a session have
SELECT entry_key FROM log_entries
WHERE tenant_id = :tenant_id AND session_id = :session_id AND entry_key IN :names;

-- add_log_entry --
-- Add an entry to a session
INSERT INTO log_entries (tenant_id, session_id, sequence, scope, entry_key, entry, created_at)
VALUES (:tenant_id, :session_id, :sequence, :scope, :entry_key, :entry, :at);

-- insert_log_entry --
-- Add an entry under its number, where neither the number nor its key is taken
INSERT INTO log_entries (tenant_id, session_id, sequence, scope, entry_key, entry, created_at)
VALUES (:tenant_id, :session_id, :sequence, :scope, :entry_key, :entry, :at) ON CONFLICT DO NOTHING RETURNING 1;

-- log_entries_like --
-- Find the entries of a session that have a number or a key
SELECT entry FROM log_entries WHERE tenant_id = :tenant_id AND session_id = :session_id AND sequence = :sequence
UNION ALL SELECT entry FROM log_entries
WHERE tenant_id = :tenant_id AND session_id = :session_id AND entry_key = :entry_key;

-- log_session --
-- Find the session of a log, and the number of its entries
SELECT id, entries FROM log_sessions
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND session = :session AND subkey = :subkey;

-- log_entries --
-- List the last entries of a session, newest first
SELECT sequence, entry, created_at FROM log_entries
WHERE tenant_id = :tenant_id AND scope = :scope AND session_id = :session_id ORDER BY sequence DESC LIMIT :limit;

-- pop_log_entry --
-- Take the last entry off a session
DELETE FROM log_entries WHERE tenant_id = :tenant_id AND session_id = :session_id AND sequence = (
    SELECT max(sequence) FROM log_entries WHERE tenant_id = :tenant_id AND session_id = :session_id
) RETURNING sequence, entry, created_at;

-- log_parts --
-- List a session of a log and its subkeys, by subkey
SELECT id, subkey, entries FROM log_sessions
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND session = :session ORDER BY subkey;

-- log_sessions --
-- List the sessions of a log, last written first
SELECT session, entries, created_at, updated_at FROM log_sessions
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND subkey = ''
ORDER BY updated_at DESC, session DESC LIMIT :limit;

-- more_log_sessions --
-- List the sessions of a log after a position
SELECT session, entries, created_at, updated_at FROM log_sessions
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND subkey = ''
    AND (updated_at, session) < (:after_at, :after_id)
ORDER BY updated_at DESC, session DESC LIMIT :limit;

-- drop_logs --
-- Remove sessions of logs
DELETE FROM log_sessions WHERE tenant_id = :tenant_id AND id IN :ids RETURNING id, scope;

-- drop_log_entries --
-- Remove the entries of sessions of logs
DELETE FROM log_entries WHERE tenant_id = :tenant_id AND session_id IN :ids;

-- has_log --
-- Check whether a session of a log is there, by its id or by its name
SELECT 1 FROM log_sessions WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT 1 FROM log_sessions
WHERE tenant_id = :tenant_id AND scope = :scope AND log = :log AND session = :session AND subkey = :subkey LIMIT 1;

-- logs_of_user --
-- List the sessions of logs that were written for a user
SELECT id FROM log_sessions WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> '' ORDER BY id;

-- items_of_keys --
-- List the items of some keys, given as (scope, namespace, key), with the time when each was first written
SELECT item.scope, item.namespace, item.key, item.created_at FROM EACH :keys AS given CROSS JOIN items AS item
WHERE item.tenant_id = :tenant_id AND item.scope = given.value ->> 0 AND item.namespace = given.value ->> 1
    AND item.key = given.value ->> 2 AND item.replaced_at IS NULL;

-- hold_item --
-- Find the item of a key and hold it until the end of the transaction
UPDATE items SET version = version
WHERE tenant_id = :tenant_id AND scope = :scope AND namespace = :namespace AND key = :item_key AND replaced_at IS NULL
RETURNING id, version, expires_at;

-- add_item --
-- Add an item
INSERT INTO items
    (tenant_id, id, scope, namespace, key, version, value, fields, ttl_s, created_at, updated_at, expires_at)
VALUES (:tenant_id, :id, :scope, :namespace, :item_key, :version, :value, :fields, :ttl_s, :at, :at, :expires_at);

-- insert_item --
-- Add an item that was written elsewhere, where its key is free
INSERT INTO items
    (tenant_id, id, scope, namespace, key, version, value, fields, ttl_s, created_at, updated_at, expires_at)
VALUES (:tenant_id, :id, :scope, :namespace, :item_key, :version, :value, :fields, :ttl_s, :at, :updated_at, :expires_at)
ON CONFLICT DO NOTHING RETURNING 1;

-- overwrite_item --
-- Give an item another value
UPDATE items SET version = :version, value = :value, fields = :fields, ttl_s = :ttl_s, updated_at = :at,
    expires_at = :expires_at
WHERE tenant_id = :tenant_id AND id = :id;

-- keep_version --
-- Keep the version of an item that is about to be overwritten
INSERT INTO items (
    tenant_id, id, scope, namespace, key, version, value, fields, ttl_s, created_at, updated_at, expires_at, replaced_at
)
SELECT tenant_id, :new_id, scope, namespace, key, version, value, NULL, NULL, created_at, updated_at, NULL, :at
FROM items WHERE tenant_id = :tenant_id AND id = :id;

-- versions_of_item --
-- List the versions of an item, the newest first, and the items under its key that are no more
SELECT id, namespace, key, version, value, created_at, updated_at, expires_at, ttl_s, replaced_at FROM items
WHERE tenant_id = :tenant_id AND scope = :scope AND namespace = :namespace AND key = :item_key ORDER BY version DESC;

-- items_below --
-- List the items of a namespace and of those below, last written first
SELECT id, namespace, key, version, value, created_at, updated_at, expires_at, ttl_s FROM items
WHERE tenant_id = :tenant_id AND scope = :scope AND namespace >= :low AND namespace < :high AND replaced_at IS NULL
    AND (expires_at IS NULL OR expires_at > :now)
ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- more_items_below --
-- List the items of a namespace and of those below after a position
SELECT id, namespace, key, version, value, created_at, updated_at, expires_at, ttl_s FROM items
WHERE tenant_id = :tenant_id AND scope = :scope AND namespace >= :low AND namespace < :high AND replaced_at IS NULL
    AND (expires_at IS NULL OR expires_at > :now) AND (updated_at, id) < (:after_at, :after_id)
ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- indexed_items --
-- List the items of a namespace and of those below with their index, last written first
SELECT item.id, item.namespace, item.key, item.version, item.value, item.created_at, item.updated_at, item.expires_at,
    item.ttl_s, entry.words, entry.packed, entry.embedder, entry.vectors
FROM items AS item JOIN item_index AS entry
    ON entry.tenant_id = item.tenant_id AND entry.item_id = item.id AND entry.version = item.version
WHERE item.tenant_id = :tenant_id AND item.scope = :scope AND item.namespace >= :low AND item.namespace < :high
    AND item.replaced_at IS NULL AND (item.expires_at IS NULL OR item.expires_at > :now)
ORDER BY item.updated_at DESC, item.id DESC;

-- unindexed_items --
-- List the items with fields that have no index, as after a restore, of a namespace and of those below
SELECT item.id, item.scope, item.version, item.value, item.fields FROM items AS item
WHERE item.tenant_id = :tenant_id AND item.scope = :scope AND item.namespace >= :low AND item.namespace < :high
    AND item.replaced_at IS NULL AND item.fields IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM item_index AS entry
        WHERE entry.tenant_id = item.tenant_id AND entry.item_id = item.id AND entry.version = item.version
            AND (entry.embedder = :embedder OR :embedder = '')
    );

-- item_namespaces --
-- List the namespaces below one that have items, with the number of each
SELECT namespace, count(*) FROM items
WHERE tenant_id = :tenant_id AND scope = :scope AND namespace >= :low AND namespace < :high AND replaced_at IS NULL
    AND (expires_at IS NULL OR expires_at > :now)
GROUP BY namespace;

-- refresh_item --
-- Set when an item expires
UPDATE items SET expires_at = :expires_at WHERE tenant_id = :tenant_id AND id = :id AND ttl_s IS NOT NULL;

-- index_item --
-- Set what a search reads of an item
INSERT INTO item_index (tenant_id, item_id, scope, version, words, packed, embedder, vectors)
VALUES (:tenant_id, :id, :scope, :version, :words, :packed, :embedder, :vectors)
ON CONFLICT (tenant_id, item_id) DO UPDATE SET version = excluded.version, words = excluded.words,
    packed = excluded.packed, embedder = excluded.embedder, vectors = excluded.vectors
WHERE item_index.version <= excluded.version;

-- drop_item_indexes --
-- Remove what a search reads of items
DELETE FROM item_index WHERE tenant_id = :tenant_id AND item_id IN :ids;

-- drop_key --
-- Remove the item of a key with its versions
DELETE FROM items WHERE tenant_id = :tenant_id AND scope = :scope AND namespace = :namespace AND key = :item_key
RETURNING id;

-- drop_items --
-- Remove items, and versions of them
DELETE FROM items WHERE tenant_id = :tenant_id AND id IN :ids RETURNING id, scope;

-- expired_items --
-- List items whose time to live is over
SELECT scope, namespace, key FROM items
WHERE tenant_id = :tenant_id AND expires_at IS NOT NULL AND expires_at <= :now AND replaced_at IS NULL
ORDER BY expires_at, id LIMIT :limit;

-- items_of_user --
-- List the items that were written for a user, and versions of them
SELECT id FROM items WHERE tenant_id = :tenant_id AND user_id = :user_id AND user_id <> '' ORDER BY id;

-- episode_stats --
-- Count the live episodes in some scopes, their span, and since when the oldest waits to be consolidated
SELECT count(*), count(*) FILTER (WHERE consolidation_status = 'pending'),
    count(*) FILTER (WHERE consolidation_status IN ('failed', 'dead_letter')),
    min(created_at) FILTER (WHERE consolidation_status = 'pending'),
    count(DISTINCT session), count(DISTINCT speaker), min(event_time), max(event_time) FROM episodes
WHERE tenant_id = :tenant_id AND scope IN :scopes AND (expires_at IS NULL OR expires_at > :now);

-- fact_stats --
-- Count the facts in some scopes by standing
SELECT CASE WHEN validity = 'active' AND metadata ->> 'status' = 'fading' THEN 'fading' ELSE validity END AS state, count(*)
FROM facts WHERE tenant_id = :tenant_id AND scope IN :scopes GROUP BY state;

-- count_memories --
-- Count all memories
SELECT (SELECT count(*) FROM episodes) + (SELECT count(*) FROM facts) + (SELECT count(*) FROM rules);

-- count_unembedded --
-- Count the memories that are searched and wait for a vector
SELECT count(*) FROM memory_index WHERE state = 1;
