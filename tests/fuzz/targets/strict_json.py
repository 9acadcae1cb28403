"""Strict JSON: `descriptor.strictjson.parse` and a second reader, written from the grammar alone, agree on every input.

- It raises nothing but `DescriptorError`.
- It takes what the second reader takes, with the same values of the same types, and refuses what that one refuses.
- The canonical form of what it took is read back to the same canonical form.
"""

from __future__ import annotations

from descriptor.canonical import canonical
from descriptor.errors import DescriptorError
from descriptor.strictjson import parse
from tests.fuzz.mutation import of_json
from tests.fuzz.promises import assert_fit_to_show, typed
from tests.fuzz.reader import Refused, read

TOKENS = (
    *("{", "}", "[", "]", ":", ",", '"', '""', '{"', '":', "\\", '\\"', "\\\\", "true", "false", "null", "NaN"),
    *("\\u0061", "\\ud83d", "\\ude00", "\\uDFFF", "\\ud83d\\ude00", "😀", "\ufeff", "\u2028", "\x7f", " ", "\t"),
    *("-0", "0.0", "1e1", "E+", "e-", "e309", "1e308", "5e-324", "e-400", "0e999", "0" * 20, "-Infinity", "\r\n"),
    *("9007199254740992", "9007199254740993", "-9007199254740993", "123456789012345680000", "1797693134862315"),
)
DEPTH = 6

mutate = of_json(TOKENS)


def one_input(data: bytes) -> None:
    try:
        expected = read(data, DEPTH)
    except Refused:
        expected = Refused
    try:
        value = parse(data, max_depth=DEPTH)
    except DescriptorError as error:
        assert_fit_to_show(error)
        assert expected is Refused
        return
    assert typed(value) == typed(expected)
    form = canonical(value)
    assert canonical(parse(form, max_bytes=len(form))) == form
