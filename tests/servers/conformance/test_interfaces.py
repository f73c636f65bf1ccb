"""Whichever way a memory is reached, the same life gives the same JSON."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

import pytest

from tests.servers.conformance import by_client, by_command, by_route, by_tool, interfaces
from tests.servers.conformance.interfaces import Table, without
from tests.servers.conformance.scenario import STEPS
from tests.servers.conformance.transcripts import Kept, Said, comparable, differences

# Vectors and their distances are sums of products in float32, which PostgreSQL, and an embedder for its first texts,
# add up in another order.
SAME_DISTANCE = 1e-6


@dataclass(frozen=True)
class Interface:
    """What stands behind the verbs of a way, what it has besides, and what of the scenario it has not."""

    table: Table
    besides: Mapping[str, str]
    lacks: Mapping[str, tuple[str, ...]] | None  # None: a published contract says what it has


# What a way lacks the library does on the same file. A verb or an argument that gets its command, tool or route leaves
# this list, and enters the way's table.
INTERFACES = {
    "command line": Interface(
        by_command.TABLE,
        by_command.BESIDES,
        {},
    ),
    "mcp": Interface(by_tool.ALL, by_tool.BESIDES, {}),
    "mcp published profiles": Interface(by_tool.PUBLISHED, by_tool.BESIDES, None),
}
WAYS = {
    "async library": interfaces.async_library,
    "command line": by_command.command_line,
    "mcp": partial(by_tool.by_tool, by_tool.ALL),
    "mcp published profiles": partial(by_tool.by_tool, by_tool.PUBLISHED),
    "http": by_route.by_route,
    "client": by_client.by_client,
    "async client": by_client.by_async_client,
    "client on postgres": by_client.by_client_on_postgres,
    "library on postgres": interfaces.library_on_postgres,
}


def lived(way):
    """What a way says to the whole scenario."""
    kept = Kept()
    transcript = []
    for place, step in enumerate(STEPS, 1):
        said = way.take(replace(kept.filled(step), request_id=f"request-{place}"))
        kept.keep(step, said.answer)
        transcript.append(said)
    return transcript


@pytest.fixture(scope="module", autouse=True)
def _nobodys_settings():
    """No setting of this machine is in force."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ENGRAIN_") and "_TEST_" not in name]:
            patch.delenv(name)
        yield


@dataclass(frozen=True)
class Life:
    """What the library says to the scenario, since when."""

    began: datetime
    transcript: list[Said]


@pytest.fixture(scope="module")
def by_library(tmp_path_factory):
    began = datetime.now(UTC)
    with interfaces.library(tmp_path_factory.mktemp("library")) as way:
        return Life(began, lived(way))


def test_the_library_refuses_what_the_scenario_says(by_library):
    refused = [(said.step.verb, said.refused) for said in by_library.transcript]
    assert refused == [(step.verb, step.refused) for step in STEPS]


@pytest.mark.parametrize("name", WAYS)
def test_every_way_gives_the_same_json(name, by_library, tmp_path):
    with WAYS[name](tmp_path) as way:
        transcript = lived(way)
    expected = [
        replace(other, answer=None if other.answer is None else said.tells(other.answer))
        for said, other in zip(transcript, by_library.transcript, strict=True)
    ]
    began = by_library.began
    for said, other in zip(comparable(transcript, began=began), comparable(expected, began=began), strict=True):
        assert list(differences(said, other, within=SAME_DISTANCE)) == [], said[0]
    if name in INTERFACES:  # nothing stands in a table that the scenario does not use
        assert way.used == interfaces.named(INTERFACES[name].table)


def test_every_verb_of_the_library_is_in_the_scenario():
    assert {step.verb for step in STEPS} == without(interfaces.verbs(), interfaces.BESIDES)


@pytest.mark.parametrize("name", [name for name, interface in INTERFACES.items() if interface.lacks is not None])
def test_what_a_way_lacks_is_said(name):
    interface = INTERFACES[name]
    assert interfaces.lacking(interface.table) == interface.lacks


def test_every_verb_has_a_route_and_every_route_is_a_verb():
    assert interfaces.lacking(by_route.table()) == {}
    assert without(by_route.table(), by_route.BESIDES) == {step.verb for step in STEPS}


def test_every_command_and_option_is_one_of_the_library():
    offered = {name: (len(placed), options) for name, placed, options in by_command.offered()}
    assert interfaces.named(by_command.TABLE) == without(offered, by_command.BESIDES)
    known = {}
    for command in by_command.COMMANDS.values():
        placed, options = known.get(command.name, (0, frozenset()))
        known[command.name] = (max(placed, len(command.by_place)), options | command.options)
    assert {name: offered[name] for name in known} == known


def test_every_tool_and_parameter_is_one_of_the_library():
    offered = by_tool.offered()
    tables = (by_tool.ALL, by_tool.PUBLISHED)
    assert set().union(*map(interfaces.named, tables)) == without(offered, by_tool.BESIDES)
    known = {}
    for tool in (tool for table in tables for tools in table.values() for tool in tools):
        known[tool.name] = known.get(tool.name, frozenset()) | tool.parameters
    assert {name: offered[name] for name in known} == known
