"""The four orders of `agent_version`: each total over the strings it reads."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from descriptor.errors import DescriptorError
from descriptor.versions import ORDERS, compare

LONG = "7" * 100_000

ASCENDING = {
    "natural": [
        ["", "0", "0.0"],
        ["1.9", "1.10", "1.11"],
        ["1.0", "1.0-rc1", "1.0-rc2", "1.0-rc10"],
        ["2026.11.30", "2026.11.30-2", "2026.11.30-10"],
        ["1", "1.0", "1.0.0"],
        ["v1", "v2", "v10", "version 1"],
        ["9", "A", "Z", "a", "é"],
        ["1." + "6" * 100_000, "1." + LONG, "1." + LONG + "0"],
    ],
    "semver": [
        # The example of Semantic Versioning 2.0.0, section 11.
        ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"],
        ["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0"],
        ["1.0.0", "2.0.0", "2.1.0", "2.1.1"],
        ["1.9.0", "1.10.0"],
        ["1.0.0-1", "1.0.0--", "1.0.0-0a"],
        ["1.0.0-" + LONG, "1.0.0-" + LONG + "0", "1.0." + LONG],
    ],
    "pep440": [
        ["1.0.dev1", "1.0a1", "1.0b1", "1.0rc1", "1.0", "1.0+local", "1.0.post1", "1.1", "1!0.1"],
        ["1.9", "1.10"],
        ["1", "1" * 4_300],
    ],
    "calver": [
        ["2025.12.31", "2026.1.1", "2026.11.30", "2026.11.30-2", "2026.11.30-10", "2026.12"],
        ["26.4", "26.4.1", "26.4.1-2", "26.4.1.1", "2027.1"],
        ["99.1", "2100.1"],
        ["26." + "6" * 100_000, "26." + LONG],
    ],
}

EQUAL = [
    ("natural", "1.01", "1.1"),
    ("natural", "00", "0"),
    ("semver", "1.0.0+build.7", "1.0.0"),
    ("semver", "1.0.0-rc.1+001", "1.0.0-rc.1+exp.sha-5114f85"),
    ("pep440", "1.0", "1.0.0"),
    ("pep440", "1.0-RC1", "1.0rc1"),
    ("calver", "26.4", "2026.04"),
    ("calver", "2026.4-0", "2026.4"),
]

UNREADABLE = {
    "semver": [
        *("", "1", "1.0", "1.0.0.0", "01.0.0", "-1.0.0", "v1.0.0", "1.0.0 ", "1.0.0\n", "1.0.٤"),
        *("1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0-é", "1.0.0+", "1.0.0-rc.1+a+b"),
    ],
    "pep440": ["", "one", "1.0-2026-1", "1.x", "9" * 5_000],
    "calver": ["", "2026", "1.0", "326.1", "2026.11.", "2026-11-30", "2026.11-", "2026.11-rc1", "2026.٤", "26.4\n"],
}


@pytest.mark.parametrize(("order", "versions"), [(order, row) for order, rows in ASCENDING.items() for row in rows])
def test_versions_ascend(order: str, versions: list[str]) -> None:
    for lower, higher in pairwise(versions):
        assert (compare(lower, higher, order), compare(higher, lower, order)) == (-1, 1), (lower[:20], higher[:20])


@pytest.mark.parametrize(("order", "a", "b"), EQUAL)
def test_some_different_strings_are_equal_in_order(order: str, a: str, b: str) -> None:
    assert compare(a, b, order) == compare(b, a, order) == 0


@pytest.mark.parametrize(("order", "text"), [(order, text) for order, texts in UNREADABLE.items() for text in texts])
def test_a_string_that_does_not_fit_the_order_is_unreadable(order: str, text: str) -> None:
    fitting = ASCENDING[order][0][0]
    for a, b in ((text, fitting), (fitting, text)):
        with pytest.raises(DescriptorError) as refused:
            compare(a, b, order)
        assert refused.value.code == "VERSION_UNREADABLE"
        assert order in refused.value.message
        assert len(refused.value.message) < 400


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(DescriptorError) as refused:
        compare("1", "2", "roman")
    assert refused.value.code == "VERSION_ORDER_UNKNOWN"
    assert all(order in refused.value.message for order in ORDERS)


numbers = st.integers(0, 12).map(str)
dotted = st.lists(numbers, min_size=1, max_size=4).map(".".join)
three = st.tuples(numbers, numbers, numbers).map(".".join)
identifiers = st.lists(numbers | st.sampled_from(["rc", "a", "0a", "-", "x-1"]), min_size=1, max_size=3).map(".".join)
VERSIONS = {
    "natural": st.text(max_size=8) | st.text("01.9-ab", max_size=8),
    "semver": st.builds(
        "{}{}{}".format, three, st.just("") | identifiers.map("-{}".format), st.sampled_from(["", "+b"])
    ),
    "pep440": st.builds("{}{}".format, dotted, st.sampled_from(["", "a1", "rc2", ".post1", ".dev3", "+l.1", "-1"])),
    "calver": st.builds(
        "{}.{}{}".format, st.sampled_from(["26", "2026", "99", "0007"]), dotted, st.just("") | numbers.map("-{}".format)
    ),
}


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_each_order_is_total(order: str, data: st.DataObject) -> None:
    a, b, c = (data.draw(VERSIONS[order]) for _ in range(3))
    assert compare(a, a, order) == 0
    assert compare(a, b, order) == -compare(b, a, order)
    low, middle, high = _sorted(order, a, b, c)
    assert compare(low, middle, order) <= 0
    assert compare(middle, high, order) <= 0
    assert compare(low, high, order) <= 0
    if compare(low, high, order) == 0:
        assert compare(low, middle, order) == compare(middle, high, order) == 0


def _sorted(order: str, *versions: str) -> list[str]:
    """Sorted by counting, which agrees with every pair only if the order is transitive."""
    return sorted(versions, key=lambda one: sum(compare(one, other, order) for other in versions))


@given(st.text(), st.text())
def test_natural_order_reads_every_string(a: str, b: str) -> None:
    def read(text: str) -> list[int | str]:
        return [int(part) if part.isascii() and part.isdecimal() else part for part in re.split(r"([0-9]+)", text)]

    expected = (read(a) > read(b)) - (read(a) < read(b))
    assert compare(a, b, "natural") == expected


@pytest.mark.parametrize("order", ORDERS)
@given(text=st.text(max_size=12) | st.text("0123456789.-+rcv! \n", max_size=12))
def test_whatever_the_string_it_is_read_or_refused(order: str, text: str) -> None:
    try:
        assert compare(text, text, order) == 0
    except DescriptorError as refused:
        assert order != "natural"
        assert refused.code == "VERSION_UNREADABLE"


@given(VERSIONS["pep440"], VERSIONS["pep440"])
def test_pep440_is_the_order_of_packaging(a: str, b: str) -> None:
    assert compare(a, b, "pep440") == (Version(a) > Version(b)) - (Version(a) < Version(b))
