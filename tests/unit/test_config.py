import os
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from engrain.config import ENV_PREFIX, TOML_FILE, Settings, default_location, load
from engrain.errors import InvalidInput

NAMES = list(Settings.model_fields)
# For each setting a default and three other values, to tell the sources apart.
VALUES = {
    "db": ("a.db", "b.db", "c.db"),
    "tenant": ("a", "b", "c"),
    "agent": ("a", "b", "c"),
    "embedder": ("none", "openai:a", "openai:b"),
    "embedding_threads": (3, 4, 5),
    "embedding_wait_s": (0.5, 1.5, 2.5),
    "busy_timeout_s": (0.5, 1.5, 2.5),
    "pool_size": (3, 4, 5),
    "synchronous": ("full", "normal", "full"),
    "preset": ("semantic", "keyword", "hybrid"),
    "limit": (3, 4, 5),
    "budget_tokens": (3, 4, 5),
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """No settings but the test's own: an empty folder and no ENGRAIN_* in the environment."""
    monkeypatch.chdir(tmp_path)
    for variable in os.environ:
        if variable.upper().startswith(ENV_PREFIX):
            monkeypatch.delenv(variable)


def write_toml(**values):
    lines = [f"{name} = {value!r}\n" for name, value in values.items()]
    Path(TOML_FILE).write_text("".join(lines), encoding="utf-8")


def test_every_setting_is_tried_here():
    assert sorted(VALUES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_caller_wins_over_the_environment_that_over_the_file_and_that_over_the_default(name, monkeypatch):
    called, exported, written = VALUES[name]
    default = getattr(load(), name)
    write_toml(**{name: written})
    assert getattr(load(), name) == written
    monkeypatch.setenv(f"{ENV_PREFIX}{name.upper()}", str(exported))
    assert getattr(load(), name) == exported
    assert getattr(load({name: called}), name) == called
    monkeypatch.delenv(f"{ENV_PREFIX}{name.upper()}")
    Path(TOML_FILE).unlink()
    assert getattr(load(), name) == default


def test_each_source_speaks_for_the_settings_it_names_alone(monkeypatch):
    write_toml(limit=3, tenant="file", preset="keyword")
    monkeypatch.setenv("ENGRAIN_TENANT", "environment")
    monkeypatch.setenv("ENGRAIN_PRESET", "hybrid")
    settings = load({"preset": "semantic"})
    assert (settings.limit, settings.tenant, settings.preset) == (3, "environment", "semantic")
    assert settings.agent == "assistant"


def test_environment_variables_may_be_written_in_lower_case(monkeypatch):
    monkeypatch.setenv("engrain_limit", "3")
    assert load().limit == 3


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("limt", "did you mean limit?"),
        ("budget", "did you mean budget_tokens?"),
        ("Limit", "did you mean limit?"),
        ("colour", "known are: db, tenant, agent"),
        ("_env_file", "known are: db, tenant, agent"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_name_by_the_caller(name, hint):
    with pytest.raises(InvalidInput) as refused:
        load({name: "3"})
    assert str(refused.value).startswith(f"setting {name} is unknown; {hint}")


@pytest.mark.parametrize("variable", ["ENGRAIN_LIMT", "engrain_limt", "Engrain_Limt"])
def test_an_unknown_setting_is_refused_with_the_nearest_name_by_the_environment(variable, monkeypatch):
    monkeypatch.setenv(variable, "3")
    with pytest.raises(InvalidInput, match=rf"^setting {variable} is unknown; did you mean limit\?$"):
        load()


def test_an_unknown_setting_is_refused_with_the_nearest_name_by_the_file():
    write_toml(limt=3)
    with pytest.raises(InvalidInput, match=r"^setting limt is unknown; did you mean limit\?$"):
        load()


def test_the_variables_of_the_test_suites_are_no_settings(monkeypatch):
    monkeypatch.setenv("ENGRAIN_TEST_POSTGRES", "postgresql://localhost/test")
    monkeypatch.setenv("ENGRAIN_TEST_REDIS", "redis://localhost")
    assert load() == load({})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "many"),
        ("limit", -1),
        ("limit", 1_001),
        ("limit", 2.5),
        ("limit", True),
        ("embedding_threads", 0),
        ("embedding_wait_s", float("nan")),
        ("busy_timeout_s", float("inf")),
        ("busy_timeout_s", "long"),
        ("synchronous", "off"),
        ("budget_tokens", None),
        ("db", 5),
        ("tenant", ["a"]),
    ],
)
def test_a_value_of_the_wrong_type_or_range_is_refused_by_name(name, value):
    with pytest.raises(InvalidInput) as refused:
        load({name: value})
    assert str(refused.value).startswith(f"setting {name} = {value!r}: ")


def test_a_wrong_value_in_the_environment_or_the_file_is_refused_by_name(monkeypatch):
    write_toml(limit="many")
    with pytest.raises(InvalidInput, match="setting limit = 'many': Input should be a valid integer"):
        load()
    monkeypatch.setenv("ENGRAIN_LIMIT", "lots")
    with pytest.raises(InvalidInput, match="setting limit = 'lots': Input should be a valid integer"):
        load()


@pytest.mark.parametrize("values", [[("limit", 3)], "limit", {1: 2}])
def test_settings_that_are_no_mapping_of_names_are_refused(values):
    with pytest.raises(InvalidInput, match="settings must be a mapping of names to values"):
        load(values)


@pytest.mark.parametrize("content", [b"limit = ", b"db = '\xff'", b"limit = 3\nlimit = 4"])
def test_a_file_that_is_not_toml_is_refused_with_its_path(content):
    Path(TOML_FILE).write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        load()
    assert str(refused.value).startswith(f"{Path.cwd() / TOML_FILE} is not TOML in UTF-8: ")


def test_a_table_of_another_program_is_refused_as_an_unknown_setting():
    Path(TOML_FILE).write_text("[modules.memory]\nlimit = 3\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="setting modules is unknown"):
        load()


def test_settings_do_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        load().limit = 3


def test_reading_settings_writes_nothing(tmp_path):
    mode = stat.S_IMODE(tmp_path.stat().st_mode)
    load()
    assert [*tmp_path.iterdir()] == []
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


def test_memory_lives_in_the_users_data_folder_unless_somebody_says_otherwise():
    assert load().db == str(default_location())
    assert default_location().is_absolute()
    assert default_location().parts[-2:] == ("engrain", "memory.db")


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_described(name):
    description = Settings.model_fields[name].description
    assert description
    assert description[0].isalpha()
