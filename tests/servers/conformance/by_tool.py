"""MCP as a way to a memory: the tools of the profile `all` from the table of verbs, and those of published profiles."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from engrain import Memory
from engrain.domain.memories.predicates import is_free_text
from engrain.domain.records import Contribution, Degraded, Explanation
from engrain.interfaces.mcp.profiles import profile_of
from engrain.interfaces.mcp.server import make_server
from engrain.verbs.signatures import Signature, signatures
from engrain.verbs.table import Verb
from tests.servers.conformance.interfaces import BESIDES as VERBS_BESIDES
from tests.servers.conformance.interfaces import Library, Table, Way, asked_for, is_beside
from tests.servers.conformance.scenario import ADA, SETTINGS, TENANT, Step
from tests.servers.conformance.transcripts import Said, all_of_it
from tests.support.mcp_clients import Tools, connected

PROFILES = ("all", "butler", "orchestrator", "consolidator", "notes")
BUTLER, OF_THE_TENANT = {"butler": ADA}, {"tenant_id": TENANT}


@dataclass(frozen=True)
class Tool:
    """One tool: how it calls a verb's arguments, and what of its answer is the library's.

    Of each answer `request_id` is the call's, and `found` says whether there is anything; the rest is the library's
    JSON, under the name `under` where that is wrapped, but for what the tool `adds`. `tells` is what a tool tells of
    the library's JSON that does not tell all of it.

    Attributes:
        means: arguments that it always calls the verb with, so that it answers no step without them.
        always: what it is told at every call, as its server speaks for one agent.
    """

    name: str
    takes_as: Mapping[str, str] = field(default_factory=dict)
    under: str | None = None
    adds: frozenset[str] = frozenset()
    tells: Callable[[Any], Any] = all_of_it
    means: Mapping[str, Any] = field(default_factory=dict)
    always: Mapping[str, Any] = field(default_factory=dict)
    of_a_kind: bool = False  # wants to know the kind of memory that an id names
    of_a_request: bool = True  # is told of the request it belongs to, and of the conversation going on
    needs: frozenset[str] = frozenset()  # arguments that the verb can do without
    gives_nothing: bool = False  # the verb gives nothing, and the tool says no more than that it was there

    @property
    def takes(self) -> frozenset[str]:
        return frozenset({*self.takes_as, *self.means, *(["session"] if self.of_a_request else [])})

    @property
    def parameters(self) -> frozenset[str]:
        """All that it may be called with."""
        kind = ["memory_type"] if self.of_a_kind else []
        context = ["request_context"] if self.of_a_request else []
        return frozenset({*self.takes_as.values(), *self.always, *kind, *context})

    def answers(self, step: Step) -> bool:
        """Whether it can be asked for this."""
        means = all(step.given.get(name) == value for name, value in self.means.items())
        cuts_off = self.tells is _items and step.keeps is not None  # tells nothing of the next page
        return means and not cuts_off and self.needs <= asked_for(step).keys() <= self.takes

    def arguments(self, step: Step) -> dict[str, Any]:
        """What it is called with."""
        context = {"request_id": step.request_id}
        if step.session is not None:
            context["session_id"] = step.session
        given = {said: step.given[name] for name, said in self.takes_as.items() if name in step.given}
        return {**self.always, **given, **({"request_context": context} if self.of_a_request else {})}

    def said(self, answer: Mapping[str, Any]) -> Any:
        """The library's JSON in its answer."""
        if self.gives_nothing:
            return None
        if self.under is not None:
            return answer[self.under]
        return {name: value for name, value in answer.items() if name not in {"request_id", *self.adds}}


def only(*names: str) -> Callable[[Any], Any]:
    """Some fields alone."""
    return lambda answer: {name: answer[name] for name in names}


def _items(answer: Any) -> Any:
    return answer["items"]


def _text(reason: Any) -> str:
    return str(Degraded(**{name: reason[name] for name in ("code", "message", "detail")}))


def _texts(answer: Any) -> list[str]:
    """Degraded as the published tools answer it."""
    return [_text(reason) for reason in answer["degraded"]]


