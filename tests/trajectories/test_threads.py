"""What every thread log promises: messages come back to the id, and a summary stands in without losing anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daemon.types import Message, ToolCall
from tests.trajectories.scenes import ASK, Kept, SqlKept, begun, ended, wait

SAID = (
    ASK,
    Message("assistant", "", (ToolCall("c1", "host", {"n": 1}),), token_ids=(5, 0, 2**32 - 1), token_model="m" * 64),
    Message("tool", "0.42", call_id="c1", name="host", failed=True),
    Message("assistant", "Quiet.", token_ids=()),
)


async def told(kept: Kept, number: int = 1, *messages: Message) -> None:
    """Finish a run that leaves these messages in the thread."""
    await kept.recorder.finish(ended(await begun(kept, number)), messages or SAID)


def test_a_new_thread_is_empty(kept: Kept) -> None:
    """A thread that nobody spoke in has no messages."""
    assert () == wait(kept.threads.live("watch"))


def test_messages_come_back_exactly(kept: Kept) -> None:
    """Token ids, calls and marks of a message are those that went in; no ids and empty ids are told apart."""

    async def story() -> None:
        await told(kept)

        assert SAID == await kept.threads.live("watch")

    wait(story())


def test_the_same_words_said_twice_are_there_twice(kept: Kept) -> None:
    """A message is stored once, and stands in the thread as often as it was said."""

    async def story() -> None:
        await told(kept, 1, ASK, ASK)
        await told(kept, 2, ASK)

        assert (ASK, ASK, ASK) == await kept.threads.live("watch")

    wait(story())


@pytest.mark.parametrize("keep", [0, 1, 3, 4, 9])
def test_a_summary_stands_for_all_but_the_last(kept: Kept, keep: int) -> None:
    """After a compaction the summary comes first, then the messages that were kept, then what is said later."""
    summary = Message("user", "Earlier: all quiet.", name="summary")

    async def story() -> None:
        await told(kept)
        await kept.threads.compact("watch", summary, keep)
        await told(kept, 2, ASK)

        assert (summary, *SAID[max(0, 4 - keep) :], ASK) == await kept.threads.live("watch")

    wait(story())


@pytest.mark.parametrize("keep", [0, 2, 9])
def test_a_second_summary_may_stand_for_the_first(kept: Kept, keep: int) -> None:
    """A compaction treats an older summary like any live message."""
    first, second = Message("user", "One."), Message("user", "Two.")

    async def story() -> None:
        await told(kept)
        await kept.threads.compact("watch", first, 2)
        await kept.threads.compact("watch", second, keep)
        live = (first, *SAID[2:])

        assert (second, *live[max(0, 3 - keep) :]) == await kept.threads.live("watch")

    wait(story())


def test_a_negative_keep_is_refused(kept: Kept) -> None:
    """A compaction that makes no sense changes nothing."""

    async def story() -> None:
        await told(kept)
        with pytest.raises(ValueError, match="cannot keep"):
            await kept.threads.compact("watch", ASK, -1)

        assert SAID == await kept.threads.live("watch")

    wait(story())


def test_threads_do_not_mix(kept: Kept) -> None:
    """What is said in one thread is not heard in another."""

    async def story() -> None:
        await told(kept)
        other = replace(await begun(kept, 2), thread="other")
        await kept.recorder.finish(ended(other), (ASK,))
        await kept.threads.compact("other", ASK, 0)

        assert SAID == await kept.threads.live("watch")

    wait(story())


def test_a_thread_goes_on_after_a_restart(sql: SqlKept) -> None:
    """Live messages and summaries are still there for the next process."""
    summary = Message("user", "Earlier.")

    async def before() -> None:
        await told(sql)
        await sql.threads.compact("watch", summary, 1)

    wait(before())
    sql.reopen()

    assert (summary, SAID[-1]) == wait(sql.threads.live("watch"))
