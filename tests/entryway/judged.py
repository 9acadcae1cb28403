"""How the tests of the boundary have a request judged."""

from __future__ import annotations

from typing import Any

from descriptor.view import View
from entryway.asked import Asked
from entryway.boundary import judge
from entryway.errors import RETRYABLE, EntrywayError
from entryway.protections import HourlyCounts
from entryway.work import Order
from tests.entryway.parts import NOW, OTHER
from tests.entryway.refusing import says_what_to_do
from tests.fuzz.promises import assert_fit_to_show

REQUEST_ID = "01927d5e-8a3b-7c12-9f00-0a1b2c3d4e5f"
CODES = {
    *("OFFERING_NOT_FOUND", "INPUT_INVALID", "SCOPE_REFUSED", "RUN_CONFIG_REFUSED", "RATE_LIMITED"),
    *("BUDGET_INSUFFICIENT", "DEADLINE_UNMEETABLE"),
}


def judged(
    agent: View, asked: Asked, *, counts: HourlyCounts | None = None, now: float = NOW, caller: str = OTHER.id
) -> Order | EntrywayError:
    """What the boundary says: an order, or a refusal that is fit for people and for programs."""
    try:
        return judge(agent, asked, caller=caller, request_id=REQUEST_ID, now=now, counts=counts or HourlyCounts())
    except EntrywayError as error:
        assert error.code in CODES
        assert error.retryable == (error.code in RETRYABLE) == (error.code == "RATE_LIMITED")
        assert error.details is not None
        assert error.details["offering"] == asked.offering
        assert_fit_to_show(error)
        assert error.message.endswith((".", "?"))
        assert says_what_to_do(error.message), error.message
        return error


def ordered(agent: View, asked: Asked, **more: Any) -> Order:
    """The order of a request that is admitted."""
    order = judged(agent, asked, **more)
    assert isinstance(order, Order), order
    assert (order.caller, order.request_id, order.offering) == (
        more.get("caller", OTHER.id),
        REQUEST_ID,
        asked.offering,
    )
    return order


def refused(agent: View, asked: Asked, code: str, **more: Any) -> dict[str, Any]:
    """The details of the refusal with this code."""
    error = judged(agent, asked, **more)
    assert isinstance(error, EntrywayError), error
    assert error.code == code, error.message
    return dict(error.details or {})
