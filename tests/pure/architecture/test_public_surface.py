import inspect
import types

import pytest

import engrain

MOST_NAMES = 15
CLASSES = [name for name in engrain.__all__ if name != "__version__"]


def test_the_surface_is_small_sorted_and_without_repeats():
    assert len(engrain.__all__) <= MOST_NAMES
    assert sorted(set(CLASSES)) == CLASSES
    assert dir(engrain) == engrain.__all__


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_name_is_a_documented_class_of_that_name(name):
    found = getattr(engrain, name)
    assert inspect.isclass(found)
    assert found.__name__ == name
    assert found.__module__.startswith("engrain.")
    assert vars(found)["__doc__"].strip()


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_member_of_a_public_class_is_typed_or_documented(name):
    """A name whose types say everything needs no sentence; one without types does."""
    for member in inspect.getmembers_static(getattr(engrain, name)):
        label, value = member
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if label.startswith("_") or not isinstance(function, types.FunctionType):
            continue
        if function.__module__.startswith("engrain."):
            assert function.__doc__ or "return" in function.__annotations__, f"{name}.{label}"


@pytest.mark.parametrize("name", ["Memory", "Agent"])
def test_every_verb_of_the_facade_is_documented(name):
    members = {label: value for label, value in vars(getattr(engrain, name)).items() if not label.startswith("_")}
    assert [label for label, value in members.items() if not inspect.getdoc(value)] == []


def test_the_version_is_a_release_number():
    assert [part.isdigit() for part in engrain.__version__.split(".")] == [True, True, True]


def test_a_name_that_is_not_there_is_an_attribute_error_as_python_has_it():
    with pytest.raises(AttributeError, match="module 'engrain' has no attribute 'Memmory'"):
        _ = engrain.Memmory


def test_names_for_type_checkers_are_those_that_are_loaded():
    """The imports under TYPE_CHECKING and the table of homes are written twice; here they are compared."""
    homes = engrain._HOMES
    assert sorted(homes) == CLASSES
    assert {name: getattr(engrain, name).__module__ for name in homes} == homes
