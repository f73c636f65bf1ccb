"""`engrain backup`, `restore` and `export` as they are typed."""

import pytest

pytestmark = pytest.mark.req("G13")


@pytest.fixture
def filled(cli):
    cli("remember", "Lisbon", "--subject", "Ana", "--predicate", "lives in", "--scope", "global", "--agent", "ana")
    cli("notes", "save", "shopping", "Buy olives.", "--agent", "ana")
    return cli


def test_a_backup_says_what_it_holds_and_a_restore_what_it_did(filled):
    ran = filled("backup", "a.backup", "--agent", "ana")
    assert ran.code == 0
    assert "a.backup: 2 memories of agent ana of tenant default, no vectors" in ran.out
    again = filled("restore", "a.backup")
    assert again.out == "0 memories added to agent ana of tenant default\n2 there before, left as they are\n"
    plan = filled("restore", "a.backup", "--agent", "bruno", "--dry-run")
    assert plan.out.startswith("1 memory would be added to agent bruno")
    done = filled("restore", "a.backup", "--agent", "bruno", "--json").json
    assert (done["memories"], done["present"], done["added"]["facts"]) == (1, 1, 1)
    assert filled("notes", "get", "shopping", "--agent", "bruno").out.count("Buy olives.") == 1
    assert filled("restore", "a.backup", "--replace", "--yes").out.count("2 removed first") == 1


def test_a_backup_of_a_user_is_of_that_user_alone(filled, tmp_path):
    filled("remember", "tea", "--subject", "user", "--predicate", "likes", "--user", "carl")
    filled("remember", "rum", "--subject", "user", "--predicate", "likes", "--user", "dora")
    ran = filled("backup", "carl.backup", "--user", "carl")
    assert "carl.backup: 1 memory of user carl of tenant default, no vectors" in ran.out
    filled("erase-user", "carl", "--yes")
    assert "1 erased before" in filled("restore", "carl.backup").out
    other = ("--db", tmp_path / "other.db")
    ran = filled("restore", "carl.backup", *other, "--untrusted")
    assert "1 memory added to user carl of tenant default" in ran.out
    assert "tea" in filled("facts", "--user", "carl", *other).out
    assert filled("facts", *other, "--json").json["items"] == []


@pytest.mark.parametrize(
    "command",
    [
        ("export", "ana.jsonl"),
        ("consolidate", "--dry-run"),
        ("erase-user", "carl", "--dry-run"),
        ("keys", "revoke", "k1"),
        ("copy", "a.db", "b.db"),
    ],
)
def test_a_command_for_every_user_refuses_to_be_for_one(filled, command):
    refused = filled(*command, "--user", "ana")
    assert (refused.code, refused.out) == (2, "")
    assert "is not for one user: leave out --user 'ana'" in refused.err
    assert ("; engrain export-user NAME FILE exports all of a user" in refused.err) is (
        command[0] in {"export", "copy"}
    )


def test_an_export_does_without_users_whatever_user_the_settings_name(filled, monkeypatch, tmp_path):
    filled("remember", "tea", "--subject", "user", "--predicate", "likes", "--user", "carl", "--agent", "ana")
    monkeypatch.setenv("ENGRAIN_USER", "carl")
    assert filled("export", tmp_path / "all.jsonl", "--agent", "ana").code == 0
    written = (tmp_path / "all.jsonl").read_text()
    assert "Lisbon" in written
    assert "tea" not in written


def test_the_whole_database_goes_into_another_file(filled, monkeypatch, tmp_path):
    assert filled("backup", "all.backup", "--json").json["tenant_id"] is None
    other = ("--db", tmp_path / "other.db")
    refused = filled("restore", "all.backup", *other)
    assert (refused.code, refused.out) == (2, "")
    assert "signed by another installation" in refused.err
    assert "--untrusted" in refused.err
    assert "NAME.backup-key beside its SQLite file NAME" in refused.err
    [key] = {*tmp_path.glob("*.backup-key")} - {tmp_path / "other.db.backup-key"}
    monkeypatch.setenv("ENGRAIN_BACKUP__SIGNING_KEY_FILE", str(key))
    ran = filled("restore", "all.backup", *other)
    assert "2 memories added to the whole database" in ran.out
    assert "Lisbon" in filled("recall", "lives", "--db", tmp_path / "other.db").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("restore", "missing.backup"), "cannot be read"),
        (("restore", "text"), "no backup of engrain"),
        (("restore", "all.backup", "--agent", "ana"), "whole database"),
        (("backup", "text"), "no backup"),
        (("export", "text"), "there already"),
        (("export", "x", "--format", "pdf"), "choose one of"),
    ],
)
def test_what_is_refused_is_said_in_one_line(filled, tmp_path, arguments, said):
    (tmp_path / "text").write_text("not a backup, but long enough to be one" * 9)
    filled("backup", "all.backup")
    ran = filled(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_an_export_is_imported_again(filled, tmp_path):
    assert "note  1" in filled("export", "ana.jsonl", "--agent", "ana").out
    ran = filled("import", "ana.jsonl", "--db", tmp_path / "other.db", "--agent", "zoe")
    assert ran.out == "imported ana.jsonl (jsonl): 2 facts added, 0 already there\n"
    filled("export", "ana.md", "--agent", "ana", "--format", "markdown", "--kinds", "fact")
    assert (tmp_path / "ana.md").read_text().startswith("# Facts\n\n## Ana\n\n- lives in: Lisbon (since ")
