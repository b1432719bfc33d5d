"""What a log line shows, hides and survives."""

from __future__ import annotations

import io
import json
import logging
import os
import socket
import subprocess
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from daemon import telemetry

BOTH = pytest.mark.parametrize("as_json", [True, False], ids=["json", "console"])


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for name in telemetry.QUIET:
        logging.getLogger(name).setLevel(logging.NOTSET)


def written(as_json: bool | None = True, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    telemetry.setup(level, stream=stream, as_json=as_json)
    return stream


def one(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_stream_that_is_no_terminal_gets_one_json_object_a_line() -> None:
    """Without a terminal each event is one JSON object with time, level, event and its facts."""
    stream = written(None)
    structlog.get_logger().info("run.finished", outcome="ok", steps=3)

    row = one(stream)
    assert list(row)[:3] == ["timestamp", "level", "event"]
    assert row["timestamp"].endswith("Z")
    assert (row["level"], row["event"], row["outcome"], row["steps"]) == ("info", "run.finished", "ok", 3)


def test_a_terminal_gets_colours_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the line is readable text in colours; NO_COLOR takes the colours away."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for no_color, coloured in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", no_color)
        stream = Terminal()
        telemetry.setup(stream=stream)
        structlog.get_logger().info("run.finished", outcome="ok")

        assert "run.finished" in stream.getvalue()
        assert ("\x1b[" in stream.getvalue()) is coloured


@BOTH
@given(hostile=st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L"]), min_size=1, max_size=40))
def test_no_text_can_move_a_cursor_or_fake_a_line(as_json: bool, hostile: str) -> None:
    """Control, bidirectional and line-breaking characters of values, keys and events come out as escapes."""
    stream = written(as_json)
    structlog.get_logger().info(f"run.finished {hostile}", text=hostile, deep={hostile: [hostile]})

    text = stream.getvalue()
    assert text.endswith("\n")
    assert not {unicodedata.category(char) for char in text[:-1]} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@BOTH
def test_an_exception_message_cannot_pose_as_a_line(as_json: bool) -> None:
    """The lines of a traceback after its first are indented, and their control characters escaped."""
    stream = written(as_json)
    try:
        raise ValueError("bad\n<0>2026-01-01 run.finished outcome=ok\x1b[2K\r")
    except ValueError:
        structlog.get_logger().exception("run.failed")

    text = stream.getvalue()
    assert "\x1b" not in text
    assert "\r" not in text
    assert all(line.startswith("  ") for line in text.splitlines()[2:])


@BOTH
@pytest.mark.parametrize("key", ["api_key", "TOKEN", "client_secret", "Authorization", "password", "x-api-key"])
def test_a_key_that_names_a_secret_shows_none(as_json: bool, key: str) -> None:
    """The value of a key that names a secret is hidden, at any depth."""
    stream = written(as_json)
    structlog.get_logger().info("model.called", **{key: "hunter2-hunter2"}, headers=[{key: ["hunter2-hunter2"]}])

    assert "hunter2" not in stream.getvalue()
    assert stream.getvalue().count("[hidden]") == 2


def test_counts_of_tokens_are_no_secrets() -> None:
    """A number under a key such as `tokens` is a count and is shown; a number under `password` is not."""
    stream = written()
    structlog.get_logger().info("step.done", tokens=812, reused_tokens=0.5, password=1234)

    row = one(stream)
    assert (row["tokens"], row["reused_tokens"], row["password"]) == (812, 0.5, "[hidden]")


@pytest.mark.parametrize(
    "text",
    ["GET https://user:hunter2x@host/", "Authorization: Bearer hunter2x.abc", "wrong key sk-hunter2x-0123456789"],
)
def test_the_usual_secrets_inside_free_text_are_hidden(text: str) -> None:
    """Passwords in URLs, bearer tokens and `sk-` keys are hidden inside longer text and inside tracebacks."""
    stream = written()
    try:
        raise ValueError(text)
    except ValueError:
        structlog.get_logger().exception("model.failed", why=text)

    assert "hunter2x" not in stream.getvalue()


def test_long_values_are_cut_and_say_so() -> None:
    """A value of more than 2,000 characters is cut there, and the line says how long it was."""
    stream = written()
    structlog.get_logger().info("tool.finished", short="y" * 2_000, long="x" * 100_000)

    row = one(stream)
    assert row["short"] == "y" * 2_000
    assert row["long"] == "x" * 2_000 + "… (of 100000 characters)"


def test_structures_are_bounded() -> None:
    """Mappings and lists lose what is past 50 items, and what is deeper than four levels becomes text."""
    deep: Any = "bottom"
    for _ in range(20):
        deep = [deep]
    stream = written()
    structlog.get_logger().info("run.finished", items=list(range(1_000)), deep=deep)

    row = one(stream)
    assert len(row["items"]) == 50
    assert row["deep"][0][0][0][0].endswith("]")


@BOTH
def test_libraries_log_through_the_same_renderer(as_json: bool) -> None:
    """Records of the standard logging module come out in the same form, cleaned, with the logger's name."""
    stream = written(as_json)
    logging.getLogger("some.library").warning("cannot read %s", "a\x1b[1mb")

    assert "some.library" in stream.getvalue()
    assert "cannot read a" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 1


@pytest.mark.parametrize("name", ["apscheduler.scheduler", "httpx", "uvicorn.access", "sqlalchemy.engine"])
def test_chatty_libraries_are_quiet(name: str) -> None:
    """The information lines of chatty libraries are left out; their warnings are not."""
    stream = written()
    logging.getLogger(name).info("a request")
    logging.getLogger(name).warning("a problem")

    assert one(stream)["event"] == "a problem"


def test_warnings_go_to_the_log() -> None:
    """A Python warning is a log line and not a stray line on standard error."""
    stream = written()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        telemetry.setup(stream=stream)
        warnings.warn("old thing", UserWarning, stacklevel=1)

    assert "old thing" in one(stream)["event"]


def test_levels_below_the_asked_one_are_left_out() -> None:
    """At level warning an information line is not written, at debug it is."""
    stream = written(level="warning")
    structlog.get_logger().info("run.finished")
    assert stream.getvalue() == ""

    stream = written(level="debug")
    structlog.get_logger().debug("run.finished")
    assert one(stream)["level"] == "debug"


def test_a_level_that_does_not_exist_is_refused() -> None:
    """An unknown level raises a ValueError that lists the levels."""
    with pytest.raises(ValueError, match="'loud' is not one of debug"):
        telemetry.setup("loud", stream=io.StringIO())


def test_a_run_is_on_every_line_inside_and_on_none_after() -> None:
    """Inside `bind_run` each line carries run, heartbeat and thread, also those of libraries."""
    stream = written()
    log = structlog.get_logger()
    with telemetry.bind_run("r1", "host-watch", "main"):
        log.info("step.done")
        logging.getLogger("library").warning("hm")
    log.info("daemon.stopped")

    inside, library, after = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (inside["run"], inside["heartbeat"], inside["thread"]) == ("r1", "host-watch", "main")
    assert library["run"] == "r1"
    assert "run" not in after


def test_a_full_disk_or_closed_stream_does_not_raise() -> None:
    """A log line that cannot be written is lost; the caller goes on."""

    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(28, "No space left on device")

    telemetry.setup(stream=Full())
    structlog.get_logger().info("run.finished")
    logging.getLogger("library").warning("hm")
    closed = written()
    closed.close()
    structlog.get_logger().info("run.finished")


def test_the_journal_learns_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where this stream is the journal's, lines start with the priority that journald reads."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("w") as stream:
        facts = os.fstat(stream.fileno())
        for journal, start in ((f"{facts.st_dev}:{facts.st_ino}", b'<3>{"'), ("1:2", b'{"')):
            monkeypatch.setenv("JOURNAL_STREAM", journal)
            telemetry.setup(stream=stream)
            structlog.get_logger().error("run.failed")
            assert theirs.recv(1_000).startswith(start)


def test_importing_it_loads_nothing_heavy() -> None:
    """Telemetry is on the ground floor: importing it loads no database, scheduler or web library."""
    code = "import sys, daemon.telemetry; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"apscheduler", "httpx", "sqlalchemy", "pydantic", "prometheus_client", "uvicorn"} & set(loaded)
