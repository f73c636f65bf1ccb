-- The words of turns are stored once: each names those that lend it theirs, and they are joined when they are read.

ALTER TABLE memory_index ADD COLUMN lenders BYTEA;
-- Of every tenant
SELECT set_config('engrain.every_tenant', 'on', true);
-- What of its words a turn lends only its text tells: it is indexed again
UPDATE memory_index SET stale = 1 WHERE state < 3 AND stale = 0 AND EXISTS (
    SELECT 1 FROM episodes
    WHERE episodes.tenant_id = memory_index.tenant_id AND episodes.doc = memory_index.doc AND session IS NOT NULL
);
