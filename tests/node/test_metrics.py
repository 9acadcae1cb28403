"""The metrics page, read by Prometheus's own parser."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from node.metrics import CONTENT_TYPE, render
from tests.node.parts import HOSTILE

ANSWERED = {("well-known", 200): 3, ("well-known", 304): 1, ("unknown", 404): 2}
VALUES = {"connections": 4, "connections_refused_total": 5, "uptime_seconds": 6.5}
INFO = {"id": "U1", "digest": "sha256:00", "agent_version": "1.0"}


def samples(page: bytes) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The page as Prometheus reads it: values by name and labels."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(page.decode()):
        assert family.documentation
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_answers_are_counted_by_route_and_status() -> None:
    assert samples(render(ANSWERED, VALUES, INFO))["agent_node_answers_total"] == {
        (("route", "well-known"), ("status", "200")): 3,
        (("route", "well-known"), ("status", "304")): 1,
        (("route", "unknown"), ("status", "404")): 2,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [("agent_node_connections", 4), ("agent_node_connections_refused_total", 5), ("agent_node_uptime_seconds", 6.5)],
)
def test_further_numbers_stand_under_their_names(name: str, value: float) -> None:
    assert samples(render(ANSWERED, VALUES, INFO))[name] == {(): value}


def test_what_only_grows_is_a_counter() -> None:
    kinds = {
        family.name: family.type for family in text_string_to_metric_families(render(ANSWERED, VALUES, INFO).decode())
    }
    assert kinds["agent_node_connections_refused"] == kinds["agent_node_answers"] == "counter"
    assert kinds["agent_node_connections"] == kinds["agent_node_uptime_seconds"] == "gauge"


@pytest.mark.parametrize("agent_version", ["1.0", HOSTILE, 'a"b\\c\nd', "é🚀"])
def test_the_current_descriptor_is_told_whatever_its_operator_wrote(agent_version: str) -> None:
    page = render(ANSWERED, VALUES, {**INFO, "agent_version": agent_version})
    ((labels, value),) = samples(page)["agent_node_descriptor_info"].items()
    assert (dict(labels), value) == ({**INFO, "agent_version": agent_version}, 1)


def test_the_process_measures_itself() -> None:
    assert samples(render({}, {}, INFO))["process_resident_memory_bytes"][()] > 2**20


def test_the_media_type_is_the_text_formats() -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=0.0.4")
