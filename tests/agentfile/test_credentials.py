"""Section 9.5: the credentials that the tools of a file need, by provider, with exact scopes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentfile.credentials import Needs, Unnamed, credential_needs


def nango(name: str, provider: str = "mail", **members: Any) -> dict[str, Any]:
    base = {"kind": "nango", "name": name, "provider": provider, "endpoint": "/x", "requiresUserAuth": True}
    return {**base, **members}


def mcp(name: str, **members: Any) -> dict[str, Any]:
    return {"kind": "mcp", "name": name, "server": "@example/server", "requiresUserAuth": True, **members}


def scopes(needs: Needs) -> dict[str, list[str]]:
    return {need.provider: list(need.scopes) for need in needs.by_provider}


def test_needs_are_merged_by_provider_with_the_union_of_their_scopes() -> None:
    tools: list[Any] = [
        "create_reminder",
        nango("mail.list", scopes=["Mail.Read"]),
        mcp("files.read", provider="files", scopes=["files.read"]),
        mcp("mail.send", provider="mail", scopes=["Mail.Send", "Mail.Read"]),
    ]
    needs = credential_needs(tools)
    assert [need.provider for need in needs.by_provider] == ["mail", "files"]
    mail = needs.by_provider[0]
    assert mail.scopes == {"Mail.Read": ("mail.list", "mail.send"), "Mail.Send": ("mail.send",)}
    assert list(mail.scopes) == ["Mail.Read", "Mail.Send"]
    assert mail.tools == ("mail.list", "mail.send")
    assert mail.without_scopes == ()
    assert needs.unnamed == ()


def test_providers_and_scopes_are_not_the_same_when_they_only_look_alike() -> None:
    needs = credential_needs(
        [nango("a", "Google", scopes=["Read"]), nango("b", "google", scopes=["read", "read "]), nango("c", "google ")]
    )
    assert scopes(needs) == {"Google": ["Read"], "google": ["read", "read "], "google ": []}


def test_only_tools_that_say_they_need_it_are_collected() -> None:
    tools = [
        nango("a", requiresUserAuth=False),
        mcp("b", provider="x", requiresUserAuth=False, scopes=["all"]),
        mcp("c", provider="x", requiresUserAuth="true"),
        {"kind": "builtin", "name": "d"},
        {"kind": "webhook", "name": "e", "url": "https://example.org/"},
        "f",
    ]
    assert credential_needs(tools) == Needs((), ())


def test_a_tool_that_states_no_scope_is_told_beside_those_that_do() -> None:
    (need,) = credential_needs([nango("a", scopes=["x"]), nango("b"), nango("c", scopes=[])]).by_provider
    assert need.scopes == {"x": ("a",)}
    assert need.without_scopes == ("b", "c")


def test_a_tool_named_twice_asks_once_for_each_scope() -> None:
    (need,) = credential_needs([nango("a", scopes=["x", "x"]), nango("a", scopes=["y", "x"])]).by_provider
    assert need.scopes == {"x": ("a",), "y": ("a",)}
    assert need.tools == ("a",)


def test_a_tool_that_names_no_provider_is_told_by_itself() -> None:
    hook = {"kind": "webhook", "name": "hook", "url": "https://example.org/x", "requiresUserAuth": True}
    needs = credential_needs([mcp("a", scopes=["s"]), mcp("b", provider=" "), hook])
    assert needs.by_provider == ()
    assert needs.unnamed == (
        Unnamed("a", "mcp", "@example/server", ("s",)),
        Unnamed("b", "mcp", "@example/server", ()),
        Unnamed("hook", "webhook", "https://example.org/x", ()),
    )


NAMES = st.sampled_from(["a", "b", "c"])
TOOLS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["mcp", "nango", "webhook", "builtin"]), "name": NAMES},
    optional={
        "requiresUserAuth": st.booleans() | st.none(),
        "provider": NAMES | st.just(""),
        "scopes": st.lists(NAMES | st.none()) | st.none(),
    },
)


@given(st.lists(TOOLS | st.text(max_size=3) | st.none()))
def test_every_tool_that_needs_authorization_is_told_once_with_each_of_its_scopes(tools: list[Any]) -> None:
    needs = credential_needs(tools)
    asking = [tool for tool in tools if isinstance(tool, dict) and tool.get("requiresUserAuth") is True]
    merged = [tool for tool in asking if tool["kind"] in ("mcp", "nango") and tool.get("provider")]
    assert len(needs.unnamed) == len(asking) - len(merged)
    wanted = {
        (tool["provider"], scope, tool["name"])
        for tool in merged
        for scope in tool.get("scopes") or ()
        if scope is not None
    }
    shown = {
        (need.provider, scope, name)
        for need in needs.by_provider
        for scope, names in need.scopes.items()
        for name in names
    }
    assert shown == wanted
    assert {(need.provider, name) for need in needs.by_provider for name in need.tools} == {
        (tool["provider"], tool["name"]) for tool in merged
    }
