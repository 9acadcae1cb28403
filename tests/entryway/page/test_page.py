"""The page about an agent: everything is text, silence is said, and the words promise no more than the document."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from descriptor.document import Descriptor
from descriptor.projections.agentdoc import Observation
from entryway.page import words
from entryway.page.changes import MOST_BYTES, MOST_CHANGES, changes_of
from entryway.page.content import content_of
from entryway.page.facts import MOST_ENTRIES
from entryway.page.offerings import MOST_OFFERINGS
from entryway.page.render import agent_page, changes_page, content_security_policy, notice_page
from tests.descriptor.projections.samples import MARKUP, SAMPLES, TURNED, bound, sample
from tests.descriptor.projections.test_agentdoc import CARD, NOW, doc_of, fetched
from tests.descriptor.rules.cases import BOUND, OFFERING
from tests.descriptor.test_view import nearly_whole

SNAPSHOTS = Path(__file__).parent / "snapshots"
VOID = {"meta", "link", "br", "wbr"}
OF_A_DOCUMENT = {"bdi", "code", "title", "option"}
"""Elements in which text from a document stands, so that its direction ends where it ends."""
HEBREW = "קורא מכתבים"
FREE = {
    *("name", "description", "does", "refusals", "organization_name", "role", "statement", "needs", "past_them", "via"),
    *(
        "for",
        "purpose",
        "standard",
        "by",
        "one_of",
        "agent_version",
        "resource",
        "text",
        "credential",
        "tool",
        "system",
    ),
    *("default", "step", "price_ref", "protocol"),
}
SEEN = Observation(
    "The newest versions that this node has published and keeps.",
    NOW,
    {
        "versions": [
            {
                "digest": "sha256:" + digit * 64,
                "agent_version": version,
                "published_at": "2026-09-20T12:00:00.000Z",
                "current": version == "2",
            }
            for digit, version in (("b", "2"), ("a", "1"))
        ]
    },
)


class Read(HTMLParser):
    """A page as a browser takes it apart: its elements, and its text line by line. What does not nest is refused."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[str] = []
        self.pieces: list[tuple[str, set[str]]] = []
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("td", "dd"):
            self.lines.append(" | ")
        elif tag not in ("a", "bdi", "span", "wbr", "strong", "code", "time", "th", "label", "option"):
            self.lines.append(f"\n{'#' * int(tag[1]) + ' ' if re.fullmatch('h[1-6]', tag) else ''}")
        elif tag in ("th", "option"):
            self.lines.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append((data, {*self._open}))
        if self._open[-1:] != ["style"]:
            self.lines.append(data if data.strip() else " ")

    @property
    def text(self) -> str:
        """What is read, with blanks made one."""
        lines = (" ".join(line.split()) for line in "".join(self.lines).splitlines())
        return "\n".join(line for line in lines if line) + "\n"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(document: dict[str, Any] | Descriptor, **more: Any) -> bytes:
    return agent_page(content_of(doc_of(document, **{"observations": [SEEN], **more}).members))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_is_the_one_that_was_read(name: str) -> None:
    """Its text, compared with a file that somebody has read. AGENT_NODE_SNAPSHOTS=write writes the files anew."""
    file = SNAPSHOTS / f"{name}.txt"
    text = Read(page_of(sample(name))).text
    if os.environ.get("AGENT_NODE_SNAPSHOTS") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


# Hostile text.


def test_markup_stays_text() -> None:
    page = page_of(sample("hostile"))
    read = Read(page)
    tags = {tag for tag, _ in read.elements}
    assert not tags & {"script", "img", "b", "iframe", "object", "svg"}
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert MARKUP[:60] in read.text
    assert "{{ 7*7 }}" in read.text


def test_nothing_turns_the_line_or_hides_in_it() -> None:
    read = Read(page_of(sample("hostile")))
    assert not set("\u202e\u202c\u200b\x00\x1b\u2028") & set(read.text)
    assert "pay ⟨U+202E⟩yenom⟨U+202C⟩⟨U+200B⟩ now⟨U+0000⟩⟨U+001B⟩[2J⟨U+2028⟩next" in read.text
    assert TURNED not in read.text


