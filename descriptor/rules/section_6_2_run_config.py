"""Chapter 6.2, run configs: the settings a job may set, and the values each of them takes.

A setting is a preference or a rule. A rule whose default is a number is a ceiling: the default is the highest value.
Otherwise `allowed` lists the values; without a list, a value has the default's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from descriptor.canonical import canonical
from descriptor.digests import digest_of, is_digest
from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import SETTING_KINDS

_Setting = dict[str, JsonValue]

# What names a credential, a key, an address or an account: a whole word of the name, or its last words.
_SECRET_WORDS = frozenset(
    {
        *("password", "passwd", "passphrase", "secret", "credential", "credentials", "apikey", "token", "bearer"),
        *("endpoint", "url", "uri", "hostname", "email", "phone", "iban", "username", "login", "pin"),
    }
)
_SECRET_PAIRS = re.compile(
    r"(?:api|access|private|secret|signing|encryption|client|service|ssh|auth)_(?:key|token|secret|id)$"
    r"|(?:account|tenant|customer|user|subscription|project|organization|workspace)_(?:id|number|name|key)$"
    r"|(?:ip|mail|email|mac|server|host|web|network|postal|wallet)_address$"
    r"|^(?:address|key|host|account|auth)$|_(?:host|port)$|connection_string$"
)
_WORD = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


def _run_config(document: Document) -> dict[str, JsonValue]:
    value = document.get("run_config")
    return value if isinstance(value, dict) else {}


def _settings(document: Document) -> Iterator[tuple[forms.Path, _Setting]]:
    for index, setting in objects(_run_config(document).get("settings")):
        yield ("run_config", "settings", index), setting


def _declared(document: Document) -> dict[str, _Setting]:
    """The settings by name; of two that share one, the first."""
    declared: dict[str, _Setting] = {}
    for _, setting in _settings(document):
        if isinstance(name := setting.get("name"), str):
            declared.setdefault(name, setting)
    return declared


def _form(document: Document) -> Iterator[Problem]:
    yield from forms.mapping(document, "run_config", ())
    run_config = _run_config(document)
    if not run_config:
        return
    yield from forms.list_of_objects(run_config, "settings", ("run_config",), required=True)
    for path, setting in _settings(document):
        yield from forms.text(setting, "name", path, required=True)
        yield from forms.word(setting, "kind", path, SETTING_KINDS, required=True)
        yield from forms.missing(setting, "default", path, "Nothing says what holds when nobody sets it.")
        if isinstance(setting.get("default"), dict | list | None) and "default" in setting:
            shown = described(setting["default"])
            yield pointer_to(*path, "default"), f"`default` is {shown}; it has to be a text, a number, true or false."
        yield from forms.flag(setting, "job_may_set", path)
    yield from forms.flag(run_config, "replay", ("run_config",))


def _names(document: Document) -> Iterator[Problem]:
    for list_name in ("settings", "named"):
        seen = set()
        for index, entry in objects(_run_config(document).get(list_name)):
            name = entry.get("name")
            if isinstance(name, str):
                if name in seen:
                    yield pointer_to("run_config", list_name, index, "name"), f"{described(name)} stands here twice."
                seen.add(name)


def _allowed(document: Document) -> Iterator[Problem]:
    for path, setting in _settings(document):
        default, allowed = setting.get("default"), setting.get("allowed")
        where = pointer_to(*path, "allowed")
        if setting.get("kind") == "rule" and isinstance(default, str) and "allowed" not in setting:
            yield where, "A rule whose values are words lists the ones that are allowed, and this one has no `allowed`."
        yield from forms.items(setting, "allowed", path)
        if not isinstance(allowed, list) or not _is_value(default):
            continue
        seen = set()
        for index, value in enumerate(allowed):
            if not _alike(value, default):
                yield (
                    pointer_to(*path, "allowed", index),
                    f"{_shown(value)} is no value of the type of the default, {_shown(default)}.",
                )
            elif value in seen:
                yield pointer_to(*path, "allowed", index), f"{_shown(value)} is allowed twice."
            else:
                seen.add(value)
        if default not in seen:
            yield pointer_to(*path, "default"), f"The default, {_shown(default)}, is not among the values `allowed`."


def _secrets(document: Document) -> Iterator[Problem]:
    for path, setting in _settings(document):
        name = setting.get("name")
        if isinstance(name, str) and names_a_secret(name):
            yield (
                pointer_to(*path, "name"),
                f"The setting {described(name)} is by its name a credential, a key, an address or an account.",
            )


def names_a_secret(name: str) -> bool:
    """Whether a name says that what it names is a credential, a key, an address or an account identifier.

    >>> names_a_secret("api_key"), names_a_secret("max_tokens"), names_a_secret("tone_of_address")
    (True, False, False)
    """
    words = [word.lower() for word in _WORD.split(name) if word]
    return not _SECRET_WORDS.isdisjoint(words) or _SECRET_PAIRS.search("_".join(words)) is not None


def _tested_models(document: Document) -> Iterator[Problem]:
    yield from forms.list_of_texts(_run_config(document), "tested_models", ("run_config",), unique=True)


def _tested_allowed(document: Document) -> Iterator[Problem]:
    tested = _run_config(document).get("tested_models")
    model = _declared(document).get("model")
    if not isinstance(tested, list) or not tested:
        return
    if model is None:
        yield pointer_to("run_config", "tested_models"), "Models were tested, and no setting named model sets one."
        return
    allowed = values_allowed(model)
    for index, name in enumerate(tested):
        if isinstance(name, str) and allowed is not None and name not in allowed:
            yield (
                pointer_to("run_config", "tested_models", index),
                f"{described(name)} was tested, and the model setting does not allow it.",
            )


def _named(document: Document) -> Iterator[Problem]:
    run_config = _run_config(document)
    yield from forms.list_of_objects(run_config, "named", ("run_config",))
    for index, entry in objects(run_config.get("named")):
        path: forms.Path = ("run_config", "named", index)
        yield from forms.text(entry, "name", path, required=True)
        yield from forms.mapping(entry, "settings", path, required=True)
        digest = entry.get("digest")
        if "digest" not in entry:
            yield pointer_to(*path, "digest"), "`digest` is missing."
        elif not isinstance(digest, str) or not is_digest(digest):
            yield (
                pointer_to(*path, "digest"),
                f"`digest` is {described(digest)}; it is sha256: and 64 lowercase digits.",
            )


def _named_settings(document: Document) -> Iterator[Problem]:
    declared = {name: (setting, values_allowed(setting)) for name, setting in _declared(document).items()}
    for index, entry in objects(_run_config(document).get("named")):
        given = entry.get("settings")
        for name, value in given.items() if isinstance(given, dict) else ():
            where = pointer_to("run_config", "named", index, "settings", name)
            if name not in declared:
                yield where, f"No setting named {described(name)} is declared in this block."
            elif problem := value_problem(*declared[name], value):
                yield where, problem


def values_allowed(setting: _Setting) -> Set[JsonValue] | None:
    """The values a declared setting lists in `allowed`; `None` when it lists none, and the default's type rules."""
    allowed = setting.get("allowed")
    return {value for value in allowed if _is_value(value)} if isinstance(allowed, list) else None


