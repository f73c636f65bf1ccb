import functools
import json
import os
import random
import re
import stat
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import pytest

from engrain.agent.wiring.engines import configured_embedder
from engrain.config import Effective, effective, key_for, load
from engrain.config.jobs import Schedules
from engrain.config.predecessors import DEFAULTS
from engrain.config.section import Secret, Section
from engrain.config.sources import CONFIG_VARIABLE, TOML_FILE
from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, Settings, default_location, fields, section
from engrain.config.trust import trust
from engrain.errors import InvalidInput

# For each setting that is no number three values that are not its default, to tell the sources apart; two of a pair.
WORDS = {
    "db": ("a.db", "b.db", "c.db"),
    "tenant": ("a", "b", "c"),
    "agent": ("a", "b", "c"),
    "defaults": ("butler", "layered", "butler"),
    "embedding.model": ("none", "openai:a", "openai:b"),
    "embedding.url": ("http://a/v1", "https://b", "http://c:80"),
    "embedding.key": ("a", "b", "c"),
    "reranking.model": ("cohere", "tei", "http:a"),
    "reranking.url": ("http://a/v1", "https://b", "http://c:80"),
    "reranking.key": ("a", "b", "c"),
    "llm.model": ("openai:a", "command", "pydantic-ai:b:c"),
    "llm.url": ("http://a/v1", "https://b", "http://c:80"),
    "llm.key": ("a", "b", "c"),
    "llm.command": (("a", "b c"), ("d",), ("e",)),
    "entities.name_finder": ("spacy", "spacy:a", "spacy:b"),
    "entities.link": ("fast", "off", "fast"),
    "storage.synchronous": ("full", "normal", "full"),
    "retrieval.preset": ("semantic", "keyword", "hybrid"),
    "retrieval.presets": ({"a": {"base": "hybrid"}}, {"a": {"base": "recall"}}, {"a": {"base": "notes"}}),
    "retrieval.max_limit": (30, 40, 50),
    "context.recipe": ("butler", "assistant", "butler"),
    "context.count_tokens": ("wordpiece", "tiktoken:a", "tiktoken:b"),
    "context.order": (["facts"], ["rules", "facts"], ["said"]),
    "storage.shards": tuple({"b": f"postgresql://{name}/m"} for name in "xyz"),
    "context.quotas": ({"facts": 0.2}, {"facts": 0.4}, {"facts": 0.5}),
    "backup.signing_key": ("a" * 32, "b" * 32, "c" * 32),
    "backup.signing_key_file": ("a", "b", "c"),
    "backup.passphrase": ("a" * 12, "b" * 12, "c" * 12),
    "backup.encryption_key_file": ("a", "b", "c"),
    "cleanup.tenants": ({"a": {"fact_days": 1.0}}, {"a": {"fact_days": 2.0}}, {"a": {"fact_days": 3.0}}),
    "decay.curve": ("steps", "exponential", "steps"),
    "user": ("a", "b", "c"),
    "key": ("a", "b", "c"),
    "hooks.enabled": (False, True, False),
    "handling.forget": ("do", "leave", "do"),
    "handling.remember": ("propose", "leave", "propose"),
    "privacy.secrets": ("refuse", "keep", "refuse"),
    "decay.anchor": ("access", "confirmation", "access"),
    "consolidation.scope": ("global", "agent", "global"),
    "consolidation.on_session_switch": (False, True, False),
    "summarization.strategy": ("simple", "map_reduce", "extractive"),
    "redis.url": ("redis://a", "redis://b", "redis://c"),
    "redis.prefix": ("a", "b", "c"),
    "server.host": ("127.0.0.2", "127.0.0.3", "127.0.0.4"),
    "server.publishing_role": ("writer", "admin", "writer"),
    "server.mem0": (True, False, True),
    "server.allowed_hosts": (("a.example",), ("b.example", "c.example"), ("*",)),
    "server.allowed_origins": (("https://a.example",), ("https://b.example",), ("https://c.example",)),
    "logging.format": ("json", "text", "json"),
    "logging.level": ("debug", "warning", "error"),
    "retrieval.timezone": ("Europe/Lisbon", "Asia/Tokyo", "America/New_York"),
    "jobs.timezone": ("Europe/Lisbon", "Asia/Tokyo", "America/New_York"),
    "jobs.backup_folder": ("a", "b", "c"),
    **{f"jobs.schedules.{name}": ("1 1 * * *", "2 1 1 * *", "") for name in Schedules.declared},
}


