"""The closed vocabularies of chapter 6, each once: what the checker takes and what a reader recognizes.

A tuple is in the chapter's order. A word outside its vocabulary is an error to the checker; what a reader makes of it
differs from member to member, and is said in `descriptor.view`.
"""

from __future__ import annotations

# What says which document this is, or how to check and reach it, and nothing about what the agent does.
ABOUT_THE_DOCUMENT = frozenset({"agent_version", "encryption_key", "format", "signatures", "subject", "trust"})
# What the chapter has the operator declare of the agent. Any other member is somebody else's business.
DECLARATIONS = frozenset(
    {
        *("does", "acts_for", "organization_name", "offerings", "interaction", "refusals", "role", "interfaces"),
        *("fleet", "shape", "hosted_in", "systems", "limits", "handling_ref", "price_ref", "samples_ref"),
        *("run_config", "standing", "default_input_modes", "default_output_modes", "sealing", "data_use"),
        *("compliance", "access"),
    }
)
OFFERING_MEMBERS = frozenset(
    {
        *("id", "name", "description", "scope", "focus", "inputs", "input_modes", "needs", "role", "revisions"),
        *("reporting", "ceilings", "workspace", "authority", "authority_decided_by", "outputs", "output_modes"),
        *("delivers",),
    }
)

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
# Chapter 6.9, jurisdictions: the assigned codes of ISO 3166-1 alpha-2, in lower case as they are written here.
COUNTRIES = frozenset(
    code
    for line in (
        "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj",
        "bl bm bn bo bq br bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr",
        "cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr",
        "ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu",
        "id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz",
        "la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq",
        "mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf",
        "pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si",
        "sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr",
        "tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw",
    )
    for code in line.split()
)
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
