from typing import get_args

import pytest

from engrain.domain.checks import MAX_LIMIT
from engrain.domain.records import KINDS
from engrain.errors import InvalidInput
from engrain.retrieval.channels import CHANNELS, RESCORING_CHANNELS
from engrain.retrieval.fusion import FUSIONS
from engrain.retrieval.presets import ENGRAIN, PRESETS, Fusion, find_preset
from engrain.retrieval.ranking.signals import SIGNALS


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_found_by_its_name_and_made_of_known_parts(name):
    found = find_preset(name)
    assert found.name == name
    assert found.fusion in FUSIONS
    assert found.weights.keys() <= CHANNELS.keys() | SIGNALS.keys()
    assert all(weight > 0 for weight in found.weights.values())
    assert found.weights.keys() & (CHANNELS.keys() - RESCORING_CHANNELS)
    assert found.depth <= MAX_LIMIT
    assert found.ties is None or found.ties in found.weights
    assert set(found.kinds) <= set(KINDS)
    assert all(found.depth_for(limit) >= limit for limit in (0, 1, MAX_LIMIT))


def test_every_way_to_make_one_list_of_many_has_its_function():
    assert set(get_args(Fusion)) == set(FUSIONS)


def test_channels_and_judges_share_no_name():
    assert not CHANNELS.keys() & SIGNALS.keys()


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match="preset 'best' is unknown; choose one of: engrain, semantic, keyword"):
        find_preset("best")
    with pytest.raises(InvalidInput, match="choose one of: mine"):
        find_preset("engrain", {"mine": ENGRAIN})


@pytest.mark.req("B08.1")
@pytest.mark.req("N11")
def test_the_weights_of_the_composite_score():
    weights = PRESETS["recall"].weights
    assert weights["vector"] + weights["keyword"] == 0.4
    assert (weights["importance"], weights["recency"], weights["confidence"]) == (0.3, 0.2, 0.1)
    assert PRESETS["recall"].min_confidence == 0.2