def numbers(field):
    """Three numbers that a setting accepts and that are not its default."""
    low = field.gt if field.ge is None else field.ge
    step = 0.1 if float in (field.annotation, *get_args(field.annotation)) else 1
    return tuple(low + count * step for count in range(1, 5) if low + count * step != field.default)[:3]


VALUES = {name: WORDS[name] if name in WORDS else numbers(field) for name, field in fields().items()}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, tmp_path_factory, monkeypatch):
    """No settings but the test's own: an empty folder, no trusted files and no ENGRAIN_* in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    for variable in os.environ:
        if variable.upper().startswith(ENV_PREFIX):
            monkeypatch.delenv(variable)


def nested(name, value):
    """`{"a": {"b": value}}` for `a.b`."""
    return functools.reduce(lambda inner, part: {part: inner}, reversed(name.split(".")), value)


def variable_of(name):
    return ENV_PREFIX + name.upper().replace(".", ENV_DELIMITER)


def write_toml(text, path=TOML_FILE):
    """A settings file that its user trusts."""
    Path(path).write_text(text, encoding="utf-8")
    trust(Path(path), text.encode())


def as_toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {as_toml(inner)}" for name, inner in value.items()) + "}"
    return repr(list(value) if isinstance(value, tuple) else value)


def value_of(name, given=None):
    """The setting in force, a secret revealed; of tables with sections what was given."""
    value = functools.reduce(getattr, name.split("."), load(given))
    if isinstance(value, dict):
        return {
            key: {part: given for part, given in vars(inner).items() if given is not None}
            if isinstance(inner, Section)
            else revealed(inner)
            for key, inner in value.items()
        }
    return revealed(value)


def revealed(value):
    return value.get_secret_value() if isinstance(value, Secret) else value


def refusal(values=None, **options):
    with pytest.raises(InvalidInput) as refused:
        load(values, **options)
    return str(refused.value)


def test_every_setting_is_tried_with_values_of_its_own():
    assert WORDS.keys() <= fields().keys()
    assert [name for name, values in VALUES.items() if len({str(value) for value in values}) < 2] == []


class TestSources:
    @pytest.mark.parametrize("name", VALUES)
    def test_the_caller_wins_over_the_environment_that_over_the_file_and_that_over_the_default(self, name, monkeypatch):
        called, exported, written = VALUES[name]
        default = value_of(name)
        write_toml(f"{name} = {as_toml(written)}\n")
        assert value_of(name) == written
        monkeypatch.setenv(
            variable_of(name), json.dumps(exported) if isinstance(exported, dict | list | tuple) else str(exported)
        )
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
        found = load().retrieval
        assert (found.limit, found.preset, found.presets) == (4, "keyword", {"mine": {"base": "notes"}})

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
        message = f"{tmp_path / 'butler.toml'} is a host's file and has no table [modules.memory]; add one"
        assert refusal(file="butler.toml") == message

    def test_engrains_own_file_is_no_hosts(self):
        write_toml(self.HOST)
        assert refusal().startswith(f"setting butler, given by {Path(TOML_FILE).absolute()}, is unknown; ")

    def test_a_named_file_that_is_missing_is_refused(self, monkeypatch, tmp_path):
        message = f"{tmp_path / 'nowhere.toml'} cannot be read: No such file or directory; name a TOML file"
        assert refusal(file="nowhere.toml") == message
        monkeypatch.setenv(CONFIG_VARIABLE, "nowhere.toml")
        assert refusal() == message

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
            ("colour", "known are: db, tenant, agent, user, key, defaults, embedding"),
            ("_env_file", "known are: db, tenant, agent, user, key, defaults, embedding"),
            ("notes.colour", "known are: cache_entries, cache_ttl_s"),
            ("retrieval.score_weights.relevence", "did you mean retrieval.score_weights.relevance?"),
            ("retrieval.score_weights.colour", "known are: relevance, importance, recency, confidence"),
            ("retrieval.budget_tokens", "did you mean context.budget_tokens?"),
            ("maturity.warning_harm", "did you mean maturity.warning_harms?"),
        ],
    )
    def test_an_unknown_one_is_refused_with_the_nearest(self, name, hint):
        unknown = name if section(Settings, name.split(".")[0]) else name.split(".")[0]
        message = refusal(nested(name, "3"))
        assert message.startswith(f"setting {unknown}, given by the caller, is unknown; {hint}")

    @pytest.mark.parametrize("variable", ["ENGRAIN_RETRIEVAL__LIMT", "engrain_retrieval__limt"])
    def test_of_the_environment_too_by_its_variable(self, variable, monkeypatch):
        monkeypatch.setenv(variable, "3")
        message = f"setting retrieval.limt, given by {variable}, is unknown; did you mean retrieval.limit?"
        assert refusal() == message

    @pytest.mark.parametrize("name", ["", "_", "__", "EMBEDDING__", "EMBEDDING___URL", "COLOUR__URL"])
    def test_of_the_environment_too_where_it_is_hardly_a_name(self, name, monkeypatch):
        monkeypatch.setenv(f"ENGRAIN_{name}", "3")
        assert f"given by ENGRAIN_{name}, is unknown" in refusal()

    def test_of_a_section_in_a_variable_too(self, monkeypatch):
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", '{"limt": 3}')
        message = "setting retrieval.limt, given by ENGRAIN_RETRIEVAL, is unknown; did you mean retrieval.limit?"
        assert refusal() == message

    def test_of_the_file_too_by_its_path(self, tmp_path):
        write_toml("[retrieval]\nlimt = 3\n")
        message = f"setting retrieval.limt, given by {tmp_path / TOML_FILE}, is unknown; did you mean retrieval.limit?"
        assert refusal() == message

    def test_one_with_its_dot_is_shown_how_to_be_nested(self):
        message = refusal({"embedding.url": "http://a"})
        assert message.endswith("is unknown; write it within its section, as {'embedding': {'url': ...}}")

    @pytest.mark.parametrize("values", [[("limit", 3)], "limit", {1: 2}, {"retrieval": {1: 2}}])
    def test_what_is_no_mapping_of_names_is_refused(self, values):
        assert refusal(values).startswith("settings must be a mapping of names to values")

    def test_a_section_that_is_no_table_is_refused_by_whom_it_comes_from(self, monkeypatch, tmp_path):
        members = "a table of preset, presets, score_weights, hybrid_weights, limit, max_limit, timezone"
        assert refusal({"retrieval": "keyword"}) == f"setting retrieval, given by the caller, is {members}, not str"
        write_toml("retrieval = [3]\n")
        assert refusal() == f"setting retrieval, given by {tmp_path / TOML_FILE}, is {members}, not list"
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", "3")
        assert refusal() == f"setting retrieval, given by ENGRAIN_RETRIEVAL, is {members}, not int"
        monkeypatch.setenv("ENGRAIN_RETRIEVAL", "keyword")
        assert refusal().startswith("setting retrieval, given by ENGRAIN_RETRIEVAL, is no JSON")

    @pytest.mark.parametrize(
        ("text", "hosts"),
        [
            ("memory.example.com", ("memory.example.com",)),
            ("a.example, b.example,", ("a.example", "b.example")),
            ('["a.example", "b.example"]', ("a.example", "b.example")),
            ("*", ("*",)),
            ("", ()),
        ],
    )
    def test_a_list_in_a_variable_is_words_or_json(self, monkeypatch, text, hosts):
        monkeypatch.setenv("ENGRAIN_SERVER__ALLOWED_HOSTS", text)
        assert load().server.allowed_hosts == hosts

    @pytest.mark.parametrize("text", ["ollama run llama3", '["ollama", "run"', "a.example b.example"])
    def test_words_without_a_comma_between_them_are_no_list(self, monkeypatch, text):
        monkeypatch.setenv("ENGRAIN_LLM__COMMAND", text)
        message = (
            'setting llm.command, given by ENGRAIN_LLM__COMMAND, is no list: write one,two, or as JSON ["one", "two"]'
        )
        assert refusal() == message


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
        text = f"setting retrieval.limit = 'many', given by {tmp_path / TOML_FILE}: Input should be a valid integer"
        assert text in refusal()
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "1001")
        text = "setting retrieval.limit = '1001', given by ENGRAIN_RETRIEVAL__LIMIT: Input should be less than or equal"
        assert text in refusal()
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "5")
        monkeypatch.setenv("ENGRAIN_STORAGE__SYNCHRONOUS", "off")
        message = (
            "setting storage.synchronous = 'off', given by ENGRAIN_STORAGE__SYNCHRONOUS: Input should be 'normal' or"
        )
        assert message in refusal()

    def test_they_do_not_change(self):
        with pytest.raises(AttributeError, match="frozen"):
            load().tenant = "a"
        with pytest.raises(AttributeError, match="frozen"):
            load().retrieval.limit = 3

    def test_memory_lives_in_the_users_data_folder_unless_somebody_says_otherwise(self):
        assert load().db == str(default_location())
        assert default_location().is_absolute()
        assert default_location().parts[-2:] == ("engrain", "memory.db")

    def test_every_setting_and_section_is_described(self):
        assert all(field.description and field.description[0].isalpha() for field in fields().values())
        described = {section_.__doc__ for section_ in Section.__subclasses__()}
        assert len(described) == len(Section.__subclasses__())
        assert all(section_ and section_.endswith(".") for section_ in described)

    def test_no_search_returns_more_than_one_may_ask_for(self, tmp_path, monkeypatch):
        write_toml("[retrieval]\nmax_limit = 100\n")
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "101")
        assert refusal() == (
            f"setting retrieval, given by ENGRAIN_RETRIEVAL__LIMIT, {tmp_path / TOML_FILE}: "
            "limit is 101, more than max_limit, which is 100"
        )

    def test_a_table_may_be_any_mapping(self):
        settings = load(MappingProxyType({"retrieval": MappingProxyType({"limit": 3})}))
        assert settings.retrieval.limit == 3


class TestPredecessors:
    """The names and the numbers of the systems that engrain takes over from."""

    BUTLER = "[butler]\nname = 'helper'\n[modules.memory]\n"

    @pytest.mark.req("B23.1")
    @pytest.mark.parametrize("how", ["by the caller", "in the host's file"])
    def test_a_butlers_defaults_have_a_name(self, how):
        write_toml(self.BUTLER + "defaults = 'butler'\n", "butler.toml")
        found = load({"defaults": "butler"}) if how == "by the caller" else load(file="butler.toml")
        assert found.context.budget_tokens == 3000
        assert found.retrieval.limit == 20
        assert found.retrieval.preset == "hybrid"
        assert found.retrieval.score_weights.to_dict() == {
            "relevance": 0.4,
            "importance": 0.3,
            "recency": 0.2,
            "confidence": 0.1,
        }
        assert found.episodes.ttl_days == 7

    @pytest.mark.req("B23.2")
    def test_a_butlers_table_means_what_it_meant(self):
        write_toml(
            self.BUTLER + "defaults = 'butler'\n[modules.memory.retrieval]\ncontext_token_budget = 1500\n"
            "default_limit = 7\ndefault_mode = 'semantic'\n"
            "[modules.memory.retrieval.score_weights]\nrelevance = 0.7\nimportance = 0.1\n",
            "butler.toml",
        )
        found = load(file="butler.toml")
        assert (found.context.budget_tokens, found.retrieval.limit, found.retrieval.preset) == (1500, 7, "semantic")
        assert list(found.retrieval.score_weights.to_dict().values()) == [0.7, 0.1, 0.2, 0.1]
        assert found.episodes.ttl_days == 7

    def test_whatever_else_is_said_wins_over_them(self, monkeypatch):
        write_toml("defaults = 'layered'\n[retrieval]\nlimit = 3\n")
        assert (load().retrieval.limit, load().retrieval.preset, load().storage.pool_size) == (3, "weighted", 10)
        monkeypatch.setenv("ENGRAIN_DEFAULTS", "butler")
        assert (load().retrieval.limit, load().retrieval.preset, load().storage.pool_size) == (3, "hybrid", 8)
        assert load({"defaults": "engrain"}).retrieval.preset == "engrain"

    @pytest.mark.parametrize("value", ["buttler", 3, ["butler"]])
    def test_others_defaults_are_not_known(self, value):
        message = f"setting defaults = {value!r}, given by the caller: Input should be 'engrain', 'butler' or 'layered'"
        assert refusal({"defaults": value}) == message

    @pytest.mark.parametrize(
        ("theirs", "ours", "name"),
        [
            ("context_token_budget", "[modules.memory.context]\nbudget_tokens = 5\n", "context.budget_tokens"),
            ("default_limit", "limit = 5\n", "retrieval.limit"),
            ("default_mode", "preset = 'keyword'\n", "retrieval.preset"),
        ],
    )
    def test_a_setting_under_both_names_is_refused(self, theirs, ours, name, tmp_path):
        write_toml(f"[modules.memory.retrieval]\n{theirs} = 4\n{ours}", "butler.toml")
        origin = f"[modules.memory] of {tmp_path / 'butler.toml'}"
        assert refusal(file="butler.toml") == (
            f"setting {name}, given by {origin}, is there as retrieval.{theirs} too; leave one out"
        )

    @pytest.mark.parametrize("text", ["retrieval = 3\n", "context = 3\nretrieval.context_token_budget = 5\n"])
    def test_what_is_no_table_there_is_refused_like_elsewhere(self, text):
        write_toml(f"[modules.memory]\n{text}", "butler.toml")
        assert re.search(
            "setting (retrieval|context), given by .* is a table of .*, not int", refusal(file="butler.toml")
        )

    def test_a_butlers_names_are_known_in_a_hosts_table_alone(self):
        write_toml("[retrieval]\ndefault_limit = 3\n")
        assert refusal().startswith("setting retrieval.default_limit, given by ")

    @pytest.mark.req("N18")
    def test_a_hosts_table_says_all_that_a_butler_configures(self):
        write_toml(
            """
            [modules.memory.embedding]
            model = "openai:text-embedding-3-large"
            dims = 256
            [modules.memory.episodes]
            ttl_days = 7
            [modules.memory.cleanup]
            max_entries = 500
            [modules.memory.decay]
            fading_below = 0.3
            expired_below = 0.1
            [modules.memory.maturity]
            established_successes = 4
            established_effectiveness = 0.5
            proven_successes = 10
            proven_effectiveness = 0.7
            proven_days = 14
            warning_harms = 2
            warning_effectiveness = 0.4
            [modules.memory.retrieval]
            preset = "hybrid"
            limit = 12
            score_weights = {relevance = 0.5, importance = 0.2}
            [modules.memory.context]
            budget_tokens = 2000
            """,
            "butler.toml",
        )
        settings = [
            setting for setting in effective(file="butler.toml") if setting.origin.startswith("[modules.memory] of ")
        ]
        assert {setting.name: setting.value for setting in settings} == {
            "embedding.model": "openai:text-embedding-3-large",
            "embedding.dims": 256,
            "episodes.ttl_days": 7.0,
            "cleanup.max_entries": 500,
            "decay.fading_below": 0.3,
            "decay.expired_below": 0.1,
            "maturity.established_successes": 4,
            "maturity.established_effectiveness": 0.5,
            "maturity.proven_successes": 10,
            "maturity.proven_effectiveness": 0.7,
            "maturity.proven_days": 14.0,
            "maturity.warning_harms": 2,
            "maturity.warning_effectiveness": 0.4,
            "retrieval.preset": "hybrid",
            "retrieval.limit": 12,
            "retrieval.score_weights.relevance": 0.5,
            "retrieval.score_weights.importance": 0.2,
            "context.budget_tokens": 2000,
        }

    @pytest.mark.req("G15")
    def test_the_layered_memorys_defaults_have_a_name(self):
        found = load({"defaults": "layered"})
        assert found.storage.pool_size == 10
        assert found.embedding.model == "openai:text-embedding-3-small"
        assert configured_embedder(found).dims == 1536
        assert (found.embedding.cache_entries, found.embedding.cache_ttl_s) == (10_000, 24 * 60 * 60)
        assert (found.retrieval.limit, found.retrieval.max_limit, found.retrieval.preset) == (20, 100, "weighted")
        assert found.retrieval.hybrid_weights.to_dict() == {"recency": 0.3, "similarity": 0.5, "importance": 0.2}
        assert found.episodes.ttl_days == 90

    def test_each_of_their_values_is_in_the_page_beside_engrains_own(self):
        """docs/settings.md tells who migrates what is different here."""
        page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
        rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and line.count(" | ") == 4]
        for name, values in DEFAULTS.items():
            table = rows[rows.index(next(row for row in rows if row[2:3] == [f"`{name}`"])) :]
            for setting, value in leaves(values):
                row = next(row for row in table if f"`{setting}`" in row[1])
                assert (row[2], row[3]) == (plain(value), plain(fields()[setting].default)), setting


def leaves(values, prefix=""):
    for name, value in values.items():
        yield from leaves(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]


def plain(value):
    """As a table says it: no fraction that is none."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float | int) else value


