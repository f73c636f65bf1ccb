"""What an agent asks: searches, and what is put before its prompt."""

from fastapi import Response

from engrain.agent import Agent
from engrain.domain.records import Answer
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("recall")


class Question(Body):
    """What is asked, and what narrows it."""

    query: words.Query
    limit: words.Limit = None
    preset: words.Preset = None
    kinds: words.Kinds = None
    scope: words.WithinScope = None
    sessions: words.Names = None
    exclude_sessions: words.ExcludeSessions = None
    roles: words.Roles = None
    speakers: words.Names = None
    subjects: words.Names = None
    tags: words.AllTags = None
    since: words.Since = None
    until: words.Until = None
    as_of: words.AsOf = None
    include_inactive: words.IncludeInactive = False
    min_confidence: words.MinConfidence = None
    deep: words.Deep = False
    neighbours: words.Neighbours = 0
    explain: words.Explain = False


@room.verb("POST", "/recall", Agent.recall, needs="reader", answers=Answer)
def recall(asked: Asked, body: Question) -> Response:
    """Find the best memories for a question, best first, each with the reasons for its place.

    `evidence` says whether the answer is there at all, `degraded` what the search had to do without.
    """
    return said(asked.agent().recall(**body.given()))
