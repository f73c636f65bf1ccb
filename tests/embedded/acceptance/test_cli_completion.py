"""What a shell is offered after Tab, as it asks for it."""

import pytest


@pytest.fixture
def completed(process):
    """The words that a shell may put in the place of the last one."""

    def ask(*words, **environment):
        line = " ".join(["engrain", *words])
        asked = {"_ENGRAIN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
        ran = process("--help", **asked, **environment)  # the shell runs it without arguments: they are in COMP_WORDS
        assert (ran.code, ran.err) == (0, "")
        return ran.out.split()

    return ask


def test_commands_and_options_are_completed(completed):
    assert completed("rem") == ["remember"]
    assert completed("rules", "h") == ["helpful", "harmful"]
    assert completed("recall", "tea", "--exc") == ["--exclude-session"]


def test_one_of_a_few_words_is_completed(completed):
    assert completed("recall", "tea", "--preset", "re") == ["recall", "recency"]
    assert completed("recall", "tea", "--kind", "") == ["episode", "fact", "rule"]
    assert completed("notes", "list", "--category", "pr") == ["project", "preference"]
    assert completed("serve", "--profile", "b") == ["butler"]
    assert completed("config", "retrieval.p") == ["retrieval.preset", "retrieval.presets"]


def test_ids_are_completed_the_newest_first(completed, cli):
    old, new = (cli("observe", text, "--json").json["id"] for text in ("one", "two"))
    rule = cli("rules", "add", "Ask first", "--scope", "global", "--json").json["id"]
    entity = cli("entities", "create", "Ana", "--json").json["id"]
    assert completed("get", old[:4]) == [rule, new, old]
    assert completed("--agent", "two", "get", old[:4]) == [rule]  # which is for everybody
    assert completed("entities", "show", "") == [entity]
    assert completed("undo", "") == []


def test_sessions_are_completed(completed, cli):
    for session in ("monday", "tuesday", "morning"):
        cli("observe", "Hello.", "--session", session)
    assert completed("recall", "Hello", "--session", "mo") == ["morning", "monday"]
    assert completed("context", "Hello", "--session", "") == ["morning", "tuesday", "monday"]
    assert completed("--agent", "other", "observe", "Hello", "--session", "tu") == []


def test_where_no_memory_is_nothing_is_completed_or_made(completed, database):
    assert completed("get", "01") == []
    assert not database.exists()


def test_a_setting_or_section_is_shown_alone(cli):
    [setting] = cli("config", "retrieval.preset", "--json").json["settings"]
    section = cli("config", "cleanup", "--json").json["settings"]
    assert setting["name"] == "retrieval.preset"
    assert {each["name"].partition(".")[0] for each in section} == {"cleanup"}
    assert cli("config", "retrieval.pre").code == 2
