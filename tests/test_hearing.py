"""What guards heard is kept in place of their states, and leads to the same states."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.guards import forget
from daemon.hearing import Hearing, hear_again
from daemon.trajectories.database import Database
from daemon.trajectories.guard_states import RUNS, SqlGuardStates
from guards import Call, CallResult, Output, Panel, Spend
from tests.test_panels import Watch

WRITTEN = {"note": "text"}
_texts = st.one_of(st.sampled_from(["The lamp is lit.", "Fog.", "x " * 40]), st.text(max_size=40))
_calls = st.lists(st.builds(Call, st.just("note"), st.fixed_dictionaries({"text": _texts})), max_size=2).map(tuple)
_outputs = st.builds(
    Output,
    text=_texts,
    calls=_calls,
    turn=st.sampled_from([None, "a", "b"]),
    ts=st.one_of(st.none(), st.floats(0, 2e9)),
    model=st.sampled_from(["", "m", "n"]),
    spend=st.builds(Spend, st.integers(0, 9), st.floats(0, 1), st.floats(0, 9)),
    offered=st.one_of(st.none(), st.just(frozenset({"note", "clock"}))),
    prompt=st.sampled_from(["", "p"]),
)
_results = st.lists(st.builds(CallResult, st.booleans(), _texts), max_size=2)


@given(st.lists(st.tuples(_outputs, _results), max_size=8), st.lists(st.tuples(_outputs, _results), max_size=4))
def test_a_panel_that_hears_all_again_remembers_the_same(before: list[Any], since: list[Any]) -> None:
    """States and what was heard since, through JSON, give the panel that heard everything once."""
    once, again = Panel.standard(written=WRITTEN), Panel.standard(written=WRITTEN)
    for output, results in before:
        once.update(output)
        once.observe(results)
    again.load(json.loads(json.dumps(once.state())))
    hearing = Hearing(once)
    for output, results in since:
        hearing.update(output)
        hearing.observe(results)

    hear_again(again, json.loads(json.dumps(hearing.events)))

    assert once.state() == again.state()


def test_a_guard_that_was_forgotten_in_between_begins_there() -> None:
    """What it heard before it was forgotten does not come back, and the other guards keep theirs."""
    whole, late = Panel.standard(written=WRITTEN), Panel.standard(written=WRITTEN)
    hearing = Hearing(whole)
    first, second = (Output(f"Lamp {n} is lit.", (Call("note", {"text": f"Lamp {n}."}),)) for n in (1, 2))
    hearing.update(first)
    hearing.update(second)
    again, one = Panel.standard(written=WRITTEN), Panel.standard(written=WRITTEN)
    hear_again(again, [hearing.events[0], {"forgot": "repeat"}, hearing.events[1]])
    one.update(first)
    late.load({name: state for name, state in one.state().items() if name not in ("repeat", "repeat/written")})
    late.update(second)

    assert late.state() == again.state()
    assert late.state() != whole.state()


def test_a_memory_that_could_not_be_read_is_still_told() -> None:
    """Hearing again is silent: the warning waits for the next output that is judged."""
    panel, hearing = Panel.standard(), Hearing(Panel.standard())
    hearing.update(Output("Fog."))
    panel.load({"repeat": {"version": "none"}})

    hear_again(panel, [*hearing.events, {"forgot": "loop"}])

    assert "could not be read" in panel.update(Output("Rain."))[0].reason


@pytest.mark.parametrize("event", [7, {}, {"said": "x"}, {"came": [1]}, {"said": "x", "calls": [1]}, {"forgot": None}])
def test_what_is_no_event_is_refused(event: object) -> None:
    """A damaged record is a ValueError and nothing else."""
    with pytest.raises(ValueError, match="expected"):
        hear_again(Panel.standard(), [event])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database for one watch."""
    opened = Database.open(tmp_path / "trimtab.db")
    yield opened
    opened.close()


def names(database: Database) -> list[str]:
    """Return every name that a row of the guards has."""
    query = "SELECT guard FROM guard_state ORDER BY guard"
    return asyncio.run(database.read(lambda connection: [guard for (guard,) in connection.execute(query)]))


