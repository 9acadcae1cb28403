"""A Descriptor from anywhere: it is read or refused, checked, and its signatures are judged, whatever it holds.

- Of `Descriptor.read`, `check`, `verify_statement` and `verify_key_claim` only the first raises: `DescriptorError`.
- One place that breaks one rule is one finding, whose text is fit to be shown and whose pointer names a place.
- Whatever else a document holds, it verifies once its subject has signed it, and no longer when a member is changed.
- A document does not differ from itself, and neither does its signed card nor its registration from it.
"""

from __future__ import annotations

from descriptor.canonical import canonical
from descriptor.checker import MOST_FINDINGS_OF_A_RULE, Report, check
from descriptor.difference import diff
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to, tokens
from descriptor.projections.card import card_of
from descriptor.projections.card_signature import sign_card
from descriptor.projections.drift import drift_of
from descriptor.projections.registration import registration_of
from descriptor.signatures import (
    Signature,
    SignatureReport,
    sign_key_claim,
    sign_statement,
    verify_key_claim,
    verify_statement,
)
from descriptor.strictjson import JsonValue
from node.projecting import serving_at
from tests.entryway.parts import OWNER
from tests.fuzz.mutation import of_json
from tests.fuzz.promises import assert_fit_to_show
from tests.vectors import KEY_CLAIM, NKEYS

_WORDS = """
format agent-descriptor-v1 subject id handle acts_for person organization anyone organization_name agent_version 1.0
does interaction service focus refusals offerings name description scope task-specific open-ended inputs outputs
kind required one_of max_bytes when per_task standing working delivers final interim in_resource authority rule
authority_decided_by ceilings job_seconds most decided_by updates-systems systems access read write needs read-write
limits requests_per_hour past_them max_inbound_chars run_config settings preference default allowed memory
job_may_set data_use promises no_training retention max_days processors purpose processed_in jurisdictions
compliance standard attestation by url expires_at admission statement schemes transport http mesh type apiKey
mesh-identity in scheme guest default_input_modes default_output_modes input_modes output_modes resource file tool
protocol credential text identifier document application/pdf text/* a/b;c=d reporting level records_only on_change
check_ins every P1W PT12H sealing preferred encryption_key trust issued_at signature signatures tag
descriptor-statement-v1 sig alg ed25519 handling_ref price_ref samples_ref digest location workspace
"""
TOKENS = (
    *_WORDS.split(),
    "sha256:" + "0" * 64,
    KEY_CLAIM["issued_at"],
    KEY_CLAIM["encryption_key"],
    KEY_CLAIM["signature"],
    NKEYS[0]["public"],
)

SERVING = serving_at(["http://192.168.1.20:7420"], None)

mutate = of_json(TOKENS)


def one_input(data: bytes) -> None:
    report = check(data)
    _assert_sound(report)
    try:
        descriptor = Descriptor.read(data)
    except DescriptorError as error:
        assert_fit_to_show(error)
        assert report.descriptor is None
        return
    assert report.descriptor == descriptor
    members: dict[str, JsonValue] = dict(descriptor.members)
    _assert_judged(verify_statement(members), members)
    _assert_judged(verify_key_claim(members), members)
    assert diff(members, members, signed=True) == []

    members["subject"] = {"id": OWNER.id}
    members["signatures"] = [{**sign_statement(members, OWNER)}]
    assert verify_statement(members).state is Signature.VERIFIED
    other = {**members, next(iter(members)): {"not": "this"}}
    assert verify_statement(other).state is Signature.FAILED
    _assert_projected(Descriptor.read(canonical(members)))
    members["encryption_key"] = KEY_CLAIM["encryption_key"]
    members["trust"] = {**sign_key_claim(OWNER, KEY_CLAIM["encryption_key"], KEY_CLAIM["issued_at"])}
    assert verify_key_claim(members).state is Signature.VERIFIED


def _assert_projected(descriptor: Descriptor) -> None:
    for projected in (
        sign_card(card_of(descriptor, SERVING).members, OWNER),
        registration_of(descriptor, SERVING).members,
    ):
        drift = drift_of(projected, descriptor)
        assert drift.agrees
        assert drift.generated_from == descriptor.digest
        assert drift.signature is None or drift.signature.state is Signature.VERIFIED


def _assert_sound(report: Report) -> None:
    places = [(finding.pointer, finding.rule) for finding in report.findings]
    assert len(set(places)) == len(places)
    rules = [finding.rule for finding in report.findings]
    assert all(rules.count(rule) <= MOST_FINDINGS_OF_A_RULE for rule in set(rules))
    for finding in report.findings:
        assert finding.message.isprintable()
        assert 0 < len(finding.message) < 1_000
        assert finding.remedy
        assert pointer_to(*tokens(finding.pointer)) == finding.pointer
        if report.descriptor is not None:
            assert _leads_somewhere(dict(report.descriptor.members), tokens(finding.pointer)[:-1])


def _assert_judged(report: SignatureReport, members: dict[str, JsonValue]) -> None:
    assert (report.reason is not None) == (report.state is Signature.FAILED)
    assert report.reason is None or (report.reason.isprintable() and len(report.reason) < 1_000)
    assert report.pointer is None or _leads_somewhere(members, tokens(report.pointer)[:-1])


def _leads_somewhere(value: JsonValue, steps: list[str]) -> bool:
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True
