"""How the model hears what a person did to its notes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from daemon.context.feedback import feedback
from daemon.types import Feedback

NOW = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
SAID = Feedback(NOW, "Ann", "taken_back", "20261120T210000-abcdef", "a" * 40, ("people/ann.md",), "She does\nnot.\x1b")


def test_the_reason_is_the_persons_and_the_names_are_data() -> None:
    """The person's words stand outside the marks, on one line; the agent's own names inside."""
    assert list(feedback(SAID)) == [
        "Your person took back what your run 20261120T210000-abcdef wrote to:",
        '<data from="vault">\npeople/ann.md\n</data>',
        "Why: She does not.<U+001B>",
        "Do not write it again.",
    ]


def test_many_notes_are_named_in_part() -> None:
    """Ten names are enough; an approval without words has no reason."""
    lines = feedback(replace(SAID, what="approved", why=" ", paths=tuple(f"{n}.md" for n in range(30))))

    assert "9.md\nand 20 more\n</data>" in lines[1]
    assert len(lines) == 3