@settings(max_examples=100)
@given(nearly_whole())
def test_text_of_a_document_turns_nothing_around_it(document: dict[str, Any]) -> None:
    """A name in Hebrew runs from right to left, and what stands around it does not."""
    turned = _turned({**document, "subject": BOUND["subject"], "refusals": ""})
    pieces = [(text, inside) for text, inside in Read(page_of(turned)).pieces if HEBREW in text]
    assert pieces
    assert [text for text, inside in pieces if not inside & OF_A_DOCUMENT] == []


def _turned(value: Any) -> Any:
    """A document of which every text that is nobody's keyword is in Hebrew."""
    if isinstance(value, dict):
        return {name: HEBREW if name in FREE and isinstance(one, str) else _turned(one) for name, one in value.items()}
    return [_turned(one) for one in value] if isinstance(value, list) else value


def test_only_plain_http_addresses_are_links_and_none_is_recommended() -> None:
    card = fetched({**CARD, "supportedInterfaces": [{"url": "https://a.example/"}, {"url": "javascript:x"}]})
    links = Read(page_of(sample("hostile"), card=card)).all("a")
    outside = [one for one in links if not one["href"].startswith(("#", "/descriptors/sha256:", "/.well-known/"))]
    assert {one["href"] for one in outside} == {
        *("https://a.example/", "https://a.example/card", "https://a.example/<b>"),
        'https://a.example/"onmouseover="x',
    }
    assert {one.get("rel") for one in outside} == {"nofollow noopener noreferrer"}


def test_the_page_is_bounded_whatever_the_document_holds() -> None:
    many = [{**OFFERING, "id": f"o{number}", "inputs": OFFERING["inputs"] * 55} for number in range(110)]
    read = Read(page := page_of({**BOUND, "offerings": many, "refusals": "no " * 100_000}))
    assert len(page) < 3_000_000
    assert len(read.all("article")) == MOST_OFFERINGS
    assert f"And {110 - MOST_OFFERINGS} more offerings" in read.text
    assert f"And {55 - MOST_ENTRIES} more inputs" in read.text


@settings(max_examples=100)
@given(nearly_whole())
def test_every_agentdoc_has_a_page(document: dict[str, Any]) -> None:
    Read(page_of({**document, "subject": BOUND["subject"]}))


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://192.0.2.7:7420/entryway", "http://192.0.2.7:7420"),
        ("https://[fe80::1]:7420/entryway", "https://[fe80::1]:7420"),
        ("http://desk.local/entryway", "http://desk.local"),
        ("http://desk.local/$(reboot)/entryway", None),
        ("http://desk.local;reboot/entryway", None),
        ("http://desk.local/entryway\nreboot", None),
        ("http://desk.local/", None),
    ],
)
def test_how_to_ask_it_is_shown_where_the_address_is_plain(url: str, base: str | None) -> None:
    served = [{"url": "https://a.example/", "protocolBinding": "JSONRPC"}]
    served += [{"url": url, "protocolBinding": "agentmesh-envelope-v1"}]
    text = Read(page_of(sample("demo"), card=fetched({**CARD, "supportedInterfaces": served}))).text
    assert (f"agent-node ask {base}\n" in text, "agent-node request" in text) == (
        (True, True) if base else (False, False)
    )


# What a browser and a screen reader need.


@pytest.mark.parametrize("name", SAMPLES)
def test_headings_are_in_order_and_every_table_has_headers(name: str) -> None:
    read = Read(page_of(sample(name)))
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert {one["scope"] for one in read.all("th")} <= {"col", "row"}
    assert read.all("html") == [{"lang": "en"}]
    for landmark in ("header", "main", "nav", "footer"):
        assert read.all(landmark)
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {one["href"][1:] for one in read.all("a") if one["href"].startswith("#")} <= set(ids)


