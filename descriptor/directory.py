"""Searching Descriptors: which offerings meet what a searcher asks, and what has to be shown with each.

The invariant: a requirement treats silence as not meeting it, and no match claims more than its offering does.

    searched by              task-specific    open-with-focus           open-ended
    the work wanted          its words        never by its words        never
    focus, role              as stated        as stated                 never: it claims neither
    scope, authority,        as stated        as stated                 as stated
    ceilings, data use

An open-ended offering is listed only where a searcher asks by scope, authority, ceilings or data use; a search that
also names the work wanted, a focus or a role leaves it out.

Source: chapter 6.11 (directories), 6.9 (data use, compliance), 6.10.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from descriptor.view import Ceiling, DataUse, Money, Offering, View
from descriptor.vocabulary import SCOPES

TASK_SPECIFIC, OPEN_WITH_FOCUS, OPEN_ENDED = SCOPES

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Query:
    """What a searcher asks. `None` asks nothing of a member.

    `wanting`: words of the work wanted. `scope`, `focus`, `role`: as declared. `authority`: the values the searcher
    allows at most. `ceilings`: by name, the most the searcher accepts. `promises`: those that have to be made.
    `max_days`: of retention, at most. `memory`: as declared. `jurisdictions`: the countries in which content may be,
    lower-case ISO 3166-1 alpha-2. `compliance`: tokens that have to be claimed. `acts_for`: as declared.
    """

    wanting: str | None = None
    scope: str | None = None
    focus: str | None = None
    role: str | None = None
    authority: frozenset[str] | None = None
    ceilings: Mapping[str, int | Money] | None = None
    promises: frozenset[str] | None = None
    max_days: int | None = None
    memory: str | None = None
    jurisdictions: frozenset[str] | None = None
    compliance: frozenset[str] | None = None
    acts_for: str | None = None


@dataclass(frozen=True)
class Match:
    """An offering that meets a query, and what is shown with it.

    `by_work`: whether it was found by the words of the work wanted, which says that the offering describes it. An
    open-with-focus offering is shown with its scope, its focus, its authority and its ceilings, and says nothing about
    any particular work within the focus.
    """

    agent: View
    offering: Offering
    by_work: bool

    def shown(self) -> dict[str, Any]:
        """What 6.11 has a directory show, ready for JSON, and declared: none of it is verified.

        What is not stated is `None`. A ceiling says with `decided_by` what applies it.
        """
        one = self.offering
        return {
            "id": one.id,
            "name": one.name,
            "scope": one.scope,
            "focus": one.focus,
            "role": one.role,
            "authority": None if one.authority is None else list(one.authority),
            "authority_decided_by": one.authority_decided_by,
            "ceilings": {name: _shown(ceiling) for name, ceiling in one.ceilings.items()},
        }


def search(agents: Iterable[View], query: Query) -> Iterator[Match]:
    """The offerings that meet the query, in the order of the agents and of their offerings. Raises nothing."""
    words = None if query.wanting is None else _words(query.wanting)
    for agent in agents:
        if _agent_meets(agent, query):
            for offering in agent.offerings or ():
                if _meets(offering, query, words):
                    yield Match(agent, offering, by_work=words is not None)


def _agent_meets(agent: View, query: Query) -> bool:
    if query.acts_for is not None and agent.acts_for != query.acts_for:
        return False
    claimed = {claim.standard for claim in agent.compliance or ()}
    if query.compliance is not None and not query.compliance <= claimed:
        return False
    return _use_meets(agent.data_use or DataUse(None, None, None, None, None), query)


def _use_meets(use: DataUse, query: Query) -> bool:
    if query.promises is not None and not query.promises <= (use.promises or frozenset()):
        return False
    if query.max_days is not None and (use.max_days is None or use.max_days > query.max_days):
        return False
    if query.memory is not None and use.memory != query.memory:
        return False
    return query.jurisdictions is None or (use.processed_in is not None and use.processed_in <= query.jurisdictions)


def _meets(offering: Offering, query: Query, words: frozenset[str] | None) -> bool:
    if not _claims(offering, query, words) or (offering.scope == OPEN_ENDED and not _asks_for_open_ended(query)):
        return False
    if query.authority is not None and (
        offering.authority is None or not query.authority.issuperset(offering.authority)
    ):
        return False
    return all(_within(offering.ceilings.get(name), most) for name, most in (query.ceilings or {}).items())


def _claims(offering: Offering, query: Query, words: frozenset[str] | None) -> bool:
    """Whether the offering claims what is asked of it: its scope, a focus, a role, the work wanted."""
    if query.scope is not None and offering.scope != query.scope:
        return False
    if query.focus is not None and (offering.scope != OPEN_WITH_FOCUS or offering.focus != query.focus):
        return False
    if query.role is not None and (offering.scope == OPEN_ENDED or offering.role != query.role):
        return False
    return words is None or (offering.scope == TASK_SPECIFIC and bool(words) and words <= _described(offering))


def _asks_for_open_ended(query: Query) -> bool:
    # To name no ceiling and no promise asks for none. To allow no authority and no country does ask.
    asked = (query.scope, query.authority, query.max_days, query.memory, query.jurisdictions)
    return bool(query.ceilings or query.promises) or any(one is not None for one in asked)


def _within(ceiling: Ceiling | None, most: int | Money) -> bool:
    """Whether a declared ceiling is at most `most`. Another currency is not compared, and fails."""
    if ceiling is None:
        return False
    declared = ceiling.most
    if isinstance(declared, Money) and isinstance(most, Money):
        return declared.currency == most.currency and declared.amount_micro <= most.amount_micro
    return isinstance(declared, int) and isinstance(most, int) and declared <= most


def _described(offering: Offering) -> frozenset[str]:
    said = (offering.id, offering.name, offering.description)
    return frozenset().union(*(_words(text) for text in said if text is not None))


def _words(text: str) -> frozenset[str]:
    """The words of a text, in one spelling for every width and case."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _shown(ceiling: Ceiling) -> dict[str, object]:
    most = ceiling.most
    value = {"amount_micro": most.amount_micro, "currency": most.currency} if isinstance(most, Money) else most
    return {"most": value, "decided_by": ceiling.decided_by}
