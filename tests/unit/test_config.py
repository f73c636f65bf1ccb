import json
import os
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from engrain.config import ENV_PREFIX, TOML_FILE, Settings, default_location, key_for, load
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
    "embedding_url": ("http://a/v1", "https://b", "http://c:80"),
    "embedding_key": ("a", "b", "c"),
    "embedding_dims": (3, 4, 5),
    "embedding_cache_entries": (0, 4, 5),
    "embedding_cache_ttl_s": (0.5, 1.5, 2.5),
    "name_finder": ("spacy", "spacy:a", "spacy:b"),
    "link_entities": ("fast", "off", "fast"),
    "note_cache_entries": (0, 4, 5),
    "note_cache_ttl_s": (0.5, 1.5, 2.5),
    "reranker": ("cohere", "tei", "http:a"),
    "rerank_budget_s": (0.5, 1.5, 2.5),
    "rerank_url": ("http://a/v1", "https://b", "http://c:80"),
    "rerank_key": ("a", "b", "c"),
    "decay_curve": ("steps", "exponential", "steps"),
    "decay_anchor": ("access", "confirmation", "access"),
    "decay_fading_below": (0.3, 0.4, 0.5),
    "decay_expired_below": (0.01, 0.02, 0.03),
    "episode_retention_days": (1.5, 2.5, 3.5),
    "episode_max_entries": (3, 4, 5),
    "busy_timeout_s": (0.5, 1.5, 2.5),
    "pool_size": (3, 4, 5),
    "synchronous": ("full", "normal", "full"),
    "audit_memories": (3, 4, 5),
    "preset": ("semantic", "keyword", "hybrid"),
    "presets": ({"a": {"base": "hybrid"}}, {"a": {"base": "recall"}}, {"a": {"base": "notes"}}),
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
    lines = [f"{name} = {_as_toml(value)}\n" for name, value in values.items()]
    Path(TOML_FILE).write_text("".join(lines), encoding="utf-8")


def _as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_as_toml(each)}" for name, each in value.items()) + "}"
    return repr(value)


def value_of(name, given=None):
    """The setting in force, a secret revealed."""
    value = getattr(load(given), name)
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def test_every_setting_is_tried_here():
    assert sorted(VALUES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_caller_wins_over_the_environment_that_over_the_file_and_that_over_the_default(name, monkeypatch):
    called, exported, written = VALUES[name]
    default = value_of(name)
    write_toml(**{name: written})
    assert value_of(name) == written
    as_text = json.dumps(exported) if isinstance(exported, dict) else str(exported)
    monkeypatch.setenv(f"{ENV_PREFIX}{name.upper()}", as_text)
    assert value_of(name) == exported
    assert value_of(name, {name: called}) == called
    monkeypatch.delenv(f"{ENV_PREFIX}{name.upper()}")
    Path(TOML_FILE).unlink()
    assert value_of(name) == default


def test_each_source_speaks_for_the_settings_it_names_alone(monkeypatch):
    write_toml(limit=3, tenant="file", preset="keyword")
    monkeypatch.setenv("ENGRAIN_TENANT", "environment")
    monkeypatch.setenv("ENGRAIN_PRESET", "hybrid")
    settings = load({"preset": "semantic"})
    assert (settings.limit, settings.tenant, settings.preset) == (3, "environment", "semantic")
    assert settings.agent == "assistant"


def test_rankings_of_every_source_are_there_together(monkeypatch):
    write_toml(presets={"a": {"base": "notes", "weights": {"keyword": 2}}})
    monkeypatch.setenv("ENGRAIN_PRESETS", '{"b": {}, "a": {"base": "recall"}}')
    assert load({"presets": {"c": {}}}).presets == {
        "a": {"base": "recall", "weights": {"keyword": 2}},
        "b": {},
        "c": {},
    }


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


class TestSecrets:
    KEY = "sk-9d31c0"

    @pytest.mark.parametrize("name", ["embedding_key", "rerank_key"])
    def test_a_key_is_in_nothing_that_settings_are_shown_by(self, name):
        settings = load({name: self.KEY})
        assert getattr(settings, name).get_secret_value() == self.KEY
        shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump(mode='json')} "
        assert self.KEY not in shown + settings.model_dump_json()

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("embedding_key", ["sk-9d31c0"], "setting embedding_key: Input should be a valid string"),
            ("rerank_key", {"key": "sk-9d31c0"}, "setting rerank_key: Input should be a valid string"),
            ("embedding_url", "https://me:sk-9d31c0@host/v1", "setting embedding_url: .*has no user, password"),
            ("embedding_url", "https://host/v1?key=sk-9d31c0", "setting embedding_url: .*has a setting of its own"),
            ("rerank_url", "https://host/v1#sk-9d31c0", "setting rerank_url: .*has no user"),
            ("rerank_url", "sk-9d31c0", r"setting rerank_url: .*an address is http\(s\)://host"),
        ],
    )
    def test_nor_in_the_error_about_a_wrong_value_or_in_what_caused_it(self, name, value, message):
        with pytest.raises(InvalidInput, match=message) as refused:
            load({name: value})
        error = refused.value
        while error is not None:
            assert self.KEY not in str(error)
            error = error.__cause__ or error.__context__

    @pytest.mark.parametrize(
        "url", ["localhost:8080", "ftp://host", "http://", "http:///v1", "http://h ost", "http://ü"]
    )
    def test_what_is_no_address_is_refused(self, url):
        with pytest.raises(InvalidInput, match=r"setting embedding_url: .*an address is"):
            load({"embedding_url": url})

    @pytest.mark.parametrize(
        ("spec", "variable"),
        [("openai:m", "OPENAI_API_KEY"), ("openai", "OPENAI_API_KEY"), ("cohere:m", "COHERE_API_KEY")],
    )
    def test_a_providers_variable_opens_the_providers_own_address_and_no_other(self, spec, variable, monkeypatch):
        monkeypatch.setenv(variable, self.KEY)
        own = SecretStr("own")
        assert key_for(spec, url=None, key=None).get_secret_value() == self.KEY
        assert key_for(spec, url=None, key=own) is own
        assert key_for(spec, url="http://elsewhere", key=None) is None
        assert key_for(spec, url="http://elsewhere", key=own) is own
        assert key_for("minilm", url=None, key=None) is None
        monkeypatch.setenv(variable, "")
        assert key_for(spec, url=None, key=None) is None
