"""Chapter 6.2, the document: the three required members, the subject, and whom the agent acts for.

A document with a `subject` member is bound, and one without is a draft; what each may carry follows from that,
whatever the subject looks like.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.errors import DescriptorError, quoted
from descriptor.keys import decode_public
from descriptor.rules.table import Document, Problem, Rule, Severity, described, is_draft, text_problems
from descriptor.vocabulary import ACTS_FOR

FORMAT = "agent-descriptor-v1"


def _format(document: Document) -> Iterator[Problem]:
    value = document.get("format")
    if "format" not in document:
        yield "/format", "`format` is missing, so no reader can tell that this is an Agent Descriptor."
    elif value != FORMAT:
        yield "/format", f"`format` is {described(value)}; the one format there is is {quoted(FORMAT)}."


def _agent_version(document: Document) -> Iterator[Problem]:
    return text_problems(document, "agent_version")


def _agent_version_seen(document: Document) -> Iterator[Problem]:
    value = document.get("agent_version")
    if isinstance(value, str) and value.strip() and (value != value.strip() or not value.isprintable()):
        yield (
            "/agent_version",
            f"`agent_version` is {quoted(value)}, of which a part cannot be seen, and which sorts by it.",
        )


def _does(document: Document) -> Iterator[Problem]:
    return text_problems(document, "does")


def _subject(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        return
    subject = document["subject"]
    if not isinstance(subject, dict):
        yield "/subject", f"`subject` is {described(subject)}; it has to be an object with the agent's `id`."
        return
    subject_id = subject.get("id")
    if "id" not in subject:
        yield "/subject/id", "The subject has no `id`, so nobody can tell which agent this is."
    elif not isinstance(subject_id, str):
        yield "/subject/id", f"`subject.id` is {described(subject_id)}; it has to be the agent's key, as text."
    else:
        try:
            decode_public(subject_id)
        except DescriptorError as error:
            yield "/subject/id", f"`subject.id` is no key. {error.message}"
    if "handle" in subject:
        for _, message in text_problems(subject, "handle"):
            yield "/subject/handle", message


def _acts_for(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        return
    if "acts_for" not in document:
        yield "/acts_for", "The document names its subject and does not say whom that agent acts for."
    elif document["acts_for"] not in ACTS_FOR:
        yield "/acts_for", f"`acts_for` is {described(document['acts_for'])}, which no reader knows."


def _draft_acts_for(document: Document) -> Iterator[Problem]:
    if is_draft(document) and "acts_for" in document:
        yield "/acts_for", "A draft says whom the agent acts for, which is decided only when the agent is installed."


def _organization_name(document: Document) -> Iterator[Problem]:
    if "organization_name" not in document:
        return
    if document.get("acts_for") != "organization":
        yield "/organization_name", 'An organization is named, but `acts_for` does not say "organization".'
    else:
        yield from text_problems(document, "organization_name")


RULES = (
    Rule(
        "D6.2-format",
        "6.2",
        Severity.ERROR,
        f'`format` is required and says "{FORMAT}".',
        f'Write "format": "{FORMAT}".',
        _format,
    ),
    Rule(
        "D6.2-agent_version",
        "6.2",
        Severity.ERROR,
        "`agent_version` is required: which version of the agent this describes, in the operator's own scheme.",
        'State the version of the agent as text, for example "agent_version": "1.0".',
        _agent_version,
    ),
    Rule(
        "D6.2-agent_version-seen",
        "6.2",
        Severity.WARNING,
        "Descriptors of one subject are ordered by `agent_version`, so whoever reads two of them should see why.",
        "Leave out spaces at the ends and characters that cannot be seen.",
        _agent_version_seen,
    ),
    Rule(
        "D6.2-does",
        "6.2",
        Severity.ERROR,
        "`does` is required: one sentence on what the agent does.",
        'Say in one sentence what the agent does, for example "does": "Translates contracts into French."',
        _does,
    ),
    Rule(
        "D6.2-subject",
        "6.2",
        Severity.ERROR,
        "A bound document's `subject` holds the agent's key in `id` and, when it has one, its name in `handle`.",
        'Leave `subject` out and publish the draft: that fills it in. By hand it is {"id": "U…", "handle": "…"}, '
        "with the id that `agent-node status` shows.",
        _subject,
    ),
    Rule(
        "D6.2-acts_for",
        "6.2",
        Severity.ERROR,
        "A bound document says whom the agent acts for: a person, an organization, or anyone.",
        'Write "acts_for" with "person" (its owner), "organization" (a business or a team) or "anyone" (a public '
        "service).",
        _acts_for,
    ),
    Rule(
        "D6.2-draft-acts_for",
        "6.2",
        Severity.ERROR,
        "A draft does not carry `acts_for`: whoever owns the agent decides it at install.",
        "Take `acts_for` out of the draft and give it when publishing, with --acts-for or in node.toml.",
        _draft_acts_for,
    ),
    Rule(
        "D6.2-organization_name",
        "6.2",
        Severity.ERROR,
        '`organization_name` appears only beside `acts_for` "organization", and is a name the organization is '
        "publicly known by.",
        "Take `organization_name` out of a draft or of a document that acts for nobody's organization; otherwise "
        "write the public name.",
        _organization_name,
    ),
)
