"""Beats about the machine: look, note, judge; also the narrow questions and what to say when a tool fails."""

from __future__ import annotations

from dataclasses import dataclass

from training.corpus import words
from training.corpus.conversation import Message, calls, result, says
from training.corpus.draw import Draw
from training.corpus.host_phrases import DEFAULT_TOPICS, clause, join, note, required, verdict
from training.corpus.host_requests import narrow_check, whole_check
from training.corpus.world import World

TOPICS = (*DEFAULT_TOPICS, "uptime")
FAILURES = (
    "timed out after {n} s", "the tool is not available", "permission denied", "cannot read /proc",
    "no answer from the tool", "too many open files", "read-only file system", "disk quota exceeded",
    "the note is locked by {w}", "connection to {w} refused", "exit code {n}",
)  # fmt: skip


def failure(draw: Draw) -> str:
    """Why a tool failed, as the tool says it after `error: `."""
    return draw.pick(FAILURES).format(n=draw.number(2, 120), w=words.slug(draw))


def admits(draw: Draw, tool: str, reason: str) -> Message:
    """Plain words about a failed tool, and no invented fact."""
    forms = (
        "The {0} tool failed: {1}.", "I could not do it, the {0} tool says: {1}.",
        "No result: the {0} tool failed with {1}.", "{0} failed ({1}), so I know nothing new.",
        "The {0} tool gave an error: {1}.", "That did not work. The {0} tool answered: {1}.",
        "I have no facts this time, {0} failed: {1}.",
    )  # fmt: skip
    text = draw.pick(forms).format(tool, reason)
    return says(text[0].upper() + text[1:], reason)


def check(world: World, what: str = "all") -> list[Message]:
    """The call of the host tool and its answer."""
    return [calls("host", {"what": what}), result("host", *world.host.lines(what))]


def filed(world: World, topics: tuple[str, ...], path: str = "journal") -> list[Message]:
    """The call that files a note, and the answer of the vault."""
    text, copied = note(world.draw, world.host, topics, f"{world.now:%H:%M}")
    return [
        append(text, copied, path, required(world.host, topics)),
        result("vault", f"appended to {world.today() if path == 'journal' else path}"),
    ]


def append(text: str, copied: tuple[str, ...], path: str = "journal", needs: tuple[str, ...] | None = None) -> Message:
    """A vault call that appends one line."""
    return calls("vault", {"action": "append", "path": path, "text": text}, *copied, needs=needs)


def sums_up(world: World, topics: tuple[str, ...]) -> Message:
    """The last words of a beat."""
    text, copied, calm = verdict(world.draw, world.host, topics)
    return says(text, *copied, needs=() if calm else copied, calm=calm)


def answers(world: World, topic: str) -> Message:
    """The answer to a narrow question: the fact, and whether it needs attention where that can be said."""
    draw = world.draw
    fact, copied = join(draw, [clause(draw, world.host, topic)])
    needs = required(world.host, (topic,))
    text, more, calm = verdict(draw, world.host, (topic,))
    if topic in ("load", "uptime") or (calm and draw.chance(0.4)):
        return says(fact, *copied, needs=needs)
    if not calm:
        return says(text, *more, needs=needs, calm=False)
    ending = draw.pick(("Nothing needs attention.", "All is well.", "Nothing to do."))
    return says(f"{fact} {ending}", *copied, needs=needs, calm=True)


def note_path(draw: Draw) -> str:
    """Where a note goes: nearly always today's journal page."""
    return words.note_path(draw) if draw.chance(0.12) else "journal"


@dataclass(frozen=True)
class Request:
    """What a heartbeat asks for: its words, the topics of the note (the usual five if none) and where it goes."""

    words: str
    topics: tuple[str, ...]
    path: str | None


def _whole_request(draw: Draw) -> Request:
    if draw.chance(0.15):
        return Request(whole_check(draw, (), None), (), None)
    path, kind = note_path(draw), draw.random.random()
    asked = () if kind < 0.25 else DEFAULT_TOPICS if kind < 0.6 else tuple(draw.some(TOPICS, 1, 5))
    return Request(whole_check(draw, asked, path), asked or DEFAULT_TOPICS, path)


def _narrow_request(draw: Draw) -> Request:
    topic, path = draw.pick(TOPICS), None if draw.chance(0.6) else note_path(draw)
    return Request(narrow_check(draw, topic, path), (topic,), path)


def whole(world: World) -> list[Message]:
    """The main heartbeat: everything, a note in the journal, one sentence."""
    request = world.routine("whole", _whole_request)
    note = filed(world, request.topics, request.path) if request.path else []
    return [world.wake(request.words), *check(world), *note, sums_up(world, DEFAULT_TOPICS)]


def narrow(world: World) -> list[Message]:
    """One topic, with or without a note."""
    request = world.routine("narrow", _narrow_request)
    topic = request.topics[0]
    note = filed(world, request.topics, request.path) if request.path else []
    return [world.wake(request.words), *check(world, topic), *note, answers(world, topic)]


def failing(world: World) -> list[Message]:
    """A tool fails: the host before anything is known, or the vault after the facts are in."""
    draw, reason = world.draw, failure(world.draw)
    if draw.chance(0.5):
        narrow_topic = draw.pick(TOPICS)
        whole_request = draw.chance(0.6)
        request = (
            whole_check(draw, DEFAULT_TOPICS, "journal") if whole_request else narrow_check(draw, narrow_topic, None)
        )
        call = calls("host", {"what": "all" if whole_request else narrow_topic})
        return [world.wake(request), call, result("host", f"error: {reason}"), admits(draw, "host", reason)]
    text, copied = note(draw, world.host, DEFAULT_TOPICS, f"{world.now:%H:%M}")
    start = [
        world.wake(whole_check(draw, DEFAULT_TOPICS, "journal")),
        *check(world),
        append(text, copied, needs=required(world.host, DEFAULT_TOPICS)),
    ]
    return [*start, result("vault", f"error: {reason}"), admits(draw, "vault", reason)]
