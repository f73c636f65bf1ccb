"""One memory in another standing: as a value, and as a sweep writes it."""

from dataclasses import replace

from engrain.domain.memories.decay import standing, standing_metadata
from engrain.domain.records import Fact
from engrain.errors import InvalidInput
from engrain.storage.dialects import as_json
from engrain.storage.transaction import repeatable
from engrain.storage.write import sweeps, updates


def with_standing(memory, to, at):
    metadata = standing_metadata(memory.metadata, memory.kind, to)
    if to != "expired":
        return replace(memory, metadata=metadata)
    validity = {"validity": "expired"} if isinstance(memory, Fact) else {}
    return replace(memory, metadata=metadata, invalidated_at=at, **validity)


@repeatable
def age(work, id_, to):
    """A memory that is no longer live, or stands so already, stays as it is, without an event."""
    seen = updates.lock_one(work, id_)
    if seen is None:
        return None
    (doc, memory), now = seen, work.act.at
    if memory.kind == "episode":
        raise InvalidInput(f"{id_} is an episode; only facts and rules age")
    before = standing(memory, now)
    if before == to or not memory.is_active(now):
        return memory
    metadata = as_json(memory.metadata)
    change = sweeps.Change(doc=doc, id=memory.id, scope=memory.scope, metadata=metadata, before=before, to=to)
    sweeps.apply_changes(work, memory.kind, [change])
    return with_standing(memory, to, now)
