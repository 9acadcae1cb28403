"""`run`: the daemon in the foreground."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress

import click
import trio

from node import logs
from node.console import Console, operator_command
from node.daemon import Daemon, Settled
from node.errors import NodeError
from node.settings import Settings


@click.command("run")
@click.option("--port", type=int, help="The TCP port; 0 takes any free one. [default: 7420]")
@click.option("--host", multiple=True, metavar="ADDRESS", help="An address to listen on; may be given several times.")
@click.option("--log-level", help="debug, info, warning or error. [default: info]")
@click.option("--log-format", help="people, json, or auto: people on a terminal. [default: auto]")
@click.option("--welcome", is_flag=True, help="Print where the node listens, and three commands to try.")
@operator_command
def run_command(
    console: Console,
    port: int | None,
    host: tuple[str, ...],
    log_level: str | None,
    log_format: str | None,
    welcome: bool,
) -> None:
    """Run the node in the foreground.

    One line is logged when it is ready: the id, the URL and the digest. SIGTERM and SIGINT stop it when the answers
    under way are given, SIGHUP reads the settings again. With --json, stdout says where it listens once it does.
    """
    flags = {"port": port, "host": host or None, "log_level": log_level, "log_format": log_format}
    home = console.home

    def load_settings() -> Settings:
        return console.settings(flags)

    def apply_log(settings: Settings) -> None:
        logs.configure(settings.log.log_level, settings.log.log_format, sys.stderr)

    home.check()
    settings = load_settings()
    apply_log(settings)
    with home.lock():
        keys = console.keys()

        def on_ready(urls: Sequence[str]) -> None:
            with suppress(NodeError, OSError):  # nobody reads it, and the node answers all the same
                if console.as_json:
                    console.result({"id": keys.identity.id, "urls": urls}, ())
                if welcome:
                    _greet(console, keys.identity.id, urls)

        trio.run(Daemon(Settled(home, keys, settings, load_settings, apply_log, on_ready, os.environ)).run)


def _greet(console: Console, agent_id: str, urls: Sequence[str]) -> None:
    program = shlex.quote(sys.argv[0])
    local = next((url for url in urls if "127.0.0.1" in url), urls[0])
    for line in (
        "",
        f"This agent is {agent_id}.",
        f"It answers at {' and '.join(urls)}",
        "Three things to try from another terminal:",
        f"  curl -sS {local}/.well-known/agent-descriptor.json | sha256sum",
        f"  {program} ask {local}",
        f"  {program} status --home {shlex.quote(str(console.home.path))}",
        "Ctrl-C stops it.",
        "",
    ):
        console.note(line)
