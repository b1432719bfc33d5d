"""A checksum that can be gone back to: what it was at every so many bytes is kept."""

from __future__ import annotations

import hashlib
from typing import Any, Final

STEP: Final = 32 * 1024
"""After how many bytes the state is kept: a few hundred bytes of memory for each, and 0.02 ms to hash so many."""


class Checksum:
    """SHA-1, as git has it at the end of its index."""

    def __init__(self) -> None:
        self._now = hashlib.sha1(usedforsecurity=False)
        self._states: list[Any] = [self._now.copy()]
        self._length = 0

    def feed(self, piece: bytes | memoryview) -> None:
        """Go on with the next bytes."""
        left = memoryview(piece)
        while len(left):
            part = left[: STEP - self._length % STEP]
            self._now.update(part)
            self._length += len(part)
            left = left[len(part) :]
            if self._length % STEP == 0:
                self._states.append(self._now.copy())

    def back_to(self, offset: int) -> int:
        """Forget what came after a place, and less than a step before it; return from where to go on."""
        del self._states[offset // STEP + 1 :]
        self._now, self._length = self._states[-1].copy(), (len(self._states) - 1) * STEP
        return self._length

    def digest(self) -> bytes:
        """Return the checksum of all so far."""
        return bytes(self._now.digest())
