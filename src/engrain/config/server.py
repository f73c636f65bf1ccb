"""Settings of a memory that is served to others."""

from __future__ import annotations

from pydantic import Field

from engrain.config.section import Section


class Server(Section):
    """Where the memory is served, who is let in, and how much of each."""

    host: str = Field(default="127.0.0.1", description="Address it is served on; 0.0.0.0 is every one of the machine's")
    port: int = Field(default=8765, ge=0, le=65_535, description="Port it is served on; 0 takes any free one")
    mem0: bool = Field(default=False, description="Whether mem0's clients find their routes under `/mem0`")
    threads: int = Field(default=40, ge=1, le=1_000, description="How many requests are worked on at once")
    max_requests: int = Field(
        default=128,
        ge=1,
        le=1_000_000,
        description="How many requests may be there at once; more are told to come again",
    )
    max_connections: int = Field(
        default=1_000,
        ge=1,
        le=1_000_000,
        description="How many connections may be open at once; more are told likewise",
    )
    keep_alive_s: int = Field(
        default=15, ge=1, le=3_600, description="How long a connection stays open between two requests"
    )
    shutdown_s: int = Field(
        default=20, ge=0, le=3_600, description="How long a server that is to stop lets requests finish, at most"
    )
    rate_limit_per_minute: int = Field(
        default=6_000, ge=0, le=10_000_000, description="How many requests of one key are answered a minute; 0 for all"
    )
    failures_per_minute: int = Field(
        default=30, ge=0, le=10_000_000, description="How many wrong keys of one address are looked at a minute; 0: all"
    )
    max_body_bytes: int = Field(
        default=16_000_000, ge=1_000, le=1_000_000_000, description="How large the body of a request may be"
    )
    max_file_bytes: int = Field(
        default=1_000_000_000,
        ge=1_000,
        le=1_000_000_000_000,
        description="How large a file may be that is restored or imported",
    )
    body_timeout_s: float = Field(
        default=30.0, gt=0, le=3_600, description="How long a request may take to arrive, its body included"
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Names it is reached by besides the loopback's and its own; `*` for any"
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description="Web pages that may ask it from a browser, such as `https://app.example`"
    )
