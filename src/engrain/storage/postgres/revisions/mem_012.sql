-- Room on each page for the next versions of its rows. A row that is counted or totalled again, and stays on its page,
-- writes a tenth of the log: none of its indexes is written. Pages that are full get room as their rows change.

ALTER TABLE episodes SET (fillfactor = 80);
ALTER TABLE facts SET (fillfactor = 80);
ALTER TABLE rules SET (fillfactor = 80);
ALTER TABLE memory_index SET (fillfactor = 90);
ALTER TABLE sessions_consolidations SET (fillfactor = 80);
ALTER TABLE namespaces SET (fillfactor = 50);
