"""Paths to handlers, refusals to error bodies, answers counted."""

from __future__ import annotations

import json
from typing import NoReturn

import msgpack
import pytest
import trio

from entryway.errors import RETRYABLE, STATUS, EntrywayError
from entryway.http import Request, Response, Working, response
from entryway.router import Router, get, post, refusal
from tests.entryway.parts import asked, received


def say(text: str) -> Response:
    return response(200, (("Content-Type", "text/plain"),), text.encode())


async def later(text: str) -> Response:
    await trio.lowlevel.checkpoint()
    return say(text)


async def refused_later(_request: Request) -> Response:
    await trio.lowlevel.checkpoint()
    raise EntrywayError("AGENT_UNAVAILABLE", "Later.")


async def working(_request: Request) -> Working:
    await trio.lowlevel.checkpoint()
    return Working(lambda: later("done"), lambda: trio.sleep(0))


async def refused_while_working(request: Request) -> Working:
    await trio.lowlevel.checkpoint()
    return Working(lambda: refused_later(request), lambda: trio.sleep(0))


def refuse(_request: Request) -> NoReturn:
    raise EntrywayError("RATE_LIMITED", "Too fast.", {"per": "day"}, (("Retry-After", "9"),))


def a_router() -> Router:
    return Router(
        {
            b"/now": get("now", lambda _request: say("now"), public=True),
            b"/later": get("later", lambda _request: later("later"), public=True),
            b"/refused": post("refused", refuse),
            b"/refused-later": get("refused-later", refused_later, public=True),
            b"/things": get("things", lambda _request: say("all"), public=True),
        },
        {b"/things/": get("thing", lambda request: say(request.path.decode()), public=True)},
        4096,
        "Try /now.",
    )


async def respond(router: Router, request: Request) -> Response:
    answer = router.respond(request)
    return answer if isinstance(answer, Response) else await answer


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/now", b"now"),
        ("/now?query", b"now"),
        ("http://node.test/now", b"now"),
        ("/later", b"later"),
        ("/things", b"all"),
        ("/things/", b"/things/"),
        ("/things/a/b", b"/things/a/b"),
    ],
)
async def test_a_path_is_matched_exactly_or_by_its_prefix(target: str, body: bytes) -> None:
    got = received(await respond(a_router(), asked("GET", target)))
    assert (got.status, got.body) == (200, body)


