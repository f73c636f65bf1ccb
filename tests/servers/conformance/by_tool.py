"""MCP as a way to a memory: which tool of the profile `all`, with which arguments, is which verb."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from engrain import Memory
from engrain.domain.records import Contribution, Explanation
from engrain.interfaces.mcp.server import server_of
from tests.servers.conformance.interfaces import Library, Way, asked_for
from tests.servers.conformance.scenario import ADA, SETTINGS, TENANT, Step
from tests.servers.conformance.transcripts import Said, all_of_it
from tests.support.mcp_clients import Tools, connected

PROFILE = "all"
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
        return means and not cuts_off and self.takes >= asked_for(step).keys()

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


def _hits(answer: Any) -> Any:
    hits = [{"score": hit["score"], "memory": hit["memory"], "why": _in_words(hit["why"])} for hit in answer["hits"]]
    return {"hits": hits, "evidence": answer["evidence"], "degraded": answer["degraded"]}


def _in_words(why: Any) -> str:
    contributions = tuple(Contribution(**each) for each in why["contributions"])
    return str(Explanation(**{**why, "contributions": contributions}))


def _in_short(answer: Any) -> Any:
    memories = [{**_known(hit["memory"]), "score": hit["score"]} for hit in answer["hits"]]
    return {"memories": memories, "evidence": answer["evidence"], "degraded": answer["degraded"]}


def _known(memory: Any) -> dict[str, Any]:
    short = {name: memory[name] for name in ("id", "kind", "content")}
    match memory["kind"]:
        case "fact":
            about = f"{memory['subject']} {memory['predicate']}"
            return {**short, "about": about, "at": memory["valid_from"] or memory["created_at"]}
        case "episode":
            return {**short, "about": memory["speaker"] or memory["role"], "at": memory["event_time"]}
        case _:
            return {**short, "about": None, "at": memory["created_at"]}


def _block(answer: Any) -> Any:
    ids = [each["id"] for each in answer["memories"]]
    return {**only("text", "tokens", "budget_tokens", "left_out", "degraded")(answer), "memory_ids": ids}


def _counted(report: Any) -> Any:
    learned = Counter(each["kind"] for each in report["learned"])
    return {
        **only("dry_run", "episodes", "run_ids")(report),
        "due": sum(each["episodes"] for each in report["groups"]),
        "new": learned["new_fact"] + learned["new_rule"],
        "updated": learned["updated_fact"],
        "confirmed": learned["confirmation"],
        "rejected": len(report["rejected"]),
        "failures": [f"{each['code']}: {each['said']}" for each in report["failures"]],
    }


def _of_the_call(answer: Any) -> Any:
    """All but the request, which every answer names."""
    return {name: value for name, value in answer.items() if name != "request_id"}


def _own(stats: Any) -> Any:
    return {name: value for name, value in stats.items() if name not in {"tenant_id", "agent"}}


ID = {"id_": "memory_id"}
FACT = {"subject": "subject", "predicate": "predicate", "content": "content", "tags": "tags"}
KEY = {"idempotency_key": "idempotency_key"}
MORE = {"metadata": "metadata", "source_episode_id": "source_episode_id"}


def by_the_same(*names: str) -> dict[str, str]:
    """Arguments that a tool takes by the verb's own names."""
    return {name: name for name in names}


PROMPT = by_the_same("count_tokens", "recipe", "recent_episodes")
CORRECTION = by_the_same("confidence", "valid_from", "valid_to", "source")
OF_ONE_AGENT = {"tenant": TENANT, "agent": ADA}
POOL = {"name": "pool"}

