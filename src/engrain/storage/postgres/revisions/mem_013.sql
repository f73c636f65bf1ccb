-- The keyword index has the words of large namespaces alone. Small ones are read whole, and their words were most of what
-- an episode wrote.

ALTER TABLE namespaces ADD COLUMN has_words BOOLEAN NOT NULL DEFAULT false;
-- Of every tenant
SELECT set_config('engrain.every_tenant', 'on', true);
UPDATE namespaces SET has_words = true WHERE memories > 1000;
DROP INDEX memory_words_words;
DELETE FROM memory_words WHERE NOT EXISTS (
    SELECT 1 FROM memory_index JOIN namespaces
        ON namespaces.tenant_id = memory_index.tenant_id AND namespaces.namespace = memory_index.namespace
    WHERE memory_index.tenant_id = memory_words.tenant_id AND memory_index.doc = memory_words.doc AND has_words
);
-- the memories that hold a word, in large namespaces; every search reads what is not yet filed, which this keeps short
CREATE INDEX memory_words_words ON memory_words USING gin (words) WITH (gin_pending_list_limit = 512);
