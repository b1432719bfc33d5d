"""Panels that stay in memory between runs: they spare reading, and never tell anything that the disk does not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.guards import forget
from daemon.clock import SystemClock
from daemon.errors import StorageError
from daemon.observe.everyone import Everyone
from daemon.panels import Panels
from daemon.recovery import Recovery
from daemon.trajectories.database import Database
from daemon.trajectories.guard_states import SqlGuardStates
from daemon.trajectories.in_memory import MemoryGuardStates
from daemon.types import Message, Outcome, Prompt, Reply, ToolCall, ToolResult
from guards import Panel, Verdict


class Forgetful(Panel):
    """A panel that counts how often it had to be loaded."""

    loads = 0

    def load(self, states: Any) -> None:
        """Count, and load."""
        type(self).loads += 1
        super().load(states)


@dataclass
class Watch:
    """The guards of one agent; each `run` judges some replies, as one run of the daemon does."""

    states: Any = field(default_factory=MemoryGuardStates)
    panels: Panels = field(default_factory=Panels)
    remembering: bool = True

    def __post_init__(self) -> None:
        Forgetful.loads = 0

    def run(self, *texts: str, thread: str = "watch", steps: int = 9, closes: bool = True) -> list[Verdict]:
        """Return what the guards say of these replies in one run."""
        return asyncio.run(self._run(texts, thread, steps, closes))

    async def _run(self, texts: tuple[str, ...], thread: str, steps: int, closes: bool) -> list[Verdict]:
        panels = self.panels if self.remembering else Panels()
        options = {"budget": {"steps": steps}}
        lent = panels.lend(thread, options, lambda: Forgetful.standard(options))
        recovery = Recovery(thread, lent, self.states, SystemClock(), 1800, Everyone([]))
        await recovery.open("run", ())
        verdicts: list[Verdict] = []
        for text in texts:
            recovery.listen(Prompt(thread, (Message("system", "Keep watch."),)))
            calls = (ToolCall("1", "look", {"at": text[:3]}),) if text.startswith("look") else ()
            verdicts += (await recovery.judge(Reply(text, calls=calls, model="m"), float("inf")))[1]
            verdicts += recovery.hear([ToolResult(call, ok=True, text="a lamp") for call in calls], 0.1)
        if closes:
            await recovery.close(Outcome.OK)
        return verdicts


def test_the_next_run_reads_no_guard_state() -> None:
    """A thread's panel is loaded once, and goes on from run to run."""
    watch = Watch()
    for _ in range(5):
        watch.run("The lamp is lit.")

    assert 1 == Forgetful.loads


@given(st.lists(st.lists(st.sampled_from(["The lamp is lit.", "look", "look now", "Fog.", "x " * 40]), max_size=3)))
def test_what_the_guards_say_and_keep_is_the_same_without_it(runs: list[list[str]]) -> None:
    """Panels in memory change no verdict and no state."""
    here, there = Watch(), Watch(remembering=False)

    assert [here.run(*texts) for texts in runs] == [there.run(*texts) for texts in runs]
    assert here.states.kept == there.states.kept


def test_a_reset_by_another_process_is_seen_by_the_next_run(tmp_path: Path) -> None:
    """`trimtab guards reset` and `rebaseline` change the database: a panel in memory does not outlive them."""
    path = tmp_path / "trimtab.db"
    database = Database.open(path)
    watch = Watch(SqlGuardStates(database))
    try:
        for _ in range(12):
            watch.run("The lamp is lit and the harbour is calm, as it was in every hour of this long night.")
        asyncio.run(forget(path, "reset", "watch", ["repeat"], "test"))
        watch.run("Fog.")
        kept = asyncio.run(watch.states.load("watch"))
        asyncio.run(forget(path, "reset", None, [None], "test"))
        watch.run("Fog.")
        fresh = asyncio.run(watch.states.load("watch"))
    finally:
        database.close()
    alone = Watch()
    alone.run("Fog.")

    assert alone.states.kept["watch", "repeat"] == kept["repeat"]
    assert alone.states.kept["watch", "catchphrase"] != kept["catchphrase"]
    assert {name: state for (_, name), state in alone.states.kept.items()} == fresh


def test_a_run_that_was_not_saved_leaves_no_trace() -> None:
    """A run that never came to its end is forgotten by the guards, in memory as on the disk."""
    here, there = Watch(), Watch()
    for watch, lost in ((here, "The lamp is lit."), (there, None)):
        watch.run("Fog.")
        if lost:
            watch.run(lost, closes=False)
        watch.run("Rain.")

    assert here.states.kept == there.states.kept


def test_a_save_that_failed_keeps_no_panel() -> None:
    """What is not on the disk is not in memory either: the next run reads what was saved last."""

    @dataclass
    class Full(MemoryGuardStates):
        """A store on a disk that fills up."""

        full: bool = False

        async def save(self, thread: str, states: Any) -> str:
            """Save while there is room."""
            if self.full:
                raise StorageError("the disk is full")
            return await super().save(thread, states)

    watch = Watch(Full())
    watch.run("Fog.")
    before = dict(watch.states.kept)
    watch.states.full = True
    with pytest.raises(StorageError):
        watch.run("The lamp is lit.")
    watch.states.full = False
    watch.run()

    assert before == watch.states.kept
    assert 2 == Forgetful.loads


def test_two_daemons_in_turn_never_use_an_old_panel() -> None:
    """A save by anyone else makes a panel in memory old: what both said is judged."""
    states = MemoryGuardStates()
    one, other, alone = Watch(states), Watch(states), Watch()
    for number in range(6):
        (one if number % 2 else other).run(f"Lamp {number} is lit.")
        alone.run(f"Lamp {number} is lit.")

    assert alone.states.kept == states.kept


def test_other_options_make_another_panel() -> None:
    """A heartbeat whose budget was changed is judged by it from the next run on."""
    watch = Watch()
    watch.run("Fog.", steps=9)

    assert not [v for v in watch.run("look", "look up", "look on", steps=9) if v.outcome == "over_budget"]
    assert [v for v in watch.run("look", "look up", "look on", steps=2) if v.outcome == "over_budget"]


def test_only_so_many_rest_in_memory() -> None:
    """Of many threads only those that ran last are kept."""
    watch = Watch(panels=Panels(most=2))
    for thread in ("a", "b", "c", "c", "b", "a"):
        watch.run("Fog.", thread=thread)

    assert 4 == Forgetful.loads
