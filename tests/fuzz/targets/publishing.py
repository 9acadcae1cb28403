"""Publishing: any file an operator could name becomes this node's Descriptor, or is refused.

The first byte chooses the node's terms, the second the order of versions (1, 2) and whether the operator respells (4).
The file is behind them.

- `plan` and `rebadge` raise nothing but `DescriptorError`.
- What is planned breaks no rule, is this subject's, verifies, and states all that the file states.
- Published again, it changes nothing, whether it is given as the draft it was or as it is now; and nothing is planned
  over it that sorts below it.
"""

from __future__ import annotations

from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import SealingKey
from descriptor.publishing import Plan, Terms, plan, rebadge
from descriptor.signatures import Signature, verify_key_claim, verify_statement
from descriptor.versions import ORDERS, compare
from tests.entryway.parts import NOW, OWNER, document
from tests.fuzz.mutation import of_json
from tests.fuzz.promises import assert_fit_to_show, typed
from tests.fuzz.targets import documents
from tests.vectors import SEALED

TOKENS = (*documents.TOKENS, OWNER.id, "paperwork.home")
PREFIX = 2

SEALING_KEY = SealingKey.from_secret_text(SEALED["recipient_secret"])
CURRENT = Descriptor.read(document(offerings=[], agent_version="1.4.0"))

mutate = of_json(TOKENS, PREFIX)


def one_input(data: bytes) -> None:
    if len(data) < PREFIX:
        return
    terms = _terms(data[0], data[1])
    file = data[PREFIX:]
    over_current = _planned(file, CURRENT, terms, respell=bool(data[1] & 4))
    if over_current is not None and over_current.changes:
        last, new = CURRENT.agent_version or "", over_current.descriptor.agent_version or ""
        assert last == new or compare(new, last, terms.version_order) >= 0
    first = _planned(file, None, terms)
    if first is None:
        return
    descriptor = first.descriptor
    assert first.changes
    _assert_published(descriptor, terms)
    stated = Descriptor.read(file).members
    left = {name: value for name, value in descriptor.members.items() if name in stated and name != "signatures"}
    assert typed(left) == typed({name: value for name, value in stated.items() if name != "signatures"})
    for again in (file, descriptor.data):
        assert plan(again, descriptor, terms, NOW + 86_400) == Plan(descriptor, changes=False)
    _assert_rebadged(descriptor, terms)


def _terms(choice: int, orders: int) -> Terms:
    return Terms(
        OWNER,
        handle="paperwork.home" if choice & 1 else None,
        acts_for=(None, "person", "organization", "anyone")[choice >> 1 & 3],
        organization_name="Willow Street Library" if choice & 8 else None,
        sealing_key=SEALING_KEY if choice & 16 else None,
        version_order=ORDERS[orders & 3],
    )


def _planned(file: bytes, current: Descriptor | None, terms: Terms, *, respell: bool = False) -> Plan | None:
    try:
        return plan(file, current, terms, NOW, respell)
    except DescriptorError as error:
        assert_fit_to_show(error)
        return None


def _assert_published(descriptor: Descriptor, terms: Terms) -> None:
    assert not check(descriptor.data).errors
    assert descriptor.subject_id == terms.identity.id
    assert descriptor.handle in (None, terms.handle)
    assert verify_statement(descriptor.members).state is Signature.VERIFIED
    if "sealing" in descriptor.members:
        assert verify_key_claim(descriptor.members).state is Signature.VERIFIED


def _assert_rebadged(descriptor: Descriptor, terms: Terms) -> None:
    for version in ("99999", "\udc80"):
        try:
            other = Descriptor.read(rebadge(descriptor.data, version, terms, NOW))
        except DescriptorError as error:
            assert_fit_to_show(error)
            continue
        assert other.agent_version == version
        assert verify_statement(other.members).state is Signature.VERIFIED