def test_the_page_asks_nobody_for_anything() -> None:
    for page in (page_of(sample("whole")), notice_page("Title", ["A sentence."])):
        read = Read(page)
        assert not [tag for tag, attributes in read.elements if "src" in attributes or "style" in attributes]
        assert [one["href"] for one in read.all("link")] == ["data:,"]
    policy = content_security_policy()
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy
    assert "unsafe" not in policy


# Silence, and words that promise no more than the document.


def test_silence_is_said_and_never_reads_as_open_or_as_nothing() -> None:
    text = Read(page_of(sample("bare"))).text
    assert "Who gets in is not stated. That does not mean that anyone does." in text
    assert "Not stated. That does not mean nothing." in text
    assert "Not stated. Nothing is promised." in text
    assert "Not stated. Expect that you may interrupt somebody." in text
    for admission in words.ADMISSION.values():
        assert admission not in text


def test_an_empty_list_is_said_as_the_statement_that_it_is() -> None:
    text = Read(page_of(sample("guest"))).text
    assert "Nothing has to be shown." in text
    assert "Nothing, it says." in text
    assert "here as a guest on trial" in text


@pytest.mark.parametrize(
    ("decided_by", "said"),
    [("rule", "the program that runs it"), ("model", "only its AI model"), (None, "not stated")],
)
def test_who_holds_the_agent_to_a_bound_stands_beside_it(decided_by: str | None, said: str) -> None:
    bound_by = {"most": 60, **({} if decided_by is None else {"decided_by": decided_by})}
    text = Read(page_of({**BOUND, "offerings": [{**OFFERING, "ceilings": {"job_seconds": bound_by}}]})).text
    (line,) = [line for line in text.splitlines() if "1 minute" in line]
    assert said in line
    # A declaration is never shown as enforced (chapter 6.10, rule 3).
    assert "Who holds it to that, it says" in text


@pytest.mark.parametrize(
    ("authority", "said"),
    [
        ({}, "Not stated. Do not take that for nothing."),
        ({"authority": ["flies"]}, "Not stated. Do not take that for nothing."),
        ({"authority": []}, "Nothing beyond what you send and what it returns. What holds it to this is not stated."),
        (
            {"authority": ["runs-commands"], "authority_decided_by": "model"},
            "It says that its AI model is told this",
        ),
    ],
)
def test_what_it_may_touch(authority: dict[str, Any], said: str) -> None:
    assert said in Read(page_of({**BOUND, "offerings": [{**OFFERING, **authority}]})).text


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ({}, words.SCOPE_NOT_STATED),
        ({"scope": "task-specific"}, words.SCOPES["task-specific"][1]),
        ({"scope": "open-with-focus", "focus": "data"}, "It takes any instruction about collecting"),
        ({"scope": "open-with-focus"}, words.SCOPE_UNREADABLE),
        ({"scope": "whatever"}, words.SCOPE_UNREADABLE),
        ({"scope": "open-ended"}, "makes no claim about what it can do"),
    ],
)
def test_a_scope_is_read_as_the_chapter_has_it(scope: dict[str, Any], said: str) -> None:
    assert said in Read(page_of({**BOUND, "offerings": [{**OFFERING, **scope}]})).text


def test_grants_stand_apart_from_what_is_sent() -> None:
    text = Read(page_of(sample("whole"))).text
    sent, granted = text.split("#### You grant access to")[0], text.split("#### You grant access to")[1]
    assert "| page" not in sent
    assert "page: a web address, by share. The agent reaches it itself; you do not send it." in granted


@pytest.mark.parametrize("state", ["verified", "unsigned", "failed"])
def test_what_the_signature_is_worth_is_said_at_the_top(state: str) -> None:
    document = dict(sample("demo").members)
    if state == "unsigned":
        del document["signatures"]
    elif state == "failed":
        document["does"] = "Anything."
    text = Read(page_of(Descriptor.read(json.dumps(document).encode()))).text
    said = {"verified": "not that it is true", "unsigned": "Nothing here shows who said it", "failed": "do not go by"}
    assert said[state] in text.split("## What it offers")[0]


