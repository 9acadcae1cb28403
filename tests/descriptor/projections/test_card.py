"""The card: what A2A requires, what coarsens, which addresses it names, and that the A2A library reads it."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest

from descriptor.keys import Identity
from descriptor.projections.card import EXTENSION, card_of
from descriptor.projections.card_signature import canonical_card, sign_card
from descriptor.projections.serving import Serving, is_outside
from tests.descriptor.projections.cases import DOCUMENTS, SERVING, descriptor
from tests.descriptor.rules.cases import BOUND, ID, OFFERING, SEED

LOCAL, GLOBAL, PUBLIC = "http://192.168.1.20:7420", "http://[2001:4860:4860::8888]:7420", "https://agent.example.net"
HTTP = {
    "access": {"schemes": [{"id": "door", "transport": "http", "type": "apiKey", "in": "header", "name": "X-Door"}]}
}
MESH = {"access": {"schemes": [{"id": "mesh", "transport": "mesh", "type": "mesh-identity"}]}}


def served(urls: tuple[str, ...] = (LOCAL,), public_url: str | None = None) -> Serving:
    return Serving(urls, public_url, "/entryway", "agentmesh-envelope-v1", "0.3.0")


def card(members: dict[str, Any], serving: Serving = SERVING) -> dict[str, Any]:
    return card_of(descriptor({**BOUND, **members}), serving).members


def skill(**members: Any) -> dict[str, Any]:
    (one,) = card({"offerings": [{**OFFERING, **members}]})["skills"]
    return dict(one)


def test_a_member_that_is_optional_is_left_out_where_the_descriptor_is_silent() -> None:
    assert set(card({})) == {
        *("name", "description", "version", "supportedInterfaces", "capabilities"),
        *("defaultInputModes", "defaultOutputModes", "skills"),
    }
    assert set(skill()) == {"id", "name", "description", "tags", "inputModes", "outputModes"}


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("application/pdf", "application/pdf"),
        ("Application/PDF", "Application/PDF"),
        ("text", "text/plain"),
        ("identifier", "text/plain"),
        ("url", "text/plain"),
        ("document", "application/octet-stream"),
    ],
)
def test_a_kind_coarsens_to_a_mode(kind: str, mode: str) -> None:
    assert skill(inputs=[{"name": "a", "kind": kind}])["inputModes"] == [mode]
    assert skill(outputs=[{"name": "a", "kind": kind, "when": "per_task"}])["outputModes"] == [mode]


def test_each_mode_is_said_once_and_the_stated_ones_come_first() -> None:
    inputs = [{"name": "a", "kind": "text"}, {"name": "b", "kind": "url"}, {"name": "c", "kind": "image/png"}]
    assert skill(inputs=inputs, input_modes=["image/png", "text/html"])["inputModes"] == [
        *("image/png", "text/html", "text/plain")
    ]


def test_what_is_reached_or_granted_and_not_sent_is_no_input_mode() -> None:
    reached = {"name": "a", "kind": "url", "external": True}
    granted = {"name": "b", "kind": "identifier", "via": ["share"]}
    sent = {"name": "c", "kind": "image/png", "external": False, "via": []}
    assert skill(inputs=[reached, granted, sent])["inputModes"] == ["image/png"]
    assert "inputModes" not in skill(inputs=[reached, granted])


def test_an_offering_that_is_silent_does_not_get_the_modes_of_another() -> None:
    silent = {**OFFERING, "id": "silent", "inputs": [], "outputs": []}
    made = card({"offerings": [OFFERING, silent]})
    assert "inputModes" not in made["skills"][1]
    assert (made["defaultInputModes"], made["defaultOutputModes"]) == (["text/plain"], ["text/plain"])


def test_the_agents_own_modes_hold_where_an_offering_states_none() -> None:
    made = card({"default_input_modes": ["text/html"], "offerings": [{**OFFERING, "inputs": []}]})
    assert (made["defaultInputModes"], made["skills"][0]["inputModes"]) == (["text/html"], ["text/html"])


@pytest.mark.parametrize(
    ("members", "tags"),
    [
        ({}, ["task-specific"]),
        ({"scope": "open-with-focus", "focus": "data"}, ["open-with-focus", "data"]),
        ({"scope": "open-with-focus", "focus": "data", "role": "role-x"}, ["open-with-focus", "data", "role-x"]),
        ({"scope": "open-with-focus"}, ["open-ended"]),
        ({"scope": "unheard-of"}, ["open-ended"]),
    ],
)
def test_tags_say_the_scope_as_a_reader_takes_it(members: dict[str, Any], tags: list[str]) -> None:
    assert skill(**members)["tags"] == tags


def test_a_provider_is_the_organization_that_is_named_and_nobody_else() -> None:
    named = {"organization_name": "Willow Street Library"}
    stated = {**named, "acts_for": "organization"}
    assert card(stated)["provider"] == {"organization": "Willow Street Library", "url": f"{LOCAL}/"}
    assert "provider" not in card(named)
    assert "provider" not in card({"acts_for": "organization"})
    assert "provider" not in card(stated, served(()))


def test_the_card_names_the_bytes_it_was_made_from() -> None:
    one = descriptor(BOUND)
    made: dict[str, Any] = card_of(one, SERVING).members
    (extension,) = made["capabilities"]["extensions"]
    assert extension["uri"] == EXTENSION
    assert extension["params"] == {
        "digest": one.digest,
        "subject": ID,
        "location": f"{LOCAL}/descriptors/{one.digest}",
    }


@pytest.mark.parametrize(
    ("members", "urls", "public_url", "named"),
    [
        ({}, (LOCAL,), None, [LOCAL]),
        ({}, (LOCAL, GLOBAL), None, [LOCAL]),
        (MESH, (LOCAL, GLOBAL), None, [LOCAL]),
        (HTTP, (LOCAL, GLOBAL), None, [LOCAL, GLOBAL]),
        ({}, (GLOBAL,), None, []),
        ({}, (LOCAL,), PUBLIC, [LOCAL]),
        (MESH, (LOCAL,), PUBLIC, [LOCAL]),
        (HTTP, (LOCAL, GLOBAL), PUBLIC, [PUBLIC]),
        ({}, (LOCAL,), "http://desk.local:7420", ["http://desk.local:7420"]),
        ({}, (), None, []),
    ],
)
def test_an_address_outside_is_named_only_where_a_scheme_over_http_is_declared(
    members: dict[str, Any], urls: tuple[str, ...], public_url: str | None, named: list[str]
) -> None:
    made = card(members, served(urls, public_url))
    assert [one["url"] for one in made["supportedInterfaces"]] == [f"{url}/entryway" for url in named]
    unnamed = {*urls, *([public_url] if public_url else ())} - {*named}
    assert not any(url in json.dumps(made) for url in unnamed)


@pytest.mark.parametrize(
    ("url", "outside"),
    [
        ("http://192.168.1.20:7420", False),
        ("http://10.0.0.1", False),
        ("http://127.0.0.1:7420", False),
        ("http://100.64.0.7:7420", False),
        ("http://[fd00::1]:7420", False),
        ("http://[fe80::1%25eth0]:7420", False),
        ("http://desk:7420", False),
        ("http://desk.local.:7420", False),
        ("http://desk.home.arpa", False),
        ("http://localhost:7420", False),
        ("http://8.8.8.8", True),
        ("http://[2001:4860:4860::8888]", True),
        ("https://desk.example.net", True),
        ("https://desk.notlocal", True),
    ],
)
def test_what_leads_here_from_outside(url: str, outside: bool) -> None:
    assert is_outside(url) is outside


# The A2A library reads the card, warns of nothing, and canonicalizes it as it was signed.

WITHOUT_SKILLS = {"required-members-only", "no-offerings", "empty"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_a2a_library_reads_the_card_as_it_was_signed(name: str, caplog: pytest.LogCaptureFixture) -> None:
    resolver = pytest.importorskip("a2a.client.card_resolver", reason="a2a-sdk is not installed")
    from a2a.utils import signing

    identity = Identity.from_seed_text(SEED)
    made = sign_card(card_of(descriptor(DOCUMENTS[name]), SERVING).members, identity)
    with caplog.at_level(logging.WARNING):
        read = resolver.parse_agent_card(copy.deepcopy(made))
        assert signing._canonicalize_agent_card(read).encode() == canonical_card(made)
    # A2A wants a skill of every agent, and none is invented for one that offers nothing.
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == (name in WITHOUT_SKILLS)
    assert all("missing or empty: skills. " in warning for warning in warnings)
