"""Signals to a running node: what is under way is finished in bounded time, settings are read again, systemd knows."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from descriptor.digests import digest_of
from node.home import Home
from tests.end_to_end.harness import (
    WAIT,
    WELL_KNOWN,
    Answer,
    closing_connection,
    fresh_home,
    question,
    readable,
    running,
    short_directory,
    stuck_reader,
)
from tests.node.parts import draft, published

LARGE = draft(notes="a" * 500_000)
SOON = 5.0
"""Seconds: what a stop may take on a loaded machine when nothing holds it up. The drains here are set far from it."""


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """A home whose current version fills a socket's buffers."""
    with fresh_home() as home:
        published(home, LARGE)
        yield home


def read_to_end(channel: socket.socket) -> bytes:
    data = bytearray()
    while piece := channel.recv(65536):
        data += piece
    return bytes(data)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_answer_under_way_is_finished_and_the_node_ends(home: Home, number: signal.Signals) -> None:
    with running(home, env={"AGENT_NODE_DRAIN_WAIT": "60"}) as node, stuck_reader(node) as channel:
        node.signal(number)
        assert node.logged("stopping")["signal"] == number.name
        data = read_to_end(channel)
        bodies = [part.partition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 200 OK\r\n")[1:]]
        assert bodies
        assert {digest_of(body) for body in bodies} == {node.ready["digest"]}
        assert b"Connection: close\r\n" in data  # the last one says that it is the last
        assert node.stopped() == 0
    assert node.log[-1]["event"] == "stopped"
    assert not home.socket.exists()


def test_a_question_that_was_half_here_is_answered(home: Home) -> None:
    body = json.dumps(question()).encode()
    head = f"POST /entryway HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    with running(home) as node, socket.create_connection(("127.0.0.1", node.port), WAIT) as channel:
        channel.sendall(head.encode() + b"\r\n" + body[:10])
        while node.asks("GET", "/status").json()["connections"] != 1:
            time.sleep(0.01)
        time.sleep(0.2)
        node.signal(signal.SIGTERM)
        node.logged("stopping")
        channel.sendall(body[10:])
        assert read_to_end(channel).startswith(b"HTTP/1.1 200 OK\r\n")
        assert node.stopped() == 0


def test_connections_that_wait_for_nothing_do_not_hold_a_stop_up(home: Home) -> None:
    with running(home, env={"AGENT_NODE_DRAIN_WAIT": "60"}) as node, closing_connection(node.port) as idle:
        idle.request("GET", WELL_KNOWN)
        assert Answer.of(idle.getresponse()).status == 200
        began = time.monotonic()
        node.signal(signal.SIGTERM)
        assert node.stopped() == 0
        assert time.monotonic() - began < SOON


def test_a_reader_that_takes_nothing_is_cut_when_the_drain_is_over(home: Home) -> None:
    with running(home, env={"AGENT_NODE_DRAIN_WAIT": "1"}) as node, stuck_reader(node):
        began = time.monotonic()
        node.signal(signal.SIGTERM)
        node.logged("stopping")
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            node.get()  # nobody is accepted any more
        assert node.stopped() == 0
        assert 0.5 < time.monotonic() - began < SOON


def test_a_second_signal_stops_at_once(home: Home) -> None:
    with running(home, env={"AGENT_NODE_DRAIN_WAIT": "60"}) as node, stuck_reader(node):
        node.signal(signal.SIGTERM)
        node.logged("stopping")
        time.sleep(0.2)
        assert node.process.poll() is None  # it waits for the reader
        began = time.monotonic()
        node.signal(signal.SIGINT)
        assert node.stopped() == 0
        assert time.monotonic() - began < SOON
    assert not home.socket.exists()


# Settings read again.


def test_sighup_takes_new_settings_and_keeps_the_old_ones_when_the_file_is_bad() -> None:
    with fresh_home() as home, running(home) as node:
        before = home.config.read_text()
        assert [node.get("/descriptors").status for _ in range(3)] == [200] * 3

        limits = "[limits]\nlimit_loopback = true\nanswers_burst = 1\nanswers_per_second = 0.01\n"
        home.config.write_text(f"{before}{limits}[http]\nport = 7421\n")
        node.signal(signal.SIGHUP)
        line = node.logged("settings_reloaded")
        assert "limits.answers_burst" in line["taken"]
        assert "http.port" not in line["need_restart"]  # the flag stands over it
        assert [node.get("/descriptors").status for _ in range(3)] == [200, 429, 429]
        limited = node.get("/descriptors")
        assert int(limited.headers["retry-after"]) > 1

        home.config.write_text("[limits\n")
        node.signal(signal.SIGHUP)
        line = node.logged("settings_kept")
        assert (line["code"], str(home.config) in line["reason"]) == ("CONFIG_UNREADABLE", True)
        assert node.get("/descriptors").status == 429

        home.config.write_text(before)
        node.signal(signal.SIGHUP)
        node.logged("settings_reloaded", 2)
        assert [node.get("/descriptors").status for _ in range(3)] == [200] * 3


def test_what_publishing_adds_and_what_is_logged_is_read_again() -> None:
    with fresh_home("") as home, running(home) as node:
        refused = node.asks("POST", "/publish", draft())
        assert refused.json()["error"]["code"] == "ACTS_FOR_NOT_STATED"
        home.config.write_text('[agent]\nacts_for = "anyone"\n[log]\nlog_level = "warning"\n')
        answer = node.asks("POST", "/reload")
        assert answer.json() == {"taken": ["agent.acts_for", "log.log_level"], "need_restart": []}
        assert node.asks("POST", "/publish", draft()).status == 200
        assert node.get().json()["acts_for"] == "anyone"
        home.config.write_text("[agnet]\n")
        refused = node.asks("POST", "/reload")
        assert (refused.status, refused.json()["error"]["code"]) == (409, "SETTING_UNKNOWN")
    assert not [line for line in node.log if line["event"] in ("published", "stopped")]


def test_every_limit_that_is_read_again_holds_from_then_on() -> None:
    with fresh_home() as home, running(home) as node:
        body, path = b"a" * 2000, "/" + "a" * 2000
        assert [node.post("/entryway", body, "application/json").status, node.get(path).status] == [400, 404]
        home.config.write_text("[limits]\nentryway_body = 1024\nheader_block = 1024\n")
        node.asks("POST", "/reload")
        assert [node.post("/entryway", body, "application/json").status, node.get(path).status] == [413, 431]


# The service manager.


@contextmanager
def service_manager() -> Iterator[socket.socket]:
    with short_directory() as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(directory / "notify"))
        channel.settimeout(WAIT)
        yield channel


