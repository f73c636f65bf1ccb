"""How each verb of a store is asked by somebody who wants to know what is not his.

A verb that takes a caller and is in none of these tables fails the suite.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import cached_property
from itertools import cycle, islice
from typing import TypeVar, get_args

from engrain.domain.filters import Filter, Period
from engrain.domain.memories.fact_keys import subject_key
from engrain.domain.memories.trust import TRUST_LEVELS
from engrain.domain.records import ENTITY_TYPES, KINDS, RELATIONS, Caller, Episode, Fact
from engrain.domain.requests import Ref, Request
from engrain.domain.runs.runs import RUN_KINDS
from engrain.domain.text.analysis import terms
from engrain.storage.entities.subjects import Subject
from tests.servers.leaks.hearing import Refs, said
from tests.servers.leaks.world import READ_AT, World, address_of, canary_of
from tests.support.backends import WAYS_TO_SEARCH, Backend
from tests.support.one_call import OneCall
from tests.support.sample_records import NOON
from tests.support.sample_search import WORDS, vector_of

WRITES = frozenset(
    "put put_related put_mentioning introduce remove_entities change_entity merge_entities unmerge_entities enrich "
    "supersede touch count_references confirm doubt age mark forget erase link mention put_entity claim renew "
    "carry_out give_up undo create_pool join_pool leave_pool delete_pool put_key append_log pop_log delete_log "
    "write_items revoke_key use_key limit_key".split()
)

_Thing = TypeVar("_Thing")
_Value = TypeVar("_Value")

LATE = (NOON + timedelta(days=365), "z")  # a place that all there is comes after


def verbs(port: type) -> set[str]:
    """What a port offers."""
    return {name for base in port.__mro__ for name in vars(base) if not name.startswith("_") and base is not object}


@dataclass(frozen=True)
class Reader:
    """A caller before a store, who knows the name of everything in the world and wants to see it."""

    store: OneCall
    caller: Caller
    world: World
    refs: dict[Ref, str]

    @cached_property
    def ids(self) -> list[str]:
        return sorted(self.world.ids)

    @cached_property
    def every_ref(self) -> list[Ref]:
        """All refs there are, and numbers around them."""
        numbers = [ref for ref in self.refs if isinstance(ref, int)]
        return [*self.refs, *range(min(numbers, default=1) - 20, min(numbers, default=1))]

    def request(self, filter_: Filter | None = None) -> Request:
        return Request(caller=self.caller, filter=filter_ or Filter(), now=READ_AT)

    def by_turns(self, asked: Iterable[_Thing], *values: _Value) -> Iterator[tuple[_Thing, _Value]]:
        """Each thing asked about with one of some values, in the world of the next seed with the next of them."""
        return zip(asked, islice(cycle(values), self.world.seed % len(values), None), strict=False)

    @cached_property
    def filters(self) -> list[Filter]:
        """Nothing asked, and everything anybody's memories could be found by."""
        episodes = [each for each in self.world.memories if isinstance(each, Episode)]
        facts = [each for each in self.world.memories if isinstance(each, Fact)]
        named = {
            "sessions": {each.session for each in episodes},
            "speakers": {each.speaker for each in episodes},
            "subjects": {each.subject for each in facts},
            "predicates": {each.predicate for each in facts},
            "categories": {each.category for each in facts},
            "scopes": {each.scope for each in self.world.memories},
        }
        of_names = [Filter(**{name: tuple(sorted(values - {None}))}) for name, values in named.items()]
        tags = [(), *[each.tags for each in self.world.memories if each.tags][-2:]]
        return [
            Filter(),
            Filter(include_inactive=True),
            Filter(valid_at=NOON + timedelta(minutes=45)),
            Filter(standing=True),
            Filter(notes_of=self.caller.agent),
            *[Filter(period=period) for period in get_args(Period)],
            *[Filter(trust=(level,)) for level in TRUST_LEVELS],
            *of_names,
            *[Filter(tags=each, include_inactive=True) for each in tags],
            *[Filter(kinds=(kind,)) for kind in KINDS],
            *[Filter(as_of=NOON + timedelta(minutes=minutes)) for minutes in (20, 45, 600)],
            Filter(exclude_sessions=("monday",), roles=("user", "assistant")),
            Filter(exclude_sessions=("monday",), exclude_from_turn=2),
            Filter(since=NOON, until=NOON + timedelta(days=2)),
            Filter(after=LATE),
            Filter(subjects=("nobody",), entity_ids=tuple({each.entity_id for each in facts if each.entity_id})),
        ]


