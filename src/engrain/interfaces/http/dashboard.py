"""What a dashboard shows, in one answer."""

from typing import Annotated

from fastapi import Query, Response

from engrain.agent import Agent
from engrain.agent.overviewing import MOST, MOST_DAYS
from engrain.domain.maintenance.overview import Overview
from engrain.interfaces.http.answers import said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room

room = Room("dashboard", "What an agent remembers, at a glance.")


@room.verb("GET", "/dashboard", Agent.overview, needs="reader", answers=Overview)
def overview(
    asked: Asked,
    days: Annotated[int, Query(ge=0, le=MOST_DAYS, description="How many days back, today included.")] = 30,
    limit: Annotated[int, Query(ge=0, le=MOST, description="How many of each at most.")] = 10,
) -> Response:
    """Show what the agent sees at a glance, all of one moment.

    Counts by state, what was done on each of the last days, the newest and the most referenced memories, whom most
    facts are about, runs, and what waits. Nothing counts as a reference.
    """
    return said(asked.agent().overview(days=days, limit=limit))
