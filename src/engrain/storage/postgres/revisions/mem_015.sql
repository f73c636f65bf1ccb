-- Vectors in half precision, half of their bytes. HNSW's graph, as much again, has those of large namespaces alone: the
-- vectors of the others are compared one by one.

-- The graphs are made anew in the end
DO $$ DECLARE graph text; BEGIN FOR graph IN SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'memory_vectors' AND indexname LIKE 'memory\_vectors\_version\_%' LOOP EXECUTE format('DROP INDEX %I', graph); END LOOP; END $$;
DROP INDEX memory_vectors_namespace;
ALTER TABLE memory_vectors ALTER COLUMN embedding TYPE halfvec USING embedding::halfvec;
ALTER TABLE memory_vectors ADD COLUMN in_graph BOOLEAN NOT NULL DEFAULT false;
-- Of every tenant
SELECT set_config('engrain.every_tenant', 'on', true);
UPDATE memory_vectors SET in_graph = true WHERE EXISTS (
    SELECT 1 FROM namespaces
    WHERE namespaces.tenant_id = memory_vectors.tenant_id AND namespaces.namespace = memory_vectors.namespace
        AND memories > 20000
);
-- all vectors of a namespace, and those that are not in the graph
CREATE INDEX memory_vectors_namespace ON memory_vectors (tenant_id, version, namespace, in_graph) WHERE NOT gone;
-- the large ones of every tenant
CREATE INDEX namespaces_large ON namespaces (tenant_id, namespace) WHERE has_words;
SELECT set_config('maintenance_work_mem', '512MB', true), set_config('max_parallel_maintenance_workers', '0', true);
DO $$ DECLARE used record; BEGIN FOR used IN SELECT version, dims FROM embedding_versions WHERE tenant_id = '' AND state <> 'retired' AND dims <= 4000 LOOP EXECUTE format('CREATE INDEX memory_vectors_version_%s ON memory_vectors USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64) WHERE version = %s AND NOT gone AND in_graph', used.version, used.dims, used.version); END LOOP; END $$;
