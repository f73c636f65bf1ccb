"""Uses the block in LlamaIndex's memory, on one database, given as argument."""

import asyncio
import sys

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as ChatMemory

from engrain import AsyncMemory, Memory
from engrain.integrations.llama_index import EngrainMemoryBlock

COFFEE = "I like strong coffee in the morning."
REFUSED = ("\0", "My key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


async def main(location):
    with Memory.open(location, settings={"privacy": {"secrets": "refuse"}}) as memory:
        block = EngrainMemoryBlock(memory=AsyncMemory(memory), agent="a", user="ana", priority=1)
        chat = ChatMemory.from_defaults(
            session_id="monday",
            token_limit=100,
            chat_history_token_ratio=0.3,
            token_flush_size=10,
            memory_blocks=[block],
            tokenizer_fn=str.split,
        )
        for number in range(6):
            said = COFFEE if number == 0 else f"Another thing, number {number}, that fills the short memory."
            await chat.aput_messages(
                [ChatMessage(role="user", content=said), ChatMessage(role="assistant", content="Ok.")]
            )
        memory.flush()
        turns = memory.agent("a", user="ana").episodes(session="monday").items
        assert COFFEE in {turn.content for turn in turns}
        await block.aput([ChatMessage(role="user", content=COFFEE)], session_id="monday")
        await block.aput([ChatMessage(role="tool", content="x"), ChatMessage(role="user", content=" ")])
        assert len(memory.agent("a", user="ana").episodes(session="monday").items) == len(turns)
        batch = [ChatMessage(role="user", content=said) for said in ("Before.", *REFUSED, "After.")]
        await EngrainMemoryBlock(memory=memory, agent="refused").aput(batch, session_id="s")
        stored = memory.agent("refused").episodes(session="s").items
        assert sorted(turn.content for turn in stored) == ["After.", "Before."]
        asked = [ChatMessage(role="user", content="What does she drink in the morning?")]
        told = await block.aget(asked, session_id="monday")
        assert COFFEE in told
        assert told.endswith("</memories>")  # marked as data
        count = memory.parts.count_tokens
        smaller = await block.atruncate(told, 10)
        assert smaller is None or count(smaller) <= count(told) - 10
        assert await block.atruncate(told, 100_000) is None
        ferry = "When does the ferry to the blue harbour leave?"
        memory.agent("two").observe("The ferry to the blue harbour leaves on Friday.")
        memory.agent("two").observe("The dentist is Doctor Jansen in Oak Street.")
        two = EngrainMemoryBlock(memory=memory, agent="two")
        first = await two.aget([ChatMessage(role="user", content=ferry)], session_id="one")
        await two.aget([ChatMessage(role="user", content="Who is the dentist?")], session_id="other")
        smaller = await two.atruncate(first, 5)
        assert "ferry" in smaller
        assert "dentist" not in smaller
        assert await block.aget([], session_id="monday") == ""
        other = EngrainMemoryBlock(memory=memory, agent="a", user="bo")
        assert COFFEE not in await other.aget(asked)
        messages = await chat.aget(input=asked[0].content)
        assert any(COFFEE in (message.content or "") for message in messages)
        block.close()  # which did not open it
        assert memory.agent("a").stats() is not None
    sys.stdout.write("ok\n")


asyncio.run(main(sys.argv[1]))
