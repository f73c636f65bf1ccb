-- Entities: the people and things that facts are about.

CREATE TABLE entities (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    canonical_name TEXT NOT NULL,
    entity_type TEXT NOT NULL
        CHECK (entity_type IN ('person', 'organization', 'place', 'project', 'email', 'url', 'other')),
    aliases TEXT NOT NULL DEFAULT '[]',
    mention_count INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
-- one entity for a name and type
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, canonical_name, entity_type);

-- Names of entities, folded: the canonical one and the aliases.
CREATE TABLE entity_names (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;

-- Trigrams of those names, for entities whose name is merely alike.
CREATE TABLE entity_trigrams (
    tenant_id TEXT NOT NULL,
    trigram TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, trigram, entity_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;

-- Mentions of entities by memories, with the memory's scope and time, which decide who sees a mention and the order.
CREATE TABLE memory_entities (
    tenant_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    memory_kind TEXT NOT NULL CHECK (memory_kind IN ('episode', 'fact', 'rule')),
    memory_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, entity_id, memory_kind, memory_id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) WITHOUT ROWID;
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
CREATE INDEX facts_about ON facts (tenant_id, entity_id, scope, coalesce(valid_from, created_at)) WHERE entity_id IS NOT NULL;
