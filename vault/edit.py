"""What a run does to one note, so that it can be done again to a note that has changed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """`base` is what the note held before the run; `text` replaces it, `added` goes to its end.

    Each addition comes with the text that begins the note in case there is none yet.
    """

    base: bytes | None = None
    text: bytes | None = None
    added: tuple[tuple[bytes, bytes], ...] = ()

    def fits(self, content: bytes | None) -> bool:
        """Whether the edit can be done to `content` without a merge."""
        return self.text is None or content == self.base

    def onto(self, content: bytes | None) -> bytes:
        """Return the note after this edit, if it holds `content` now."""
        result = content if self.text is None else self.text
        for start, addition in self.added:
            result = start if result is None else result
            result += b"" if not result or result.endswith(b"\n") else b"\n"
            result += addition if addition.endswith(b"\n") else addition + b"\n"
        return result or b""