def value_problem(setting: _Setting, allowed: Set[JsonValue] | None, value: JsonValue) -> str | None:
    """Why `value` may not be given to a declared setting, in a sentence; `None` when it may, or nobody can tell.

    `allowed` is `values_allowed(setting)`. Source: chapter 6.2, run configs.
    """
    default = setting.get("default")
    if not _is_value(default):
        return None
    if not _alike(value, default):
        return f"{_shown(value)} is no value of the type of the setting's default, {_shown(default)}."
    if allowed is not None and value not in allowed:
        return f"{_shown(value)} is not among the values the setting allows."
    if setting.get("kind") == "rule" and _is_number(default):
        assert isinstance(value, int | float)
        assert isinstance(default, int | float)
        return None if value <= default else f"{value} is over the setting's ceiling, {default}."
    return None


def _named_digest(document: Document) -> Iterator[Problem]:
    for index, entry in objects(_run_config(document).get("named")):
        digest = entry.get("digest")
        if not isinstance(digest, str) or not is_digest(digest):
            continue
        try:
            form = canonical({name: value for name, value in entry.items() if name != "digest"})
        except DescriptorError:
            continue  # what has no canonical form is told by the rules about numbers
        if digest_of(form) != digest:
            yield (
                pointer_to("run_config", "named", index, "digest"),
                f"The digest is of something else: over the entry without it, it is {digest_of(form)}.",
            )


def _is_value(value: JsonValue) -> bool:
    return isinstance(value, str | int | float)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alike(value: JsonValue, default: JsonValue) -> bool:
    """Whether both are texts, or numbers, or true or false."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    return (isinstance(default, str) and isinstance(value, str)) or (_is_number(default) and _is_number(value))


def _shown(value: JsonValue) -> str:
    return str(value) if _is_number(value) else described(value)


RULES = (
    Rule(
        "D6.2-run_config",
        "6.2",
        Severity.ERROR,
        "`run_config` lists the `settings` a job may set, each with a `name`, a `kind` (preference or rule), a "
        "`default` "
        "and `job_may_set`.",
        'Write each as {"name": "language", "kind": "preference", "default": "English", "job_may_set": true}.',
        _form,
    ),
    Rule(
        "D6.2-run_config-name",
        "6.2",
        Severity.ERROR,
        "A setting, and a named run config, has a name of its own in the block.",
        "Give each another name.",
        _names,
    ),
    Rule(
        "D6.2-setting-allowed",
        "6.2",
        Severity.ERROR,
        "A rule whose values are words lists them in `allowed`; the list holds values of the default's type, the "
        "default "
        "among them.",
        'Write "allowed": ["…", "…"] with the default in it. A number or true and false need no list.',
        _allowed,
    ),
    Rule(
        "D6.2-setting-secret",
        "6.2",
        Severity.ERROR,
        "A setting is a choice made for each job, so it is no credential, key, address or account identifier.",
        "Take the setting out: what an installation binds is set where the agent is installed.",
        _secrets,
    ),
    Rule(
        "D6.2-tested_models",
        "6.2",
        Severity.ERROR,
        "`tested_models` lists the models that the author has tested the agent with.",
        "List each model once, as text.",
        _tested_models,
    ),
    Rule(
        "D6.2-tested_models-allowed",
        "6.2",
        Severity.WARNING,
        "The models that were tested are a subset of the ones the model setting allows.",
        "Add the model to the model setting's `allowed`, or take it out of `tested_models`.",
        _tested_allowed,
    ),
    Rule(
        "D6.2-named",
        "6.2",
        Severity.ERROR,
        "A named run config has a `name`, `settings` and a `digest`.",
        'Write {"name": "…", "settings": {"language": "French"}, "digest": "sha256:…"}.',
        _named,
    ),
    Rule(
        "D6.2-named-settings",
        "6.2",
        Severity.ERROR,
        "A named run config gives values to declared settings only, each among those allowed or under the ceiling.",
        "Declare the setting, or give it a value that it takes.",
        _named_settings,
    ),
    Rule(
        "D6.2-named-digest",
        "6.2",
        Severity.WARNING,
        "The digest of a named run config is over the entry without it: SHA-256 of its canonical form (JCS).",
        "Write the digest that the message gives.",
        _named_digest,
    ),
)
