"""What leaves in a file: an agent's backup and export hold nothing that the agent may not see."""

import gzip
from dataclasses import replace

import pytest

from engrain.domain.access.scopes import user_of
from tests.servers.leaks.agent_probes import memory_of
from tests.servers.leaks.hearing import secrets_in
from tests.servers.leaks.world import CANARY, canary_of, live
from tests.servers.leaks.worlds import make_world


@pytest.mark.req("G13", "B29.2", "N12")
@pytest.mark.parametrize("seed", [2])
def test_a_file_of_an_agent_tells_nothing_of_what_it_may_not_see(backend, tmp_path, seed):
    if backend.name not in {"sqlite-file", "postgres"}:
        return  # the model has no rows to take out, and other ways to search take out the same
    world = make_world(seed)
    with backend.fresh() as store:
        live(store, world)
        with memory_of(store) as memory:
            memory.flush()
            for number, caller in enumerate(world.some_callers(3)):
                whose = {"agent": caller.agent, "tenant": caller.tenant_id}
                memory.backup(tmp_path / f"{number}.backup", **whose)
                memory.export(tmp_path / f"{number}.jsonl", **whose)
                memory.export(tmp_path / f"{number}.md", format="markdown", **whose)
                told = gzip.decompress((tmp_path / f"{number}.backup").read_bytes()).decode()
                told += (tmp_path / f"{number}.jsonl").read_text() + (tmp_path / f"{number}.md").read_text()
                assert caller.agent in told
                # A file of an agent is for whoever may act for it: for each of its users.
                agents = [other for other in world.callers if replace(other, user=None) == replace(caller, user=None)]
                secrets = set.intersection(*(secrets_in(told, world, other) for other in agents))
                assert secrets == set(), f"seed {seed}: {caller}"


@pytest.mark.parametrize("seed", [2])
def test_a_file_of_a_user_tells_nothing_of_another_and_of_nobody(backend, tmp_path, seed):
    if backend.name not in {"sqlite-file", "postgres"}:
        return  # as above
    world = make_world(seed)
    with backend.fresh() as store:
        live(store, world)
        with memory_of(store) as memory:
            memory.flush()
            named = {(caller.tenant_id, caller.user) for caller in world.callers if caller.user is not None}
            assert named
            for number, (tenant, user) in enumerate(sorted(named)):
                report = memory.backup(tmp_path / f"{number}.backup", user=user, tenant=tenant)
                told = gzip.decompress((tmp_path / f"{number}.backup").read_bytes()).decode()
                own = [each for each in world.memories if (each.tenant_id, user_of(each.scope)) == (tenant, user)]
                others = {canary_of(memory) for memory in world.memories if memory not in own}
                secrets = {*CANARY.findall(told)}
                assert secrets & others == set(), f"seed {seed}: {tenant} {user}"
                assert report.memories == 0 or secrets & {canary_of(memory) for memory in own}
                known = [
                    world.known_to(each) for each in world.callers if (each.tenant_id, each.user) == (tenant, user)
                ]
                assert secrets <= frozenset().union(*known)
