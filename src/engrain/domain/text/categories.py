"""Categories of notes and facts by their words: one of ten, with a confidence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from engrain.domain.text.analysis import stems, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CategoryName = Literal[
    "config", "code", "person", "project", "credential", "preference", "fact", "conversation", "task", "general"
]
CATEGORIES: tuple[CategoryName, ...] = get_args(CategoryName)
LEAST_CONFIDENCE = 0.1


def _phrases_of(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


# Words and phrases of a category, whatever their endings ("prefer" is also "prefers" and "preferred"). Of two equally
# likely categories the first one here wins: a credential is worth noticing.
KEYWORDS: Mapping[CategoryName, tuple[str, ...]] = {
    "credential": _phrases_of("""
        password, passphrase, passwd, credential, secret, token, api key, apikey, private key, ssh key, access
        key, signing key, login, oauth, bearer, pin code, recovery code, keychain, two factor, 2fa, mfa
    """),
    "config": _phrases_of("""
        config, configuration, settings, environment variable, env, port, timeout, parameter, flag, default value,
        toggle, yaml, toml, ini, endpoint, hostname, base url, log level, enable, disable, configure
    """),
    "code": _phrases_of("""
        code, function, method, class, variable, compiler, bug, refactor, regex, sdk, algorithm, stack trace,
        traceback, python, javascript, typescript, golang, sql, library, framework, def, git, commit, branch, pull
        request, unit test, snippet, script, repository, repo, docker, kubernetes
    """),
    "task": _phrases_of("""
        task, todo, deadline, due date, remind, reminder, assign, backlog, ticket, checklist, action item, follow
        up, need, next step, block, finish, complete
    """),
    "project": _phrases_of("""
        project, roadmap, milestone, sprint, release, launch, stakeholder, architecture, prototype, kickoff,
        version, product
    """),
    "preference": _phrases_of("""
        prefer, preference, favorite, favourite, like, love, hate, dislike, enjoy, rather, want, fan, allergic,
        style, always use, never use, theme, dark mode, light mode
    """),
    "person": _phrases_of("""
        person, name, birthday, born, wife, husband, spouse, partner, mother, father, sister, brother, daughter,
        son, friend, colleague, manager, boss, teammate, email, phone, contact, live, work, marry, married, age,
        family, doctor, teacher
    """),
    "conversation": _phrases_of("""
        conversation, discuss, discussion, chat, talk, said, told, ask, mention, meeting, call, agree, message,
        reply, thread, interview
    """),
    "fact": _phrases_of("""
        fact, definition, define, mean, known, capital, population, location, invent, discover, found, equal,
        measure, formula, statistics, according, history, consist
    """),
}
# The key of a note says more about its category than any one word of its content.
_KEY_WEIGHT = 2.0
# Enough to categorize a text, and a bound on the work for one of megabytes.
_MOST_CHARACTERS = 20_000


class Category(NamedTuple):
    """Category of a memory; without any keyword `name` is general and `confidence`, in [0, 1], is 0."""

    name: CategoryName
    confidence: float


def categorize(key: str, content: str) -> Category:
    """The category with most keywords in a note's key and content.

    Its confidence is its share of all keywords that occur, times `1 - 2**-weight` for their number, and at least 0.1. A
    keyword counts once, twice as much in the key.
    """
    key_line, content_line = _line(key), _line(content)
    weights = {category: _weight(phrases, key_line, content_line) for category, phrases in _phrases().items()}
    best = max(weights, key=weights.__getitem__)  # the first of equals
    weight = weights[best]
    if weight == 0:
        return Category("general", 0.0)
    confidence = weight / sum(weights.values()) * (1 - 2.0**-weight)
    return Category(best, max(confidence, LEAST_CONFIDENCE))


def fact_category(predicate: str, content: str) -> str:
    """Category of a fact without one; "fact" where no keyword occurs."""
    category = categorize(predicate, content).name
    return "fact" if category == "general" else category


def _weight(phrases: Sequence[str], key: str, content: str) -> float:
    return sum(_KEY_WEIGHT if phrase in key else 1.0 for phrase in phrases if phrase in key or phrase in content)


def _line(text: str) -> str:
    """Stems in order, each between two spaces, so that a phrase matches as a whole."""
    return f" {' '.join(stems(words(text[:_MOST_CHARACTERS])))} "


@cache
def _phrases() -> Mapping[CategoryName, tuple[str, ...]]:
    return {
        category: tuple(dict.fromkeys(line for line in map(_line, keywords) if line.strip()))
        for category, keywords in KEYWORDS.items()
    }
