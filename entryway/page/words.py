"""The words of the specification, for somebody who never read it.

The invariant: a plain wording promises no more than the word it stands for. What an agent says is its operator's word,
who holds it to that is said beside it, and silence is `not stated`.
"""

from __future__ import annotations

from collections.abc import Mapping

NOT_STATED = "not stated"

ACTS_FOR: Mapping[str, str] = {
    "person": "one person, its owner",
    "organization": "an organization",
    "anyone": "nobody: it is a public service",
}
INTERACTION: Mapping[str, str] = {
    "service": "A program answers, and nobody is disturbed.",
    "interactive": "A person is there: writing may interrupt them, and they answer when they get to it.",
}
INTERACTION_NOT_STATED = "Not stated. Expect that you may interrupt somebody."
ADMISSION: Mapping[str, str] = {
    "open": "Anyone who can say who they are, in a way listed here.",
    "allowlist": "Only those its operator has already added.",
    "screened": "Whoever asks is looked at first, and may be refused without a reason.",
    "negotiated": "By arrangement, made elsewhere before asking here.",
}
SCOPES: Mapping[str, tuple[str, str]] = {
    "task-specific": ("One kind of work", "It does the work described here, and nothing else."),
    "open-with-focus": ("Open, within {}", "It takes any instruction about {}."),
    "open-ended": ("Open", "It takes any instruction, and makes no claim about what it can do."),
}
SCOPE_NOT_STATED = "It names no wider scope, so only the work described here may be asked for."
SCOPE_UNREADABLE = "What it says of its scope cannot be read, so nothing is claimed about what it can do."
FOCUSES: Mapping[str, str] = {
    "software": "code, its tests, and the tools that build and run it",
    "documents": "writing, editing, checking and arranging documents",
    "data": "collecting, cleaning, analyzing and reporting on data",
    "research": "finding and weighing sources, and reporting what they say",
    "operations": "running and tending systems and routine business processes",
}
KINDS: Mapping[str, str] = {
    "text": "words",
    "identifier": "a name or number of something",
    "url": "a web address",
    "document": "a file of any type",
}
MEDIA_TYPES: Mapping[str, str] = {
    "application/gzip": "a gzip file",
    "application/json": "JSON data",
    "application/pdf": "a PDF",
    "application/vnd.agentmesh.run-context+json": "the answers a run was started with",
    "application/zip": "a ZIP file",
    "audio/mpeg": "an MP3 recording",
    "image/jpeg": "a JPEG picture",
    "image/png": "a PNG picture",
    "text/csv": "a table (CSV)",
    "text/html": "a web page",
    "text/markdown": "formatted text (Markdown)",
    "text/plain": "plain text",
}
"""Media types that need no looking up; the type itself stands beside its word."""
WHEN: Mapping[str, str] = {"per_task": "each time", "standing": "kept up to date"}
AUTHORITY: Mapping[str, str] = {
    "reads-files": "read files in its workspace",
    "writes-files": "create, change and delete files in its workspace",
    "reads-systems": "read the systems listed under “What it is connected to”",
    "updates-systems": "change records in the systems listed under “What it is connected to”",
    "triggers-systems": "set off actions in the systems listed under “What it is connected to”",
    "runs-commands": "run programs",
    "reaches-network": "reach other addresses on the network",
    "sends-messages": "send messages to others than you",
    "spends-money": "spend money on your or its owner's behalf",
}
DECIDED_BY: Mapping[str, str] = {
    "rule": "the program that runs it",
    "model": "only its AI model, which is asked to keep to it",
}
"""Who, by the agent's own word, holds it to a bound. A declaration is never shown as enforced (chapter 6.10)."""
AUTHORITY_BY: Mapping[str, str] = {
    "rule": "It says that the program that runs it keeps it from touching anything else.",
    "model": "It says that its AI model is told this, and asked to keep to it.",
}
AUTHORITY_BY_NOT_STATED = "What holds it to this is not stated."
CEILINGS: Mapping[str, str] = {
    "job_seconds": "Time",
    "cost_per_job": "Cost to you",
    "spend_per_job": "Money it may spend",
    "messages_per_job": "Messages to others",
}
SYSTEM_ACCESS: Mapping[str, str] = {"read": "reads it", "write": "changes it", "trigger": "sets off actions in it"}
WORKSPACE_ACCESS: Mapping[str, str] = {"read": "reads", "read-write": "reads and changes"}
REPORTING: Mapping[str, str] = {
    "records_only": "keeps a record of what it did",
    "on_change": "tells you when something changes",
    "check_ins": "checks in with you",
}
PROMISES: Mapping[str, str] = {
    "no_training": "It is not used to train models.",
    "no_third_party_sharing": "It is not shared with others, but for the services named here.",
    "no_human_reading": "No human reads it.",
}
PROMISES_NOT_MADE: Mapping[str, str] = {
    "no_training": "not to train models on it",
    "no_third_party_sharing": "not to share it",
    "no_human_reading": "that no human reads it",
}
MEMORY: Mapping[str, str] = {
    "remembers-across-jobs": "What one job gave or taught it may be kept for later jobs.",
    "starts-clean-each-job": "Every job starts with nothing from an earlier one.",
}
SEALING: Mapping[str, str] = {
    "required": "What you send has to be encrypted to the agent's key; anything else is refused unread.",
    "preferred": "What you send should be encrypted to the agent's key where you can; it reads both.",
}
SEALING_REACH = (
    "That protects what you send and what comes back on their way to the machine the agent runs on. Whoever runs that "
    "machine can read them, and anyone in between can still see that you wrote, to whom and when."
)
TRANSPORTS: Mapping[str, str] = {"http": "over the web", "mesh": "between agents"}
SCHEMES: Mapping[str, str] = {
    "apiKey": "a key",
    "http": "an HTTP sign-in",
    "oauth2": "an OAuth 2.0 sign-in",
    "openIdConnect": "an OpenID Connect sign-in",
    "mutualTLS": "a certificate",
    "mesh-identity": "the calling agent's own identity, by its signature",
}
SETTING_KINDS: Mapping[str, str] = {"rule": "a limit", "preference": "a preference"}
SIGNATURES: Mapping[str, str] = {
    "verified": "signed, and the signature verifies",
    "unsigned": "not signed",
    "failed": "signed, and the signature FAILS",
    "not_checked": "signature not checked",
}
SOURCES: Mapping[str, str] = {
    "agent-descriptor": "The Descriptor: what the operator says about the agent",
    "a2a-agent-card": "The agent card, made from the Descriptor for the A2A protocol",
    "entryway-exchange-4": "What the agent answers when asked whether it takes new callers",
    "observation": "Seen by this node itself",
}
PLACES: Mapping[str, str] = {
    "format": "the format of its Descriptor",
    "agent_version": "its version",
    "does": "what it does",
    "subject": "who it is",
    "id": "its id",
    "handle": "a handle",
    "acts_for": "whom it acts for",
    "organization_name": "the organization's name",
    "interaction": "whether a person is there",
    "fleet": "whether several processes answer as one",
    "hosted_in": "where it runs",
    "interfaces": "the interfaces it implements",
    "default_input_modes": "the types it takes in general",
    "default_output_modes": "the types it gives in general",
    "offerings": "what it offers",
    "role": "a standard role",
    "price_ref": "prices",
    "samples_ref": "samples of its work",
    "run_config": "settings",
    "access": "who gets in, and how",
    "admission": "who gets in",
    "statement": "a word about the door",
    "schemes": "how to say who you are",
    "sealing": "whether to encrypt",
    "encryption_key": "a key to encrypt to",
    "refusals": "what it refuses",
    "limits": "limits for each caller",
    "requests_per_hour": "requests an hour",
    "model_budget_per_day": "a daily budget for models",
    "past_them": "what happens past the limits",
    "max_inbound_chars": "the longest text it takes",
    "systems": "what it is connected to",
    "data_use": "what happens to what you send",
    "promises": "promises about it",
    "retention": "how long it is kept",
    "memory": "whether it remembers",
    "processors": "the services it passes through",
    "processed_in": "the countries it is processed in",
    "handling_ref": "a document about data handling",
    "compliance": "standards it claims to meet",
    "standing": "whether it is a guest on trial",
    "scope": "a scope",
    "focus": "a field",
    "inputs": "what it takes",
    "outputs": "what it gives back",
    "input_modes": "the types it takes",
    "output_modes": "the types it gives",
    "needs": "what it needs first",
    "name": "a name",
    "description": "a description",
    "revisions": "what changes to the work cost",
    "reporting": "progress reports",
    "ceilings": "bounds for one job",
    "job_seconds": "a bound on time",
    "cost_per_job": "a bound on cost",
    "spend_per_job": "a bound on spending",
    "messages_per_job": "a bound on messages",
    "workspace": "where it works",
    "authority": "what it may touch",
    "authority_decided_by": "what holds it to that",
    "delivers": "how work is delivered",
    "settings": "the settings themselves",
    "tested_models": "the models it was tested with",
    "named": "named choices of settings",
}
"""What a place is called in a list of what is not stated."""
