"""Keys: who may come, for whom, and what each may do."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Response
from pydantic import Field

from engrain.agent.keys import Keys
from engrain.domain.access.keys import AccessKey, CreatedKey, Role
from engrain.domain.pagination import Page
from engrain.errors import NotFound
from engrain.interfaces.http.answers import created, listed, said
from engrain.interfaces.http.asking import Asked, Asking
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("keys", "Who may come, for whom, and what each may do.", group="keys")


class NewKey(Body):
    """Whom a key is for, and what it may do."""

    role: Annotated[Role, Field(description="reader reads, writer also writes memories, admin may do all.")]
    agent: Annotated[str | None, Field(description="The only agent it speaks for; any if left out.")] = None
    name: Annotated[str | None, Field(description="What it is for.", examples=["ci"])] = None
    expires_at: Annotated[str | None, Field(description="Until when it opens anything, ISO 8601.")] = None


@room.verb("POST", "/keys", Keys.create, needs="admin", answers=CreatedKey, status=HTTPStatus.CREATED)
def create(asked: Asked, body: NewKey) -> Response:
    """Make a key of the tenant. Its secret is in this answer and nowhere else."""
    whose = {**body.given(), "agent": asked.extent(body.agent)}
    return created(asked.memory.keys.create(tenant=asked.tenant, **whose))


@room.verb("GET", "/keys", Keys.list, needs="admin", answers=Page[AccessKey])
def list_(asked: Asked) -> Response:
    """List the keys of the tenant (of its agent, where the key names one), revoked and expired ones too."""
    return listed(_seen(asked))


@room.verb("POST", "/keys/{key_id}/revoke", Keys.revoke, needs="admin", answers=AccessKey)
def revoke(asked: Asked, key_id: Annotated[str, Path(description="Id of a key.")]) -> Response:
    """Let a key open nothing from now on. Twice is once."""
    if asked.grant.agent is not None and key_id not in [each.id for each in _seen(asked)]:
        raise NotFound(f"agent {asked.grant.agent!r:.80} has no key {key_id!r:.80}; keys.list shows those it has")
    return said(asked.memory.keys.revoke(key_id, tenant=asked.tenant))


def _seen(asked: Asking) -> list[AccessKey]:
    """The keys that whoever asks may know of: of an agent's own admin the agent's alone."""
    found = asked.memory.keys.list(tenant=asked.tenant)
    return [each for each in found if asked.grant.agent in (None, each.agent)]
