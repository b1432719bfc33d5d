"""How the text of each key becomes a value: pure functions that raise ValueError with what they expected.

Which keys there are, and what they mean together, is the matter of `file`.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from datetime import time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from daemon.heartbeat.front import Value
from daemon.types import Budget

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_DURATION = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,8})s)?", re.ASCII)
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*(?:([01]?\d|2[0-3]):([0-5]\d)|24:00)", re.ASCII)
_LONGEST = timedelta(days=3660)
_LONGEST_TEXT = 200


def shown(value: Value) -> str:
    """Return `value` short enough for an error line."""
    text = repr(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def near(wrong: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" or nothing."""
    found = difflib.get_close_matches(wrong, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def text(value: Value, expected: str) -> str:
    """Return a single text.  Raises ValueError with `expected` for lists, mappings and nothing."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected {expected}, not {shown(value) if value else 'nothing'}")
    return value.strip()


def duration(value: Value) -> timedelta:
    """Read 30s, 5m, 2h, 1d or 1h30m; 0s is a duration too."""
    expected = "a duration such as 30s, 5m, 2h, 1d or 1h30m"
    found = _DURATION.fullmatch(text(value, expected))
    if found is None:
        raise ValueError(f"expected {expected}, not {shown(value)}")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if length > _LONGEST:
        raise ValueError(f"expected {expected} and at most {_LONGEST.days}d, not {shown(value)}")
    return length


def zone(value: Value) -> ZoneInfo:
    """Read the IANA name of a time zone."""
    expected = "an IANA time zone such as Europe/Berlin"
    name = text(value, expected)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = near(name, available_timezones())
        raise ValueError(f"expected {expected}, not {shown(name)}{hint}") from None


def hours(value: Value) -> tuple[time, time]:
    """Read HH:MM-HH:MM; the second may be earlier (the night) or 24:00."""
    expected = "HH:MM-HH:MM such as 08:00-22:00"
    found = _HOURS.fullmatch(text(value, expected))
    if found is None:
        raise ValueError(f"expected {expected}, not {shown(value)}")
    first, second = (time(int(hour or 0), int(minute or 0)) for hour, minute in (found.group(1, 2), found.group(3, 4)))
    if first == second:
        raise ValueError(f"expected {expected}, with two times that differ, not {shown(value)}")
    return first, second


def one_of(*choices: str) -> Callable[[Value], str]:
    """Return a reader that takes one of these words."""

    def read(value: Value) -> str:
        expected = f"one of {', '.join(choices)}"
        word = text(value, expected)
        if word not in choices:
            raise ValueError(f"expected {expected}, not {shown(word)}{near(word, choices)}")
        return word

    return read


def flag(value: Value) -> bool:
    """Read true or false."""
    word = text(value, "true or false").lower()
    if word not in ("true", "false", "yes", "no"):
        raise ValueError(f"expected true or false, not {shown(value)}")
    return word in ("true", "yes")


def thread(value: Value) -> str | None:
    """Read the name of a thread; `none` is a fresh context each time."""
    expected = "the name of a thread (a-z, 0-9 and -) or none"
    name = text(value, expected)
    if name == "none":
        return None
    if not NAME.fullmatch(name):
        raise ValueError(f"expected {expected}, not {shown(name)}")
    return name


def words(value: Value) -> tuple[str, ...]:
    """Read a list of names; a single name is a list of one."""
    expected = "a name or a list of names such as [local, frontier]"
    items = value if isinstance(value, list) else [text(value, expected)]
    names = []
    for item in items:
        name = text(item, expected)
        if not name.isprintable() or any(character.isspace() or character in ",[]{}" for character in name):
            raise ValueError(f"expected {expected}, not {shown(value)}")
        if name in names:
            raise ValueError(f"expected each name once, not {shown(name)} twice")
        names.append(name)
    return tuple(names)


def texts(value: Value) -> tuple[str, ...]:
    """Read a list of short texts; a single text is a list of one."""
    expected = f"a text of at most {_LONGEST_TEXT} characters, or a list of them, such as [HEARTBEAT_OK]"
    items = [text(item, expected) for item in (value if isinstance(value, list) else [value])]
    for item in items:
        if len(item) > _LONGEST_TEXT:
            raise ValueError(f"expected {expected}, not {shown(item)}")
    return tuple(items)


def budget(value: Value) -> Budget:
    """Read {usd, tokens, steps, seconds}: a number each, or `none` for no limit; what is left out has its default."""
    expected = "{usd: 0.05, tokens: 20000, steps: 12, seconds: 600}"
    if not isinstance(value, dict):
        raise ValueError(f"expected {expected}, not {shown(value)}")
    kinds: dict[str, Callable[[str], int | float]] = {"usd": float, "tokens": int, "steps": int, "seconds": float}
    limits: dict[str, int | float | None] = {}
    for key, limit in value.items():
        if key not in kinds:
            raise ValueError(f"{shown(key)} is not a limit; expected {expected}{near(key, kinds)}")
        limits[key] = _limit(key, text(limit, f"a number or none for {key}"), kinds[key])
    return Budget(**limits)  # type: ignore[arg-type]  # each limit was read with its own kind


def _limit(key: str, word: str, kind: Callable[[str], int | float]) -> int | float | None:
    if word == "none":
        return None
    try:
        number = kind(word)
    except ValueError:
        number = math.nan
    least = 0 if key == "usd" else 1
    if not (math.isfinite(number) and number >= least):
        raise ValueError(
            f"{key}: expected a{' whole' if kind is int else ''} number from {least} on, or none, not {shown(word)}"
        )
    return number