def test_sealing_is_not_said_to_hide_anything_from_who_runs_the_host() -> None:
    text = Read(page_of(sample("whole"))).text
    assert "Whoever runs that machine can read them" in text
    assert not re.search(r"anonym|end.to.end|nobody (else )?can read", text, re.IGNORECASE)


def test_a_promise_that_is_left_out_is_said_not_to_be_made() -> None:
    use = {"promises": {"no_training": True}, "retention": {"max_days": 0}, "processors": []}
    text = Read(page_of({**BOUND, "data_use": use})).text
    assert words.PROMISES["no_training"] in text
    assert "Not promised: not to share it; that no human reads it." in text
    assert "It is not kept." in text
    assert "Its operator's word" in text


def test_every_place_that_is_not_stated_has_a_name() -> None:
    for name in SAMPLES:
        for path in doc_of(sample(name)).members["not_stated"]:
            steps = path.split("/")
            if len(steps) == 3 or (len(steps) == 5 and steps[2] == "offerings"):
                assert steps[-1].isdecimal() or steps[-1] in words.PLACES, path


def test_a_difference_is_reported() -> None:
    text = Read(page_of(sample("demo"), card=fetched({"description": "Another."}))).text
    assert "at /description it does not say what the Descriptor says at /does. The Descriptor's word is shown." in text


def test_nothing_on_the_page_grades() -> None:
    for name in ("whole", "demo", "bare"):
        assert not re.search(r"\b(score|rating|badge|grade|trusted|safe)\b", Read(page_of(sample(name))).text)


# What changed.


def changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    changes = changes_of(bound({**BOUND, **before}), bound({**BOUND, **after}))
    assert changes is not None
    return Read(changes_page("a.example", changes)).text


def test_what_changed_is_said_by_the_name_of_what_it_is_in() -> None:
    text = changed(
        {"agent_version": "1", "offerings": [OFFERING], "refusals": "Nothing."},
        {"agent_version": "2", "offerings": [{**OFFERING, "description": "Other."}], "systems": []},
    )
    assert "## 4 differences" in text
    assert "### What it offers › “Read a contract” › a description changed" in text
    assert "### What it refuses taken out" in text
    assert "### What it is connected to added" in text


def test_a_list_of_words_is_shown_as_words() -> None:
    text = changed({"interfaces": ["entryway"]}, {"interfaces": ["entryway", "jobs"], "hosted_in": [1]})
    assert "entryway\njobs" in text
    assert "[\n1\n]" in text


def test_what_is_the_same_is_said() -> None:
    assert "They say the same" in changed({}, {})


def test_other_facts_under_one_version_are_noticed() -> None:
    assert "the same version" in changed({"offerings": []}, {"offerings": [OFFERING]})
    assert "That is right if only the wording changed" in changed({"refusals": "a"}, {"refusals": "b"})
    assert "the same version" not in changed({"refusals": "a"}, {"refusals": "b", "agent_version": "7"})


def test_changes_are_bounded() -> None:
    many = [{**OFFERING, "id": f"o{number}"} for number in range(MOST_CHANGES + 7)]
    assert "And 7 more" in changed({"offerings": []}, {"offerings": many})
    large = bound({**BOUND, "refusals": "x" * MOST_BYTES})
    assert changes_of(large, large) is None


@pytest.mark.parametrize("text", [MARKUP, TURNED])
def test_what_changed_stays_text(text: str) -> None:
    before, after = {"refusals": "a", text[:40]: text}, {"refusals": text, "offerings": [{**OFFERING, "name": text}]}
    changes = changes_of(bound({**BOUND, **before}), bound({**BOUND, **after}))
    assert changes is not None
    read = Read(changes_page(text, changes))
    assert not {tag for tag, _ in read.elements} & {"script", "img"}
    assert "\u202e" not in read.text
