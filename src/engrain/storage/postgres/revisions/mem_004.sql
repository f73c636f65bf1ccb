-- End users: whose memory a row is, beside the tenant and the audience among its agents; '' where it is of no user.
--
-- The scope of a memory of a user is `user:NAME` (every agent that acts for the user) or `user:NAME/AUDIENCE`, with "%"
-- and "/" in the name as %25 and %2F. What is compared, indexed or locked by scope so never mixes two users; the column
-- is read off it, so that the two never disagree.

ALTER TABLE namespaces ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE episodes ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE speakers ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE sessions_consolidations ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE facts ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE rules ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE memory_entities ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE memory_events ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;
ALTER TABLE tombstones ADD COLUMN user_id TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE WHEN substr(scope, 1, 5) = 'user:'
        THEN replace(replace(split_part(substr(scope, 6), '/', 1), '%2F', '/'), '%25', '%') ELSE '' END
) STORED;

-- Registries, runs and keys have no scope: the user is a column of its own.
ALTER TABLE entities ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE entity_names ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE entity_trigrams ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE access_keys ADD COLUMN user_id TEXT COLLATE "C";
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

-- The third wall, behind the scopes of every statement: a transaction sees no user's rows but those of the user it says it
-- acts for. What concerns a whole tenant (sweeps, merges of entities, backups) says that it is for every user.
CREATE POLICY user_wall ON namespaces AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON episodes AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON speakers AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON sessions_consolidations AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON facts AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON rules AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON memory_entities AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON memory_events AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON tombstones AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON entities AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON entity_names AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON entity_trigrams AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
CREATE POLICY user_wall ON runs AS RESTRICTIVE USING (
    user_id = '' OR user_id = current_setting('engrain.user_id', true)
    OR current_setting('engrain.every_user', true) = 'on' OR current_setting('engrain.every_tenant', true) = 'on'
);
