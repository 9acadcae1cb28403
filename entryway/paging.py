"""Which page of a history is asked for. Source: binding 3."""

from __future__ import annotations

from urllib.parse import parse_qs

from entryway.errors import EntrywayError
from entryway.http import Request

HISTORY_PAGE = 100
HISTORY_MOST = 500


def page_of(request: Request) -> tuple[int, int | None]:
    """`limit` and `before` of a query. Raises EntrywayError INPUT_INVALID for what is no page."""
    query = parse_qs(request.query.decode("latin-1"), keep_blank_values=True)
    limit = _whole_number(query, "limit", HISTORY_MOST)
    return HISTORY_PAGE if limit is None else limit, _whole_number(query, "before", 2**63 - 1)


def _whole_number(query: dict[str, list[str]], name: str, most: int) -> int | None:
    """A positive whole number of a query; None when it is not asked for. Raises EntrywayError INPUT_INVALID."""
    given = query.get(name)
    if given is None:
        return None
    text = given[-1]
    if len(given) == 1 and text.isascii() and text.isdecimal() and len(text) <= 19 and 1 <= int(text) <= most:
        return int(text)
    raise EntrywayError(
        "INPUT_INVALID", f"{name} is no number that is taken here. Send one whole number from 1 to {most}."
    )
