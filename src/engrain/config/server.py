"""Settings of a served memory: address, limits, monitoring and logging."""

from __future__ import annotations

from typing import Literal

from engrain.config.section import Section, setting


class Server(Section):
    """Address of the server, and limits of requests, connections and keys."""

    host: str = setting("127.0.0.1", "Address it is served on; 0.0.0.0 is every one of the machine's")
    port: int = setting(8765, "Port it is served on; 0 takes any free one", ge=0, le=65_535)
    publishing_role: Literal["writer", "admin"] = setting(
        "admin", "Role with which the key of one agent may change what every agent reads"
    )
    mem0: bool = setting(False, "Whether mem0's clients find their routes under `/mem0`")
    threads: int = setting(40, "How many requests are handled at once", ge=1, le=1_000)
    max_requests: int = setting(128, "Open requests; more get 503 with Retry-After", ge=1, le=1_000_000)
    max_connections: int = setting(1_000, "Open connections; more get the same answer", ge=1, le=1_000_000)
    keep_alive_s: int = setting(15, "How long an idle connection stays open", ge=1, le=3_600)
    shutdown_s: int = setting(20, "How long a stopping server waits for requests", ge=0, le=3_600)
    rate_limit_per_minute: int = setting(6_000, "Requests of one key; 0 for no limit", ge=0, le=10_000_000)
    failures_per_minute: int = setting(30, "Wrong keys of one address; 0 for no limit", ge=0, le=10_000_000)
    max_body_bytes: int = setting(16_000_000, "Largest body", ge=1_000, le=1_000_000_000)
    max_file_bytes: int = setting(1_000_000_000, "Largest file to restore or import", ge=1_000, le=1_000_000_000_000)
    body_timeout_s: float = setting(30.0, "How long a request may take to arrive", gt=0, le=3_600)
    allowed_hosts: tuple[str, ...] = setting((), "Host names besides loopback and `host`; `*` for any")
    allowed_origins: tuple[str, ...] = setting((), "Origins of web pages that may send requests")


class Monitoring(Section):
    """Limits of the readiness checks."""

    timeout_s: float = setting(2.0, "How long readiness waits for the database", gt=0, le=60)
    embedding_lag_s: float = setting(300.0, "Wait for a vector that degrades readiness", gt=0)
    job_lag_s: float = setting(900.0, "Wait of a due job that degrades readiness", gt=0)


class Logging(Section):
    """Format and level of a server's log on stderr."""

    format: Literal["text", "json"] = setting("text", "One line of text, or one JSON object a line")
    level: Literal["debug", "info", "warning", "error"] | None = setting(
        None, "Lowest level; verbs are logged at info. Unset: info, and warning for MCP on stdin and stdout"
    )
