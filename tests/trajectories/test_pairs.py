"""Pairs for training: which replies stand beside each other, with which prompts, and where the hint stood."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from daemon.trajectories.pairs import Pairs, pairs
from daemon.trajectories.record import RunRecord
from daemon.types import Message, Occurrence, Run, Step
from guards import Level, Verdict
from tests.trajectories.any_run import RUNS
from tests.trajectories.scenes import ASK, NOON, SqlKept, begun, calling, ended, saying, wait

TRIP = Verdict("repeat", Level.TRIP, 1.2, "said again", "Say it anew.", evidence=("All is well.",))
HINT = Message("user", "Hint: Say it anew.", name="hint")
BAD = replace(saying(1, "All is well.", (1, 2, 3), (7,)), verdicts=(TRIP,), withheld=True, rung="retry", hint=TRIP.hint)
GOOD = replace(saying(2, "The fog came.", (1, 2, 3, 4, 5), (8, 9)), sent=(HINT,))


def exported(*steps: Step) -> list[dict[str, Any]]:
    """Return the lines of a run of these steps."""
    out = io.StringIO()
    count = Pairs().write([RunRecord(Run("run-1", Occurrence(1, "watch", NOON), "watch", NOON), {}, steps)], out)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert count == len(rows)
    return rows


def test_a_retry_gives_a_pair() -> None:
    """The same prompt, without the hint and with it; what was sampled for each; where the two prompts part."""
    (row,) = exported(BAD, GOOD)

    assert ("repeat", ["All is well."], ["retry"]) == (row["guard"], row["evidence"], row["rungs"])
    assert ("All is well.", "The fog came.") == (row["rejected"]["text"], row["chosen"]["text"])
    assert [ASK.text] == [message["text"] for message in row["prompt"]]
    assert [ASK.text, HINT.text] == [message["text"] for message in row["chosen_prompt"]]
    assert {"text": "Say it anew.", "message": 1, "at_token": 3} == row["hint"]
    assert ([7], [8, 9]) == tuple(row[side]["sample"]["completion_ids"] for side in ("rejected", "chosen"))


def test_the_first_withheld_reply_stands_beside_the_accepted_one() -> None:
    """However many rungs lie between, there is one pair, and the rejected side saw no hint."""
    again = replace(BAD, number=2, sent=(HINT,), rung="quarantine")
    clean = replace(GOOD, number=3, sent=(ASK, HINT), anew=True)
    (row,) = exported(BAD, again, clean)

    assert (["retry", "quarantine"], 1, 3) == (row["rungs"], row["rejected"]["step"], row["chosen"]["step"])
    assert [ASK.text] == [message["text"] for message in row["prompt"]]
    assert [ASK.text, HINT.text] == [message["text"] for message in row["chosen_prompt"]]


def test_each_rung_has_its_own_guard_and_hint() -> None:
    """Guard, reason and hint at the top are of one trip, the first; each later one is told in full beside its rung."""
    crow = Verdict("crow", Level.TRIP, 3.0, "a crow", "No crows.")
    louder = Verdict("loop", Level.TRIP, 9.0, "a loop", "No loops.")
    other = replace(BAD, number=2, sent=(HINT,), verdicts=(louder, crow), rung="model", hint=crow.hint)
    both = (HINT, Message("user", "Hint: No crows.", name="hint"))
    (row,) = exported(BAD, other, replace(GOOD, number=3, sent=both[1:]))

    assert ("repeat", "said again", "Say it anew.") == (row["guard"], row["reason"], row["hint"]["text"])
    assert [HINT.text, both[1].text] == [message["text"] for message in row["chosen_prompt"]][1:]
    assert [
        {"rung": "retry", "guard": "repeat", "reason": "said again", "hint": "Say it anew."},
        {"rung": "model", "guard": "crow", "reason": "a crow", "hint": "No crows."},
    ] == row["trips"]


def test_a_hint_that_another_replaced_is_not_said_to_be_there() -> None:
    """The accepted reply saw a later hint of the guard: the first one is null at the top, and told among the trips."""
    later = replace(BAD, number=2, sent=(HINT,), hint="Say nothing.")
    new = Message("user", "Hint: Say nothing.", name="hint")
    (row,) = exported(BAD, later, replace(GOOD, number=3, sent=(ASK, new), anew=True))

    assert (None, ["Say it anew.", "Say nothing."]) == (row["hint"], [trip["hint"] for trip in row["trips"]])


def test_what_was_said_and_heard_before_is_part_of_the_prompt() -> None:
    """A trip in a later step has the accepted replies and results before it."""
    look = replace(calling(1), sent=(ASK,))
    heard = Message("tool", "0.42", call_id="call-1", name="host")
    (row,) = exported(look, replace(BAD, number=2, sent=(heard,)), replace(GOOD, number=3))

    assert ["user", "assistant", "tool"] == [message["role"] for message in row["prompt"]]


def test_a_collapse_without_a_way_back_gives_none() -> None:
    """What was never accepted, and what a breaker wrote itself, is no example."""
    assert [] == exported(BAD, replace(BAD, number=2, rung="rest", hint=""))
    assert [] == exported(BAD, replace(GOOD, edited_by_breaker=True))
    assert [] == exported(GOOD)


def test_a_turn_that_was_given_up_has_no_pair_with_the_next_one() -> None:
    """A summary that came to nothing is not answered by the task of the run that it was to make room for."""
    given_up = replace(BAD, number=2, rung="rest", hint="")

    assert [] == exported(BAD, given_up, replace(GOOD, number=3, sent=(ASK,), anew=True))


def test_pairs_come_out_of_the_database(sql: SqlKept) -> None:
    """Rung, evidence and rewritten prompts are kept, so that the export is the same after a restart."""

    async def story() -> None:
        run = await begun(sql)
        for step in (BAD, replace(GOOD, sent=(ASK, HINT), anew=True)):
            await sql.recorder.step(run, step)
        await sql.recorder.finish(ended(run), ())

    wait(story())
    sql.reopen()
    record = sql.record("run-1")

    assert record is not None
    assert [(TRIP,), ()] == [step.verdicts for step in record.steps]
    assert [("retry", False), ("", True)] == [(step.rung, step.anew) for step in record.steps]
    assert [("All is well.", "The fog came.")] == [
        (pair.rejected.reply.text, pair.chosen.reply.text) for pair in pairs(record.steps)
    ]


@given(RUNS)
def test_any_run_can_be_exported(steps: list[Step]) -> None:
    """Whatever was recorded, each pair is a withheld step and a later one that was not."""
    ordered = sorted(steps, key=lambda step: step.number)
    for row in exported(*ordered):
        number = {step.number: step for step in ordered}
        assert number[row["rejected"]["step"]].withheld
        assert not number[row["chosen"]["step"]].withheld
        assert row["rejected"]["step"] < row["chosen"]["step"]
