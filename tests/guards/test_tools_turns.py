"""Tool calls over many turns: routines that are meant, loops that are not, and turns in which nothing works."""

from __future__ import annotations

import pytest

from guards import Call, CallResult, Level, Output
from guards.tools import Tools

Job = tuple[Call, CallResult | None]
OK = CallResult(True, "done")


def test_every_heartbeat_may_ask_the_same() -> None:
    """A named turn starts the circles anew: one equal call a turn for weeks is a heartbeat, not a loop."""
    guard = Tools()
    for i in range(500):
        assert guard.update(Output("", (Call("clock"), Call("inbox")), turn=f"run-{i}")).level is Level.PASS
        assert guard.observe([OK, CallResult(True, "no mail")]).level is Level.PASS


def test_failures_are_counted_across_turns() -> None:
    """An error cascade does not hide behind one call a heartbeat."""
    guard = Tools()
    levels = []
    for i in range(9):
        guard.update(Output("", (Call("ab"[i % 2], {"n": i}),), turn=f"run-{i}"))
        levels.append(guard.observe([CallResult(False, f"broken {'x' * i}")]).level)
    assert levels[-1] is Level.TRIP


def beats(guard: Tools, count: int, job: Job, first: int = 0) -> list[Level]:
    """Return the level of each of `count` heartbeats that make this one call."""
    levels = []
    for i in range(first, first + count):
        call, result = job
        before = guard.update(Output("Looked.", (call,), turn=f"run-{i}"))
        levels.append(max(before.level, guard.observe([result] if result else []).level))
    return levels


def test_heartbeats_that_only_repeat_a_new_call_for_days_trip() -> None:
    """After weeks of different work, one and the same call with the same result each time is a loop across turns."""
    guard = Tools()
    for i in range(60):
        assert beats(guard, 1, (Call("read", {"n": i}), CallResult(True, f"text {i}")), i) == [Level.PASS]
    levels = beats(guard, 60, (Call("send", {"to": "all", "text": "done"}), OK), 100)
    assert 12 < levels.index(Level.TRIP) < 40


def test_heartbeats_that_always_asked_the_same_may_do_so_for_ever() -> None:
    """A monitor whose answers stay the same for weeks, after weeks of change, is well."""
    guard = Tools()
    for i in range(100):
        assert beats(guard, 1, (Call("host"), CallResult(True, f"load {i}")), i) == [Level.PASS]
    assert set(beats(guard, 400, (Call("host"), CallResult(True, "load 0")), 100)) == {Level.PASS}


def test_another_prompt_begins_another_routine() -> None:
    """What a changed instruction asks for in each heartbeat is usual from then on."""
    guard = Tools()
    for i in range(60):
        beats(guard, 1, (Call("read", {"n": i}), CallResult(True, f"text {i}")), i)
    for i in range(200):
        output = Output("Looked.", (Call("inbox"),), turn=f"run-{100 + i}", prompt="look at the inbox")
        assert guard.update(output).level is Level.PASS
        assert guard.observe([CallResult(True, "no mail")]).level is Level.PASS


def test_turns_in_which_nothing_works_trip_before_as_many_calls_would() -> None:
    """Eight whole turns of failures of one tool are enough; the ninth turn's first failure says so."""
    guard = Tools()
    levels = beats(guard, 10, (Call("mail", {"n": 1}), CallResult(False, "no route")))
    assert levels.index(Level.TRIP) == 8


def finishing(guard: Tools, at: list[int], turn: str | None, call: Call) -> list[int]:
    """Return at which of the calls that end the work the guard trips; the others read something new."""
    found = []
    for i in range(at[-1] + 1):
        done = i in at
        output = Output(f"Step {i}.", (call if done else Call("read", {"n": i}),), turn=turn)
        levels = [guard.update(output).level, guard.observe([CallResult(True, f"text {i}")]).level]
        if done and Level.TRIP in levels:
            found.append(at.index(i))
    return found


def test_a_run_that_is_said_to_be_done_again_and_again_trips_at_the_fourth_time() -> None:
    """Each such call should have ended the run; without names of turns each must come in half of the time."""
    done = Call("task_done", {"message": "All of it is ready, " * 5})
    assert finishing(Tools(), [3, 9, 15, 21, 30], "run-1", done) == [3, 4]
    assert finishing(Tools(), [60, 81, 98, 108], None, done) == [3]


def test_runs_that_each_end_with_such_a_call_are_healthy() -> None:
    """Heartbeats end alike, named or not; an item of a list that is ticked off is not the work."""
    guard = Tools()
    for i in range(50):
        assert finishing(guard, [3], f"run-{i}", Call("finish")) == []
    assert finishing(Tools(), [*range(9, 400, 10)], None, Call("finish")) == []
    assert finishing(Tools(), [*range(30, 400, 30)], None, Call("submit")) == []
    ticked = [Call("complete_task", {"id": i}) for i in range(8)]
    one = Tools()
    assert all(one.update(Output(f"{call.args}", (call,), turn="run-1")).level is Level.PASS for call in ticked)


def test_how_often_a_run_was_done_is_kept_over_a_save() -> None:
    """The count goes on after a load, and a memory that counts more than there was is refused."""
    guard, again = Tools(), Tools()
    assert finishing(guard, [3, 9, 15], "run-1", Call("finish")) == []
    again.load(guard.state())
    assert again.update(Output("", (Call("finish"),), turn="run-1")).level is Level.TRIP
    with pytest.raises(ValueError, match="outputs"):
        again.load({**guard.state(), "finish": {"outputs": 1, "first": 1, "last": 2, "times": 1}})