Asked = Iterator[tuple[str, object]]


def get(reader: Reader) -> Asked:
    yield "all ids", reader.store.get(reader.caller, reader.ids)
    for id_ in reader.ids:
        yield id_, reader.store.get(reader.caller, [id_])


def find_active_fact(reader: Reader) -> Asked:
    """Every place that any fact of the world ever had."""
    for fact in (each for each in reader.world.memories if isinstance(each, Fact)):
        place = {"scope": fact.scope, "subject": fact.subject, "predicate": fact.predicate}
        yield f"{fact.tenant_id} {place}", reader.store.find_active_fact(reader.caller, **place)


def is_active_fact(reader: Reader) -> Asked:
    for id_ in reader.ids:
        yield id_, reader.store.is_active_fact(reader.caller, id_, NOON)


def find_erased(reader: Reader) -> Asked:
    yield "all ids", sorted(reader.store.find_erased(reader.caller, reader.ids))


def load_forgotten(reader: Reader) -> Asked:
    yield "all", reader.store.load_forgotten(reader.caller, NOON - timedelta(days=9_999), limit=100_000)


def load_learned(reader: Reader) -> Asked:
    yield "all ids", reader.store.load_learned(reader.caller, reader.ids)


def namesakes(reader: Reader) -> Asked:
    """What is known besides the name, or the id, that was asked for."""
    for entity in reader.world.entities:
        for name in (entity.canonical_name, *entity.aliases):
            for subject in (Subject(name), Subject(name, entity.id)):
                (found,) = reader.store.namesakes(reader.caller, [subject]).values()
                others = {*found.keys, *found.entity_ids} - {subject_key(name), subject.entity_id}
                yield f"{subject}", sorted(others)
    yield "the user", list(reader.store.namesakes(reader.caller, [Subject("user")]).values())


def history(reader: Reader) -> Asked:
    for id_ in reader.ids:
        yield id_, reader.store.history(reader.caller, id_)


def links(reader: Reader) -> Asked:
    for id_ in reader.ids:
        yield id_, reader.store.links(reader.caller, id_)
    for id_ in reader.ids[::7]:
        yield f"from {id_}", reader.store.links(reader.caller, id_, direction="outgoing")
        yield f"to {id_}", reader.store.links(reader.caller, id_, direction="incoming")
        for relation in RELATIONS:
            yield f"{relation} {id_}", reader.store.links(reader.caller, id_, relation=relation)


def events(reader: Reader) -> Asked:
    everything = reader.store.events(reader.caller, limit=100_000)
    yield "all", everything
    for event_type in ("link_created", "fact_superseded", "entities_mentioned", "memory_erased", "entity_created"):
        yield event_type, reader.store.events(reader.caller, event_type=event_type)
    yield "after a place", reader.store.events(reader.caller, limit=100_000, after=LATE)
    for id_ in reader.ids:
        yield id_, reader.store.events(reader.caller, memory_id=id_)


def applications(reader: Reader) -> Asked:
    for id_, after in reader.by_turns(reader.ids, None, LATE):
        yield f"{id_} after {after}", reader.store.applications(reader.caller, id_, 100, after=after)


def entities(reader: Reader) -> Asked:
    yield "all ids", reader.store.entities(reader.caller, reader.ids)


def _names(reader: Reader) -> list[str]:
    return sorted({name for each in reader.world.entities for name in (each.canonical_name, *each.aliases)})


def find_entities(reader: Reader) -> Asked:
    yield "all", reader.store.find_entities(reader.caller, limit=1_000)
    for entity_type in ENTITY_TYPES:
        yield entity_type, reader.store.find_entities(reader.caller, entity_type=entity_type, limit=2)


def entities_named(reader: Reader) -> Asked:
    for name in _names(reader):
        yield name, reader.store.entities_named(reader.caller, [name])


def resembling(reader: Reader) -> Asked:
    names = _names(reader)
    for asked in sorted({*names, *(name[:2] for name in names), *(name[1:] for name in names)}):
        yield asked, reader.store.resembling(reader.caller, asked, fuzzy=True, limit=100)


def facts_about(reader: Reader) -> Asked:
    yield "all", reader.store.facts_about(reader.caller, reader.ids, 1_000)
    yield "two of each", reader.store.facts_about(reader.caller, reader.ids, 2)


