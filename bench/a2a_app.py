"""The same agent as an A2A card, behind the route that a2a-sdk brings for it.

The card says what the Descriptor says, as far as a card can, and its answer has the same length: more skills of the
same kind make up for what only a Descriptor states.
"""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path

from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_agent_card_routes
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.responses import JSONResponse


def create() -> Starlette:
    """The application; `BENCH_FILE` names the Descriptor."""
    return Starlette(routes=create_agent_card_routes(card_for(Path(os.environ["BENCH_FILE"]).read_bytes())))


def card_for(data: bytes) -> AgentCard:
    """The card of a Descriptor, whose answer is exactly as long as the Descriptor."""
    descriptor = json.loads(data)
    card = AgentCard(
        name=descriptor["subject"]["handle"],
        description=descriptor["does"],
        version=descriptor["agent_version"],
        supported_interfaces=[
            AgentInterface(url="http://127.0.0.1:7420/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=["text/plain", "application/pdf", "image/jpeg"],
        default_output_modes=["text/markdown", "text/csv"],
    )
    offerings = descriptor["offerings"]
    for number in count():
        card.skills.append(_skill(offerings[number % len(offerings)], number))
        if _length(card) > len(data):
            del card.skills[-1]
            break
    card.skills[-1].description += "." * (len(data) - _length(card))
    return card


def _skill(offering: dict[str, object], number: int) -> AgentSkill:
    return AgentSkill(
        id=f"{offering['id']}-{number}",
        name=str(offering["name"]),
        description=str(offering["description"]),
        tags=["household", "letters", "bills"],
        examples=["What does this letter ask for?", "What is due next week?"],
        input_modes=["text/plain", "application/pdf"],
        output_modes=["text/markdown"],
    )


def _length(card: AgentCard) -> int:
    return len(JSONResponse(agent_card_to_dict(card)).body)
