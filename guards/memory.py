"""Reading a guard's saved memory: every value is checked, so that a damaged state fails at load and never later.

All functions raise ValueError on anything that the guard itself would not have written.
"""

from __future__ import annotations

from collections.abc import Mapping

from guards.base import Json

WIDEST = 2**64
LARGEST = 1e15
HASHES = hash((1, 2, 3, 4)) & 0xFFFFFFFF
"""How this Python hashes numbers: the same in every process, so that a memory may hold such hashes."""


def check_version(state: Mapping[str, Json], version: int) -> None:
    """Refuse a state that another version of the guard wrote."""
    found = state.get("version")
    if isinstance(found, bool) or found != version:
        raise ValueError(f"version {str(found)[:20]!r} where {version} was expected")


def check_hashes(state: Mapping[str, Json]) -> None:
    """Refuse a state with hashes that this Python would not make."""
    if integer(state, "hashes", 2**32 - 1) != HASHES:
        raise ValueError("'hashes' should be of a Python that hashes numbers as this one does")


def integer(state: Mapping[str, Json], key: str, high: int = WIDEST) -> int:
    """Return a whole number from 0 to `high`."""
    value = state.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
        raise ValueError(f"{key!r} should be a whole number from 0 to {high}")
    return value


def number(state: Mapping[str, Json], key: str) -> float:
    """Return a finite number."""
    value = state.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{key!r} should be a finite number")
    return float(value)


def integers(state: Mapping[str, Json], key: str, most: int, high: int = WIDEST) -> list[int]:
    """Return a list of at most `most` whole numbers from 0 to `high`."""
    value = state.get(key)
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"{key!r} should be a list of at most {most} numbers")
    found = [item for item in value if type(item) is int]
    if len(found) != len(value) or (found and (min(found) < 0 or max(found) > high)):
        raise ValueError(f"{key!r} should hold whole numbers from 0 to {high}")
    return found


def numbers(state: Mapping[str, Json], key: str, most: int) -> list[float]:
    """Return a list of at most `most` finite numbers."""
    value = state.get(key)
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"{key!r} should be a list of at most {most} numbers")
    found = [item for item in value if type(item) is int or type(item) is float]
    if len(found) != len(value) or not all(-LARGEST <= item <= LARGEST for item in found):
        raise ValueError(f"{key!r} should hold finite numbers")
    return list(map(float, found))


def shares(state: Mapping[str, Json], key: str, most: int) -> list[float]:
    """Return a list of at most `most` numbers from 0 to 1."""
    found = numbers(state, key, most)
    if not all(0.0 <= value <= 1.0 for value in found):
        raise ValueError(f"{key!r} should hold numbers from 0 to 1")
    return found


def nested(state: Mapping[str, Json], key: str) -> dict[str, Json]:
    """Return an object."""
    value = state.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key!r} should be an object")
    return value
