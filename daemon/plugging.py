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
from guards import Panel
from guards.written import arguments

WRITTEN = "written"
"""The table of [guards] that is of no guard: which arguments of tools hold text that the guards should read."""


def panel(
    settings: Settings,
    extra: Mapping[str, Mapping[str, Any]],
    acknowledged: Sequence[str] = (),
    written: Mapping[str, tuple[str, ...]] | None = None,
) -> Panel:
    """Return the guards with their options from the file and those of one heartbeat.  Raises ConfigError."""
    options = {name: dict(table) for name, table in settings.guards.items() if name != WRITTEN}
    off = {name for name, table in options.items() if table.pop("enabled", True) is False}
    for name, more in extra.items():
        options[name] = {**more, **options.get(name, {})}
    try:
        return Panel.standard(options, acknowledged, settings.breaker.caution, off, written)
    except (ValueError, TypeError) as wrong:
        raise ConfigError(FILE, "guards", str(wrong)) from None


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
