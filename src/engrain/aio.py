"""AsyncMemory: the same memory, awaited. Each call runs in a worker thread.

A verb is one line: its awaited twin has the signature and the docstring of the method that it awaits.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from engrain.agent.agent import Agent
from engrain.agent.consolidation import Consolidation
from engrain.agent.entities import Entities
from engrain.agent.exact.item_store import ItemStore
from engrain.agent.exact.log import Log
from engrain.agent.graph import Graph
from engrain.agent.hooks import Hooks
from engrain.agent.jobs import Jobs
from engrain.agent.keys import Keys
from engrain.agent.notes import Notes
from engrain.agent.pools import Pools
from engrain.agent.rules import Rules
from engrain.agent.working import Working
from engrain.errors import InvalidInput
from engrain.service import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from types import TracebackType

    from engrain.verbs import exact_words

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")
_Wrapped = TypeVar("_Wrapped")
_Twin = TypeVar("_Twin", bound="Async[Any]")


class Awaited(Generic[_Parameters, _Answer]):
    """A method of a wrapped object, as a coroutine function that runs it in a worker thread."""

    def __init__(self, method: Callable[Concatenate[Any, _Parameters], _Answer]) -> None:
        self.method = method

    def __get__(self, instance: Any, owner: type[Any]) -> Callable[_Parameters, Coroutine[Any, Any, _Answer]]:
        """The coroutine function of one object."""

        @functools.wraps(self.method)
        async def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Answer:
            method: Any = getattr(instance.wrapped, self.method.__name__)  # a server's memory has its own
            given = {name: _as_plain(value) for name, value in kwargs.items()}
            return await asyncio.to_thread(method, *map(_as_plain, args), **given)

        return call


def _as_plain(value: Any) -> Any:
    """Return a coroutine function, such as a `progress`, as a function for other threads, which the loop runs."""
    if not inspect.iscoroutinefunction(value):
        return value
    loop = asyncio.get_running_loop()
    return lambda *args: asyncio.run_coroutine_threadsafe(value(*args), loop).result()


class Paired(Generic[_Parameters, _Answer]):
    """A method of a wrapped object that gives another one: its awaited twin."""

    def __init__(self, method: Callable[Concatenate[Any, _Parameters], Any], twin: Callable[[Any], _Answer]) -> None:
        self.method, self.twin = method, twin

    def __get__(self, instance: Any, owner: type[Any]) -> Callable[_Parameters, _Answer]:
        """The function of one object."""

        @functools.wraps(self.method)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Answer:
            return self.twin(getattr(instance.wrapped, self.method.__name__)(*args, **kwargs))

        return call


class Opening(Generic[_Parameters]):
    """A class method that makes the wrapped object, as one that makes its awaited twin in a worker thread."""

    def __init__(self, method: Callable[_Parameters, Any]) -> None:
        self.method = method

    def __get__(self, instance: Any, owner: type[_Twin]) -> Callable[_Parameters, Coroutine[Any, Any, _Twin]]:
        """The coroutine function of a class."""

        @functools.wraps(self.method)
        async def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Twin:
            return owner(await asyncio.to_thread(self.method, *args, **kwargs))

        return call


class View(property, Generic[_Answer]):
    """A property of a wrapped object, as it is or as the awaited twin of its value."""

    @overload
    def __init__(self, of: Callable[[Any], _Answer]) -> None: ...
    @overload
    def __init__(self, of: Any, twin: Callable[[Any], _Answer]) -> None: ...
    def __init__(self, of: Any, twin: Callable[[Any], Any] = lambda value: value) -> None:
        name = of.fget.__name__
        super().__init__(lambda self: twin(getattr(self.wrapped, name)), doc=of.__doc__)

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None, /) -> _Answer: ...  # type: ignore[override]  # not of the class itself


class Async(Generic[_Wrapped]):
    """The awaited verbs of a wrapped object, which says what each of them does."""

    __slots__ = ("wrapped",)

    def __init__(self, wrapped: _Wrapped) -> None:
        if isinstance(wrapped, str | os.PathLike):
            raise InvalidInput(f"an open memory is wrapped; to open one: await AsyncMemory.open({str(wrapped)!r:.200})")
        self.wrapped = wrapped


class AsyncRules(Async[Rules]):
    """The verbs of `Rules`, awaited."""

    __slots__ = ()

    add = Awaited(Rules.add)
    mark_helpful = Awaited(Rules.mark_helpful)
    mark_harmful = Awaited(Rules.mark_harmful)
    applications = Awaited(Rules.applications)


class AsyncEntities(Async[Entities]):
    """The verbs of `Entities`, awaited."""

    __slots__ = ()

    create = Awaited(Entities.create)
    get = Awaited(Entities.get)
    update = Awaited(Entities.update)
    find = Awaited(Entities.find)
    resolve = Awaited(Entities.resolve)
    merge = Awaited(Entities.merge)
    unmerge = Awaited(Entities.unmerge)
    profile = Awaited(Entities.profile)
    enrich = Awaited(Entities.enrich)
    enrich_waiting = Awaited(Entities.enrich_waiting)
    to_enrich = Awaited(Entities.to_enrich)


class AsyncGraph(Async[Graph]):
    """The verbs of `Graph`, awaited."""

    __slots__ = ()

    create_entities = Awaited(Graph.create_entities)
    create_relations = Awaited(Graph.create_relations)
    add_observations = Awaited(Graph.add_observations)
    delete_entities = Awaited(Graph.delete_entities)
    delete_observations = Awaited(Graph.delete_observations)
    delete_relations = Awaited(Graph.delete_relations)
    read = Awaited(Graph.read)
    search = Awaited(Graph.search)
    open = Awaited(Graph.open)


class AsyncNotes(Async[Notes]):
    """The verbs of `Notes`, awaited."""

    __slots__ = ()

    save = Awaited(Notes.save)
    recall = Awaited(Notes.recall)
    list = Awaited(Notes.list)
    list_by_category = Awaited(Notes.list_by_category)
    related = Awaited(Notes.related)
    search = Awaited(Notes.search)
    forget = Awaited(Notes.forget)
    summarize_old = Awaited(Notes.summarize_old)
    invalidate = Awaited(Notes.invalidate)
    clear_cache = Awaited(Notes.clear_cache)
    cache_stats = Awaited(Notes.cache_stats)


class AsyncLog(Async[Log]):
    """The verbs of `Log`, awaited."""

    __slots__ = ()

    def __call__(self, name: str) -> AsyncLog:
        """Return the verbs of the log of that name, awaited."""
        return AsyncLog(self.wrapped(name))

    append = Awaited(Log.append)
    read = Awaited(Log.read)
    pop = Awaited(Log.pop)
    delete = Awaited(Log.delete)
    sessions = Awaited(Log.sessions)
    subkeys = Awaited(Log.subkeys)


class AsyncItemStore(Async[ItemStore]):
    """The verbs of `ItemStore`, awaited."""

    __slots__ = ()

    def __call__(self, namespace: exact_words.ItemNamespaceName) -> AsyncItemStore:
        """Return the verbs of a namespace, awaited."""
        return AsyncItemStore(self.wrapped(namespace))

    put = Awaited(ItemStore.put)
    get = Awaited(ItemStore.get)
    delete = Awaited(ItemStore.delete)
    write = Awaited(ItemStore.write)
    search = Awaited(ItemStore.search)
    namespaces = Awaited(ItemStore.namespaces)
    history = Awaited(ItemStore.history)


class AsyncPools(Async[Pools]):
    """The verbs of `Pools`, awaited."""

    __slots__ = ()

    create = Awaited(Pools.create)
    list = Awaited(Pools.list)
    add = Awaited(Pools.add)
    remove = Awaited(Pools.remove)
    delete = Awaited(Pools.delete)
    contribute = Awaited(Pools.contribute)
    query = Awaited(Pools.query)
    sync_to_agent = Awaited(Pools.sync_to_agent)


class AsyncConsolidation(Async[Consolidation]):
    """The verbs of `Consolidation`, awaited."""

    __slots__ = ()

    is_session_consolidated = Awaited(Consolidation.is_session_consolidated)
    episodes = Awaited(Consolidation.episodes)
    save_facts = Awaited(Consolidation.save_facts)
    detect_conflicts = Awaited(Consolidation.detect_conflicts)
    resolve_conflict = Awaited(Consolidation.resolve_conflict)
    mark_session = Awaited(Consolidation.mark_session)


class AsyncWorking(Async[Working]):
    """The verbs of `Working`, awaited."""

    __slots__ = ()

    append = Awaited(Working.append)
    tool_result = Awaited(Working.tool_result)
    tool_results = Awaited(Working.tool_results)
    scratchpad = Awaited(Working.scratchpad)
    write_scratchpad = Awaited(Working.write_scratchpad)
    messages = Awaited(Working.messages)
    flush = Awaited(Working.flush)
    clear = Awaited(Working.clear)
    stats = Awaited(Working.stats)


class AsyncHooks(Async[Hooks]):
    """The verbs of `Hooks`, awaited."""

    __slots__ = ()

    session_start = Awaited(Hooks.session_start)
    message = Awaited(Hooks.message)
    recent = Awaited(Hooks.recent)
    session_end = Awaited(Hooks.session_end)


class AsyncKeys(Async[Keys]):
    """The verbs of `Keys`, awaited."""

    __slots__ = ()

    create = Awaited(Keys.create)
    list = Awaited(Keys.list)
    rotate = Awaited(Keys.rotate)
    revoke = Awaited(Keys.revoke)
    authenticate = Awaited(Keys.authenticate)


class AsyncJobs(Async[Jobs]):
    """The verbs of `Jobs`, awaited."""

    __slots__ = ()

    list = Awaited(Jobs.list)
    run = Awaited(Jobs.run)
    retry = Awaited(Jobs.retry)


class AsyncAgent(Async[Agent]):
    """The memory as one agent sees it, awaited; `Agent` says what each verb does."""

    __slots__ = ()

    caller = View(Agent.caller)
    rules = View(Agent.rules, AsyncRules)
    entities = View(Agent.entities, AsyncEntities)
    graph = View(Agent.graph, AsyncGraph)
    notes = View(Agent.notes, AsyncNotes)
    pools = View(Agent.pools, AsyncPools)
    consolidation = View(Agent.consolidation, AsyncConsolidation)
    working = View(Agent.working, AsyncWorking)
    hooks = View(Agent.hooks, AsyncHooks)
    log = View(Agent.log, AsyncLog)
    store = View(Agent.store, AsyncItemStore)

    observe = Awaited(Agent.observe)
    add = Awaited(Agent.add)
    remember = Awaited(Agent.remember)
    correct = Awaited(Agent.correct)
    confirm = Awaited(Agent.confirm)
    forget = Awaited(Agent.forget)
    erase = Awaited(Agent.erase)
    link = Awaited(Agent.link)
    summarize = Awaited(Agent.summarize)
    route = Awaited(Agent.route)
    handle = Awaited(Agent.handle)
    import_file = Awaited(Agent.import_file)
    recall = Awaited(Agent.recall)
    context = Awaited(Agent.context)
    messages = Awaited(Agent.messages)
    get = Awaited(Agent.get)
    facts = Awaited(Agent.facts)
    list = Awaited(Agent.list)
    episodes = Awaited(Agent.episodes)
    latest_reflection = Awaited(Agent.latest_reflection)
    links = Awaited(Agent.links)
    history = Awaited(Agent.history)
    events = Awaited(Agent.events)
    stats = Awaited(Agent.stats)
    overview = Awaited(Agent.overview)
    audit = Awaited(Agent.audit)


class AsyncMemory(Async[Memory]):
    """A long-term memory whose calls are awaited; `Memory` says what each of them does.

    async with await AsyncMemory.open("agent.db") as memory: ...
    """

    __slots__ = ()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.wrapped.__exit__, kind, error, trace)

    agent = Paired(Memory.agent, AsyncAgent)
    settings = View(Memory.settings)
    now = View(Memory.now)
    embedder = View(Memory.embedder)
    without_vectors = View(Memory.without_vectors)
    llm_usage = View(Memory.llm_usage)
    keys = View(Memory.keys, AsyncKeys)
    jobs = View(Memory.jobs, AsyncJobs)

    open = Opening(Memory.open)

    flush = Awaited(Memory.flush)
    reembed = Awaited(Memory.reembed)
    health = Awaited(Memory.health)
    readiness = Awaited(Memory.readiness)
    metrics = Awaited(Memory.metrics)
    close = Awaited(Memory.close)
    decay = Awaited(Memory.decay)
    cleanup = Awaited(Memory.cleanup)
    consolidate = Awaited(Memory.consolidate)
    agents = Awaited(Memory.agents)
    users = Awaited(Memory.users)
    export_user = Awaited(Memory.export_user)
    erase_user = Awaited(Memory.erase_user)
    erase_tenant = Awaited(Memory.erase_tenant)
    seal_events = Awaited(Memory.seal_events)
    verify_events = Awaited(Memory.verify_events)
    export_events = Awaited(Memory.export_events)
    runs = Awaited(Memory.runs)
    undo = Awaited(Memory.undo)
    reflect = Awaited(Memory.reflect)
    backup = Awaited(Memory.backup)
    restore = Awaited(Memory.restore)
    export = Awaited(Memory.export)
