"""Commands that give a model what is remembered; they change nothing but the count of references."""

from pathlib import Path
from typing import Annotated

import typer

from engrain.context.recipes import RECIPES
from engrain.errors import InvalidInput
from engrain.interfaces.cli.arguments import Query, one_of
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()

Session = Annotated[
    str | None, typer.Option("--session", metavar="NAME", help="The conversation going on: it is left out.")
]
RecipeName = Annotated[
    str | None,
    typer.Option("--recipe", metavar="NAME", help=f"How to make it (ENGRAIN_CONTEXT__RECIPE). {one_of(RECIPES)}"),
]
Recent = Annotated[
    int | None,
    typer.Option(
        "--recent", metavar="N", help="With so many of the newest episodes, 0-100 (ENGRAIN_CONTEXT__RECENT_EPISODES)."
    ),
]
Counter = Annotated[
    str | None,
    typer.Option(
        "--count",
        metavar="NAME",
        help="Count tokens as characters, wordpiece or tiktoken:ENCODING (ENGRAIN_CONTEXT__COUNT_TOKENS).",
    ),
]


@command(app, "context")
def context_block(
    invocation: Invocation,
    query: Query,
    *,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", help="Most tokens (ENGRAIN_CONTEXT__BUDGET_TOKENS)."),
    ] = None,
    session: Session = None,
    recipe: RecipeName = None,
    recent: Recent = None,
    count: Counter = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="With facts that hold no more, marked, behind those that do.")
    ] = False,
    no_dates: Annotated[bool, typer.Option("--no-dates", help="Without days and times.")] = False,
    sources: Annotated[bool, typer.Option("--sources", help="End each line with where it comes from.")] = False,
) -> None:
    """A Markdown block for a prompt.

    What is known, the rules, what was said and the latest reflection, the best for the query within a budget.
    """
    with invocation.memory() as memory:
        block = memory.agent(session=session).context(
            query,
            budget_tokens=budget,
            count_tokens=count,
            recipe=recipe,
            recent_episodes=recent,
            include_superseded=superseded,
            with_dates=not no_dates,
            with_sources=sources,
        )
        invocation.answer(block.to_dict(), block.text)
        invocation.degraded(block.degraded)


@command(app, "messages")
def messages(
    invocation: Invocation,
    asked: Annotated[str, typer.Argument(metavar="TEXT", help="What is asked now.")],
    *,
    system: Annotated[
        Path | None, typer.Option("--system", metavar="FILE", help="The system prompt, in a file of UTF-8.")
    ] = None,
    tools: Annotated[int, typer.Option("--tools", metavar="N", help="How many tools the model is told of.")] = 0,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="TOKENS", help="The model's window (ENGRAIN_CONTEXT__WINDOW_TOKENS)."),
    ] = None,
    session: Session = None,
    recipe: RecipeName = None,
    recent: Recent = None,
    count: Counter = None,
) -> None:
    """The messages of a chat that fit into a model's window.

    The system prompt, what is remembered, a summary of what did not fit, and what is asked.
    """
    prompt = "" if system is None else _read(system)
    with invocation.memory() as memory:
        made = memory.agent(session=session).messages(
            asked,
            system=prompt,
            tools=tools,
            window_tokens=window,
            count_tokens=count,
            recipe=recipe,
            recent_episodes=recent,
        )
        invocation.answer(made.to_dict(), "\n\n".join(f"[{each['role']}]\n{each['content']}" for each in made.messages))
        invocation.degraded(made.degraded)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no file of UTF-8 text: {error}; name one that is") from error
