"""A healthy radio host: talk from a grammar with many thousands of sentences, topics that drift, names that are new.

No two hosts are alike: each has its own voice (which words and which shapes of a sentence it likes), its own station
name and habits, all from its seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import radio_words as words

from guards.base import Call, CallResult, Output
from guards.replay import Row

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
A_DAY = 240
"""Outputs a day: one every six minutes."""
ACTIVE = 6
"""Topics that a host talks about at a time."""
CHANGES = 0.004
"""Chance for each output that one topic makes room for another: about one a day."""
HOURS = "one two three four five six seven eight nine ten eleven twelve"
TOOLS = ("play_track", "read_mail", "weather", "queue", "search_archive")


class Host:
    """One host's voice.

    >>> host = Host("Low Tide Radio", 7)
    >>> rows = [host.row(i) for i in range(50)]
    >>> len({row.output.text for row in rows})
    50
    """

    def __init__(self, station: str, seed: int, model: str = "voice-1") -> None:
        self.station, self.model = station, model
        self._rng = random.Random(f"{seed} {station} {model}")
        self._topics = self._rng.sample(sorted(words.TOPICS), ACTIVE)
        self._nouns = {topic: text.split() for topic, text in words.TOPICS.items()}
        shapes: list[Callable[[], str]] = [
            self._plain,
            self._fronted,
            self._question,
            self._heard,
            self._joined,
            self._list,
        ]
        shapes += [self._track, self._mail, self._count, self._remark, self._there, self._compared]
        self._shapes = shapes
        self._weights = [self._rng.uniform(0.5, 2) for _ in shapes]
        self._likes = {name: self._own(getattr(words, name)) for name in _CHOICES}

    def _own(self, choices: str) -> list[str]:
        """Return the choices in an order of this voice; the first come more often."""
        items = choices.split("|")
        return self._rng.sample(items, len(items))

    def row(self, number: int) -> Row:
        """Return the next output; `number` counts from the first day's first."""
        if self._rng.random() < CHANGES:
            self._topics[self._rng.randrange(ACTIVE)] = self._rng.choice(sorted(words.TOPICS))
        output = Output(self._talk(), self._calls(number), ts=1.7e9 + 360.0 * number, model=self.model)
        results = tuple(CallResult(self._rng.random() < 0.97, self._plain()) for _ in output.calls)
        return Row(output, results)

    def _calls(self, number: int) -> tuple[Call, ...]:
        if self._rng.random() < 0.6:
            return ()
        return (Call(self._rng.choice(TOOLS), {"about": self._noun(), "id": number}),)

    def _talk(self) -> str:
        parts = [self._sentence(self._rng.choice(self._shapes_now())) for _ in range(self._rng.randint(4, 9))]
        if self._rng.random() < 0.3:
            parts.insert(0, self._one("HELLOS").format(clock=self._clock(), place=self._name(), station=self.station))
        if self._rng.random() < 0.25:
            parts.append(self._one("BYES"))
        return (" " if self._rng.random() < 0.8 else "\n\n").join(parts)

    def _shapes_now(self) -> Sequence[Callable[[], str]]:
        return self._rng.choices(self._shapes, self._weights, k=3)

    def _sentence(self, shape: Callable[[], str]) -> str:
        text = shape()
        return text[:1].upper() + text[1:] + ("" if text[-1] in "?!" else ".")

    def _one(self, name: str) -> str:
        """Return a choice of this voice: the first of its order about three times as often as the last."""
        items = self._likes[name]
        return items[min(int(len(items) * self._rng.random() ** 1.4), len(items) - 1)]

    def _noun(self) -> str:
        if self._rng.random() < 0.15:
            return self._rng.choice(words.MUSIC.split())
        return self._rng.choice(self._nouns[self._rng.choice(self._topics)])

    def _name(self) -> str:
        return self._rng.choice(words.STARTS.split()) + self._rng.choice(words.ENDS.split())

    def _person(self) -> str:
        way = self._rng.random()
        if way < 0.35:
            return self._one("FIRST")
        if way < 0.6:
            return f"{self._one('FIRST')} {self._name()}"
        return self._rng.choice(
            (f"our {self._noun()} from {self._name()}", "somebody", "I", "we", "they", "my neighbour", "you")
        )

    def _thing(self, depth: int = 0) -> str:
        noun, way = self._noun(), self._rng.random()
        article = self._rng.choice(
            ("the", "a", "the", "that", "every", "her", "his", "their", "our", "some", "no", "another")
        )
        if way < 0.4:
            noun = f"{self._one('ADJECTIVES')} {noun}"
        elif way < 0.55:
            noun = f"{self._noun()} {noun}"
        if depth < 2 and self._rng.random() < 0.22:
            tail = (
                f"of {self._thing(2)}",
                f"from {self._name()}",
                f"that {self._person()} {self._one('VERBS')}",
                f"with {self._thing(2)}",
            )
            noun = f"{noun} {self._rng.choice(tail)}"
        return f"{article} {noun}"

    def _clock(self) -> str:
        hour = self._rng.choice(HOURS.split())
        return self._rng.choice(("{} o'clock", "half past {}", "ten to {}", "a quarter past {}", "nearly {}")).format(
            hour
        )

    def _event(self) -> str:
        who = self._person() if self._rng.random() < 0.6 else self._thing()
        sure = f"{self._one('ADVERBS')} " if self._rng.random() < 0.2 else ""
        if self._rng.random() < 0.3:
            return f"{who} {sure}{self._one('GOES')} {self._one('PLACES')}"
        return f"{who} {sure}{self._one('VERBS')} {self._thing()}"

    def _where(self) -> str:
        return self._one(self._rng.choice(("PLACES", "TIMES")))

    def _plain(self) -> str:
        return f"{self._event()} {self._where()}" if self._rng.random() < 0.6 else self._event()

    def _fronted(self) -> str:
        return f"{self._where()}, {self._event()}"

    def _question(self) -> str:
        ask = (
            "who {v} {t}",
            "why has nobody {v} {t}",
            "has {p} ever {v} {t}",
            "what became of {t}",
            "do you own {t}",
            "{e}, or not",
        )
        shape = self._rng.choice(ask)
        return shape.format(v=self._one("VERBS"), t=self._thing(), p=self._person(), e=self._event()) + "?"

    def _heard(self) -> str:
        aside = self._one("ASIDES")
        return f"{aside}, {self._event()}" if self._rng.random() < 0.5 else f"{self._event()}, {aside}"

    def _joined(self) -> str:
        return f"{self._event()} {self._one('JOINTS')} {self._event()}"

    def _list(self) -> str:
        return (
            f"{self._thing()}, {self._thing()} and {self._thing()}: {self._rng.choice((self._event(), self._where()))}"
        )

    def _title(self) -> str:
        shapes = ("{a} {n}", "{n} {w}", "{p}'s {n}", "{n} and {n2}", "{v} {n}", "{m}")
        made = self._rng.choice(shapes).format(
            a=self._one("ADJECTIVES"),
            n=self._noun(),
            n2=self._noun(),
            w=self._one("PLACES"),
            p=self._one("FIRST"),
            v=self._one("VERBS"),
            m=self._name(),
        )
        return made.title()

    def _track(self) -> str:
        band = self._rng.choice((f"the {self._noun().title()}s", f"{self._one('FIRST')} {self._name()}", self._title()))
        way = self._rng.choice(
            ("{b} with '{t}'", "'{t}' by {b}", "{b}, and the song is '{t}'", "'{t}', {b}, {w}", "{b} {v} '{t}' {w}")
        )
        return way.format(b=band, t=self._title(), w=self._where(), v=self._one("VERBS"))

    def _mail(self) -> str:
        way = self._rng.choice(
            (
                "{p} in {n} writes: {e}",
                "{p} asks about {t}",
                "from {n}: {e}",
                "a card from {p}, {w}: {e}",
                "{p}, {n}, wants {t}",
            )
        )
        return way.format(p=self._one("FIRST"), n=self._name(), e=self._event(), t=self._thing(), w=self._where())

    def _count(self) -> str:
        return f"{self._one('NUMBERS')} {self._one('ADJECTIVES')} {self._noun()}s {self._one('GOES')} {self._where()}"

    def _remark(self) -> str:
        way = self._rng.choice(
            (
                "{t} is {a}",
                "{t} was never {a}",
                "how {a} {t} looks",
                "not {a}, {b}",
                "{t} sounds {a} {w}",
                "so {a}, so {b}",
            )
        )
        return way.format(t=self._thing(), a=self._one("ADJECTIVES"), b=self._one("ADJECTIVES"), w=self._where())

    def _there(self) -> str:
        way = self._rng.choice(
            ("there is {t} {w}", "{w} stands {t}", "we have {t} {w}", "picture {t}", "{w}: {t}", "I miss {t}")
        )
        return way.format(t=self._thing(), w=self._where())

    def _compared(self) -> str:
        way = self._rng.choice(
            (
                "{t} like {u}",
                "{t} beats {u}",
                "give me {t}, not {u}",
                "less {a} than {u}",
                "{t} or {u}?",
                "{e} like {u}",
            )
        )
        return way.format(t=self._thing(), u=self._thing(), a=self._one("ADJECTIVES"), e=self._event())


_CHOICES = (
    "VERBS",
    "GOES",
    "ADJECTIVES",
    "ADVERBS",
    "PLACES",
    "TIMES",
    "JOINTS",
    "ASIDES",
    "NUMBERS",
    "FIRST",
    "HELLOS",
    "BYES",
)
