"""Words and made-up names. Names are mostly syllables by chance: a model can only copy them, never remember them."""

from __future__ import annotations

from pathlib import Path

from training.corpus.draw import Draw


def _lists() -> dict[str, list[str]]:
    """The word lists by the names of their sections."""
    sections = Path(__file__).with_suffix(".txt").read_text().strip().split("\n\n")
    return {section.partition("]")[0][1:]: section.partition("]")[2].split() for section in sections}


LISTS = _lists()
FIRST_NAMES, SYLLABLES, NOUNS = LISTS["first names"], LISTS["syllables"], LISTS["nouns"]
VERBS, ADJECTIVES, KNOWN_UNITS = LISTS["verbs"], LISTS["adjectives"], LISTS["units"]
UNIT_KINDS = ("service", "service", "service", "service", "timer", "mount", "socket", "path")
KNOWN_MOUNTS = (
    "/", "/", "/srv", "/home", "/var", "/boot", "/boot/efi", "/data", "/opt", "/tmp", "/var/lib/docker",
    "/mnt/backup",
)  # fmt: skip
MONTHS = ("May", "June", "July", "March", "October")
FOLDERS = ("people", "projects", "agent", "journal", "places", "work", "home", "ideas", "recipes")


def coined(draw: Draw, least: int = 2, most: int = 3) -> str:
    """A pronounceable word that no dictionary holds, lower case."""
    return draw.fresh(lambda: "".join(draw.pick(SYLLABLES) for _ in range(draw.number(least, most))))


def word(draw: Draw) -> str:
    """A lower-case word for names: half of the time a real noun, half of the time coined."""
    return draw.pick(NOUNS) if draw.chance(0.5) else coined(draw)


def person(draw: Draw) -> str:
    """First name, and mostly a family name."""
    first = draw.pick(FIRST_NAMES) if draw.chance(0.6) else coined(draw).capitalize()
    return f"{first} {coined(draw).capitalize()}" if draw.chance(0.7) else first


def slug(draw: Draw) -> str:
    """A name for a repository, host or heartbeat such as `night-parser` or `dorven2`."""
    parts = [word(draw) for _ in range(draw.pick((1, 2, 2)))]
    return draw.pick(("-", "-", "_")).join(parts) + (str(draw.number(1, 19)) if draw.chance(0.12) else "")


def unit(draw: Draw) -> str:
    """A systemd unit name."""
    stem = draw.pick(KNOWN_UNITS) if draw.chance(0.4) else slug(draw)
    return draw.fresh(lambda: f"{stem if draw.chance(0.5) else slug(draw)}.{draw.pick(UNIT_KINDS)}")


def mount(draw: Draw) -> str:
    """A mount point."""
    if draw.chance(0.55):
        return draw.pick(KNOWN_MOUNTS)
    return draw.pick(("/", "/mnt/", "/srv/", "/media/", "/data/", "/var/")) + slug(draw)


def note_path(draw: Draw) -> str:
    """The path of a note in the vault."""
    return f"{draw.pick(FOLDERS)}/{slug(draw)}.md"


def _loose_word(draw: Draw) -> str:
    return draw.pick((word(draw), word(draw), coined(draw), draw.pick(VERBS + ADJECTIVES), str(draw.number(0, 9999))))


def statement(draw: Draw) -> str:
    """What stands in a note: a plain sentence, or words in no order, which nothing but copying can get right."""
    if draw.chance(0.6):
        return plain_sentence(draw)
    text = " ".join(_loose_word(draw) for _ in range(draw.number(3, 14)))
    return text[0].upper() + text[1:]


def plain_sentence(draw: Draw) -> str:
    """A short everyday statement, for notes, rules and whatever else people write."""
    someone = person(draw)
    subject = draw.pick((f"the {draw.pick(NOUNS)}", f"the {draw.pick(ADJECTIVES)} {draw.pick(NOUNS)}", f"{someone}"))
    thing = f"{draw.pick(ADJECTIVES)} {draw.pick(NOUNS)}"
    when = draw.pick(
        (
            "today",
            "tomorrow",
            "on Monday",
            "on Friday",
            "next week",
            "after lunch",
            f"at {draw.number(1, 12)}",
            "soon",
        )
    )
    text = draw.pick(
        (
            f"{subject} is {draw.pick(ADJECTIVES)} {when}",
            f"{someone} wants to {draw.pick(VERBS)} the {thing}",
            f"{someone} will {draw.pick(VERBS)} the {thing} {when}",
            f"{someone} likes {draw.pick(NOUNS)} and {draw.pick(NOUNS)}",
            f"{draw.pick(VERBS)} the {thing} {when}",
            f"the {thing} costs {draw.number(2, 990)} euros",
            f"{subject} needs a {thing}",
            f"we moved the {draw.pick(NOUNS)} to {draw.number(2, 31)} {draw.pick(MONTHS)}",
            f"the {draw.pick(NOUNS)} of {someone} has {draw.number(2, 60)} {draw.pick(NOUNS)}s",
        )
    )
    return text[0].upper() + text[1:]
