"""The registration manifest of a Descriptor: where it is, which bytes it is, and the facts a registry sorts by.

The invariant: it repeats nothing that its reader cannot compare with the Descriptor at the digest, and says nothing
where the Descriptor is silent: no member has a neutral value here. It is not signed; what it says is signed there.

    registration   "v1"
    subject        id, handle
    descriptor     digest, and location where an address may be named
    acts_for, organization_name, interaction, fleet
    offerings[]    id, and scope where the offering has one: as a reader takes it
    sealing, encryption_key, trust     the posture; the key and the claim to it, only both and only where it verifies

Source: chapters 6.7, 6.8 and 6.9 (sealing posture).
"""

from __future__ import annotations

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.projections.serving import WELL_KNOWN, Serving
from descriptor.projections.tracing import Entries, Projection, Tree, fixed, lay_out, said
from descriptor.view import Offering, view

VERSION = "v1"


def registration_of(descriptor: Descriptor, serving: Serving) -> Projection:
    """The manifest. Raises DescriptorError `NOT_BOUND` for a draft, which nobody registers. Source: chapter 6.8."""
    seen = view(descriptor)
    if seen.subject_id is None:
        raise DescriptorError("NOT_BOUND", "A draft is not registered; publishing gives it a subject.", "/subject")
    urls = serving.named(seen.access)
    key = seen.sealing_key()
    trust = descriptor.members.get("trust") if key is not None else None
    claimed = ("/encryption_key", "/trust", "/subject/id")
    return lay_out(
        {
            "registration": fixed(VERSION),
            "subject": {"id": said(seen.subject_id, "/subject/id"), "handle": said(seen.handle, "/subject/handle")},
            "descriptor": {
                "digest": said(descriptor.digest, ""),
                "location": fixed(f"{urls[0]}{WELL_KNOWN}" if urls else None),
            },
            "acts_for": said(seen.acts_for, "/acts_for"),
            "organization_name": said(seen.organization_name, "/organization_name", "/acts_for"),
            "interaction": said(seen.interaction, "/interaction"),
            # An older document says it in its shape (6.12).
            "fleet": said(seen.fleet, seen.former.get("/fleet", "/fleet")),
            "offerings": _offerings(seen.offerings),
            "sealing": said(seen.sealing, "/sealing"),
            "encryption_key": said(key, *claimed),
            "trust": said(trust, *claimed),
        }
    )


def _offerings(offerings: tuple[Offering, ...] | None) -> Tree:
    if offerings is None:
        return said(None, "/offerings")
    return Entries([_offering(one) for one in offerings if one.id is not None], "id", "/offerings")


def _offering(offering: Offering) -> dict[str, Tree]:
    # Task-specific is what silence means, and stays unsaid; open-ended is also what an unreadable scope is read as.
    silent = offering.scope_stated is None and offering.scope == "task-specific"
    at = offering.pointer
    return {
        "id": said(offering.id, f"{at}/id"),
        "scope": said(None if silent else offering.scope, f"{at}/scope", f"{at}/focus", f"{at}/id"),
    }
