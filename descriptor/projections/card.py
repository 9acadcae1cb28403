"""The A2A card of a Descriptor, in the shape of A2A 1.0.

The invariant: a card says what the Descriptor says and how the node is served, and nothing else. A member that A2A
leaves optional is left out where the Descriptor is silent. A2A requires some members always, and for those silence has
a value that claims nothing:

| A2A requires                        | comes from                    | where the Descriptor is silent            |
|-------------------------------------|-------------------------------|-------------------------------------------|
| `name`                              | `subject.handle`              | `subject.id`, which names the agent too   |
| `description`, `version`            | `does`, `agent_version`       | `not stated`                              |
| a skill's `name`, `description`     | those of the offering         | `not stated`                              |
| a skill's `id`                      | that of the offering          | the offering's JSON Pointer               |
| a skill's `tags`                    | its scope, focus and role     | task-specific: what no scope means (6.11) |
| `defaultInputModes`, `…OutputModes` | the agent's own modes         | `text/plain`: how silence is read (6.9)   |
| `skills`                            | the offerings                 | empty: none is invented                   |
| `supportedInterfaces`               | how the node is served        | empty where no address may be named       |
| a provider's `url`                  | the page the node serves      | no provider where no address may be named |

Kinds coarsen: a media type is a mode as it is, a value kind is the plainest media type that carries it. What is reached
and not sent is no input mode. No security scheme is stated: none of A2A's is how a caller presents itself here, which
is by the signature of its envelope.

Source: chapter 6.8; A2A 1.0, 4.4 (the card).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.projections.serving import BY_DIGEST, Serving
from descriptor.projections.tracing import Entries, Projection, Said, Tree, fixed, lay_out, said
from descriptor.strictjson import JsonValue
from descriptor.view import Offering, View, view
from descriptor.view.values import Input, Output

EXTENSION = "https://commonagent.net/descriptor.html"
"""The URI of the extension that says which bytes a card was made from: the page that defines the Descriptor."""

NOT_STATED = "not stated"
COARSE = {"text": "text/plain", "identifier": "text/plain", "url": "text/plain", "document": "application/octet-stream"}
"""The media type a value kind coarsens to. Of a `document`, a file of any type, only that it is bytes is known."""

SILENT_MODE = "text/plain"
_ABOUT = "The Agent Descriptor this card is made from. Where the two differ, the Descriptor is meant."


def card_of(descriptor: Descriptor, serving: Serving) -> Projection:
    """The card, not yet signed (`card_signature.sign_card`).

    Raises DescriptorError `NOT_BOUND` for a draft: a card is about an agent that exists. Source: chapter 6.8.
    """
    seen = view(descriptor)
    if seen.subject_id is None:
        raise DescriptorError("NOT_BOUND", "A draft has no card; publishing gives it a subject.", "/subject")
    urls = serving.named(seen.access)
    return lay_out(
        {
            "name": said(seen.handle or seen.subject_id, "/subject/handle", "/subject/id"),
            "description": said(seen.does, "/does").or_neutral(NOT_STATED),
            "version": said(seen.agent_version, "/agent_version").or_neutral(NOT_STATED),
            "provider": _provider(seen, urls),
            "supportedInterfaces": Entries([_interface(url, serving) for url in urls], "url"),
            "capabilities": {
                "streaming": fixed(False),
                "pushNotifications": fixed(False),
                "extensions": Entries([_extension(descriptor, urls)], "uri"),
            },
            "defaultInputModes": _defaults(seen.default_input_modes, "/default_input_modes"),
            "defaultOutputModes": _defaults(seen.default_output_modes, "/default_output_modes"),
            "skills": Entries([_skill(one, seen) for one in seen.offerings or ()], "id", "/offerings"),
        }
    )


def _interface(url: str, serving: Serving) -> dict[str, Tree]:
    return {
        "url": fixed(f"{url}{serving.path}"),
        "protocolBinding": fixed(serving.binding),
        "protocolVersion": fixed(serving.version),
    }


def _extension(descriptor: Descriptor, urls: Sequence[str]) -> dict[str, Tree]:
    return {
        "uri": fixed(EXTENSION),
        "description": fixed(_ABOUT),
        "params": {
            "digest": said(descriptor.digest, ""),
            "subject": said(descriptor.subject_id, "/subject/id"),
            "location": fixed(f"{urls[0]}{BY_DIGEST}{descriptor.digest}" if urls else None),
        },
    }


def _provider(seen: View, urls: Sequence[str]) -> dict[str, Tree]:
    """A2A wants a URL of "the provider's website or relevant documentation", which is the page the node serves."""
    stated = seen.organization_name if urls else None
    return {
        "organization": said(stated, "/organization_name", "/acts_for"),
        "url": fixed(None if stated is None else f"{urls[0]}/"),
    }


def _skill(offering: Offering, seen: View) -> dict[str, Tree]:
    at = offering.pointer
    tags = [offering.scope, *(one for one in (offering.focus, offering.role) if one is not None)]
    sent = [one for one in offering.inputs or () if _is_sent(one)]
    taken = _stated_at(f"{at}/input_modes", offering.input_modes, "/default_input_modes", seen.default_input_modes)
    given = _stated_at(f"{at}/output_modes", offering.output_modes, "/default_output_modes", seen.default_output_modes)
    return {
        "id": said(offering.id, f"{at}/id").or_neutral(at),
        "name": said(offering.name, f"{at}/name").or_neutral(NOT_STATED),
        "description": said(offering.description, f"{at}/description").or_neutral(NOT_STATED),
        "tags": said([*tags], f"{at}/scope", f"{at}/focus", f"{at}/role"),
        "inputModes": said(_modes(offering.input_modes, sent), taken, f"{at}/inputs"),
        "outputModes": said(_modes(offering.output_modes, offering.outputs or ()), given, f"{at}/outputs"),
    }


def _stated_at(own: str, modes: tuple[str, ...] | None, default: str, defaults: tuple[str, ...] | None) -> str:
    """Where the modes of an offering are stated: the view hands on the agent's where it states none (6.9)."""
    return default if modes and modes is defaults else own


def _modes(stated: Sequence[str] | None, things: Iterable[Input] | Iterable[Output]) -> list[JsonValue] | None:
    """The modes that hold for an offering, then those of its inputs or outputs, each once; None for none."""
    kinds = (COARSE.get(thing.kind, thing.kind) for thing in things if thing.kind is not None)
    return [*dict.fromkeys((*(stated or ()), *kinds))] or None


def _defaults(modes: tuple[str, ...] | None, pointer: str) -> Said:
    """The agent's own modes. Not those of its offerings: a skill that is silent would be read as having them all."""
    return said([*modes] if modes else None, pointer).or_neutral([SILENT_MODE])


def _is_sent(one: Input) -> bool:
    """Whether an input travels to the agent: what is reached, and what is granted, does not."""
    return not one.external and not one.via
