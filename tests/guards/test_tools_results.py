"""Results that say little: no text at all, from one whose results nobody may have kept, or that nothing is new."""

from __future__ import annotations

from guards import Call, CallResult, Level, Output
from guards.tools import Tools


def trips(jobs: list[tuple[str, str, str]]) -> list[int]:
    """Return the rows of a stream of (tool, what it is asked, what it brings) at which the guard trips."""
    guard, found = Tools(), []
    for row, (tool, asked, brought) in enumerate(jobs):
        before = guard.update(Output("I go on.", (Call(tool, {"of": asked}),)))
        after = guard.observe([CallResult(True, brought)])
        if Level.TRIP in (before.level, after.level):
            found.append(row)
    return found


def test_a_reader_that_never_told_anything_may_read_on() -> None:
    """Forty different files without a text are no failure; the same one again is, as where results are not known."""
    assert trips([("read", f"file {i}", "") for i in range(40)]) == []
    assert trips([("read", "file", "")] * 6) == [4, 5]


def test_a_search_that_once_found_something_finds_nothing_now() -> None:
    """No text is nothing from a tool that has told something before, whatever other tools are asked in between."""
    jobs = [("search", "boats", "Two boats are in.")]
    for i in range(8):
        jobs += [("search", f"word {i}", ""), ("read", f"file {i}", "")]
    assert trips(jobs)[0] == 9


def test_which_tools_told_something_survives_a_save() -> None:
    """A search that found something once is known after a load, when it finds nothing any more."""
    guard, levels = Tools(), []
    for i in range(6):
        state, guard = guard.state(), Tools()
        guard.load(state)
        guard.update(Output("", (Call("search", {"q": f"word {i}"}),)))
        levels.append(guard.observe([CallResult(True, "" if i else "Two boats are in.")]).level)
    assert levels.index(Level.TRIP) == 5


def test_a_file_that_is_unchanged_is_not_nothing() -> None:
    """Eight files that are as they were when they were read do not trip: what they hold is known already."""
    unchanged = "File unchanged since it was last read: what came then is still what it holds, so look there."
    assert trips([("read", f"file {i}", unchanged) for i in range(8)]) == []
