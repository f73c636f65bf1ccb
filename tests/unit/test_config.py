import functools
import json
import os
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from engrain.config import (
    CONFIG_VARIABLE,
    ENV_DELIMITER,
    ENV_PREFIX,
    TOML_FILE,
    Settings,
    default_location,
    dotted_names,
    key_for,
    load,
)
from engrain.config.tree import Section, sections
from engrain.errors import InvalidInput

# For each setting three values that are not its default, to tell the sources apart; two where there are no more.
VALUES = {
    "db": ("a.db", "b.db", "c.db"),
    "tenant": ("a", "b", "c"),
    "agent": ("a", "b", "c"),
    "embedding.model": ("none", "openai:a", "openai:b"),
    "embedding.threads": (3, 4, 5),
    "embedding.wait_s": (0.5, 1.5, 2.5),
    "embedding.url": ("http://a/v1", "https://b", "http://c:80"),
    "embedding.key": ("a", "b", "c"),
    "embedding.dims": (3, 4, 5),
    "embedding.cache_entries": (0, 4, 5),
    "embedding.cache_ttl_s": (0.5, 1.5, 2.5),
    "reranking.model": ("cohere", "tei", "http:a"),
    "reranking.budget_s": (0.5, 1.5, 2.5),
    "reranking.url": ("http://a/v1", "https://b", "http://c:80"),
    "reranking.key": ("a", "b", "c"),
    "entities.name_finder": ("spacy", "spacy:a", "spacy:b"),
    "entities.link": ("fast", "off", "fast"),
    "storage.busy_timeout_s": (0.5, 1.5, 2.5),
    "storage.pool_size": (3, 4, 5),
    "storage.synchronous": ("full", "normal", "full"),
    "retrieval.preset": ("semantic", "keyword", "hybrid"),
    "retrieval.presets": ({"a": {"base": "hybrid"}}, {"a": {"base": "recall"}}, {"a": {"base": "notes"}}),
    "retrieval.limit": (3, 4, 5),
    "context.budget_tokens": (3, 4, 5),
    "decay.curve": ("steps", "exponential", "steps"),
    "decay.anchor": ("access", "confirmation", "access"),
    "decay.fading_below": (0.3, 0.4, 0.5),
    "decay.expired_below": (0.01, 0.02, 0.03),
    "cleanup.retention_days": (1.5, 2.5, 3.5),
    "cleanup.max_entries": (3, 4, 5),
    "notes.cache_entries": (0, 4, 5),
    "notes.cache_ttl_s": (0.5, 1.5, 2.5),
    "audit.memories": (3, 4, 5),
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """No settings but the test's own: an empty folder and no ENGRAIN_* in the environment."""
    monkeypatch.chdir(tmp_path)
    for variable in os.environ:
        if variable.upper().startswith(ENV_PREFIX):
            monkeypatch.delenv(variable)


def nested(name, value):
    """`{"a": {"b": value}}` for `a.b`."""
    return functools.reduce(lambda inner, part: {part: inner}, reversed(name.split(".")), value)


def variable_of(name):
    return ENV_PREFIX + name.upper().replace(".", ENV_DELIMITER)


def write_toml(text, path=TOML_FILE):
    Path(path).write_text(text, encoding="utf-8")


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {as_toml(each)}" for name, each in value.items()) + "}"
    return repr(value)


def value_of(name, given=None):
    """The setting in force, a secret revealed."""
    value = functools.reduce(getattr, name.split("."), load(given))
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def refusal(values=None, **options):
    with pytest.raises(InvalidInput) as refused:
        load(values, **options)
    return str(refused.value)


def test_every_setting_is_tried_here():
    assert list(VALUES) == dotted_names()