class TestEffective:
    def test_every_setting_says_who_gave_it(self, monkeypatch, tmp_path):
        write_toml("tenant = 'acme'\n[retrieval]\nlimit = 3\npresets.b = {}\n[embedding]\nkey = 'secret'\n")
        monkeypatch.setenv("ENGRAIN_RETRIEVAL__LIMIT", "4")
        given = {"agent": "ana", "defaults": "butler", "retrieval": {"presets": {"a": {}}}}
        found = effective(given)
        file = str(tmp_path / TOML_FILE)
        assert [setting for setting in found if setting.origin != "default"] == [
            Effective("tenant", "acme", file),
            Effective("agent", "ana", "the caller"),
            Effective("defaults", "butler", "the caller"),
            Effective("embedding.key", "set", file),
            Effective("episodes.ttl_days", 7.0, "the defaults of butler"),
            Effective("retrieval.preset", "hybrid", "the defaults of butler"),
            Effective("retrieval.presets", {"a": {}, "b": {}}, f"the caller, {file}"),
            Effective("retrieval.limit", 4, "ENGRAIN_RETRIEVAL__LIMIT"),
            Effective("context.recipe", "butler", "the defaults of butler"),
            Effective("context.budget_tokens", 3000, "the defaults of butler"),
        ]
        assert [setting.name for setting in found] == list(VALUES)
        assert Effective("reranking.key", "not set", "default") in found

    def test_it_is_what_is_in_force(self):
        settings = load({"retrieval": {"limit": 3}}).to_dict()
        for setting in effective({"retrieval": {"limit": 3}}):
            value = functools.reduce(lambda found, part: found[part], setting.name.split("."), settings)
            assert setting.value == value or (value, setting.value) == (None, "not set")