def test_the_next_process_goes_on_where_this_one_was(database: Database) -> None:
    """However many runs there were since whole states were saved, who starts anew remembers as if all had been."""
    here, alone = Watch(SqlGuardStates(database)), Watch()
    for number in range(RUNS + 5):
        here.run(f"Lamp {number % 3} is lit.", f"look {number}")
        alone.run(f"Lamp {number % 3} is lit.", f"look {number}")
        later = Watch(SqlGuardStates(database), remembering=False) if number in (3, RUNS + 2) else here
        later.run("Fog.")
        alone.run("Fog.")

    Watch(SqlGuardStates(database)).run()
    alone.run()
    kept = asyncio.run(here.states.load("watch"))
    assert {name: state for (_, name), state in alone.states.kept.items()} == kept


def test_whole_states_are_saved_now_and_then(database: Database) -> None:
    """Most runs add what was heard; the one after the most that may be heard again saves whole states."""
    watch = Watch(SqlGuardStates(database))
    found = []
    for _ in range(RUNS + 3):
        watch.run("Fog.")
        found.append(sum(name.startswith("heard/") for name in names(database)))

    assert [*range(RUNS + 1), 0, 1] == found


def test_a_long_run_saves_whole_states(database: Database) -> None:
    """What is long is not heard again: states are of constant size."""
    watch = Watch(SqlGuardStates(database))
    watch.run("Fog.")
    watch.run("The lamp is lit. " * 20_000)

    assert not [name for name in names(database) if name.startswith("heard/")]


def test_a_reset_between_two_runs_stays_one(database: Database) -> None:
    """What a guard heard before a person reset it does not come back with what was heard."""
    watch, alone = Watch(SqlGuardStates(database)), Watch()
    for _ in range(12):
        watch.run("The lamp is lit and the harbour is calm, as it was in every hour of this long night.")
    count = asyncio.run(forget(database.path, "reset", "watch", ["repeat", "breaker:repeat"], "test"))
    watch.run("Snow.")
    alone.run("Snow.")
    kept = asyncio.run(watch.states.load("watch"))

    assert 1 == count
    assert alone.states.kept["watch", "repeat"] == kept["repeat"]
    assert alone.states.kept["watch", "catchphrase"] != kept["catchphrase"]


def test_a_reset_during_a_run_makes_it_save_whole_states(database: Database) -> None:
    """What was heard is added only to the save that it came after."""

    async def story() -> str:
        states = SqlGuardStates(database)
        stamp = await states.save("watch", {"repeat": {}, "loop": {}})
        await states.forget("watch", "repeat")
        return await states.add("watch", stamp, [{"came": []}], {})

    assert "" == asyncio.run(story())
    assert ["loop"] == names(database)


def test_what_was_heard_is_no_state_of_its_own(database: Database) -> None:
    """It is neither listed nor counted nor loaded as one, and goes when everything is forgotten."""

    async def story() -> tuple[list[str], list[str], int]:
        states = SqlGuardStates(database)
        for thread in ("watch", "other"):
            stamp = await states.save(thread, {"repeat": {}, "loop": {}})
            assert await states.add(thread, stamp, [{"came": []}], {"breaker:loop": {}})
        listed = [guard for thread, guard, _ in await states.all() if thread == "watch"]
        return listed, list(await states.load("watch")), await states.forget("watch", None)

    assert (["breaker:loop", "loop", "repeat"], ["breaker:loop", "loop", "repeat"], 3) == asyncio.run(story())
    assert [{"came": []}] == asyncio.run(SqlGuardStates(database).heard("other"))
    assert [] == asyncio.run(SqlGuardStates(database).heard("watch"))


def test_a_record_that_is_damaged_ends_no_run(database: Database) -> None:
    """The guards go on from what could be read."""
    watch = Watch(SqlGuardStates(database))
    watch.run("Fog.")
    watch.run("Rain.")
    damage = "UPDATE guard_state SET state = '[{}]' WHERE guard = 'heard/000000'"
    asyncio.run(database.write(lambda connection: connection.execute(damage)))

    assert Watch(SqlGuardStates(database)).run("Hail.")
