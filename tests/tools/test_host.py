"""The host tool: exact lines, real facts, and what cannot be known."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.tools import host_facts as facts
from daemon.tools import systemd_facts
from daemon.tools.base import Setting
from daemon.tools.host import Host
from daemon.tools.host_facts import Disk, Errors, Machine, StillMachine
from daemon.tools.toolbox import Toolbox
from daemon.types import ToolCall

GIB = 1024**3


def ask(setting: Setting, machine: Machine | None = None, **args: Any) -> str:
    """The text of one call."""
    return asyncio.run(Toolbox([Host(machine=machine)], setting).run(ToolCall("1", "host", args))).text


def test_all_the_facts_in_their_order(setting: Setting) -> None:
    """The lines are those that the shipped model knows, in its order."""
    up = setting.now.timestamp() - timedelta(days=3, hours=4, minutes=59).total_seconds()

    assert ask(setting, StillMachine(since=up)).splitlines() == [
        "load 0.31 0.20 0.11 on 2 cores",
        "memory 41 % of 23.4 GiB used",
        "disk / 55 % of 252 GiB used, 80.1 GiB free",
        "uptime 3 d 4 h",
        "failed units: none",
        "errors in the last hour: none",
    ]


def test_trouble_is_told(setting: Setting) -> None:
    """Failed units by name, errors with their count and the newest three."""
    logged = Errors(7, (("sshd", "bad\npassword\x1b[2J"), ("kernel", "x" * 300), ("a", "b"), ("never", "shown")))
    lines = ask(setting, StillMachine(failed=("nginx.service", "backup.timer"), logged=logged)).splitlines()[4:]

    assert lines[:3] == [
        "failed units: nginx.service, backup.timer",
        "errors in the last hour: 7",
        "error sshd: bad password<U+001B>[2J",
    ]
    assert [len(lines[3]), len(lines)] == [120, 5]


def test_what_cannot_be_known_is_said(setting: Setting) -> None:
    """Without systemd or a readable journal the lines say so, and nothing looks healthy by accident."""
    lines = ask(setting, StillMachine(failed=None, logged=None, mounted=())).splitlines()

    assert lines[2] == "no disks"
    assert lines[-2:] == [
        "failed units: unknown (no systemd)",
        "errors in the last hour: unknown (journal not readable)",
    ]


@pytest.mark.parametrize("what", ["load", "memory", "disks", "uptime", "units", "errors"])
def test_one_part_is_part_of_all(setting: Setting, what: str) -> None:
    """Asking for one part gives the lines that stand in the whole."""
    part = ask(setting, StillMachine(), what=what)

    assert part in ask(setting, StillMachine(), what="all")


def test_disks_are_ranked_and_told_once(setting: Setting) -> None:
    """The root comes first, then the fullest; a device mounted twice counts once; four are told."""
    mounted = (
        Disk("/mnt/bind", "/dev/a", 10, GIB, GIB),
        Disk("/", "/dev/a", 10, GIB, GIB),
        *(Disk(f"/d{n}", f"/dev/{n}", n * 10, GIB, GIB) for n in range(1, 7)),
    )
    lines = ask(setting, StillMachine(mounted=mounted), what="disks").splitlines()

    assert [line.split()[1] for line in lines] == ["/", "/d6", "/d5", "/d4"]


@pytest.mark.parametrize(
    ("minutes", "told"),
    [(0, "0 min"), (59, "59 min"), (60, "1 h 0 min"), (250, "4 h 10 min"), (4560, "3 d 4 h"), (-5, "0 min")],
)
def test_uptime_in_words(minutes: int, told: str) -> None:
    """Minutes, then hours and minutes, then days and hours; a clock set back is no uptime below zero."""
    assert facts.uptime_lines(timedelta(minutes=minutes)) == [f"uptime {told}"]


@given(st.integers(min_value=1024**2, max_value=10**17))
def test_a_size_is_short_and_near(count: int) -> None:
    """Any size is told with a unit, without an exponent, and within one percent (above a hundred MiB)."""
    number, unit = facts.size(count).split()
    scale = {"MiB": 1024**2, "GiB": GIB, "TiB": 1024 * GIB}[unit]

    assert "e" not in number or count > 900 * 1024 * GIB
    assert abs(float(number) * scale - count) <= max(0.01 * count, 0.6 * 1024**2)


def test_this_machine_answers(setting: Setting) -> None:
    """On the machine that runs the tests every line has its shape."""
    shapes = [
        r"load \d+\.\d\d \d+\.\d\d \d+\.\d\d on \d+ cores",
        r"memory \d+ % of [\d.]+ [GMT]iB used",
        r"disk / \d+ % of [\d.]+ [GMT]iB used, [\d.]+ [GMT]iB free",
        r"uptime (\d+ min|\d+ h \d+ min|\d+ d \d+ h)",
        r"failed units: .+",
        r"errors in the last hour: .+",
    ]
    text = ask(setting)

    assert all(re.search(f"^{shape}$", text, re.MULTILINE) for shape in shapes), text


def test_a_journal_is_counted_and_its_newest_shown() -> None:
    """Entries as journalctl prints them: units, identifiers, bytes that are no text, torn lines."""
    entries: list[dict[str, Any]] = [
        {"_SYSTEMD_UNIT": "old.service", "MESSAGE": "first"},
        {"_SYSTEMD_UNIT": "nginx.service", "MESSAGE": "down"},
        {"SYSLOG_IDENTIFIER": "kernel", "MESSAGE": [104, 105, 255]},
    ]
    lines = [json.dumps(entry) for entry in entries] + ["{torn", "-- no entry --"]
    errors = systemd_facts.errors_in("\n".join(lines))

    assert errors.count == 4
    assert errors.newest == (("journal", "an entry that cannot be read"), ("kernel", "hi\ufffd"), ("nginx", "down"))
    assert systemd_facts.errors_in("") == Errors(0)


def test_failed_units_are_read_from_a_plain_listing() -> None:
    """The first word of each line is the unit."""
    listing = "nginx.service loaded failed failed A web server\nbackup.timer  loaded failed failed Backup\n\n"

    assert systemd_facts.units_in(listing) == ["nginx.service", "backup.timer"]