TOOLS: Mapping[str, tuple[Tool, ...]] = {
    "observe": (
        Tool(
            "memory_store_episode",
            {"content": "content", "session": "session_id", "importance": "importance", **KEY},
            "memory",
            always=BUTLER,
        ),
        Tool(
            "observe",
            {
                "session": "session_id",
                **by_the_same("content", "role", "speaker", "event_time", "importance", "ttl_days", "tokens", "model"),
                **by_the_same("tool_calls", "tags", "metadata"),
                **KEY,
            },
            "memory",
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
        ),
        Tool("remember_fact", {**FACT, **KEY}, "memory"),
        Tool(
            "remember",
            {
                **by_the_same("entity_id", "scope", "category", "permanence", "importance"),
                **FACT,
                **CORRECTION,
                **MORE,
                **KEY,
            },
            "memory",
        ),
    ),
    "correct": (
        Tool("correct_fact", {"id_": "fact_id", "content": "content"}, "memory"),
        Tool("correct", {"id_": "fact_id", "content": "content", **CORRECTION, **MORE}, "memory"),
    ),
    "confirm": (Tool("memory_confirm", ID, "memory", of_a_kind=True),),
    "forget": (Tool("memory_forget", ID, "memory", of_a_kind=True),),
    "get": (
        Tool("memory_get", ID, "memory", of_a_kind=True),
        Tool("get", {**ID, "as_of": "as_of"}, "memory"),
    ),
    "erase": (Tool("erase", {"ids": "memory_ids"}, "erased"),),
    "facts": (Tool("facts", by_the_same("subject", "predicate", "as_of", "include_inactive", "limit", "after")),),
    "history": (Tool("history", {"id_": "fact_id"}),),
    "link": (Tool("link", by_the_same("source_id", "target_id", "relation", "weight"), "link"),),
    "links": (Tool("links", {**ID, **by_the_same("direction", "relation")}),),
    "events": (Tool("events", {**ID, **by_the_same("event_type", "limit", "after")}),),
    "latest_reflection": (Tool("latest_reflection", {}, "memory"),),
    "overview": (Tool("overview", by_the_same("days", "limit"), "overview"),),
    "audit": (Tool("audit", by_the_same("kinds", "limit", "skip", "unused_days")),),
    "route": (Tool("route", by_the_same("content", "role", "speaker")),),
    "summarize": (
        Tool(
            "summarize",
            {
                "session": "session_id",
                "ids": "memory_ids",
                **by_the_same("query", "strategy", "target_tokens", "store"),
            },
            "summary",
        ),
    ),
    "messages": (Tool("messages", {**by_the_same("asked", "system", "tools", "window_tokens"), **PROMPT}),),
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
        Tool(
            "recall",
            {
                **by_the_same("query", "limit", "preset", "kinds", "scope", "sessions", "exclude_sessions", "roles"),
                **by_the_same("speakers", "subjects", "tags", "since", "until", "as_of", "include_inactive"),
                **by_the_same("min_confidence", "deep", "neighbours", "explain"),
            },
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
        Tool(
            "context",
            {
                **by_the_same("query", "budget_tokens", "include_superseded", "with_dates", "with_sources"),
                **PROMPT,
            },
            tells=_of_the_call,
        ),
    ),
    "stats": (Tool("memory_stats", {"scope": "scope"}, adds=frozenset({"latest_at"}), tells=_own),),
    "rules.add": (
        Tool("memory_store_rule", {"content": "content", "scope": "scope", "tags": "tags", **KEY}, "memory"),
        Tool("rule_add", {**by_the_same("content", "scope", "tags"), **MORE, **KEY}, "memory"),
    ),
    "rules.applications": (Tool("rule_applications", {"id_": "rule_id", **by_the_same("limit", "after")}),),
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
    "entities.unmerge": (Tool("entity_unmerge", {"source_id": "source_entity_id"}, "merge"),),
    "entities.find": (Tool("entity_find", by_the_same("entity_type", "limit", "after")),),
    "entities.profile": (Tool("get_entity_info", {"id_or_name": "name"}, "profile"),),
    "notes.save": (Tool("save_note", {"key": "key", "content": "content"}, "note"),),
    "notes.recall": (Tool("recall_note", {"key": "key"}, "note"),),
    "notes.list": (Tool("list_notes", {"limit": "limit"}, "notes", tells=_items),),
    "notes.list_by_category": (Tool("list_notes", {"category": "category", "limit": "limit"}, "notes", tells=_items),),
    "notes.search": (
        Tool(
            "search_notes",
            {"query": "query", "mode": "mode", "category": "category", "limit": "limit"},
            tells=only("mode", "hits", "degraded"),
        ),
    ),
    "notes.related": (Tool("related_notes", {"note": "key", "limit": "limit"}, "related", tells=_items),),
    "notes.forget": (Tool("forget_note", {"key": "key"}, "note"),),
    "notes.summarize_old": (Tool("summarize_notes", by_the_same("older_than_days"), "archived"),),
    "pools.create": (Tool("pool_create", {**POOL, **by_the_same("members", "metadata")}, "pool"),),
    "pools.list": (Tool("pool_list", {}),),
    "pools.add": (Tool("pool_add", {**POOL, "member": "member"}, "pool"),),
    "pools.remove": (Tool("pool_remove", {**POOL, "member": "member"}, "pool"),),
    "pools.delete": (Tool("pool_delete", POOL, gives_nothing=True),),
    "pools.contribute": (Tool("pool_contribute", {**POOL, **ID}, "memory"),),
    "pools.query": (Tool("pool_query", {**POOL, **by_the_same("query", "limit", "preset")}, "answer"),),
    "pools.sync_to_agent": (Tool("pool_sync", POOL, "sync"),),
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
    "memory.consolidate": (
        Tool("memory_run_consolidation", tells=_counted, means=OF_ONE_AGENT, of_a_request=False),
        Tool(
            "consolidate",
            {
                "session": "session_id",
                "exclude_session": "exclude_session_id",
                **by_the_same("max_batches", "dry_run"),
            },
            "report",
            means=OF_ONE_AGENT,
            of_a_request=False,
        ),
    ),
    "memory.runs": (Tool("runs", by_the_same("kind", "limit", "after"), means=OF_ONE_AGENT, of_a_request=False),),
    "memory.undo": (Tool("undo", by_the_same("run_id"), means=OF_ONE_AGENT, of_a_request=False),),
    "memory.decay": (Tool("decay", by_the_same("dry_run"), means={"tenant": TENANT}, of_a_request=False),),
    "memory.cleanup": (
        Tool(
            "memory_run_episode_cleanup",
            {"max_entries": "max_entries"},
            tells=only("expired_deleted", "capacity_deleted", "remaining"),
            means={"tenant": TENANT},
            of_a_request=False,
        ),
        Tool("cleanup", by_the_same("max_entries", "dry_run"), means={"tenant": TENANT}, of_a_request=False),
    ),
}


