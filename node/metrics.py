"""What a node counts, in the text format of Prometheus.

The counters are plain integers where they are counted, so that an answer does not pay for being counted; they become
metrics when somebody looks. `prometheus-client` is imported with this module, which is when somebody first looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Sample:
    def __init__(self, answered: Mapping[tuple[str, int], int], values: Mapping[str, float], info: dict[str, str]):
        self._answered = answered
        self._values = values
        self._info = info

    def collect(self) -> Iterable[Metric]:
        answers = CounterMetricFamily("agent_node_answers", "Answers given.", labels=("route", "status"))
        for (route, status), count in sorted(self._answered.items()):
            answers.add_metric((route, str(status)), count)
        yield answers
        yield InfoMetricFamily("agent_node_descriptor", "The current Descriptor.", value=self._info)
        for name, value in self._values.items():
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            yield kind(f"agent_node_{name.removesuffix('_total')}", name.replace("_", " "), value=value)


def render(answered: Mapping[tuple[str, int], int], values: Mapping[str, float], info: dict[str, str]) -> bytes:
    """The metrics page.

    `answered` counts answers by (route, status); `values` are further numbers by name, those ending in `_total` being
    counters; `info` describes the current Descriptor.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(_Sample(dict(answered), values, info))
    return generate_latest(registry)
