"""What a heartbeat file may say, and the one line that a wrong one gets."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.errors import ConfigError
from daemon.heartbeat.file import is_empty, parse
from daemon.heartbeat.front import LIMIT
from daemon.types import Budget, Heartbeat, Schedule

BERLIN = ZoneInfo("Europe/Berlin")


def read(matter: str, body: str = "Do it.") -> Heartbeat:
    """Parse a file made of this front matter and this body."""
    return parse("heartbeats/x.md", "x", f"---\n{matter}\n---\n{body}\n".encode(), BERLIN)


def problem_of(data: bytes) -> str:
    """The line that these bytes get, "" when they are a heartbeat."""
    try:
        parse("heartbeats/x.md", "x", data, BERLIN)
    except ConfigError as wrong:
        return str(wrong)
    return ""


def complaint(matter: str) -> str:
    """The line that a wrong file gets."""
    with pytest.raises(ConfigError) as wrong:
        read(matter)
    assert "\n" not in str(wrong.value)
    assert wrong.value.exit_code == 78
    return str(wrong.value)


def test_every_key_is_read() -> None:
    """Each key of the design ends in the field that is meant."""
    heartbeat = read(
        """every: 1h30m
timezone: America/New_York
active_hours: 22:00-06:00
misfire: all
grace: 2h
thread: chief-of-staff
model: [local, frontier]
tools: [vault, "mcp:slack"]
expect: host
facts: [vault]
acknowledge: [HEARTBEAT_OK, All is well.]
budget: {usd: none, tokens: 500, seconds: 1.5}
paused: true""",
        "Check what changed.\n\n---\n\nThen rest.",
    )

    assert heartbeat == Heartbeat(
        "x",
        Schedule(
            every=timedelta(minutes=90),
            timezone=ZoneInfo("America/New_York"),
            active_hours=(time(22), time(6)),
            misfire="all",
            grace=timedelta(hours=2),
        ),
        "Check what changed.\n\n---\n\nThen rest.",
        "chief-of-staff",
        ("local", "frontier"),
        ("vault", "mcp:slack"),
        ("host",),
        Budget(steps=12, tokens=500, seconds=1.5, usd=None),
        True,
        ("vault",),
        ("HEARTBEAT_OK", "All is well."),
    )


def test_what_is_left_out_has_its_default() -> None:
    """The thread is the heartbeat's own, the zone is the agent's, and the rest is as the types say."""
    assert Heartbeat("x", Schedule(every=timedelta(minutes=5), timezone=BERLIN), "Do it.", "x") == read("every: 5m")
    assert read("every: 5m\nthread: none").thread is None


@pytest.mark.parametrize(
    "text", ["2026-12-01T09:00", "2026-12-01 09:00:00", '"2026-12-01T08:00:00Z"', "2026-12-01T09:00+01:00"]
)
def test_one_moment_is_read_in_its_zone(text: str) -> None:
    """Each way to write a date and a time is the same moment in winter in Berlin."""
    assert datetime(2026, 12, 1, 8, tzinfo=UTC) == read(f"at: {text}").schedule.at


@pytest.mark.parametrize(
    ("matter", "said"),
    [
        ("every: 30", "heartbeats/x.md: every: expected a duration such as 30s, 5m, 2h, 1d or 1h30m, not '30'"),
        ("every: 0s", "every: expected at least 1s, not '0s'"),
        ("every: 22:00", "every: expected a duration"),
        ("every: 99999d", "and at most 3660d"),
        ("every: 5m\ncron: '* * * * *'", "expected exactly one of every, cron, at; not every and cron"),
        ("tools: [vault]", "expected exactly one of every, cron, at; there is none"),
        ("", "expected exactly one of every, cron, at; there is none"),
        ("cron: 0 0 30 2 *", "cron: is never due"),
        ("cron: 0 3 * * *\nactive_hours: 08:00-22:00", "cron: is never due inside active_hours"),
        ("at: tomorrow", "at: expected an ISO date and time such as 2026-12-01T09:00, not 'tomorrow'"),
        ("at: 2026-12-01", "the time of day is missing"),
        ("at: 2026-03-29T02:30", "skipped in Europe/Berlin when the clocks change"),
        ("every: 5m\non: {file: inbox/*.md}", "on: is not supported by this version"),
        ("every: 5m\nafter: render", "after: is not supported by this version"),
        ("every: 5m\npacing: {min: 2m}", "pacing: is not supported by this version"),
        ("every: 5m\nsensitive: true", "sensitive: is not supported by this version"),
        ("every: 5m\ntols: [vault]", "tols: unknown key; did you mean 'tools'?"),
        ("every: 5m\nzzz: 1", "zzz: unknown key; known: every, cron, at"),
        ("every: 5m\ntimezone: europe/berlin", "did you mean 'Europe/Berlin'?"),
        ("every: 5m\ntimezone: ../../etc/passwd", "timezone: expected an IANA time zone"),
        ("every: 5m\nactive_hours: 8-22", "active_hours: expected HH:MM-HH:MM such as 08:00-22:00, not '8-22'"),
        ("every: 5m\nactive_hours: 08:00-08:00", "with two times that differ"),
        ("every: 5m\nmisfire: skp", "misfire: expected one of skip, run_once, all, not 'skp'; did you mean 'skip'?"),
        ("every: 5m\ngrace: -5m", "grace: expected a duration"),
        ("every: 5m\nthread: My Thread", "thread: expected the name of a thread"),
        ("every: 5m\nmodel: [a, a]", "model: expected each name once, not 'a' twice"),
        ("every: 5m\nmodel: {a: b}", "model: expected a name or a list of names"),
        ("every: 5m\ntools: vault, host", "tools: expected a name or a list of names"),
        ("every: 5m\nbudget: 5", "budget: expected {usd: 0.05, tokens: 20000, steps: 12, seconds: 600}, not '5'"),
        ("every: 5m\nbudget: {step: 5}", "did you mean 'steps'?"),
        ("every: 5m\nbudget: {usd: nan}", "budget: usd: expected a number from 0 on, or none, not 'nan'"),
        ("every: 5m\nbudget: {tokens: 1.5}", "budget: tokens: expected a whole number from 1 on"),
        ("every: 5m\npaused: maybe", "paused: expected true or false, not 'maybe'"),
        ("every: 5m\npaused:", "paused: expected true or false, not nothing"),
        ("every: 5m\nevery: 6m", "every: is there twice (line 3); expected once"),
        ("every: &a 5m\nmodel: *a", "line 2: YAML anchors and aliases"),
        ("every: !!python/object:os.system 5m", "line 2: YAML tags"),
        ("every: [5m", "line 3: not valid YAML"),
        ("every: 5m\nmodel: [[[[a]]]]", "line 3: is nested too deeply"),
        ("- every: 5m", "expected `key: value` lines in the front matter"),
        ("every: 5m\n? [a, b]\n: c", "expected a word before the colon"),
        ("every: \x07", "not valid YAML"),
    ],
)
def test_a_wrong_key_gets_one_line(matter: str, said: str) -> None:
    """The line names the file, the key and what was expected."""
    line = complaint(matter)

    assert line.startswith("heartbeats/x.md: ")
    assert said in line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected front matter"),
        (b"Just do it.", "expected front matter"),
        (b"---\nevery: 5m\n", "the second --- is missing"),
        (b"---\nevery: 5m\n---\n\xff\xfe", "byte 18 is not UTF-8"),
        (b"---\nevery: 5m\n---\na\0b", "holds a NUL at character 19"),
        (b"x" * (LIMIT + 1), "is larger than 64 KiB"),
        (b"---\n" + b"[" * 60_000 + b"\n---\n", "is nested too deeply"),
        (b"---\n" + b"a: [" * 9_000 + b"\n---\n", "is nested too deeply"),
        (b"---\n" + b"{" * 60_000 + b"\n---\n", "is nested too deeply"),
        (b"---\n%YAML 9.9\n---\n", "not valid YAML"),
    ],
)
def test_a_file_that_is_no_heartbeat_gets_one_line(data: bytes, said: str) -> None:
    """Bytes that are no text, and text that is no front matter, are said to be so."""
    with pytest.raises(ConfigError) as wrong:
        parse("heartbeats/x.md", "x", data, BERLIN)

    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("name", ["", "X", "a b", "-a", "a_b", "ä", "a" * 65, "a.b", "a\nb"])
def test_a_file_name_is_a_plain_word(name: str) -> None:
    """The name is the file's stem, of a-z, 0-9 and -."""
    with pytest.raises(ConfigError, match="expected a file name of a-z, 0-9 and -"):
        parse("heartbeats/odd.md", name, b"---\nevery: 5m\n---\nhi", BERLIN)


