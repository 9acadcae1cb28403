"""The control socket: how a running node is told to change, and asked how it is.

The same HTTP framing as the entryway, over a Unix socket (0600) in the home. Whoever can open the socket is the
operator: the file's permissions are the whole of its access control, and nothing here is reachable over a network.

| route | does |
|---|---|
| `GET /status` | what the node is and how it fares |
| `GET /metrics` | Prometheus text |
| `POST /publish?respell=&acts_for=&organization_name=` | publishes the body |
| `POST /rollback` | `{"digest", "as"}`: that content again under a new agent_version |
| `POST /reload` | reads the settings again, as SIGHUP does |
| `GET /card` | the A2A card, exact bytes |
| `POST /roster` | one change of the roster, as `node.roster` lists them |
| `GET /peers?since=` | the peers, and a number that counts their changes; with that number only if it has moved on |
| `POST /peers/forget` | `{"id"}`: forgets a peer, and the handle that is pinned to it |
| `POST /follow`, `POST /unfollow` | `{"id", "url"}`, `{"id"}`: a standing subscription, and its end |
| `POST /jobs/cancel` | `{"task_id"}`: ends a job |
| `GET /follows` | what is followed, and how it fares |

Source: binding 9.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol
from urllib.parse import parse_qs

from descriptor.errors import DescriptorError
from descriptor.keys import decode_public
from descriptor.strictjson import MAX_BYTES, JsonValue, parse
from entryway.errors import EntrywayError
from entryway.http import Request, Response, json_body, response
from entryway.router import NO_STORE, Router, get, post
from node.errors import NodeError, as_node_error
from node.home import Home, unusable
from node.publisher import Outcome
from store import StoreError

BODY_LIMIT = 2 * MAX_BYTES + 4096  # a roster travels as a text inside of a document
JSON = (("Content-Type", "application/json"), NO_STORE)


class Operated(Protocol):
    """What the control socket operates: the daemon."""

    def status(self) -> dict[str, object]:
        """What the node is and how it fares."""

    async def metrics(self) -> tuple[str, bytes]:
        """The media type and text of the metrics page."""

    async def publish(self, data: bytes, respell: bool, acts_for: str | None, name: str | None) -> Outcome:
        """Publishes, swaps and announces."""

    async def rollback(self, digest: str, agent_version: str) -> Outcome:
        """Publishes an older version's content again."""

    def card(self) -> bytes:
        """The A2A card as it is served."""

    async def change_roster(self, change: Mapping[str, JsonValue]) -> Mapping[str, object]:
        """Changes the roster; says what it is now."""

    def peers(self, since: int | None) -> Mapping[str, object]:
        """The peers, and a number that counts their changes; only the number when it is `since` still."""

    def forget_peer(self, agent_id: str) -> bool:
        """Forgets a peer; False when it is not known."""

    async def follow(self, agent_id: str, url: str) -> Mapping[str, object]:
        """Follows an agent from now on."""

    async def unfollow(self, agent_id: str) -> bool:
        """Follows an agent no more; False when it was not followed."""

    def follows(self) -> Sequence[Mapping[str, object]]:
        """What is followed, and how it fares."""

    async def cancel_job(self, task_id: str) -> bool:
        """Ends a job; False when none of that id has yet to end."""

    def reload(self) -> dict[str, list[str]]:
        """Takes the settings anew; says which it took and which wait for a restart."""


class OperatorError(EntrywayError):
    """A refusal on the control socket: any code of any floor, with what the command line needs to show it."""

    def __init__(self, error: NodeError) -> None:
        details = {"exit_code": int(error.exit_code), **(error.details or {})}
        super().__init__(error.code, error.message, details)

    @property
    def status(self) -> int:
        """409: the request was understood, and the answer is no."""
        return 409


