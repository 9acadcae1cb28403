"""An `.agent` file as values: one class for each object that the format names, in the order of its sections.

The invariant: an `AgentFile` that `agentfile.parse` gave back broke no rule, so each member has the form its class
says. `None` is a member that the file does not have, and nothing else: JSON's `null` is refused. `other` holds the
members that the format does not name, as they stand; section 14's objects are closed and have none. Members that
hold plain JSON (a JSON Schema, `proof`, `config`, `other`) are to be treated as read-only at every level.

Names are the format's in snake case.

Source: `.agent` format 6 to 17.
"""

from __future__ import annotations

from agentfile.model.blueprint import (
    Blueprint,
    BuiltinTool,
    Caveat,
    CaveatOption,
    Guardrails,
    LegacyTool,
    McpTool,
    Members,
    NangoTool,
    Skill,
    Tool,
    WebhookTool,
)
from agentfile.model.contracts import (
    Accepts,
    Access,
    Approval,
    Evaluation,
    EvaluationCheck,
    Freshness,
    Sharing,
    SourceRequirement,
    Structure,
    Truth,
)
from agentfile.model.file import (
    AgentFile,
    BrainPage,
    Fact,
    Metadata,
    Pricing,
)
from agentfile.model.interface import (
    ApiTrigger,
    Artifact,
    Connectivity,
    Delivery,
    Identity,
    Inputs,
    OtherTrigger,
    Outputs,
    Parameter,
    ParameterOption,
    Read,
    Scalar,
    ScheduleTrigger,
    Trigger,
    WebhookTrigger,
)

__all__ = [
    "Accepts",
    "Access",
    "AgentFile",
    "ApiTrigger",
    "Approval",
    "Artifact",
    "Blueprint",
    "BrainPage",
    "BuiltinTool",
    "Caveat",
    "CaveatOption",
    "Connectivity",
    "Delivery",
    "Evaluation",
    "EvaluationCheck",
    "Fact",
    "Freshness",
    "Guardrails",
    "Identity",
    "Inputs",
    "LegacyTool",
    "McpTool",
    "Members",
    "Metadata",
    "NangoTool",
    "OtherTrigger",
    "Outputs",
    "Parameter",
    "ParameterOption",
    "Pricing",
    "Read",
    "Scalar",
    "ScheduleTrigger",
    "Sharing",
    "Skill",
    "SourceRequirement",
    "Structure",
    "Tool",
    "Trigger",
    "Truth",
    "WebhookTool",
    "WebhookTrigger",
]