def _hits(answer: Any) -> Any:
    hits = [{"score": hit["score"], "memory": hit["memory"], "why": _in_words(hit["why"])} for hit in answer["hits"]]
    return {"hits": hits, "evidence": answer["evidence"], "degraded": _texts(answer)}


def _in_words(why: Any) -> str:
    contributions = tuple(Contribution(**each) for each in why["contributions"])
    return str(Explanation(**{**why, "contributions": contributions}))


def _in_short(answer: Any) -> Any:
    memories = [{**_known(hit["memory"]), "score": hit["score"]} for hit in answer["hits"]]
    return {"memories": memories, "evidence": answer["evidence"], "degraded": _texts(answer)}


def _known(memory: Any) -> dict[str, Any]:
    short = {name: memory[name] for name in ("id", "kind", "content")}
    match memory["kind"]:
        case "fact":
            about = (
                memory["subject"] if is_free_text(memory["predicate"]) else f"{memory['subject']} {memory['predicate']}"
            )
            return {**short, "about": about, "at": memory["valid_from"] or memory["created_at"]}
        case "episode":
            return {**short, "about": memory["speaker"] or memory["role"], "at": memory["event_time"]}
        case _:
            return {**short, "about": None, "at": memory["created_at"]}


def _block(answer: Any) -> Any:
    ids = [each["id"] for each in answer["memories"]]
    return {
        **only("text", "tokens", "budget_tokens", "left_out")(answer),
        "degraded": _texts(answer),
        "memory_ids": ids,
    }


def _counted(report: Any) -> Any:
    learned = Counter(each["kind"] for each in report["learned"])
    return {
        **only("dry_run", "episodes", "run_ids")(report),
        "due": sum(each["episodes"] for each in report["groups"]),
        "new": learned["new_fact"] + learned["new_rule"],
        "updated": learned["updated_fact"],
        "confirmed": learned["confirmation"],
        "rejected": len(report["rejected"]),
        "failures": [f"{failure['code']}: {_text(failure)}" for failure in report["failures"]],
    }


def _of_the_call(answer: Any) -> Any:
    """All but the request, which every answer names."""
    return {name: value for name, value in answer.items() if name != "request_id"}


def _own(stats: Any) -> Any:
    return {name: value for name, value in stats.items() if name not in {"tenant_id", "agent"}}


ID = {"id_": "memory_id"}
FACT = {"subject": "subject", "predicate": "predicate", "content": "content", "tags": "tags"}
STATED = frozenset({"subject", "predicate"})
KEY = {"idempotency_key": "idempotency_key"}
MORE = {"metadata": "metadata", "source_episode_id": "source_episode_id"}


def by_the_same(*names: str) -> dict[str, str]:
    """Arguments that a tool takes by the verb's own names."""
    return {name: name for name in names}


OF_ONE_AGENT = {"tenant": TENANT, "agent": ADA}