def mentions_of(reader: Reader) -> Asked:
    for entity, limit in reader.by_turns(reader.world.entities, 1, 1_000):
        yield f"{entity.id} {limit}", reader.store.mentions_of(reader.request(), entity.id, limit)


def unenriched(reader: Reader) -> Asked:
    for filter_, most in reader.by_turns(reader.filters, 0, 1, 9):
        yield f"{filter_} {most}", reader.store.unenriched(reader.request(filter_), most_entities=most, limit=50)


def stats(reader: Reader) -> Asked:
    scopes = sorted({each.scope for each in reader.world.memories})
    for now in (NOON, READ_AT):
        yield str(now), reader.store.stats(reader.caller, now)
    for scope in scopes:
        yield f"of {scope}", reader.store.stats(reader.caller, READ_AT, scope=scope)


def page(reader: Reader) -> Asked:
    """Everything under every filter, and what comes before each id under some filter."""
    for place, filter_ in enumerate(reader.filters):
        yield str(filter_), reader.store.page(reader.request(filter_), before=None, limit=1_000)
        for id_ in reader.ids[place :: len(reader.filters)]:
            yield f"{filter_} before {id_}", reader.store.page(reader.request(filter_), before=id_, limit=3)


def links_from(reader: Reader) -> Asked:
    yield "all", reader.store.links_from(reader.caller, reader.ids, RELATIONS)
    for relation in RELATIONS:
        yield relation, reader.store.links_from(reader.caller, reader.ids[::2], (relation,))


def vectors_of(reader: Reader) -> Asked:
    found = reader.store.vectors_of(reader.caller, reader.ids)
    yield "all", {id_: vector.tolist() for id_, vector in sorted(found.items())}


def unmentioned(reader: Reader) -> Asked:
    for limit in (2, 1_000):
        yield str(limit), reader.store.unmentioned(reader.caller, after=None, limit=limit)


def keyword(reader: Reader) -> Asked:
    """Every name of the world is asked for under some filter, and under every filter words that all use."""
    for place, filter_ in enumerate(reader.filters):
        names = reader.world.names[place :: len(reader.filters)]
        for words, limit in ((" ".join(names), 1_000), (" ".join(WORDS), 1_000), ("Ana Ben tram 7 May", 3)):
            yield f"{words} {filter_} {limit}", reader.store.keyword(reader.request(filter_), set(terms(words)), limit)


def nearest(reader: Reader) -> Asked:
    for place, filter_ in enumerate(reader.filters):
        asked, vector = reader.request(filter_), vector_of(reader.world.memories[place].content)
        for limit, also in ((1_000, []), (2, []), (2, reader.every_ref)):
            yield f"{place} {filter_} {limit} {bool(also)}", reader.store.nearest(asked, vector, limit, also=also)


def speakers(reader: Reader) -> Asked:
    for filter_ in reader.filters:
        yield str(filter_), reader.store.speakers(reader.request(filter_))


def newest(reader: Reader) -> Asked:
    for filter_, limit in reader.by_turns(reader.filters, 2, 1_000):
        yield f"{filter_} {limit}", reader.store.newest(reader.request(filter_), limit)


def newest_turn(reader: Reader) -> Asked:
    for session in sorted({each.session for each in reader.world.memories if getattr(each, "session", None)}):
        yield session, reader.store.newest_turn(reader.caller, session)


def important(reader: Reader) -> Asked:
    for filter_, limit in reader.by_turns(reader.filters, 2, 1_000):
        yield f"{filter_} {limit}", reader.store.important(reader.request(filter_), limit)


def mentioning(reader: Reader) -> Asked:
    """Each name of the world alone, and all of them under every filter."""
    every = [name for each in reader.world.entities for name in (each.canonical_name, *each.aliases)]
    for name, limit in reader.by_turns(sorted(set(every)), 1, 1_000):
        yield f"{name} {limit}", reader.store.mentioning(reader.request(), [name], limit)
    for filter_ in reader.filters:
        yield f"all {filter_}", reader.store.mentioning(reader.request(filter_), every, 1_000)


def traits(reader: Reader) -> Asked:
    for filter_ in reader.filters:
        yield str(filter_), reader.store.traits(reader.request(filter_), reader.every_ref)


