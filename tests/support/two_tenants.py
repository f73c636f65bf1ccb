"""Two tenants with a life alike in one served memory, each with words of its own, and keys of every kind."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from engrain.domain.access.keys import ROLES
from engrain.domain.records import Caller
from engrain.domain.requests import Act
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.runs import Claim
from engrain.service import Memory
from tests.support.backups import everything
from tests.support.one_call import OneCall

SESSION, NOTE, POOL, WHO, AGENT = "2026-11-21", "project:alpha", "docs", "Ana", "assistant"
TENANTS = ("acme", "bolt")


class Clock:
    """The time, which can be set forward."""

    ahead = timedelta()

    def __call__(self):
        return datetime.now(UTC) + self.ahead


@dataclass
class Tenant:
    """What one tenant's agent has lived through; `word` is in everything that is said, and stands nowhere else."""

    memory: Memory
    name: str
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def word(self):
        return f"zq{self.name}zq"

    @property
    def agent(self):
        return self.memory.agent(AGENT, tenant=self.name, session=SESSION)

    def live(self):
        agent, word = self.agent, self.word
        agent.pools.create(POOL, ["coder"], metadata={"about": word})
        episode = agent.observe(f"I moved to {word} in May.", speaker=WHO)
        entity = agent.entities.create(WHO, "person", aliases=[f"{WHO} {word}"])
        fact = agent.remember(f"Lisbon {word}", subject=WHO, predicate="lives in", entity_id=entity.id)
        other = agent.remember(f"Porto {word}", subject=WHO, predicate="works in", source_episode_id=episode.id)
        rule = agent.rules.add(f"Book an aisle seat {word}.")
        agent.rules.mark_harmful(rule.id, f"overslept {word}")
        agent.link(fact.id, other.id, "supports")
        agent.remember(f"looked back on {word}", subject=AGENT, predicate="reflects", category="reflection")
        agent.notes.save("project:beta", f"the alpha ships to Lisbon {word} in May")
        agent.notes.save(NOTE, f"the alpha ships to Lisbon {word} in June")
        agent.remember(f"pooled {word}", subject="WebGPU", predicate="takes", scope=f"pool:{POOL}")
        agent.working.append(f"working on {word}")
        agent.working.tool_result("timetable", {"first": word})
        agent.working.write_scratchpad(f"hates {word}")
        agent.hooks.message(f"said {word}", speaker=WHO)
        for session, subkey in ((SESSION, ""), (SESSION, word), (word, "")):
            agent.log.append([{"content": f"logged {word}"}], session=session, subkey=subkey)
        stored = {"content": f"stored {word}", "kind": "book", "pages": 120}
        for namespace in ([], ["users", "ana"], [word]):
            agent.store(namespace).put(NOTE, stored, index="content")
        self.ids = {
            "episode": episode.id,
            "fact": fact.id,
            "other": other.id,
            "rule": rule.id,
            "entity": entity.id,
            "run": self._learn(),
        }

    def _learn(self):
        """A run of learning that has ended."""
        store, act = (
            OneCall(self.memory.parts.store),
            Act(caller=Caller(tenant_id=self.name, agent=AGENT), at=Clock()()),
        )
        begun = store.claim(act, Claim(kind="summary", worker=self.word, lease_s=60))
        store.carry_out(act, begun.run.id, Plan(episode_ids=()), {"note": self.word})
        return begun.run.id

    def rows(self):
        """Every row of the tenant's in the database, but for when its keys were used."""
        return {
            table: [{**row, "last_used_at": None} for row in rows if row["tenant_id"] == self.name]
            for table, rows in everything(self.memory).items()
        }


@dataclass
class TwoTenants:
    """The memory that both are in, and the keys that open it, or did."""

    memory: Memory
    clock: Clock

    @cached_property
    def tenants(self):
        found = {name: Tenant(self.memory, name) for name in TENANTS}
        for tenant in found.values():
            tenant.live()
        return found

    @cached_property
    def keys(self):
        """The secret of one key for each role of each tenant, by both."""
        return {
            (name, role): self.memory.keys.create(role=role, tenant=name).secret for name in TENANTS for role in ROLES
        }

    def key_id(self, tenant):
        """The id of one of a tenant's keys."""
        return self.keys[tenant, "admin"].split("_")[1]

    @cached_property
    def keys_that_open_nothing(self):
        """A header for each way to have no valid key; None for none at all."""
        good, stranger = self.keys["acme", "admin"], self.keys["bolt", "admin"]
        revoked = self.memory.keys.create(role="admin", tenant="acme")
        expired = self.memory.keys.create(role="admin", tenant="acme", expires_at=self.clock() + timedelta(minutes=1))
        self.memory.keys.revoke(revoked.key.id, tenant="acme")
        self.clock.ahead += timedelta(minutes=2)
        return {
            "none": None,
            "another scheme": f"Basic {good}",
            "garbage": "Bearer garbage",
            "wrong": f"Bearer {good[:-4]}aaaa",
            "another tenant's name": f"Bearer {good.replace(good.split('_')[2], stranger.split('_')[2])}",
            "revoked": f"Bearer {revoked.secret}",
            "expired": f"Bearer {expired.secret}",
        }
