-- Entities: the people and things that facts are about.

CREATE TABLE entities (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    canonical_name TEXT COLLATE "C" NOT NULL,
    entity_type TEXT COLLATE "C" NOT NULL
        CHECK (entity_type IN ('person', 'organization', 'place', 'project', 'email', 'url', 'other')),
    aliases TEXT[] NOT NULL DEFAULT '{}',
    mention_count BIGINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    metadata JSON NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
);
-- one entity for a name and type
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, canonical_name, entity_type);

-- Names of entities, folded: the canonical one and the aliases.
CREATE TABLE entity_names (
    tenant_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    entity_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, name, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
);

-- Trigrams of those names, for entities whose name is merely alike.
CREATE TABLE entity_trigrams (
    tenant_id TEXT COLLATE "C" NOT NULL,
    trigram TEXT COLLATE "C" NOT NULL,
    entity_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, trigram, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
);

-- Mentions of entities by memories, with the memory's scope and time, which decide who sees a mention and the order.
CREATE TABLE memory_entities (
    tenant_id TEXT COLLATE "C" NOT NULL,
    entity_id TEXT COLLATE "C" NOT NULL,
    memory_kind TEXT COLLATE "C" NOT NULL CHECK (memory_kind IN ('episode', 'fact', 'rule')),
    memory_id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    happened_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tenant_id, entity_id, memory_kind, memory_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
);
-- whom a memory mentions
CREATE INDEX memory_entities_memory ON memory_entities (tenant_id, memory_kind, memory_id);
-- the newest that mention somebody
CREATE INDEX memory_entities_time ON memory_entities (tenant_id, entity_id, memory_kind, scope, happened_at, memory_id);

-- one truth at a time about an entity
CREATE UNIQUE INDEX facts_active_entity ON facts (tenant_id, entity_id, scope, predicate)
WHERE validity = 'active' AND entity_id IS NOT NULL;
-- what is known of an entity
CREATE INDEX facts_entity ON facts (tenant_id, entity_id, predicate, scope) WHERE entity_id IS NOT NULL;
-- the newest that are about somebody
CREATE INDEX facts_about ON facts (tenant_id, entity_id, scope, (coalesce(valid_from, created_at))) WHERE entity_id IS NOT NULL;
ALTER TABLE facts ADD CONSTRAINT facts_entity_id FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id);

-- The second wall, behind the tenant_id of every statement: a transaction sees the tenant it says it is of.
ALTER TABLE entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE entities FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON entities USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE entity_names ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_names FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON entity_names USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE entity_trigrams ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_trigrams FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON entity_trigrams USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
ALTER TABLE memory_entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_entities FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON memory_entities USING (
    tenant_id = current_setting('engrain.tenant_id', true)
    OR current_setting('engrain.every_tenant', true) = 'on'
);
