"""Leaves a provider alone that keeps failing: closed, open, half-open.  It is told the time and has no clock."""

from __future__ import annotations

_LONGEST = 900.0


class ProviderBreaker:
    """Opens after `limit` failures in a row and lets one probe through after `cooldown` seconds.

    Each failed probe doubles the rest, up to 15 minutes (or what the provider itself asked for, up to an hour).
    """

    def __init__(self, limit: int = 5, cooldown: float = 30.0) -> None:
        self._limit, self._cooldown = limit, cooldown
        self._failures = 0
        self._until: float | None = None
        self._probing = False

    def rest(self, now: float) -> float | None:
        """Return the seconds that the provider must still be left alone, None when a call may be made.

        Whoever is let through while it is open is the probe, and must report `worked`, `failed` or `unknown`.
        """
        if self._until is None:
            return None
        if now < self._until or self._probing:
            return max(0.0, self._until - now)
        self._probing = True
        return None

    @property
    def failures(self) -> int:
        return self._failures

    def worked(self) -> None:
        """Close it."""
        self._failures, self._until, self._probing = 0, None, False

    def unknown(self) -> None:
        """Count nothing: the call was cancelled, or failed for a reason that is not the provider's."""
        self._probing = False

    def failed(self, now: float, after: float | None = None) -> None:
        """Count a failure.  `after` are the seconds that the provider asked to be left alone for."""
        self._failures, self._probing = self._failures + 1, False
        doublings = min(self._failures - self._limit, 10)
        rest = min(_LONGEST, self._cooldown * 2**doublings) if doublings >= 0 else 0.0
        rest = max(rest, min(after or 0.0, 3600.0))
        if rest > 0:
            self._until = now + rest
