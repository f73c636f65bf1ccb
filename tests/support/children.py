"""Processes of their own for tests, with a memory each: one line of JSON on stdout for every step that is done.

`Child` starts one, talks to it and ends it.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import sys
import threading
import uuid
from datetime import UTC, datetime, timedelta
from subprocess import PIPE

import apsw
from psycopg.conninfo import conninfo_to_dict

from engrain import config
from engrain.domain.records import Caller, Fact
from engrain.domain.requests import Act
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.runs import Claim
from engrain.errors import MemoryClosed
from engrain.service import Memory
from engrain.storage import is_server, open_store
from engrain.storage.shards.moves import move_tenant
from tests.support.cutting_proxy import CuttingProxy
from tests.support.engines import HashEmbedder
from tests.support.forked import MEMORY, asked_for
from tests.support.processes import ROOT, Forked, without_settings
from tests.support.stores import open_verbs
from tests.support.write_kills import KillPoint, counted, writing_by

AGENT = "ana"
SETTINGS = {"embedding": {"wait_s": 60}}  # a busy machine is no reason to answer without vectors


def opened(path, *, vectors=True):
    return Memory(open_store(path), embedder=HashEmbedder() if vectors else None, settings=config.load(SETTINGS))


class Child:
    """A process at work on one job, over when the block is."""

    def __init__(self, job, *arguments):
        asked = asked_for(
            "tests.support.children:main",
            [job, *arguments],
            modules=["tests.support.children", "engrain.storage.postgres.backend", "tests.support.stores", *MEMORY],
            folder=ROOT,
            environment=without_settings(),
        )
        self._process = Forked(asked, stdin=PIPE, stdout=PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self._process.stdin.close()
        self._process.stdout.close()

    def told(self):
        """The next thing it says; None when it is gone. Half a line, of a process that was killed, says nothing."""
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def rest(self):
        """All it still says before it is gone."""
        return list(iter(self.told, None))

    def send(self, verb, **arguments):
        self._process.stdin.write(json.dumps([verb, arguments]).encode() + b"\n")
        self._process.stdin.flush()

    def go_on(self):
        """Let a child take its next step that waits for a line."""
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def ask(self, verb, **arguments):
        """What a `serve` child answers."""
        self.send(verb, **arguments)
        return self.told()

    def kill(self):
        self._process.kill()
        self._process.wait()

    def ended(self):
        """Its exit code, once it ends by itself."""
        return self._process.wait(120)


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def observe(path):
    """Turns of two sessions, forever."""
    agent = opened(path, vectors=False).agent(AGENT)
    for number in itertools.count(1):
        say(agent.observe(said(number), session=f"s{number % 2}", speaker=f"Speaker{number % 3}").to_dict())


def said(number):
    return f"turn word{number}x about apples{number % 7} and the harbour of town{number % 5}"


def remember(path):
    """Facts of five places, each superseding the one before, with a turn between them, forever."""
    agent = opened(path, vectors=False).agent(AGENT)
    for number in itertools.count(1):
        place = {"subject": f"Person{number % 5}", "predicate": "lives in"}
        say(agent.remember(f"City{number}x on the river", **place).to_dict())
        say(agent.observe(said(number), session="s").to_dict())


def steps(path, count):
    """Turns, facts and what is forgotten again, killed after so many steps of SQLite's programs."""
    die = fuse(count)
    apsw.connection_hooks.append(lambda connection: connection.set_progress_handler(die, 1))
    mixed(path)


def writes(path, count):
    """The same, killed after so many writes to the file and its log: within a commit, or a checkpoint."""
    die = fuse(count)
    with writing_by(lambda write, half=None: die() or write()):  # noqa: ARG005  # no write is torn
        mixed(path)


def upgrade(location, count, place=None):
    """A database brought to the newest schema, killed before a statement of its opening or after all of them.

    With a place, it is killed before or after a write call, or in the middle of it.
    """
    die = fuse(count)
    with contextlib.ExitStack() as stack:
        if place is not None:
            stack.enter_context(counted(KillPoint(int(count), place)))
        elif is_server(location):
            port = conninfo_to_dict(location)["port"]
            proxy = stack.enter_context(CuttingProxy(int(port), before=lambda _: die()))
            location = location.replace(f":{port}/", f":{proxy.port}/")
        else:
            apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", lambda *_: not die()))
        open_store(location).close()
    if place is None:
        die()
    say("done")


