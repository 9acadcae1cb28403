"""The checker's table of rules: the tables of its sections, in the chapter's order."""

from __future__ import annotations

from descriptor.rules import (
    section_6_2,
    section_6_2_members,
    section_6_2_offerings,
    section_6_2_run_config,
    section_6_3,
    section_6_4,
    section_6_6,
    section_6_9,
    section_6_9_access,
    section_6_9_data_use,
    section_6_9_offerings,
    section_6_11,
    section_6_11_authority,
    section_6_11_ceilings,
    section_6_12,
)
from descriptor.rules.table import Rule

RULES: tuple[Rule, ...] = (
    *section_6_2.RULES,
    *section_6_2_offerings.RULES,
    *section_6_2_members.RULES,
    *section_6_2_run_config.RULES,
    *section_6_3.RULES,
    *section_6_4.RULES,
    *section_6_6.RULES,
    *section_6_9.RULES,
    *section_6_9_offerings.RULES,
    *section_6_9_data_use.RULES,
    *section_6_9_access.RULES,
    *section_6_11.RULES,
    *section_6_11_authority.RULES,
    *section_6_11_ceilings.RULES,
    *section_6_12.RULES,
)
