"""Scopes: who sees a memory, as one text: an audience among the agents, and the end user whose memory it is, if any.

`global`, an agent's name and `pool:NAME` are audiences. The memories of a user stand apart from everybody's, in the
scopes `user:NAME` (every agent that acts for the user) and `user:NAME/AUDIENCE`. Both walls are this one text: what is
compared, indexed or locked by scope never mixes two users.
"""

from __future__ import annotations

GLOBAL_SCOPE = "global"
USER_SCOPE = "user"  # as an argument: global among the agents that act for the caller's user

_USER = "user:"
# The user ends at the first slash; as SQL decodes it, in the revision mem_004.
_ESCAPES = (("%", "%25"), ("/", "%2F"))


def user_scope(user: str | None, audience: str) -> str:
    """Scope of the memories of a user for an audience; without a user the audience itself."""
    if user is None:
        return audience
    for character, escape in _ESCAPES:
        user = user.replace(character, escape)
    return f"{_USER}{user}" if audience == GLOBAL_SCOPE else f"{_USER}{user}/{audience}"


def pool_scope(name: str) -> str:
    """Scope of the memories of a pool."""
    return f"pool:{name}"


def audience_of(scope: str) -> str:
    """Audience of a scope among the agents: global, an agent's name or a pool."""
    return (scope.partition("/")[2] or GLOBAL_SCOPE) if scope.startswith(_USER) else scope


def user_of(scope: str) -> str | None:
    """User whose memories a scope holds; None for those of no user."""
    if not scope.startswith(_USER):
        return None
    user = scope.removeprefix(_USER).partition("/")[0]
    for character, escape in reversed(_ESCAPES):
        user = user.replace(escape, character)
    return user


def is_reserved(name: str) -> bool:
    """True for a name that no agent may have, as it is the name of another scope."""
    return name == GLOBAL_SCOPE or name.startswith((_USER, "pool:"))


class Scoped:
    """A memory in a scope."""

    __slots__ = ()
    scope: str

    @property
    def user_id(self) -> str | None:
        """The end user whose memory it is; None for a memory of no user."""
        return user_of(self.scope)


class Registered:
    """An entry of a registry: the tenant's, or a user's."""

    __slots__ = ()
    user_id: str

    @property
    def scope(self) -> str:
        """The scope of those who see it."""
        return user_scope(self.user_id or None, GLOBAL_SCOPE)


class Reach:
    """A caller's scopes: an agent's, and those of the user that it acts for."""

    __slots__ = ()
    agent: str
    user: str | None
    is_user_bound: bool
    may_publish: bool
    pools: tuple[str, ...]

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes this agent sees inside its tenant: `global`, its own, those of its pools, and the same of its user."""
        own = (GLOBAL_SCOPE, self.agent)
        audiences = own if not self.pools else (*own, *(f"pool:{name}" for name in self.pools))
        return audiences if self.user is None else (*audiences, *self.written_scopes)

    @property
    def written_scopes(self) -> tuple[str, ...]:
        """The ones of `scopes` that hold memories of its user; without a user all of them."""
        audiences = (GLOBAL_SCOPE, self.agent, *(f"pool:{name}" for name in self.pools))
        return tuple(user_scope(self.user, audience) for audience in audiences)

    @property
    def learned_scopes(self) -> tuple[str, ...]:
        """A filter for what learning may change: acting for a user, what is this user's; else whatever it sees."""
        return () if self.user is None else self.written_scopes

    @property
    def own_scope(self) -> str:
        """The scope that this agent alone sees: acting for a user, that of this user."""
        return self.agent if self.user is None else user_scope(self.user, self.agent)

    @property
    def shared_scope(self) -> str:
        """The scope that every agent of the tenant sees, if it acts for the same user."""
        return user_scope(self.user, GLOBAL_SCOPE)

    def may_change(self, scope: str) -> bool:
        """True if it may change what a scope holds that it sees: what every agent reads needs the right to publish."""
        return scope != GLOBAL_SCOPE or self.may_publish

    @property
    def widest_scope(self) -> str:
        """The widest scope that it may write to: everybody's, that of the user it is bound to, or its own."""
        if self.is_user_bound:
            return self.shared_scope
        return GLOBAL_SCOPE if self.may_publish else self.own_scope

    @property
    def user_id(self) -> str:
        """The user as rows name it: empty for none."""
        return self.user or ""
