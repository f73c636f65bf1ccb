"""Every message that a client may send to a server of tools, about what one of two tenants has."""

import asyncio
from dataclasses import dataclass

from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import make_server
from tests.support.two_tenants import AGENT, NOTE, POOL, SESSION, WHO


@dataclass(frozen=True)
class Ask:
    """One message of a client, and what it is about."""

    name: str
    method: str
    params: dict
    needs: str = "reader"


def arguments(tool, ids):
    """By the name of a parameter, what another tenant would say there to be told what it knows."""
    group = tool.partition("_")[0]
    of_group = {
        "rules": {"id": ids["rule"]},
        "entities": {"id": ids["entity"], "source_id": ids["entity"], "target_id": ids["entity"]},
        "graph": {"names": [WHO]},
        "pools": {"name": POOL, "query": "WebGPU"},
        "jobs": {"name": "decay"},
        "log": {"entries": [{"content": "new"}]},
        "store": {"value": {"new": 1}, "changes": [{"key": NOTE}]},
    }
    named = {"entities_create": {"name": "Zoe"}, "entity_create": {"name": "Zoe"}, "add_observations": {}}
    return {**_said(ids), **of_group.get(group, {}), **named.get(tool, {})}


def _said(ids):
    node, asked = {"name": WHO, "entityType": "person", "observations": ["new"]}, "Lisbon"
    return {
        "content": "new",
        "messages": [{"content": "new"}],
        "id": ids["fact"],
        "ids": [ids["fact"], ids["episode"]],
        "id_or_name": WHO,
        "note": NOTE,
        "category": "project",
        "session": SESSION,
        "job_id": ids["run"],
        "old_id": ids["fact"],
        "new_id": ids["other"],
        "subject": WHO,
        "predicate": "likes",
        "query": asked,
        "topic": asked,
        "name": WHO,
        "butler": AGENT,
        "trigger_prompt": asked,
        "prompt": asked,
        "session_id": SESSION,
        "key": NOTE,
        "tenant_id": "default",
        "memory_type": "fact",
        "memory_id": ids["fact"],
        "memory_ids": [ids["fact"], ids["episode"]],
        "source_id": ids["fact"],
        "target_id": ids["other"],
        "relation": "supports",
        "run_id": ids["run"],
        "asked": asked,
        "pool": POOL,
        "member": "coder",
        "fact_id": ids["fact"],
        "rule_id": ids["rule"],
        "canonical_name": "Zoe",
        "entity_type": "person",
        "entity_id": ids["entity"],
        "source_entity_id": ids["entity"],
        "target_entity_id": ids["entity"],
        "old_fact_id": ids["fact"],
        "new_fact_id": ids["other"],
        "facts": [{"subject": WHO, "predicate": "likes", "content": "new", "source_ids": [ids["episode"]]}],
        "entities": [node],
        "entityNames": [WHO],
        "names": [WHO],
        "relations": [{"from": WHO, "to": WHO, "relationType": "knows"}],
        "observations": [{"entityName": WHO, "contents": ["new"]}],
        "deletions": [{"entityName": WHO, "observations": [asked]}],
    }


def asks(memory, profile, ids):
    """Every tool, resource and prompt of a profile, asked for what another tenant has."""
    server, said = make_server(memory, profile), _said(ids)
    needs = {offer.name: offer.needs for offer in profile_of(profile).tools}
    for tool in asyncio.run(server.list_tools()):
        known = arguments(tool.name, ids) if profile == "all" else said
        given = {name: known[name] for name in tool.input_schema.get("required", [])}
        yield Ask(tool.name, "tools/call", {"name": tool.name, "arguments": given}, needs[tool.name])
    there = [str(each.uri) for each in asyncio.run(server.list_resources())]
    there += [each.uri_template for each in asyncio.run(server.list_resource_templates())]
    for address in there:
        uri = address.format(name=WHO, key=NOTE, kind="fact", id=ids["fact"])
        yield Ask(address, "resources/read", {"uri": uri})
    for prompt in asyncio.run(server.list_prompts()):
        given = {each.name: {"session": SESSION}.get(each.name, said.get(each.name)) for each in prompt.arguments or []}
        yield Ask(prompt.name, "prompts/get", {"name": prompt.name, "arguments": given})
    for listing in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        yield Ask(listing, listing, {})
