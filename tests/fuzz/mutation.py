"""Changes to a tree rather than to its bytes, so that the fuzzer gets past the parser to what stands behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgpack

Tree = Any
"""A JSON value that may be changed in place."""

_LEAVES: tuple[Tree, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, 2**53, 2**53 + 1, -(2**63), 1e300, 1e-7),
    *("", " ", "a", "\ud800", "\x00", "𝕏", "a/b~c", {}, []),
)


def changed(tree: Tree, random: Random, words: Sequence[str]) -> Tree:
    """`tree` with one to four changes: a value replaced, taken out, copied to another place, or a member added."""
    whole = [tree]
    for _ in range(random.randint(1, 4)):
        holder, key = random.choice(_spots(whole))
        match random.randrange(5):
            case 0:
                holder[key] = _value(random, words)
            case 1 if holder is not whole:
                del holder[key]
            case 2:
                source, at = random.choice(_spots(whole))
                holder[key] = json.loads(json.dumps(source[at]))
            case _:
                _add(holder[key], random, words)
    return whole[0]


def of_json(words: Sequence[str], prefix: int = 0) -> Callable[[bytes, Random], bytes | None]:
    """The mutation of inputs that are JSON behind `prefix` bytes."""

    def mutate(data: bytes, random: Random) -> bytes | None:
        try:
            tree = json.loads(data[prefix:])
        except (ValueError, RecursionError):
            return None
        indent = random.choice((None, None, 1, "\t"))
        text = json.dumps(changed(tree, random, words), ensure_ascii=random.random() < 0.5, indent=indent)
        return data[:prefix] + text.encode("utf-8", "surrogatepass")

    return mutate


def of_body(words: Sequence[str]) -> Callable[[bytes, Random], bytes | None]:
    """The mutation of inputs that are a byte, and behind it JSON where the byte is even and msgpack where it is odd."""
    in_json = of_json(words, 1)

    def mutate(data: bytes, random: Random) -> bytes | None:
        if not data or not data[0] & 1:
            return in_json(data, random)
        try:
            tree = msgpack.unpackb(data[1:])
            return data[:1] + bytes(msgpack.packb(changed(tree, random, words), unicode_errors="surrogatepass"))
        except (ValueError, TypeError, OverflowError, msgpack.UnpackException):
            return None

    return mutate


def _spots(whole: list[Tree]) -> list[tuple[Any, Any]]:
    """Every place of a tree, as its holder and its name or index in it."""
    spots: list[tuple[Any, Any]] = []
    holders: list[Any] = [whole]
    while holders:
        holder = holders.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            spots.append((holder, key))
            if isinstance(holder[key], dict | list):
                holders.append(holder[key])
    return spots


def _add(value: Tree, random: Random, words: Sequence[str]) -> None:
    if isinstance(value, dict):
        value[random.choice(words)] = _value(random, words)
    elif isinstance(value, list):
        value.insert(random.randint(0, len(value)), _value(random, words))


def _value(random: Random, words: Sequence[str]) -> Tree:
    match random.randrange(4):
        case 0:
            return random.choice(words)
        case 1:
            return [_value(random, words)]
        case 2:
            return {random.choice(words): _value(random, words)}
    return json.loads(json.dumps(random.choice(_LEAVES)))
