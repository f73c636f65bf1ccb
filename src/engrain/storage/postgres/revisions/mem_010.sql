-- Docs and namespaces are numbered by engrain itself: no tenant waits for a counter of another, on another server of a
-- cluster. Numbers that were given stay; new docs are greater, as they begin with the time.

DROP SEQUENCE memory_docs;
DROP SEQUENCE memory_namespaces;

-- References may be checked at the end of a transaction: rows of a tenant that comes from another server come in rounds,
-- of which one removes what it is about to write anew.

ALTER TABLE facts ALTER CONSTRAINT facts_entity_id DEFERRABLE;
ALTER TABLE facts ALTER CONSTRAINT facts_tenant_id_source_episode_id_fkey DEFERRABLE;
ALTER TABLE facts ALTER CONSTRAINT facts_tenant_id_supersedes_id_fkey DEFERRABLE;
ALTER TABLE rules ALTER CONSTRAINT rules_tenant_id_source_episode_id_fkey DEFERRABLE;
ALTER TABLE pool_members ALTER CONSTRAINT pool_members_tenant_id_pool_fkey DEFERRABLE;
ALTER TABLE entity_names ALTER CONSTRAINT entity_names_tenant_id_entity_id_fkey DEFERRABLE;
ALTER TABLE entity_trigrams ALTER CONSTRAINT entity_trigrams_tenant_id_entity_id_fkey DEFERRABLE;
ALTER TABLE memory_entities ALTER CONSTRAINT memory_entities_tenant_id_entity_id_fkey DEFERRABLE;
