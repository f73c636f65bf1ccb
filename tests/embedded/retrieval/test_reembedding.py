"""Another embedder's vectors, made beside those that are searched: all of them, once each, or none that is used."""

from contextlib import closing

import pytest

from engrain.errors import EngineUnavailable, InvalidInput
from engrain.retrieval.embeddings.checked_embedder import wrap_embedder
from engrain.retrieval.embeddings.embedding_queue import EmbeddingQueue
from engrain.retrieval.embeddings.reembedding import BATCH, reembed
from tests.support.engines import HashEmbedder
from tests.support.sample_records import act, episode, fact
from tests.support.store_samples import flush_index, put
from tests.support.stores import SqliteStore

OLD = HashEmbedder("test:old", dims=16)


class Meddling(HashEmbedder):
    """A good embedder during whose calls something happens: `meddle` gets the texts first."""

    def __init__(self, meddle, name="test:new", dims=24):
        super().__init__(name, dims)
        self.calls = 0
        self._meddle = meddle

    def embed(self, texts, *, role):
        self.calls += 1
        self._meddle(texts)
        return super().embed(texts, role=role)


@pytest.fixture
def store():
    with closing(SqliteStore(":memory:")) as store:
        yield store


def filled(store, count):
    """Memories with the old embedder's vectors; their ids."""
    memories = put(store, [episode(f"Turn {place} of many.") for place in range(count)])
    store.use_embedder(OLD.name, OLD.dims)
    EmbeddingQueue(store, OLD).drain()
    return [memory.id for memory in memories]


def new():
    return HashEmbedder("test:new", dims=24)


def states(store):
    return [(version.name, version.state) for version in store.embedding_versions()]


def changed(store, embedder=None, progress=None):
    return reembed(store, wrap_embedder(embedder or new()), act(), progress=progress)


@pytest.mark.req("B31.2")
def test_every_memory_gets_its_new_vector_and_the_old_ones_go(store):
    filled(store, 2 * BATCH + 1)
    embedder, told = new(), []
    report = changed(store, embedder, told.append)
    assert (report.embedder, report.dims, report.version) == ("test:new", 24, 2)
    assert (report.embedded, report.pruned) == (2 * BATCH + 1, 2 * BATCH + 1)
    assert told == [BATCH, BATCH, 1]
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 2 * BATCH + 1
    assert states(store) == [("test:old", "retired"), ("test:new", "active")]
    assert store.use_embedder("test:new", 24) is None
    assert (store.health().embedded, store.health().problems) == (2 * BATCH + 1, ())


def test_again_it_makes_what_is_missing_and_nothing_else(store):
    filled(store, 3)
    changed(store)
    assert changed(store).embedded == 0
    put(store, [episode("Late.")])
    embedder = new()
    assert changed(store, embedder).embedded == 1
    assert embedder.embedded == ["Late."]
    assert states(store) == [("test:old", "retired"), ("test:new", "active")]


def test_old_vectors_that_a_stopped_run_left_behind_are_removed(store):
    filled(store, 3)
    version = store.begin_version("test:new", 24).version
    EmbeddingQueue(store, OLD).drain()
    flush_index(store)
    missing = store.unembedded(9, version=version)
    store.attach(
        [each.ref for each in missing], new().embed([each.text for each in missing], role="document"), version=2
    )
    assert store.switch_version(act(), version) is True
    assert changed(store).pruned == 3


def test_what_is_written_meanwhile_is_there_at_the_switch(store):
    filled(store, 3)
    late = iter([[episode("Late.")], [fact("Later")]])
    embedder = Meddling(lambda _: put(store, next(late, [])))
    assert changed(store, embedder).embedded == 5
    assert embedder.embedded[3:] == ["Late.", "Ana lives in: Later"]
    assert store.unembedded(9) == []


def test_a_text_that_the_engine_refuses_is_found_and_named_and_everything_else_is_kept(store):
    ids = filled(store, BATCH + 20)

    def refuse(texts):
        if "Turn 17 of many." in texts:
            raise EngineUnavailable("too much for me")

    with pytest.raises(EngineUnavailable, match=rf"the text of 1 memory \({ids[17]}\).* keep the vectors they had"):
        changed(store, Meddling(refuse))
    assert states(store) == [("test:old", "active"), ("test:new", "building")]
    assert [each.id for each in store.unembedded(9, version=2)] == [ids[17]]
    assert store.health().embedded == BATCH + 20
    embedder = new()
    assert changed(store, embedder).embedded == 1
    assert embedder.embedded == ["Turn 17 of many."]


def test_once_the_refused_is_forgotten_the_switch_goes_on(store):
    ids = filled(store, 3)

    def refuse(texts):
        if "Turn 1 of many." in texts:
            raise ValueError("never")

    with pytest.raises(EngineUnavailable, match=ids[1]):
        changed(store, Meddling(refuse))
    store.forget(act(), ids[1])
    assert changed(store, Meddling(refuse)).embedded == 0
    assert states(store)[1] == ("test:new", "active")


def test_many_refused_texts_are_counted_and_some_named(store):
    filled(store, BATCH)

    def refuse(texts):
        if any(int(text.split()[1]) % 2 for text in texts if text.startswith("Turn")):
            raise EngineUnavailable("odd")

    with pytest.raises(EngineUnavailable, match=rf"the texts of {BATCH // 2} memories .* and {BATCH // 2 - 5} more"):
        changed(store, Meddling(refuse))
    assert len(store.unembedded(99, version=2)) == BATCH // 2


def test_an_engine_that_refuses_nearly_everything_is_given_up(store):
    filled(store, 200)

    def refuse(texts):
        if texts[0].startswith("Turn"):
            raise EngineUnavailable("not these")

    embedder = Meddling(refuse)
    with pytest.raises(EngineUnavailable, match="the texts of 128 memories"):
        changed(store, embedder)
    assert embedder.calls < 4 * 2 * BATCH


def test_an_engine_that_is_down_is_not_asked_for_every_text(store):
    filled(store, 200)

    def fail(_):
        raise EngineUnavailable("the server sleeps")

    embedder = Meddling(fail)
    with pytest.raises(EngineUnavailable, match="the server sleeps"):
        changed(store, embedder)
    assert embedder.calls < 10
    assert states(store) == [("test:old", "active"), ("test:new", "building")]


def test_where_the_embedder_was_searched_already_a_refused_text_is_found_by_its_words(store):
    filled(store, 1)
    put(store, [episode("Late.")])

    def refuse(texts):
        if "Late." in texts:
            raise EngineUnavailable("not this")

    with pytest.raises(EngineUnavailable, match="by words alone for it"):
        changed(store, Meddling(refuse, name=OLD.name, dims=OLD.dims))


def test_two_at_once_end_as_one_would(store):
    """The other one makes all vectors and changes over while this one waits for its first batch."""
    filled(store, 10)
    others = iter([new()])

    def overtake(_):
        for other in others:
            changed(store, other)

    assert changed(store, Meddling(overtake)).version == 2
    assert states(store) == [("test:old", "retired"), ("test:new", "active")]
    assert store.health().problems == ()


def test_another_one_cannot_begin_before_the_first_is_done(store):
    filled(store, 1)
    store.begin_version("test:third", 8)
    with pytest.raises(InvalidInput, match="test:third are being built"):
        changed(store)
    assert states(store) == [("test:old", "active"), ("test:third", "building")]


def test_the_first_embedder_of_a_database_has_nothing_to_replace(store):
    put(store, [episode("One.")])
    report = changed(store)
    assert (report.version, report.embedded, report.pruned) == (1, 1, 0)
