"""Commands of keys: who may come over a network, for whom, and what each may do."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from engrain.domain.access.keys import ROLES, AccessKey
from engrain.errors import InvalidInput
from engrain.interfaces.cli import output
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.invocation import Invocation, command

keys = typer.Typer(help="Who may come over a network, for whom, and what each may do.")

_PERIOD = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


@command(keys, "create")
def create(
    invocation: Invocation,
    *,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=f"What it may do. {one_of(ROLES)}")],
    name: Annotated[str | None, typer.Option("--name", metavar="WORDS", help="What it is for.")] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="WHEN", help="30d, 12h, 2w or an ISO 8601 time; never if left out."),
    ] = None,
) -> None:
    """Make a key for --tenant, and there for --agent alone if one is named.

    The secret is shown once, on stdout, and kept nowhere.
    """
    with invocation.memory() as memory:
        created = memory.keys.create(
            role=role,
            tenant=invocation.tenant,
            agent=invocation.agent,
            name=name,
            expires_at=None if expires is None else until(expires, datetime.now(UTC)),
        )
    invocation.note(f"{_line(created.key)}\nKeep the secret now: nobody can show it again.")
    invocation.answer(created.to_dict(), created.secret)


@command(keys, "list")
def list_(invocation: Invocation) -> None:
    """The keys of a tenant, revoked and expired ones too; never a secret."""
    with invocation.memory() as memory:
        found = memory.keys.list(tenant=invocation.tenant)
        invocation.answer_list(found, "\n".join(map(_line, found)))


@command(keys, "revoke")
def revoke(
    invocation: Invocation,
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Id of a key, as keys list shows it.")],
) -> None:
    """Let a key open nothing from now on, on every server of this memory."""
    with invocation.memory() as memory:
        key = memory.keys.revoke(key_id, tenant=invocation.tenant)
        invocation.answer(key.to_dict(), _line(key))


def until(text: str, now: datetime) -> datetime | str:
    """The time that a period from now ends at; what is no period is left to be read as a time.

    Raises:
        InvalidInput: the period ends past the year 9999.
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None:
        return text
    try:
        return now + timedelta(hours=int(found[1]) * _HOURS[found[2]])
    except OverflowError as error:
        raise InvalidInput(f"a key that expires in {text} outlasts the calendar; leave --expires out") from error


def _line(key: AccessKey) -> str:
    ends = "" if key.expires_at is None else f", expires {key.expires_at:%Y-%m-%d %H:%M}"
    gone = "" if key.revoked_at is None else f", revoked {key.revoked_at:%Y-%m-%d %H:%M}"
    used = "never used" if key.last_used_at is None else f"used {key.last_used_at:%Y-%m-%d %H:%M}"
    named = "" if key.name is None else f" ({output.one_line(key.name)})"
    whom = f"tenant {key.tenant_id}, {'any agent' if key.agent is None else f'agent {key.agent}'}"
    return f"{key.id}  {key.role} of {whom}{named}: made {key.created_at:%Y-%m-%d}, {used}{ends}{gone}"
