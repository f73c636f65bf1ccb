"""Pools: what some agents of a tenant share."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Response
from pydantic import Field

from engrain.agent.pools import Pools
from engrain.domain.access.pools import Pool, PoolSync
from engrain.domain.pagination import Page
from engrain.domain.records import Answer, MemoryRecord
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import created, listed, nothing, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("pools", "What some agents of a tenant share, and no others.", group="pools")


class NewPool(Body):
    """A pool, and who is in it besides the agent."""

    name: words.PoolName
    members: Annotated[list[str] | None, Field(description="Other agents of the tenant.", examples=[["coder"]])] = None
    metadata: words.Metadata = None


class PoolNamed(Body):
    """Which pool."""

    name: words.PoolName


class Membership(Body):
    """Who is in which pool."""

    name: words.PoolName
    member: words.Member


class ToContribute(Body):
    """What goes into which pool."""

    name: words.PoolName
    id: Annotated[str, Field(description="Id of a memory that the agent sees.")]


class PoolQuestion(Body):
    """What is asked of a pool."""

    name: words.PoolName
    query: words.Asked
    limit: words.Limit = None
    preset: words.Preset = None


@room.verb("POST", "/pools", Pools.create, needs="writer", answers=Pool, status=HTTPStatus.CREATED)
def create(asked: Asked, body: NewPool) -> Response:
    """Make a pool that the agent and others are in."""
    return created(asked.agent().pools.create(**body.given()))


@room.verb("GET", "/pools", Pools.list, needs="reader", answers=Page[Pool])
def list_(asked: Asked) -> Response:
    """List the pools the agent is in, by name."""
    return listed(asked.agent().pools.list())


@room.verb("POST", "/pools/add", Pools.add, needs="writer", answers=Pool)
def add(asked: Asked, body: Membership) -> Response:
    """Let another agent of the tenant in; it sees all that the pool holds, at once."""
    return said(asked.agent().pools.add(**body.given()))


@room.verb("POST", "/pools/remove", Pools.remove, needs="writer", answers=Pool)
def remove(asked: Asked, body: Membership) -> Response:
    """Take somebody out, or leave; the last member may not."""
    return said(asked.agent().pools.remove(**body.given()))


@room.verb("POST", "/pools/contribute", Pools.contribute, needs="writer", answers=MemoryRecord)
def contribute(asked: Asked, body: ToContribute) -> Response:
    """Put a copy of a memory into a pool, linked `derived_from` the original; twice is once."""
    return said(asked.agent().pools.contribute(body.name, body.id))


@room.verb("POST", "/pools/query", Pools.query, needs="reader", answers=Answer)
def query(asked: Asked, body: PoolQuestion) -> Response:
    """Find what a pool knows of a question, best first; nothing from elsewhere."""
    return said(asked.agent().pools.query(**body.given()))


@room.verb("POST", "/pools/sync_to_agent", Pools.sync_to_agent, needs="writer", answers=PoolSync)
def sync_to_agent(asked: Asked, body: PoolNamed) -> Response:
    """Copy what others put into a pool into the agent's own scope, where it stays when the agent leaves."""
    return said(asked.agent().pools.sync_to_agent(body.name))


@room.verb("POST", "/pools/delete", Pools.delete, needs="writer", answers=None, status=HTTPStatus.NO_CONTENT)
def delete(asked: Asked, body: PoolNamed) -> Response:
    """Remove a pool that holds nothing."""
    asked.agent().pools.delete(body.name)
    return nothing()