def control_router(node: Operated) -> Router:
    """The routes of the control socket."""

    def status(_request: Request) -> Response:
        return response(200, JSON, json_body(node.status()))

    async def metrics(_request: Request) -> Response:
        media_type, text = await node.metrics()
        return response(200, (("Content-Type", media_type), NO_STORE), text)

    async def publish(request: Request) -> Response:
        query = parse_qs(request.query.decode("latin-1"), keep_blank_values=True)

        def stated(name: str) -> str | None:
            return query.get(name, [None])[-1]

        outcome = await node.publish(
            request.body, stated("respell") == "1", stated("acts_for"), stated("organization_name")
        )
        return response(200, JSON, json_body(outcome.document()))

    async def rollback(request: Request) -> Response:
        digest, agent_version = _texts(request, "digest", "as")
        return response(200, JSON, json_body((await node.rollback(digest, agent_version)).document()))

    async def card(_request: Request) -> Response:
        return response(200, JSON, node.card())

    async def roster(request: Request) -> Response:
        change = parse(request.body, max_bytes=BODY_LIMIT)
        if not isinstance(change, dict):
            raise NodeError("INPUT_INVALID", "A change of the roster is one object.")
        return response(200, JSON, json_body(await node.change_roster(change)))

    def peers(request: Request) -> Response:
        since = parse_qs(request.query.decode("latin-1")).get("since", [""])[-1]
        number = int(since) if since.isascii() and since.isdecimal() and len(since) < 19 else None
        return response(200, JSON, json_body(node.peers(number)))

    async def forget(request: Request) -> Response:
        (agent_id,) = _texts(request, "id")
        if not node.forget_peer(agent_id):
            raise NodeError("NOT_FOUND", "No such peer is known. `agent-node peers` lists them.")
        return response(200, JSON, json_body({"id": agent_id, "known": False}))

    async def follow(request: Request) -> Response:
        agent_id, url = _texts(request, "id", "url")
        decode_public(agent_id)
        return response(200, JSON, json_body(await node.follow(agent_id, url)))

    async def unfollow(request: Request) -> Response:
        (agent_id,) = _texts(request, "id")
        if not await node.unfollow(agent_id):
            raise NodeError("NOT_FOUND", f"{agent_id} is not followed. `agent-node follows` lists who is.")
        return response(200, JSON, json_body({"id": agent_id, "followed": False}))

    def follows(_request: Request) -> Response:
        return response(200, JSON, json_body({"follows": list(node.follows())}))

    async def cancel_job(request: Request) -> Response:
        (task_id,) = _texts(request, "task_id")
        if not await node.cancel_job(task_id):
            raise NodeError("NOT_FOUND", "No job of that id has yet to end. `agent-node jobs` lists them.")
        return response(200, JSON, json_body({"task_id": task_id, "canceled": True}))

    async def reload(_request: Request) -> Response:
        return response(200, JSON, json_body(node.reload()))

    return Router(
        {
            b"/status": get("status", status, public=False),
            b"/metrics": get("metrics", metrics, public=False),
            b"/publish": post("publish", _operating(publish)),
            b"/rollback": post("rollback", _operating(rollback)),
            b"/reload": post("reload", _operating(reload)),
            b"/card": get("card", _operating(card), public=False),
            b"/roster": post("roster", _operating(roster)),
            b"/peers": get("peers", peers, public=False),
            b"/peers/forget": post("forget", _operating(forget)),
            b"/follow": post("follow", _operating(follow)),
            b"/unfollow": post("unfollow", _operating(unfollow)),
            b"/jobs/cancel": post("cancel_job", _operating(cancel_job)),
            b"/follows": get("follows", follows, public=False),
        },
        {},
        BODY_LIMIT,
        "This is a node's control socket: it has /status, /metrics, /publish, /rollback, /reload, /card, "
        "/roster, /peers, /peers/forget, /follow, /unfollow, /follows and /jobs/cancel.",
    )


def _texts(request: Request, *names: str) -> list[str]:
    """The members of a body, all of them texts. Raises NodeError INPUT_INVALID and DescriptorError."""
    asked = parse(request.body)
    values = [asked.get(name) if isinstance(asked, dict) else None for name in names]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(names):
        raise NodeError("INPUT_INVALID", f"The body is an object with the texts {' and '.join(names)}.")
    return texts


def _operating(act: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """An act whose refusals, of whichever floor, keep their code on the way to the command line."""

    async def acting(request: Request) -> Response:
        try:
            return await act(request)
        except (NodeError, DescriptorError, StoreError) as error:
            raise OperatorError(as_node_error(error)) from error

    return acting


def remove_socket(home: Home, inode: int) -> None:
    """Takes `control.sock` away if it is still the one with this inode. One that cannot be removed is only stale."""
    with suppress(OSError):
        if home.socket.stat().st_ino == inode:
            home.socket.unlink()


def control_listener(home: Home) -> socket.socket:
    """A listening socket at `control.sock`, 0600. The home is locked by this process, so what is there is stale.

    Raises NodeError HOME_UNUSABLE; something that is not a socket is left alone.
    """
    path = home.socket
    try:
        if path.is_socket():
            path.unlink()
        elif os.path.lexists(path):
            raise NodeError("HOME_UNUSABLE", f"{path} is not a socket; move it away, the node puts its own there.")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        before = os.umask(stat.S_IXUSR | stat.S_IRWXG | stat.S_IRWXO)
        try:
            listener.bind(str(path))
            listener.listen(16)
        except OSError:
            listener.close()
            raise
        finally:
            os.umask(before)
    except OSError as error:
        raise unusable(path, error) from error
    return listener