def test_windows_files_are_read() -> None:
    """A byte order mark and carriage returns change nothing."""
    data = b"\xef\xbb\xbf---\r\nevery: 5m\r\n---\r\nOne.\r\nTwo.\r\n"

    assert "One.\nTwo." == parse("heartbeats/x.md", "x", data, BERLIN).instruction


@pytest.mark.parametrize(
    ("body", "empty"),
    [
        ("", True),
        ("  \n\t\n", True),
        ("# Heading\n\n## Another", True),
        ("<!-- Write here what is to be done.\n\nOver lines. -->", True),
        ("<!-- never closed\nDo it.", True),
        ("- [ ] \n- \n---", True),
        ("# Heading\nDo it.", False),
        ("<!-- a --> Do it. <!-- b -->", False),
        ("#hashtag", False),
        ("- [ ] Water the plants", False),
    ],
)
def test_an_instruction_may_say_nothing(body: str, empty: bool) -> None:
    """Headings, comments and empty list items are no instruction; the file is good all the same."""
    assert empty is is_empty(read("every: 5m", body))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_break_the_parser(data: bytes) -> None:
    """Any bytes at all are a heartbeat or a ConfigError of one line."""
    assert "\n" not in problem_of(data)
    assert "\n" not in problem_of(b"---\n" + data + b"\n---\n")


