"""A handler: the dates and the sums of money that a text names. Beside find-dates.json, which offers it.

    [handlers.find-dates]
    python = "find_dates:find_dates"
    enforces = ["cost_per_job"]

It needs Python and nothing else, and runs as a command as well: `python find_dates.py < job.json`.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterable
from datetime import date

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
# 3/4/2026 is another day on the other side of an ocean, so it is left out: nothing is guessed.
DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b",
        rf"\b{_DAY}\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
    )
]
CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}
_AMOUNT = r"(?P<amount>\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+(?:\.\d\d)?)(?![\d.,]*\d)"
SUMS = [
    re.compile(pattern)
    for pattern in (
        rf"(?P<currency>[€$£]|\b(?:EUR|USD|GBP|CHF)\b)\s?{_AMOUNT}",
        rf"(?<![\d.,]){_AMOUNT}\s?(?P<currency>[€£]|(?:EUR|USD|GBP|CHF)\b)",
    )
]


def find_dates(job: dict) -> dict[str, str]:
    """What the node calls: the job as `docs/handlers.md` has it, to the outputs that the Descriptor declares."""
    words = job["input"]["words"]
    return {
        "dates": _table(("date", "as written"), _dates(words)),
        "sums": _table(("amount", "currency", "as written"), _sums(words)),
    }


def _dates(words: str) -> Iterable[tuple[str, str]]:
    for found in _in_order(DATES, words):
        month = found["month"]
        number = int(month) if month.isdecimal() else MONTHS.index(month.lower()) + 1
        try:
            yield date(int(found["year"]), number, int(found["day"])).isoformat(), found[0]
        except ValueError:
            continue  # the 31st of a month that has none is no date


def _sums(words: str) -> Iterable[tuple[str, str, str]]:
    for found in _in_order(SUMS, words):
        yield found["amount"].replace(",", ""), CURRENCIES.get(found["currency"], found["currency"]), found[0]


def _in_order(patterns: list[re.Pattern[str]], words: str) -> list[re.Match[str]]:
    """What the patterns find, by its place; of what two of them find in one place, the longer."""
    found = sorted(
        (match for pattern in patterns for match in pattern.finditer(words)), key=lambda one: (one.start(), -one.end())
    )
    kept: list[re.Match[str]] = []
    for match in found:
        if not kept or match.start() >= kept[-1].end():
            kept.append(match)
    return kept


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


if __name__ == "__main__":
    json.dump(find_dates(json.load(sys.stdin)), sys.stdout)
