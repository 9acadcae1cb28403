"""Chapter 6.9, data use: declared once for the agent, and read whole or not at all.

A reader drops the whole block when any part of it is unreadable. Each rule in `PARTS` says of one part what makes it
so, and `descriptor.data_use` asks them all for the reader. The other rules concern the writer alone: what they find is
read all the same, and says less than was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, described
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import COUNTRIES, MEMORY, PROMISES

JURISDICTIONS = ("processed_in", "jurisdictions")  # two names of one member (binding 11), the first one stands
_COUNTRY = re.compile(r"[a-z]{2}")
_DROPPED = "Until it is mended, readers drop the whole of `data_use`."

_Block = dict[str, JsonValue]
_PATH: forms.Path = ("data_use",)


def _block(document: Document) -> _Block:
    value = document.get("data_use")
    return value if isinstance(value, dict) else {}


def _form(document: Document) -> Iterator[Problem]:
    return forms.mapping(document, "data_use", ())


def _promises(document: Document) -> Iterator[Problem]:
    block = _block(document)
    yield from forms.mapping(block, "promises", _PATH)
    promises = block.get("promises")
    # Of an unknown name, too: whoever took it for a promise would find one that is denied.
    for name, value in promises.items() if isinstance(promises, dict) else ():
        if value is not True:
            yield (
                pointer_to(*_PATH, "promises", name),
                f"The promise is {described(value)}; a promise that is made is true.",
            )


def _unknown_promises(document: Document) -> Iterator[Problem]:
    promises = _block(document).get("promises")
    for name, value in promises.items() if isinstance(promises, dict) else ():
        if name not in PROMISES and value is True:
            yield pointer_to(*_PATH, "promises", name), f"{described(name)} is no promise that readers know."


def _retention(document: Document) -> Iterator[Problem]:
    block = _block(document)
    yield from forms.mapping(block, "retention", _PATH)
    retention = block.get("retention")
    if isinstance(retention, dict):
        yield from forms.whole_number(retention, "max_days", (*_PATH, "retention"), least=0, required=True)


def _memory(document: Document) -> Iterator[Problem]:
    return forms.word(_block(document), "memory", _PATH, MEMORY)


def _processors(document: Document) -> Iterator[Problem]:
    block = _block(document)
    yield from forms.items(block, "processors", _PATH)
    processors = block.get("processors")
    for index, processor in enumerate(processors) if isinstance(processors, list) else ():
        path = (*_PATH, "processors", index)
        if isinstance(processor, dict):
            yield from forms.text(processor, "name", path, required=True)
            yield from forms.text(processor, "purpose", path)
        elif not isinstance(processor, str) or not processor.strip():
            yield pointer_to(*path), f"This processor is {described(processor)}; it has to be a name, or have a `name`."


def _jurisdictions(document: Document) -> Iterator[Problem]:
    block = _block(document)
    for name in JURISDICTIONS:
        yield from forms.list_of_texts(block, name, _PATH)
        listed = block.get(name)
        if listed == []:
            yield pointer_to(*_PATH, name), "No jurisdiction is named, and content has to be processed somewhere."
        for index, code in enumerate(listed) if isinstance(listed, list) else ():
            if isinstance(code, str) and code.strip() and not _COUNTRY.fullmatch(code):
                yield (
                    pointer_to(*_PATH, name, index),
                    f"{described(code)} is no country code of two lower-case letters (ISO 3166-1 alpha-2).",
                )
    first, second = (_codes(block, name) for name in JURISDICTIONS)
    if first and second and set(first) != set(second):
        yield (
            pointer_to(*_PATH, JURISDICTIONS[1]),
            "`jurisdictions` is another name of `processed_in` and says otherwise.",
        )


def _codes(block: _Block, name: str) -> list[str]:
    """The jurisdictions of the member `name` when all of them are text; what is wrong otherwise is told elsewhere."""
    listed = block.get(name)
    codes = listed if isinstance(listed, list) else []
    texts = [code for code in codes if isinstance(code, str)]
    return texts if len(texts) == len(codes) else []


def _countries(document: Document) -> Iterator[Problem]:
    block = _block(document)
    for name in JURISDICTIONS:
        for index, code in enumerate(_codes(block, name)):
            if _COUNTRY.fullmatch(code) and code not in COUNTRIES:
                meant = "; the code of the United Kingdom is gb" if code == "uk" else ""
                yield pointer_to(*_PATH, name, index), f"{described(code)} is the code of no country{meant}."


PARTS = (
    Rule(
        "D6.9-data_use",
        "6.9",
        Severity.ERROR,
        "`data_use` says once, for the whole agent, what happens to content that is handed to it.",
        'Write it as {"promises": {…}, "retention": {"max_days": 30}, "memory": "…", "processors": […]}, or leave it '
        f"out. {_DROPPED}",
        _form,
    ),
    Rule(
        "D6.9-promises",
        "6.9",
        Severity.ERROR,
        "`promises` holds only the promises that are made, each spelled true; one that is not made is left out.",
        f'Write "no_training": true, and take out every promise that is not made. {_DROPPED}',
        _promises,
    ),
    Rule(
        "D6.9-retention",
        "6.9",
        Severity.ERROR,
        "`retention` states the most days for which content is kept.",
        f'Write "retention": {{"max_days": 30}}. {_DROPPED}',
        _retention,
    ),
    Rule(
        "D6.9-memory",
        "6.9",
        Severity.ERROR,
        "`memory` says whether what a job was given or learned is kept for later jobs.",
        f'Write "{MEMORY[0]}" or "{MEMORY[1]}". {_DROPPED}',
        _memory,
    ),
    Rule(
        "D6.9-processors",
        "6.9",
        Severity.ERROR,
        "`processors` names the services that content passes through, models among them; an empty list says none.",
        f'List names, or objects such as {{"name": "Example Models", "purpose": "writing the summary"}}. {_DROPPED}',
        _processors,
    ),
    Rule(
        "D6.9-processed_in",
        "6.9",
        Severity.ERROR,
        "`processed_in` names the countries in which content may be processed and stored.",
        f'List codes such as "de" and "fr", or leave it out where none can truthfully be named. {_DROPPED}',
        _jurisdictions,
    ),
)
"""The rules of what makes the block unreadable."""

RULES = (
    *PARTS,
    Rule(
        "D6.9-promise-unknown",
        "6.9",
        Severity.NOTE,
        "The promises that readers know are " + ", ".join(PROMISES) + "; any other is passed over.",
        "See that the promise is spelled as one of these, or say it in `refusals`, where people read it.",
        _unknown_promises,
    ),
    Rule(
        "D6.9-processed_in-country",
        "6.9",
        Severity.WARNING,
        "Jurisdictions are compared code by code with the ones a caller allows, so a code names a country.",
        'Use the code of ISO 3166-1 alpha-2 in lower case, such as "gb"; name each country of a union.',
        _countries,
    ),
)
