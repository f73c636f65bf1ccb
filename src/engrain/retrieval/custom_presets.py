"""Rankings of one's own: a preset that ships, with other weights. Parsed once, where the settings come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engrain.domain import checks
from engrain.errors import InvalidInput
from engrain.retrieval.channels import CHANNELS, ONLY_JUDGE
from engrain.retrieval.presets import ENGRAIN, PRESETS, Preset
from engrain.retrieval.ranking import JUDGES

_HEAVIEST = 1_000_000.0
_KEYS = ("base", "weights", "min_confidence")


# What two rankings call their weights in the systems they come from, and the channels and judges that share each.
_RECALL = {"relevance": ("vector", "keyword"), "importance": ("importance",), "recency": ("recency",)}
_RECALL |= {"confidence": ("confidence",)}
_WEIGHTED = {"recency": ("newest",), "similarity": ("vector",), "importance": ("important",)}


def with_weights(*, score: Mapping[str, float], hybrid: Mapping[str, float]) -> Mapping[str, Preset]:
    """The presets that ship; `recall` with the weights `score`, `weighted` with `hybrid`, under their own names.

    Raises:
        InvalidInput: weights that leave nothing that proposes memories.
    """
    weights = {"recall": _shared(score, _RECALL), "weighted": _shared(hybrid, _WEIGHTED)}
    tuned = {
        name: replace(PRESETS[name], weights=_weights(name, given, PRESETS[name])) for name, given in weights.items()
    }
    return {**PRESETS, **tuned}


def _shared(weights: Mapping[str, float], channels: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """The weight of each channel: those that are one thing under its name share its weight."""
    return {each: weights[name] / len(those) for name, those in channels.items() for each in those}


def with_custom(settings: Mapping[str, object], shipped: Mapping[str, Preset] = PRESETS) -> Mapping[str, Preset]:
    """The presets that ship and those of the setting `retrieval.presets`, which may be based on them, by name.

    Raises:
        InvalidInput: a name that is taken, an unknown key, base or channel (with the nearest known one), or a weight
            that is negative, no finite number, or leaves nothing that proposes memories.
    """
    return (
        {**shipped, **{name: _parsed(name, value, shipped) for name, value in settings.items()}}
        if settings
        else shipped
    )


def _parsed(name: str, value: object, shipped: Mapping[str, Preset]) -> Preset:
    if name in shipped:
        raise InvalidInput(f"preset {name} is one that ships; choose another name for your own")
    if not isinstance(value, Mapping):
        raise InvalidInput(f"preset {name:.80} must be a mapping such as {{'base': 'engrain', 'weights': {{...}}}}")
    for key in value:
        _known(key, _KEYS, what=f"key of preset {name:.80}")
    base = shipped[_known(value.get("base", ENGRAIN.name), shipped, what=f"base of preset {name:.80}")]
    least = value.get("min_confidence", base.min_confidence)
    return replace(
        base,
        name=checks.name(name, name="preset"),
        weights=_weights(name, value.get("weights", {}), base),
        min_confidence=checks.number(least, name=f"min_confidence of preset {name:.80}", low=0, high=1),
    )


def _weights(name: str, value: object, base: Preset) -> Mapping[str, float]:
    """The base's weights under the ones given, in the base's order; what weighs nothing is left out."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"weights of preset {name:.80} must map channels to numbers, not {type(value).__name__}")
    merged: dict[str, float] = dict(base.weights)
    for channel, weight in value.items():
        known = _known(channel, (*CHANNELS, *JUDGES), what=f"channel of preset {name:.80}")
        what = f"preset {name:.80}: the weight of {known}"
        merged[known] = checks.number(weight, name=what, low=0, high=_HEAVIEST)
    kept = {channel: weight for channel, weight in merged.items() if weight > 0}
    if not kept.keys() & (CHANNELS.keys() - ONLY_JUDGE):
        finds = ", ".join(each for each in CHANNELS if each not in ONLY_JUDGE)
        raise InvalidInput(f"preset {name:.80} finds nothing: give one of these a weight above 0: {finds}")
    return kept


def _known(value: object, known: Iterable[str], *, what: str) -> str:
    options = list(known)
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}; known are: {', '.join(options)}")
    if value in options:
        return value
    raise InvalidInput(checks.describe_unknown(value, options, name=what))
