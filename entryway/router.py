"""A table of fixed routes: path and method to handler, refusals to error bodies, answers counted.

It serves the entryway and the control socket alike. There is nothing in between: no middleware, no patterns but one
kind of prefix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from entryway.codec import Codec, body_codec, encode, reply_codec
from entryway.errors import EntrywayError
from entryway.http import Request, Response, Streaming, Working, response

Answer = Response | Streaming | Awaitable[Response | Working]

CORS = ("Access-Control-Allow-Origin", "*")
EXPOSED = ("Access-Control-Expose-Headers", "ETag, Repr-Digest, Agent-Version, Retry-After")
NO_STORE = ("Cache-Control", "no-store")
PLAIN_TYPE = ("X-Content-Type-Options", "nosniff")


@dataclass(frozen=True, slots=True)
class Route:
    """One path. `name` is what it is counted under; `public` lets pages of any origin read it (CORS).

    `body_limit`: bytes of body it takes, where that is another number than the router's.
    """

    name: str
    methods: tuple[bytes, ...]
    handle: Callable[[Request], Answer]
    public: bool = False
    body_limit: int | None = None

    @property
    def allow(self) -> str:
        """The value of `Allow`."""
        return b", ".join((*self.methods, b"OPTIONS")).decode()


def get(name: str, handle: Callable[[Request], Answer], *, public: bool) -> Route:
    """A route to read."""
    return Route(name, (b"GET", b"HEAD"), handle, public)


def post(name: str, handle: Callable[[Request], Answer], body_limit: int | None = None) -> Route:
    """A route that takes a body."""
    return Route(name, (b"POST",), handle, body_limit=body_limit)


def put(name: str, handle: Callable[[Request], Answer], body_limit: int) -> Route:
    """A route that takes a document."""
    return Route(name, (b"PUT",), handle, body_limit=body_limit)


UNKNOWN = "unknown"  # what answers on no route are counted under


class Router:
    """Routes by exact path, and by prefix for what carries a name in its path. `answered` counts (route, status)."""

    def __init__(self, exact: dict[bytes, Route], prefixes: dict[bytes, Route], body_limit: int, hint: str) -> None:
        self.answered: Counter[tuple[str, int]] = Counter()
        self._exact = exact
        self._prefixes = prefixes
        self._body_limit = body_limit
        self._hint = hint

    def limit_bodies(self, body_limit: int, **of_routes: int) -> None:
        """Sets how many bytes of body are read from now on; of some routes, by their names, another number."""
        self._body_limit = body_limit
        for path, route in self._exact.items():
            if route.name in of_routes:
                self._exact[path] = replace(route, body_limit=of_routes[route.name])

    def body_limit(self, request: Request) -> int:
        """The most bytes of body that are read for a request."""
        route = self._route(request.path)
        return self._body_limit if route is None or route.body_limit is None else route.body_limit

    def respond(self, request: Request) -> Answer:
        """The answer, at once where it is in memory. Refusals are answers too; EntrywayError never leaves."""
        route = self._route(request.path)
        try:
            answer = self._dispatch(route, request)
        except EntrywayError as error:
            return self._refused(route, error, request)
        if isinstance(answer, Streaming):
            return answer._replace(admit=self._counting(route, answer))
        return self._counted(route, answer) if isinstance(answer, Response) else self._later(route, answer, request)

    def refuse(self, error: EntrywayError, request: Request | None) -> Response:
        """A refusal that was decided before a route was asked; `request` is None when it could not be read."""
        return self._refused(None if request is None else self._route(request.path), error, request)

    def _route(self, path: bytes) -> Route | None:
        route = self._exact.get(path)
        if route is None:
            for prefix, candidate in self._prefixes.items():
                if path.startswith(prefix):
                    return candidate
        return route

    def _dispatch(self, route: Route | None, request: Request) -> Answer:
        if route is None:
            raise EntrywayError("NOT_FOUND", f"Nothing is served at this path. {self._hint}")
        if request.method in route.methods:
            return route.handle(request)
        if request.method == b"OPTIONS":
            return _options(route)
        raise EntrywayError(
            "METHOD_NOT_ALLOWED",
            f"This path does not take that method. Use {route.allow}.",
            headers=(("Allow", route.allow),),
        )

    async def _later(
        self, route: Route | None, answer: Awaitable[Response | Working], request: Request
    ) -> Response | Working:
        try:
            found = await answer
        except EntrywayError as error:
            return self._refused(route, error, request)
        if isinstance(found, Working):
            return found._replace(response=lambda: self._worked(route, found, request))
        return self._counted(route, found)

    async def _worked(self, route: Route | None, work: Working, request: Request) -> Response:
        try:
            return self._counted(route, await work.response())
        except EntrywayError as error:
            return self._refused(route, error, request)

    def _refused(self, route: Route | None, error: EntrywayError, request: Request | None) -> Response:
        return self._counted(route, refusal(error, request, public=route is not None and route.public))

    def _counting(self, route: Route | None, answer: Streaming) -> Callable[[str | None], None]:
        """A stream is counted when it is admitted: until then it may yet be refused."""

        def admit(key: str | None) -> None:
            answer.admit(key)
            self._counted(route, answer.response)

        return admit

    def _counted(self, route: Route | None, answer: Response) -> Response:
        self.answered[UNKNOWN if route is None else route.name, answer.status] += 1
        return answer


def refusal(error: EntrywayError, request: Request | None, *, public: bool = False) -> Response:
    """An error as a response, in the codec the caller asked for: JSON where it did not say."""
    codec = Codec.JSON
    if request is not None:
        try:
            codec = body_codec(request.headers.get(b"content-type"))
        except EntrywayError:
            codec = Codec.JSON
        codec = reply_codec(request.headers.get(b"accept"), codec)
    headers = (
        ("Content-Type", codec.value),
        PLAIN_TYPE,
        NO_STORE,
        *error.headers,
        *((CORS, EXPOSED) if public else ()),
    )
    return response(error.status, headers, encode(error.body(), codec))


def _options(route: Route) -> Response:
    preflight = (
        CORS,
        ("Access-Control-Allow-Methods", route.allow),
        ("Access-Control-Allow-Headers", "If-None-Match"),
        ("Access-Control-Max-Age", "86400"),
    )
    return response(204, (("Allow", route.allow), *(preflight if route.public else ())), content_length=False)
