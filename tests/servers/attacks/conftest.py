"""A served memory that somebody attacks with a valid key, on either database."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.service import Memory
from tests.support.asgi import serving
from tests.support.backups import DATABASES, memory_in

GZIP = {"Content-Type": "application/gzip"}


@dataclass(frozen=True)
class Attacked:
    """A memory behind HTTP, and requests with keys of it."""

    memory: Memory
    client: httpx2.Client

    def key(self, agent: str | None = None, *, tenant: str = "default", user: str | None = None) -> dict[str, str]:
        """The header of an admin's new key."""
        made = self.memory.keys.create(role="admin", agent=agent, tenant=tenant, user=user)
        return {"Authorization": f"Bearer {made.secret}"}

    def restore(self, file: Any, key: dict[str, str], **wish: Any) -> httpx2.Response:
        """The answer to a file that is sent to be restored."""
        return self.client.post("/v1/restore", content=file.read_bytes(), params=wish, headers={**key, **GZIP})

    def backup(self, file: Any, key: dict[str, str], **wish: Any) -> Any:
        """The file that a key is given."""
        answer = self.client.get("/v1/backup", params=wish, headers=key)
        assert answer.status_code == 200, answer.text
        file.write_bytes(answer.content)
        return file


@pytest.fixture(params=DATABASES)
def attacked(request, tmp_path) -> Iterator[Attacked]:
    with memory_in(request.param, tmp_path) as memory:
        app = create_app(memory, gate=Gate(memory, keys_required=True), mcp_profile="all")
        with serving(app) as url, httpx2.Client(base_url=url, timeout=120) as client:
            yield Attacked(memory, client)
