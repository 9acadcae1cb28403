"""Headless Chromium, driven over the WebDriver protocol, which is JSON over HTTP and needs no library of its own.

The browser is Debian's (`apt-get install chromium chromium-driver`). It reaches nothing but this machine: what it is
asked for is on loopback, and everything that a browser does of its own accord is switched off.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

WAIT = 60.0
FLAGS = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars", "--no-sandbox"),
)
ROOT = Path(__file__).parents[2]
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules/axe-core/axe.min.js"))


def missing() -> str | None:
    """What keeps a browser from being driven here; None when nothing does."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not installed: apt-get install chromium chromium-driver" if absent else None


@dataclass
class Browser:
    """One window."""

    client: httpx.Client
    session: str
    keeper: int
    """The process that everything else of the browser descends from."""

    def ask(self, method: str, path: str, **members: Any) -> Any:
        """One WebDriver command; its value."""
        answer = self.client.request(
            method, f"/session/{self.session}{path}", json=members if method == "POST" else None
        )
        value = answer.json()["value"]
        assert answer.is_success, value
        return value

    def devtools(self, command: str, **parameters: Any) -> Any:
        """One command of the browser's own protocol."""
        return self.ask("POST", "/goog/cdp/execute", cmd=command, params=parameters)

    def open(self, url: str, *, width: int = 1280, dark: bool = False) -> None:
        """Goes to an address, as seen in a window of this width."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.ask("POST", "/url", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.ask("POST", "/execute/sync", script=f"return {script}", args=[])

    def violations(self) -> list[dict[str, Any]]:
        """What axe-core finds against the accessibility of the page."""
        script = (
            f"{AXE.read_text(encoding='utf-8')};const done = arguments[0];axe.run().then(one => done(one.violations))"
        )
        found = self.ask("POST", "/execute/async", script=script, args=[])
        assert isinstance(found, list)
        return found

    def complaints(self) -> list[str]:
        """What the browser itself had to say of the pages so far: violations of their policy among it."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", type="browser")]

    def screenshot(self, file: Path) -> None:
        """The whole page as a PNG."""
        height = self.run("Math.min(document.documentElement.scrollHeight, 12000)")
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own. Afterwards profile and processes are gone, however it ended."""
    with tempfile.TemporaryDirectory(prefix="agent-node-browser-") as profile, _driver() as (keeper, port):
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={profile}/profile"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=WAIT, trust_env=False) as client:
            begun = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}}).json()["value"]
            assert "sessionId" in begun, begun
            one = Browser(client, begun["sessionId"], keeper)
            try:
                yield one
            finally:
                with suppress(httpx.HTTPError):  # without its driver it is for the keeper to end
                    client.delete(f"/session/{one.session}")


@contextmanager
def _driver() -> Iterator[tuple[int, int]]:
    """A driver on a port: the process that keeps it, and the port."""
    command = [sys.executable, "-m", "tests.browser.keeper", "chromedriver", "--port=0"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT
    ) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            for line in keeper.stdout:
                if found := re.search(rb"started successfully on port (\d+)", line):
                    yield keeper.pid, int(found[1])
                    return
            raise AssertionError("chromedriver does not start")
        finally:
            keeper.stdin.close()
            keeper.wait(WAIT)
