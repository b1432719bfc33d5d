"""The replay of other systems' cases: what one event becomes, and what counts as expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from peer_cases import Case, judge, outputs, read, table

from guards import Level

CALL = {"type": "tool_call", "name": "look", "args": {"at": "pier"}}


def cases(tmp_path: Path, *values: dict[str, Any]) -> list[Case]:
    """Return cases as a file would give them."""
    plain = {"source": "a/b@1", "case": "a case", "granularity": "one tool call per event", "expected_detect": True}
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([plain | value for value in values]))
    return read(path)


def test_events_run_by_their_length_one_call_an_output(tmp_path: Path) -> None:
    """Four calls are four outputs; a message of the user is none, an event without words is an empty one."""
    events = [{"event": CALL | {"result": "calm"}, "times": 4}]
    events += [{"event": {"type": "user"}, "times": 1}, {"event": {"type": "condensation"}, "times": 2}]
    (case,) = cases(tmp_path, {"input_stream": events})
    rows = list(outputs(case))
    assert [len(output.calls) for output, _ in rows] == [1, 1, 1, 1, 0, 0]
    assert [result.text for _, results in rows for result in results] == ["calm"] * 4


def test_pieces_of_a_stream_are_one_output_up_to_the_next_call(tmp_path: Path) -> None:
    """Text inside one prompt is put together again."""
    piece = {"event": {"type": "text", "text": "calm "}, "times": 2}
    stream = {
        "granularity": "stream events inside one prompt",
        "input_stream": [piece, {"event": CALL, "times": 1}, piece],
    }
    (case,) = cases(tmp_path, stream)
    assert [output.text for output, _ in outputs(case)] == ["calm calm ", "", "calm calm "]


def test_a_warning_is_as_expected_and_only_a_trip_is_strictly_so(tmp_path: Path) -> None:
    """Three, and five, equal calls of a degenerate case; one call of a healthy one."""
    three, five, one = cases(
        tmp_path,
        {"input_stream": [{"event": CALL, "times": 3}]},
        {"input_stream": [{"event": CALL, "times": 5}]},
        {"input_stream": [{"event": CALL, "times": 1}], "expected_detect": False},
    )
    assert (judge(three).level, judge(three).expected, judge(three).strictly) == (Level.WARN, True, False)
    assert (judge(five).level, judge(five).expected, judge(five).strictly) == (Level.TRIP, True, True)
    assert (judge(one).level, judge(one).expected, judge(one).strictly) == (Level.PASS, True, True)


def test_a_system_that_is_asked_at_the_end_is_judged_by_its_last_output(tmp_path: Path) -> None:
    """A loop that was left again is healthy there."""
    events = [{"event": CALL | {"result": "calm"}, "times": 4}, {"event": CALL | {"name": "go"}, "times": 1}]
    healthy = {"input_stream": events, "expected_detect": False}
    (plain, at_the_end) = cases(tmp_path, healthy, healthy | {"source": "OpenHands/software-agent-sdk@1"})
    assert not judge(plain).expected
    assert judge(at_the_end).expected


def test_the_table_counts_and_argues(tmp_path: Path) -> None:
    """A disagreement is shown with what was said and why it stays."""
    found = [judge(case) for case in cases(tmp_path, {"case": "3 identical rounds", "input_stream": []})]
    assert "3 identical rounds" in table(found)
    assert "NOT as expected: nothing" in table(found)
    assert "results are not recorded" in table(found)
