"""The way back as stories: which rung follows which, what each changes, and that nothing withheld goes anywhere."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from daemon.recovery import RELAPSE, resting
from daemon.types import Outcome, Prompt
from tests.way_back import NOW, PARROT, Gate, Loosening, Paid, Parrot, Scene, expecting, says

LOOK = {"calls": [{"name": "look", "args": {}}]}
PARROT_CALLS = {"text": PARROT, "calls": [{"name": "look", "args": {}}]}
GOOD = "I saw a lamp."
RUNGS = ("retry", "quarantine", "sampler", "model")


def climbing(helps: int, bad: Any = PARROT) -> tuple[Loosening, Any]:
    """Return a route on which the rung of this number is the first that helps; one too many and none does."""
    plain = [bad, *(GOOD if helps == rung else bad for rung in (0, 1))]
    return Loosening("local", plain, [GOOD if helps == 2 else bad]), says(GOOD if helps == 3 else bad, name="other")


@pytest.mark.parametrize("helps", range(5))
def test_each_rung_is_tried_once_and_in_order_until_one_helps(helps: int) -> None:
    """Rungs, metrics and outcome say how far it went; past the last rung the thread rests."""
    scene = Scene()
    scene.past("All is well.", f"{PARROT} All is well.")
    run = scene.run(*climbing(helps))
    taken = [*RUNGS[: helps + 1]] if helps < 4 else [*RUNGS, "rest"]

    assert taken == [step.rung for step in scene.steps if step.withheld]
    assert (Outcome.NOTHING_TO_DO if helps < 4 else Outcome.TRIPPED) == run.outcome
    assert [(rung, "failed") for rung in RUNGS[:helps]] == scene.ear.rungs[:helps]
    assert scene.ear.rungs[helps:] == ([(RUNGS[helps], "worked")] if helps < 4 else [("rest", "opened")])
    assert (None if helps < 4 else "breaker_open: parrot") == asyncio.run(
        resting("watch", scene.states, scene.clock, 1800)
    )


@pytest.mark.parametrize("helps", range(5))
def test_nothing_withheld_reaches_the_vault_a_tool_or_the_thread(helps: int) -> None:
    """Whatever rung helps, or none: its calls are not made, and its words are in the record and nowhere else."""
    scene = Scene()
    scene.past("All is well.", f"{PARROT} All is well.")
    run = scene.run(*climbing(helps, PARROT_CALLS))

    assert [] == scene.hands.called
    assert "Polly" not in "".join(scene.vault.kept) + run.said
    assert PARROT not in scene.live
    assert all(PARROT in step.reply.text for step in scene.steps if step.withheld)


def test_what_is_infected_leaves_the_context_for_good() -> None:
    """After a quarantine later runs are not shown the infected texts either; the history keeps all."""
    scene = Scene()
    scene.past("All is well.", f"{PARROT} All is well.", "The fog came.")
    scene.run(says(PARROT, PARROT, GOOD))
    model = says("The fog went.")
    scene.run(model)
    shown = [message.text for message in model.prompts[-1].messages]

    assert not any("Polly" in text for text in shown)
    assert ("All is well." in shown, "The fog came." in shown) == (True, True)
    assert f"{PARROT} All is well." in scene.history


def test_a_quarantined_prompt_is_recorded_whole() -> None:
    """The record says that the attempt saw another prompt, not an addition to the old one; all others are additions."""
    scene = Scene()
    scene.past(f"{PARROT} All is well.")
    model = says(PARROT, PARROT, GOOD)
    scene.run(model)

    assert [False, False, True] == [step.anew for step in scene.steps]
    assert model.prompts[2].messages == scene.steps[2].sent


def test_a_clean_context_is_not_quarantined() -> None:
    """Where nothing earlier is infected the rung is passed over."""
    scene = Scene()
    scene.past("All is well.")
    scene.run(Loosening("local", [PARROT, PARROT], [GOOD]))

    assert ["retry", "sampler", ""] == [step.rung for step in scene.steps]


def test_the_sampler_is_told_what_to_avoid_and_changed_for_one_attempt_only() -> None:
    """It hears what was withheld and what was taken out; the next turn is asked in the usual way again."""
    scene = Scene()
    scene.past(f"{PARROT} All is well.")
    model = Loosening("local", [PARROT, PARROT, PARROT, GOOD], [LOOK])
    run = scene.run(model)

    assert [(PARROT, f"{PARROT} All is well.")] == [tuple(sorted(texts, key=len)) for texts in model.avoided]
    assert (GOOD, Outcome.OK, ["look"]) == (run.said, run.outcome, scene.hands.called)


def test_another_model_stays_for_the_rest_of_the_run() -> None:
    """The model that collapsed is not asked again in this run, and is asked first in the next one."""
    scene = Scene()
    first, second = says(PARROT, PARROT, GOOD), says(LOOK, GOOD, name="other")
    scene.run(first, second)
    run = scene.run(first, second)

    assert "local" == run.model
    assert ["look"] == scene.hands.called


def test_a_paid_model_is_never_asked_to_help() -> None:
    """Money is not spent because a free model collapsed."""
    paid = Paid("cloud", Paid.Options(replies=(GOOD,)), Path())
    scene = Scene()
    run = scene.run(says(PARROT, PARROT), paid)

    assert Outcome.TRIPPED is run.outcome
    assert not paid.prompts


def test_when_the_other_model_is_away_the_run_still_ends_as_a_collapse() -> None:
    """A rung that cannot be had is a rung that failed: the thread rests instead of calling the model unavailable."""
    scene = Scene()
    run = scene.run(says(PARROT, PARROT, PARROT), says(name="other"))

    assert (Outcome.TRIPPED, "parrot: a parrot") == (run.outcome, run.reason)
    assert "asked local because" in scene.steps[-1].reply.note


def test_what_was_expected_and_missed_is_not_blamed_on_the_context() -> None:
    """A reply that fails its run is retried and given to another model; nothing is taken out and nothing rests."""
    scene = Scene(guards=[Parrot("failed")])
    scene.past(f"{PARROT} All is well.")
    run = scene.run(Loosening("local", [PARROT, PARROT], [GOOD]), says(PARROT, name="other"))

    assert ["retry", "model", "rest"] == [step.rung for step in scene.steps]
    assert (Outcome.FAILED, True) == (run.outcome, f"{PARROT} All is well." in scene.live)
    assert asyncio.run(resting("watch", scene.states, scene.clock, 1800)) is None


def test_without_evidence_only_what_was_said_again_is_taken_out() -> None:
    """A guard that cannot say where the collapse shows costs no text that was said once."""
    scene = Scene(guards=[Parrot(evidence=())])
    scene.past("All is well.", "The fog came.", "All is well.")
    scene.run(says(PARROT, PARROT, GOOD))

    assert ["retry", "quarantine", ""] == [step.rung for step in scene.steps]
    assert ("All is well." in scene.live, "The fog came." in scene.live) == (False, True)


def test_without_evidence_and_repeats_there_is_nothing_to_take_out() -> None:
    """Where the latest texts all differ the rung is passed over."""
    scene = Scene(guards=[Parrot(evidence=())])
    scene.past("All is well.", "The fog came.")
    scene.run(Loosening("local", [PARROT, PARROT], [GOOD]))

    assert ["retry", "sampler", ""] == [step.rung for step in scene.steps]


def test_a_guard_of_deeds_costs_no_words() -> None:
    """One that judges no words and names none says nothing of the texts, though they be alike."""

    class Deaf(Parrot):
        """Judges what is done."""

        judges_words: ClassVar[bool] = False

    scene = Scene(guards=[Deaf(evidence=())])
    scene.past("All is well.", "All is well.")
    scene.run(Loosening("local", [PARROT, PARROT], [GOOD]))

    assert ["retry", "sampler", ""] == [step.rung for step in scene.steps]
    assert 2 == scene.live.count("All is well.")


def test_a_relapse_begins_one_rung_higher() -> None:
    """What helped and did not last is not tried first again; after a dozen good runs the climb begins at the bottom."""
    scene = Scene()
    scene.past(f"{PARROT} All is well.")
    scene.run(says(PARROT, GOOD))
    scene.run(says(PARROT, GOOD))
    relapsed = [step.rung for step in scene.steps]
    for _ in range(RELAPSE):
        scene.run(says(GOOD))
    scene.run(says(PARROT, GOOD))

    assert (["quarantine", ""], ["retry", ""]) == (relapsed, [step.rung for step in scene.steps])


def test_a_relapse_with_no_higher_rung_is_retried_like_any_trip() -> None:
    """An API that cannot be loosened, alone in its route, is not left without an attempt."""
    scene = Scene()
    scene.run(says(PARROT, GOOD))
    run = scene.run(says(PARROT, GOOD))

    assert (GOOD, ["retry", ""]) == (run.said, [step.rung for step in scene.steps])


def test_a_missed_expectation_is_retried_each_time() -> None:
    """What failed in the run before says nothing of this one: it is no collapse of the thread."""
    scene = Scene(guards=[Parrot("failed")])
    scene.run(says(PARROT, GOOD), says(name="other"))
    scene.run(says(PARROT, GOOD), says(name="other"))

    assert ["retry", ""] == [step.rung for step in scene.steps]


def test_a_relapse_after_the_highest_rung_still_has_the_sampler() -> None:
    """There is always something left to try before the thread rests."""
    scene = Scene()
    scene.run(Loosening("local", [PARROT, PARROT], [GOOD]))
    scene.run(Loosening("local", [PARROT], [GOOD]))

    assert ["sampler", ""] == [step.rung for step in scene.steps]


def test_a_damaged_memory_of_rungs_is_forgotten() -> None:
    """Nonsense in the database costs one relapse its head start, and nothing else."""
    scene = Scene()
    asyncio.run(scene.states.save("watch", {"ladder:parrot": {"rung": "magic", "ago": 1}, "ladder:x": {"ago": "y"}}))

    assert Outcome.NOTHING_TO_DO is scene.run(says(PARROT, GOOD)).outcome
    assert ["retry", ""] == [step.rung for step in scene.steps]


def test_a_spent_budget_ends_the_climb() -> None:
    """Rungs are steps too: where the last step that is allowed trips, the thread rests."""
    scene = Scene(steps_allowed=2)
    run = scene.run(*climbing(4))

    assert (Outcome.TRIPPED, 2) == (run.outcome, len(scene.steps))


def test_a_person_is_told_once() -> None:
    """The first opening is an error in the log; each failed probe after it is only news."""
    scene = Scene(guards=[Gate()])
    with capture_logs() as lines:
        scene.run(says(PARROT, PARROT))
        scene.clock.jump(1801)
        scene.run(says(PARROT, PARROT))

    assert ["error", "info"] == [line["log_level"] for line in lines if line["event"] == "breaker.opened"]


def test_two_guards_have_a_ladder_each_and_their_hints_stand_together() -> None:
    """A retry for one that trips the other is told of both."""

    class Crow(Parrot):
        """Trips on a crow."""

        name = "crow"

        def update(self, output: Any) -> Any:
            """Listen for a crow."""
            return super().update(type(output)("Polly" if "Kra" in output.text else ""))

    model = says(PARROT, "Kra!", GOOD)
    scene = Scene(guards=[Parrot(), Crow()])
    scene.run(model)
    last: Prompt = model.prompts[-1]

    assert ["retry", "retry", ""] == [step.rung for step in scene.steps]
    assert ["hint", "hint"] == [message.name for message in last.messages[-2:]]
    assert NOW == scene.clock.now()


def test_a_fresh_context_climbs_too() -> None:
    """A heartbeat without a thread has nothing to quarantine and goes on with the next rung."""
    scene = Scene()
    run = scene.run(Loosening("local", [PARROT, PARROT], [GOOD]), heartbeat=expecting(thread=None))

    assert (GOOD, ["retry", "sampler", ""]) == (run.said, [step.rung for step in scene.steps])


def test_a_rung_that_helped_long_ago_leaves_no_state_behind() -> None:
    """What a relapse is not counted from any more is deleted, also where an older version wrote it down empty."""
    scene = Scene()
    asyncio.run(scene.states.save("watch", {"ladder:old": {"rung": "", "ago": 13}}))
    scene.run(says(PARROT, GOOD))
    kept = [name for name in asyncio.run(scene.states.load("watch")) if name.startswith("ladder:")]
    for _ in range(RELAPSE + 1):
        scene.run(says(GOOD))

    assert ["ladder:parrot"] == kept
    assert not [name for name in asyncio.run(scene.states.load("watch")) if name.startswith("ladder:")]