def messages(channel: socket.socket, until: str) -> list[str]:
    """What is announced, up to a message that begins with `until`."""
    found: list[str] = []
    while not found or not found[-1].startswith(until):
        assert readable(channel), f"no {until} after {found}"
        found.append(channel.recv(4096).decode())
    return found


def test_the_service_manager_is_told_of_every_state(home: Home) -> None:
    with service_manager() as channel:
        env = {"NOTIFY_SOCKET": channel.getsockname(), "WATCHDOG_USEC": "200000"}
        with running(home, env=env) as node:
            ready = messages(channel, "READY=1")[-1]
            assert f"STATUS=listening on {node.url}" in ready
            began = time.monotonic()
            for _ in range(4):
                assert messages(channel, "WATCHDOG=1")[-1] == "WATCHDOG=1"
            assert time.monotonic() - began < SOON
            node.signal(signal.SIGHUP)
            assert "MONOTONIC_USEC=" in messages(channel, "RELOADING=1")[-1]
            messages(channel, "READY=1")
            node.signal(signal.SIGTERM)
            messages(channel, "STOPPING=1")
            assert node.stopped() == 0


def test_a_node_is_ready_when_it_is_announced(home: Home) -> None:
    with service_manager() as channel, running(home, env={"NOTIFY_SOCKET": channel.getsockname()}, ready=False) as node:
        status = messages(channel, "READY=1")[-1]
        port = int(status.rpartition(":")[2])
        with closing_connection(port) as connection:
            connection.request("GET", WELL_KNOWN)
            assert Answer.of(connection.getresponse()).status == 200
        assert node.asks("GET", "/status").status == 200
