"""Names of tools that a team uses: it moves to PostgreSQL, and nobody lives there. Pure."""

from __future__ import annotations

import re
from typing import Final

from engrain.domain.text.analysis import words

_TOOLS: Final = frozenset(
    """
    airflow angular ansible asana azure bazel bitbucket buildkite cargo celery chrome circleci claude clickhouse
    cloudflare codex confluence cursor datadog debian dbt django docker elasticsearch excel figma firefox flask
    flutter gemini git gitea gradle grafana grpc hetzner heroku java jenkins jest jira kafka kotlin kubernetes
    linear linux macos maven meet miro mongo mysql nginx nix nomad notion outlook pandas podman poetry postgres
    prometheus pulumi pytest python rabbitmq rails react redis redshift ruby rust sentry signal slack snowflake
    spark sqlite stripe svelte swift teams terraform travis trello typescript ubuntu vault vercel vite vue
    webpack wikis windows xcode zendesk zoom zulip
    """.split()
)
_LOOKS_LIKE_TOOL = re.compile(r"\b(?!Mac|Mc|De|La|Le|Fitz)[A-Z]\w*[a-z][A-Z]|\d\.\d|\w\.(?:js|io|ai|dev)\b")


def names_tool(value: str) -> bool:
    """True for the name of a common tool, and for one with a capital inside or a version: "GitHub", "Go 1.22"."""
    return _LOOKS_LIKE_TOOL.search(value) is not None or not _TOOLS.isdisjoint(words(value)[:1])