class TestSources:
    @pytest.mark.parametrize("name", VALUES)
    def test_the_caller_wins_over_the_environment_that_over_the_file_and_that_over_the_default(self, name, monkeypatch):
        called, exported, written = VALUES[name]
        default = value_of(name)
        write_toml(f"{name} = {as_toml(written)}\n")
        assert value_of(name) == written
        monkeypatch.setenv(variable_of(name), json.dumps(exported) if isinstance(exported, dict) else str(exported))
        assert value_of(name) == exported
        assert value_of(name, nested(name, called)) == called
        monkeypatch.delenv(variable_of(name))
        Path(TOML_FILE).unlink()
        assert value_of(name) == default

    def test_each_speaks_for_the_settings_it_names_alone(self, monkeypatch):
        write_toml("tenant = 'file'\n[retrieval]\nlimit = 3\npreset = 'keyword'\n[storage]\npool_size = 3\n")
        monkeypatch.setenv("ENGRAIN_TENANT", "environment")
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__PRESET", "hybrid")
        settings = load({"retrieval": {"preset": "semantic"}})
        assert (settings.retrieval.limit, settings.tenant, settings.retrieval.preset) == (3, "environment", "semantic")
        assert settings.storage.pool_size == 3
        assert (settings.agent, settings.storage.synchronous) == ("assistant", "normal")

    def test_rankings_of_every_source_are_there_together(self, monkeypatch):
        write_toml('[retrieval.presets.a]\nbase = "notes"\nweights = {keyword = 2}\n')
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__PRESETS", '{"b": {}, "a": {"base": "recall"}}')
        assert load({"retrieval": {"presets": {"c": {}}}}).retrieval.presets == {
            "a": {"base": "recall", "weights": {"keyword": 2}},
            "b": {},
            "c": {},
        }

    def test_variables_may_be_written_in_lower_case(self, monkeypatch):
        monkeypatch.setenv("engrain_retrieval__limit", "3")
        assert load().retrieval.limit == 3

    def test_a_variable_may_hold_a_section_as_json_and_a_more_exact_one_wins(self, monkeypatch):
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", '{"limit": 3, "preset": "keyword"}')
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "4")
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__PRESETS__MINE__BASE", "notes")
        assert load().retrieval.model_dump() == {
            "limit": 4,
            "preset": "keyword",
            "presets": {"mine": {"base": "notes"}},
        }

    def test_the_variables_of_the_test_suites_are_no_settings(self, monkeypatch):
        monkeypatch.setenv("ENGRAIN_TEST_POSTGRES", "postgresql://localhost/test")
        monkeypatch.setenv("ENGRAIN_TEST_REDIS", "redis://localhost")
        assert load() == load({})

    def test_reading_writes_nothing(self, tmp_path):
        mode = stat.S_IMODE(tmp_path.stat().st_mode)
        load()
        assert [*tmp_path.iterdir()] == []
        assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


