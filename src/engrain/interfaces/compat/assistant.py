"""The profile `assistant`: the six tools that a conversation needs, which answer lines of text."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from engrain.agent.agent import Agent
from engrain.agent.compat import correct_memory, facts_about_user, remember_statement, texts_that_name, token_counter
from engrain.context.excerpts import ELLIPSIS, clip
from engrain.domain.memories.fact_keys import project_of
from engrain.domain.records import Degraded, Episode, Fact, MemoryRecord, Repeats, Rule, format_time
from engrain.domain.text.prompt_safety import flatten
from engrain.errors import EngrainError, NotFound
from engrain.interfaces.mcp.identity import Identity
from engrain.interfaces.mcp.results import reason_texts
from engrain.interfaces.mcp.tools import READS, REMOVES, REPLACES, ToolDefinition, catch_not_found

LINE_TOKENS = 60
_HEAD_TOKENS = 35  # of a UUID and a date by word pieces, on average; a counter of characters makes them 12
_PROJECT_CHARACTERS = 40
_HITS = 10
_MOST_FACTS = 40
_USER = "user"
_WITHOUT_SUBJECT = "Statements that may be about anybody:"

Detail = Annotated[bool, Field(description="Whole texts, and more about each.")]
MemoryId = Annotated[str, Field(description="Id that an answer gave.")]


def search(
    agent: Agent, query: Annotated[str, Field(description="A question or a topic.")], *, detail: Detail = False
) -> str:
    """Search what earlier conversations told: at most ten memories, best first, each with its id and date."""
    answer = agent.recall(query, limit=_HITS)
    lines = [_line(agent, hit.memory, query, detail=detail, repeats=hit.repeats) for hit in answer]
    evidence = [] if answer.evidence is None or not lines else [f"Evidence: {answer.evidence}."]
    return _text([*evidence, *(lines or ["Nothing is remembered of this."]), *_notes(answer.degraded)])


def remember(
    identity: Identity,
    content: Annotated[str, Field(description="One statement that stands alone, or the value of the predicate.")],
    *,
    subject: Annotated[str | None, Field(description="Whom a fact is about, such as: user.")] = None,
    predicate: Annotated[str | None, Field(description="What it says, such as: lives in.")] = None,
) -> str:
    """Remember what will matter later: a statement, or a fact, which takes the place of what was true before."""
    agent = identity.agent()
    stored, said = (
        _remember(agent, content, identity.project)
        if predicate is None and subject is None
        else (_state(agent, content, subject, predicate, project=identity.project), None)
    )
    replaced = agent.get(stored.supersedes_id) if isinstance(stored, Fact) and stored.supersedes_id else None
    lines = [f"Remembered {_line(agent, stored, '')}"]
    lines += [] if replaced is None else [f"It replaces {_line(agent, replaced, '')}"]
    return _text([*lines, *([] if said is None else [f"All of it is {_line(agent, said, '')}"])])


def correct(
    agent: Agent,
    id: MemoryId,  # noqa: A002  # the name of an argument that a model sees
    content: Annotated[str, Field(description="What is true instead; of a fact only its value, such as: Milan.")],
) -> str:
    """Put what is true in the place of a memory that is wrong."""
    right = catch_not_found(lambda: correct_memory(agent, id, content))
    return _unknown(id) if right is None else f"Corrected: {_line(agent, right, '')}"


def forget(agent: Agent, ids: Annotated[list[str], Field(description="Ids that answers gave.")]) -> str:
    """Forget memories, as the user asks for it: no search finds them any more."""
    return _text([_forget(agent, id_, is_alone=len(ids) == 1) for id_ in ids], "No ids were given; search shows them.")


def profile(
    agent: Agent,
    name: Annotated[str, Field(description="A person, place, project or other thing.")] = _USER,
    *,
    detail: Detail = False,
) -> str:
    """List the facts about somebody or something; about the user, if no name is given."""
    whom = name.strip() or _USER
    facts, statements = facts_about_user(agent) if whom.casefold() == _USER else (_facts_about(agent, whom), [])
    room = max(0, _MOST_FACTS - len(facts))
    lines = [_line(agent, fact, "", detail=detail) for fact in facts[:_MOST_FACTS]]
    told = [_line(agent, fact, "", detail=detail) for fact in statements[:room]]
    lines += [_WITHOUT_SUBJECT, *told] if told else []
    more = ["There are more; search for them."] if len(facts) + len(statements) > _MOST_FACTS else []
    return _text([*lines, *more], f"No facts are known about {flatten(whom)!r:.80}; search may find what mentions it.")


def context(agent: Agent, prompt: Annotated[str, Field(description="The user's message.")]) -> str:
    """Get a block of what matters for a message of the user, to be read before it is answered."""
    block = agent.context(prompt)
    return _text([block.text.rstrip() or "Nothing is remembered.", *_notes(block.degraded)])


def _facts_about(agent: Agent, name: str) -> list[Fact]:
    """List the facts about somebody or something, and after them the texts that name it."""
    facts = list(agent.facts(name, limit=_MOST_FACTS + 1))
    known = {fact.id for fact in facts}
    return [*facts, *(text for text in texts_that_name(agent, name, _MOST_FACTS + 1) if text.id not in known)]


def _forget(agent: Agent, id_: str, *, is_alone: bool) -> str:
    """Forget a memory and say so; of several, a refusal is told of this one, and the others go."""
    try:
        return f"Forgot {_line(agent, agent.forget(id_), '')}"
    except NotFound:
        return _unknown(id_)
    except EngrainError as refusal:
        if is_alone:
            raise
        return f"Kept {flatten(id_):.80}: {flatten(str(refusal))}"


def _remember(agent: Agent, content: str, project: str | None) -> tuple[Fact | Rule, Episode | None]:
    """Remember a statement in words: a fact or a rule, where it says so, else a text that stands for itself.

    Words that say more than their fact are an episode, too, as `Agent.handle` keeps them.
    """
    routing = agent.route(content)
    tags = _tags(project, routing.subject)
    match routing.route:
        case "fact" if routing.is_part:
            said, fact = remember_statement(agent, routing, content, tags=tags)
            return fact, said
        case "fact":
            fact = agent.remember(routing.content, subject=routing.subject, predicate=routing.predicate, tags=tags)
            return fact, None
        case "rule":
            return agent.rules.add(routing.content, tags=tags), None
        case _:
            return agent.remember(content, tags=tags), None


def _state(agent: Agent, content: str, subject: str | None, predicate: str | None, *, project: str | None) -> Fact:
    about = _USER if subject is None else subject
    return agent.remember(content, subject=about, predicate=predicate, tags=_tags(project, about))


def _tags(project: str | None, subject: str | None) -> list[str]:
    """Return the tags of something that is remembered in a project: what is said of the user holds in every one."""
    return [project] if project is not None and project_of([project], subject=subject or "") else []


def _line(
    agent: Agent, memory: MemoryRecord, query: str, *, detail: bool = False, repeats: Repeats | None = None
) -> str:
    """Write a memory as one line: id, date and text; at most LINE_TOKENS where no details are asked for."""
    text = flatten(memory.statement)
    if isinstance(memory, Episode):
        text = f"{flatten(memory.speaker or memory.role)}: {text}"
    head = f"{memory.id} {memory.happened_at:%Y-%m-%d}"
    if detail:
        return f"{head} {text} ({', '.join(_details(memory, repeats))})"
    count, mark = token_counter(agent), _project_mark(memory)
    room = LINE_TOKENS - max(count(head), _HEAD_TOKENS + count(mark))

    def fits(part: str) -> bool:
        return count(part) <= room

    return f"{head}{mark} {text if fits(text) else clip(text, query, fits) or ELLIPSIS}"


def _project_mark(memory: MemoryRecord) -> str:
    """Write the end of the project that a memory is of, where it is of one."""
    project = flatten(project_of(memory.tags))
    shown = project if len(project) <= _PROJECT_CHARACTERS else ELLIPSIS + project[-_PROJECT_CHARACTERS:]
    return f" [{shown}]" if project else ""


def _details(memory: MemoryRecord, repeats: Repeats | None) -> Iterable[str]:
    """Name what a line leaves out: the kind, who said it in which session, how far it is believed, and since when."""
    yield memory.kind
    match memory:
        case Episode():
            yield f"at {format_time(memory.event_time)}"
            if memory.session:
                yield f"session {flatten(memory.session)}"
            if repeats is not None:
                yield str(repeats)
        case Fact():
            yield f"{memory.state}, confidence {memory.confidence:.2f}"
            if memory.valid_from is not None or memory.valid_to is not None:
                yield f"true from {format_time(memory.valid_from) or '?'} to {format_time(memory.valid_to) or 'now'}"
        case Rule():
            yield f"{memory.maturity}, confidence {memory.confidence:.2f}"
    if memory.tags:
        yield f"tags {flatten(', '.join(memory.tags))}"


def _notes(reasons: Sequence[Degraded]) -> list[str]:
    """Write what an answer had to do without, a line each."""
    return [f"Note: {flatten(reason)}" for reason in reason_texts(reasons)]


def _unknown(id_: str) -> str:
    return f"No memory has the id {flatten(id_)!r:.80}; search gives ids."


def _text(lines: Sequence[str], otherwise: str = "") -> str:
    return "\n".join(lines) or otherwise


TOOLS = (
    ToolDefinition(search, READS, answers_text=True),
    ToolDefinition(remember, REPLACES, answers_text=True),
    ToolDefinition(correct, REPLACES, answers_text=True),
    ToolDefinition(forget, REMOVES, answers_text=True),
    ToolDefinition(profile, READS, answers_text=True),
    ToolDefinition(context, READS, answers_text=True),
)