class TestSecrets:
    KEY = "sk-9d31c0"

    @pytest.mark.parametrize("name", ["embedding.key", "reranking.key"])
    def test_a_key_is_in_nothing_that_settings_are_shown_by(self, name):
        settings = load(nested(name, self.KEY))
        assert functools.reduce(getattr, name.split("."), settings).get_secret_value() == self.KEY
        shown = f"{settings!r} {settings} {settings.to_dict()}"
        assert self.KEY not in shown

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
        own = Secret("own")
        assert key_for(spec, url=None, key=None).get_secret_value() == self.KEY
        assert key_for(spec, url=None, key=own) is own
        assert key_for(spec, url="http://elsewhere", key=None) is None
        assert key_for(spec, url="http://elsewhere", key=own) is own
        assert key_for("minilm", url=None, key=None) is None
        monkeypatch.setenv(variable, "")
        assert key_for(spec, url=None, key=None) is None


class TestSchedules:
    @pytest.mark.req("Y07", "B32.1", "B32.2")
    def test_jobs_have_the_times_of_the_night_unless_others_are_set(self):
        schedules = load().jobs.schedules
        assert (schedules.enrichment, schedules.consolidation) == ("0 2 * * *", "0 3 * * *")
        assert (schedules.decay, schedules.reflection) == ("0 4 * * *", "0 3 * * 0")
        others = load({"jobs": {"schedules": {"decay": " */5  2 * * MON-FRI ", "cleanup": "  "}}}).jobs.schedules
        assert (others.decay, others.cleanup) == ("*/5 2 * * MON-FRI", "")

    @pytest.mark.req("G22")
    def test_a_cleanup_cron_of_the_layered_system_and_its_days_of_retention_are_understood(self):
        assert load({"defaults": "layered"}).jobs.schedules.cleanup == "0 3 * * *"
        assert load().jobs.retention_days == 90

    @pytest.mark.parametrize(
        "expression",
        [
            "61 * * * *",
            "0 4 * *",
            "0 0 4 * * *",
            "0 0 31 2 *",
            "every day",
            "@daily",
            "0 4 * * 8",
            "*/0 * * * *",
            "², * * * *",
        ],
    )
    def test_an_expression_that_is_none_is_refused_with_the_setting_itself_and_an_example(
        self, monkeypatch, expression
    ):
        monkeypatch.setenv("ENGRAIN_JOBS__SCHEDULES__DECAY", expression)
        with pytest.raises(InvalidInput) as refused:
            load()
        message = str(refused.value)
        assert message.startswith(
            f"setting jobs.schedules.decay = {expression!r}, given by ENGRAIN_JOBS__SCHEDULES__DECAY: "
        )
        assert "'0 4 * * *' for every day at 4, or '' for never" in message

    @pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "UTC+1:00\0"])
    def test_a_time_zone_that_nobody_knows_is_refused(self, zone):
        with pytest.raises(InvalidInput, match="no time zone of that name"):
            load({"jobs": {"timezone": zone}})

    def test_an_expression_of_any_characters_is_refused_or_fires(self):
        """Whatever the parser does with it, nothing but our own error comes out."""
        given = random.Random("expressions")
        for _ in range(3_000):
            fields_ = ["".join(given.choices("0123456789*/,-#L@WMONJA", k=given.randint(1, 5))) for _ in range(5)]
            try:
                load({"jobs": {"schedules": {"decay": " ".join(fields_)}}})
            except InvalidInput:
                continue
