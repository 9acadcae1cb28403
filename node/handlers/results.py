"""What a program answered, as the ending of its job.

    exit code 0, or HTTP 200       the output: one JSON value, as the offering declares its outputs
    exit code 77, or HTTP 422,     declined: `{"declined": message}`; only an open-with-focus offering has a focus
      with {"declined": message}   to be outside of
    anything else                  failed

Whether a program declines is said beside its output, and never in it, so that no output can be mistaken for it. The
invariant: what is told to the caller of a failed job is one of the sentences here: nothing of what the program wrote,
which may hold the operator's paths and another caller's words. Its own words go to the log.

Pure. Source: chapters 6.2 (outputs) and 6.11 (focus).
"""

from __future__ import annotations

from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue, parse
from descriptor.view import Offering
from entryway.codec import MAX_NESTING
from entryway.work import Completed, Declined, Failed

LONGEST_MESSAGE = 2000  # characters of a refusal that a program words
MOST_DEPTH = MAX_NESTING - 3  # the output stands in a payload, in an envelope, in a reply

FAILED = "HANDLER_FAILED"
_FOCUSED = "open-with-focus"


class Unusable(Exception):  # noqa: N818  # it is what is said of an answer
    """An answer that no ending can be made of. The message is for the operator."""


def completed(data: bytes, offering: Offering, output_bytes: int) -> Completed:
    """The output that a program wrote. Raises Unusable."""
    output = _read(data, output_bytes)
    _check_outputs(output, offering)
    return Completed(output)


def declined(data: bytes, offering: Offering, output_bytes: int) -> Declined:
    """The refusal that a program wrote. Raises Unusable, also where the offering has no focus to be outside of."""
    match _read(data, output_bytes):
        case {"declined": str(message), **rest} if not rest and message.strip():
            pass
        case _:
            raise Unusable('It declined without saying {"declined": "why"} and nothing else.')
    if offering.scope != _FOCUSED:
        raise Unusable("It declined, which is the answer of an open-with-focus offering, and this offering is none.")
    return Declined(message[:LONGEST_MESSAGE])


def failed(message: str = "The work was begun and came to nothing. Its operator finds the reason in a log.") -> Failed:
    """What a caller is told of a program that failed."""
    return Failed(FAILED, message)


def _read(data: bytes, output_bytes: int) -> JsonValue:
    if len(data) > output_bytes:
        raise Unusable(f"It wrote more than output_bytes, {output_bytes} bytes.")
    try:
        return parse(data, max_bytes=output_bytes, max_depth=MOST_DEPTH)
    except DescriptorError as error:
        raise Unusable(f"What it wrote is not one JSON value: {error.message}") from error


def _check_outputs(output: JsonValue, offering: Offering) -> None:
    """An offering that declares outputs gives an object of them, by name. One that declares none gives any value."""
    if not offering.outputs:
        return
    declared = {one.name: one for one in offering.outputs if one.name is not None}
    if not isinstance(output, dict):
        raise Unusable(f"Its output is not an object of the declared outputs: {', '.join(declared)}.")
    for name, value in output.items():
        if name not in declared:
            raise Unusable(f"Its output has the member {name!r}, which the Descriptor does not declare.")
        kind = declared[name].kind
        if kind is not None and not _is_json(kind) and not isinstance(value, str):
            raise Unusable(f"Its output {name!r} is of the kind {kind} and has to be a text.")
    missing = [name for name, one in declared.items() if one.when == "per_task" and name not in output]
    if missing:
        raise Unusable(f"Its output lacks {missing[0]!r}, which every task produces.")


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")
