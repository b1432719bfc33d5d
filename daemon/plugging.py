"""What trimtab.toml names becomes objects: guards with their options, tools and models with theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from daemon.errors import ConfigError
from daemon.home import Home
from daemon.models import MODELS
from daemon.registry import load
from daemon.settings import FILE, Settings, validated
from daemon.stages import Model
from daemon.tools import TOOLS
from daemon.tools.toolbox import Tool
from guards import GUARDS, Panel
from guards.panel import guard_class
from guards.written import WHOLE, arguments

WRITTEN = "written"
"""The table of [guards] that is of no guard: which arguments of tools hold text that the guards should read."""


def panel(
    settings: Settings,
    extra: Mapping[str, Mapping[str, Any]],
    acknowledged: Sequence[str] = (),
    written: Mapping[str, tuple[str, ...]] | None = None,
) -> Panel:
    """Return the guards with their options from the file and those of one heartbeat.  Raises ConfigError."""
    options, off = _guard_tables(settings)
    for name, more in extra.items():
        options[name] = {**more, **options.get(name, {})}
    try:
        return Panel.standard(options, acknowledged, settings.breaker.caution, off, written)
    except (ValueError, TypeError) as wrong:
        raise ConfigError(FILE, "guards", str(wrong)) from None


def _guard_tables(settings: Settings) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """Return the options of each guard, which it has looked at, and the guards that are off.  Raises ConfigError."""
    options = {name: dict(table) for name, table in settings.guards.items() if name != WRITTEN}
    off = set()
    for name, table in options.items():
        if name not in GUARDS:
            raise ConfigError(FILE, f"guards.{name}", f"expected a guard, one of {', '.join(GUARDS)}; or `{WRITTEN}`")
        enabled = table.pop("enabled", True)
        if not isinstance(enabled, bool):
            raise ConfigError(FILE, f"guards.{name}.enabled", f"expected true or false, not {str(enabled)[:40]!r}")
        try:
            guard_class(name)(**table)
        except (ValueError, TypeError) as wrong:
            raise ConfigError(FILE, f"guards.{name}", str(wrong)) from None
        if not enabled:
            off.add(name)
    return options, off


def checked(settings: Settings) -> dict[str, Tool]:
    """Return every tool there is, after all that the file says of tools, of guards and of the judge was found sound.

    A start and `trimtab doctor` ask it.  Raises ConfigError.
    """
    if settings.judge.model is not None and settings.judge.model not in settings.models:
        raise ConfigError(FILE, "judge.model", f"expected one of {', '.join(settings.models)}")
    tools = tools_of(settings)
    panel(settings, {}, written=written_by(tools, settings))
    known = sorted(tool.name for tool in tools.values())
    for guard, option in (("expect", "tools"), ("facts", "sources")):
        for name in settings.guards.get(guard, {}).get(option, ()):
            if name.split(".")[0] not in known:
                expected = f"expected a tool, one of {', '.join(known)}, not {name[:40]!r}"
                raise ConfigError(FILE, f"guards.{guard}.{option}", expected)
    return tools


def unread(tools: Mapping[str, Tool], settings: Settings) -> list[str]:
    """Return a line for each name in [guards.written] that no call can have, so that nothing is read under it.

    Such an action or argument is no error, because the schema of a tool of the user's own may change under a file that
    was right; but it stands in the place of what the tool says of itself under that name.
    """
    lines = []
    for name, given in _flat(settings.guards.get(WRITTEN, {})):
        plain, _, action = name.partition(".")
        tool = next(tool for tool in tools.values() if tool.name == plain)
        absent = _absent(tool.spec().parameters.get("properties", {}), action, arguments(given))
        lines += [f"{FILE}: guards.{WRITTEN}.{name}: {plain} has no {what}" for what in absent]
    return lines


def _absent(fields: Mapping[str, Any], action: str, listed: Sequence[str]) -> Iterator[str]:
    """Yield what a schema with these fields does not have, and what it has."""
    actions = fields.get("action", {}).get("enum", ())
    if action and action not in actions:
        yield f"action {action[:40]!r}; it has {', '.join(actions) or 'none'}"
    for argument in (name.removesuffix(WHOLE) for name in listed):
        if argument not in fields:
            yield f"argument {argument[:40]!r}; it has {', '.join(fields) or 'none'}"


def written_by(tools: Mapping[str, Tool], settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return which arguments hold text for a person: what tools say of themselves, then what the file says of them.

    A list without names takes a tool out.  Raises ConfigError.
    """
    found = {name: listed for tool in tools.values() for name, listed in tool.written.items()}
    known = sorted(tool.name for tool in tools.values())
    for name, given in _flat(settings.guards.get(WRITTEN, {})):
        if name.split(".")[0] not in known:
            raise ConfigError(FILE, f"guards.{WRITTEN}.{name}", f"expected a tool, one of {', '.join(known)}")
        try:
            listed = arguments(given)
        except ValueError as wrong:
            raise ConfigError(FILE, f"guards.{WRITTEN}.{name}", str(wrong)) from None
        found = {other: held for other, held in found.items() if listed or not f"{other}.".startswith(f"{name}.")}
        found |= {name: listed} if listed else {}
    return found


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the entries; `vault.append = ...` is a table in TOML."""
    for name, given in table.items():
        if isinstance(given, Mapping):
            yield from ((f"{name}.{action}", inner) for action, inner in given.items())
        else:
            yield name, given


def tools_of(settings: Settings) -> dict[str, Tool]:
    """Return every tool there is, with its options.  Raises ConfigError."""
    names = [*TOOLS, *(name for name in settings.tools if name not in TOOLS)]
    return {name: plugged(TOOLS, "tools", name, name, settings.tools.get(name, {}))() for name in names}


def plugged(registry: Mapping[str, str], kind: str, name: str, backend: str, table: Mapping[str, Any]) -> Any:
    """Return a maker of something pluggable: its class with its validated options.  Raises ConfigError."""
    made = load(f"{kind}.{name}", registry, backend)
    return partial(made, validated(made.Options, table, FILE, f"{kind}.{name}")) if hasattr(made, "Options") else made


def model_of(home: Home, name: str, table: Mapping[str, Any]) -> Model:
    """Return the model that a table of [models] describes.  Raises ConfigError."""
    rest = dict(table)
    backend = rest.pop("backend", None)
    if not isinstance(backend, str):
        raise ConfigError(home.settings, f"models.{name}.backend", f"expected one of {', '.join(MODELS)}")
    made = load(f"models.{name}.backend", MODELS, backend, file=home.settings)
    model: Model = made(name, validated(made.Options, rest, home.settings, f"models.{name}"), home.path)
    return model
