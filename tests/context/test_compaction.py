"""A long thread made short: one line for each past run, in the model's own words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.context.compaction import HINT, SUMMARY, runs, shortened
from daemon.context.summary import HEADING, parsed
from daemon.types import Message


def run(minute: int, said: str = "All is well.", steps: int = 1) -> list[Message]:
    """One run as a thread keeps it."""
    task = Message("user", f"Heartbeat host-watch, Fri 2026-11-20 21:{minute:02d} UTC.\nLook.", name="host-watch")
    between = [Message("assistant", ""), Message("tool", "load 0.1", name="host")] * steps
    return [task, *between, Message("assistant", said)]


def test_a_summary_has_a_line_for_each_run_that_is_not_kept() -> None:
    """Time, heartbeat and last words of each older run stand in the summary; the newest runs stay whole."""
    live = run(1, "Load 0.31.") + run(2, "Load 0.44.") + run(3, "Load 0.52.")

    made = shortened(live, keep_runs=1, max_chars=1000)
    summary, keep = made.summary, made.keep

    assert summary.text.splitlines() == [
        HEADING,
        '<data from="summary">',
        "- 2026-11-20 21:01 host-watch: Load 0.31.",
        "- 2026-11-20 21:02 host-watch: Load 0.44.",
        "</data>",
    ]
    assert len(run(3)) == keep


def test_an_earlier_summary_is_carried_over() -> None:
    """What was summarised before is not summarised away."""
    first = shortened(run(1, "One.") + run(2, "Two."), keep_runs=1, max_chars=1000).summary
    second = shortened([first, *run(2, "Two."), *run(3, "Three.")], keep_runs=1, max_chars=1000).summary

    assert "One." in second.text
    assert "Two." in second.text
    assert "Three." not in second.text


def test_a_full_summary_drops_its_oldest_lines_and_counts_them() -> None:
    """The summary says how many runs are only in the history, across several compactions."""
    live: list[Message] = []
    for minute in range(30):
        summary = shortened([*live, *run(minute, f"Number {minute}.")], keep_runs=0, max_chars=200).summary
        live = [summary]
    lines = live[0].text.splitlines()

    assert "- (26 older runs are only in the history)" == lines[1]
    assert "Number 29." in parsed(live[0].text).lines[-1]


def test_a_hint_does_not_begin_a_run() -> None:
    """A guard's hint belongs to the run that it was given in."""
    live = [*run(1), Message("user", "Hint: say it in words.", name=HINT), Message("assistant", "Here it is.")]

    assert 1 == len(runs(live))


def test_a_run_without_words_says_so() -> None:
    """A silent run is not summarised as if it had said something."""
    summary = shortened([*run(1)[:-1]], keep_runs=0, max_chars=1000).summary

    assert "(no words)" in summary.text


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 4), st.integers(0, 400))
def test_summary_and_kept_runs_make_up_the_thread(steps: list[int], keep_runs: int, room: int) -> None:
    """Every run is either kept whole, has a line, or is counted; the lines fit into the room that there is."""
    live = [message for number, k in enumerate(steps) for message in run(number, f"Said {number}.", k)]

    made = shortened(live, keep_runs, room)
    summary, keep = made.summary, made.keep
    shown = parsed(summary.text)
    told = shown.lines

    assert SUMMARY == summary.name
    assert len(steps) == len(runs(live[len(live) - keep :])) + len(told) + shown.left_out
    assert sum(len(text) + 1 for text in told) <= room or not told
