"""What every store of guard states promises."""

from __future__ import annotations

from tests.trajectories.scenes import Kept, SqlKept, wait

STATES = {"repeat": {"seen": [1, 2.5, "é"], "on": True}, "breaker:repeat": {"state": "open", "until": 1.5}}


def test_states_come_back_as_they_were_saved(kept: Kept) -> None:
    """A guard finds its memory again, and the later state replaces the former."""

    async def story() -> None:
        await kept.states.save("watch", {"repeat": {"seen": []}})
        await kept.states.save("watch", STATES)

        assert STATES == dict(await kept.states.load("watch"))
        assert {} == dict(await kept.states.load("other"))

    wait(story())


def test_states_that_are_not_saved_again_stay(kept: Kept) -> None:
    """Saving one guard's state leaves the others alone."""

    async def story() -> None:
        await kept.states.save("watch", STATES)
        await kept.states.save("watch", {"repeat": {}})
        await kept.states.save("watch", {})

        assert {**STATES, "repeat": {}} == dict(await kept.states.load("watch"))

    wait(story())


def test_forgetting_matches_thread_and_guard(kept: Kept) -> None:
    """None is any: one state, one guard everywhere, one thread, or all."""

    async def story() -> None:
        for thread in ("a", "b"):
            await kept.states.save(thread, STATES)

        assert 1 == await kept.states.forget("a", "repeat")
        assert 1 == await kept.states.forget(None, "repeat")
        assert 0 == await kept.states.forget("a", "repeat")
        assert 1 == await kept.states.forget("b", None)
        assert [("a", "breaker:repeat", STATES["breaker:repeat"])] == list(await kept.states.all())
        assert 1 == await kept.states.forget(None, None)

    wait(story())


def test_states_survive_a_restart(sql: SqlKept) -> None:
    """The next process loads what this one saved."""
    wait(sql.states.save("watch", STATES))
    sql.reopen()

    assert STATES == dict(wait(sql.states.load("watch")))


def test_states_for_other_models_go_with_their_guard(kept: Kept) -> None:
    """A guard's name means what it remembers for every model, and no other guard whose name begins like it."""

    async def story() -> None:
        await kept.states.save("watch", {"tool": {}, "tool/a1": {}, "tools": {}})

        assert 2 == await kept.states.forget("watch", "tool")
        assert {"tools": {}} == dict(await kept.states.load("watch"))

    wait(story())


def test_a_model_that_is_remembered_no_more_is_forgotten(kept: Kept) -> None:
    """States for other models last only as long as they are saved, so that they do not pile up."""

    async def story() -> None:
        await kept.states.save("watch", {"tool": {}, "tool/a1": {}, "breaker:tool": {}})
        await kept.states.save("other", {"tool/a1": {}})
        await kept.states.save("watch", {"tool": {}, "tool/b2": {}})

        assert ["breaker:tool", "tool", "tool/b2"] == sorted(await kept.states.load("watch"))
        assert ["tool/a1"] == sorted(await kept.states.load("other"))

    wait(story())


def test_a_stamp_names_one_save_until_something_is_forgotten(kept: Kept) -> None:
    """Each save has its own stamp; a glance finds the last one, with breakers and rungs, until a state is forgotten."""

    async def story() -> None:
        assert ("", {}) == await kept.states.glance("watch")
        assert "" == await kept.states.save("watch", {})
        first = await kept.states.save("watch", STATES)
        second = await kept.states.save("watch", STATES)
        other = await kept.states.save("other", STATES)

        assert 3 == len({first, second, other} - {""})
        assert (second, {"breaker:repeat": STATES["breaker:repeat"]}) == await kept.states.glance("watch")
        assert STATES == dict(await kept.states.load("watch"))
        await kept.states.forget("watch", "repeat")
        assert ("", {"breaker:repeat": STATES["breaker:repeat"]}) == await kept.states.glance("watch")
        assert other == (await kept.states.glance("other"))[0]

    wait(story())
