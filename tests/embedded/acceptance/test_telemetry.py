"""What is told of verbs: durations by how they ended, spans by the conventions, lines of a log; never what was said."""

import inspect
import io
import json
import logging
import subprocess
import sys

import numpy as np
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from engrain import metrics
from engrain.agent.operations.instrumentation import NO_VERBS
from engrain.agent.wiring.view import View
from engrain.config.server import Logging
from engrain.engines.callables import CallableLLM, CallableReranker
from engrain.errors import EngrainError, InvalidInput, NotFound
from engrain.interfaces import logs
from engrain.service import Memory
from tests.servers.leaks.agent_probes import verbs_of
from tests.support.engines import FaultyEmbedder

SECRET = "zebrafish-4711"  # nothing that anybody else says


@pytest.fixture
def spans(monkeypatch):
    """The spans of an SDK that is set up for this test alone."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # What can be set but once in a process, and so has no public way back.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


@pytest.fixture
def log():
    """The lines of a log at INFO, as JSON."""
    stream = io.StringIO()
    logs.configure(Logging(format="json"), stream=stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def memory():
    with Memory.open(":memory:", embedder="none") as opened:
        yield opened


def times(verb, outcome):
    return metrics.snapshot().get(f'verb_seconds{{verb="{verb}",outcome="{outcome}"}}', 0)


@pytest.mark.req("G19")
def test_each_verb_is_timed_by_how_it_ended(memory):
    agent = memory.agent("ana")
    before = {each: times("recall", each) for each in ("ok", "empty", "invalid_input")}
    rules = times("rules.mark_helpful", "not_found")
    agent.recall("tram")
    agent.observe("The tram was late.")
    agent.recall("tram")
    with pytest.raises(InvalidInput):
        agent.recall("tram", limit=-1)
    with pytest.raises(NotFound):
        agent.rules.mark_helpful("nobody")
    assert {each: times("recall", each) - count for each, count in before.items()} == dict.fromkeys(before, 1)
    assert times("rules.mark_helpful", "not_found") - rules == 1


def test_what_had_to_do_without_something_is_counted(memory):
    name = 'verbs_degraded{verb="recall"}'
    before = metrics.snapshot().get(name, 0)
    memory.agent("ana").recall("tram", preset="keyword")
    memory.agent("ana").recall("tram", deep=True)
    assert metrics.snapshot()[name] - before == 1


def test_every_verb_of_every_group_is_watched(memory):
    """A group without the decorator would be missing from numbers, spans and log."""
    owners = {type(memory), type(memory).__base__, *views(View)}
    verbs = {
        f"{owner.__name__}.{name}": member
        for owner in owners
        for name, member in vars(owner).items()
        if inspect.isfunction(member) and not name.startswith("_") and name not in NO_VERBS
    }
    assert len(verbs) > 90
    assert [name for name, member in verbs.items() if not hasattr(member, "__wrapped__")] == []


def views(of):
    return [each for base in of.__subclasses__() for each in (base, *views(base))]


def test_a_verb_is_still_what_it_was(memory):
    """Its name, its words and its parameters, for whoever reads help() or completes a name."""
    assert inspect.signature(memory.agent().rules.add).parameters["scope"].default is None
    assert memory.agent().recall.__qualname__ == "Queries.recall"
    assert "best memories" in memory.agent().recall.__doc__


def test_a_span_says_what_was_done_by_the_conventions_and_not_what_was_said(memory, spans):
    agent = memory.agent("ana", session="monday", request_id="r-1", tenant="acme")
    turn = agent.observe("The tram was late.")
    agent.recall("tram")
    agent.stats()
    observed, recalled, counted = spans()
    asked = {
        "gen_ai.memory.store.id": "acme",
        "gen_ai.agent.name": "ana",
        "gen_ai.conversation.id": "monday",
        "engrain.request_id": "r-1",
        "engrain.outcome": "ok",
    }
    assert (observed.name, observed.kind) == ("create_memory", SpanKind.INTERNAL)
    assert dict(observed.attributes) == asked | {
        "engrain.verb": "observe",
        "gen_ai.operation.name": "create_memory",
        "gen_ai.memory.record.count": 1,
        "gen_ai.memory.record.id": turn.id,
    }
    assert recalled.name == "search_memory"
    assert dict(recalled.attributes) == asked | {
        "engrain.verb": "recall",
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.record.count": 1,
    }
    assert (counted.name, dict(counted.attributes)) == ("engrain stats", asked | {"engrain.verb": "stats"})
    assert {each.status.status_code for each in spans()} == {StatusCode.UNSET}


def test_a_span_of_what_failed_has_its_code_and_neither_message_nor_trace(memory, spans):
    with pytest.raises(InvalidInput, match="sideways"):
        memory.agent("ana").observe("The tram was late.", role="sideways")
    [failed] = spans()
    assert failed.attributes["error.type"] == failed.attributes["engrain.outcome"] == "invalid_input"
    assert (failed.status.status_code, failed.status.description, failed.events) == (StatusCode.ERROR, None, ())


def test_spans_stand_inside_the_span_of_who_asks_and_of_the_verb_that_asks_another(memory, spans):
    with trace.get_tracer("host").start_as_current_span("a request"):
        memory.agent("ana", session="monday").hooks.session_start("tram")
    inner, outer, request = spans()
    assert (inner.attributes["engrain.verb"], outer.attributes["engrain.verb"]) == ("context", "hooks.session_start")
    assert inner.parent.span_id == outer.context.span_id
    assert outer.parent.span_id == request.context.span_id


def test_without_an_sdk_nothing_of_opentelemetry_is_imported_and_an_api_alone_makes_no_span():
    script = (
        "import sys\nfrom engrain import Memory\nfrom engrain.agent.operations import tracing\n"
        "with Memory.open(':memory:', embedder='none') as memory:\n"
        "    memory.agent('ana').observe('The tram was late.')\n"
        "    assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
        "    import opentelemetry.trace\n"
        "    assert tracing.current_tracer() is None\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_line_tells_verb_outcome_duration_and_request(memory, log):
    agent = memory.agent("ana", request_id="r-1")
    agent.observe("The tram was late.")
    with pytest.raises(NotFound):
        agent.forget("nobody")
    observed, forgot = log()
    assert observed.pop("duration_ms") > 0
    assert observed.pop("timestamp").endswith("Z")
    assert observed == {
        "level": "info",
        "event": "verb",
        "logger": "engrain.verbs",
        "verb": "observe",
        "request_id": "r-1",
        "outcome": "ok",
        "tenant": "default",
        "agent": "ana",
    }
    assert (forgot["outcome"], forgot["level"]) == ("not_found", "info")


def test_what_a_room_logs_says_in_which_verb_and_for_which_request(log):
    with Memory.open(":memory:", embedder="none") as memory:
        memory.agent("ana", request_id="r-2").recall("tram", deep=True)
    warned = next(each for each in log() if each["level"] == "warning")
    assert (warned["logger"], warned["verb"], warned["request_id"]) == ("engrain.retrieval.reranking", "recall", "r-2")


def test_of_another_package_a_line_says_where_from_warning_on_and_nothing_below(log):
    other = logging.getLogger("somebody.else")
    other.info("quoting %s", SECRET)
    other.warning("quoting %s", SECRET)
    [told] = log()
    assert (told["logger"], told["level"]) == ("somebody.else", "warning")
    assert told["event"].startswith("logged at test_telemetry:")


@pytest.mark.req("G19")
def test_nothing_that_anybody_said_is_in_a_log_a_span_or_a_metric(spans, log, tmp_path):
    """Every verb with a secret in every parameter: as content, as a query, as a name, and where none is allowed."""
    (tmp_path / "said.md").write_text(f"# {SECRET}\n\n- {SECRET}\n", encoding="utf-8")
    with Memory.open(tmp_path / "memory.db", **quoting()) as memory:
        agent = memory.agent("ana", session="monday", request_id="r-3")
        kept = agent.remember(SECRET, subject=SECRET, predicate=SECRET, metadata={"x": SECRET})
        agent.entities.create(SECRET, entity_type="person")
        agent.working.append(SECRET)
        agent.recall(SECRET, deep=True)
        agent.summarize(SECRET, strategy="simple")
        agent.import_file(tmp_path / "said.md")
        every = verbs_of(agent) | {name: getattr(memory, name) for name in ("consolidate", "reflect", "undo", "runs")}
        for verb in every.values():
            provoke(verb, kept.id)
        with pytest.raises(EngrainError):
            memory.flush()
        memory.close(flush=False)
    lines = log()
    assert {each["verb"] for each in lines if each["event"] == "verb"} >= set(every)
    assert SECRET not in json.dumps(lines)
    assert {each["logger"] for each in lines} > {"engrain.verbs", "engrain.retrieval.embeddings.embedding_queue"}
    assert len(spans()) > 500
    assert SECRET not in "".join(each.to_json() for each in spans())
    assert SECRET not in json.dumps(dict(metrics.snapshot()))


def provoke(verb, id_):
    """Call a verb with a secret, or the id of one, for what it needs, and in turn for all that it takes beside it."""
    parameters = [each for each in inspect.signature(verb).parameters.values() if each.name not in {"agent", "tenant"}]
    needed = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    for value in (SECRET, id_):
        given = dict.fromkeys(needed, value)
        for more in ({}, *({each.name: SECRET} for each in parameters if each.name not in needed)):
            attempt(verb, given | more)


def attempt(verb, given):
    """What is wrong with a value is raised, and quoted; a type that nobody promised to check too."""
    try:
        verb(**given)
    except (EngrainError, TypeError, AttributeError):
        return


def quoting():
    """Engines that fail, and quote what they were asked."""

    def embed(rows):
        raise ValueError(f"what is {SECRET}? {np.shape(rows)}")

    def answer(_system, user):
        raise ValueError(user)

    def judge(query, texts):
        raise ValueError(query, texts)

    return {
        "embedder": FaultyEmbedder(embed),
        "llm": CallableLLM(answer, name="quoting:v1"),
        "reranker": CallableReranker(judge, name="quoting:v1"),
    }
