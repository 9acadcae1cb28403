"""The closed vocabularies of the `.agent` format v1, by the section that fixes them.

Words are as the format spells them, in its order. What is open (channels, models, trigger types) is not here.
"""

from __future__ import annotations

# Section 7
SCHEMA = "https://agentmug.com/schemas/agent.v1.json"
LEGACY_SCHEMA = "https://agentlit.dahshanlabs.com/schemas/agent.v1.json"
SCHEMAS = (SCHEMA, LEGACY_SCHEMA)
SCHEMA_V2 = "https://agentmug.com/schemas/agent.v2.json"

# Section 8
ARCHITECTURES = ("solo", "orchestrator_workers", "pipeline", "hierarchical")
SIDE_EFFECT_GATES = ("off", "confirm", "refuse")

# Section 9
TOOL_KINDS = ("builtin", "mcp", "webhook", "nango")
WEBHOOK_METHODS = ("GET", "POST", "PUT", "DELETE")
NANGO_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

# Section 10
PARAMETER_TYPES = ("string", "text", "number", "boolean", "email", "url", "select", "file")
ARTIFACT_KINDS = ("document", "table", "image")

# Section 11
MODALITIES = ("text", "audio", "image")
OUTPUT_SHAPES = ("text", "json", "void")

# Section 14
SOURCE_ROLES = ("knowledge", "brain", "working", "template", "inbox", "output")
SOURCE_KINDS = ("file", "folder", "workspace", "klypix", "provider")
CAPABILITIES = (*("read", "list", "search", "cite", "sync", "watch", "write", "append", "create", "delete", "version"),)
WRITE_CAPABILITIES = ("write", "append", "create", "delete")
FRESHNESS_MODES = ("snapshot", "on-run", "watch")
ON_STALE = ("fail", "warn")
AUTHORITIES = ("authoritative", "supporting", "reference", "example")
CONFLICT_POLICIES = ("fail", "ask", "prefer-authority", "prefer-newer")
CITATIONS = ("required", "preferred", "none")
APPROVALS = ("not-required", "on-bind", "every-run", "every-action")
DESTRUCTIVE_APPROVALS = ("forbidden", "every-action")
SHARING_STRATEGIES = ("rebind", "exclude", "snapshot")
DERIVED_KNOWLEDGE = ("exclude", "approved-only", "include")

# Section 15
FAILURE_POLICIES = ("block", "require-approval", "warn")
CHECK_TYPES = (*("source-ready", "freshness", "citation", "output-schema", "write-boundary", "invariant", "custom"),)
CHECK_TYPES_WITH_ASSERTION = ("custom", "invariant")
CHECK_PHASES = ("bind", "pre-run", "post-run")
CHECK_SEVERITIES = ("error", "warning")
