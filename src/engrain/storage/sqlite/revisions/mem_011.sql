-- Vectors of large namespaces once more, as a process compares them, in packs: it reads a third of the bytes to begin with.

-- A pack holds the vectors whose last change came after the one before it, up to its own last one. Of a vector that
-- changed since, the newer change counts. The pack that may hold an erased vector goes with it.
CREATE TABLE memory_vector_packs (
    tenant_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    changes_after INTEGER NOT NULL,
    last_change INTEGER NOT NULL,
    first_doc INTEGER NOT NULL,
    last_doc INTEGER NOT NULL,
    centre BLOB NOT NULL, -- float32[dims]: the bits say on which side of it a row lies
    docs BLOB NOT NULL, -- int64[n]
    scales BLOB NOT NULL, -- float32[n]
    codes BLOB NOT NULL, -- int8[n, dims]
    bits BLOB NOT NULL -- uint64[words, n]
);
-- the packs of a namespace, in the order of their changes
CREATE UNIQUE INDEX memory_vector_packs_change ON memory_vector_packs (version, namespace, last_change);
