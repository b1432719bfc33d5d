"""What systemd is told, in which order, and when it is told nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon.observe.notify import Notify, Watchdog


class Systemd:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.end.setblocking(False)
        self.end.bind(f"\0{address[1:]}" if address.startswith("@") else address)

    def heard(self) -> list[str]:
        """Every message since the last call."""
        messages = []
        while True:
            try:
                messages.append(self.end.recv(4096).decode())
            except BlockingIOError:
                return messages


class Held:
    """A clock that a test moves; whoever sleeps is woken by `pass_time`."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._wake = asyncio.Event()

    def now(self) -> datetime:
        return datetime(2026, 11, 20, tzinfo=UTC)

    def monotonic(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self._wake.wait()
        self._wake.clear()

    async def pass_time(self) -> None:
        self._wake.set()
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture(params=["path", "abstract"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "notify") if request.param == "path" else f"@trimtab-test-{os.getpid()}-{tmp_path.name}"


@pytest.fixture
def systemd(address: str) -> Iterator[Systemd]:
    listening = Systemd(address)
    yield listening
    listening.end.close()


def test_messages_arrive_in_order_on_either_kind_of_socket(systemd: Systemd, address: str) -> None:
    """READY, STATUS, EXTEND_TIMEOUT_USEC and STOPPING arrive as they were sent, on a path and on an abstract socket."""
    notify = Notify.from_environment({"NOTIFY_SOCKET": address})

    assert all([notify.extend(2.5), notify.ready("2 heartbeats"), notify.status("thinking"), notify.stopping()])
    assert systemd.heard() == [
        "EXTEND_TIMEOUT_USEC=2500000",
        "READY=1\nSTATUS=2 heartbeats",
        "STATUS=thinking",
        "STOPPING=1",
    ]


def test_a_status_cannot_smuggle_in_a_message(systemd: Systemd, address: str) -> None:
    """Line breaks in a status become spaces and its length is bounded, so that hostile text feeds no watchdog."""
    notify = Notify(address)
    notify.status("reading a\nWATCHDOG=1\r\nREADY=1")
    notify.status("x" * 10_000)
    notify.status(" \n ")

    assert systemd.heard() == ["STATUS=reading a WATCHDOG=1 READY=1", "STATUS=" + "x" * 200]


def test_without_systemd_every_message_is_a_quiet_no(tmp_path: Path) -> None:
    """No socket, a socket of an unknown family and a socket that is gone are no errors."""
    for environment in ({}, {"NOTIFY_SOCKET": "vsock:2:1"}, {"NOTIFY_SOCKET": str(tmp_path / "gone")}):
        notify = Notify.from_environment(dict(environment))
        assert not any([notify.ready(), notify.status("x"), notify.alive(), notify.extend(1), notify.stopping()])


def test_a_full_socket_does_not_block(systemd: Systemd, address: str) -> None:
    """When systemd does not read, sending says no instead of waiting."""
    notify = Notify(address)

    assert not all([notify.status("x" * 200) for _ in range(2_000)])


def test_what_systemd_said_is_taken_out_of_the_environment() -> None:
    """A child process cannot inherit the socket's name."""
    environment = {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "7", "HOME": "/"}
    Notify.from_environment(environment, pid=7)

    assert environment == {"HOME": "/"}


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"WATCHDOG_USEC": "180000000"}, 180.0),
        ({"WATCHDOG_USEC": "180000000", "WATCHDOG_PID": "7"}, 180.0),
        ({"WATCHDOG_USEC": "180000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_the_watchdog_is_ours_only_if_it_names_us(given: dict[str, str], seconds: float | None) -> None:
    """WATCHDOG_USEC counts when it is a number and WATCHDOG_PID is absent or this process."""
    assert Notify.from_environment(dict(given), pid=7).watchdog_seconds == seconds


def test_the_watchdog_is_fed_at_half_its_interval(systemd: Systemd, address: str) -> None:
    """Each half interval brings one WATCHDOG=1."""

    async def main() -> None:
        clock = Held()
        feeding = asyncio.create_task(Watchdog(Notify(address, 180.0), clock, lambda: True).run())
        for _ in range(4):
            await clock.pass_time()
        feeding.cancel()
        assert clock.slept[:4] == [90.0] * 4
        assert systemd.heard() == ["WATCHDOG=1"] * len(clock.slept)

    asyncio.run(main())


def test_the_watchdog_starves_while_no_due_work_is_dispatched(systemd: Systemd, address: str) -> None:
    """While `healthy` says no nothing is sent and it is asked every second; after a yes the feeding goes on."""

    async def main() -> None:
        clock, answers = Held(), iter([True, False, False, True])
        feeding = asyncio.create_task(Watchdog(Notify(address, 180.0), clock, lambda: next(answers)).run())
        heard: list[list[str]] = []
        for _ in range(4):
            await clock.pass_time() if heard else await asyncio.sleep(0)
            heard.append(systemd.heard())
        feeding.cancel()
        assert heard == [["WATCHDOG=1"], [], [], ["WATCHDOG=1"]]
        assert clock.slept == [90.0, 1.0, 1.0, 90.0]

    asyncio.run(main())


def test_a_blocked_loop_feeds_no_watchdog(systemd: Systemd, address: str) -> None:
    """While something holds the event loop, several intervals pass without a message."""

    async def main() -> None:
        class Quick(Held):
            async def sleep(self, seconds: float) -> None:
                await asyncio.sleep(seconds)

        feeding = asyncio.create_task(Watchdog(Notify(address, 0.002), Quick(), lambda: True).run())
        await asyncio.sleep(0)
        assert len(systemd.heard()) == 1
        time.sleep(0.02)  # the loop hangs for ten intervals
        assert systemd.heard() == []
        await asyncio.sleep(0.01)
        assert systemd.heard()
        feeding.cancel()

    asyncio.run(main())


def test_no_watchdog_no_task() -> None:
    """Where systemd asked for no watchdog the task ends at once."""
    asyncio.run(asyncio.wait_for(Watchdog(Notify(None), Held(), lambda: True).run(), 1))