@settings(deadline=None)
@given(st.text(alphabet=":-[]{}&*!|>'\"%@`#, \nabc09", max_size=80))
def test_no_yaml_breaks_the_parser(matter: str) -> None:
    """Any punctuation that YAML knows is a heartbeat or a ConfigError of one line."""
    assert "\n" not in problem_of(f"---\nevery: 5m\n{matter}\n---\nDo it.".encode())


@settings(deadline=None)
@given(st.timedeltas(timedelta(seconds=1), timedelta(days=3660)))
def test_a_duration_comes_back(length: timedelta) -> None:
    """What is written as days, hours, minutes and seconds is read as that."""
    seconds = int(length.total_seconds())
    text = f"{seconds // 86400}d{seconds % 86400 // 3600}h{seconds % 3600 // 60}m{seconds % 60}s"

    assert timedelta(seconds=seconds) == read(f"every: {text}").schedule.every


@pytest.mark.parametrize(
    "matter",
    [
        '"ev\\e[2Jry": 5m',
        "ev\u202ery: 5m",
        'every: 5m\n"x\\e[2J": 1\n"x\\e[2J": 1',
        'every: "5\\e]0;owned\\a"',
        'every: 5m\nmodel: ["lo\\e[31mcal"]',
        'every: 5m\nmodel: ["lo\\u202ecal", "lo\\u202ecal"]',
        'every: 5m\nthread: "a\\nb"',
        'every: 5m\nbudget: {"us\\e[31md": 1}',
        'every: 5m\nbudget: {usd: "1\\e[31m"}',
        "at: 2026-03-29\u202e02:30",
        'cron: "* * * * \\e[31m"',
        "every: 5m\nmodel: @\u202e",
        "every: 5m\x1b[31m",
        'timezone: "Europe/\\e[31mBerlin"\nevery: 5m',
    ],
)
def test_no_file_can_write_to_a_terminal(matter: str) -> None:
    """What is repeated of a key or a value is spelled out: no escape sequence, no new line, no turned text."""
    assert complaint(matter).isprintable()


@pytest.mark.parametrize(
    ("matter", "expected"),
    [
        ("model: [local, lokal]", "model: expected one of frontier, local, not 'lokal'; did you mean 'local'?"),
        ("tools: [hots]", "tools: expected one of host, vault, not 'hots'; did you mean 'host'?"),
        ("tools: [host]\nexpect: vault", "expect: expected one of host, not 'vault'"),
        ("tools: [host, vault]\nexpect: valt.append", "expect: expected one of host, vault, not 'valt.append'"),
        ("tools: [vault]\nexpect: vault.", "expect: expected one of vault, not 'vault.'; did you mean 'vault'?"),
        ("expect: host", "expect: expected nothing, because `tools:` names none, not 'host'"),
    ],
)
def test_a_name_that_is_not_there_is_a_mistake(matter: str, expected: str) -> None:
    """An unknown model or tool, or an expected tool that is not offered, gets file, key, choices and the near one."""
    data = f"---\nevery: 5m\n{matter}\n---\nDo it.\n".encode()
    with pytest.raises(ConfigError) as wrong:
        parse("heartbeats/x.md", "x", data, BERLIN, ["local", "frontier"], ["host", "vault"])

    assert f"heartbeats/x.md: {expected}" == str(wrong.value)
    assert isinstance(parse("heartbeats/x.md", "x", data, BERLIN), Heartbeat)


def test_names_that_are_there_pass() -> None:
    """Known models and tools, an action of a tool, and the user's own tools with a colon are no mistakes."""
    matter = b"---\nevery: 5m\nmodel: local\ntools: [vault, 'mcp:slack']\nexpect: [vault.append, 'mcp:slack']\n---\nx\n"

    assert ("local",) == parse("heartbeats/x.md", "x", matter, BERLIN, {"local"}, {"vault"}).models
