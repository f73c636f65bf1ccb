"""Rules: what worked and what did not."""

from http import HTTPStatus

from fastapi import Response

from engrain.agent.groups import Rules
from engrain.domain.memories.maturity import Application
from engrain.domain.pagination import Page
from engrain.domain.records import Rule
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import created, listed, said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("rules", "What worked and what did not, as guidance.", group="rules")


class NewRule(Body):
    """How to go about something."""

    content: words.Guidance
    scope: words.Scope = None
    source_episode_id: words.SourceEpisode = None
    tags: words.Tags = None
    metadata: words.Metadata = None


class Harm(Body):
    """What came of following a rule."""

    reason: words.Reason = None


@room.verb("POST", "/rules", Rules.add, needs="writer", answers=Rule, status=HTTPStatus.CREATED)
def add(asked: Asked, body: NewRule, idempotency_key: words.IdempotencyKey = None) -> Response:
    """Remember how to go about something: a candidate, until outcomes speak for or against it."""
    rule = asked.agent().rules.add(**body.given(), idempotency_key=idempotency_key)
    return created(rule, f"/v1/memories/{rule.id}")


@room.verb("POST", "/rules/{id}/mark_helpful", Rules.mark_helpful, needs="writer", answers=Rule)
def mark_helpful(asked: Asked, id_: words.RuleId) -> Response:
    """Say that following a rule helped: what often helps is established, and in time proven."""
    return said(asked.agent().rules.mark_helpful(id_))


@room.verb("POST", "/rules/{id}/mark_harmful", Rules.mark_harmful, needs="writer", answers=Rule)
def mark_harmful(asked: Asked, id_: words.RuleId, body: Harm) -> Response:
    """Say that following a rule did harm, which weighs as much as four helps, and why."""
    return said(asked.agent().rules.mark_harmful(id_, body.reason))


@room.verb("GET", "/rules/{id}/applications", Rules.applications, needs="reader", answers=Page[Application])
def applications(asked: Asked, id_: words.RuleId, limit: words.PageLimit = 100, after: words.After = None) -> Response:
    """List how a rule fared each time somebody marked it, newest first; none where there is no such rule."""
    found = asked.agent().rules.applications(id_, limit=limit, after=after)
    return listed(found)