def move(tenant, target, count, **urls):
    """A tenant moved to another server, killed before a statement that any of the servers hears, or after all."""
    die, is_moving = fuse(count), threading.Event()

    def hear(_):
        if is_moving.is_set():
            die()

    with contextlib.ExitStack() as stack:
        for name, url in urls.items():
            port = conninfo_to_dict(url)["port"]
            proxy = stack.enter_context(CuttingProxy(int(port), before=hear))
            urls[name] = url.replace(f":{port}/", f":{proxy.port}/")
        with contextlib.closing(open_store(urls.pop("home"), shards=urls)) as store:
            is_moving.set()
            report = move_tenant(store, tenant, target)
            is_moving.clear()
    say(report.to_dict())


def fuse(count):
    """Kills the process the so-manyeth time it is called."""
    left = itertools.count(int(count) - 1, -1)

    def burn():
        if next(left) <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    return burn


def mixed(path):
    numbers = itertools.count(1)
    while True:
        with opened(path) as memory:
            agent = memory.agent(AGENT, session="s")
            for number in itertools.islice(numbers, 8):
                say(agent.observe(said(number)).to_dict())
                fact = agent.remember(f"City{number}x on the river", subject="Ana", predicate="lives in")
                say(fact.to_dict())
                if number % 3 == 0:
                    say(agent.forget(fact.id).to_dict())
                    agent.recall(said(number))


def import_(path, export):
    """One import, a line for each of its transactions."""
    memory = opened(path, vectors=False)
    report = memory.agent(AGENT).import_file(export, progress=say)
    say(report.to_dict())


def embed(path, export):
    """One import and its vectors, made by the thread and by a flush at once, a line for each batch of the flush."""
    memory = opened(path)
    say(memory.agent(AGENT).import_file(export).to_dict())
    memory.flush(say)
    say("done")


def reembed(path, lines):
    """Another embedder's vectors, a line for each batch that is asked of it and each that is kept; then it waits."""
    left = itertools.count(int(lines) - 1, -1)

    def tell(value):
        say(value)
        if next(left) == 0:
            sys.stdin.readline()

    memory = Memory(open_store(path), embedder=TellingEmbedder(tell), settings=config.load(SETTINGS))
    memory.reembed(lambda count: tell(["kept", count]))
    say("done")


def copy(source, target):
    """A whole memory into another database, a line for each batch."""
    from engrain.portability import copies  # most children do without, and each would load it

    with contextlib.closing(open_verbs(source)) as read, contextlib.closing(open_verbs(target)) as written:
        say(list(copies.copy(read, written, progress=lambda step, rows: say([step, rows])).differing))


def restore(location, file):
    """A backup restored in place of what is there; before each step but the first it waits for a line."""

    def wait(step, rows):
        say([step, rows])
        sys.stdin.readline()

    opened(location).restore(file, replace=True, progress=wait)
    say("done")


class TellingEmbedder(HashEmbedder):
    """Says how many texts it embeds before it does."""

    def __init__(self, tell):
        super().__init__("test:next", dims=48)
        self._tell = tell

    def embed(self, texts, *, role):
        self._tell(["asked", len(texts)])
        return super().embed(texts, role=role)


def unclosed(path, embedder):
    """Turns that are acknowledged by a process that ends without closing anything, in the middle of an embedding."""
    memory = Memory.open(path, embedder=embedder)
    agent = memory.agent(AGENT, session="s")
    agent.observe(said(0))
    agent.recall(said(0))  # by then its vector is made, and the engine loaded
    for number in range(1, 201):
        say(agent.observe(said(number)).to_dict())


def forked(path):
    """What each verb says in a process forked from the one that opened the memory, then in that one again."""
    memory = opened(path)
    agent = memory.agent(AGENT, session="s")
    episode = agent.observe(said(1))
    child = os.fork()
    if child == 0:
        for call in (
            lambda: agent.observe(said(2)),
            lambda: agent.recall(said(1)),
            lambda: agent.get(episode.id),
            lambda: agent.forget(episode.id),
            agent.stats,
            memory.flush,
            memory.health,
        ):
            try:
                say(repr(call()))
            except MemoryClosed as error:
                say(error.code)
        memory.close()
        with opened(path) as own:
            say(own.agent(AGENT, session="s").observe(said(3)).turn)
        os._exit(0)
    os.waitpid(child, 0)
    say(agent.observe(said(4)).turn)
    say(len(agent.recall("harbour", preset="keyword")))
    memory.close()


