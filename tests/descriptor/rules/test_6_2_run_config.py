"""Chapter 6.2, run configs: the settings a job may set, and the values each of them takes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import rfc8785

from descriptor.rules.section_6_2_run_config import names_a_secret
from tests.descriptor.rules.cases import Case, accepted, draft, judge, refused, without

WORDS: dict[str, Any] = {"name": "speaker", "kind": "preference", "default": "author", "job_may_set": True}
MODEL: dict[str, Any] = {"name": "model", "kind": "rule", "default": "example/a", "allowed": ["example/a", "example/b"]}
CEILING: dict[str, Any] = {"name": "pages", "kind": "rule", "default": 10}
SWITCH: dict[str, Any] = {"name": "draft", "kind": "rule", "default": True}
BLOCK = "/run_config"


def settings(*listed: Any, **members: Any) -> dict[str, Any]:
    return draft(run_config={"settings": list(listed), **members})


def named(*entries: dict[str, Any]) -> dict[str, Any]:
    """Named run configs, each with the digest of what it says unless it brings one."""
    return settings(
        WORDS, MODEL, CEILING, SWITCH, named=[{**entry, "digest": digest(entry)} | entry for entry in entries]
    )


def digest(entry: dict[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(rfc8785.dumps(entry)).hexdigest()


OVER: dict[str, Any] = {"name": "a", "settings": {"pages": 20}}
CASES: list[Case] = [
    *accepted("D6.2-run_config", settings(), settings(WORDS, MODEL, CEILING, SWITCH), settings(WORDS, replay=True)),
    *refused(
        "D6.2-run_config",
        (draft(run_config=[]), BLOCK),
        (draft(run_config={"replay": True}), f"{BLOCK}/settings"),
        (settings("speaker"), f"{BLOCK}/settings/0"),
        *((settings(without(WORDS, name)), f"{BLOCK}/settings/0/{name}") for name in ("name", "kind", "default")),
        (settings({**WORDS, "kind": "wish"}), f"{BLOCK}/settings/0/kind"),
        (settings({**WORDS, "default": None}), f"{BLOCK}/settings/0/default"),
        (settings({**WORDS, "default": ["author"]}), f"{BLOCK}/settings/0/default"),
        (settings({**WORDS, "job_may_set": "yes"}), f"{BLOCK}/settings/0/job_may_set"),
        (settings(WORDS, replay=1), f"{BLOCK}/replay"),
    ),
    *accepted("D6.2-run_config-name", settings(WORDS, {**WORDS, "name": "voice"})),
    *refused(
        "D6.2-run_config-name",
        (settings(WORDS, MODEL, WORDS), f"{BLOCK}/settings/2/name"),
        (named({"name": "a", "settings": {}}, {"name": "a", "settings": {"draft": False}}), f"{BLOCK}/named/1/name"),
    ),
    *accepted(
        "D6.2-setting-allowed",
        settings(MODEL),
        settings({**CEILING, "allowed": [5, 10.0]}),
        settings({**WORDS, "allowed": ["author", "narrator"]}),
    ),
    *refused(
        "D6.2-setting-allowed",
        (settings(without(MODEL, "allowed")), f"{BLOCK}/settings/0/allowed"),
        (settings({**MODEL, "allowed": "example/a"}), f"{BLOCK}/settings/0/allowed"),
        (settings({**MODEL, "allowed": []}), f"{BLOCK}/settings/0/default"),
        (settings({**MODEL, "allowed": ["example/b"]}), f"{BLOCK}/settings/0/default"),
        (settings({**MODEL, "allowed": ["example/a", 7]}), f"{BLOCK}/settings/0/allowed/1"),
        (settings({**MODEL, "allowed": ["example/a", "example/a"]}), f"{BLOCK}/settings/0/allowed/1"),
        (settings({**SWITCH, "allowed": [True, 1]}), f"{BLOCK}/settings/0/allowed/1"),
        (settings({**CEILING, "allowed": [10, True]}), f"{BLOCK}/settings/0/allowed/1"),
    ),
    *accepted(
        "D6.2-setting-secret", settings({**WORDS, "name": "max_tokens"}), settings({**WORDS, "name": "key_points"})
    ),
    *refused("D6.2-setting-secret", (settings({**WORDS, "name": "api_key"}), f"{BLOCK}/settings/0/name")),
    *accepted("D6.2-tested_models", settings(MODEL, tested_models=[]), settings(MODEL, tested_models=["example/a"])),
    *refused(
        "D6.2-tested_models",
        (settings(MODEL, tested_models="example/a"), f"{BLOCK}/tested_models"),
        (settings(MODEL, tested_models=["example/a", 7]), f"{BLOCK}/tested_models/1"),
        (settings(MODEL, tested_models=["example/a", "example/a"]), f"{BLOCK}/tested_models/1"),
    ),
    *accepted("D6.2-tested_models-allowed", settings(MODEL, tested_models=["example/b", "example/a"])),
    *refused(
        "D6.2-tested_models-allowed",
        (settings(MODEL, tested_models=["example/a", "example/c"]), f"{BLOCK}/tested_models/1"),
        (settings(WORDS, tested_models=["example/a"]), f"{BLOCK}/tested_models"),
    ),
    *accepted("D6.2-named", named({"name": "a", "settings": {"speaker": "narrator"}}), settings(named=[])),
    *refused(
        "D6.2-named",
        (settings(named={}), f"{BLOCK}/named"),
        (settings(named=["a"]), f"{BLOCK}/named/0"),
        (named({"settings": {}}), f"{BLOCK}/named/0/name"),
        (named({"name": "a"}), f"{BLOCK}/named/0/settings"),
        (named({"name": "a", "settings": []}), f"{BLOCK}/named/0/settings"),
        (settings(named=[{"name": "a", "settings": {}}]), f"{BLOCK}/named/0/digest"),
        (named({"name": "a", "settings": {}, "digest": "sha256:00"}), f"{BLOCK}/named/0/digest"),
    ),
    *accepted(
        "D6.2-named-settings", named({"name": "a", "settings": {"model": "example/b", "pages": 3, "draft": False}})
    ),
    *refused(
        "D6.2-named-settings",
        *(
            (named({"name": "a", "settings": {name: value}}), f"{BLOCK}/named/0/settings/{name}")
            for name, value in {"voice": "x", "speaker": 7, "model": "example/c", "pages": 11, "draft": 1}.items()
        ),
        (named({"name": "a", "settings": {"pages": True}}), f"{BLOCK}/named/0/settings/pages"),
        # In the list, and over the ceiling that the default is.
        (
            settings({**CEILING, "allowed": [5, 10, 20]}, named=[{**OVER, "digest": digest(OVER)}]),
            f"{BLOCK}/named/0/settings/pages",
        ),
    ),
    *accepted("D6.2-named-digest", named({"name": "é", "settings": {"pages": 0.5}})),
    *refused(
        "D6.2-named-digest",
        (named({"name": "a", "settings": {}, "digest": "sha256:" + "0" * 64}), f"{BLOCK}/named/0/digest"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_run_configs(case: Case) -> None:
    judge(case)


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apiKey", "API-KEY", "access_token", "password", "db password", "client_secret", "secret"),
        *("endpoint", "base_url", "webhookUrl", "account_id", "tenant-id", "customer number", "ip_address", "email"),
        *("email_address", "host", "smtp_host", "port_of_host_port", "connection_string", "iban", "ssh_key", "address"),
    ],
)
def test_a_name_of_what_an_install_binds_is_known(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("max_tokens", "tone_of_address", "keyboard_layout", "key_points", "model", "language", "speaker", "audience"),
        *(
            "account_of_events",
            "hosting_style",
            "secretary",
            "tokenizer",
            "key signature",
            "urlaub",
            "pinned",
            "report",
        ),
        *("emailing", "phonetics", "form_of_address", "keywords", "depth", "monkey", "project_scope"),
    ],
)
def test_a_name_of_a_choice_is_left_alone(name: str) -> None:
    assert not names_a_secret(name)
