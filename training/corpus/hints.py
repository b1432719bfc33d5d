"""Hints: what a guard says after a bad reply, and the better reply. The bad replies are shown but never trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from training.corpus.conversation import Message, calls, result, says, user
from training.corpus.draw import Draw
from training.corpus.host_phrases import CALM_FORMS, DEFAULT_TOPICS, clause, join, note, required, verdict
from training.corpus.host_requests import whole_check
from training.corpus.host_watch import TOPICS, check, filed, sums_up
from training.corpus.world import World

TOPIC_NAMES = {
    "load": ("the load", "load"), "memory": ("the memory", "memory"), "disks": (
        "the disk", "the fullest disk", "the disks",
    ),
    "units": ("the failed units", "the units"), "errors": ("the errors", "errors"),
    "uptime": ("the uptime", "how long it is up"),
}  # fmt: skip
SILENT = (
    "You called tools and said nothing.", "You have said nothing.", "There were only tool calls.",
    "Your reply was empty.", "You gave no answer.", "Only calls, no words.", "The person has heard nothing yet.",
)  # fmt: skip
SPEAK = (
    "Say in one sentence what you found.", "Answer in words now.", "Now say it in words.",
    "Sum it up in a sentence.", "Tell what you found.", "Call no tool; answer.", "Say how the machine is.",
    "Give the answer in plain words.", "Reply with a sentence, not with a call.",
)  # fmt: skip
REPEATED = (
    "You have said this before: '{0}'.", "You repeat yourself: '{0}'.", "This is the same as before: '{0}'.",
    "You said '{0}' already.", "Again the same words: '{0}'.", "Your last replies were all '{0}'.",
    "You have written this before: '{0}'.",
)  # fmt: skip
TURN = (
    "Say something else: name {1} this time.", "Begin with {1}.", "Start with {1}.", "Name {1} this time.",
    "Write about {1} first.", "Speak of {1} instead.", "This time say how {1} is.",
    "Use other words and begin with {1}.", "Tell about {1}.",
)  # fmt: skip
CLAIMED = (
    "You said it is done but called no tool.", "You claimed a note, but no tool was called.",
    "Nothing was done: no tool was called.", "You only said so.", "You wrote that you did it, and did not.",
    "There was no call behind your words.",
)  # fmt: skip
CALL = (
    "Call {0} now.", "Use {0} now.", "Now call {0}.", "Call the {0} tool.", "Make the {0} call.", "Really call {0}.",
)  # fmt: skip
STUCK = (
    "You called {0} {1} times with the same result.", "You have called {0} {1} times.",
    "{0} was called {1} times, always the same.", "The same call to {0} again.", "{0} answers the same each time.",
    "You keep calling {0}.",
)  # fmt: skip
STOP = (
    "Do not call it again.", "Stop calling it.", "Leave {0} now.", "No more calls to {0}.", "Once is enough.",
    "Do not call {0} again.",
)  # fmt: skip
WRITE = (
    "Write the note.", "File the note now.", "Write it into the journal.", "Go on and write the note.",
    "Put it in the journal.", "Now the journal note.",
)  # fmt: skip
STRANGE = (
    "There is no tool '{0}'. Available tools: {1}.", "Unknown tool '{0}'. You have: {1}.",
    "'{0}' is not a tool here. Use one of: {1}.", "No such tool: {0}. Tools: {1}.",
    "The tool {0} does not exist. Available: {1}.",
)  # fmt: skip
SHORT = (
    "Shorter.", "One sentence.", "That was too long.", "Be brief.", "Too many words.", "Say it in one sentence.",
    "Shorter, please.", "Cut it to one sentence.",
)  # fmt: skip
BROKEN = (
    "Your last reply could not be read.", "Your reply was a jumble.", "There was markup in your reply.",
    "Your reply went round in circles.", "That was no sentence.", "Your reply broke off.",
)  # fmt: skip
BAD_TOOLS = (
    "shell", "bash", "exec", "journal", "search", "run", "status", "python", "write_note", "system", "disk", "notes",
    "mail",
)  # fmt: skip


def _hint(draw: Draw, *parts: tuple[str, ...], values: tuple[object, ...] = ()) -> str:
    """One sentence of each part. Which go together is kept apart for the evaluation, what they quote is not."""
    return "Hint: " + draw.fresh(lambda: " ".join(draw.pick(part) for part in parts).strip()).format(*values)


def _give(draw: Draw, messages: list[Message], hint: str) -> list[Message]:
    """Put the hint where the daemon puts it: a user message, or the last line of a tool message."""
    last = messages[-1]
    if last.role == "tool" and draw.chance(0.4):
        return [*messages[:-1], replace(last, content=f"{last.content}\n{hint}")]
    return [*messages, user(hint)]


def _about(world: World, topic: str) -> Message:
    """A sentence that begins with this topic."""
    draw = world.draw
    topics = [topic] + (draw.some([other for other in TOPICS if other != topic], 1, 1) if draw.chance(0.4) else [])
    text, copied = join(draw, [clause(draw, world.host, name) for name in topics])
    needs = required(world.host, (topic,))
    return replace(says(text, *copied, needs=needs), opens=needs[0])


def _start(world: World) -> list[Message]:
    """The usual check, facts in."""
    return [world.wake(whole_check(world.draw, DEFAULT_TOPICS, "journal")), *check(world)]


def words_please(world: World) -> list[Message]:
    """It called tools and stayed silent."""
    draw = world.draw
    messages = _start(world)
    if draw.chance(0.7):
        messages += filed(world, DEFAULT_TOPICS)
    if draw.chance(0.4):
        messages.append(says("", trained=False))
    return [*_give(draw, messages, _hint(draw, SILENT, SPEAK)), sums_up(world, DEFAULT_TOPICS)]


def not_again(world: World) -> list[Message]:
    """It repeats an old sentence; the hint names what to speak of."""
    draw = world.draw
    old, _, _ = verdict(draw, world.host, DEFAULT_TOPICS)
    messages: list[Message] = []
    for turn in range(draw.pick((1, 1, 2))):
        if turn:
            world.next_beat()
        messages += [*_start(world), *filed(world, DEFAULT_TOPICS), says(old, trained=False)]
    if draw.chance(0.3):
        messages.pop()
    topic = draw.pick(TOPICS)
    hint = _hint(draw, REPEATED, TURN, values=(old.rstrip("."), draw.pick(TOPIC_NAMES[topic])))
    return [*_give(draw, messages, hint), _about(world, topic)]


def new_note(world: World) -> list[Message]:
    """The note it was about to file is an old one: the hint asks for the note in other words, one topic first."""
    draw = world.draw
    old, _ = note(draw, world.host, DEFAULT_TOPICS, f"{world.now:%H:%M}")
    topic = draw.pick(DEFAULT_TOPICS)
    hint = _hint(draw, REPEATED, (
        "Write the note again and begin with {1}.", "Write another note that starts with {1}.",
        "File a note that begins with {1}.", "Put another line in the journal, {1} first.",
    ), values=(old.rstrip("."), draw.pick(TOPIC_NAMES[topic])))  # fmt: skip
    topics = (topic, *(other for other in DEFAULT_TOPICS if other != topic))
    call, answer = filed(world, topics)
    call = replace(call, opens=required(world.host, (topic,))[0])
    return [*_give(draw, _start(world), hint), call, answer, sums_up(world, DEFAULT_TOPICS)]


def really_call(world: World) -> list[Message]:
    """It claimed a call that it never made."""
    draw = world.draw
    claim = says(
        draw.pick(
            (
                "Done, the note is filed.",
                "I filed the note.",
                "I have checked the host.",
                "It is done.",
                "The note is in the journal.",
                "All is well.",
            )
        ),
        trained=False,
    )
    shown = [claim] if draw.chance(0.8) else []
    if draw.chance(0.5):
        messages = _give(draw, [*_start(world), *shown], _hint(draw, CLAIMED, CALL, values=("vault",)))
        return [*messages, *filed(world, DEFAULT_TOPICS), sums_up(world, DEFAULT_TOPICS)]
    request = world.wake(whole_check(draw, DEFAULT_TOPICS, "journal"))
    messages = [request, *shown, user(_hint(draw, CLAIMED, CALL, values=("host",)))]
    return [*messages, *check(world), *filed(world, DEFAULT_TOPICS), sums_up(world, DEFAULT_TOPICS)]


def enough(world: World) -> list[Message]:
    """It called the host again and again."""
    draw = world.draw
    times = draw.number(2, 4)
    again = [replace(message, trained=False) if message.call else message for message in check(world)]
    messages = [*_start(world), *(again * (times - 1))]
    if draw.chance(0.6):
        hint = _hint(draw, STUCK, STOP, WRITE, values=("host", times))
        return [*_give(draw, messages, hint), *filed(world, DEFAULT_TOPICS), sums_up(world, DEFAULT_TOPICS)]
    return [
        *_give(draw, messages, _hint(draw, STUCK, STOP, SPEAK, values=("host", times))),
        sums_up(world, DEFAULT_TOPICS),
    ]


def unknown_tool(world: World) -> list[Message]:
    """It called a tool that is not there: back to what the heartbeat asked for."""
    draw, bad = world.draw, world.draw.pick(BAD_TOOLS)
    hint = _hint(
        draw,
        STRANGE,
        (
            "",
            "Use one of these.",
            "Call the right one.",
            "Try again.",
            "Go on with these.",
        ),
        values=(bad, draw.pick(("host, vault", "vault, host", "host, vault, clock", "host, repo, vault"))),
    )
    wrong = calls(bad, {"command": draw.pick(("df -h", "uptime", "free", "ls", "systemctl --failed"))}, trained=False)
    messages = [world.wake(whole_check(draw, DEFAULT_TOPICS, "journal"))]
    if draw.chance(0.6):
        messages += [wrong] + ([result(bad, f"error: no tool named {bad}")] if draw.chance(0.5) else [])
    rest = [*check(world), *filed(world, DEFAULT_TOPICS), sums_up(world, DEFAULT_TOPICS)]
    if draw.chance(0.4):
        return [*_give(draw, [*messages[:1], *rest[:2], wrong], hint), *rest[2:]]
    return [*_give(draw, messages, hint), *rest]


def shorter(world: World) -> list[Message]:
    """Its last words were too long, or not readable."""
    draw = world.draw
    facts, _ = join(draw, [clause(draw, world.host, topic) for topic in TOPICS])
    messages = [*_start(world), *filed(world, DEFAULT_TOPICS)]
    if draw.chance(0.8):
        long = " ".join([facts, verdict(draw, world.host, DEFAULT_TOPICS)[0]] * draw.number(1, 2))
        messages.append(says(long, trained=False))
    hint = (
        _hint(
            draw,
            SHORT,
            (
                "",
                "Keep what matters.",
                "Only what matters.",
                "Say it again.",
                "Try again.",
                "Answer again.",
            ),
        )
        if draw.chance(0.6)
        else _hint(draw, BROKEN, SPEAK)
    )
    return [*_give(draw, messages, hint), sums_up(world, DEFAULT_TOPICS)]


def leave_out(world: World) -> list[Message]:
    """A catchphrase: the hint quotes it, the next sentence does without."""
    draw = world.draw
    phrase = draw.pick(
        sorted({form.split("{")[0].strip(" ,:.;").lower() for form in CALM_FORMS if form[0] != "{"} - {"with"})
    )
    better = sums_up(world, DEFAULT_TOPICS)
    while phrase in better.content.lower():
        better = sums_up(world, DEFAULT_TOPICS)
    hint = _hint(draw, (
        "You keep saying '{0}'.", "Each reply has '{0}' in it.", "'{0}' is worn out.",
        "You end with '{0}' every time.",
    ),
                 (
                     "Leave it out.", "Use other words.", "Say it without these words.", "Do not use it now.",
                 ), values=(phrase,))  # fmt: skip
    return [*_give(draw, [*_start(world), *filed(world, DEFAULT_TOPICS)], hint), replace(better, avoids=phrase)]


FAMILIES: dict[str, Callable[[World], list[Message]]] = {
    "words": words_please, "not again": not_again, "new note": new_note, "call": really_call, "stop": enough,
    "unknown tool": unknown_tool, "shorter": shorter, "leave out": leave_out,
}  # fmt: skip
