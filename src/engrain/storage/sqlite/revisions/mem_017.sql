-- What was never enriched is read along the time of a scope: each turn was written to an index that one nightly job read.

DROP INDEX episodes_unenriched;
DROP INDEX facts_unenriched;
