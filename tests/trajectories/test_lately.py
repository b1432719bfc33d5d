"""Messages that stay in memory: they spare reading, and never tell anything that the database does not."""

from __future__ import annotations

from daemon.trajectories.lately import KEPT
from daemon.trajectories.threads import SqlThreadLog, append
from daemon.types import Message, Reply, Step
from tests.trajectories.scenes import NOON, SqlKept, begun, wait

SAID = [Message("user", "Look."), Message("assistant", "The lamp is lit."), Message("user", "Look.")]


def put(sql: SqlKept, thread: str, *messages: Message) -> None:
    """Add messages to a thread."""
    wait(sql.database.write(lambda connection: append(connection, thread, messages, None)))


def live(sql: SqlKept, thread: str = "watch") -> list[Message]:
    """Return what is live as the store with a memory has it, after comparing it with one without."""
    known = wait(sql.threads.live(thread))
    assert known == wait(SqlThreadLog(sql.database).live(thread))
    return list(known)


def test_a_message_is_read_once(sql: SqlKept) -> None:
    """The second reading gives the same objects, and only what was added since is new."""
    put(sql, "watch", *SAID)
    first = live(sql)
    put(sql, "watch", Message("assistant", "Fog."))
    second = live(sql)

    assert SAID == first
    assert [id(message) for message in first] == [id(message) for message in second[:3]]
    assert "Fog." == second[3].text


def test_what_changes_in_a_thread_is_seen(sql: SqlKept) -> None:
    """A quarantine and a summary are in the database, and so in the next reading."""
    put(sql, "watch", *SAID)
    live(sql)
    wait(sql.threads.show("watch", [SAID[0], None, Message("user", "Look again.")]))
    assert ["Look.", "Look again."] == [message.text for message in live(sql)]

    wait(sql.threads.compact("watch", Message("user", "Summary."), 1))
    assert ["Summary.", "Look again."] == [message.text for message in live(sql)]

    sql.reopen()
    assert ["Summary.", "Look again."] == [message.text for message in live(sql)]


def test_a_step_that_is_sent_known_messages_names_their_rows(sql: SqlKept) -> None:
    """A step names the same rows whether its messages are those that were read or only equal to them."""
    put(sql, "watch", *SAID)
    read = tuple(live(sql))
    for number, messages in enumerate((read, tuple(SAID), (*read, Message("user", "New."))), start=1):
        run = wait(begun(sql, number))
        wait(sql.recorder.step(run, Step(1, NOON, messages, Reply("Calm."))))
    query = "SELECT sent FROM step ORDER BY id"
    sent = [rows for (rows,) in wait(sql.database.read(lambda connection: connection.execute(query).fetchall()))]

    assert sent[0] == sent[1]
    assert sent[0] == sent[2][: len(sent[0])]
    assert len(sent[2]) > len(sent[0])


def test_only_so_many_threads_are_kept(sql: SqlKept) -> None:
    """Of many threads only those that were read last stay in memory; the others are read again."""
    for number in range(KEPT + 1):
        put(sql, f"thread {number}", *SAID)
    first = live(sql, "thread 0")
    again = live(sql, "thread 0")
    for number in range(1, KEPT + 1):
        live(sql, f"thread {number}")

    assert first[0] is again[0]
    assert first[0] is not live(sql, "thread 0")[0]
