"""A Descriptor's bytes behind starlette: what somebody would write who has a file to serve.

Fewer headers than the node sends, and made in memory: nothing is added that could slow it.
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def create() -> Starlette:
    """The application; `BENCH_FILE` names the bytes."""
    data = Path(os.environ["BENCH_FILE"]).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(data, media_type="application/json")

    return Starlette(routes=[Route("/.well-known/agent-descriptor.json", answer)])
