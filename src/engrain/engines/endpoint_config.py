"""Addresses and keys of models that are served over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engrain.domain.ports import SecretText


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """The address of a served model as the settings give it.

    Attributes:
        url: the base address of a service, in place of the provider's own.
        key: the API key.
    """

    url: str | None = None
    key: SecretText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointConfig:
    """The full address of one endpoint, its key, and the names of the settings that error messages point to."""

    url: str
    key: SecretText | None
    url_setting: str
    key_setting: str
    needs_key: bool
