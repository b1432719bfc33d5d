"""The benchmark of the way back: its agents, and what it tells of the runs after a recovery."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

from recovery import Story, follow
from recovery_cases import cases

from daemon.types import Occurrence, Outcome, Reply, Run, Step, ToolCall
from guards import Level, Verdict

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def ran(outcome: Outcome, reason: str = "") -> Run:
    """A run that ended so."""
    return Run("r", Occurrence(1, "watch", NOON), "watch", NOON, NOON, outcome, reason)


def test_the_agents_are_the_same_each_time_and_two_of_three_write() -> None:
    """A measurement can be repeated: the same cases in the same order, a machine for every third."""
    first, second = list(islice(cases(12), 12)), list(cases(12))

    assert first == second
    assert [case.machine is None for case in first] == [True, True, False] * 4
    assert 12 == len({(case.name, case.instruction, case.start) for case in first})


def test_a_run_that_did_not_end_ok_is_told_step_by_step() -> None:
    """Which run it was, how it ended, and of each step what was said, what tripped it and what came then."""
    story = Story(8, "Look.")
    follow(story, ran(Outcome.OK))
    story.steps = [
        Step(0, NOON, (), Reply("", calls=(ToolCall("1", "host", {}),))),
        Step(
            1,
            NOON,
            (),
            Reply("All quiet, 400 GiB."),
            verdicts=(Verdict("loop"), Verdict("facts", Level.TRIP, 1.0, "states 400", outcome="failed")),
            rung="rest",
        ),
    ]
    follow(story, ran(Outcome.FAILED, "facts: states 400"))

    assert (2, 1, 1) == (story.followed, story.well, story.tripped_again)
    assert story.amiss == [
        "run 2 after it failed: facts: states 400",
        '  said "", called host',
        "    then went on",
        '  said "All quiet, 400 GiB.", called nothing',
        "    facts failed: states 400",
        "    then rest",
    ]
