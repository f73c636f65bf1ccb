-- Keys of facts: one slot for all spellings of a subject and a predicate, and many values where a predicate has many.
-- Facts that are there get theirs when the database is next opened.

ALTER TABLE facts ADD COLUMN subject_key TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN predicate_key TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN value_key TEXT NOT NULL DEFAULT '';
-- Of every tenant
SELECT set_config('engrain.every_tenant', 'on', true);
-- Until then each has a slot of its own
UPDATE facts SET value_key = id;
DROP INDEX facts_active_subject;
DROP INDEX facts_active_entity;
DROP INDEX facts_subject;
DROP INDEX facts_entity;
-- one truth at a time: the fact a new one supersedes
CREATE UNIQUE INDEX facts_active_subject ON facts (tenant_id, scope, subject_key, predicate_key, value_key)
WHERE validity = 'active' AND entity_id IS NULL;
-- one truth at a time about an entity
CREATE UNIQUE INDEX facts_active_entity ON facts (tenant_id, entity_id, scope, predicate_key, value_key)
WHERE validity = 'active' AND entity_id IS NOT NULL;
-- the history of a subject; the fact in a slot
CREATE INDEX facts_subject ON facts (tenant_id, subject_key, predicate_key);
-- what is known of an entity
CREATE INDEX facts_entity ON facts (tenant_id, entity_id, predicate_key, scope) WHERE entity_id IS NOT NULL;
-- what has no key yet
CREATE INDEX facts_unkeyed ON facts (tenant_id, doc) WHERE predicate_key = '';
