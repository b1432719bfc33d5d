"""Free prose without tools: a watch log, two to four sentences an entry, wide enough to differ each time."""

from __future__ import annotations

from training.corpus.conversation import Message, says, user
from training.corpus.draw import Draw
from training.corpus.world import World

SUBJECTS = (
    "the fog", "the rain", "the lamp", "the tide", "the wind", "the gate", "the crane", "the ferry", "the radio",
    "the fan", "the generator", "the clock", "the gulls", "the moon", "the snow", "the cat", "the lighthouse",
    "the boiler", "the corridor", "the stairs", "the harbor", "the engine", "the pump", "the old door",
    "the north wall", "the server room", "the cable", "the tower", "the river", "the bell", "the window", "the roof",
    "the kettle",
)  # fmt: skip
PLACES = (
    "the pier", "the machine room", "the yard", "the east gate", "the mole", "the roof", "the control desk",
    "the boathouse", "the back stairs", "the bridge", "the canal", "the fuel dock", "the shed", "the long hall",
    "the breakwater", "the signal mast", "the workshop", "the slipway", "the far quay",
)  # fmt: skip
PEOPLE = (
    "Mirela", "old Tobias", "the pilot", "Jorun", "the cook", "the night nurse", "a fisherman", "Agnes", "the mate",
    "two students", "the baker", "Ivo",
)  # fmt: skip
MOODS = (
    "quiet", "slow", "cold", "clear", "heavy", "bright", "restless", "gentle", "grey", "strange", "even", "patient",
    "sharp", "soft", "distant", "steady",
)  # fmt: skip
DEEDS = (
    "turned once more", "went still", "began to hum", "lost its voice", "came closer", "drew back", "held its place",
    "shook for a moment", "gave no sign", "moved a hand's width", "cleared", "grew louder", "dripped on the boards",
    "threw a long shadow", "waited", "stood in the light",
)  # fmt: skip
TASKS = (
    "checked the locks", "poured out the cold tea", "counted the crates", "wound the clock",
    "wrote the hour in chalk", "swept the steps", "tried the second key", "read the gauges twice",
    "changed the bulb", "called the other watch", "oiled the hinge", "closed the shutters", "listened at the pipe",
    "fed the stove",
)  # fmt: skip
HOURS = (
    "Before dawn", "After midnight", "At the turn of the tide", "For a while", "Toward morning",
    "Between two rounds", "Late in the watch", "Near the end", "A little later", "On the second round",
    "During supper", "When the bell rang",
)  # fmt: skip
SENTENCES = (
    "{H} {s} {d}.", "{H} {s} {d}, and I {t}.", "I {t} near {p}.", "{P} came by {p} and asked about {s}.",
    "The air at {p} was {m} and {m2}.", "{S} {d} while I {t}.", "Nobody crossed {p}.",
    "I heard {s} from {p}, {m} as ever.", "{P} says {s} was never so {m}.", "There was a {m} light over {p}.",
    "{H} I {t} and thought of {s}.", "{S} is {m} tonight.", "From {p} one sees {s} only when the night is {m}.",
    "I walked from {p} to {q} and met {n}.", "{P} left a lamp at {p}.", "Something {m} lies over {q}.",
    "I keep an eye on {s}.", "{H} {n} {t2} at {p}.", "No ship, no call, only {s}.", "{S} {d}; {r} did not.",
    "The hours at {p} are {m}.", "I wrote down {s} and then {r}.", "It is {m} between {p} and {q}.",
    "{P} and I spoke of {s}.", "If {s} holds, the morning will be {m}.", "Past {q} everything is {m}.",
    "One more round: {p}, {q}, and back.", "I trust {s} more than {r}.", "{H} it smelled of iron at {p}.",
    "The log of {n} calls {s} {m}.", "My boots are wet from {p}.", "A {m} sound, perhaps {s}.",
    "I would rather hear {s} than {r}.", "{S} kept {n} awake.",
)  # fmt: skip
REQUESTS = (
    "Continue the watch log.", "Write the next entry.", "Go on with the log.",
    "Write the next entry of the watch log.", "Continue.", "Keep the log going.", "The next entry, please.",
    "Write on.", "Add an entry to the watch log.", "What happened since the last entry?", "Continue the night log.",
)  # fmt: skip


def _sentence(draw: Draw, subject: str, form: str) -> str:
    people, task = draw.pick(PEOPLE), draw.pick(TASKS)
    place, other = draw.some(PLACES, 2, 2)
    rival = draw.pick([name for name in SUBJECTS if name != subject])
    return form.format(
        s=subject, S=subject[0].upper() + subject[1:], r=rival, p=place, q=other, n=people,
        P=people[0].upper() + people[1:], m=draw.pick(MOODS), m2=draw.pick(MOODS), d=draw.pick(DEEDS), t=task,
        t2=draw.pick(TASKS), H=draw.pick(HOURS),
    )  # fmt: skip


def entry(draw: Draw, subject: str | None = None) -> str:
    """One entry; with a subject, every entry names it in its first sentence."""
    forms = draw.some(SENTENCES, 2, 4)
    if subject is None:
        return " ".join(_sentence(draw, draw.pick(SUBJECTS), form) for form in forms)
    first = draw.pick([form for form in SENTENCES if "{s}" in form or "{S}" in form])
    rest = [_sentence(draw, draw.pick(SUBJECTS), form) for form in forms[1:] if form != first]
    return " ".join([_sentence(draw, subject, first), *rest])


def log(world: World) -> list[Message]:
    """One turn of the log: sometimes the person names what it should be about."""
    draw = world.draw
    subject = draw.pick(SUBJECTS) if draw.chance(0.25) else None
    request = draw.pick(REQUESTS) + (
        draw.pick(
            (
                " Write about {0}.",
                " It is about {0}.",
                " Begin with {0}.",
            )
        ).format(subject)
        if subject
        else ""
    )
    message = world.wake(request) if draw.chance(0.7) else user(request)
    return [message, says(entry(draw, subject), *((subject[4:],) if subject else ()))]


def bored(world: World) -> list[Message]:
    """The log has repeated itself; the hint asks for something else, mostly by name."""
    draw = world.draw
    old = entry(draw)
    start = [world.wake(draw.pick(REQUESTS)), says(old, trained=False), world.wake(draw.pick(REQUESTS))]
    if draw.chance(0.5):
        start.append(says(old, trained=False))
    subject = draw.pick(SUBJECTS)
    complaint = (
        "You have said this before: '{0}'.",
        "You repeat yourself: '{0}'.",
        "This entry is an old one: '{0}'.",
        "You wrote '{0}' already.",
    )
    order = (
        "Write about {1} this time.",
        "Say something else: {1}.",
        "Begin with {1}.",
        "Write about {1} instead.",
        "Turn to {1}.",
    )
    hint = draw.fresh(lambda: f"Hint: {draw.pick(complaint)} {draw.pick(order)}").format(old.split(". ")[0], subject)
    return [*start, user(hint), says(entry(draw, subject), subject[4:])]
