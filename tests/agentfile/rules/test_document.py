"""The file as a whole: rules 1 to 4, its encoding and limits, and what no member may hold."""

from __future__ import annotations

import pytest

from agentfile.parser import MAX_BYTES
from tests.agentfile.cases import (
    ARTIFACT,
    CAVEAT,
    CHECK,
    EXAMPLE_BYTES,
    LEAST,
    LEGACY_SCHEMA,
    NANGO,
    PARAMETER,
    SCHEMA,
    SCHEMA_V2,
    SKILL,
    WHOLE,
    Case,
    accepted,
    blueprint,
    check,
    encoded,
    evaluation,
    file,
    judge,
    parameter,
    refused,
    source,
    tool,
)

CODE = {"executable": "print(1)"}
TEXTS = ("id", "name", "description", "version", "exportedAt")

CASES: list[Case] = [
    *accepted("S5", EXAMPLE_BYTES, encoded(LEAST), b" \n" + encoded(LEAST) + b"\n"),
    *refused(
        "S5",
        (b"", ""),
        (b"{", ""),
        (b"agent", ""),
        (b"\xef\xbb\xbf" + encoded(LEAST), ""),
        (encoded(LEAST).decode().encode("utf-16"), ""),
        (encoded(LEAST)[:-1] + b', "name": "Other"}', ""),
        (encoded(LEAST)[:-1] + b', "n": 1e999}', ""),
        (encoded(LEAST)[:-1] + b', "n": NaN}', ""),
        (encoded(LEAST)[:-1] + b', "n": "\\ud800"}', ""),
        (encoded(LEAST)[:-1] + b', "n": "\xff"}', ""),
        (f'{{"$schema": "{SCHEMA}", "$schema": "{SCHEMA_V2}"}}'.encode(), ""),
    ),
    *accepted("S19.10", file(n="x" * 8_000_000), encoded(LEAST)[:-1] + b', "n":' + b"[" * 63 + b"]" * 63 + b"}"),
    *refused(
        "S19.10",
        (file(n="x" * MAX_BYTES), ""),
        (encoded(LEAST)[:-1] + b', "n":' + b"[" * 64 + b"]" * 64 + b"}", ""),
    ),
    *accepted("R1", LEAST, EXAMPLE_BYTES),
    *refused("R1", *((one, "") for one in (b"[]", b"null", b"true", b"1", b'"{}"', b"[{}]"))),
    *accepted("R2", LEAST, file(**{"$schema": LEGACY_SCHEMA})),
    *refused(
        "R2",
        *(
            (file(**{"$schema": schema}), "/$schema")
            for schema in (..., SCHEMA_V2, "", None, 1, [SCHEMA], SCHEMA + "#", SCHEMA.upper(), " " + SCHEMA)
        ),
        *(
            (file(**{"$schema": schema}), "/$schema")
            for schema in (SCHEMA.replace("https", "http"), LEGACY_SCHEMA.replace("v1", "v2"), SCHEMA[:-5])
        ),
        (b"{}", "/$schema"),
        (b'{"$Schema": "x"}', "/$schema"),
    ),
    *accepted("R3", LEAST, file(id="ü", name=" ", description="\n", version="1", exportedAt="2026-07-30")),
    *refused(
        "R3",
        *((file(**{name: value}), f"/{name}") for name in TEXTS for value in (..., "", None, 1, ["x"])),
        (file(id=..., exportedAt=""), ("/id", "/exportedAt")),
    ),
    *accepted("R4", file(emoji="📄"), file(emoji="")),
    *refused("R4", *((file(emoji=value), "/emoji") for value in (None, 1, ["📄"], {}))),
    *accepted("S6-version", *(file(version=one) for one in ("1.2.0", "1", "v2.0", "1.0.0-rc.1+b", "2026.11"))),
    *refused("S6-version", *((file(version=one), "/version") for one in ("latest", "1.x", "1.0.0\n", "-1", "1..2"))),
    *accepted(
        "S6-exportedAt",
        *(
            file(exportedAt=one)
            for one in ("2026-07-30T06:00:00Z", "2026-07-30T06:00:00.123+03:00", "20260730T060000Z", "2026-07-30")
        ),
    ),
    *refused(
        "S6-exportedAt", *((file(exportedAt=one), "/exportedAt") for one in ("today", "30.7.2026", "2026-13-01", "7"))
    ),
    *accepted("S6-metadata", file(metadata={}), file(metadata={"anything": [None]})),
    *refused("S6-metadata", *((file(metadata=value), "/metadata") for value in (None, [], "x", 1))),
    *accepted(
        "S8.2-executable",
        file(metadata={"note": CODE}),
        file(inputs={"accepts": ["text"], "schema": {"properties": CODE}}),
        check(config=CODE),
        file(unknown=CODE),
        blueprint(skills=[{**SKILL, "recipe": "executable"}]),
    ),
    *refused(
        "S8.2-executable",
        (file(**CODE), "/executable"),
        (file(executable=None), "/executable"),
        (file(capabilityCapsules=[]), "/capabilityCapsules"),
        (blueprint(capabilityCapsules=[]), "/blueprint/capabilityCapsules"),
        (blueprint(**CODE), "/blueprint/executable"),
        (blueprint(guardrails=CODE), "/blueprint/guardrails/executable"),
        (blueprint(skills=[SKILL, {**SKILL, **CODE}]), "/blueprint/skills/1/executable"),
        (blueprint(caveats=[{**CAVEAT, **CODE}]), "/blueprint/caveats/0/executable"),
        (tool(NANGO, **CODE), "/blueprint/tools/0/executable"),
        (parameter(**CODE), "/parameters/0/executable"),
        (parameter(type="file", artifact={**ARTIFACT, **CODE}), "/parameters/0/artifact/executable"),
        (file(inputs={"accepts": ["text"], **CODE}), "/inputs/executable"),
        (file(outputs={"shape": "void", **CODE}), "/outputs/executable"),
        (file(triggers=[{"type": "manual", **CODE}]), "/triggers/0/executable"),
        (file(triggers=[{"type": "unheard-of", **CODE}]), "/triggers/0/executable"),
        (file(connectivity=CODE), "/connectivity/executable"),
        (evaluation(**CODE), "/evaluation/executable"),
        (evaluation(checks=[{**CHECK, **CODE}]), "/evaluation/checks/0/executable"),
        (file(metadata=CODE), "/metadata/executable"),
        (file(memory=[{"key": "k", "value": "v", **CODE}]), "/memory/0/executable"),
    ),
    *accepted("S6-alike", file(nаmе_of_whoever="x"), file(metadata={"Tag": [], "note": {"Tags": []}})),
    *refused(
        "S6-alike",
        (file(Sources=[]), "/Sources"),
        (file(**{"sources ": []}), "/sources "),
        (file(оutрuts={}), "/оutрuts"),  # with letters of Cyrillic
        (file(**{"me\u200bmory": []}), "/me\u200bmory"),
        (blueprint(guard_rails={}), "/blueprint/guard_rails"),
        (file(metadata={"ｔａｇｓ": []}), "/metadata/ｔａｇｓ"),
    ),
    *accepted("S3-binding", file(binding={}), WHOLE),
    *refused(
        "S3-binding",
        (file(sourceBindings=[{"path": "/srv/book.xlsx"}]), "/sourceBindings"),
        (blueprint(sourceBinding={}), "/blueprint/sourceBinding"),
        (blueprint(source_bindings={}), "/blueprint/source_bindings"),
        (file(metadata={"sоurceBinding": {}}), "/metadata/sоurceBinding"),  # with a letter of Cyrillic
        (file(parameters=[{**PARAMETER, "sourceBinding": 1}]), "/parameters/0/sourceBinding"),
    ),
    *accepted(
        "S19.8",
        blueprint(systemPrompt="Never show an API key, a token or a password."),
        parameter(default="sk-"),
        source(label="token"),
    ),
    *refused(
        "S19.8",
        (blueprint(systemPrompt="Use the key sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2 for it."), "/blueprint/systemPrompt"),
        (parameter(default="ghp_0123456789abcdefghijABCDEFGHIJ012345"), "/parameters/0/default"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)