def serve():
    """Whatever is asked for on stdin, as JSON: [verb, arguments]."""
    with contextlib.ExitStack() as stack:
        for line in sys.stdin:
            verb, arguments = json.loads(line)
            if verb == "open":
                stack.enter_context(memory := opened(arguments["path"]))
                answer = str(memory.parts.store.location)
            else:
                caller = {name: arguments.pop(name, None) for name in ("session", "tenant")}
                agent = memory.agent(arguments.pop("agent", AGENT), **caller)
                answer = getattr(agent, verb)(**arguments)
            say(answer.to_dict() if hasattr(answer, "to_dict") else answer)


def traffic(path, name, rounds):
    """Writes and reads of an agent that three others write and read with, and what came of them."""
    memory = opened(path)
    agent = memory.agent(AGENT, session="shared")
    kept, gone = [], []
    for number in range(int(rounds)):
        text = f"{name} says {name}word{number}x"
        kept.append(agent.observe(text, session="shared" if number % 2 else name).id)
        if number % 10 == 0:
            assert kept[-1] == agent.recall(text, limit=1, preset="semantic")[0].memory.id
        if number % 6 == 0:
            assert kept[-1] == agent.recall(f"{name}word{number}x", limit=1, preset="keyword")[0].memory.id
        if number % 9 == 0:
            agent.remember(f"{name} {number}", subject="door", predicate="was last used by")
            agent.remember(f"{name} {number}", subject=name, predicate="counts to")
        if number % 7 == 0:
            gone.append(agent.forget(kept.pop()).id)
            assert not agent.recall(f"{name}word{number}x", preset="keyword")
    memory.close()
    say({"kept": kept, "gone": gone})


def learn(location, worker, count):
    """Whatever waits is consolidated, a line for each claim and each end, killed after so many of SQLite's steps."""
    if int(count):
        die = fuse(count)
        apsw.connection_hooks.append(lambda connection: connection.set_progress_handler(die, 1))
    with contextlib.closing(open_verbs(location)) as store:
        caller = Caller(agent=AGENT)
        while store.pending_sessions(caller, now := datetime.now(UTC)):
            batch = store.claim(Act(caller=caller, at=now), claim_of(worker))
            if batch is not None:
                say(["claimed", batch.run.id, *batch.run.episode_ids])
                done = store.carry_out(Act(caller=caller, at=datetime.now(UTC)), batch.run.id, plan_of(batch), {})
                say(["done" if done is not None else "lost", batch.run.id])
        say(["over"])


def claim_of(worker):
    return Claim(kind="consolidation", worker=worker, lease_s=600, limit=3)


def plan_of(batch):
    """Always the same for the same turns: a fact of each, in one of two places, and the rule they all speak of."""
    actions = []
    for turn in batch.episodes:
        number = int(turn.content.split("word")[1].split("x")[0])
        learned = Fact(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, turn.id)),
            agent=AGENT,
            subject=f"Person{number % 2}",
            predicate="says",
            content=turn.content,
            created_at=turn.created_at,
            last_confirmed_at=turn.created_at,
        )
        actions.append(Action(kind="new_fact", memory=learned, sources=(turn.id,), doubts=(KNOWN,)))
        actions.append(Action(kind="confirmation", target_id=RULE))
    return Plan(episode_ids=batch.run.episode_ids, actions=tuple(actions))


def stuck(path, hours):
    """A consolidation so many hours from now whose model never answers: it is told of and then waited for."""
    settings = {"consolidation": {"batch": 2, "max_attempts": 3}, "embedding": {"model": "none"}}
    Memory(
        open_store(path),
        llm=StuckLLM(),
        settings=config.load(settings),
        clock=lambda: datetime.now(UTC) + timedelta(hours=int(hours)),
    ).consolidate()


class StuckLLM:
    """Says what it is asked about before it does not answer."""

    name = "test:stuck"

    def complete(self, prompt, *, timeout_s):  # noqa: ARG002  # how long it may take: it takes for ever
        say(re.findall(r"word(\d+)x", prompt.user))
        sys.stdin.readline()


KNOWN, RULE = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
JOBS = {
    job.__name__.strip("_"): job
    for job in (
        *(
            observe,
            remember,
            steps,
            writes,
            upgrade,
            move,
            import_,
            embed,
            reembed,
            copy,
            restore,
            unclosed,
            forked,
            serve,
            traffic,
        ),
        *(learn, stuck),
    )
}


def main(arguments):
    job, *others = arguments
    named = dict(other.split("=", 1) for other in others if re.match("[a-z]+=postgresql://", other))
    JOBS[job](*(other for other in others if "=postgresql://" not in other), **named)
