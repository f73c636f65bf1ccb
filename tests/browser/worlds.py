"""A memory as the page meets it: versions of facts, turns, rules, other agents, and texts that want to be more."""

from datetime import UTC, datetime

from engrain import Memory
from tests.support.clock import Clock
from tests.support.learning_memories import LLM, fact, reply
from tests.support.poisoning_texts import TEXTS

SETTINGS = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False}}
MARKUP = (
    "<script>window.attacked = true</script>",
    "<img src=x onerror='window.attacked = true'>",
    "<svg onload=window.attacked=true><a xlink:href='javascript:window.attacked=true'>x</a></svg>",
    "<iframe srcdoc='<script>parent.attacked=true</script>'></iframe><object data=x></object>",
    "</h1></main><form action=https://evil.example><button onclick='window.attacked=true'>Sign in</button></form>",
    "<style>*{display:none}</style><link rel=stylesheet href=https://evil.example/x.css>",
    "javascript:window.attacked=true",
    "![x](https://evil.example/x.png) [click](javascript:window.attacked=true) **bold** `code`",
    "{{constructor.constructor('window.attacked=true')()}} ${window.attacked=true} <%= 1 %>",
    "&lt;b&gt;&amp;amp; &#x3C;script&#x3E; \u202ecod.exe\u202c \u200bhidden\u200b \ufeff",
    "\U000e0041\U000e0042 \u0338\u0338\u0338 Z\u0351\u036b\u0343\u036aA\u0344L\u0310G\u036fO",
    "\ufdfa \U0001d573\U0001d58a\U0001d591\U0001d594 \U0001f469\u200d\U0001f467 \u05e9\u05dc\u05d5 ' ` \\ / # % &",
    "a" * 3_000,
)


_MEETINGS = (
    "@Eva met @Frank in #Bergen.",
    "@Frank works for #Northwind now.",
    "#Northwind has an office in #Bergen.",
    "@Eva left #Northwind in June.",
)
_TALKS = {
    "bread": "I bake rye bread on Fridays, and I gave up on white flour.",
    "boat": "My boat is called Wanda and lies in Gdynia.",
}
_LEARNED = [
    reply(
        fact("Ben", "bakes", "rye bread on Fridays", "I bake rye bread on Fridays"),
        fact("Ben", "owns", "a mill", "I own a mill"),
        fact("Ben", "says <b>", "<script>window.attacked = true</script>", "I gave up on white flour"),
    ),
    reply(fact("Ben", "has a boat called", "Wanda", "My boat is called Wanda")),
]


_EMPLOYERS = ((0, "Acme", "2023-04-01"), (120, "Globex", "2025-05-15"), (240, "Initech", "2026-01-10"))


def fill(location):
    """Fill an empty memory; return what the tests of the page have to know of it."""
    _fill_past(location)
    with Memory.open(location, settings=SETTINGS, llm=LLM(_LEARNED)) as memory:
        agent = memory.agent("assistant")
        for number in range(120):
            agent.observe(
                f"This is turn {number} of a talk about gardens.", speaker="Ana", session=f"talk {number // 20}"
            )
        turn = agent.observe("I moved to Lisbon in May.", speaker="Ana", session="move")
        known = {"subject": "Ana", "predicate": "lives in", "source_episode_id": turn.id}
        agent.remember("Porto", valid_from="2021-01-01", **known)
        lisbon = agent.remember("Lisbon", valid_from="2026-05-01", **known)
        agent.remember("oat milk", subject="Ana", predicate="likes")
        agent.rules.add("Answer Ana in short sentences.")
        agent.entities.create(MARKUP[1])
        meetings = [agent.observe(said, speaker="Dana", session="meetings") for said in _MEETINGS]
        agent.entities.enrich([meeting.id for meeting in meetings], strategy="fast", publish=True)
        for number in range(12):
            agent.observe(f"The password is tulip-{number}-Zx81.", session="servers")
        texts = [*MARKUP, *(texts[0] for texts in TEXTS.values())]
        hostile = [agent.observe(text, session="hostile") for text in texts]
        hostile += [agent.remember(text, subject=text[:40], predicate="says <b>") for text in MARKUP[:4]]
        for user in ("tess", "uma"):
            memory.agent("assistant", user=user).observe(f"I am {user}.")
        memory.agent("gardener").observe("The roses want water.")
        for session, said in _TALKS.items():
            agent.observe(said, speaker="Ben", session=session)
            memory.consolidate(agent="assistant", session=session)
        keys = {
            "admin": memory.keys.create(role="admin").secret,
            "writer": memory.keys.create(role="writer", agent="assistant").secret,
            "reader": memory.keys.create(role="reader").secret,
        }
        return {
            "keys": keys,
            "ids": {"lisbon": lisbon.id},
            "markup": MARKUP[1],
            "hostile": [{"id": text.id, "content": text.content} for text in hostile],
            "count": 150 + len(hostile),
        }


def _fill_past(location):
    """Store whom Cleo worked for, as it was told in the course of a year."""
    clock = Clock(datetime(2025, 2, 1, tzinfo=UTC))
    with Memory.open(location, settings=SETTINGS, clock=clock) as memory:
        for days, employer, since in _EMPLOYERS:
            clock.pass_time(days=days)
            memory.agent("assistant").remember(employer, subject="Cleo", predicate="works at", valid_from=since)