# Tools that are no verb of the scenario, and why.
BESIDES = {
    "memory_recall": "ranks by the clock",
    "confirm_fact": "stores the fact anew, as one that never fades",
}


class ByTool:
    """A call of a tool for each step, the server being the agent's; what no tool does the library does."""

    def __init__(self, server: Callable[[str], tuple[Memory, Tools]]) -> None:
        self._server = server
        self._kinds: dict[str, str] = {}
        self._called: Counter[str] = Counter()

    @property
    def used(self) -> set[str]:
        """The tools that were called."""
        return set(self._called)

    def take(self, step: Step) -> Said:
        memory, tools = self._server(step.agent)
        able = [tool for tool in TOOLS.get(step.verb, ()) if tool.answers(step)]
        if able:
            said = self._call(min(able, key=lambda tool: self._called[tool.name]), tools, step)
        else:
            said = Library(memory).take(step)
        memory.flush()
        self._learn_kinds(said.answer)
        return said

    def _call(self, tool: Tool, tools: Tools, step: Step) -> Said:
        self._called[tool.name] += 1
        arguments = tool.arguments(step)
        if tool.of_a_kind:
            arguments["memory_type"] = self._kinds.get(step.given["id_"], "fact")
        result = tools.raw(tool.name, **arguments)
        answer = result.structured_content
        if result.is_error:
            return Said(step, refused=answer["error"]["code"])
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
def by_tool(folder: Path) -> Iterator[Way]:
    with ExitStack() as stack:

        @cache
        def server(agent: str) -> tuple[Memory, Tools]:
            memory = stack.enter_context(Memory.open(folder / "memory.db", settings={**SETTINGS, "agent": agent}))
            return memory, stack.enter_context(connected(server_of(memory, PROFILE), "auto"))

        yield ByTool(server)


def offered() -> dict[str, frozenset[str]]:
    """The tools of the profile by name, each with its parameters."""
    with Memory.open(":memory:", settings=SETTINGS) as memory, connected(server_of(memory, PROFILE), "auto") as tools:
        found = tools.portal.call(tools.client.list_tools).tools
    return {each.name: frozenset(each.input_schema["properties"]) for each in found}
