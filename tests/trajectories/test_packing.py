"""Packed values come back as they went in."""

from __future__ import annotations

import json
import math
import struct
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some

from daemon.trajectories import packing
from daemon.trajectories.prompt_ids import DEPTH, Link, Tail, link, restored

IDS = some.lists(some.integers(0, 2**32 - 1))
FEW = some.lists(some.integers(0, 3), max_size=6)
LEAVES = some.floats() | some.text() | some.none()
JSON = some.recursive(LEAVES, lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner))


@given(IDS)
def test_token_ids_come_back(ids: list[int]) -> None:
    """Any list of ids survives, in four bytes each, lowest byte first."""
    packed = packing.pack_ids(ids)

    assert b"".join(struct.pack("<I", n) for n in ids) == packed
    assert tuple(ids) == packing.unpack_ids(packed)


@pytest.mark.parametrize("wrong", [-1, 2**32, 1.5])
def test_what_is_no_token_id_is_refused(wrong: object) -> None:
    """An id that does not fit raises instead of turning into another one."""
    with pytest.raises(ValueError, match="not a token id"):
        packing.pack_ids([wrong])  # type: ignore[list-item]


@given(some.lists(some.floats(width=32, allow_infinity=False, allow_nan=False)))
def test_logprobs_come_back_to_the_bit_of_a_float32(logprobs: list[float]) -> None:
    """What was a float32 before is the same float32 after, also through JSON."""
    packed = packing.pack_logprobs(logprobs)
    through_json = json.loads(json.dumps(packing.unpack_logprobs(packed)))

    assert b"".join(struct.pack("<f", x) for x in logprobs) == packed
    assert packed == packing.pack_logprobs(through_json)


def test_a_logprob_is_written_with_no_more_digits_than_it_has() -> None:
    """The float32 nearest to -0.000285 reads as -0.000285, not as -0.000284999987."""
    read = packing.unpack_logprobs(packing.pack_logprobs([-0.000285, -1.25, -0.1, -0.100000001]))

    assert "(-0.000285, -1.25, -0.1, -0.1)" == str(read)


@given(some.lists(some.floats(), max_size=5))
def test_a_logprob_that_is_no_number_reads_as_unknown(logprobs: list[float]) -> None:
    """Infinity and NaN become NaN, and nothing raises."""
    for before, after in zip(logprobs, packing.unpack_logprobs(packing.pack_logprobs(logprobs)), strict=True):
        assert math.isnan(after) or math.isclose(before, after, rel_tol=1e-6, abs_tol=1e-37)


@given(some.datetimes(timezones=some.sampled_from([UTC, timezone(timedelta(hours=-7, minutes=-30))])))
def test_times_come_back(moment: datetime) -> None:
    """A moment survives to the microsecond."""
    if datetime(2, 1, 1, tzinfo=UTC) < moment < datetime(9999, 1, 1, tzinfo=UTC):
        assert moment == packing.moment(packing.stamp(moment))


def test_times_sort_as_they_read() -> None:
    """Stamps have one width, so that the database can compare them as text."""
    second = datetime(2026, 12, 1, 9, tzinfo=UTC)
    stamps = [packing.stamp(second + timedelta(microseconds=n)) for n in (0, 1, 999_999, 1_000_000)]

    assert sorted(stamps) == stamps
    assert {27} == {len(stamp) for stamp in stamps}


def test_a_time_without_a_zone_is_refused() -> None:
    """Nobody can say when a naive time was."""
    with pytest.raises(ValueError, match="without a zone"):
        packing.stamp(datetime(2026, 12, 1))  # noqa: DTZ001


@given(some.text())
def test_cleaned_text_can_be_stored(text: str) -> None:
    """Whatever text comes, what is stored is UTF-8, and text that already was is not touched."""
    cleaned = packing.clean(text)

    cleaned.encode()
    assert cleaned == text or any("\ud800" <= c <= "\udfff" for c in text)


@given(JSON)
def test_json_is_always_strict(value: object) -> None:
    """NaN and infinity, which JSON does not have, become null; everything else stays."""
    read = json.loads(packing.to_json(value), parse_constant=lambda name: pytest.fail(name))

    assert read == value or any(word in repr(value) for word in ("nan", "inf"))


@given(
    some.lists(some.tuples(some.lists(some.integers(0, 3), max_size=6), some.lists(some.integers(0, 3), max_size=3)))
)
def test_a_chain_of_prompts_comes_back(steps: list[tuple[list[int], list[int]]]) -> None:
    """Whatever prompts follow each other in a thread, each is put together again exactly, and no chain is long."""
    links: dict[int, Link] = {}
    tail: Tail | None = None
    for number, (prompt, said) in enumerate(steps * 3):
        made, ids = link(tuple(prompt), tuple(said), tail)
        links[number], tail = made, Tail(number, made.depth, ids)

        assert packing.pack_ids(prompt) == restored(made, links.__getitem__)
        assert made.depth < DEPTH
