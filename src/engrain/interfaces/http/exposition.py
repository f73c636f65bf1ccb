"""Exposition of a memory's metrics for Prometheus, in a registry of their own."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from engrain.metrics import BOUNDS, Family, Sample

if TYPE_CHECKING:
    from engrain.service import Memory

PREFIX = "engrain_"
_BOUNDS = (*(str(bound) for bound in BOUNDS), "+Inf")


class Exposition:
    """Encodes the metrics of a memory and of its process."""

    def __init__(self, memory: "Memory") -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_MetricsCollector(memory))
        ProcessCollector(registry=self._registry)

    def encode(self, accept: str) -> tuple[bytes, str]:
        """Return the text and its media type: OpenMetrics where the header Accept prefers it."""
        encoder: tuple[Callable[[Any], bytes], str] = choose_encoder(accept)
        encode, media_type = encoder
        return encode(self._registry), media_type


class _MetricsCollector(Collector):
    def __init__(self, memory: "Memory") -> None:
        self._memory = memory

    def collect(self) -> Iterator[Metric]:
        for family in self._memory.metrics().families:
            if family.samples:
                yield _metric(family)


def _metric(family: Family) -> Metric:
    name = PREFIX + family.name
    labels = [label for label, _ in family.samples[0].labels]
    if family.kind == "histogram":
        histogram = HistogramMetricFamily(name, family.help, labels=labels)
        for sample in family.samples:
            buckets = list(zip(_BOUNDS, accumulate(map(float, sample.buckets)), strict=True))
            histogram.add_metric(_values(sample), buckets=buckets, sum_value=sample.value)
        return histogram
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    plain = kind(name, family.help, labels=labels)
    for sample in family.samples:
        plain.add_metric(_values(sample), sample.value)
    return plain


def _values(sample: Sample) -> list[str]:
    return [value for _, value in sample.labels]