# The tools of published profiles, each by the profile that has it.
PUBLISHED: Mapping[str, tuple[Tool, ...]] = {
    "observe": (
        Tool(
            "memory_store_episode",
            {"content": "content", "session": "session_id", "importance": "importance", **KEY},
            "memory",
            always=BUTLER,
        ),
    ),
    "remember": (
        Tool(
            "memory_store_fact",
            {
                **FACT,
                **KEY,
                **{name: name for name in ("importance", "permanence", "scope", "entity_id")},
            },
            "memory",
            needs=STATED | {"scope"},
        ),
        Tool("remember_fact", {**FACT, **KEY}, "memory", needs=STATED),
    ),
    "correct": (Tool("correct_fact", {"id_": "fact_id", "content": "content"}, "memory"),),
    "confirm": (Tool("memory_confirm", ID, "memory", of_a_kind=True),),
    "forget": (Tool("memory_forget", ID, "memory", of_a_kind=True),),
    "get": (Tool("memory_get", ID, "memory", of_a_kind=True),),
    "recall": (
        Tool(
            "memory_search",
            {
                "query": "query",
                "kinds": "types",
                "scope": "scope",
                "preset": "mode",
                "limit": "limit",
                "min_confidence": "min_confidence",
            },
            tells=_hits,
        ),
        Tool(
            "search_memory",
            {"query": "query", "kinds": "kinds", "limit": "limit"},
            tells=_in_short,
            means={"preset": "assistant"},
        ),
    ),
    "context": (
        Tool(
            "memory_context",
            {"query": "trigger_prompt", "budget_tokens": "token_budget"},
            tells=_block,
            means={"recipe": "butler"},
            always=BUTLER,
        ),
    ),
    "stats": (Tool("memory_stats", {"scope": "scope"}, adds=frozenset({"latest_at"}), tells=_own),),
    "rules.add": (
        Tool(
            "memory_store_rule",
            {"content": "content", "scope": "scope", "tags": "tags", **KEY},
            "memory",
            needs=frozenset({"scope"}),  # its own default is everybody's
        ),
    ),
    "rules.mark_helpful": (Tool("memory_mark_helpful", {"id_": "rule_id"}, "memory"),),
    "rules.mark_harmful": (Tool("memory_mark_harmful", {"id_": "rule_id", "reason": "reason"}, "memory"),),
    "entities.create": (
        Tool(
            "entity_create",
            {"name": "canonical_name", "entity_type": "entity_type", "aliases": "aliases", "metadata": "metadata"},
            "entity",
            always=OF_THE_TENANT,
        ),
    ),
    "entities.get": (Tool("entity_get", {"id_": "entity_id"}, "entity"),),
    "entities.update": (
        Tool(
            "entity_update",
            {"id_": "entity_id", "name": "canonical_name", "aliases": "aliases", "metadata": "metadata"},
            "entity",
        ),
    ),
    "entities.resolve": (
        Tool(
            "entity_resolve",
            {"name": "name", "entity_type": "entity_type", "hints": "context_hints", "fuzzy": "enable_fuzzy"},
            "candidates",
            tells=_items,
            always=OF_THE_TENANT,
        ),
    ),
    "entities.merge": (Tool("entity_merge", {"source_id": "source_entity_id", "target_id": "target_entity_id"}),),
    "entities.profile": (Tool("get_entity_info", {"id_or_name": "name"}, "profile"),),
    "notes.save": (Tool("save_note", {"key": "key", "content": "content"}, "note"),),
    "notes.recall": (Tool("recall_note", {"key": "key"}, "note"),),
    "notes.list": (Tool("list_notes", {"limit": "limit"}, "notes", tells=_items),),
    "notes.list_by_category": (Tool("list_notes", {"category": "category", "limit": "limit"}, "notes", tells=_items),),
    "notes.search": (
        Tool(
            "search_notes",
            {"query": "query", "mode": "mode", "category": "category", "limit": "limit"},
            tells=lambda answer: {**only("mode", "hits")(answer), "degraded": _texts(answer)},
        ),
    ),
    "notes.related": (Tool("related_notes", {"note": "key", "limit": "limit"}, "related", tells=_items),),
    "notes.forget": (Tool("forget_note", {"key": "key"}, "note"),),
    "consolidation.is_session_consolidated": (
        Tool("is_session_consolidated", {"session": "session_id"}, "consolidated"),
    ),
    "consolidation.episodes": (
        Tool("get_episodes_for_consolidation", {"session": "session_id", "page": "page"}, "episodes", tells=_items),
    ),
    "consolidation.save_facts": (Tool("save_facts_batch", {"facts": "facts"}),),
    "consolidation.detect_conflicts": (Tool("detect_conflicts", {"fact_id": "fact_id"}, "conflicts", tells=_items),),
    "consolidation.resolve_conflict": (
        Tool("resolve_conflict", {"old_id": "old_fact_id", "new_id": "new_fact_id"}, "memory"),
    ),
    "consolidation.mark_session": (Tool("mark_session_consolidated", {"session": "session_id"}, "marked"),),
    "memory.consolidate": (Tool("memory_run_consolidation", tells=_counted, means=OF_ONE_AGENT, of_a_request=False),),
    "memory.cleanup": (
        Tool(
            "memory_run_episode_cleanup",
            {"max_entries": "max_entries"},
            tells=only("expired_deleted", "capacity_deleted", "remaining"),
            means={"tenant": TENANT},
            of_a_request=False,
        ),
    ),
}


