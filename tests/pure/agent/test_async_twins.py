"""Every verb of the facade has its awaited twin, and no twin stands for nothing."""

import inspect

import pytest

from engrain import aio
from engrain.agent.agent import Agent
from engrain.aio import Async, AsyncAgent, AsyncMemory
from engrain.service import Memory

TWINS = {cls.__name__.removeprefix("Async"): cls for cls in Async.__subclasses__()}


def public(cls):
    return {name for name in dir(cls) if not name.startswith("_")}


def wrapped_class(name):
    """The class that a twin wraps, of the same name."""
    return getattr(aio, name)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_the_members_of_its_class_and_no_others(name):
    internal = {"parts", "is_reembedding"}  # no verb, and a property that asks the database
    assert public(TWINS[name]) - {"wrapped"} == public(wrapped_class(name)) - internal


@pytest.mark.parametrize("name", TWINS)
def test_a_verb_is_awaited_with_the_signature_and_the_docstring_of_its_method(name):
    for verb, method in inspect.getmembers(wrapped_class(name), inspect.isfunction):
        if verb.startswith("_") or (name, verb) == ("Memory", "agent"):
            continue
        twin = getattr(TWINS[name], verb)
        assert inspect.iscoroutinefunction(twin), verb
        assert (inspect.signature(twin), twin.__doc__) == (inspect.signature(method), method.__doc__)


def test_views_are_made_without_waiting():
    assert inspect.signature(AsyncMemory.agent).parameters == inspect.signature(Memory.agent).parameters
    groups = {name for name in public(Agent) if isinstance(inspect.getattr_static(Agent, name), property)}
    assert all(isinstance(inspect.getattr_static(AsyncAgent, name), property) for name in groups)
