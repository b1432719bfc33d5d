"""The guards against a compulsive beginning and a compulsive ending."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.edges import Side, edge, span
from guards.habit import Found, Habit, row
from guards.memory import check_version, nested
from guards.reading import read
from guards.text import quote


class _Tic(Guard):
    """What both have in common; only the side differs."""

    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 1
    side: ClassVar[Side]
    VERSION = 2

    Options = options.Sequential
    options: options.Sequential

    def reset(self) -> None:
        """Forget the stream."""
        self._habit = Habit(self.options.warm_up, self.options.caution)

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        if output.calls or not output.text.strip():
            return silent(self.name)
        reading = read(output.text)
        here = edge(reading, self.side)
        found = self._habit.update(row(here, reading))
        score = round(found.score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        said = here.said if len(found.kinds) > 1 else span(here.said, here.words[found.kinds[0]], here.said)
        why, hint = self._told(found, quote(said, 80))
        level = Level.of(score)
        return Verdict(self.name, level, score, why, hint, evidence=(said,) if said in output.text else ())

    @abstractmethod
    def _told(self, found: Found, said: str) -> tuple[str, str]:
        """Return the reason and the hint."""

    def state(self) -> dict[str, Json]:
        """Return the memory, about 13 kB."""
        return {"version": self.VERSION, "habit": self._habit.state()}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._habit.load(nested(state, "habit"))


class Opener(_Tic):
    """A compulsive beginning: one first sentence in ever more outputs that did not begin so at the start.

    Statistic: two keys of the first spoken sentence, its first three words and its last three (five characters in a
    script without spaces). An e-detector asks of each key how much likelier its hits among the last 96 outputs are at
    a share of 0.5 or 0.95 than at the share that it had in the start, which is taken for 0.1 at least. Where under half
    of what stands beside the sentence differs, it counts once with each neighbour: lines of a form come together.
    Source: Shin, Ramdas and Rinaldo 2022 (e-detectors of Shiryaev-Roberts type).
    False alarms: derived, with 1.25 times the limit of guards/promise.py shared by 32 candidates, as long as no
    beginning becomes commoner than its share at the start; measured, one of 531 public healthy streams, 340 of which
    also tuned it: commit messages, 17 of 20 with one exercise as their first words. Detection, put before 60 of 138
    healthy streams: in 99 % of the outputs 48 within 20 outputs, 51 in all; in 60 % 41 within 60.
    Silent on purpose: on what began so from the first five outputs on, or in an eighth of the start; on titles, subject
    lines, labels and pages with a heading or a list on top; on a sentence that came together with its neighbour; on one
    with a number, a link, an address or code in it; where the start had one fixed beginning, on another in its place
    (an edit), but not on one put before it; on outputs of fewer than six words, on outputs with calls, and on copies of
    one text, which the guard `repeat` counts.
    Options: `warm_up` outputs of the start (40, at most 200 are kept), `caution`: years for one false trip (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast".split()
        >>> texts = [" ".join(seeded.choice(words) for _ in range(20)) + "." for _ in range(40)]
        >>> stuck = [f"Ah, what a night for it! {text}" for text in texts]
        >>> guard = Opener()
        >>> next(row for row, text in enumerate(texts + stuck) if guard.update(Output(text)).level.name == "TRIP")
        49
    """

    name: ClassVar[str] = "opener"
    side: ClassVar[Side] = "first"

    def _told(self, found: Found, said: str) -> tuple[str, str]:
        counted = f"{found.hits} of the last {found.of} outputs"
        return (
            f"{counted} begin with {said}, which was not there at the start",
            f"You have begun {counted} with {said}. Begin this one differently: start at once with what is new.",
        )


class SignOff(_Tic):
    """A compulsive ending: one last sentence, or one closing question, in ever more outputs that did not end so before.

    Statistic: three keys of the last spoken sentence, its last three words, its first three ("Let me know if …"), and
    the first two of a question (five characters for three words in a script without spaces). A name in a line of its
    own under the text is passed over. An e-detector asks of each key how much likelier its hits among the last 96
    outputs are at a share of 0.5 or 0.95 than at the share that it had in the start, taken for 0.1 at least (0.2 for
    questions). Where under half of what stands beside the sentence differs, it counts once with each neighbour: lines
    of a form come together.
    Source: Shin, Ramdas and Rinaldo 2022 (e-detectors of Shiryaev-Roberts type).
    False alarms: derived, with 1.25 times the limit of guards/promise.py shared by 32 candidates, as long as no ending
    becomes commoner than its share at the start; measured, three of 531 public healthy streams, 340 of which also
    tuned it, each with one ending from some day on. Detection, put behind 60 of 138 healthy streams: in 99 % of the
    outputs 40 within 20 outputs, 50 in all; in 60 % 40 within 60; of those late or missed two in three run on from the
    last line of the text.
    Silent on purpose: on what ended so from the first five outputs on, or in an eighth of the start; on trailers,
    links, list items and the line under a heading; on a sentence that came together with its neighbour, as the lines
    of a signature do; on one with a number, a link, an address or code in it; where the start had one fixed ending, on
    another in its place (an edit), but not on one put behind it; on outputs of fewer than six words, on outputs with
    calls, and on copies of one text, which the guard `repeat` counts.
    Options: `warm_up` outputs of the start (40, at most 200 are kept), `caution`: years for one false trip (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast".split()
        >>> texts = [" ".join(seeded.choice(words) for _ in range(20)) + "." for _ in range(40)]
        >>> stuck = [f"{text} Sleep well, dear harbour." for text in texts]
        >>> guard = SignOff()
        >>> next(row for row, text in enumerate(texts + stuck) if guard.update(Output(text)).level.name == "TRIP")
        49
    """

    name: ClassVar[str] = "sign_off"
    side: ClassVar[Side] = "last"

    def _told(self, found: Found, said: str) -> tuple[str, str]:
        counted = f"{found.hits} of the last {found.of} outputs"
        return (
            f"{counted} end with {said}, which was not there at the start",
            f"You have ended {counted} with {said}. End this one differently: stop after the last thing to say.",
        )
