"""What a user can choose in a client's menu: prompts made of the memory, as whoever asks sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from engrain.domain.records import Fact
from engrain.errors import NotFound
from engrain.interfaces.mcp.identity import Identity

_MOST_TURNS = 30
_MOST_FACTS = 50
_NOTHING = "(nothing yet)"


@dataclass(frozen=True, slots=True)
class Menu:
    """One prompt: its function's name is the prompt's, its docstring what a user is told."""

    call: Callable[..., str]
    title: str

    @property
    def name(self) -> str:
        return self.call.__name__


def recall_topic(
    who: Identity, topic: Annotated[str, Field(description="What to think of: a question, a name, a project.")]
) -> str:
    """Put what is remembered of a topic before the conversation goes on."""
    block = who.agent().context(topic)
    return (
        f"This is what is remembered about {topic!r}:\n\n{block.text or _NOTHING}\n\n"
        "Say in a few sentences what of it matters here, and what is missing. Do not add what is not there."
    )


def review_known(
    who: Identity, name: Annotated[str, Field(description="A person, place, project or other thing.")]
) -> str:
    """Go through what is known of somebody or something, so that it can be corrected."""
    facts = _facts_of(who, name)
    lines = "\n".join(
        f"- {each.predicate}: {each.content} (since {each.happened_at:%Y-%m-%d}, id {each.id})" for each in facts
    )
    return (
        f"This is what is known of {name!r}:\n\n{lines or _NOTHING}\n\n"
        "Go through it with me, one at a time: what no longer holds is corrected, what was never true is forgotten, "
        "what I confirm is confirmed, each by its id with the tools of the memory. Change nothing that I have not said."
    )


def remember_session(
    who: Identity,
    session: Annotated[str, Field(description="Name of the conversation; left out: the one that is going on.")] = "",
) -> str:
    """Keep at the end of a conversation what will matter in the next one."""
    agent = who.agent()
    turns = agent.consolidation.episodes(session, limit=_MOST_TURNS) if session else []
    said = "\n".join(f"- {each.speaker or each.role}: {each.content}" for each in turns)
    last = agent.latest_reflection()
    begins = f"This was said in {session!r}:\n\n{said or _NOTHING}" if session else "This conversation ends."
    return (
        f"{begins}\n\n"
        f"What you thought the last time you looked back:\n\n{_NOTHING if last is None else last.content}\n\n"
        "Find what will matter later: facts about people and projects, decisions, preferences, what worked and what "
        "did not. Look up each first; then store it with the tools of the memory, one statement at a time and in "
        "words that stand alone. Keep neither what is known already nor what was said in passing. End with a list of "
        "what you stored."
    )


def _facts_of(who: Identity, name: str) -> list[Fact]:
    """What is believed of an entity, or where the registry knows none, of a subject of that name."""
    agent = who.agent()
    try:
        known = agent.entities.profile(name).facts.values()
    except NotFound:
        return list(agent.facts(name, limit=_MOST_FACTS))
    return [each for facts in known for each in facts if each.validity == "active"][:_MOST_FACTS]


PROMPTS: Sequence[Menu] = (
    Menu(recall_topic, "Recall a topic"),
    Menu(review_known, "Review what is known"),
    Menu(remember_session, "Remember this conversation"),
)
