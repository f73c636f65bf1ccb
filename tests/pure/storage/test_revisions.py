"""The schema's history: one list of revisions, the same for engrain and for a host's Alembic, frozen by hash."""

import hashlib
import re
import sqlite3
from importlib.resources import files

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from engrain.storage import migrations

DIALECTS = ("sqlite", "postgres")
# SHA-256 of the SQL of every revision. Databases have run it as it is here.
FROZEN = {
    ("mem_001", "sqlite"): "7e2bd1de99704f3e19a899129d7129afce412b437643553b4a74eff6693bd3e8",
    ("mem_001", "postgres"): "2d014112d5a0fd76514fb451c1da499f37feca1547d82f69caa2ffe3e2ab1645",
    ("mem_002", "sqlite"): "7faa69b9692736f812478c55b4aa92e792bfc6a97a09b6157da67b1796999730",
    ("mem_002", "postgres"): "0e4d68f6eee92ce0ae79a342adc3323bba4514f26b929416d771bc4d77282236",
    ("mem_003", "sqlite"): "be29cc48ae4ac7c1d3fdcf30d206a1ab8ba5ddff90d306c75833cf38f0769d0f",
    ("mem_003", "postgres"): "84070aecef9264d6427fa3b1d7780aefcdef8b1518dc0dd6d2cd6d0a46c9584b",
    ("mem_004", "sqlite"): "26f21448a8b9398beca9700658069cb9e221920f8b4ffec97b6bcf41258c967b",
    ("mem_004", "postgres"): "83b7e8810bbfa03459d66bb3ff9e4a1b13afb084c6d7ebcceb8b36353c0192a6",
    ("mem_005", "sqlite"): "922948a9ca3c035de128a31c7ed51b3a0c434f4681540b5aff89f05aa0ebc46f",
    ("mem_005", "postgres"): "ae16f0f682ee33264d8d3b492cdd9b4443bf45a700d4e99fc14e8de36b8df861",
    ("mem_006", "sqlite"): "9753e06f06d81f3966bc6ef60b767d22f5a7935e8e5abb586a55e3b5eff44a5f",
    ("mem_006", "postgres"): "0e239418df5bc3b5ed66f86058fa333264464e80ab97abeb1b78096e60f0e1ed",
    ("mem_007", "sqlite"): "78123bf93c100b7ead98709e1684b78eda749e93f3ad952858e00c01adb4d799",
    ("mem_007", "postgres"): "d1b0fbe1ab9088bcec2805aeaa6efd6cab19c89aec3b84f2d8dcb98abacad7bf",
    ("mem_008", "sqlite"): "3f4fdeb8619da69ed55aea8fed6743336170b3550fcc845926d873d86d83aa14",
    ("mem_008", "postgres"): "3f4fdeb8619da69ed55aea8fed6743336170b3550fcc845926d873d86d83aa14",
    ("mem_009", "sqlite"): "472e918daec06043c96547050194de5c9e419dbf1b6a00cf100b1d8ed812ad23",
    ("mem_009", "postgres"): "0c86a66fa70bff36e419c2164fc2fe3ee30bf897a5728f6f06468d8bf6ff7db7",
    ("mem_010", "sqlite"): "655c219733e788edc27d7c50118dca439a9e6f32acea81c490df07959b0a04d2",
    ("mem_010", "postgres"): "54dd8f194426f4f008a37a3c8a40e5ce210adbb9fcdf6b571611d15780c6fba2",
    ("mem_011", "sqlite"): "4aa765ebf7db348a77107321db96f4053d02c78f366fc6550cf2dd8a79cf0bbe",
    ("mem_011", "postgres"): "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ("mem_012", "sqlite"): "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ("mem_012", "postgres"): "5a5921182ae794e3b3a33397f0be61caa5fe9d6f34798f3b09b2b605bf5550b7",
    ("mem_013", "sqlite"): "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ("mem_013", "postgres"): "c49f66bb2fbb7aedef4ba5a46e75bd5e3c241facb93c8d35cc5d871698035322",
    ("mem_014", "sqlite"): "aecb734e37145734dda53cd13cd7a4269f2f8a18ace8666c094173dfdfd79b4b",
    ("mem_014", "postgres"): "b1f095615ce8cfba9af5a81953a82e17e503533f316a14db5bfb646644928b53",
    ("mem_015", "sqlite"): "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ("mem_015", "postgres"): "a52dfe3d2c255c2246c2ea9ab834d6dcc97486159b6ccf4cbb02697769b69614",
    ("mem_016", "sqlite"): "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ("mem_016", "postgres"): "b0b1f157431ce0afeeb0e1ad87d17f3a5f8bf58c9002ce50ee40b9dd7dc36ff5",
    ("mem_017", "sqlite"): "506ea24568a2557be8f0c5374bffc57a6ed2f26cd518bd1f61cbb281183026d6",
    ("mem_017", "postgres"): "506ea24568a2557be8f0c5374bffc57a6ed2f26cd518bd1f61cbb281183026d6",
}


def history() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(files("engrain.storage.migrations")))
    return ScriptDirectory.from_config(config)


def test_alembic_sees_the_revisions_in_order_under_one_label():
    scripts = history()
    found = list(scripts.walk_revisions())[::-1]
    assert tuple(script.revision for script in found) == migrations.REVISIONS
    assert [script.down_revision for script in found] == [None, *migrations.REVISIONS[:-1]]
    assert all("memory" in script.branch_labels for script in found)
    assert scripts.get_current_head() == migrations.HEAD


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_revision_has_its_sql_and_no_sql_is_left_over(dialect):
    folder = files(f"engrain.storage.{dialect}") / "revisions"
    assert sorted(file.name for file in folder.iterdir()) == [f"{revision}.sql" for revision in migrations.REVISIONS]
    assert list(migrations.scripts(dialect)) == list(migrations.REVISIONS)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_a_revision_is_frozen(revision, dialect):
    found = hashlib.sha256(migrations.script(dialect, revision).encode()).hexdigest()
    expected = FROZEN.get((revision, dialect))
    file = f"src/engrain/storage/{dialect}/revisions/{revision}.sql"
    assert expected is not None, f'{file} is new: freeze it here with ("{revision}", "{dialect}"): "{found}"'
    assert found == expected, (
        f"{file} was edited, but databases have run it as it was: take the edit back, and add a new revision instead, "
        f"mem_{len(migrations.REVISIONS) + 1:03}.sql beside it for each database, its number in REVISIONS "
        "(storage/migrations/__init__.py), its file in storage/migrations/versions, and its hashes here"
    )


def test_no_frozen_revision_is_removed():
    assert {revision for revision, _ in FROZEN} <= set(migrations.REVISIONS)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_a_revision_is_run_one_statement_at_a_time(dialect, revision):
    """Python's sqlite3 and PostgreSQL's prepared statements refuse several in one call."""
    found = migrations.statements(dialect, revision)
    assert all(sqlite3.complete_statement(statement) for statement in found)
    script = migrations.script(dialect, revision)
    if not found:  # the other database alone changed
        assert all(line.startswith("--") for line in script.splitlines())
        return
    assert "".join(found) == script.rstrip("\n")
    assert all(len(re.findall(r";$", statement, re.MULTILINE)) == 1 for statement in found)


@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_no_revision_can_be_undone(revision):
    with pytest.raises(NotImplementedError, match="delete the database"):
        history().get_revision(revision).module.downgrade()
