"""How a name in a file becomes a class: a dictionary of strings, imported when it is first asked for.

So a missing library breaks the one thing that needs it and nothing else, and no import crosses the picture.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from daemon.errors import ConfigError


def load(kind: str, registry: Mapping[str, str], name: str, *, file: object = "trimtab.toml") -> Any:
    """Return what `registry` calls `name`, or what a dotted "module:Class" of the user's own names.

    Raises ConfigError with the choices, or with the library that is missing.
    """
    target = registry.get(name, name if ":" in name else None)
    if target is None:
        raise ConfigError(
            file, kind, f"{name!r} is not one of {', '.join(sorted(registry))} (or your own module:Class)"
        )
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as missing:
        raise ConfigError(
            file, kind, f"{name!r} needs the Python package {missing.name!r}, not installed here"
        ) from missing
    except AttributeError:
        raise ConfigError(file, kind, f"{target!r}: the module has no {attribute!r}") from None