def recalled_traits(reader: Reader) -> Asked:
    """From the cache that every caller shares."""
    for filter_ in reader.filters:
        yield str(filter_), reader.store.recalled_traits(reader.request(filter_), reader.every_ref)


def in_one_snapshot(reader: Reader) -> Asked:
    """After somebody else of the tenant, and of another, has asked the same inside."""
    asked = reader.request()
    own = reader.caller.tenant_id
    same = [each for each in reader.world.callers if each.tenant_id == own and each != reader.caller]
    other = [each for each in reader.world.callers if each.tenant_id != own]

    def ask(request: Request) -> object:
        found = reader.store.newest(request, 1_000)
        found += reader.store.keyword(request, set(terms(" ".join(WORDS))), 1_000)
        refs = [each.ref for each in found]
        traits_of = reader.store.traits(request, refs)
        return found, traits_of, reader.store.load(request, refs), reader.store.waiting(request.caller)

    def after(stranger: Caller) -> object:
        ask(Request(caller=stranger, filter=asked.filter, now=asked.now))
        return ask(asked)

    yield "alone", reader.store.in_one_snapshot(reader.caller, lambda: ask(asked))
    for stranger in (*same[:1], *other[:1]):
        for holder in (reader.caller, stranger):
            answer = reader.store.in_one_snapshot(holder, lambda stranger=stranger: after(stranger))
            yield f"after {stranger}, held by {holder}", answer


def load(reader: Reader) -> Asked:
    for filter_ in reader.filters:
        yield str(filter_), reader.store.load(reader.request(filter_), reader.every_ref)


def recent(reader: Reader) -> Asked:
    for filter_, limit in reader.by_turns(reader.filters, 2, 1_000):
        yield f"{filter_} {limit}", reader.store.recent(reader.request(filter_), limit)


def newest_rules(reader: Reader) -> Asked:
    for filter_, limit in reader.by_turns(reader.filters, 2, 1_000):
        yield f"{filter_} {limit}", reader.store.newest_rules(reader.request(filter_), limit)


def neighbours(reader: Reader) -> Asked:
    for memory in (each for each in reader.world.memories if isinstance(each, Episode)):
        for filter_ in reader.filters[:2]:
            found = reader.store.neighbours(reader.request(filter_), memory, 5)
            yield f"{canary_of(memory)} {filter_}", found


def pending_sessions(reader: Reader) -> Asked:
    for now in (NOON, READ_AT):
        yield str(now), reader.store.pending_sessions(reader.caller, now)


def is_session_consolidated(reader: Reader) -> Asked:
    for session in sorted({each.session or "" for each in reader.world.memories if isinstance(each, Episode)}):
        yield session, reader.store.is_session_consolidated(reader.caller, session, READ_AT)


def pending_of_session(reader: Reader) -> Asked:
    for session in sorted({each.session or "" for each in reader.world.memories if isinstance(each, Episode)}):
        yield session, reader.store.pending_of_session(reader.caller, session, READ_AT)


def runs(reader: Reader) -> Asked:
    for kind in (None, *RUN_KINDS):
        yield str(kind), reader.store.runs(reader.caller, kind=kind)
        yield f"{kind} after a place", reader.store.runs(reader.caller, kind=kind, after=LATE)


def waiting(reader: Reader) -> Asked:
    yield "", reader.store.waiting(reader.caller)


def activity(reader: Reader) -> Asked:
    for most in (1, 100_000):
        yield str(most), reader.store.activity(reader.caller, since=NOON - timedelta(days=99), most=most)


def latest_reflection(reader: Reader) -> Asked:
    for own in (True, False):
        yield str(own), reader.store.latest_reflection(reader.caller, READ_AT, own=own)


def standouts(reader: Reader) -> Asked:
    for filter_ in reader.filters[:4]:
        for most in (1, 20_000):
            yield f"{filter_} {most}", reader.store.standouts(reader.request(filter_), limit=99, most=most)


def pools(reader: Reader) -> Asked:
    yield "", reader.store.pools(reader.caller)


def pools_of(reader: Reader) -> Asked:
    """Also as somebody who says that he is in every pool."""
    everywhere = tuple(sorted({name for _, name in reader.world.pools}))
    for caller in (reader.caller, replace(reader.caller, pools=everywhere)):
        yield str(caller.pools), reader.store.pools_of(caller)


def keys(reader: Reader) -> Asked:
    yield "", reader.store.keys(reader.caller)