class TestFiles:
    HOST = "[butler]\nname = 'helper'\n[modules.calendar]\nkey = 'k'\n[modules.memory]\nagent = 'helper'\n"
    HOST += "[modules.memory.retrieval]\nlimit = 7\n"

    def test_the_one_the_caller_names_is_read_alone_then_the_one_the_environment_names(self, monkeypatch):
        write_toml("tenant = 'here'\n[retrieval]\nlimit = 3\n")
        write_toml("[retrieval]\nlimit = 4\n", "exported.toml")
        write_toml("[retrieval]\nlimit = 5\n", "called.toml")
        assert load().retrieval.limit == 3
        monkeypatch.setenv(CONFIG_VARIABLE, "exported.toml")
        assert (load().retrieval.limit, load().tenant) == (4, "default")
        named = load(file=Path("called.toml"))
        assert (named.retrieval.limit, named.tenant) == (5, "default")

    @pytest.mark.parametrize("how", ["by the caller", "by the environment"])
    def test_a_hosts_table_is_read_and_the_rest_is_the_hosts(self, how, monkeypatch):
        write_toml(self.HOST, "butler.toml")
        if how == "by the environment":
            monkeypatch.setenv(CONFIG_VARIABLE, "butler.toml")
        settings = load(file="butler.toml" if how == "by the caller" else None)
        assert (settings.agent, settings.retrieval.limit) == ("helper", 7)

    def test_a_wrong_name_or_value_there_is_refused_with_table_and_file(self, tmp_path):
        write_toml(self.HOST + "limt = 3\n", "butler.toml")
        origin = f"[modules.memory] of {tmp_path / 'butler.toml'}"
        assert refusal(file="butler.toml") == (
            f"setting retrieval.limt, given by {origin}, is unknown; did you mean retrieval.limit?"
        )
        write_toml(self.HOST.replace("7", "'seven'"), "butler.toml")
        assert f"setting retrieval.limit = 'seven', given by {origin}: " in refusal(file="butler.toml")

    @pytest.mark.parametrize("text", ["[modules]\n", "[modules.memroy]\n", "modules = 3\n", "modules.memory = 3\n"])
    def test_a_host_without_a_table_of_ours_is_refused(self, text, tmp_path):
        write_toml(text, "butler.toml")
        said = f"{tmp_path / 'butler.toml'} is a host's file and has no table [modules.memory]; add one"
        assert refusal(file="butler.toml") == said

    def test_engrains_own_file_is_no_hosts(self):
        write_toml(self.HOST)
        assert refusal().startswith(f"setting butler, given by {Path(TOML_FILE).absolute()}, is unknown; ")

    def test_a_named_file_that_is_missing_is_refused(self, monkeypatch, tmp_path):
        said = f"{tmp_path / 'nowhere.toml'} cannot be read: No such file or directory; name a TOML file"
        assert refusal(file="nowhere.toml") == said
        monkeypatch.setenv(CONFIG_VARIABLE, "nowhere.toml")
        assert refusal() == said

    @pytest.mark.parametrize("content", [b"limit = ", b"db = '\xff'", b"db = 'a'\ndb = 'b'"])
    def test_what_is_not_toml_is_refused_with_its_path(self, content):
        Path(TOML_FILE).write_bytes(content)
        assert refusal().startswith(f"{Path.cwd() / TOML_FILE} is not TOML in UTF-8: ")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("retrieval.limt", "did you mean retrieval.limit?"),
            ("retrieval.Limit", "did you mean retrieval.limit?"),
            ("embedding.ulr", "did you mean embedding.url?"),
            ("embeding.url", "did you mean embedding?"),
            ("limit", "did you mean retrieval.limit?"),
            ("limt", "did you mean retrieval.limit?"),
            ("embedding_url", "did you mean embedding.url?"),
            ("decay_curve", "did you mean decay.curve?"),
            ("synchronous", "did you mean storage.synchronous?"),
            ("tenants", "did you mean tenant?"),
            ("colour", "known are: db, tenant, agent, embedding"),
            ("_env_file", "known are: db, tenant, agent, embedding"),
            ("notes.colour", "known are: cache_entries, cache_ttl_s"),
        ],
    )
    def test_an_unknown_one_is_refused_with_the_nearest(self, name, hint):
        unknown = name if name.split(".")[0] in sections() else name.split(".")[0]
        said = refusal(nested(name, "3"))
        assert said.startswith(f"setting {unknown}, given by the caller, is unknown; {hint}")

    @pytest.mark.parametrize("variable", ["ENGRAIN_RETRIEVAL__LIMT", "engrain_retrieval__limt"])
    def test_of_the_environment_too_by_its_variable(self, variable, monkeypatch):
        monkeypatch.setenv(variable, "3")
        said = f"setting retrieval.limt, given by {variable}, is unknown; did you mean retrieval.limit?"
        assert refusal() == said

    @pytest.mark.parametrize("name", ["", "_", "__", "EMBEDDING__", "EMBEDDING___URL", "COLOUR__URL"])
    def test_of_the_environment_too_where_it_is_hardly_a_name(self, name, monkeypatch):
        monkeypatch.setenv(f"ENGRAIN_{name}", "3")
        assert f"given by ENGRAIN_{name}, is unknown" in refusal()

    def test_of_a_section_in_a_variable_too(self, monkeypatch):
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", '{"limt": 3}')
        said = "setting retrieval.limt, given by ENGRAIN_RETRIEVAL, is unknown; did you mean retrieval.limit?"
        assert refusal() == said

    def test_of_the_file_too_by_its_path(self, tmp_path):
        write_toml("[retrieval]\nlimt = 3\n")
        said = f"setting retrieval.limt, given by {tmp_path / TOML_FILE}, is unknown; did you mean retrieval.limit?"
        assert refusal() == said

    def test_one_with_its_dot_is_shown_how_to_be_nested(self):
        said = refusal({"embedding.url": "http://a"})
        assert said.endswith("is unknown; write it within its section, as {'embedding': {'url': ...}}")

    @pytest.mark.parametrize("values", [[("limit", 3)], "limit", {1: 2}, {"retrieval": {1: 2}}])
    def test_what_is_no_mapping_of_names_is_refused(self, values):
        assert refusal(values).startswith("settings must be a mapping of names to values")

    def test_a_section_that_is_no_table_is_refused_by_whom_it_comes_from(self, monkeypatch, tmp_path):
        members = "a table of preset, presets, limit"
        assert refusal({"retrieval": "keyword"}) == f"setting retrieval, given by the caller, is {members}, not str"
        write_toml("retrieval = [3]\n")
        assert refusal() == f"setting retrieval, given by {tmp_path / TOML_FILE}, is {members}, not list"
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", "3")
        assert refusal() == f"setting retrieval, given by ENGRAIN_RETRIEVAL, is {members}, not int"
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", "keyword")
        assert refusal().startswith("setting retrieval, given by ENGRAIN_RETRIEVAL, is no JSON")


