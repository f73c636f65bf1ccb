"""Presets of the settings: a preset that ships with other weights, parsed once when the settings are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engrain.domain import checks
from engrain.errors import InvalidInput
from engrain.retrieval.channels import CHANNELS, RESCORING_CHANNELS
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset
from engrain.retrieval.ranking.signals import SIGNALS

_HEAVIEST = 1_000_000.0
_KEYS = ("base", "weights", "min_confidence")
# The names of weights in the settings of two rankings, with the channels and signals that share each.
_RECALL = {"relevance": ("vector", "keyword"), "importance": ("importance",), "recency": ("recency",)}
_RECALL |= {"confidence": ("confidence",)}
_WEIGHTED = {"recency": ("newest",), "similarity": ("vector",), "importance": ("important",)}


def apply_weights(*, score: Mapping[str, float], hybrid: Mapping[str, float]) -> Mapping[str, Preset]:
    """The presets that ship; `recall` with the weights `score`, `weighted` with `hybrid`, under their own names.

    Raises:
        InvalidInput: weights that leave nothing that proposes memories.
    """
    weights = {"recall": _split_weights(score, _RECALL), "weighted": _split_weights(hybrid, _WEIGHTED)}
    tuned = {
        name: replace(PRESETS[name], weights=_weights(name, given, PRESETS[name])) for name, given in weights.items()
    }
    return {**PRESETS, **tuned}


def _split_weights(weights: Mapping[str, float], channels: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """The weight of each channel; channels under one name share its weight equally."""
    return {channel: weights[name] / len(named) for name, named in channels.items() for channel in named}


def add_custom(settings: Mapping[str, object], shipped: Mapping[str, Preset] = PRESETS) -> Mapping[str, Preset]:
    """The presets that ship and those of the setting `retrieval.presets`, which may be based on them, by name.

    Raises:
        InvalidInput: a name that is taken, an unknown key, base or channel (with the nearest known one), or a weight
            that is negative, no finite number, or leaves nothing that proposes memories.
    """
    return {**shipped, **{name: _parse(name, value, shipped) for name, value in settings.items()}}


def _parse(name: str, value: object, shipped: Mapping[str, Preset]) -> Preset:
    if name in shipped:
        raise InvalidInput(f"preset {name} is one that ships; choose another name for your own")
    if not isinstance(value, Mapping):
        raise InvalidInput(f"preset {name:.80} must be a mapping such as {{'base': 'engrain', 'weights': {{...}}}}")
    for key in value:
        _check_known(key, _KEYS, name=f"key of preset {name:.80}")
    base = shipped[_check_known(value.get("base", ENGRAIN.name), shipped, name=f"base of preset {name:.80}")]
    least = value.get("min_confidence", base.min_confidence)
    return replace(
        base,
        name=checks.name(name, name="preset"),
        weights=_weights(name, value.get("weights", {}), base),
        min_confidence=checks.number(least, name=f"min_confidence of preset {name:.80}", low=0, high=1),
    )


def _weights(name: str, value: object, base: Preset) -> Mapping[str, float]:
    """Merge weights into those of the base, in its order; weights of 0 are left out."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"weights of preset {name:.80} must map channels to numbers, not {type(value).__name__}")
    merged: dict[str, float] = dict(base.weights)
    for given, weight in value.items():
        channel = _check_known(given, (*CHANNELS, *SIGNALS), name=f"channel of preset {name:.80}")
        label = f"preset {name:.80}: the weight of {channel}"
        merged[channel] = checks.number(weight, name=label, low=0, high=_HEAVIEST)
    weights = {channel: weight for channel, weight in merged.items() if weight > 0}
    if not weights.keys() & (CHANNELS.keys() - RESCORING_CHANNELS):
        finds = ", ".join(channel for channel in CHANNELS if channel not in RESCORING_CHANNELS)
        raise InvalidInput(f"preset {name:.80} finds nothing: give one of these a weight above 0: {finds}")
    return weights


def _check_known(value: object, known: Iterable[str], *, name: str) -> str:
    options = list(known)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}; known are: {', '.join(options)}")
    if value in options:
        return value
    raise InvalidInput(checks.describe_unknown(value, options, name=name))
