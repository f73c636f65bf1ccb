"""Base classes of settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class WithoutTruthValues(BaseModel):
    """Settings that accept no booleans as numbers."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth_value(cls, value: object, info: ValidationInfo) -> object:
        """Refuse a boolean where none is expected; pydantic would take `limit = true` for 1."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("this setting is no truth value")
        return value


class Section(WithoutTruthValues):
    """One section: a table of the file, and a prefix of environment variables."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
