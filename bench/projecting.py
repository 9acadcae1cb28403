"""How many projections a second are made of a Descriptor, by one core, and how long it takes to look for drift.

A projection is made when a version becomes current and not when it is asked for, so none of this is on the way of an
answer. The documents are those that are checked (`bench.checking`); a card is counted signed and as bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

from bench.checking import ROUNDS, milliseconds
from bench.errors import BenchError
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.projections.drift import drift_of
from descriptor.projections.reference import Reference
from descriptor.projections.registration import registration_of
from node.projecting import card_bytes, serving_at

SERVING = serving_at(["http://192.168.1.20:7420"], None)
POINTERS = ("/offerings/0/inputs", "/offerings/0/outputs", "/data_use")


def measure(data: Mapping[int, bytes], identity: Identity) -> dict[int, dict[str, float]]:
    """For each size how many of each projection are made in a second, and the milliseconds that a comparison takes.

    Raises BenchError when a card that is made here does not agree with its Descriptor.
    """
    return {size: _measured(Descriptor.read(document), identity, ROUNDS[size]) for size, document in data.items()}


def _measured(descriptor: Descriptor, identity: Identity, rounds: int) -> dict[str, float]:
    card = json.loads(card_bytes(descriptor, SERVING, identity))

    def compared() -> None:
        if drift_of(card, descriptor).differences:
            raise BenchError("A card does not agree with the Descriptor it was made from.")

    made: dict[str, Callable[[], object]] = {
        "cards_per_second": partial(card_bytes, descriptor, SERVING, identity),
        "registrations_per_second": partial(registration_of, descriptor, SERVING),
        "references_per_second": partial(Reference.to, descriptor, POINTERS),
    }
    figures = {name: round(1e3 / milliseconds(make, rounds), 1) for name, make in made.items()}
    return {**figures, "drift_ms": round(milliseconds(compared, rounds), 3)}
