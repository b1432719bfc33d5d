"""Whole threads: which behaviours come how often, how many beats, which tools, which begin with a summary."""

from __future__ import annotations

from collections.abc import Callable

from training.corpus import host_watch, repo_watch, vault_notes, watch_log
from training.corpus.conversation import Conversation, Message, says, user
from training.corpus.draw import Draw
from training.corpus.hints import FAMILIES
from training.corpus.host_phrases import DEFAULT_TOPICS, verdict
from training.corpus.world import World

Beat = Callable[[World], list[Message]]
STRANGERS = ("shell", "notify", "fetch", "calendar")


def _any_hint(world: World) -> list[Message]:
    return FAMILIES[world.draw.pick((*FAMILIES, "not again", "new note", "words"))](world)


BEATS: dict[str, tuple[Beat, tuple[str, ...], float]] = {
    "whole": (host_watch.whole, ("host", "vault"), 5.0),
    "narrow": (host_watch.narrow, ("host", "vault"), 4.0),
    "failing": (host_watch.failing, ("host", "vault"), 0.7),
    "repo": (repo_watch.watch, ("repo", "vault"), 1.6),
    "repo status": (repo_watch.status, ("repo",), 0.5),
    "read": (vault_notes.read, ("vault",), 1.3),
    "search": (vault_notes.search, ("vault",), 1.2),
    "list": (vault_notes.listing, ("vault",), 0.8),
    "write": (vault_notes.write, ("vault",), 1.6),
    "clock": (vault_notes.clock, ("clock",), 0.6),
    "talk": (vault_notes.talk, (), 0.5),
    "hint": (_any_hint, ("host", "vault"), 6.0),
    "log": (watch_log.log, (), 1.2),
    "log hint": (watch_log.bored, (), 0.5),
}
"""Kind of beat: how it is made, the tools it needs, and its weight."""

SHORT_KINDS = (
    "narrow", "narrow", "narrow", "write", "write", "write", "read", "read", "search", "list", "clock", "repo status",
    "talk",
)  # fmt: skip
"""What the first phase learns on: a handful of facts and one or two replies that copy them."""


def _tools(draw: Draw, needed: tuple[str, ...]) -> tuple[str, ...]:
    """The tools of a thread in any order: those it needs, often more, now and then one that is never used."""
    if not needed and draw.chance(0.7):
        return ()
    names = list(needed) + [
        tool
        for tool in (
            "host",
            "vault",
            "clock",
            "repo",
        )
        if tool not in needed and draw.chance(0.4)
    ]
    if draw.chance(0.12):
        names += draw.some(STRANGERS, 1, 2)
    draw.random.shuffle(names)
    return tuple(names)


def _summary(world: World) -> list[Message]:
    """A compacted thread: what the daemon puts in place of the older beats."""
    lines = []
    for _ in range(world.draw.number(1, 6)):
        text, _, _ = verdict(world.draw, world.host, DEFAULT_TOPICS)
        lines.append(f"- {world.now:%Y-%m-%d %H:%M} {world.beat_name}: {text}")
        world.next_beat()
    return [user("Earlier in this thread (summary):\n" + "\n".join(lines)), says("Noted.")]


def conversation(draw: Draw, kind: str, beats: int = 1, long: bool = True) -> Conversation:
    """A thread of one kind of beat; hints come among plain beats, and a long thread may begin with a summary."""
    make, needed, _ = BEATS["hint" if kind in FAMILIES else kind]
    make = FAMILIES.get(kind, make)
    world = World(draw, long)
    tools = _tools(draw, needed)
    messages = [world.system()]
    if long and needed and draw.chance(0.2):
        messages += _summary(world)
    if long and needed and len(tools) < 4 and draw.chance(0.03):
        return Conversation("no tool", (*messages, *vault_notes.without_tool(world, tools)), tools)
    for index in range(beats):
        before_hint = (kind in FAMILIES or kind == "hint") and index < beats - 1
        plain = host_watch.whole if before_hint and draw.chance(0.6) else make
        messages += plain(world)
        world.next_beat()
    return Conversation(kind, tuple(messages), tools)


def short(draw: Draw) -> Conversation:
    """One small beat under a one-line AGENTS.md: where copying is learnt first."""
    return conversation(draw, draw.pick(SHORT_KINDS), long=False)


def _weighted(draw: Draw) -> str:
    return draw.random.choices(list(BEATS), [weight for _, _, weight in BEATS.values()])[0]


def middle(draw: Draw) -> Conversation:
    """One or two beats of any kind."""
    return conversation(draw, _weighted(draw), beats=draw.pick((1, 1, 1, 2)), long=draw.chance(0.35))


def thread(draw: Draw) -> Conversation:
    """Two to ten beats of a kind, as a heartbeat's own thread grows."""
    return conversation(draw, _weighted(draw), beats=draw.number(2, 10))
