"""Uses the memory of CrewAI: records as its own keeps them, and a crew, on one database, given as argument."""

import sys
from datetime import UTC, datetime, timedelta

from crewai import Agent, BaseLLM, Crew, Task
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.memory_events import MemoryQueryCompletedEvent, MemorySaveCompletedEvent

from engrain import AsyncMemory, Memory
from engrain.integrations.crewai import EngrainMemory

COFFEE = "Ana likes strong coffee in the morning."


class Model(BaseLLM):
    """Answers the same, and notes what it was asked."""

    def __init__(self):
        super().__init__(model="m")
        self.__dict__["asked"] = []

    def call(self, messages, **_):
        self.__dict__["asked"].append(str(messages))
        return "Thought: I know it.\nFinal Answer: Serve it strong."


def check_records(memory):
    crew = EngrainMemory(AsyncMemory(memory), agent="records", user="ana")
    stored = crew.remember(COFFEE, "/people/ana", categories=["taste"], metadata={"n": 1}, importance=0.9)
    tram = crew.remember("Ana takes the tram to work.", "people/ana//work", source="tracker")
    crew.remember_many(["The roof was mended.", "The bill for the roof came."], "/house")
    assert crew.remember(COFFEE, "/people/ana", categories=["taste"]).id == stored.id
    [best, *_] = crew.recall("What does she drink when she gets up?", limit=2)
    assert (best.record.content, best.record.scope, best.record.categories) == (COFFEE, "/people/ana", ["taste"])
    assert 0 < best.score <= 1
    assert crew.recall("drink", "/people/an") == crew.recall(" ") == []
    assert {match.record.scope for match in crew.recall("coffee", "/house")} == {"/house"}
    assert [match.record.id for match in crew.recall("roof", categories=["taste", "x"])] == [stored.id]
    assert crew.list_scopes() == ["/house", "/people"]
    assert crew.list_scopes("/people") == ["/people/ana"]
    assert (crew.info("/people").record_count, crew.info("/none").record_count) == (2, 0)
    assert crew.info("/people/ana").child_scopes == ["/people/ana/work"]
    assert crew.list_categories() == {"taste": 1}
    assert "/people (2 records)" in crew.tree()
    assert [record.id for record in crew.list_records("/people/ana", limit=1)] == [tram.id]
    moved = crew.update(tram.id, content="Ana walks to work.", scope="/people/ana")
    assert moved.created_at == tram.created_at
    assert [record.content for record in crew.list_records("/people/ana/work")] == []
    assert crew.recall("walking", limit=1)[0].record.content == "Ana walks to work."
    assert crew.forget(metadata_filter={"n": 2}) == 0
    assert crew.forget(older_than=datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1)) == 0
    assert crew.forget(record_ids=[tram.id]) == 1
    assert crew.forget("/house", categories=["none"]) == 0
    crew.reset("/house")
    assert [record.id for record in crew.list_records()] == [stored.id]
    assert EngrainMemory(memory, agent="records", user="bo").list_records() == []
    assert EngrainMemory(memory, agent="records", user="ana", read_only=True).remember("x") is None


def check_corrections(memory):
    """A text that is remembered again is no other record, and one that was corrected is not undone by it."""
    crew = EngrainMemory(memory, agent="corrections")
    jazz = crew.remember("Ana likes jazz", "/p", categories=["taste"], metadata={"n": 1}, importance=0.9)
    again = crew.remember("Ana likes jazz", "/p")
    assert again == jazz
    changed = crew.remember("Ana likes jazz", "/p", categories=["music"])
    assert (changed.id, changed.categories, changed.metadata) == (jazz.id, ["music"], {"n": 1})
    assert (changed.importance, changed.created_at) == (0.9, jazz.created_at)
    crew.update(jazz.id, content="Ana now hates jazz")
    crew.remember("Ana likes jazz", "/p")
    assert {record.content for record in crew.list_records("/p")} == {"Ana likes jazz", "Ana now hates jazz"}
    tea = crew.remember("Ana likes tea", "/p")
    crew.update(tea.id, scope="/q")
    told = crew.remember_many(["Ana likes tea", "Ana likes tea"], "/p")
    assert told[0] == told[1]
    assert [record.scope for record in crew.list_records() if record.id == tea.id] == ["/q"]
    below = crew.remember("Ana likes tea", "/")
    private = crew.remember("Ana likes tea", "/p", source="tracker", private=True)
    assert len({told[0].id, below.id, private.id}) == 3


def check_views(memory):
    crew = EngrainMemory(memory, agent="views", root_scope="/crew/a")
    crew.remember("Only the tracker may know.", private=True, source="tracker")
    assert crew.recall("tracker") == crew.recall("tracker", source="other") == []
    assert crew.recall("tracker", source="tracker")[0].record.scope == "/crew/a"
    assert crew.recall("tracker", include_private=True)
    part = crew.scope("/team")
    part.remember("The team meets on Monday.")
    assert part.recall("When does it meet?")[0].record.scope == "/crew/a/team"
    assert crew.slice(["/team"]).recall("meets")[0].record.scope == "/crew/a/team"
    crew.reset()
    assert crew.list_records() == []


def check_filters(memory):
    """A record that is wanted is found, however many others answer better."""
    crew = EngrainMemory(memory, agent="filters")
    crew.remember_many([f"Coffee, coffee number {number}" for number in range(1_050)], "/many")
    crew.remember("Somebody brews coffee in a rather old and long forgotten pot", "/many", categories=["pots"])
    crew.remember("Nobody else may know which coffee it is in this long text", "/many", private=True, source="tracker")
    assert [match.record.categories for match in crew.recall("coffee", categories=["pots"])] == [["pots"]]
    assert "tracker" in {match.record.source for match in crew.recall("coffee", source="tracker", limit=1_052)}
    assert len(crew.recall("coffee", limit=2_000)) == 1_051


def check_crew(memory):
    seen, model = [], Model()
    with crewai_event_bus.scoped_handlers():
        for event in (MemorySaveCompletedEvent, MemoryQueryCompletedEvent):
            crewai_event_bus.on(event)(lambda _, told: seen.append(type(told).__name__))
        waiter = Agent(role="Waiter", goal="Serve", backstory="In a bar.", llm=model)
        task = Task(description="Serve coffee to {who}.", expected_output="One sentence.", agent=waiter)
        remembered = EngrainMemory(memory, agent="crew")
        remembered.remember(COFFEE)
        crew = Crew(agents=[waiter], tasks=[task], memory=remembered)
        assert str(crew.kickoff({"who": "Ana"})) == "Serve it strong."
        crew.copy().kickoff()  # the same task and the same result
        crew.kickoff({"who": "Bo"})
    assert COFFEE in model.asked[0]
    assert "Final Answer: Serve it strong." in model.asked[-1]
    assert len(remembered.list_records()) == 3
    assert {"MemorySaveCompletedEvent", "MemoryQueryCompletedEvent"} <= set(seen)
    assert EngrainMemory(memory, llm=model).extract_memories("Ana came.")
    remembered.close()  # which did not open it


def main(location):
    with Memory.open(location) as memory:
        check_records(memory)
        check_corrections(memory)
        check_views(memory)
        check_crew(memory)
        assert memory.agent("crew").store.search(namespace=["crewai"])
    with Memory.open(location, embedder="none") as memory:
        check_filters(memory)
    sys.stdout.write("ok\n")


main(sys.argv[1])
