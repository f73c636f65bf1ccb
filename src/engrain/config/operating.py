"""Settings of what whoever runs a memory is told of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engrain.config.section import Section


class Monitoring(Section):
    """What a monitor is told."""

    timeout_s: float = Field(
        default=2.0, gt=0, le=60, description="How long the database has to answer before it counts as away"
    )
    embedding_lag_s: float = Field(
        default=300.0, gt=0, description="How long a memory may wait for its vector before readiness is degraded"
    )
    job_lag_s: float = Field(
        default=900.0, gt=0, description="How long a job may be due and not begun before readiness is degraded"
    )


class Logging(Section):
    """What a server writes on stderr about what it does."""

    format: Literal["text", "json"] = Field(default="text", description="One line of text, or one JSON object a line")
    level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None,
        description="From which weight on, each verb at info; unset: info, and warning for MCP on stdin and stdout",
    )
