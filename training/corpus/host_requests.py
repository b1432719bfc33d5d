"""How a person words a request for the state of the machine, from whole checks to one number."""

from __future__ import annotations

from collections.abc import Sequence

from training.corpus import words
from training.corpus.draw import Draw

TOPIC_WORDS = {
    "load": ("load", "the load", "load average", "the system load"),
    "memory": ("memory", "memory use", "the memory", "RAM"),
    "disks": ("the fullest disk", "the fullest disk", "disk space", "the disks", "disk use", "the fullest file system"),
    "units": ("failed units", "units that failed", "failed services", "what failed"),
    "errors": ("errors", "recent errors", "errors of the last hour", "the error count"),
    "uptime": ("uptime", "the uptime", "how long it is up"),
}
LOOK = (
    "Look at this machine with the host tool.", "Look at this machine.", "Check the host.", "Check this machine.",
    "Look over the server.", "Read the host facts.", "Take the state of the machine.",
    "See how the server is doing.", "Use the host tool.", "Check how the machine is.",
    "Ask the host tool for everything.", "Inspect this computer.", "Have a look at the box.",
    "Get the machine facts.", "Do a host check.", "How is the machine doing?", "Check the health of this server.",
    "Review the state of this host.", "Run the usual check of the machine.",
)  # fmt: skip
NOTE = (
    "File one short note in the journal{0}.", "Write a journal note{0}.", "Append one line to the journal{0}.",
    "Put one line in the journal{0}.", "Add a short note to the journal{0}.", "Note it in the journal{0}.",
    "Write one line in today's journal page{0}.", "Keep a journal note{0}.", "Log it in the journal{0}.",
    "Leave a short note in the journal{0}.", "Record it in the journal{0}.", "Make one journal entry{0}.",
)  # fmt: skip
NOTE_AT = ("Append one line to {1}{0}.", "Add a short note to {1}{0}.", "Put one line in {1}{0}.", "Log it in {1}{0}.")
END = (
    "End with one sentence.", "Then say in one sentence how it is.", "Close with a short sentence.",
    "Finish with one line.", "End with a sentence on what needs attention.",
    "Then tell me if anything needs attention.", "Answer in one sentence.", "Say what you found.",
    "Conclude with one sentence.", "Then sum it up in a sentence.", "Last, one sentence.", "Tell me in a sentence.",
)  # fmt: skip
NO_NOTE = (
    "No note.", "Do not write a note.", "Only answer.", "Just tell me.", "No journal entry.",
    "Answer without a note.", "Write nothing down.", "Just answer in one sentence.", "Only say it, no note.",
    "Do not use the vault.",
)  # fmt: skip
ASIDE = (
    "Keep it short.", "Be brief.", "No small talk.", "Copy the numbers exactly.", "Use plain words.",
    "Do not guess.", "Be exact.", "Numbers as printed.", "No advice.", "Stay calm.", "Do not repeat old notes.",
)  # fmt: skip
NARROW = (
    "Check only {0}.", "Look at {0}.", "Check {0}.", "Look only at {0}.", "I only want {0}.", "Tell me {0}.",
    "What about {0}?", "Report {0}.", "Read {0} with the host tool.", "Please check {0} now.",
    "Use the host tool for {0} only.", "Give me {0}.",
)  # fmt: skip
QUESTIONS = {
    "load": ("Is the load high?", "What is the load?", "How busy is the machine?", "How loaded is this host?"),
    "memory": (
        "How much memory is used?", "Is memory tight?", "How full is the memory?", "What does memory look like?",
    ),
    "disks": (
        "Which disk is fullest?", "How full are the disks?", "Is any disk nearly full?", "How is disk space?",
        "Is there room on the disks?",
    ),
    "units": ("Did any unit fail?", "Are there failed units?", "Which services failed?", "Is every service up?"),
    "errors": (
        "Any errors in the last hour?", "Were there errors?", "How many errors are in the journal log?",
        "Did anything log an error?",
    ),
    "uptime": (
        "How long has it been up?", "What is the uptime?", "Since when does the machine run?", "Was there a reboot?",
    ),
}  # fmt: skip


def listed(draw: Draw, topics: Sequence[str]) -> str:
    """Topics as a person lists them."""
    names = [draw.pick(TOPIC_WORDS[topic]) for topic in topics]
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + draw.pick((", ", " and ", ", and ")) + names[-1]


def note_part(draw: Draw, topics: Sequence[str], path: str) -> str:
    """The sentence that asks for a note; without topics it leaves the choice to the model."""
    wanted = draw.pick((": {0}", " with {0}", " on {0}", ": {0}")).format(listed(draw, topics)) if topics else ""
    return draw.pick(NOTE).format(wanted) if path == "journal" else draw.pick(NOTE_AT).format(wanted, path)


def _with_aside(draw: Draw, sentences: list[str]) -> str:
    if draw.chance(0.3):
        aside = draw.pick(ASIDE) if draw.chance(0.6) else words.plain_sentence(draw) + "."
        sentences.insert(draw.number(1, len(sentences)), aside)
    return " ".join(sentences)


def whole_check(draw: Draw, topics: Sequence[str], path: str | None) -> str:
    """A request for everything; `path` is where the note goes (None: no note)."""

    def make() -> str:
        if path is None:
            return _with_aside(draw, [draw.pick(LOOK), draw.pick(NO_NOTE if draw.chance(0.6) else END)])
        sentences = [draw.pick(LOOK), note_part(draw, topics, path)]
        return _with_aside(draw, sentences + ([draw.pick(END)] if draw.chance(0.8) else []))

    return draw.fresh(make)


def narrow_check(draw: Draw, topic: str, path: str | None) -> str:
    """A request for one topic."""

    def make() -> str:
        question = draw.chance(0.5)
        first = draw.pick(QUESTIONS[topic]) if question else draw.pick(NARROW).format(draw.pick(TOPIC_WORDS[topic]))
        if path is not None:
            return _with_aside(
                draw, [first, note_part(draw, (), path)] + ([draw.pick(END)] if draw.chance(0.5) else [])
            )
        return _with_aside(draw, [first] + ([draw.pick(NO_NOTE)] if draw.chance(0.6) or not question else []))

    return draw.fresh(make)
