"""What a note or a fact is about, told by its words alone: one of ten categories, and how sure that is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CategoryName = Literal[
    "config", "code", "person", "project", "credential", "preference", "fact", "conversation", "task", "general"
]
CATEGORIES: tuple[CategoryName, ...] = get_args(CategoryName)
LEAST_CONFIDENCE = 0.1


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


# Words and phrases that speak for a category, whatever their endings ("prefer" is also "prefers" and "preferred").
# Where two categories are equally likely the one that stands first here wins: a credential is worth noticing.
KEYWORDS: Mapping[CategoryName, tuple[str, ...]] = {
    "credential": _listed("""
        password, passphrase, passwd, credential, secret, token, api key, apikey, private key, ssh key, access
        key, signing key, login, oauth, bearer, pin code, recovery code, keychain, two factor, 2fa, mfa
    """),
    "config": _listed("""
        config, configuration, settings, environment variable, env, port, timeout, parameter, flag, default value,
        toggle, yaml, toml, ini, endpoint, hostname, base url, log level, enable, disable, configure
    """),
    "code": _listed("""
        code, function, method, class, variable, compiler, bug, refactor, regex, sdk, algorithm, stack trace,
        traceback, python, javascript, typescript, golang, sql, library, framework, def, git, commit, branch, pull
        request, unit test, snippet, script, repository, repo, docker, kubernetes
    """),
    "task": _listed("""
        task, todo, deadline, due date, remind, reminder, assign, backlog, ticket, checklist, action item, follow
        up, need, next step, block, finish, complete
    """),
    "project": _listed("""
        project, roadmap, milestone, sprint, release, launch, stakeholder, architecture, prototype, kickoff,
        version, product
    """),
    "preference": _listed("""
        prefer, preference, favorite, favourite, like, love, hate, dislike, enjoy, rather, want, fan, allergic,
        style, always use, never use, theme, dark mode, light mode
    """),
    "person": _listed("""
        person, name, birthday, born, wife, husband, spouse, partner, mother, father, sister, brother, daughter,
        son, friend, colleague, manager, boss, teammate, email, phone, contact, live, work, marry, married, age,
        family, doctor, teacher
    """),
    "conversation": _listed("""
        conversation, discuss, discussion, chat, talk, said, told, ask, mention, meeting, call, agree, message,
        reply, thread, interview
    """),
    "fact": _listed("""
        fact, definition, define, mean, known, capital, population, location, invent, discover, found, equal,
        measure, formula, statistics, according, history, consist
    """),
}
# What a note is called says more about it than any one word of what it holds.
_KEY_WEIGHT = 2.0
# Enough to know what a text is about, and a bound on the work for one of megabytes.
_MOST_CHARACTERS = 20_000


class Category(NamedTuple):
    """What a memory is about; `confidence` in [0, 1] is 0 where no keyword spoke, and then `name` is general."""

    name: CategoryName
    confidence: float


def categorize(key: str, content: str) -> Category:
    """The category that most keywords of a note's key and content speak for.

    Its confidence is the share of what was found that speaks for it, times `1 - 2**-weight` for how much that is, and
    at least 0.1. A keyword counts once, twice as much in the key.
    """
    named, said = _line(key), _line(content)
    found = {category: _weight(phrases, named, said) for category, phrases in _phrases().items()}
    best = max(found, key=found.__getitem__)  # the first of equals
    weight = found[best]
    if weight == 0:
        return Category("general", 0.0)
    confidence = weight / sum(found.values()) * (1 - 2.0**-weight)
    return Category(best, max(confidence, LEAST_CONFIDENCE))


def fact_category(predicate: str, content: str) -> str:
    """The category of a fact that was given none; where no keyword speaks it is what it is, a fact."""
    found = categorize(predicate, content)
    return "fact" if found.name == "general" else found.name


def _weight(phrases: Sequence[str], named: str, said: str) -> float:
    return sum(_KEY_WEIGHT if phrase in named else 1.0 for phrase in phrases if phrase in named or phrase in said)


def _line(text: str) -> str:
    """Stems in order, each between two spaces, so that a phrase is found as a whole."""
    from engrain.domain.text.analysis import terms  # the stemmer is loaded by the first memory, not by `import engrain`

    return f" {' '.join(terms(text[:_MOST_CHARACTERS]))} "


@cache
def _phrases() -> Mapping[CategoryName, tuple[str, ...]]:
    return {
        category: tuple(dict.fromkeys(line for line in map(_line, keywords) if line.strip()))
        for category, keywords in KEYWORDS.items()
    }
