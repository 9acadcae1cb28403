"""A second reader of msgpack, written from its specification alone, to judge the codec of the entryway by.

It gives what binding 4 makes of msgpack: a bin as base64url without padding, integers and names as strict JSON has
them, no extension types. Being Python, it also shows the fuzzer the way through the format.
"""

from __future__ import annotations

import math
import struct

from descriptor.encoding import b64url_encode
from descriptor.strictjson import RoundedInteger

_NUMBERS = dict(zip(range(0xCA, 0xD4), (">f", ">d", ">B", ">H", ">I", ">Q", ">b", ">h", ">i", ">q"), strict=True))
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
# First byte to kind and to the size of the length behind it.
_LENGTHS = {0xC4: ("bin", 1), 0xC5: ("bin", 2), 0xC6: ("bin", 4), 0xD9: ("str", 1), 0xDA: ("str", 2), 0xDB: ("str", 4)}
_LENGTHS |= {0xDC: ("array", 2), 0xDD: ("array", 4), 0xDE: ("map", 2), 0xDF: ("map", 4)}
_TEXT = {bytes([first]) for first in (*range(0xA0, 0xC0), 0xD9, 0xDA, 0xDB)}


class Refused(Exception):
    """The bytes are not one value that JSON could have given."""


def read(data: bytes, max_depth: int) -> object:
    """The value that `data` is. Raises Refused."""
    reader = _Reader(data)
    value = reader.value(max_depth)
    if reader.at != len(data):
        raise Refused
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        if len(taken) != size:
            raise Refused
        self.at += size
        return taken

    def value(self, depth: int) -> object:
        first = self.take(1)[0]
        if first < 0x80:
            return first
        if first >= 0xE0:
            return first - 0x100
        if first < 0xC0:
            kind, length = ("map", first & 0x0F) if first < 0x90 else ("array", first & 0x0F)
            if first >= 0xA0:
                kind, length = "str", first & 0x1F
        elif first in _CONSTANTS:
            return _CONSTANTS[first]
        elif first in _NUMBERS:
            return self.number(_NUMBERS[first])
        elif first in _LENGTHS:
            kind, size = _LENGTHS[first]
            length = int.from_bytes(self.take(size), "big")
        else:
            raise Refused
        if kind == "bin":
            return b64url_encode(self.take(length))
        if kind == "str":
            return self.text(length)
        if depth == 0:
            raise Refused
        return self.array(length, depth - 1) if kind == "array" else self.map(length, depth - 1)

    def number(self, shape: str) -> object:
        (number,) = struct.unpack(shape, self.take(struct.calcsize(shape)))
        if isinstance(number, float):
            if not math.isfinite(number):
                raise Refused
            return number
        return number if abs(number) <= 2**53 else RoundedInteger(number)

    def text(self, length: int) -> str:
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused from None

    def array(self, length: int, depth: int) -> list[object]:
        items: list[object] = []
        while len(items) < length:
            items.append(self.value(depth))
        return items

    def map(self, length: int, depth: int) -> dict[str, object]:
        members: dict[str, object] = {}
        while len(members) < length:
            is_text = self.data[self.at : self.at + 1] in _TEXT
            name = self.value(depth)
            if not is_text or name in members:
                raise Refused
            members[str(name)] = self.value(depth)
        return members
