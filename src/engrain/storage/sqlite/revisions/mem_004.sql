-- End users: whose memory a row is, beside the tenant and the audience among its agents; '' where it is of no user.
--
-- The scope of a memory of a user is `user:NAME` (every agent that acts for the user) or `user:NAME/AUDIENCE`, with "%"
-- and "/" in the name as %25 and %2F. What is compared, indexed or locked by scope so never mixes two users; the column
-- is read off it, so that the two never disagree.

ALTER TABLE namespaces ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE episodes ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE speakers ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE sessions_consolidations ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE facts ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE rules ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE memory_entities ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE memory_events ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;
ALTER TABLE tombstones ADD COLUMN user_id TEXT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(substr(scope, 6, instr(scope || '/', '/') - 6), '%2F', '/'), '%25', '%') ELSE '' END
) VIRTUAL;

-- Registries, runs and keys have no scope: the user is a column of its own.
ALTER TABLE entities ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE entity_names ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE entity_trigrams ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE access_keys ADD COLUMN user_id TEXT;
DROP INDEX entities_name;
-- one entity for a name and type in the registry of the tenant, and of each user
CREATE UNIQUE INDEX entities_name ON entities (tenant_id, canonical_name, entity_type, user_id);
-- the registry of a user
CREATE INDEX entities_user ON entities (tenant_id, user_id, id) WHERE user_id <> '';
-- events of a user's memories
CREATE INDEX memory_events_user ON memory_events (tenant_id, user_id, id) WHERE user_id <> '';
DROP INDEX runs_running;
-- one of a kind at a time for an agent, and for each user that it acts for
CREATE UNIQUE INDEX runs_running ON runs (tenant_id, agent, user_id, kind) WHERE status = 'running';
