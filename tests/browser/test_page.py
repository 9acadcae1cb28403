"""The page in a real browser: on a phone and a desk, in light and dark, read aloud, and full of somebody's markup.

AGENT_NODE_SCREENSHOTS=DIR keeps what the browser showed.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from entryway.page.changes import changes_of
from entryway.page.content import content_of
from entryway.page.render import agent_page, changes_page, content_security_policy, notice_page
from tests.browser.chromium import AXE, Browser, browser, missing
from tests.browser.processes import alive, descendants
from tests.descriptor.projections.samples import LONG, MARKUP, SAMPLES, TURNED, bound, sample
from tests.descriptor.projections.test_agentdoc import CARD, doc_of, fetched
from tests.descriptor.rules.cases import BOUND
from tests.end_to_end.harness import fresh_home, running
from tests.entryway.page.test_page import SEEN
from tests.node.parts import draft, published

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="axe-core not installed: npm install --no-save axe-core")

PHONE, DESK = 390, 1280


def _pages() -> dict[str, bytes]:
    found = {
        name: agent_page(content_of(doc_of(sample(name), card=fetched(CARD), observations=[SEEN]).members))
        for name in SAMPLES
    }
    kept_doc = doc_of(sample("hostile"), card=fetched(CARD), observations=[SEEN])
    found["in-a-file"] = agent_page(content_of(kept_doc.members, served=False))
    marked = bound({**BOUND, MARKUP: MARKUP, "refusals": f"{MARKUP} {TURNED} {LONG}", "does": LONG})
    for name, (before, after) in {
        "changes": (sample("bare"), sample("whole")),
        "hostile-changes": (sample("demo"), marked),
    }.items():
        changes = changes_of(before, after)
        assert changes is not None
        found[name] = changes_page(MARKUP, changes)
    return {**found, "notice": notice_page("Nothing is published here yet", ["This agent has published nothing."])}


PAGES = _pages()


class Handler(BaseHTTPRequestHandler):
    """Serves the pages with the policy they are meant for, and notes what else is asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        page = PAGES.get(self.path.removeprefix("/page/"))
        if page is None:
            self.asked.append(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", content_security_policy())
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name that the base class gives it
        pass


@contextmanager
def serving() -> Iterator[tuple[str, list[str]]]:
    handler = type("Serving", (Handler,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/page/", handler.asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, list[str]]]:
    with serving() as one:
        yield one


def kept(window: Browser, name: str) -> None:
    directory = os.environ.get("AGENT_NODE_SCREENSHOTS")
    if directory is not None:
        window.screenshot(Path(directory) / f"{name}.png")


@pytest.mark.parametrize("how", ["closed", "without its driver"])
def test_a_browser_leaves_no_process_behind(how: str) -> None:
    with browser() as one:
        one.open("about:blank")
        driver, *rest = descendants(one.keeper)
        assert len(rest) > 3
        if how != "closed":
            os.kill(driver, signal.SIGKILL)
    assert [pid for pid in (one.keeper, driver, *rest) if alive(pid)] == []


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_it(window: Browser, site: tuple[str, list[str]], name: str, width: int, dark: bool) -> None:
    window.open(site[0] + name, width=width, dark=dark)
    kept(window, f"{name}-{width}-{'dark' if dark else 'light'}")
    # Colors do not depend on the width, nor what goes where on the colors: axe looks twice at each, not four times.
    if dark == (width == PHONE):
        found = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in window.violations()]
        assert found == []
    assert window.run("document.documentElement.scrollWidth") <= width
    assert window.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 26)" if dark else "rgb(251, 250, 247)"
    )


@pytest.mark.parametrize("name", ["hostile", "hostile-changes", "in-a-file"])
def test_markup_stays_text_and_nothing_runs(window: Browser, site: tuple[str, list[str]], name: str) -> None:
    url, asked = site
    window.complaints()
    window.open(url + name)
    assert window.run("document.title") != "gone"
    assert window.run("document.querySelectorAll('script, img, b, iframe, [onerror], [onmouseover]').length") == 0
    assert "<script>document.title='gone'</script>" in window.run("document.body.innerText")
    # Nothing is loaded, and no policy had to keep anything from running: there was nothing to keep.
    assert (window.complaints(), asked) == ([], [])


def test_the_policy_holds_whatever_a_page_would_say(window: Browser, site: tuple[str, list[str]]) -> None:
    """What would happen if a template ever let markup through: still nothing."""
    attack = b"<script>document.title='gone'</script><img src=/stolen><p style='position:fixed'>x</p><form action=https://b.example>"
    PAGES["attacked"] = PAGES["demo"].replace(b'<main id="main">', b'<main id="main">' + attack)
    window.open(site[0] + "attacked")
    assert window.run("document.title") != "gone"
    assert window.run("getComputedStyle(document.querySelector('main > p')).position") == "static"
    assert site[1] == []
    assert [one for one in window.complaints() if "Content Security Policy" in one]


def test_it_prints(window: Browser, site: tuple[str, list[str]]) -> None:
    window.open(site[0] + "whole")
    printed = base64.b64decode(window.devtools("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF-")
    assert 2 <= len(re.findall(rb"/Type ?/Page\b", printed)) <= 12
    window.devtools("Emulation.setEmulatedMedia", media="print")
    assert window.run("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_a_node_shows_its_agent_and_what_changed(window: Browser) -> None:
    """A real node, from its front page through the form to what changed, and back."""
    with fresh_home('acts_for = "person"\nhandle = "letters.home"') as home:
        published(home, draft("1.0", refusals="It pays nothing."))
        published(home, draft("2.0", refusals="It pays and signs nothing."))
        with running(home) as node:
            window.complaints()
            window.open(node.url + "/")
            assert window.run("document.querySelector('h1').innerText") == "letters.home"
            assert "It pays and signs nothing." in window.run("document.querySelector('main').innerText")
            window.run("document.querySelector('form').submit()")
            assert window.run("document.querySelector('h1').innerText") == "What changed"
            text = window.run("document.querySelector('main').innerText")
            assert "It pays nothing." in text
            assert "It pays and signs nothing." in text
            assert window.run("location.search").startswith("?from=sha256%3A")
            assert window.complaints() == []
            window.open(f"{node.url}/.well-known/agentdoc.json")
            assert json.loads(window.run("document.body.innerText"))["agentdoc"] == "v1"