def find_key(reader: Reader) -> Asked:
    """Everybody's, by their ids: which are a tenant's own, so another's may be the same."""
    for key in reader.world.keys:
        yield key.id, reader.store.find_key(reader.caller, key.id)


def read_log(reader: Reader) -> Asked:
    """Of every session there is, whoever has it."""
    for place in reader.world.places:
        for last in (None, 1):
            yield f"{place} {last}", reader.store.read_log(reader.caller, place, last=last)


def count_log(reader: Reader) -> Asked:
    for place in reader.world.places:
        yield str(place), reader.store.count_log(reader.caller, place)


def log_sessions(reader: Reader) -> Asked:
    for after in (None, LATE):
        yield str(after), reader.store.log_sessions(reader.caller, "chat", 1_000, after=after)


def log_subkeys(reader: Reader) -> Asked:
    for place in reader.world.places:
        yield str(place), reader.store.log_subkeys(reader.caller, place.log, place.session)


def find_item(reader: Reader) -> Asked:
    """Of every item there is, whoever has it."""
    for place in reader.world.places:
        yield str(place), reader.store.find_item(reader.caller, address_of(place), now=READ_AT)


def item_versions(reader: Reader) -> Asked:
    for place in reader.world.places:
        yield str(place), reader.store.item_versions(reader.caller, address_of(place), now=READ_AT)


def list_items(reader: Reader) -> Asked:
    for after in (None, LATE):
        yield str(after), reader.store.list_items(reader.caller, (), {}, 1_000, now=READ_AT, after=after)


def indexed_items(reader: Reader) -> Asked:
    yield "all", reader.store.indexed_items(reader.caller, ("chat",), {}, now=READ_AT)


def unindexed_items(reader: Reader) -> Asked:
    yield "all", reader.store.unindexed_items(reader.caller, (), "some:embedder", now=READ_AT)


def item_namespaces(reader: Reader) -> Asked:
    yield "all", reader.store.item_namespaces(reader.caller, (), now=READ_AT)


READS: dict[str, Callable[[Reader], Asked]] = {
    probe.__name__: probe
    for probe in (
        *(is_active_fact, find_erased, load_forgotten, load_learned, namesakes),
        *(get, find_active_fact, history, links, events, applications, entities, stats),
        *(find_entities, entities_named, resembling, facts_about, mentions_of, unenriched),
        *(keyword, nearest, newest, important, mentioning, speakers, traits, recalled_traits, in_one_snapshot),
        *(load, recent, newest_rules, neighbours),
        *(page, links_from, vectors_of, unmentioned, activity, latest_reflection, standouts, newest_turn),
        *(pending_sessions, is_session_consolidated, pending_of_session, runs, waiting),
        *(pools, pools_of),
        *(keys, find_key),
        *(read_log, count_log, log_sessions, log_subkeys),
        *(find_item, item_versions, list_items, indexed_items, unindexed_items, item_namespaces),
    )
}


# What can be answered otherwise by another way to search, and what says all there is to find.
SEARCHES = ("keyword", "nearest", "in_one_snapshot", "get", "recent", "load")


def reads_on(backend: Backend) -> dict[str, Callable[[Reader], Asked]]:
    """The verbs to ask a store of a backend."""
    return {verb: READS[verb] for verb in SEARCHES} if backend.name in WAYS_TO_SEARCH else READS


def answers_in_one_snapshot(reader: Reader, probe: Callable[[Reader], Asked]) -> list[tuple[str, object]]:
    """Asks all questions of a verb in one transaction, which takes half the CPU of one for each."""
    answers: list[tuple[str, object]] = reader.store.in_one_snapshot(reader.caller, lambda: list(probe(reader)))
    return answers


def describe_answers(answers: Mapping[str, Sequence[tuple[str, object]]], refs: Refs) -> dict[str, str]:
    """Every answer to a caller, word for word, by verb, place and question."""
    return {
        f"{verb} {place}: {asked}": said(answer, refs)
        for verb, heard in answers.items()
        for place, (asked, answer) in enumerate(heard)
    }


assert {each.name for each in fields(Filter)} == {
    *("kinds scopes sessions exclude_sessions exclude_from_turn roles speakers subjects entity_ids".split()),
    *("predicates categories tags standing trust notes_of".split()),
    *("since until as_of valid_at include_inactive period after".split()),
}, "a filter has a condition that no reader asks for yet"
