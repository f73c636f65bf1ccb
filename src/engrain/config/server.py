"""Settings of a served memory: address, limits, monitoring and logging."""

from __future__ import annotations

from typing import Literal

from engrain.config.section import Section, setting


class Server(Section):
    """Address of the server, and limits of requests, connections and keys."""

    host: str = setting(
        default="127.0.0.1", description="Address it is served on; 0.0.0.0 is every one of the machine's"
    )
    port: int = setting(default=8765, ge=0, le=65_535, description="Port it is served on; 0 takes any free one")
    publishing_role: Literal["writer", "admin"] = setting(
        default="admin", description="Role with which the key of one agent may change what every agent reads"
    )
    mem0: bool = setting(default=False, description="Whether mem0's clients find their routes under `/mem0`")
    threads: int = setting(default=40, ge=1, le=1_000, description="How many requests are handled at once")
    max_requests: int = setting(
        default=128, ge=1, le=1_000_000, description="Open requests; more get 503 with Retry-After"
    )
    max_connections: int = setting(
        default=1_000, ge=1, le=1_000_000, description="Open connections; more get the same answer"
    )
    keep_alive_s: int = setting(default=15, ge=1, le=3_600, description="How long an idle connection stays open")
    shutdown_s: int = setting(default=20, ge=0, le=3_600, description="How long a stopping server waits for requests")
    rate_limit_per_minute: int = setting(
        default=6_000, ge=0, le=10_000_000, description="Requests of one key; 0 for no limit"
    )
    failures_per_minute: int = setting(
        default=30, ge=0, le=10_000_000, description="Wrong keys of one address; 0 for no limit"
    )
    max_body_bytes: int = setting(default=16_000_000, ge=1_000, le=1_000_000_000, description="Largest body")
    max_file_bytes: int = setting(
        default=1_000_000_000, ge=1_000, le=1_000_000_000_000, description="Largest file to restore or import"
    )
    body_timeout_s: float = setting(default=30.0, gt=0, le=3_600, description="How long a request may take to arrive")
    allowed_hosts: tuple[str, ...] = setting(
        default=(), description="Host names besides loopback and `host`; `*` for any"
    )
    allowed_origins: tuple[str, ...] = setting(default=(), description="Origins of web pages that may send requests")


class Monitoring(Section):
    """Limits of the readiness checks."""

    timeout_s: float = setting(default=2.0, gt=0, le=60, description="How long readiness waits for the database")
    embedding_lag_s: float = setting(default=300.0, gt=0, description="Wait for a vector that degrades readiness")
    job_lag_s: float = setting(default=900.0, gt=0, description="Wait of a due job that degrades readiness")


class Logging(Section):
    """Format and level of a server's log on stderr."""

    format: Literal["text", "json"] = setting(default="text", description="One line of text, or one JSON object a line")
    level: Literal["debug", "info", "warning", "error"] | None = setting(
        default=None,
        description="Lowest level; verbs are logged at info. Unset: info, and warning for MCP on stdin and stdout",
    )
