"""Pausing changes one line of a file and nothing else."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.errors import ConfigError, StorageError
from daemon.heartbeat.file import parse
from daemon.heartbeat.pausing import pause, paused

PLAIN = b"---\nevery: 5m\n---\nDo it.\n"


BOM = b"\xef\xbb\xbf"
ADDED = [
    PLAIN,
    b"---\r\nevery: 5m\r\n---\r\nDo it.",
    BOM + b"---  \nevery: 5m\n----\n\n---\npaused: false\n",
    BOM + b"---\r\nevery: 5m\r\n---\r\n",
    b"---\n\n# mine\nevery: 5m   # often\n\n---\n\n\nx\n\n",
]
CHANGED = [
    (b"---\npaused: false\nevery: 5m\n---\nx", b"paused: false", b"paused: true"),
    (b"---\nevery: 5m\npaused:   no    # until May\n---\npaused: no\n", b":   no  ", b":   true  "),
    (b'---\n"paused": false\nevery: 5m\n---\nx', b"false", b"true"),
    (b"---\r\npaused: false\r\nevery: 5m\r\n---\r\nx", b"false", b"true"),
]


@pytest.mark.parametrize("before", ADDED)
def test_a_line_is_added_at_the_end_of_the_front_matter(before: bytes) -> None:
    """Comments, spaces, line ends and the body stay, and the added line ends as the others do."""
    after = paused("heartbeats/x.md", "x", before, True)

    assert before == after.replace(b"paused: true\r\n" if b"\r" in before else b"paused: true\n", b"")
    assert parse("x", "x", after, ZoneInfo("UTC")).paused
    assert before == paused("heartbeats/x.md", "x", before, False)


@pytest.mark.parametrize(("before", "old", "new"), CHANGED)
def test_only_the_word_changes(before: bytes, old: bytes, new: bytes) -> None:
    """Where the line stands already, its value changes and nothing else."""
    after = paused("heartbeats/x.md", "x", before, True)

    assert before.replace(old, new, 1) == after
    assert after == paused("heartbeats/x.md", "x", after, True)
    assert not parse("x", "x", paused("heartbeats/x.md", "x", after, False), ZoneInfo("UTC")).paused


@pytest.mark.parametrize("data", [b"---\n{every: 5m}\n---\nx", b"---\nevery: 5m\n? paused\n: false\n---\nx"])
def test_what_cannot_be_changed_safely_is_refused(data: bytes) -> None:
    """Front matter of an unusual shape is left to the person."""
    with pytest.raises(ConfigError, match="write `paused: true` into it by hand"):
        paused("heartbeats/x.md", "x", data, True)


@settings(deadline=None)
@given(body=st.text(max_size=60), extra=st.sampled_from([b"", b"# c\n", b"paused: false\n", b"tools: [a]\n"]))
def test_everything_else_stays(body: str, extra: bytes) -> None:
    """For any body, the heartbeat is the same but for the pause, and so are the bytes around the line."""
    if "\0" in body:
        return
    data = b"---\nevery: 5m\n" + extra + b"---\n" + body.encode()
    changed = paused("heartbeats/x.md", "x", data, True)

    assert changed.replace(b"paused: true\n", b"") == data.replace(b"paused: false\n", b"")


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """The file keeps its mode, nothing is left beside it, and a second pause does nothing."""
    path = tmp_path / "look.md"
    path.write_bytes(PLAIN)
    path.chmod(0o640)

    assert [True, False] == [pause(path, True), pause(path, True)]
    assert (0o640, [path]) == (path.stat().st_mode & 0o777, list(tmp_path.iterdir()))
    assert b"paused: true" in path.read_bytes()


def test_a_bad_or_missing_file_gets_one_line(tmp_path: Path) -> None:
    """A file that is no heartbeat is not touched; one that is not there is said to be so."""
    path = tmp_path / "look.md"
    with pytest.raises(StorageError, match=r"look\.md: cannot be changed: No such file"):
        pause(path, True)
    path.write_bytes(b"---\nevery: often\n---\n")
    with pytest.raises(ConfigError, match="every: expected a duration"):
        pause(path, True)

    assert b"---\nevery: often\n---\n" == path.read_bytes()
