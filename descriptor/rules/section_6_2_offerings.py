"""Chapter 6.2, offerings: what each one is called, takes and gives, and what a change to its work costs.

What an offering's scope requires of it is section 6.11's business, and what its kinds may be is section 6.3's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import SCOPES, WHEN

RUN_CONTEXT = "run-context"
RUN_CONTEXT_KIND = "application/vnd.agentmesh.run-context+json"

_Item = tuple[forms.Path, dict[str, JsonValue]]


def _items(document: Document, side: str, having: str | None = None) -> Iterator[_Item]:
    """The inputs or outputs of every offering, or those `having` a member, each with the path that leads to it."""
    for place, offering in offerings(document):
        for index, item in objects(offering.get(side)):
            if having is None or having in item:
                yield ("offerings", place, side, index), item


def _offerings(document: Document) -> Iterator[Problem]:
    yield from forms.list_of_objects(document, "offerings", ())
    for place, offering in offerings(document):
        for name in ("id", "name", "description"):
            yield from forms.text(offering, name, ("offerings", place), required=True)


def _unique(entries: Iterator[tuple[forms.Path, dict[str, JsonValue]]], name: str, what: str) -> Iterator[Problem]:
    seen = set()
    for path, entry in entries:
        value = entry.get(name)
        if not isinstance(value, str):
            continue
        if value in seen:
            yield pointer_to(*path, name), f"{described(value)} is the `{name}` of two {what}."
        seen.add(value)


def _offering_id(document: Document) -> Iterator[Problem]:
    return _unique(((("offerings", place), offering) for place, offering in offerings(document)), "id", "offerings")


def _sides(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        # What an open offering declares is said by its scope.
        required = offering.get("scope") not in SCOPES[1:]
        for side in ("inputs", "outputs"):
            yield from forms.list_of_objects(offering, side, ("offerings", place), required=required)


def _input(document: Document) -> Iterator[Problem]:
    for path, item in _items(document, "inputs"):
        yield from forms.text(item, "name", path, required=True)
        yield from forms.missing(item, "kind", path, "A caller cannot tell what to send.")
        for name in ("required", "external"):
            yield from forms.flag(item, name, path)
        yield from forms.text(item, "one_of", path)


def _max_bytes(document: Document) -> Iterator[Problem]:
    for path, item in _items(document, "inputs", having="max_bytes"):
        yield from forms.whole_number(item, "max_bytes", path, least=1)


def _via(document: Document) -> Iterator[Problem]:
    # The vocabulary is another specification's, so only the form of its words can be judged here.
    for path, item in _items(document, "inputs", having="via"):
        yield from forms.list_of_texts(item, "via", path, unique=True)
        if item.get("via") == []:
            yield pointer_to(*path, "via"), "`via` is empty, so the grant could be made in no way."


def _output(document: Document) -> Iterator[Problem]:
    for path, item in _items(document, "outputs"):
        yield from forms.text(item, "name", path, required=True)
        yield from forms.missing(item, "kind", path, "A caller cannot tell what comes back.")
        yield from forms.word(item, "when", path, WHEN, required=True)
        yield from forms.flag(item, "working", path)


def _item_name(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        for side in ("inputs", "outputs"):
            entries = ((("offerings", place, side, index), item) for index, item in objects(offering.get(side)))
            yield from _unique(entries, "name", f"{side} of one offering")


def _one_of(document: Document) -> Iterator[Problem]:
    for path, item in _items(document, "inputs", having="one_of"):
        if isinstance(item["one_of"], str) and item.get("required") is True:
            yield (
                pointer_to(*path, "required"),
                f"This input is required, and is also one of the group {described(item['one_of'])}, of which any does.",
            )


def _one_of_alone(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        inputs = list(objects(offering.get("inputs")))
        members = Counter(group for _, item in inputs if isinstance(group := item.get("one_of"), str))
        for index, item in inputs:
            group = item.get("one_of")
            if isinstance(group, str) and members[group] == 1:
                yield (
                    pointer_to("offerings", place, "inputs", index, "one_of"),
                    f"No other input is of the group {described(group)}, so this one has to arrive.",
                )


def _run_context(document: Document) -> Iterator[Problem]:
    for path, item in _items(document, "inputs"):
        named, kind = item.get("name") == RUN_CONTEXT, item.get("kind") == RUN_CONTEXT_KIND
        if named and not kind and isinstance(item.get("kind"), str):
            yield pointer_to(*path, "kind"), f"An input named {RUN_CONTEXT} is of the kind {RUN_CONTEXT_KIND}."
        if kind and not named and isinstance(item.get("name"), str):
            yield pointer_to(*path, "name"), f"An input of the kind {RUN_CONTEXT_KIND} is named {RUN_CONTEXT}."
        if "fields" in item and not kind:
            yield pointer_to(*path, "fields"), "Only the run context has `fields`."
        elif kind:
            yield from forms.list_of_texts(item, "fields", path, unique=True)


def _revisions(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place, "revisions")
        yield from forms.mapping(offering, "revisions", path[:-1])
        revisions = offering.get("revisions")
        if not isinstance(revisions, dict):
            continue
        yield from forms.mapping(revisions, "included", path, required=True)
        included = revisions.get("included")
        if isinstance(included, dict):
            yield from forms.whole_number(included, "count", (*path, "included"), least=0, required=True)
            yield from forms.whole_number(included, "window_days", (*path, "included"), least=1, required=True)
        if ("steps" in revisions) == ("flat" in revisions):
            said = "both `steps` and `flat`" if "flat" in revisions else "neither `steps` nor `flat`"
            yield pointer_to(*path), f"The revisions state {said}, so the price of a revision is not known."
        yield from _price(revisions, "flat", path)
        yield from forms.list_of_objects(revisions, "steps", path)
        for index, step in objects(revisions.get("steps")):
            yield from forms.text(step, "step", (*path, "steps", index), required=True)
            yield from forms.missing(step, "price", (*path, "steps", index), "The step is revised at no known price.")
            yield from _price(step, "price", (*path, "steps", index))


def _price(holder: dict[str, JsonValue], name: str, path: forms.Path) -> Iterator[Problem]:
    """A price has the price declaration's shape, which is another chapter's: money in it is judged, the rest is not."""
    yield from forms.mapping(holder, name, path)
    price = holder.get(name)
    if isinstance(price, dict) and {"amount_micro", "currency"} & price.keys():
        yield from forms.money(price, (*path, name))


def _revised_steps(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        revisions = offering.get("revisions")
        if not isinstance(revisions, dict):
            continue
        known = {step_id for _, step in objects(offering.get("steps")) if isinstance(step_id := step.get("id"), str)}
        seen = set()
        for index, step in objects(revisions.get("steps")):
            step_id = step.get("step")
            where = pointer_to("offerings", place, "revisions", "steps", index, "step")
            if not isinstance(step_id, str) or not step_id.strip():
                continue
            if step_id not in known:
                yield where, f"The offering has no step {described(step_id)} among its `steps`."
            elif step_id in seen:
                yield where, f"The step {described(step_id)} is priced twice."
            seen.add(step_id)


RULES = (
    Rule(
        "D6.2-offering",
        "6.2",
        Severity.ERROR,
        "`offerings` lists one object for each thing the agent can be hired for, with an `id`, a `name` and one "
        "sentence "
        "of `description`.",
        'Write each one as {"id": "read-contract", "name": "Read a contract", "description": "…", "inputs": […], '
        '"outputs": […]}.',
        _offerings,
    ),
    Rule(
        "D6.2-offering-id",
        "6.2",
        Severity.ERROR,
        "An offering is asked for by its `id`, so no two have the same.",
        "Give each offering an `id` of its own.",
        _offering_id,
    ),
    Rule(
        "D6.2-offering-sides",
        "6.2",
        Severity.ERROR,
        "An offering lists its `inputs` and its `outputs`; an empty list says that there are none.",
        'Write "inputs" and "outputs" as lists of objects, empty where nothing is taken or given.',
        _sides,
    ),
    Rule(
        "D6.2-input",
        "6.2",
        Severity.ERROR,
        "An input has a `name` and a `kind`; `required` and `external` are true or false, and `one_of` names a group.",
        'Write it as {"name": "contract", "kind": "application/pdf", "required": true}.',
        _input,
    ),
    Rule(
        "D6.2-input-max_bytes",
        "6.2",
        Severity.ERROR,
        "`max_bytes` is the most of an input that the agent takes.",
        "Write a whole number of bytes, such as 20000000, or leave it out.",
        _max_bytes,
    ),
    Rule(
        "D6.2-input-via",
        "6.2",
        Severity.ERROR,
        "`via` names the mechanisms by which the grant of an input may be made.",
        "List one or more of them as texts, or leave `via` out.",
        _via,
    ),
    Rule(
        "D6.2-output",
        "6.2",
        Severity.ERROR,
        "An output has a `name`, a `kind` and a `when`: per_task for one of each task, standing for one kept across "
        "tasks.",
        'Write it as {"name": "summary", "kind": "text/markdown", "when": "per_task"}; `working` is true or false.',
        _output,
    ),
    Rule(
        "D6.2-name",
        "6.2",
        Severity.ERROR,
        "Within one offering an input, and an output, is told from the others by its `name`.",
        "Give each a name of its own.",
        _item_name,
    ),
    Rule(
        "D6.2-one_of",
        "6.2",
        Severity.ERROR,
        "Of a `one_of` group at least one input arrives, and none of them is required on its own.",
        'Say "required": false, or take `one_of` out of an input that has to arrive.',
        _one_of,
    ),
    Rule(
        "D6.2-one_of-alone",
        "6.2",
        Severity.WARNING,
        "A `one_of` group is a choice between several inputs.",
        'Give the group another member, or take `one_of` out and say "required": true.',
        _one_of_alone,
    ),
    Rule(
        "D6.2-run-context",
        "6.2",
        Severity.ERROR,
        f"The run context is an input named `{RUN_CONTEXT}`, of the kind {RUN_CONTEXT_KIND}, whose `fields` name what "
        f"the "
        "agent reads of it.",
        f'Write it as {{"name": "{RUN_CONTEXT}", "kind": "{RUN_CONTEXT_KIND}", "fields": ["focus"]}}.',
        _run_context,
    ),
    Rule(
        "D6.2-revisions",
        "6.2",
        Severity.ERROR,
        "`revisions` says how many changes are `included` and for how long, and what others cost: by `steps`, or "
        "`flat`.",
        'Write {"included": {"count": 1, "window_days": 14}, "flat": {…a price…}}, or "steps": [{"step": "…", "price": '
        "{…}}] in place of `flat`.",
        _revisions,
    ),
    Rule(
        "D6.2-revision-step",
        "6.2",
        Severity.ERROR,
        "A revised step is one of the offering's own `steps`, priced once.",
        "Name the `id` of a step of this offering.",
        _revised_steps,
    ),
)