@pytest.mark.parametrize("target", ["/", "", "*", "/no", "/now/", "//now", "/%6eow", "/NOW", "/thingsa", "/../now"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_any_other_path_is_not_found_and_told_where_to_look(method: str, target: str) -> None:
    got = received(a_router().respond(asked(method, target)))  # type: ignore[arg-type]  # a refusal comes at once
    assert got.status == 404
    assert got.error() == {
        "code": "NOT_FOUND",
        "message": "Nothing is served at this path. Try /now.",
        "retryable": False,
    }


@pytest.mark.parametrize(
    ("method", "target", "allow"),
    [
        ("POST", "/now", "GET, HEAD, OPTIONS"),
        ("DELETE", "/things/a", "GET, HEAD, OPTIONS"),
        ("GET", "/refused", "POST, OPTIONS"),
        ("HEAD", "/refused", "POST, OPTIONS"),
        ("CONNECT", "/now", "GET, HEAD, OPTIONS"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(method: str, target: str, allow: str) -> None:
    got = received(await respond(a_router(), asked(method, target)))
    assert got.status == 405
    assert got.headers["allow"] == allow
    assert got.error()["code"] == "METHOD_NOT_ALLOWED"


async def test_options_of_a_public_route_lets_any_page_read_it() -> None:
    got = received(await respond(a_router(), asked("OPTIONS", "/now")))
    assert got.status == 204
    assert got.body == b""
    assert got.headers["allow"] == "GET, HEAD, OPTIONS"
    assert got.headers["access-control-allow-origin"] == "*"
    assert got.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert got.headers["access-control-allow-headers"] == "If-None-Match"


async def test_options_of_another_route_lets_no_page_in() -> None:
    got = received(await respond(a_router(), asked("OPTIONS", "/refused")))
    assert got.status == 204
    assert not [name for name in got.headers if name.startswith("access-control")]


async def test_a_refusal_keeps_its_details_and_headers() -> None:
    got = received(await respond(a_router(), asked("POST", "/refused")))
    assert got.status == 429
    assert got.headers["retry-after"] == "9"
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.error() == {
        "code": "RATE_LIMITED",
        "message": "Too fast.",
        "retryable": True,
        "details": {"per": "day"},
    }


async def test_a_page_may_read_the_refusals_of_a_public_route() -> None:
    for request in (asked("GET", "/refused-later"), asked("POST", "/now")):
        assert received(await respond(a_router(), request)).headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("headers", "media_type"),
    [
        ({}, "application/json"),
        ({"Content-Type": "text/html"}, "application/json"),
        ({"Content-Type": "application/msgpack"}, "application/msgpack"),
        ({"Accept": "application/msgpack"}, "application/msgpack"),
        ({"Accept": "application/msgpack, application/json"}, "application/json"),
        ({"Content-Type": "application/msgpack", "Accept": "application/json;q=1"}, "application/json"),
        ({"Content-Type": "application/msgpack", "Accept": "*/*"}, "application/msgpack"),
    ],
)
def test_a_refusal_comes_in_the_codec_that_was_asked_for(headers: dict[str, str], media_type: str) -> None:
    error = EntrywayError("NOT_FOUND", "Grüße")
    got = received(refusal(error, asked("POST", "/", headers)))
    assert got.headers["content-type"] == media_type
    decode = msgpack.unpackb if media_type.endswith("msgpack") else json.loads
    assert decode(got.body) == {"error": {"code": "NOT_FOUND", "message": "Grüße", "retryable": False}}


async def test_answers_are_counted_by_route_and_status() -> None:
    router = a_router()
    for target in ("/now", "/now", "/later", "/refused-later", "/things/a", "/things/b", "/x", "/y"):
        await respond(router, asked("GET", target))
    await respond(router, asked("POST", "/now"))
    assert router.answered == {
        ("now", 200): 2,
        ("now", 405): 1,
        ("later", 200): 1,
        ("refused-later", 503): 1,
        ("thing", 200): 2,
        ("unknown", 404): 2,
    }


def test_every_code_has_one_status_and_those_that_may_be_tried_again_say_so() -> None:
    assert all(400 <= status < 600 for status in STATUS.values())
    assert RETRYABLE.issubset(STATUS)
    for code in STATUS:
        error = EntrywayError(code, "Why.")
        assert error.status == STATUS[code]
        assert error.body() == {"error": {"code": code, "message": "Why.", "retryable": code in RETRYABLE}}


@pytest.mark.parametrize(("path", "name", "readable"), [("/now", "now", True), ("/nowhere", "unknown", False)])
def test_a_refusal_of_the_server_is_counted_and_is_as_readable_as_its_route(
    path: str, name: str, readable: bool
) -> None:
    router = a_router()
    got = received(router.refuse(EntrywayError("RATE_LIMITED", "Too fast."), asked("GET", path)))
    assert ("access-control-allow-origin" in got.headers) is readable
    assert router.answered == {(name, 429): 1}


def test_what_could_not_be_read_is_counted_too() -> None:
    router = a_router()
    router.refuse(EntrywayError("BAD_REQUEST", "Not HTTP."), None)
    assert router.answered == {("unknown", 400): 1}


async def test_a_route_that_is_not_public_is_for_no_page() -> None:
    router = Router({b"/own": get("own", refused_later, public=False)}, {}, 4096, "Try /own.")
    answer = router.respond(asked("GET", "/own"))
    assert not isinstance(answer, Response)
    for got in (received(await answer), received(router.respond(asked("OPTIONS", "/own")))):  # type: ignore[arg-type]  # at once
        assert "access-control-allow-origin" not in got.headers


async def test_work_is_counted_when_it_is_done_and_refused_like_anything_else() -> None:
    routes = {b"/work": post("work", working), b"/refused": post("refused", refused_while_working)}
    router = Router(routes, {}, 4096, "Try /work.")
    for target, status, counted in (("/work", 200, ("work", 200)), ("/refused", 503, ("refused", 503))):
        answer = router.respond(asked("POST", target))
        assert not isinstance(answer, Response)
        found = await answer
        assert isinstance(found, Working)
        assert counted not in router.answered
        assert (await found.response()).status == status
        assert router.answered[counted] == 1


async def test_the_limit_of_one_route_is_set_by_its_name() -> None:
    router = a_router()
    router.limit_bodies(10, refused=20)
    limits = {target: router.body_limit(asked("POST", target)) for target in ("/refused", "/now", "/things/a")}
    assert limits == {"/refused": 20, "/now": 10, "/things/a": 10}
