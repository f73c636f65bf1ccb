"""An id may be typed as far as it means one thing alone."""

import pytest

from engrain import Memory


def shared(*ids):
    """The longest common beginning of ids."""
    return next(ids[0][:end] for end in range(36, 0, -1) if len({id_[:end] for id_ in ids}) == 1)


@pytest.fixture
def ids(cli):
    return [cli("observe", f"kettle {number}", "--json").json["id"] for number in range(3)]


def test_a_unique_prefix_is_the_memory(cli, ids):
    unique = next(ids[0][:end] for end in range(4, 37) if sum(id_.startswith(ids[0][:end]) for id_ in ids) == 1)
    assert cli("get", unique, "--json").json["id"] == ids[0]
    assert cli("get", f"{unique}…", "--json").json["id"] == ids[0]
    assert cli("confirm", unique).code == 2  # an episode cannot be confirmed
    assert cli("link", unique, "supports", ids[1], "--json").json["source_id"] == ids[0]
    assert cli("forget", unique, "--json").json["id"] == ids[0]
    assert cli("get", unique, "--json").json["id"] == ids[0]  # what is forgotten is still there
    assert cli("erase", unique, "--yes", "--json").json["ids"] == [ids[0]]


def test_a_prefix_of_several_is_refused_and_names_a_few(cli, ids):
    ran = cli("forget", shared(*ids)[:8], "--json")
    assert (ran.code, ran.out, ran.error["code"]) == (2, "", "invalid_input")
    assert all(id_ in ran.error["message"] for id_ in ids)
    assert cli("stats", "--json").json["episodes"]["total"] == 3


def test_a_prefix_of_nothing_or_of_three_characters_is_no_prefix(cli, ids):
    for text in (ids[0][:3], "ffff0000"):
        ran = cli("get", text)
        assert (ran.code, ran.out) == (1, "")
        assert text in ran.err


def test_another_agents_memory_does_not_count(cli):
    mine = cli("observe", "mine", "--agent", "one", "--json").json["id"]
    other = cli("observe", "other", "--agent", "two", "--json").json["id"]
    prefix = shared(mine, other)[:8]
    assert cli("get", prefix, "--agent", "one", "--json").json["id"] == mine
    assert cli("get", mine, "--agent", "two").code == 1


def test_entities_and_runs_have_prefixes_too(cli, database):
    made = [cli("entities", "create", name, "--json").json["id"] for name in ("Ana", "Bruno")]
    unique = next(made[0][:end] for end in range(4, 37) if not made[1].startswith(made[0][:end]))
    assert cli("entities", "show", unique, "--json").json["canonical_name"] == "Ana"
    assert cli("entities", "show", shared(*made)[:8]).code == 2
    cli("observe", "The canoe needs two planks of cedar.", "--session", "monday")
    stored = cli("summarize", "--session", "monday", "--store", "--json").json
    assert cli("undo", stored["run_id"][:13], "--json").json["run"]["id"] == stored["run_id"]
    with Memory.open(database) as memory:
        assert memory.agent().get(stored["memory_id"]).validity == "retracted"
