"""The templates, and what a page is made with.

The invariant: every value that a template prints passes `shown` and is escaped, whether or not its author thought of
it. The style is in the page, and the header that comes with it allows that very style, no script, and nothing from
anywhere else.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from entryway.page.changes import Changes
from entryway.page.content import Content
from entryway.page.measures import moment
from entryway.page.text import NAME, PASSAGE, PROSE, SENTENCE, shown

_TEMPLATES = Path(__file__).parent / "templates"


def agent_page(content: Content) -> bytes:
    """The page about an agent, in UTF-8."""
    return _rendered("agent.html", page=content, policy=None if content.served else _file_policy())


def changes_page(name: str | None, changes: Changes) -> bytes:
    """The page about what changed between two versions."""
    return _rendered("changes.html", policy=None, name=name, changes=changes)


def notice_page(title: str, sentences: list[str]) -> bytes:
    """A page that only says something: in words of our own."""
    return _rendered("notice.html", policy=None, title=title, sentences=sentences)


@cache
def content_security_policy() -> str:
    """The value of `Content-Security-Policy` that fits these pages."""
    sha256 = b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{sha256}'; img-src data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


def _file_policy() -> str:
    """The same for a page in a file, which has no header: without what a browser takes from a header alone."""
    return content_security_policy().partition("; frame-ancestors")[0]


def _rendered(template: str, **values: object) -> bytes:
    style = Markup(_style())  # noqa: S704  # our own file, which the policy names by its hash
    return _environment().get_template(template).render(style=style, **values).encode()


@cache
def _style() -> str:
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalized,
    )
    environment.filters |= {
        "name": lambda value: shown(str(value), NAME),
        "passage": lambda value: shown(str(value), PASSAGE),
        "sentence": lambda value: shown(str(value), SENTENCE),
        "moment": moment,
        "parted": _parted,
    }
    return environment


def _parted(media_type: str) -> Markup:
    """A media type of ours, which breaks at its joints where it has to."""
    return Markup("<wbr>").join(re.findall(r"[^/.+-]+[/.+-]?", media_type))  # what is joined is escaped


def _finalized(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return shown(value, PROSE)
    return value
