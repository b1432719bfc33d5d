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


def test_what_is_shown_instead_lasts_and_the_history_keeps_the_rest(sql: SqlKept) -> None:
    """A quarantine changes what is live, for the next process too; the messages themselves stay."""
    shorter = replace(SAID[1], text="", token_ids=None, token_model=None)

    async def before() -> None:
        await told(sql)
        await sql.threads.show("watch", [SAID[0], shorter, SAID[2], None])
        await told(sql, 2, ASK)

    wait(before())
    sql.reopen()
    said = "SELECT text FROM thread_entry JOIN message ON message.id = message_id ORDER BY position"
    history = wait(sql.database.read(lambda connection: [row[0] for row in connection.execute(said)]))

    assert (SAID[0], shorter, SAID[2], ASK) == wait(sql.threads.live("watch"))
    assert [*(message.text for message in SAID), ASK.text] == history


def test_a_quarantine_of_a_summary_and_a_compaction_after_it(kept: Kept) -> None:
    """Both ways to make a thread shorter may follow each other in any order."""
    summary, cleaned, later = (Message("user", text, name="summary") for text in ("One.\nTwo.", "One.", "Three."))

    async def story() -> None:
        await told(kept)
        await kept.threads.compact("watch", summary, 2)
        await kept.threads.show("watch", [cleaned, None, SAID[3]])
        assert (cleaned, SAID[3]) == await kept.threads.live("watch")
        await kept.threads.compact("watch", later, 1)

        assert (later, SAID[3]) == await kept.threads.live("watch")

    wait(story())


def test_something_shown_for_another_thread_is_refused(kept: Kept) -> None:
    """As many messages as are live, or nothing changes."""

    async def story() -> None:
        await told(kept)
        with pytest.raises(ValueError, match="2 messages for the 4 live ones of watch"):
            await kept.threads.show("watch", [None, None])

        assert SAID == await kept.threads.live("watch")

    wait(story())
