"""The Agent Descriptor as a document: strict parsing, digest, keys and signatures, the checker, publishing, difference.

Pure: no I/O and no clock. What is named here is what most callers need; the rest is in the modules, one idea each.
"""

from descriptor.checker import Finding, Report, check
from descriptor.difference import Change, diff
from descriptor.digests import digest_of, parse_digest
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.publishing import Plan, PublishError, Terms, plan
from descriptor.rules import Severity
from descriptor.signatures import Signature, SignatureReport, verify_key_claim, verify_statement
from descriptor.strictjson import JsonValue

__all__ = [
    "Change",
    "Descriptor",
    "DescriptorError",
    "Finding",
    "Identity",
    "JsonValue",
    "Plan",
    "PublishError",
    "Report",
    "SealingKey",
    "Severity",
    "Signature",
    "SignatureReport",
    "Terms",
    "check",
    "diff",
    "digest_of",
    "parse_digest",
    "plan",
    "verify_key_claim",
    "verify_statement",
]
