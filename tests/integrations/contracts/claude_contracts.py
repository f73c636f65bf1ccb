"""Runs the SDK's conformance suite on one database, given as argument; each contract has an agent of its own."""

import asyncio
import itertools
import sys

from claude_agent_sdk.testing import run_session_store_conformance

from engrain import AsyncMemory, Memory
from engrain.integrations.claude_agent_sdk import EngrainSessionStore


async def main(location: str) -> None:
    """Run it with a memory and with an awaited one."""
    numbers = itertools.count()
    with Memory.open(location, embedder="none") as memory:
        for one in (memory, AsyncMemory(memory)):
            await run_session_store_conformance(
                lambda one=one: EngrainSessionStore(one, agent=f"agent {next(numbers)}")
            )
    sys.stdout.write(f"{next(numbers)} stores\n")


asyncio.run(main(sys.argv[1]))
