"""How systemd hears that the daemon is ready, what it does and that it is alive: one datagram a message.

It does not know what being alive means: whoever starts the watchdog says so with `healthy`.  Without systemd every
message is a quiet no.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, MutableMapping
from typing import Final

import structlog

from daemon.stages import Clock

log = structlog.get_logger()

LONGEST_STATUS: Final = 200
RECHECK_SECONDS: Final = 1.0


class Notify:
    """One end of systemd's notification socket.  `watchdog_seconds` is None where no watchdog was asked for."""

    def __init__(self, address: str | None, watchdog_seconds: float | None = None) -> None:
        self._address = f"\0{address[1:]}" if address and address.startswith("@") else address
        self.watchdog_seconds = watchdog_seconds

    @classmethod
    def from_environment(cls, environment: MutableMapping[str, str] | None = None, pid: int | None = None) -> Notify:
        """Take what systemd put into the environment out of it, so that no child process can speak for the daemon."""
        environment = os.environ if environment is None else environment
        address = environment.pop("NOTIFY_SOCKET", None)
        interval, meant_for = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
        for_us = not meant_for or meant_for == str(os.getpid() if pid is None else pid)
        usable = for_us and interval.isascii() and interval.isdigit() and int(interval) > 0
        if address and not address.startswith(("/", "@")):
            address = None  # vsock and other families belong to virtual machine managers
        return cls(address, int(interval) / 1_000_000 if usable else None)

    def ready(self, status: str = "") -> bool:
        """Say that start-up is done."""
        return self._send("READY=1", *_status(status))

    def status(self, text: str) -> bool:
        """Set the line that `systemctl status` shows."""
        return self._send(*_status(text))

    def stopping(self, status: str = "") -> bool:
        """Say that the daemon is on its way out."""
        return self._send("STOPPING=1", *_status(status))

    def alive(self) -> bool:
        """Feed the watchdog."""
        return self._send("WATCHDOG=1")

    def extend(self, seconds: float) -> bool:
        """Ask for this many seconds from now on, for a start or stop that is long; ask again before they are over."""
        return self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}")

    def _send(self, *lines: str) -> bool:
        """Return whether systemd was told; a socket that is gone or full is not worth a crash."""
        if not self._address or not lines:
            return False
        message = "\n".join(lines).encode("utf-8", "replace")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as end:
                end.sendto(message, self._address)
        except OSError as wrong:
            log.debug("notify.failed", reason=str(wrong))
            return False
        return True


class Watchdog:
    """Feeds systemd's watchdog from the event loop: a loop that hangs cannot, and one that does no due work may not."""

    def __init__(self, notify: Notify, clock: Clock, healthy: Callable[[], bool]) -> None:
        self._notify, self._clock, self._healthy = notify, clock, healthy

    async def run(self) -> None:
        """Feed at half the interval while `healthy` says yes; return at once where no watchdog was asked for."""
        interval = self._notify.watchdog_seconds
        if interval is None:
            return
        starved = False
        while True:
            healthy = self._healthy()
            if healthy:
                self._notify.alive()
            if starved is healthy:
                starved = not healthy
                (log.error if starved else log.info)("watchdog.starved" if starved else "watchdog.fed")
            await self._clock.sleep(interval / 2 if healthy else min(interval / 2, RECHECK_SECONDS))


def _status(text: str) -> tuple[str, ...]:
    """Keep a status to one line: a line break in it would be a message of its own."""
    line = " ".join(text.split())[:LONGEST_STATUS]
    return (f"STATUS={line}",) if line else ()
