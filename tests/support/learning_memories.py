"""Memories with a language model of known replies, on a clock that the test moves."""

import json

from engrain import Memory
from engrain.domain.runs.completions import Completion
from tests.support.clock import Clock

NOTHING = '{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": []}'


class LLM:
    """Gives its replies in order: a text, an error that is raised, or a function of the prompt."""

    name = "scripted"

    def __init__(self, replies):
        self.prompts = []
        self._replies = iter(replies)

    def complete(self, prompt, *, timeout_s):
        assert timeout_s > 0
        self.prompts.append(prompt)
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=reply(prompt) if callable(reply) else reply)


def opened(location, llm, *, clock=None, **consolidation):
    settings = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False, **consolidation}}
    return Memory.open(location, llm=llm, clock=clock or Clock(seconds=1), settings=settings)


def fact(subject, predicate, content, quote, episode="e1", **more):
    evidence = [{"episode": episode, "quote": quote}]
    return {"subject": subject, "predicate": predicate, "content": content, "evidence": evidence, **more}


def reply(*facts, **sections):
    return json.dumps({**json.loads(NOTHING), "new_facts": list(facts), **sections})
