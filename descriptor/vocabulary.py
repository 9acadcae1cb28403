"""The closed vocabularies of chapter 6, each once: what the checker takes and what a reader recognizes.

A tuple is in the chapter's order. A word outside its vocabulary is an error to the checker; what a reader makes of it
differs from member to member, and is said in `descriptor.view`.
"""

from __future__ import annotations

ACTS_FOR = ("person", "organization", "anyone")  # chapter 6.2
INTERACTION = ("interactive", "service")  # chapter 6.2
WHEN = ("per_task", "standing")  # chapter 6.2, outputs
SYSTEM_ACCESS = ("read", "write", "trigger")  # chapter 6.2, systems
SETTING_KINDS = ("preference", "rule")  # chapter 6.2, run_config
DECIDED_BY = ("rule", "model")  # chapters 6.2 and 6.11

STANDING = ("guest",)  # chapter 6.9
SEALING = ("required", "preferred")  # chapter 6.9
PROMISES = ("no_training", "no_third_party_sharing", "no_human_reading")  # chapter 6.9, data use
MEMORY = ("remembers-across-jobs", "starts-clean-each-job")  # chapter 6.9, data use
ADMISSION = ("open", "allowlist", "screened", "negotiated")  # chapter 6.9, access
SCHEME_TRANSPORTS = ("http", "mesh")  # binding 11
SCHEME_TYPES = ("apiKey", "http", "oauth2", "openIdConnect", "mutualTLS", "mesh-identity")  # binding 11
REPORTING = ("records_only", "on_change", "check_ins")  # binding 11, from the least to the most

SCOPES = ("task-specific", "open-with-focus", "open-ended")  # chapter 6.11
FOCUSES = ("software", "documents", "data", "research", "operations")  # chapter 6.11
WORKSPACE_ACCESS = ("read", "read-write")  # chapter 6.11; of a resource a need names, too (binding 11)
CEILINGS = ("job_seconds", "cost_per_job", "spend_per_job", "messages_per_job")  # chapter 6.11
AUTHORITY = (  # chapter 6.11
    "reads-files",
    "writes-files",
    "reads-systems",
    "updates-systems",
    "triggers-systems",
    "runs-commands",
    "reaches-network",
    "sends-messages",
    "spends-money",
)
# The authority values that reach a standing system, and the access at which one has to be declared.
AUTHORITY_OVER_SYSTEMS = {"reads-systems": "read", "updates-systems": "write", "triggers-systems": "trigger"}
