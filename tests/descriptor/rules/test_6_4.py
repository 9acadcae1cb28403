"""Chapters 6.1, 6.4 and 6.5: shapes only, no evidence, every fact once; and what is never in an access block."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from descriptor.checker import check
from descriptor.pointers import pointer_to
from descriptor.vocabulary import PROMISES
from tests.descriptor.projections.samples import sample
from tests.descriptor.rules.cases import (
    OTHER_ID,
    SEALED,
    Case,
    accepted,
    bound,
    draft,
    judge,
    offering,
    refused,
    signed,
)
from tests.descriptor.strings import GIVES_AWAY, GIVES_NOTHING_AWAY

SCHEME: dict[str, Any] = {"id": "door", "transport": "http", "type": "apiKey", "in": "header", "name": "X-Door-Key"}
DIGEST = "sha256:" + "0a" * 32
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8J9k0" * 2


def scheme(**members: Any) -> dict[str, Any]:
    return draft(access={"admission": "screened", "schemes": [{**SCHEME, **members}]})


def attested(url: str) -> dict[str, Any]:
    return draft(
        compliance=[{"standard": "soc-2", "scope": "hosting", "attestation": {"by": "An Auditor", "url": url}}]
    )


CASES: list[Case] = [
    *accepted(
        "D6.4-shapes-only",
        signed(SEALED),
        bound(subject={"id": SEALED["subject"]["id"], "handle": "ada@reader.example.org"}),
        draft(
            price_ref="https://reader.example/prices", samples_ref={"digest": DIGEST, "location": "/srv/samples.json"}
        ),
        attested("https://auditor.example/reports/7"),
        draft(agent_version="10.2.0.1", peers=[OTHER_ID], unknown={"digest_of_it": DIGEST}),
        draft(notes=[*GIVES_NOTHING_AWAY]),
    ),
    *refused(
        "D6.4-shapes-only",
        *((draft(notes={"deep": [text]}), "/notes/deep/0") for texts in GIVES_AWAY.values() for text in texts),
        (draft(does="Reads what is sent to ada@example.org."), "/does"),
        (draft(**{"https://example.org/x": True}), "/https:~1~1example.org~1x"),
        (offering(description="Posts to https://example.org/in."), "/offerings/0/description"),
        (draft(unknown={"api_key": "9f8e7d6c5b4a3210"}), "/unknown/api_key"),
        (draft(unknown={"tokens": {"token": ["x", "9f8e7d6c5b4a3210"]}}), "/unknown/tokens/token/1"),
        (draft(samples_ref="https://reader.example/samples?token=" + TOKEN), "/samples_ref"),
        (draft(samples_ref={"digest": DIGEST, "location": TOKEN}), "/samples_ref/location"),
        (attested("https://auditor.example/?api_key=" + TOKEN), "/compliance/0/attestation/url"),
        (bound(subject={"id": SEALED["subject"]["id"], "url": "https://reader.example"}), "/subject/url"),
        (draft(a="192.0.2.7", b=["::1", "fine"], c={"d": "/etc/passwd"}), ("/a", "/b/0", "/c/d")),
    ),
    *accepted("D6.4-evidence", draft(unknown={"reviews": 5})),
    *refused(
        "D6.4-evidence",
        (draft(reputation={"stars": 5}), "/reputation"),
        (offering(reviews=[]), "/offerings/0/reviews"),
    ),
    *accepted("D6.1-connection", draft(price_ref="the price list")),
    *refused("D6.1-connection", (draft(securitySchemes={}), "/securitySchemes"), (draft(endpoint="here"), "/endpoint")),
    *accepted(
        "D6.1-second-spelling", draft(), offering(), draft(notes="x", remarks=[], **{"x-own": 1}), offering(kind="x")
    ),
    *refused("D6.1-second-spelling", (draft(description="Reads."), "/description"), (draft(skills=[]), "/skills")),
    *refused(
        "D6.1-second-spelling",
        (draft(oferings=[]), "/oferings"),
        (draft(refusal=[]), "/refusal"),
        (draft(acces={}), "/acces"),
        (offering(ouputs=[]), "/offerings/0/ouputs"),
        (offering(autority=[]), "/offerings/0/autority"),
        (offering(ceilings={"job_second": 5}), "/offerings/0/ceilings/job_second"),
        (
            offering(ceilings={"job_seconds": {"most": 5, "decided_by": "rule", "moste": 5}}),
            "/offerings/0/ceilings/job_seconds/moste",
        ),
        (offering(inputs=[{"name": "a", "kind": "text", "requird": True}]), "/offerings/0/inputs/0/requird"),
        (draft(data_use={"retention": {"max_days": 1, "max_day": 2}}), "/data_use/retention/max_day"),
        (draft(access={"admision": "open"}), "/access/admision"),
        (draft(run_config={"settings": [], "replays": True}), "/run_config/replays"),
        (draft(limits={"requests_per_hours": 3}), "/limits/requests_per_hours"),
    ),
    *accepted("D6.5-own-digest", draft(samples_ref={"digest": DIGEST})),
    *refused("D6.5-own-digest", (draft(digest=DIGEST), "/digest")),
    *accepted("D6.9-access-secret", scheme(), draft(access={"admission": "open", "statement": "Anyone may ask."})),
    *refused(
        "D6.9-access-secret",
        (scheme(value="anything"), "/access/schemes/0/value"),
        (scheme(description=f"Send {TOKEN}"), "/access/schemes/0/description"),
        (scheme(description="Sign in at https://reader.example/login"), "/access/schemes/0/description"),
        (draft(access={"token": TOKEN}), "/access/token"),
        (draft(access={"statement": "Write to ada@example.org."}), "/access/statement"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_shapes_only(case: Case) -> None:
    judge(case)


def test_a_message_says_what_it_is_and_never_repeats_a_secret() -> None:
    report = check(json.dumps(draft(notes=f"Use {TOKEN}, or write to ada@example.org.")).encode())
    (finding,) = report.findings
    assert "an e-mail address, 'ada@example.org'" in finding.message
    assert "a key or token, 'ghp_…'" in finding.message
    assert TOKEN not in finding.message


def named(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each member within a value: the way to the object that has it, and its name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield path, name
            yield from named(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from named(inner, (*path, index))


# Of which other rules say that they are missing or unknown, or which are nobody's to name.
TOLD_ELSEWHERE = {"amount_micro", "currency", *PROMISES, "issued_at", "signature", "somebody_elses"}


def test_no_member_is_misspelled_unnoticed() -> None:
    whole = json.loads(sample("whole").data)
    names = [(path, name) for path, name in named(whole) if len(name) > 6 and name not in TOLD_ELSEWHERE]
    assert len(names) > 100
    for path, name in names:
        document = copy.deepcopy(whole)
        holder = functools.reduce(lambda value, step: value[step], path, document)
        wrong = name[:3] + name[2:]
        holder[wrong] = holder.pop(name)
        found = [
            one.pointer for one in check(json.dumps(document).encode()).findings if one.rule == "D6.1-second-spelling"
        ]
        assert found == [pointer_to(*path, wrong)]
