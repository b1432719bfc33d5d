"""Manual runs that were asked for and wait until nothing hinders them; first asked, first started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from daemon.errors import TrimtabError, UsageError
from daemon.types import Occurrence


@dataclass(frozen=True, slots=True)
class Started:
    """A manual run: `run` has the result of the dispatch; shield it when you may be cancelled and it should go on."""

    occurrence: Occurrence
    run: asyncio.Task[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """Somebody waits for a run of the heartbeat `name`."""

    name: str
    answer: asyncio.Future[Started]

    def grant(self, started: Started) -> None:
        """Tell whoever waits that it runs."""
        if not self.answer.done():
            self.answer.set_result(started)

    def refuse(self, why: TrimtabError) -> None:
        """Tell whoever waits why it will not run."""
        if not self.answer.done():
            self.answer.set_exception(why)


class Asked:
    """The wishes that are open."""

    def __init__(self) -> None:
        self._wishes: list[Wish] = []

    def add(self, name: str) -> asyncio.Future[Started]:
        """Return what will have the run once it has started."""
        wish = Wish(name, asyncio.get_running_loop().create_future())
        self._wishes.append(wish)
        return wish.answer

    def open(self) -> Iterator[Wish]:
        """Give each wish that somebody still waits for; those that are answered meanwhile are gone afterwards."""
        for wish in list(self._wishes):
            if not wish.answer.done():
                yield wish
        self._wishes = [wish for wish in self._wishes if not wish.answer.done()]

    def refuse_all(self, why: str) -> None:
        """Answer every open wish with a UsageError."""
        for wish in self.open():
            wish.refuse(UsageError(why))
