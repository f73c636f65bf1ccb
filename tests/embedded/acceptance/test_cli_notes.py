"""The commands of notes: the same answers as the library gives, as JSON or in lines."""

import pytest

from engrain import Memory
from tests.support.uncounted import uncounted


@pytest.fixture
def saved(cli):
    """Two notes that share a word, and a credential."""
    return [
        cli("notes", "save", *note, "--json").json
        for note in (("commute", "the tram is late"), ("walk", "tram by the river"), ("api-key", "a secret token"))
    ]


@pytest.mark.req("C01", "C02")
def test_saving_says_what_the_note_became(cli):
    ran = cli("notes", "save", "api-key", "secret token for GitHub", "--json")
    assert (ran.code, ran.json["category"], ran.json["archived"]) == (0, "credential", False)
    assert ran.json["category_confidence"] > 0
    again = cli("notes", "save", "api-key", "another token")
    assert again.out.splitlines()[1].endswith("credential api-key: another token")
    assert cli("notes", "get", "api-key", "--json").json["content"] == "another token"
    assert cli("notes", "get", "api-key").out.endswith("\n\nanother token\n")


def test_a_key_that_is_not_there_is_not_found(cli):
    for command in ("get", "forget"):
        ran = cli("notes", command, "nothing", "--json")
        assert (ran.code, ran.out, ran.error["code"]) == (1, "", "not_found")
        assert "'nothing'" in ran.error["message"]


@pytest.mark.req("C12", "C13", "C17")
def test_every_command_answers_as_the_library_does(cli, database, saved):
    with Memory.open(database) as memory:
        notes = memory.agent().notes
        expected = {
            ("list",): notes.list().to_dict(),
            ("list", "--limit", 1): notes.list(1).to_dict(),
            ("list", "--limit", 1, "--after", notes.list(1).next): notes.list(1, after=notes.list(1).next).to_dict(),
            ("list", "--category", "credential"): notes.list_by_category("credential").to_dict(),
            ("related", "walk"): {"items": [note.to_dict() for note in notes.related("walk")], "next": None},
            ("related", saved[0]["id"], "--limit", 0): {"items": [], "next": None},
            ("get", "walk"): notes.recall("walk").to_dict(),
        }
        searched = notes.search("tram river", min_similarity=0.1, limit=5, category="general")
    for command, answer in expected.items():
        assert cli("notes", *command, "--json").json == answer
    options = ("--min-similarity", 0.1, "--limit", 5, "--category", "general")
    assert uncounted(cli("notes", "search", "tram river", *options, "--json").json) == uncounted(searched)
    assert [each["key"] for each in expected["list",]["items"]] == ["api-key", "walk", "commute"]
    assert [each["note"]["key"] for each in expected["related", "walk"]["items"]] == ["commute"]


@pytest.mark.usefixtures("saved")
def test_in_a_pipe_every_note_is_a_line(cli):
    assert [line.split(" ", 2)[2] for line in cli("notes", "list").out.splitlines()] == [
        "api-key: a secret token",
        "walk: tram by the river",
        "commute: the tram is late",
    ]
    [first, second] = cli("notes", "search", "tram river").out.splitlines()
    assert ("combined" in first, "walk:" in first, "fts5" in second) == (True, True, True)
    assert cli("notes", "related", "walk").out.count("\n") == 1
    for nothing in (("list", "--category", "task"), ("search", "herons"), ("related", "api-key")):
        ran = cli("notes", *nothing)
        assert (ran.code, ran.out, ran.err) == (0, "", "nothing found\n")


@pytest.mark.req("C11")
@pytest.mark.usefixtures("saved")
def test_a_deep_search_without_a_re_ranker_says_so(cli):
    ran = cli("notes", "search", "tram", "--deep")
    assert ran.out.count("\n") == 2
    assert "no reranker is configured" in ran.err
    assert cli("notes", "search", "tram", "--deep", "--json").json["mode"] == "fast"


@pytest.mark.req("C01", "C14")
def test_notes_are_forgotten_and_summarized(cli, saved):
    gone = cli("notes", "forget", "api-key", "--json").json
    assert (gone["id"], gone["archived"]) == (saved[2]["id"], True)
    for name in ("alpha", "beta"):
        cli("notes", "save", f"project:{name}", f"what {name} is")
    assert cli("notes", "summarize", "--json").json == {"notes": 0}
    assert cli("notes", "summarize", "--older-than-days", 0).out == "archived 2 notes\n"
    keys = [each["key"] for each in cli("notes", "list", "--json").json["items"]]
    assert (len(keys), keys[0][:16]) == (3, "summary:project:")


@pytest.mark.req("C18")
@pytest.mark.usefixtures("saved")
def test_another_agent_has_other_notes(cli):
    assert cli("notes", "list", "--agent", "ben", "--json").json == {"items": [], "next": None}
    assert cli("notes", "get", "walk", "--agent", "ben").code == 1
