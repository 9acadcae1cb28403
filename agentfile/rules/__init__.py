"""The rules of the `.agent` format v1, in the order of its sections.

`GATES` are asked first, one after the other, and a file that does not pass one is not looked at further; `CHECKS` are
then asked all at once.

==========  ========================================================
rules       module
==========  ========================================================
1 to 4      `document`, and what holds in the whole file
5, 6        `blueprint`, and skills and caveats (10, 11)
7 to 9      `tools`
12 to 18    `parameters`, inputs and outputs
19, 20      `running`: triggers, connectivity, metadata
21          `sources`, what may not be there in `privacy`, and what has to go together in `coherence`
22 to 24    `evaluation`, and the private members
==========  ========================================================
"""

from __future__ import annotations

from agentfile.rules import blueprint, coherence, document, evaluation, parameters, privacy, running, sources, tools
from agentfile.rules.table import Check, Rule

__all__ = ["CHECKS", "GATES", "RULES", "UNREADABLE", "Check", "Rule"]

GATES: tuple[Rule, ...] = (document.LIMITS, document.ENCODING, document.TOP, document.SCHEMA_MARKER)
UNREADABLE = frozenset((document.LIMITS.id, document.ENCODING.id, document.TOP.id))
"""The rules that say of what breaks them that it is no document at all."""
CHECKS: tuple[Check, ...] = (
    *document.RULES,
    *blueprint.RULES,
    *tools.RULES,
    *parameters.RULES,
    *running.RULES,
    *sources.RULES,
    *privacy.RULES,
    *coherence.RULES,
    *evaluation.RULES,
)
RULES: tuple[Rule, ...] = (*GATES, *CHECKS)
