from typing import get_args

import pytest

from engrain.domain.checks import MAX_LIMIT
from engrain.errors import InvalidInput
from engrain.retrieval.presets import PRESETS, Channel, Fusion, preset


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_found_by_its_name_and_made_of_known_parts(name):
    found = preset(name)
    assert found.name == name
    assert found.fusion in get_args(Fusion)
    assert set(found.weights) <= set(get_args(Channel))
    assert all(weight > 0 for weight in found.weights.values())
    assert {"vector", "keyword"} & set(found.weights)
    assert found.depth <= MAX_LIMIT


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(
        InvalidInput, match="preset 'best' is unknown; choose one of: engrain, semantic, keyword, hybrid"
    ):
        preset("best")
