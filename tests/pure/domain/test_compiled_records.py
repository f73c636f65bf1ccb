import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from engrain.domain.compiled_records import assign_fields, compile_copy, compile_maker
from engrain.domain.records import Episode
from tests.support.sample_records import episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    name: str
    size: int = 3
    notes: dict = field(default_factory=dict)


@assign_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    name: str
    size: int = 3
    notes: dict = field(default_factory=dict)


MAKERS = pytest.mark.parametrize("make", [Assigned, compile_maker(Assigned)], ids=["class", "maker"])


@MAKERS
@pytest.mark.parametrize("values", [{"name": "a"}, {"name": "a", "size": 4}, {"name": "a", "notes": {"b": 1}}])
def test_an_object_has_the_fields_that_its_dataclass_gives_it(make, values):
    plain, assigned = Plain(**values), make(**values)
    assert [getattr(assigned, name.name) for name in fields(Plain)] == [
        getattr(plain, name.name) for name in fields(Plain)
    ]
    assert type(assigned) is Assigned
    assert assigned == Assigned(**values)
    assert repr(assigned) == repr(plain).replace("Plain", "Assigned")


@MAKERS
def test_a_default_that_is_made_is_made_for_each_object(make):
    assert make(name="a").notes is not make(name="a").notes


@MAKERS
@pytest.mark.parametrize("values", [{}, {"size": 4}, {"name": "a", "colour": "red"}])
def test_arguments_are_refused_as_by_the_dataclass(make, values):
    with pytest.raises(TypeError):
        make(**values)
    with pytest.raises(TypeError):
        make("a")


@MAKERS
def test_an_object_stays_frozen(make):
    made = make(name="a")
    for change in (lambda: setattr(made, "size", 5), lambda: delattr(made, "size")):
        with pytest.raises(FrozenInstanceError):
            change()


def test_an_object_can_be_replaced_copied_and_pickled():
    turn = episode("The tram is late.")
    assert replace(replace(turn, turn=7), turn=turn.turn) == turn
    assert copy.deepcopy(turn) == pickle.loads(pickle.dumps(turn)) == turn


def test_a_compiled_copy_differs_in_one_field_alone():
    turn = episode("The tram is late.")
    assert compile_copy(Episode, "turn")(turn, 7) == turn.in_turn(7) == replace(turn, turn=7)