def _tool_of(found: Signature) -> Tool:
    """The tool of a verb in the profile `all`."""
    of_memory = found.verb.owner == "memory"
    arguments = {parameter.name: parameter.json_name for parameter in found.parameters}
    if of_memory:
        arguments.pop("agent", None)
    means = {name: value for name, value in OF_ONE_AGENT.items() if of_memory and _is_said(found, name)}
    field_ = found.verb.field
    return Tool(
        found.verb.identifier,
        arguments,
        under="answer",
        means=means,
        tells=all_of_it if field_ is None else lambda answer: {field_: answer},
        gives_nothing=found.answer is None,
    )


def _is_said(found: Signature, name: str) -> bool:
    return name in found.caller_parameters or name in found.by_name


def _name(verb: Verb) -> str:
    return f"memory.{verb.name}" if verb.owner == "memory" else verb.name


OF_VERBS: Mapping[str, Tool] = {_name(found.verb): _tool_of(found) for found in signatures() if found.verb.tool}
ALL: Table = {verb: (tool,) for verb, tool in OF_VERBS.items() if not is_beside(verb, VERBS_BESIDES)}
# Tools that are no verb of the scenario, and why.
BESIDES = {
    **{tool.name: "no verb of the scenario" for verb, tool in OF_VERBS.items() if verb not in ALL},
    "memory_recall": "ranks by the clock",
    "confirm_fact": "stores the fact anew, as one that never fades",
}


class ByTool:
    """A call of a tool for each step, the server being the agent's; what no tool does the library does."""

    def __init__(self, table: Table, server: Callable[[str], tuple[Memory, Mapping[str, Tools]]]) -> None:
        self._table = table
        self._server = server
        self._kinds: dict[str, str] = {}
        self._called: Counter[str] = Counter()

    @property
    def used(self) -> set[str]:
        """The tools that were called."""
        return set(self._called)

    def take(self, step: Step) -> Said:
        memory, tools = self._server(step.agent)
        able = [tool for tool in self._table.get(step.verb, ()) if tool.answers(step)]
        if able:
            chosen = min(able, key=lambda tool: self._called[tool.name])
            said = self._call(chosen, tools[chosen.name], step)
        else:
            said = Library(memory).take(step)
        memory.flush()
        memory.parts.references.flush()  # another agent's memory is asked next
        self._learn_kinds(said.answer)
        return said

    def _call(self, tool: Tool, tools: Tools, step: Step) -> Said:
        self._called[tool.name] += 1
        arguments = tool.arguments(step)
        if tool.of_a_kind:
            arguments["memory_type"] = self._kinds.get(step.given["id_"], "fact")
        result = tools.raw(tool.name, **arguments)
        if result.is_error:
            return Said(step, refused=result.meta["error"]["code"])
        answer = result.structured_content
        assert answer["request_id"] == (step.request_id if tool.of_a_request else None)
        if not answer.pop("found", True):
            return Said(step, refused="not_found")
        return Said(step, tool.said(answer), tells=tool.tells)

    def _learn_kinds(self, value: Any) -> None:
        match value:
            case {"id": str() as id_, "kind": str() as kind}:
                self._kinds[id_] = kind
            case dict():
                self._learn_kinds(list(value.values()))
            case list():
                for each in value:
                    self._learn_kinds(each)


@contextmanager
def by_tool(table: Table, folder: Path) -> Iterator[Way]:
    with ExitStack() as stack:

        @cache
        def server(agent: str) -> tuple[Memory, Mapping[str, Tools]]:
            memory = stack.enter_context(Memory.open(folder / "memory.db", settings={**SETTINGS, "agent": agent}))
            served = {name: stack.enter_context(connected(make_server(memory, name), "auto")) for name in PROFILES}
            return memory, {tool.name: served[name] for name in PROFILES for tool in profile_of(name).tools}

        yield ByTool(table, server)


def offered() -> dict[str, frozenset[str]]:
    """The tools of all these profiles by name, each with its parameters."""
    found = {}
    with Memory.open(":memory:", settings=SETTINGS) as memory:
        for name in PROFILES:
            with connected(make_server(memory, name), "auto") as tools:
                listed = tools.portal.call(tools.client.list_tools).tools
                found |= {tool.name: frozenset(tool.input_schema["properties"]) for tool in listed}
    return found
