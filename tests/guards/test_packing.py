"""Tables as text in a saved memory: what was written comes back, what was not is refused."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.base import Json
from guards.packing import pack, packed, unpack, unpacked


@given(st.binary(max_size=64))
def test_bytes_come_back(data: bytes) -> None:
    """Whatever bytes are packed, the same are unpacked."""
    assert unpack({"table": pack(data)}, "table") == data


@given(st.lists(st.integers(0, 2**16 - 1), max_size=32))
def test_numbers_come_back(numbers: list[int]) -> None:
    """Whatever numbers of a type are packed, the same are unpacked."""
    assert unpacked({"tags": packed(array("H", numbers))}, "tags", "H").tolist() == numbers


def test_numbers_stand_with_their_least_byte_first() -> None:
    """A memory is the same text on every machine."""
    assert packed(array("H", [1, 512])) == pack(b"\x01\x00\x00\x02")


@pytest.mark.parametrize("wrong", [None, 7, ["AAA="], "AA", "AA=A", "é", "A A="])
def test_what_is_no_base64_is_refused(wrong: Json) -> None:
    """A damaged memory fails at load, with the name of the table."""
    with pytest.raises(ValueError, match="'table' should be"):
        unpack({"table": wrong}, "table")


def test_a_piece_of_a_number_is_refused() -> None:
    """Three bytes are no whole numbers of two bytes each."""
    with pytest.raises(ValueError, match="'tags' should hold whole numbers"):
        unpacked({"tags": pack(b"\x01\x02\x03")}, "tags", "H")
