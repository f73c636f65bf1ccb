"""Settings: the only reader of the environment and of engrain.toml."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from engrain.errors import InvalidInput

ENV_PREFIX = "ENGRAIN_"
TOML_FILE = "engrain.toml"
# Read by the test suites and the command line, and no settings of the library.
_OTHER_VARIABLES = frozenset({"ENGRAIN_TEST_POSTGRES", "ENGRAIN_TEST_REDIS"})

# Where services' own clients look for their keys.
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}


def default_location() -> Path:
    """Where the memory lives when nobody says: the user's data folder of the platform."""
    return Path(platformdirs.user_data_dir("engrain", appauthor=False)) / "memory.db"


class Settings(BaseSettings):
    """How engrain behaves. Values come from the caller, then `ENGRAIN_*`, then `engrain.toml` in the working folder."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, toml_file=TOML_FILE, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    db: str = Field(
        default_factory=lambda: str(default_location()), description="Path of the memory's file, or postgresql://..."
    )
    tenant: str = Field("default", description="The tenant of a caller that names none")
    agent: str = Field("assistant", description="The agent the command line speaks for")
    embedder: str = Field("minilm", description="provider:model of the embedder; none for keywords alone")
    embedding_threads: int = Field(2, ge=1, le=64, description="Threads the embedder computes with")
    embedding_wait_s: float = Field(
        2.0, ge=0, le=60, description="How long a search waits for the vectors of the newest memories"
    )
    embedding_url: str | None = Field(
        None, description="Base address of the service that embeds, where it is not the provider's own"
    )
    embedding_key: SecretStr | None = Field(None, description="The key of the service that embeds; never shown")
    embedding_dims: int | None = Field(
        None, ge=1, le=65_535, description="Length of the vectors to ask a model for that offers several"
    )
    embedding_cache_entries: int = Field(
        10_000, ge=0, le=10_000_000, description="How many vectors are kept in memory by their text; 0 for none"
    )
    embedding_cache_ttl_s: float = Field(86_400.0, gt=0, description="How long a vector is kept there")
    note_cache_entries: int = Field(
        1_000, ge=0, le=10_000_000, description="How many notes are kept in memory by their agent and key; 0 for none"
    )
    note_cache_ttl_s: float = Field(
        300.0, gt=0, description="How long a note is kept there; until then another process's change may go unseen"
    )
    reranker: str = Field("none", description="provider:model of the re-ranker of deep searches; none for no such")
    rerank_budget_s: float = Field(2.0, gt=0, le=600, description="How long a deep search waits for its re-ranker")
    rerank_url: str | None = Field(
        None, description="Base address of the service that re-ranks, where it is not the provider's own"
    )
    rerank_key: SecretStr | None = Field(None, description="The key of the service that re-ranks; never shown")
    name_finder: str = Field("none", description="provider:model of who finds names in texts; none for spelling alone")
    link_entities: Literal["off", "fast"] = Field(
        "off", description="fast notes whom each new memory mentions, by the spelling of names"
    )
    busy_timeout_s: float = Field(
        5.0, ge=0, le=600, description="How long a write waits for another process's, or a call for the server"
    )
    pool_size: int = Field(8, ge=1, le=1000, description="Connections to PostgreSQL at once")
    synchronous: Literal["normal", "full"] = Field(
        "normal", description="full also survives a power cut; normal survives the end of the process at any moment"
    )
    decay_curve: Literal["exponential", "steps"] = Field(
        "exponential", description="How confidence decays: by each fact's or rule's own rate, or in steps of age"
    )
    decay_anchor: Literal["confirmation", "access"] = Field(
        "confirmation", description="From when it decays: the last confirmation, or access for the last use as well"
    )
    decay_fading_below: float = Field(0.2, ge=0, le=1, description="Confidence below which a fact or rule fades")
    decay_expired_below: float = Field(0.05, ge=0, le=1, description="Confidence below which it expires")
    episode_retention_days: float = Field(
        0.0, ge=0, le=36_500, description="How many days a cleanup leaves an episode that has run out"
    )
    episode_max_entries: int = Field(
        10_000, ge=0, description="How many episodes of a tenant a cleanup leaves, of those it may remove"
    )
    audit_memories: int = Field(
        20_000, ge=1, le=1_000_000, description="How many memories an audit looks at: facts, rules, then episodes"
    )
    preset: str = Field("engrain", description="The ranking of a search that names none")
    presets: dict[str, Any] = Field({}, description="Rankings of your own, by name: base, weights, min_confidence")
    limit: int = Field(10, ge=0, le=1000, description="How many hits a search returns that asks for no number")
    budget_tokens: int = Field(1000, ge=0, description="The budget of a context block that names none")

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth_value(cls, value: object) -> object:
        """As given; pydantic would take `limit = true` for 1."""
        if isinstance(value, bool):
            raise ValueError("no setting is a truth value")  # noqa: TRY004  # pydantic collects ValueErrors alone
        return value

    @field_validator("embedding_url", "rerank_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        """As given; whatever could hold a secret is kept out of an address, so that it may be shown."""
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or not value.isascii() or " " in value:
            raise ValueError("an address is http(s)://host[:port][/path]")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("an address has no user, password, query or fragment; the key has a setting of its own")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # pydantic-settings names the parameters
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Caller, environment, file: the first that says something wins."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load(values: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force, `values` over the environment over engrain.toml.

    Raises:
        InvalidInput: an unknown name (with the nearest known one), or a value of the wrong type or range.
    """
    for variable in os.environ:
        name = variable.upper()  # pydantic-settings reads engrain_limit too
        if name.startswith(ENV_PREFIX) and name not in _OTHER_VARIABLES:
            _check_known(name.removeprefix(ENV_PREFIX).lower(), shown=variable)
    given = _known(values)
    try:
        return Settings(**given)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{Path(TOML_FILE).absolute()} is not TOML in UTF-8: {error}; correct it") from error
    except SettingsError as error:
        raise InvalidInput(f"{error}: a table in the environment is written as JSON") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            _check_known(name, shown=name)
        given_as = "" if name in _SECRET else f" = {first.get('input')!r:.80}"
        raise InvalidInput(f"setting {name}{given_as}: {first['msg']}") from error


def key_for(spec: str, *, url: str | None, key: SecretStr | None) -> SecretStr | None:
    """The key for an engine: the settings' own, else what its provider's variable holds (OPENAI_API_KEY and the like).

    That one is for the provider's own address, and goes to no other.
    """
    variable = _KEY_VARIABLES.get(spec.partition(":")[0])
    if key is not None or url is not None or variable is None:
        return key
    held = os.environ.get(variable)
    return SecretStr(held) if held else None


def _known(values: object) -> dict[str, Any]:
    """The caller's settings; pydantic-settings itself would pass over names such as _env_file."""
    if values is None:
        return {}
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise InvalidInput(f"settings must be a mapping of names to values, not {values!r:.80}")
    for name in values:
        _check_known(name, shown=name)
    return dict(values)


# What no message may quote; a rejected address may hold what it should not.
_SECRET = frozenset({"embedding_key", "embedding_url", "rerank_key", "rerank_url"})


def _check_known(name: str, *, shown: str) -> None:
    known = list(Settings.model_fields)
    if name not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(known)}"
        raise InvalidInput(f"setting {shown:.80} is unknown; {hint}")
