"""One field of a cron line: which numbers its text stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/(\d{1,4}))?", re.IGNORECASE | re.ASCII)

_SUNDAY_AGAIN = 7
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class Field:
    """The name of a field, the numbers that it may hold, and the names that stand for them, the first for `low`."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


FIELDS = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of month", 1, 31),
    Field("month", 1, 12, _MONTHS),
    Field("day of week", 0, _SUNDAY_AGAIN, _WEEKDAYS),
)


def numbers(text: str, field: Field) -> list[int]:
    """Return the numbers that `text` stands for, sorted; 7 is 0 in the day of week.  Raises ValueError."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(
                f"{field.name}: expected numbers, ranges, lists and steps such as 1-5 or */10, not {text!r}"
            )
        star, first, last, step = match.groups()
        low = field.low if star else _number(first, field)
        high = _number(last, field) if last else field.high if star or step else low
        if field.high == _SUNDAY_AGAIN and last and last.lower() == "sun":
            high = _SUNDAY_AGAIN
        if low > high:
            raise ValueError(f"{field.name}: expected a range from low to high, not {part!r}")
        if step and not 1 <= int(step) <= field.high:
            raise ValueError(f"{field.name}: expected a step from 1 to {field.high}, not {part!r}")
        found.update(range(low, high + 1, int(step or 1)))
    if field.high == _SUNDAY_AGAIN:
        found = {number % _SUNDAY_AGAIN for number in found}
    return sorted(found)


def _number(word: str, field: Field) -> int:
    if word.lower() in field.names:
        return field.names.index(word.lower()) + field.low
    if word.isdigit() and field.low <= int(word) <= field.high:
        return int(word)
    names = f" or {field.names[0]}-{field.names[-1]}" if field.names else ""
    raise ValueError(f"{field.name}: expected {field.low}-{field.high}{names}, not {word!r}")
