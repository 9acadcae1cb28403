"""Settings: file, environment and flags fill one object; nothing enters it unread; the pages say what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node import reference
from node.config import load
from node.errors import NodeError
from node.settings import DECLARED, SECTIONS, Settings, changed

ROOT = Path(__file__).parents[2]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "node.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path | None, environ: dict[str, str], overrides: dict[str, object]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        load(path, environ, overrides)
    assert caught.value.exit_code == 2
    return caught.value


def test_nothing_stated_is_the_defaults(tmp_path: Path) -> None:
    assert load(None, {}, {}) == load(tmp_path / "absent.toml", {}, {}) == Settings()


def test_the_defaults_are_those_of_the_binding() -> None:
    limits = Settings().limits
    assert (limits.header_block, limits.entryway_body, limits.descriptor_bytes) == (16_384, 65_536, 1_048_576)
    assert (limits.header_wait, limits.body_wait, limits.idle_wait) == (10, 30, 75)
    assert (limits.connections, limits.connections_per_address, limits.descriptor_nesting) == (512, 64, 64)
    assert (limits.answers_per_second, limits.answers_burst, limits.limit_loopback) == (50, 200, False)
    assert (limits.knock_wait, limits.knocks_per_day) == (86_400, 1_000)
    assert Settings().http.port == 7420
    assert Settings().agent.version_order == "natural"


def test_the_environment_stands_over_the_file_and_flags_over_both(tmp_path: Path) -> None:
    path = written(tmp_path, "[http]\nport = 1\nhost = '127.0.0.1'\n[log]\nlog_level = 'debug'\n")
    settings = load(path, {"AGENT_NODE_PORT": "2", "AGENT_NODE_LOG_LEVEL": "error"}, {"port": 3, "log_level": None})
    assert (settings.http.port, settings.log.log_level, settings.http.host) == (3, "error", ("127.0.0.1",))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("port", "0", 0),
        ("host", "127.0.0.1, ::1", ("127.0.0.1", "::1")),
        ("header_wait", "0.5", 0.5),
        ("header_wait", "3", 3.0),
        ("limit_loopback", "true", True),
        ("handle", "paperwork.home", "paperwork.home"),
        ("organization_name", "Willow Street Library", "Willow Street Library"),
        ("public_url", "https://desk.example.net/agent/", "https://desk.example.net/agent/"),
        ("public_url", "http://[fd00::1]:7420", "http://[fd00::1]:7420"),
        ("public_url", "", None),
        ("port", "", 7420),
        ("handle", "", None),
    ],
)
def test_a_text_is_read_as_the_setting_s_type(name: str, text: str, value: object) -> None:
    one = DECLARED[name]
    settings = load(None, {one.variable: text}, {})
    assert getattr(getattr(settings, one.section), name) == value
    assert type(getattr(getattr(settings, one.section), name)) is type(value)


def test_a_flag_may_be_a_text_or_a_value() -> None:
    texts = load(None, {}, {"port": "80", "host": "::1,127.0.0.1"})
    assert texts == load(None, {}, {"port": 80, "host": ("::1", "127.0.0.1")})


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[http]\nport = '7420'\n", "[http] port is '7420'; it must be a whole number from 0 to 65535"),
        ("[http]\nport = 65536\n", "is '65536'; it must be"),
        ("[http]\nport = -1\n", "from 0 to 65535"),
        ("[http]\nport = 1.0\n", "a whole number"),
        ("[http]\nport = true\n", "a whole number"),
        ("[http]\nport = 0x" + "f" * 5000 + "\n", "a number of very many digits"),
        ("[http]\nport = {}\n", "a table"),
        ("[http]\nhost = []\n", "a list of texts without spaces"),
        ("[http]\nhost = ['']\n", "a list of texts"),
        ("[http]\nhost = [7]\n", "a list of texts"),
        ("[http]\nhost = 7\n", "a list of texts"),
        ("[limits]\nheader_wait = nan\n", "a number of seconds from 0.1 to 3600"),
        ("[limits]\nheader_wait = inf\n", "a number of seconds from 0.1 to 3600"),
        ("[limits]\nheader_wait = 0\n", "from 0.1"),
        ("[limits]\nheader_block = 1\n", "a whole number of bytes from 1024"),
        ("[limits]\nlimit_loopback = 1\n", "true or false"),
        ("[log]\nlog_level = 'loud'\n", 'one of "debug", "info"'),
        ("[agent]\nacts_for = 'nobody'\n", 'one of "person", "organization", "anyone"'),
        ("[agent]\nhandle = 'two words'\n", "a text without spaces"),
        ("[agent]\nhandle = ' '\n", "a text without spaces"),
        ('[agent]\norganization_name = "a\\u001bb"\n', "a text"),
        ("[agent]\nhandle = 2026-01-01\n", "a text"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(tmp_path: Path, toml: str, said: str) -> None:
    path = written(tmp_path, toml)
    error = refused(path, {}, {})
    assert error.code == "SETTING_INVALID"
    assert said in error.message
    assert str(path) in error.message


@pytest.mark.parametrize(
    ("variable", "text", "allowed"),
    [
        ("AGENT_NODE_PORT", "http", "a whole number"),
        ("AGENT_NODE_PORT", "9" * 5000, "a whole number"),
        ("AGENT_NODE_HEADER_WAIT", "nan", "a number of seconds"),
        ("AGENT_NODE_LIMIT_LOOPBACK", "yes", "true or false"),
        ("AGENT_NODE_HOST", "127.0.0.1,,::1", "a list of texts"),
    ],
)
def test_a_wrong_variable_is_refused_with_what_is_allowed(variable: str, text: str, allowed: str) -> None:
    error = refused(None, {variable: text}, {})
    assert error.code == "SETTING_INVALID"
    assert error.message.startswith(variable)
    assert allowed in error.message


@pytest.mark.parametrize(
    "url",
    [
        *("desk.local", "desk.local:7420", "ftp://desk.local", "http://", "http:///path", "http:desk.local", "://a"),
        *(
            "http://me@desk.local",
            "http://me:word@desk.local",
            "http://@desk.local",
            "http://desk.local?x",
            "http://a#b",
        ),
        *("http://desk.local?", "http://desk.local#", "http://desk.local:", "http://desk.local:0"),
        *(
            "http://desk.local:70000",
            "http://desk.local:x",
            "http://[::1",
            "http://[x]",
            "http://desk local",
            "http://é",
        ),
        *("http://a/\\b", "http://a/{b}", 'http://a/"', "http://a\tb", " http://a", "http://a "),
    ],
)
def test_a_url_under_which_nobody_reaches_a_node_is_refused(url: str) -> None:
    error = refused(None, {}, {"public_url": url})
    assert error.code == "SETTING_INVALID"
    assert "a URL, http or https, with a host and without user, query or fragment" in error.message


def test_a_wrong_flag_is_named_as_it_is_typed() -> None:
    assert refused(None, {}, {"header_wait": "soon"}).message.startswith("--header-wait is 'soon'")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[http]\nprot = 1\n", "there is no setting prot in [http]; the nearest is port in [http]"),
        ("[http]\nlog_level = 'info'\n", "there is no setting log_level in [http]; it stands in [log]"),
        ("port = 1\n", "there is no setting port outside every section; it stands in [http]"),
        ("[limit]\nconnections = 1\n", "there is no section [limit]; the nearest is limits"),
        ("[limits]\nconections = 1\n", "the nearest is connections in [limits]"),
        ("[zzz]\n", "there are agent, http, discovery, following, registry, limits, jobs, log, handlers"),
        ("[http]\n'\\u001b[2J' = 1\n", "there is no setting '\\\\u001b[2J'"),
        ('[http]\n"\\u001b[2J" = 1\n', "there is no setting '\\x1b[2J'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(tmp_path: Path, toml: str, said: str) -> None:
    error = refused(written(tmp_path, toml), {}, {})
    assert error.code == "SETTING_UNKNOWN"
    assert said in error.message


def test_an_unknown_variable_is_refused_and_its_value_is_not_shown() -> None:
    error = refused(None, {"AGENT_NODE_PASSPHRSE": "hunter2"}, {})
    assert error.code == "SETTING_UNKNOWN"
    assert "the nearest is AGENT_NODE_PASSPHRASE" in error.message
    assert "hunter2" not in error.message
    assert "the nearest is AGENT_NODE_PORT." in refused(None, {"AGENT_NODE_PROT": "1"}, {}).message


def test_the_home_and_the_passphrase_are_no_settings() -> None:
    environ = {"AGENT_NODE_HOME": "/srv/home", "AGENT_NODE_PASSPHRASE": "x", "AGENT_NODES": "2", "PATH": "/bin"}
    assert load(None, environ, {}) == Settings()


@pytest.mark.parametrize("data", [b"[http", b"port = \xff", b"a = " + b"[" * 100_000, b"a = " + b"9" * 5000])
def test_a_file_that_is_no_toml_is_unreadable(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "node.toml"
    path.write_bytes(data)
    error = refused(path, {}, {})
    assert error.code == "CONFIG_UNREADABLE"
    assert str(path) in error.message


def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    assert refused(tmp_path, {}, {}).code == "CONFIG_UNREADABLE"


@pytest.mark.parametrize(
    ("acts_for", "fits"), [("organization", True), (None, True), ("person", False), ("anyone", False)]
)
def test_an_organization_s_name_appears_only_beside_organization(acts_for: str | None, fits: bool) -> None:
    stated: dict[str, object] = {"organization_name": "Willow Street Library", "acts_for": acts_for}
    if fits:
        assert load(None, {}, stated).agent.organization_name == "Willow Street Library"
    else:
        assert refused(None, {}, stated).code == "SETTING_INVALID"


@given(st.binary(max_size=200) | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_any_file_is_settings_or_a_refusal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    try:
        load(path, {}, {})
    except NodeError as error:
        assert error.message.isprintable()


@given(st.sampled_from([one.variable for one in DECLARED.values()]), st.text(max_size=40))
def test_any_variable_is_settings_or_a_refusal(variable: str, text: str) -> None:
    try:
        load(None, {variable: text}, {})
    except NodeError as error:
        assert error.code == "SETTING_INVALID"
        assert error.message.isprintable()


def other(name: str) -> object:
    one = DECLARED[name]
    match one.kind:
        case "switch":
            return not one.default
        case "whole" | "number":
            return one.about.low if one.default == one.about.high else one.about.high
        case "texts":
            return ("127.0.0.1",)
    return one.about.choices[-1] if one.about.choices else one.about.example


@pytest.mark.parametrize("name", DECLARED)
def test_a_change_is_taken_or_waits_for_a_restart(name: str) -> None:
    one = DECLARED[name]
    taken, waiting = changed(Settings(), load(None, {}, {name: other(name)}))
    assert (taken if one.about.reload else waiting) == [f"{one.section}.{name}"]
    assert (waiting if one.about.reload else taken) == []


def test_where_the_node_listens_and_what_role_it_has_need_a_restart_and_nothing_else_does() -> None:
    assert [name for name, one in DECLARED.items() if not one.about.reload] == ["host", "port", "mdns", "registry"]


def test_every_setting_has_a_name_of_its_own() -> None:
    named = [name for section in SECTIONS.values() for name in section.__dataclass_fields__]
    assert len(named) == len(set(named)) == len(DECLARED)


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == reference.PAGES[name]()


def test_the_rendered_file_loads_to_the_defaults(tmp_path: Path) -> None:
    assert load(written(tmp_path, reference.render_toml()), {}, {}) == Settings()


@pytest.mark.parametrize("name", DECLARED)
def test_each_line_of_the_rendered_file_loads_without_its_mark(tmp_path: Path, name: str) -> None:
    text, count = re.subn(f"(?m)^#({name} = )", r"\1", reference.render_toml())
    settings = load(written(tmp_path, text), {}, {})
    one = DECLARED[name]
    value: Any = getattr(getattr(settings, one.section), name)
    assert count == 1
    assert value == (one.about.example if one.default is None else one.default)


def test_the_pages_are_written_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--check"], tmp_path) == 1
    assert "docs/settings.md" in capsys.readouterr().err
    assert reference.main([], tmp_path) == 0
    assert reference.main(["--check"], tmp_path) == 0
