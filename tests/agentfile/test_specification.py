"""The table of rules and the models, held against the text of the format where that is beside the checkout.

What the format says in tables and numbered lists is counted, so that nothing it says is left out here by oversight: its
24 rules, each word that they name, the members of every object, the words of every vocabulary and the table of section
14.6. What was counted when these tests were written is here as constants, for where the text is not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tests.agentfile.rules
from agentfile import vocabulary
from agentfile.model import (
    Access,
    AgentFile,
    Approval,
    Artifact,
    Blueprint,
    BrainPage,
    BuiltinTool,
    Caveat,
    Evaluation,
    EvaluationCheck,
    Fact,
    Freshness,
    Guardrails,
    Inputs,
    McpTool,
    Metadata,
    NangoTool,
    Outputs,
    Parameter,
    Sharing,
    Skill,
    SourceRequirement,
    Truth,
    WebhookTool,
)
from agentfile.rules import RULES
from agentfile.shapes import plan
from tests.agentfile.cases import EXAMPLE, Case
from tests.tables import cases_in

TEXT = Path(__file__).resolve().parents[3] / "shared" / "spec" / "agent-file-format-v1.md"
NUMBERS = range(1, 25)
COHERENCE_ROWS = 10
MODELS: dict[str, tuple[type[Any], ...]] = {
    "6": (AgentFile,),
    "8": (Blueprint,),
    "8.1": (Guardrails,),
    "8.2": (Skill,),
    "8.3": (Caveat,),
    "9.1": (BuiltinTool,),
    "9.2": (McpTool,),
    "9.3": (WebhookTool,),
    "9.4": (NangoTool,),
    "10": (Parameter,),
    "10.2": (Artifact,),
    "11.1": (Inputs,),
    "11.2": (Outputs,),
    "14": (SourceRequirement,),
    "14.1": (Access,),
    "14.2": (Freshness,),
    "14.3": (Truth,),
    "14.4": (Approval,),
    "14.5": (Sharing,),
    "15": (Evaluation,),
    "15.1": (EvaluationCheck,),
    "16": (Metadata,),
    "17": (BrainPage, Fact),
}
# The words of closed vocabularies, by the section whose text has to hold every one of them.
WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "8": (vocabulary.ARCHITECTURES,),
    "8.1": (vocabulary.SIDE_EFFECT_GATES,),
    "9": (vocabulary.TOOL_KINDS,),
    "9.3": (vocabulary.WEBHOOK_METHODS,),
    "9.4": (vocabulary.NANGO_METHODS,),
    "10": (vocabulary.PARAMETER_TYPES,),
    "10.2": (vocabulary.ARTIFACT_KINDS,),
    "11.1": (vocabulary.MODALITIES,),
    "11.2": (vocabulary.OUTPUT_SHAPES,),
    "14": (vocabulary.SOURCE_ROLES, vocabulary.SOURCE_KINDS),
    "14.1": (vocabulary.CAPABILITIES,),
    "14.2": (vocabulary.FRESHNESS_MODES, vocabulary.ON_STALE),
    "14.3": (vocabulary.AUTHORITIES, vocabulary.CONFLICT_POLICIES, vocabulary.CITATIONS),
    "14.4": (vocabulary.APPROVALS, vocabulary.DESTRUCTIVE_APPROVALS),
    "14.5": (vocabulary.SHARING_STRATEGIES, vocabulary.DERIVED_KNOWLEDGE),
    "14.6": (vocabulary.WRITE_CAPABILITIES,),
    "15": (vocabulary.FAILURE_POLICIES,),
    "15.1": (vocabulary.CHECK_TYPES, vocabulary.CHECK_PHASES, vocabulary.CHECK_SEVERITIES),
}
CASES: list[Case] = cases_in(tests.agentfile.rules)
NUMBER_OF = {rule.id: rule.number for rule in RULES}


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """The text of each section, by its number."""
    if not TEXT.is_file():
        pytest.skip("the text of the format is not beside the checkout")
    pieces = re.split(r"(?m)^#{2,3} (\d+(?:\.\d+)*)\.? ", TEXT.read_text(encoding="utf-8"))
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def words_of(text: str) -> set[str]:
    """The words in code of a text: of `parameters[].artifact`, each."""
    spans = re.findall(r"`([^`]+)`", text)
    return {word for span in spans for word in re.findall(r"[A-Za-z][\w-]*", span)}


@pytest.mark.parametrize("number", NUMBERS)
def test_each_of_the_rules_has_cases_that_are_accepted_and_refused(number: int) -> None:
    mine = [case for case in CASES if NUMBER_OF[case.rule] == number]
    assert sum(not case.pointers for case in mine) >= 1
    assert sum(bool(case.pointers) for case in mine) >= 3


def test_the_rules_are_those_of_the_text(sections: dict[str, str]) -> None:
    listed = re.findall(r"(?m)^(\d+)\. ", sections["18"])
    assert [*map(int, listed)] == [*NUMBERS]


def test_every_word_that_a_rule_names_is_in_a_case_of_it(sections: dict[str, str]) -> None:
    rules = re.split(r"(?m)^(\d+)\. ", sections["18"])
    missing = {}
    for number, text in zip(map(int, rules[1::2]), rules[2::2], strict=True):
        said = "".join(
            f"{' '.join(case.pointers)} {case.file if isinstance(case.file, bytes) else json.dumps(case.file)}"
            for case in CASES
            if NUMBER_OF[case.rule] == number
        )
        # What follows the rules themselves, and a pattern of a name, name nothing that a file holds.
        named = words_of(re.sub(r"`\^[^`]*`|The reference implementation.*", "", text, flags=re.DOTALL))
        missing[number] = {word for word in named if word not in said}
    assert missing == {number: set() for number in NUMBERS}


@pytest.mark.parametrize("section", MODELS)
def test_a_model_names_the_members_of_its_section_and_no_other(section: str, sections: dict[str, str]) -> None:
    named = {name for model in MODELS[section] for name in plan(model).names}
    text = sections[section]
    rows = re.findall(r"\|\s+((?:`[\w$]+`(?:, |\s*/\s*)?)+)\s*(?:✅ )?\|", text)
    stated = {name for row in rows for name in re.findall(r"`([\w$]+)`", row)}
    values = {word for words in WORDS.get(section, ()) for word in words} | {"1"}
    assert stated - values <= named
    assert named - stated <= {"$schema"}  # of which the text has a dollar, and a section of its own


@pytest.mark.parametrize("section", WORDS)
def test_a_vocabulary_has_the_words_of_its_section(section: str, sections: dict[str, str]) -> None:
    said = words_of(sections[section])
    for words in WORDS[section]:
        assert set(words) <= said


def test_the_rows_of_coherence_are_counted(sections: dict[str, str]) -> None:
    rows = [line for line in sections["14.6"].splitlines() if "MUST" in line and line.startswith("|")]
    assert len(rows) == COHERENCE_ROWS


def test_each_row_of_coherence_is_a_rule() -> None:
    assert [rule.id for rule in RULES if rule.section == "14.6"] == [
        f"S14.6.{row}" for row in range(1, COHERENCE_ROWS + 1)
    ]


def test_the_example_is_the_one_of_the_text(sections: dict[str, str]) -> None:
    fenced = re.search(r"```json\n(.*?)```", sections["21"], flags=re.DOTALL)
    assert fenced is not None
    assert json.loads(fenced[1]) == EXAMPLE
