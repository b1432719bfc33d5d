"""Bytes and numbers as text for JSON: what a saved memory holds of tables that would be long as lists.

The numbers stand with their least byte first, so that a memory may go on on another machine.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping

from guards.base import Json

_LITTLE = array("H", [1]).tobytes()[0] == 1


def pack(data: bytes | bytearray) -> str:
    """Return bytes as text for JSON."""
    return b64encode(data).decode("ascii")


def unpack(state: Mapping[str, Json], key: str) -> bytes:
    """Return the bytes that `pack` wrote; raises ValueError on anything else."""
    value = state.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key!r} should be a text")
    try:
        return b64decode(value, validate=True)
    except (Error, ValueError) as problem:
        raise ValueError(f"{key!r} should be base64") from problem


def packed(numbers: array[int]) -> str:
    """Return numbers as text for JSON.

    >>> unpacked({"tags": packed(array("H", [1, 512]))}, "tags", "H").tolist()
    [1, 512]
    """
    return pack(_turned(numbers).tobytes())


def unpacked(state: Mapping[str, Json], key: str, code: str) -> array[int]:
    """Return the numbers of this type that `packed` wrote; raises ValueError on anything else."""
    data, found = unpack(state, key), array(code)
    if len(data) % found.itemsize:
        raise ValueError(f"{key!r} should hold whole numbers")
    found.frombytes(data)
    return _turned(found)


def _turned(numbers: array[int]) -> array[int]:
    """Return the numbers with their bytes turned to or from the order that the memory has on every machine."""
    if _LITTLE:
        return numbers
    turned = numbers[:]
    turned.byteswap()
    return turned
