"""Finds the schedule that people write into headings and lists, and leaves alone what it cannot read for certain."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

HEARTBEAT: Final = "every: 30m"
"""How often the systems that read a HEARTBEAT.md look at it unless they are told otherwise."""

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAY = rf"(?P<day>{'|'.join(_DAYS)})s?\b"
_HOUR = r"(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)|\s?(?=am\b|pm\b))\s?(?P<half>am|pm)?\b"
_AT = rf"(?:\s*(?:,|at|@|\()?\s*{_HOUR})"
_FIELD = r"(?:[0-9*/,-]|\b(?:mon|tue|wed|thu|fri|sat|sun)\b)+"
_UNIT = r"(?P<unit>s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)"
_CRON = re.compile(rf"[`\"']\s*(?P<cron>{_FIELD}(?:\s+{_FIELD}){{4}})\s*[`\"']", re.IGNORECASE)
_Made = Callable[[re.Match[str]], str]


def _length(found: re.Match[str]) -> str:
    return f"every: {int(found['count'])}{found['unit'][0].lower()}"


def _daily(days: str) -> _Made:
    def made(found: re.Match[str]) -> str:
        clock = _clock(found)
        return "every: 1d" if clock is None and days == "*" else f'cron: "{clock or "0 0"} * * {days}"'

    return made


def _weekly(found: re.Match[str]) -> str:
    return f'cron: "{_clock(found) or "0 0"} * * {_DAYS.index(found["day"].lower())}"'


def _clock(found: re.Match[str]) -> str | None:
    """Return minute and hour as cron writes them, None where no time of day is named."""
    if found["hour"] is None:
        return None
    hour, half = int(found["hour"]), (found["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return f"{int(found['minute'] or 0)} {hour}"


_RULES: tuple[tuple[str, _Made], ...] = (
    (rf"\b(?:runs? )?every\s+(?P<count>\d{{1,4}})\s?-?{_UNIT}\b", _length),
    (rf"\b(?:(?:every|each)\s+(?:weekday|working day)|weekdays)\b{_AT}?", _daily("1-5")),
    (rf"\b(?:(?:every|each)|weekly\b\W*(?:on)?)\s*{_DAY}{_AT}?", _weekly),
    (rf"\b(?:every\s+(?:day|morning|evening|night)|each\s+day|daily|nightly)\b(?:\s*\(\w+\))?{_AT}?", _daily("*")),
    (r"\b(?:every\s+hour|hourly)\b", lambda _: "every: 1h"),
    (r"\b(?:runs? )?every\s+heartbeat\b", lambda _: HEARTBEAT),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), made) for pattern, made in _RULES)


def schedule_in(text: str) -> tuple[str, str] | None:
    """Return the front matter line for the schedule that a line of text names, and the text without it.

    A schedule stands at the beginning, at the end or in brackets; anywhere else it may be about something else.

    >>> schedule_in("Every 30 minutes: check the queue")
    ('every: 30m', 'check the queue')
    >>> schedule_in("Weekdays at 9:30am, plan the day")
    ('cron: "30 9 * * 1-5"', 'plan the day')
    >>> schedule_in("See whether the daily backup ran")
    """
    if found := _CRON.search(text):
        return f'cron: "{found["cron"]}"', _without(text, found)
    for pattern, made in _PATTERNS:
        if (found := pattern.search(text)) and _is_apart(text, found):
            return made(found), _without(text, found)
    return None


def _is_apart(text: str, found: re.Match[str]) -> bool:
    before, after = text[: found.start()].rstrip(), text[found.end() :].strip(" .)]*_`:!")
    return not after or not before.strip(" *_`#-") or before.endswith(("(", "["))


def _without(text: str, found: re.Match[str]) -> str:
    """Return what is left of a line when its schedule has been taken out."""
    rest = f"{text[: found.start()].rstrip(' ([,-–—:*_')} {text[found.end() :].lstrip(' ]),.;:-–—*_')}"
    return rest.strip(" :–—-")
