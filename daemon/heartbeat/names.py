"""Whether the models and tools that a heartbeat names are there.

What there is, is told by whoever reads the files; `None` is for who does not know, and checks nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from daemon.errors import ConfigError
from daemon.heartbeat import fields
from daemon.types import Heartbeat


def check(file: str, heartbeat: Heartbeat, models: Collection[str] | None, tools: Collection[str] | None) -> None:
    """Raise a ConfigError for the first name that is not there.

    A tool with a colon in its name is the user's own and not looked up.  `expect` names a tool of `tools:`, or one of
    its actions (`vault.append`): what is not offered can never have succeeded.
    """
    if models is not None:
        for name in heartbeat.models:
            _one_of(file, "model", name, models)
    if tools is None:
        return
    for name in heartbeat.tools:
        if ":" not in name:
            _one_of(file, "tools", name, tools)
    for name in heartbeat.expect:
        tool, dot, action = name.rpartition(".")
        if not (dot and action and tool in heartbeat.tools):
            _one_of(file, "expect", name, heartbeat.tools)
    for name in heartbeat.facts:
        _one_of(file, "facts", name, heartbeat.tools)


def _one_of(file: str, key: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        choices = f"one of {', '.join(sorted(known))}" if known else "nothing, because `tools:` names none"
        raise ConfigError(file, key, f"expected {choices}, not {fields.shown(name)}{fields.near(name, known)}")
