"""How values lie in a column: token ids, log-probabilities, times, JSON and text from outside.

Knows no tables.  Numbers that JSON does not have (NaN, infinity) become null, and half a surrogate pair becomes U+FFFD,
because neither can be stored and read back everywhere.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

_SWAP = sys.byteorder == "big"
_TOO_LARGE = 3.4028235677973366e38  # from here on a float32 rounds to infinity


def pack_ids(ids: Iterable[int]) -> bytes:
    """Return token ids as little-endian uint32; ValueError for an id that is none."""
    try:
        packed = array("I", ids)
    except (OverflowError, TypeError) as wrong:
        raise ValueError(f"not a token id: {wrong}") from None
    return _bytes(packed)


def unpack_ids(packed: bytes) -> tuple[int, ...]:
    """Return the ids that `pack_ids` packed."""
    return tuple(_array("I", packed))


def pack_logprobs(logprobs: Iterable[float]) -> bytes:
    """Return log-probabilities as little-endian float32; what is not finite becomes NaN, which reads as unknown."""
    packed = array("f", (x if abs(x) < _TOO_LARGE else math.nan for x in logprobs))
    return _bytes(packed)


def unpack_logprobs(packed: bytes) -> tuple[float, ...]:
    """Return each float32 as the shortest number that packs to the same float32, so that JSON stays short."""
    return tuple(map(_shortest, _array("f", packed)))


def stamp(moment: datetime) -> str:
    """Return an aware time as text in UTC that sorts as it reads; ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(f"a time without a zone: {moment}")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def moment(stamped: str) -> datetime:
    """Return the aware time in UTC that `stamp` wrote."""
    return datetime.fromisoformat(stamped)


def to_json(value: object) -> str:
    """Return compact JSON; pure ASCII, so that any text survives in it."""
    try:
        return _compact(value)
    except ValueError:
        return _compact(_finite(value))


def clean(text: str) -> str:
    """Return text that can be stored: half a surrogate pair, which UTF-8 cannot hold, is replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def finite(number: float) -> float:
    """Return a number that a NOT NULL column and JSON can hold."""
    return number if math.isfinite(number) else math.copysign(1e9, number) if math.isinf(number) else 0.0


def digest(*parts: str | bytes | bool | None) -> bytes:
    """Return 128 bits that stand for these parts in this order."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else None if part is None else str(part).encode()
        made.update(b"-" if data is None else b"%d:" % len(data))
        made.update(data or b"")
    return made.digest()


def _shortest(x: float) -> float:
    for digits in (6, 7, 8):
        short = float(f"{x:.{digits}g}")
        if array("f", (short,))[0] == x:
            return short
    return float(f"{x:.9g}")


def _bytes(packed: array[Any]) -> bytes:
    if _SWAP:
        packed.byteswap()
    return packed.tobytes()


def _array(kind: str, packed: bytes) -> array[Any]:
    found: array[Any] = array(kind)
    found.frombytes(packed)
    if _SWAP:
        found.byteswap()
    return found


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} does not fit into JSON")


_compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain).encode


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(inner) for inner in value]
    return value
