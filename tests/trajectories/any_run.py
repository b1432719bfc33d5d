"""Runs of any content, for the tests that nothing is lost on the way through the database and the exports."""

from __future__ import annotations

from datetime import UTC
from typing import get_args

from hypothesis import strategies as some

from daemon.trajectories.packing import pack_logprobs, unpack_logprobs
from daemon.types import Finish, Message, Reply, Sample, Step, ToolCall, ToolResult, ToolSpec, Usage
from guards import Level, Verdict
from tests.trajectories.scenes import NOON

FINISHES: tuple[Finish, ...] = get_args(Finish)
TEXT = some.text(max_size=8)
NUMBERS = some.floats(0, 1e6)
IDS = some.lists(some.integers(0, 2**32 - 1), max_size=5).map(tuple)
LEAVES = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = some.recursive(
    LEAVES, lambda x: some.lists(x, max_size=3) | some.dictionaries(TEXT, x, max_size=3), max_leaves=5
)
OBJECTS = some.dictionaries(TEXT, JSON, max_size=3)

CALLS = some.builds(ToolCall, TEXT, TEXT, OBJECTS)
USAGE = some.builds(Usage, *[some.integers(0, 10**9)] * 3, NUMBERS, NUMBERS)
TOOLS = some.builds(ToolSpec, TEXT, TEXT, OBJECTS, NUMBERS, some.integers(0, 9), some.booleans())
MESSAGES = some.builds(
    Message,
    some.sampled_from(["system", "user", "assistant", "tool"]),
    TEXT,
    some.lists(CALLS, max_size=2).map(tuple),
    some.none() | TEXT,
    some.none() | TEXT,
    some.none() | IDS,
    some.none() | TEXT,
    some.booleans(),
)
VERDICTS = some.builds(
    Verdict,
    TEXT,
    some.sampled_from(Level),
    NUMBERS,
    TEXT,
    TEXT,
    some.sampled_from(["tripped", "over_budget", "timed_out"]),
    some.lists(TEXT, max_size=2).map(tuple),
)


@some.composite
def samples(draw: some.DrawFn) -> Sample:
    """Draw ids with as many log-probabilities."""
    said = draw(IDS)
    floats = some.floats(-100, 0, width=32).map(lambda x: unpack_logprobs(pack_logprobs([x]))[0])
    logprobs = draw(some.lists(floats, min_size=len(said), max_size=len(said)).map(tuple))
    return Sample(draw(IDS), said, logprobs, draw(TEXT), draw(TEXT), draw(TEXT), draw(OBJECTS))


@some.composite
def steps(draw: some.DrawFn) -> Step:
    """Draw a step whose results answer some of its calls, in any order, or none of them."""
    calls = draw(some.lists(CALLS, max_size=3))
    answered = draw(some.lists(some.sampled_from(calls) if calls else CALLS, max_size=3))
    finish: Finish = draw(some.sampled_from(FINISHES))
    sample = draw(some.none() | samples())
    return Step(
        draw(some.integers(1, 10**6)),
        draw(some.datetimes(min_value=NOON.replace(tzinfo=None), timezones=some.just(UTC))),
        draw(some.lists(MESSAGES, max_size=3).map(tuple)),
        Reply(draw(TEXT), tuple(calls), finish, draw(USAGE), draw(TEXT), sample, draw(TEXT)),
        draw(some.lists(VERDICTS, max_size=3).map(tuple)),
        tuple(ToolResult(call, draw(some.booleans()), draw(TEXT), draw(NUMBERS)) for call in answered),
        draw(some.booleans()),
        draw(TEXT),
        draw(some.lists(TOOLS, max_size=2).map(tuple)),
        draw(some.booleans()),
        draw(some.sampled_from(["", "retry", "rest"])),
        draw(some.booleans()),
    )


RUNS = some.lists(steps(), max_size=4, unique_by=lambda step: step.number)