class TestValues:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("retrieval.limit", "many"),
            ("retrieval.limit", -1),
            ("retrieval.limit", 1_001),
            ("retrieval.limit", 2.5),
            ("retrieval.limit", True),
            ("embedding.threads", 0),
            ("embedding.wait_s", float("nan")),
            ("storage.busy_timeout_s", float("inf")),
            ("storage.busy_timeout_s", "long"),
            ("storage.synchronous", "off"),
            ("context.budget_tokens", None),
            ("retrieval.presets", ["a"]),
            ("db", 5),
            ("db", True),
            ("tenant", ["a"]),
        ],
    )
    def test_one_of_the_wrong_type_or_range_is_refused_by_name(self, name, value):
        assert refusal(nested(name, value)).startswith(f"setting {name} = {value!r}, given by the caller: ")

    def test_of_the_environment_or_the_file_too_and_says_what_is_allowed(self, monkeypatch, tmp_path):
        write_toml("[retrieval]\nlimit = 'many'\n[storage]\nsynchronous = 'full'\n")
        said = f"setting retrieval.limit = 'many', given by {tmp_path / TOML_FILE}: Input should be a valid integer"
        assert said in refusal()
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "1001")
        said = "setting retrieval.limit = '1001', given by ENGRAIN_RETRIEVAL__LIMIT: Input should be less than or equal"
        assert said in refusal()
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "5")
        monkeypatch.setenv("ENGRAIN_STORAGE__SYNCHRONOUS", "off")
        said = "setting storage.synchronous = 'off', given by ENGRAIN_STORAGE__SYNCHRONOUS: Input should be 'normal' or"
        assert said in refusal()

    def test_they_do_not_change(self):
        with pytest.raises(ValidationError, match="frozen"):
            load().tenant = "a"
        with pytest.raises(ValidationError, match="frozen"):
            load().retrieval.limit = 3

    def test_memory_lives_in_the_users_data_folder_unless_somebody_says_otherwise(self):
        assert load().db == str(default_location())
        assert default_location().is_absolute()
        assert default_location().parts[-2:] == ("engrain", "memory.db")

    def test_every_setting_and_section_is_described(self):
        fields = [field for name, field in Settings.model_fields.items() if name not in sections()]
        for section in sections().values():
            assert section.__doc__ != Section.__doc__
            assert section.__doc__.endswith(".")
            fields += section.model_fields.values()
        assert len(fields) == len(VALUES)
        assert all(field.description and field.description[0].isalpha() for field in fields)


class TestSecrets:
    KEY = "sk-9d31c0"

    @pytest.mark.parametrize("name", ["embedding.key", "reranking.key"])
    def test_a_key_is_in_nothing_that_settings_are_shown_by(self, name):
        settings = load(nested(name, self.KEY))
        assert functools.reduce(getattr, name.split("."), settings).get_secret_value() == self.KEY
        shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump(mode='json')} "
        assert self.KEY not in shown + settings.model_dump_json()

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("embedding.key", ["sk-9d31c0"], "setting embedding.key, given by the caller: Input should be a valid str"),
            ("reranking.key", {"key": "sk-9d31c0"}, "setting reranking.key, .*: Input should be a valid string"),
            ("embedding.url", "https://me:sk-9d31c0@host/v1", "setting embedding.url, .*has no user, password"),
            ("embedding.url", "https://host/v1?key=sk-9d31c0", "setting embedding.url, .*has a setting of its own"),
            ("embedding.url", {"https": "sk-9d31c0"}, "setting embedding.url, .*: Input should be a valid string"),
            ("reranking.url", "https://host/v1#sk-9d31c0", "setting reranking.url, .*has no user"),
            ("reranking.url", "sk-9d31c0", r"setting reranking.url, .*an address is http\(s\)://host"),
            ("db", ["postgresql://me:sk-9d31c0@host/db"], "setting db, given by the caller: Input should be a valid"),
            ("embedding", "sk-9d31c0", "setting embedding, given by the caller, is a table of model, .*, not str"),
        ],
    )
    def test_nor_in_the_error_about_a_wrong_value_or_in_what_caused_it(self, name, value, message):
        with pytest.raises(InvalidInput, match=message) as refused:
            load(nested(name, value))
        self.check_silence(refused.value)

    @pytest.mark.parametrize("text", ['{"key": "sk-9d31c0"', '["sk-9d31c0"]', '{"key": ["sk-9d31c0"]}'])
    def test_nor_in_the_error_about_a_variable(self, text, monkeypatch):
        monkeypatch.setenv("ENGRAIN_EMBEDDING", text)
        with pytest.raises(InvalidInput, match="given by ENGRAIN_EMBEDDING") as refused:
            load()
        self.check_silence(refused.value)

    def check_silence(self, error):
        while error is not None:
            assert self.KEY not in str(error)
            error = error.__cause__ or error.__context__

    @pytest.mark.parametrize(
        "url", ["localhost:8080", "ftp://host", "http://", "http:///v1", "http://h ost", "http://ü"]
    )
    def test_what_is_no_address_is_refused(self, url):
        with pytest.raises(InvalidInput, match=r"setting embedding.url, .*an address is"):
            load({"embedding": {"url": url}})

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
