"""Host that shows a conversation as it goes: what is said, and what the memory answers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.text.tokens import approximate_tokens

if TYPE_CHECKING:
    from bench.everyday.judging import Reply
    from bench.everyday.runner import Host
    from bench.everyday.script import Aspect, Step


class ShowingHost:
    """Host of another one, with a line on stdout for each step."""

    def __init__(self, host: Host) -> None:
        """Show what a host does."""
        self._host = host
        self.aspects: frozenset[Aspect] = host.aspects

    def store(self, step: Step) -> None:
        """Store a message, and show it."""
        self._host.store(step)
        print(f"{step.at:%Y-%m-%d %H:%M}  {step.speaker or step.role}: {step.text}")

    def ask(self, step: Step) -> Reply:
        """Ask, and show the first hit, the evidence and the tokens of the block."""
        reply = self._host.ask(step)
        first = reply.hits[0] if reply.hits and reply.evidence != "none" else "nothing"
        print(f"{step.at:%Y-%m-%d %H:%M}  ? {step.text}")
        print(f"{'':16}  -> {first} (evidence {reply.evidence}, block of {approximate_tokens(reply.block)} tokens)")
        return reply

    def perform(self, step: Step) -> Reply:
        """Do any other verb, and show it."""
        reply = self._host.perform(step)
        print(f"{step.at:%Y-%m-%d %H:%M}  {step.verb}: {step.text}")
        return reply
