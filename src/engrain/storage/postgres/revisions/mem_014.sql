-- Indexes of the few: what statistics count beside the totals of namespaces, and not every row.

-- how many of a scope wait to be consolidated, and since when
CREATE INDEX episodes_waiting ON episodes (tenant_id, scope, created_at) WHERE consolidation_status = 'pending';
-- how many of a scope failed for good
CREATE INDEX episodes_given_up ON episodes (tenant_id, scope) WHERE consolidation_status IN ('failed', 'dead_letter');
-- who still speaks in a scope
CREATE INDEX episodes_speaker ON episodes (tenant_id, scope, speaker) WHERE speaker IS NOT NULL;
-- how many facts of a scope have ended
CREATE INDEX facts_ended ON facts (tenant_id, scope, validity) WHERE validity <> 'active';
-- how many facts of a scope are fading
CREATE INDEX facts_fading ON facts (tenant_id, scope) WHERE validity = 'active' AND metadata ->> 'status' = 'fading';
