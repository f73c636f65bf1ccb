-- Words by language: every word has the stem of its own language or script, where it had that of English.
-- What is indexed is indexed again where its words have other stems now, when the database is next opened.

ALTER TABLE memory_index ADD COLUMN stale INTEGER NOT NULL DEFAULT 0;
UPDATE memory_index SET stale = 1 WHERE state < 3;
-- what was indexed by other stems
CREATE INDEX memory_index_stale ON memory_index (tenant_id, doc) WHERE stale = 1;
